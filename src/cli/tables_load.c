/* cleave tables load: a database's rows onto its shards, by a lookup table. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/lookup.h"
#include "cli/tables.h"
#include "cli/tables_shards.h"
#include "report/json.h"
#include "report/report.h"
#include "tables/load/load.h"

enum { KEY_LOOKUP = 0x3000, KEY_FROM, KEY_REFERENCE, KEY_REPLACE, KEY_ONLY };

struct arguments {
    struct cleave_tables_arguments tables;
    const char *lookup;
    struct cleave_shard_arguments shards;
    struct cleave_load_options load;
};

static const struct argp_option options[] = {
    {"lookup", KEY_LOOKUP, "FILE", 0, "The lookup table (tables place -o writes it)", 1},
    {"shards", CLEAVE_KEY_SHARDS, "URL", 0,
     "Of all shards, with {} for the number: postgresql://user@host-{}/db, sqlite:shard-{}.db", 1},
    {"shard", CLEAVE_KEY_SHARD, "URL", 0, "Of one shard, in order (repeatable)", 1},
    CLEAVE_CLUSTER_OPTION(1),
    {"from", KEY_FROM, "URL", 0, "The database that is to be sharded: PostgreSQL, SQLite", 1},
    {"reference", KEY_REFERENCE, "URL", 0, "All rows here too, unsharded, to compare with", 1},
    {"replace", KEY_REPLACE, NULL, 0, "Drop tables of the same names first", 1},
    {"only-schema", KEY_ONLY, NULL, 0, "The tables without their rows", 1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables.common;
        return 0;
    case KEY_LOOKUP:
        a->lookup = value;
        return 0;
    case KEY_FROM:
        a->load.from = value;
        return 0;
    case KEY_REFERENCE:
        a->load.reference = value;
        return 0;
    case KEY_REPLACE:
        a->load.replace = true;
        return 0;
    case KEY_ONLY:
        a->load.only_schema = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is wanted: %s", value);
        return 0;
    case ARGP_KEY_END:
        if (!a->lookup)
            argp_error(state, "by which lookup table? --lookup FILE");
        if (!cleave__shard_given(&a->shards))
            argp_error(state, "where to? --shards URL with {}, --shard URL for each, or --cluster "
                              "DIR");
        if (a->shards.pattern && !strstr(a->shards.pattern, "{}"))
            argp_error(state, "--shards wants {} where the shard's number belongs");
        if (!a->load.from == !a->tables.source.benchmark)
            argp_error(state, "where from? --from URL, or --benchmark NAME");
        return 0;
    default:
        return cleave__shard_parse(state, &a->shards, key, value) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const char *copies_of(const struct cleave_load_table *table)
{
    return table->replicated ? "all shards" : table->twice ? "by two keys" : "one shard";
}

static enum cleave_status print_table(const struct cleave_load_result *result, bool csv,
                                      struct cleave_error *error)
{
    enum { FIXED = 3 };
    struct cleave_arena arena = {0};
    struct cleave_report_column *columns =
        cleave__arena_zalloc(&arena, (FIXED + result->shards) * sizeof *columns);
    char(*names)[32] = cleave__arena_array(&arena, result->shards, sizeof *names);
    struct cleave_report report = {0};
    bool right = columns && names;
    if (right) {
        columns[0] = (struct cleave_report_column){.key = "table", .title = "table"};
        columns[1] = (struct cleave_report_column){.key = "copies", .title = "lives on"};
        columns[2] = (struct cleave_report_column){
            .key = "rows", .title = "rows", .type = CLEAVE_REPORT_INTEGER};
        for (uint32_t s = 0; s < result->shards; s++) {
            snprintf(names[s], sizeof names[s], "shard %" PRIu32, s);
            columns[FIXED + s] = (struct cleave_report_column){
                .key = names[s], .title = names[s], .type = CLEAVE_REPORT_INTEGER};
        }
        cleave__report_init(&report, columns, FIXED + result->shards);
    }
    for (uint32_t t = 0; right && t < result->table_count; t++) {
        const struct cleave_load_table *table = &result->tables[t];
        right = cleave__report_row(&report) && cleave__report_text(&report, 0, table->name) &&
                cleave__report_text(&report, 1, copies_of(table));
        cleave__report_integer(&report, 2, (int64_t)table->rows);
        for (uint32_t s = 0; right && s < result->shards; s++)
            cleave__report_integer(&report, FIXED + s, (int64_t)table->shard_rows[s]);
    }
    enum cleave_status status = !right ? cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory")
                                : csv  ? cleave__report_print_csv(&report, stdout, error)
                                       : cleave__report_print(&report, stdout, 0, error);
    if (columns && names)
        cleave__report_free(&report);
    cleave__arena_free(&arena);
    return status;
}

static json_t *result_json(const struct cleave_load_result *result)
{
    json_t *tables = json_array(), *remarks = json_array();
    for (uint32_t t = 0; t < result->table_count; t++) {
        const struct cleave_load_table *table = &result->tables[t];
        json_t *shards = json_array();
        for (uint32_t s = 0; s < result->shards; s++)
            json_array_append_new(shards, cleave__json_unsigned(table->shard_rows[s]));
        json_t *entry = json_object();
        json_object_set_new(entry, "table", cleave__json_text(table->name, strlen(table->name)));
        json_object_set_new(entry, "replicated", json_boolean(table->replicated));
        json_object_set_new(entry, "twice", json_boolean(table->twice));
        json_object_set_new(entry, "rows", cleave__json_unsigned(table->rows));
        json_object_set_new(entry, "shards", shards);
        json_array_append_new(tables, entry);
    }
    for (uint32_t r = 0; r < result->remark_count; r++)
        json_array_append_new(remarks,
                              cleave__json_text(result->remarks[r], strlen(result->remarks[r])));
    return json_pack("{s:o, s:o, s:i}", "tables", tables, "left_out", remarks, "recovered",
                     (int)result->recovered);
}

static enum cleave_status print_result(const struct arguments *a,
                                       const struct cleave_load_result *result,
                                       struct cleave_error *error)
{
    if (a->tables.common.json)
        return cleave__json_write(result_json(result), stdout, error);
    if (result->recovered && !a->tables.common.quiet)
        fprintf(stderr, "cleave: %" PRIu32 " parts of a load that was cut off were settled first\n",
                result->recovered);
    for (uint32_t r = 0; !a->tables.common.quiet && r < result->remark_count; r++)
        fprintf(stderr, "cleave: %s\n", result->remarks[r]);
    enum cleave_status status = print_table(result, a->tables.common.csv, error);
    if (!status && !a->tables.common.csv)
        printf("counted: every shard has the rows that the lookup table sends it\n");
    return status;
}

int cleave__command_tables_load(int argc, char **argv)
{
    struct argp_child children[] = {{cleave__tables_benchmark_argp(), 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {options,
                              parse,
                              "",
                              "Makes the tables on the shards and brings each row to where the "
                              "lookup table sends it, in one distributed transaction: all or "
                              "nothing.",
                              children,
                              NULL,
                              NULL};
    static struct arguments a;
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_lookup *lookup;
    struct cleave_generator *generator = NULL;
    struct cleave_load_result result;
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave_lookup_open(a.lookup, &lookup, &error);
    if (status)
        return cleave__command_fail(&error);
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.tables.common.quiet);
    a.load.progress = &terminal.progress;
    a.load.shard_count = cleave_lookup_shards(lookup);
    status = cleave__shard_urls(&a.shards, a.load.shard_count, &arena, &a.load.shards, &error);
    if (!status)
        status = cleave__shard_reference(&a.shards, a.load.shard_count, &arena, &a.load.reference,
                                         &error);
    if (!status && a.tables.source.benchmark)
        status = cleave__generator_new(a.tables.source.benchmark, a.tables.benchmark_options,
                                       a.tables.source.benchmark_option_count, a.tables.common.seed,
                                       &generator, &error);
    a.load.generator = generator;
    if (!status)
        status = cleave__load_run(lookup, &a.load, &result, &error);
    cleave__terminal_clear(&terminal);
    if (!status) {
        status = print_result(&a, &result, &error);
        cleave__load_free(&result);
    }
    cleave__generator_free(generator);
    cleave_lookup_close(lookup);
    cleave__arena_free(&arena);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
