/* cleave tables hypergraph: a workload's hypergraph as a file, for cleave partition and its like.
 */
#include "cli/tables_hypergraph.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/report.h"
#include "tables/compare/scan.h"

enum { PART = 10000 };

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

static enum cleave_status set_tables(const struct cleave_hypergraph_arguments *a,
                                     struct cleave_tally *tally, struct cleave_error *error)
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
static enum cleave_status count(const struct cleave_hypergraph_arguments *a,
                                struct cleave_scan *scan, struct cleave_profile *profile,
                                struct cleave_tally *tally, struct cleave_error *error)
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

static enum cleave_status make_hypergraph(const struct cleave_hypergraph_arguments *a,
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
            w[c] = a->weights[c] == CLEAVE_WEIGHT_SIZE
                       ? whole(tally->rows[v] * row_weight[tally->vertices.data[v].table])
                   : a->weights[c] == CLEAVE_WEIGHT_ROWS   ? whole(tally->rows[v])
                   : a->weights[c] == CLEAVE_WEIGHT_ACCESS ? (int64_t)tally->access[v]
                   : a->weights[c] == CLEAVE_WEIGHT_WRITES ? (int64_t)tally->writes[v]
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

static enum cleave_status copied_tables(const struct cleave_hypergraph_arguments *a,
                                        const struct cleave_tally *tally, bool **out,
                                        struct cleave_error *error)
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

static enum cleave_status write_start(const struct cleave_hypergraph_arguments *a,
                                      const struct cleave_tally *tally,
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

static enum cleave_status write_all(const struct cleave_hypergraph_arguments *a,
                                    const struct cleave_tally *tally, struct cleave_hypergraph **h,
                                    struct cleave_carried *carried, struct cleave_error *error)
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

static json_t *to_json(const struct cleave_hypergraph_arguments *a, const struct cleave_case *kase,
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
                              json_pack("{s:s, s:I}", "weight", cleave__weight_names[a->weights[c]],
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

static void say(const struct cleave_hypergraph_arguments *a, const struct cleave_tally *tally,
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

static enum cleave_status show(const struct cleave_hypergraph_arguments *a,
                               const struct cleave_case *kase, const struct cleave_tally *tally,
                               const struct cleave_hypergraph *h,
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
        cleave__hypergraph_options,
        cleave__hypergraph_parse,
        "[FILE...]",
        "Writes a workload's hypergraph for cleave partition: a vertex is a tuple group, a net a "
        "transaction, its weight how often the same groups came together. Every transaction "
        "counts: nothing is held out. The trace is read once and not kept.",
        children,
        NULL,
        NULL};
    static struct cleave_hypergraph_arguments a; /* large: path lists */
    a = (struct cleave_hypergraph_arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT,
                                             .attributes = 2,
                                             .weights = {CLEAVE_WEIGHT_SIZE, CLEAVE_WEIGHT_ACCESS},
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
