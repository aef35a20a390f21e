/* cleave tables hypergraph: a workload's hypergraph as a file, for cleave partition and its like.
 */
#include "cli/tables_hypergraph.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tables.h"
#include "report/json.h"
#include "report/report.h"
#include "tables/compare/scan.h"

enum {
    KEY_NAMES = 0x3000,
    KEY_WRITES,
    KEY_COPY,
    KEY_START,
    KEY_START_FROM,
    KEY_WEIGHTS,
    KEY_ATTRIBUTES,
    KEY_GRAIN,
    KEY_LEAVE_OUT,
    KEY_REPLICATE,
    KEY_NO_READ_ONLY,
    KEY_NO_DERIVED
};
enum { LISTED_MAX = 256, PART = 10000 };
enum weight { SIZE, ROWS, ACCESS, WRITES, ONE };
static const char *const weight_names[] = {"size", "rows", "access", "writes", "one", NULL};

struct list {
    const char *values[LISTED_MAX];
    uint32_t count;
};

struct arguments {
    struct cleave_tables_arguments tables;
    const char *output, *names, *writes, *start, *start_from;
    char *old_names, *old_blocks;
    struct list grain, leave_out, replicate, copy;
    enum weight weights[CLEAVE_WEIGHTS_MAX];
    uint32_t weight_count, attributes;
    bool no_read_only, no_derived;
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is written:", 4},
    {"output", 'o', "FILE", 0, "The hypergraph (.hgr); required", 4},
    {"names", KEY_NAMES, "FILE", 0, "What each vertex is: table, tab, predicate; one a line", 4},
    {"writes", KEY_WRITES, "FILE", 0,
     "Transactions that write each vertex, one a line, as cleave partition's --replicate takes it",
     4},
    {"copy", KEY_COPY, "TABLE[,TABLE]", 0,
     "With --writes: -1 for vertices of all other tables (repeatable)", 4},
    {"start-from", KEY_START_FROM, "NAMES,BLOCKS", 0,
     "An old placement, by the names of then: carried over to the new numbers. A vertex that it "
     "does not know goes where most of its transactions' other vertices are",
     4},
    {"start", KEY_START, "FILE", 0, "With --start-from: write it here (FILE.start beside -o)", 4},
    {0, 0, 0, 0, "The hypergraph:", 5},
    {"attributes", KEY_ATTRIBUTES, "N", 0,
     "Most accessed attributes that cut a table; 0: one vertex a table (2)", 5},
    {"grain", KEY_GRAIN, "TABLE=COLUMN[,COLUMN]", 0,
     "Cut this table by these columns; none: one vertex (repeatable)", 5},
    {"leave-out", KEY_LEAVE_OUT, "TABLE[,TABLE]", 0, "As if nothing touched it (repeatable)", 5},
    {"replicate", KEY_REPLICATE, "TABLE[,TABLE]", 0,
     "Copied everywhere: no vertices; transactions that write it are counted (repeatable)", 5},
    {"no-read-only", KEY_NO_READ_ONLY, 0, 0, "Leave out tables that nothing writes", 5},
    {"no-derived-keys", KEY_NO_DERIVED, 0, 0, "Do not see keys in columns that spell them", 5},
    {"weights", KEY_WEIGHTS, "LIST", 0,
     "Of a vertex, in this order: size (bytes where every table's row size is known, else rows), "
     "rows, access, writes, one (size,access)",
     5},
    {0},
};

static void append(struct argp_state *state, struct list *list, const char *value)
{
    if (list->count == LISTED_MAX)
        argp_error(state, "more than %d tables listed", LISTED_MAX);
    list->values[list->count++] = value;
}

/* Splits "a,b,c" in place. */
static void append_all(struct argp_state *state, struct list *list, char *value)
{
    char *rest = NULL;
    for (char *word = strtok_r(value, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        append(state, list, word);
}

static void read_weights(struct argp_state *state, struct arguments *a, char *value)
{
    char *rest = NULL;
    a->weight_count = 0;
    for (char *word = strtok_r(value, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (a->weight_count == CLEAVE_WEIGHTS_MAX)
            argp_error(state, "more than %d weights", CLEAVE_WEIGHTS_MAX);
        a->weights[a->weight_count++] =
            (enum weight)cleave__option_choice(state, "--weights", word, weight_names);
    }
    if (a->weight_count == 0)
        argp_error(state, "--weights names none");
}

static void check(struct argp_state *state, struct arguments *a)
{
    if (!a->output)
        argp_error(state, "where to? Name the hypergraph's file with -o");
    if (a->copy.count && !a->writes)
        argp_error(state, "--copy needs --writes");
    if (a->start && !a->start_from)
        argp_error(state, "--start needs --start-from");
    if (a->start_from) {
        char *comma = strrchr(a->start_from, ',');
        if (!comma || comma == a->start_from || !comma[1])
            argp_error(state, "--start-from takes two files with a comma between: NAMES,BLOCKS");
        a->old_names = strndup(a->start_from, (size_t)(comma - a->start_from));
        a->old_blocks = comma + 1;
        if (!a->old_names)
            argp_failure(state, 1, 0, "no memory");
        if (!a->start && !strcmp(a->output, "-"))
            argp_error(state, "--start-from needs --start FILE when -o is standard output");
    }
    if (!strcmp(a->output, "-") && (a->tables.common.json || a->tables.common.csv))
        argp_error(state, "-o - and --json or --csv both want standard output");
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables.common;
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case KEY_NAMES:
        a->names = value;
        return 0;
    case KEY_WRITES:
        a->writes = value;
        return 0;
    case KEY_COPY:
        append_all(state, &a->copy, value);
        return 0;
    case KEY_START:
        a->start = value;
        return 0;
    case KEY_START_FROM:
        a->start_from = value;
        return 0;
    case KEY_WEIGHTS:
        read_weights(state, a, value);
        return 0;
    case KEY_ATTRIBUTES:
        a->attributes =
            (uint32_t)cleave__option_integer(state, "--attributes", value, 0, CLEAVE_GRAIN_MAX);
        return 0;
    case KEY_GRAIN:
        if (!strchr(value, '='))
            argp_error(state, "--grain takes TABLE=COLUMN,COLUMN, not '%s'", value);
        append(state, &a->grain, value);
        return 0;
    case KEY_LEAVE_OUT:
        append_all(state, &a->leave_out, value);
        return 0;
    case KEY_REPLICATE:
        append_all(state, &a->replicate, value);
        return 0;
    case KEY_NO_READ_ONLY:
        a->no_read_only = true;
        return 0;
    case KEY_NO_DERIVED:
        a->no_derived = true;
        return 0;
    case ARGP_KEY_END:
        check(state, a);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- which tables, which columns ---- */

static enum cleave_status find_table(const struct cleave_schema *schema, const char *option,
                                     const char *name, size_t length, uint32_t *out,
                                     struct cleave_error *error)
{
    *out = cleave__schema_table(schema, name, length);
    if (*out == CLEAVE_ABSENT || schema->tables[*out].view)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: the schema has no table '%.*s'",
                                option, (int)length, name);
    return CLEAVE_OK;
}

static enum cleave_status set_grain(struct cleave_tally *tally, const char *value,
                                    struct cleave_error *error)
{
    const char *equals = strchr(value, '=');
    uint32_t t;
    enum cleave_status status =
        find_table(tally->schema, "--grain", value, (size_t)(equals - value), &t, error);
    if (status)
        return status;
    const struct cleave_table *table = &tally->schema->tables[t];
    struct cleave_grain grain = {0};
    for (const char *at = equals + 1; *at;) {
        size_t length = strcspn(at, ",");
        uint32_t column = cleave__schema_column(table, at, length);
        if (column == CLEAVE_ABSENT)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "--grain: table %s has no column "
                                    "'%.*s'",
                                    table->name, (int)length, at);
        for (uint32_t i = 0; i < grain.count; i++) {
            if (grain.columns[i] == column)
                return cleave_error_set(error, CLEAVE_BAD_INPUT, "--grain: %s.%s twice",
                                        table->name, table->columns[column].name);
        }
        if (grain.count == CLEAVE_GRAIN_MAX)
            return cleave_error_set(error, CLEAVE_LIMIT, "--grain: more than %d columns",
                                    CLEAVE_GRAIN_MAX);
        grain.columns[grain.count++] = column;
        at += length + (at[length] == ',');
    }
    tally->tables[t].grain = grain;
    return CLEAVE_OK;
}

static enum cleave_status set_tables(const struct arguments *a, struct cleave_tally *tally,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    uint32_t t;
    for (uint32_t i = 0; i < tally->schema->table_count; i++)
        cleave__grain_choose(tally->schema, tally->profile, i, a->attributes,
                             &tally->tables[i].grain);
    for (uint32_t i = 0; !status && i < a->grain.count; i++)
        status = set_grain(tally, a->grain.values[i], error);
    for (uint32_t i = 0; !status && i < a->leave_out.count; i++) {
        const char *name = a->leave_out.values[i];
        status = find_table(tally->schema, "--leave-out", name, strlen(name), &t, error);
        if (!status)
            tally->tables[t].left_out = true;
    }
    for (uint32_t i = 0; !status && i < a->replicate.count; i++) {
        const char *name = a->replicate.values[i];
        status = find_table(tally->schema, "--replicate", name, strlen(name), &t, error);
        if (!status)
            tally->tables[t].replicated = true;
    }
    tally->derived = !a->no_derived;
    tally->drop_read_only = a->no_read_only;
    return status;
}

/* Reads the workload in parts; the first tells the columns that matter. */
static enum cleave_status count(const struct arguments *a, struct cleave_scan *scan,
                                struct cleave_profile *profile, struct cleave_tally *tally,
                                struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (bool first = true; !status; first = false) {
        struct cleave_workload part;
        status = cleave__scan_next(scan, PART, &part, error);
        if (!status && first) {
            status = cleave__profile_build(&part, profile, error);
            if (!status)
                status = cleave__tally_init(tally, cleave__scan_case(scan)->schema, profile, error);
            if (!status)
                status = set_tables(a, tally, error);
        }
        if (!status)
            status = cleave__tally_add(tally, &part, error);
        cleave__workload_free(&part);
        if (first && status == CLEAVE_END)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "no committed transaction touches a table of the schema: is "
                                    "this the right schema?");
    }
    return status == CLEAVE_END ? cleave__tally_finish(tally, error) : status;
}

/* ---- the hypergraph ---- */

static int64_t whole(double value)
{
    return value < 1 ? 1 : value > 1e15 ? (int64_t)1e15 : (int64_t)(value + 0.5);
}

static enum cleave_status make_hypergraph(const struct arguments *a,
                                          const struct cleave_tally *tally,
                                          struct cleave_hypergraph **out,
                                          struct cleave_error *error)
{
    uint32_t vertices = (uint32_t)tally->vertices.count, nets = tally->nets.count;
    uint32_t weights = a->weight_count;
    static const uint64_t none = 0;
    int64_t *weight = malloc(((size_t)vertices * weights + 1) * sizeof *weight);
    int64_t *times = malloc(((size_t)nets + 1) * sizeof *times);
    double *row_weight = malloc(((size_t)tally->schema->table_count + 1) * sizeof *row_weight);
    if (!weight || !times || !row_weight) {
        free(weight);
        free(times);
        free(row_weight);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the hypergraph");
    }
    for (uint32_t t = 0; t < tally->schema->table_count; t++)
        row_weight[t] = cleave__row_weight(tally->schema, t);
    for (uint32_t v = 0; v < vertices; v++) {
        int64_t *w = weight + (size_t)v * weights;
        for (uint32_t c = 0; c < weights; c++)
            w[c] = a->weights[c] == SIZE
                       ? whole(tally->rows[v] * row_weight[tally->vertices.data[v].table])
                   : a->weights[c] == ROWS   ? whole(tally->rows[v])
                   : a->weights[c] == ACCESS ? (int64_t)tally->access[v]
                   : a->weights[c] == WRITES ? (int64_t)tally->writes[v]
                                             : 1;
    }
    for (uint32_t e = 0; e < nets; e++)
        times[e] = (int64_t)tally->nets.times.data[e];
    enum cleave_status status =
        cleave_hypergraph_new(vertices, nets, nets ? tally->nets.offsets.data : &none,
                              tally->nets.items.data, weights, weight, times, out, error);
    free(weight);
    free(times);
    free(row_weight);
    return status;
}

static enum cleave_status copied_tables(const struct arguments *a, const struct cleave_tally *tally,
                                        bool **out, struct cleave_error *error)
{
    *out = NULL;
    if (a->copy.count == 0)
        return CLEAVE_OK;
    *out = calloc((size_t)tally->schema->table_count + 1, sizeof **out);
    if (!*out)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tables");
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < a->copy.count; i++) {
        uint32_t t;
        status = find_table(tally->schema, "--copy", a->copy.values[i], strlen(a->copy.values[i]),
                            &t, error);
        if (!status)
            (*out)[t] = true;
    }
    return status;
}

static enum cleave_status write_start(const struct arguments *a, const struct cleave_tally *tally,
                                      const struct cleave_hypergraph *h,
                                      struct cleave_carried *carried, struct cleave_error *error)
{
    size_t size = strlen(a->output) + sizeof ".start";
    char *beside = malloc(size);
    if (!beside)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a file name");
    snprintf(beside, size, "%s.start", a->output);
    enum cleave_status status = cleave__hypergraph_write_start(
        tally, h, a->old_names, a->old_blocks, a->start ? a->start : beside, carried, error);
    free(beside);
    return status;
}

static enum cleave_status write_all(const struct arguments *a, const struct cleave_tally *tally,
                                    struct cleave_hypergraph **h, struct cleave_carried *carried,
                                    struct cleave_error *error)
{
    bool *copied;
    enum cleave_status status = copied_tables(a, tally, &copied, error);
    if (!status)
        status = make_hypergraph(a, tally, h, error);
    if (!status && a->names)
        status = cleave__hypergraph_write_names(tally, a->names, error);
    if (!status && a->writes)
        status = cleave__hypergraph_write_writes(tally, copied, a->writes, error);
    if (!status && a->start_from)
        status = write_start(a, tally, *h, carried, error);
    if (!status)
        status = cleave_hypergraph_write_hgr(*h, a->output, error);
    free(copied);
    return status;
}

/* ---- what is said ---- */

static const struct cleave_report_column columns[] = {
    {.key = "table", .title = "table"},
    {.key = "cut_by", .title = "cut by"},
    {.key = "vertices", .title = "vertices", .type = CLEAVE_REPORT_INTEGER},
    {.key = "pins", .title = "pins", .type = CLEAVE_REPORT_INTEGER},
    {.key = "rows", .title = "rows", .type = CLEAVE_REPORT_REAL},
    {.key = "remark", .title = "remark"},
};

static const char *remark(const struct cleave_tally_table *it)
{
    return it->left_out     ? "left out"
           : it->replicated ? "copied everywhere"
           : it->dropped    ? "only read, left out"
           : !it->vertices  ? "not touched"
           : it->coarser    ? "cut by fewer columns: pins would be too many"
                            : "";
}

static bool fill(struct cleave_report *report, const struct cleave_tally *tally, uint32_t t)
{
    const struct cleave_table *table = &tally->schema->tables[t];
    const struct cleave_tally_table *it = &tally->tables[t];
    char names[400] = "";
    for (uint32_t i = 0; i < it->columns && it->vertices; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                 table->columns[it->grain.columns[i]].name);
    }
    double rows = 0;
    for (uint32_t v = it->first_vertex; v < it->first_vertex + it->vertices; v++)
        rows += tally->rows[v];
    if (!cleave__report_row(report) || !cleave__report_text(report, 0, table->name) ||
        !cleave__report_text(report, 1, names) || !cleave__report_text(report, 5, remark(it)))
        return false;
    cleave__report_integer(report, 2, it->vertices);
    cleave__report_integer(report, 3, (int64_t)it->pins);
    cleave__report_real(report, 4, rows);
    return true;
}

static json_t *to_json(const struct arguments *a, const struct cleave_case *kase,
                       const struct cleave_tally *tally, const struct cleave_hypergraph *h,
                       const struct cleave_carried *carried, const struct cleave_report *report)
{
    json_t *root = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "transactions", (json_int_t)tally->transactions,
        "vertices", (json_int_t)h->vertices, "nets", (json_int_t)h->nets, "pins",
        (json_int_t)h->net_offset[h->nets], "untouched", (json_int_t)tally->untouched, "spread",
        (json_int_t)tally->spread, "keyless", (json_int_t)tally->keyless, "output", a->output);
    json_t *weights = json_array();
    for (uint32_t c = 0; c < h->weights; c++) {
        int64_t total = 0;
        for (uint32_t v = 0; v < h->vertices; v++)
            total += h->vertex_weight[(size_t)v * h->weights + c];
        json_array_append_new(weights,
                              json_pack("{s:s, s:I}", "weight", weight_names[a->weights[c]],
                                        "total", (json_int_t)total));
    }
    json_object_set_new(root, "weights", weights);
    if (a->start_from)
        json_object_set_new(root, "start",
                            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "blocks",
                                      (json_int_t)carried->blocks, "kept",
                                      (json_int_t)carried->kept, "fresh",
                                      (json_int_t)carried->fresh, "gone", (json_int_t)carried->gone,
                                      "kept_weight", (json_int_t)carried->kept_weight,
                                      "fresh_weight", (json_int_t)carried->fresh_weight));
    json_object_set_new(root, "trace", cleave__tables_describe_json(kase));
    json_object_set_new(root, "tables", cleave__report_json(report));
    return root;
}

static void say(const struct arguments *a, const struct cleave_tally *tally,
                const struct cleave_hypergraph *h, const struct cleave_carried *carried, FILE *out)
{
    fprintf(out, "%" PRIu32 " vertices, %" PRIu32 " nets, %" PRIu64 " pins: %s\n", h->vertices,
            h->nets, h->net_offset[h->nets], a->output);
    if (tally->untouched)
        fprintf(out, "  %12" PRIu64 "  transactions touch nothing that is placed\n",
                tally->untouched);
    if (tally->spread)
        fprintf(out, "  %12" PRIu64 "  transactions write a table that is copied everywhere\n",
                tally->spread);
    if (tally->keyless)
        fprintf(out, "  %12" PRIu64 "  inserted rows do not say where they belong (left out)\n",
                tally->keyless);
    if (a->start_from)
        fprintf(out,
                "start: %" PRIu32 " vertices in their old block, %" PRIu32 " new ones; %" PRIu64
                " old ones are gone\n",
                carried->kept, carried->fresh, carried->gone);
}

static enum cleave_status show(const struct arguments *a, const struct cleave_case *kase,
                               const struct cleave_tally *tally, const struct cleave_hypergraph *h,
                               const struct cleave_carried *carried, struct cleave_error *error)
{
    struct cleave_report report;
    FILE *out = strcmp(a->output, "-") ? stdout : stderr;
    enum cleave_status status = CLEAVE_OK;
    cleave__report_init(&report, columns, sizeof columns / sizeof *columns);
    for (uint32_t t = 0; !status && t < tally->schema->table_count; t++) {
        if (!tally->schema->tables[t].view && !fill(&report, tally, t))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    }
    if (!status && a->tables.common.json) {
        status = cleave__json_write(to_json(a, kase, tally, h, carried, &report), out, error);
    } else if (!status && a->tables.common.csv) {
        status = cleave__report_print_csv(&report, out, error);
    } else if (!status && !(out == stderr && a->tables.common.quiet)) {
        cleave__tables_describe(kase, out);
        fprintf(out, "\n");
        status = cleave__report_print(&report, out, 0, error);
        if (!status) {
            fprintf(out, "\n");
            say(a, tally, h, carried, out);
        }
    }
    cleave__report_free(&report);
    return status;
}

int cleave__command_tables_hypergraph(int argc, char **argv)
{
    struct argp_child children[] = {
        {cleave__tables_source_argp(), 0, NULL, 0}, {&cleave__options_argp, 0, "Common:", 9}, {0}};
    const struct argp argp = {
        options,
        parse,
        "[FILE...]",
        "Writes a workload's hypergraph for cleave partition: a vertex is a tuple group, a net a "
        "transaction, its weight how often the same groups came together. Every transaction "
        "counts: nothing is held out. The trace is read once and not kept.",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: path lists */
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT,
                           .attributes = 2,
                           .weights = {SIZE, ACCESS},
                           .weight_count = 2};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_case_source *source = &a.tables.source;
    struct cleave_terminal terminal;
    struct cleave_error error = {0};
    struct cleave_scan *scan = NULL;
    struct cleave_profile profile = {0};
    struct cleave_tally tally = {0};
    struct cleave_hypergraph *h = NULL;
    struct cleave_carried carried = {0};
    source->traces = a.tables.traces;
    source->benchmark_options = a.tables.benchmark_options;
    source->seed = a.tables.common.seed;
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.tables.common.quiet);
    source->progress = &terminal.progress;
    enum cleave_status status = cleave__scan_open(source, &scan, &error);
    if (!status)
        status = count(&a, scan, &profile, &tally, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = write_all(&a, &tally, &h, &carried, &error);
    if (!status)
        status = show(&a, cleave__scan_case(scan), &tally, h, &carried, &error);
    cleave_hypergraph_free(h);
    if (tally.tables)
        cleave__tally_free(&tally);
    cleave__profile_free(&profile);
    cleave__scan_close(scan);
    free(a.old_names);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
