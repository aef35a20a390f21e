/* What `cleave partition` leaves: block numbers in a file, figures on standard output. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "cli/partition.h"
#include "report/json.h"
#include "report/report.h"

static enum cleave_status write_blocks(const char *path, const uint32_t *block, uint32_t vertices,
                                       struct cleave_error *error)
{
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    for (uint32_t v = 0; v < vertices; v++)
        fprintf(output.file, "%" PRIu32 "\n", block[v]);
    return cleave__output_commit(&output, error);
}

/* "F.part.K", as hMETIS names it; NULL when memory is out. Free it. */
static char *default_path(const struct cleave_partition_arguments *a)
{
    size_t size = strlen(a->path) + 32;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s.part.%" PRIu32, a->path, a->blocks);
    return path;
}

enum cleave_status cleave__partition_write(const struct cleave_partition_arguments *a,
                                           const uint32_t *block, uint32_t vertices, char **where,
                                           struct cleave_error *error)
{
    *where = NULL;
    if (!a->output && !strcmp(a->path, "-")) {
        if (!a->common.quiet)
            fputs("cleave: blocks not written: name a file with -o\n", stderr);
        return CLEAVE_OK;
    }
    char *path = a->output ? strdup(a->output) : default_path(a);
    if (!path)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a file name");
    struct cleave_error inner, remark; /* a remark is one line, whatever the name holds */
    enum cleave_status status = write_blocks(path, block, vertices, a->output ? error : &inner);
    if (status) {
        free(path);
        if (a->output)
            return status;
        cleave_error_set(&remark, status, "blocks not written (%s); name a file with -o",
                         inner.message);
        fprintf(stderr, "cleave: %s\n", remark.message);
        return CLEAVE_OK;
    }
    *where = path;
    return CLEAVE_OK;
}

/* A number where one was given, a list where several were. */
static json_t *list_of(const double *value, uint32_t count)
{
    if (count == 0)
        return json_null();
    if (count == 1)
        return cleave__json_real(value[0]);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, cleave__json_real(value[i]));
    return list;
}

static enum cleave_status print_json(const struct cleave_partition_arguments *a,
                                     const struct cleave_hypergraph *h,
                                     const struct cleave_partition_result *r, bool satisfied,
                                     struct cleave_error *error)
{
    json_t *imbalance = json_array();
    for (uint32_t c = 0; c < h->weights; c++)
        json_array_append_new(imbalance, cleave__json_real(r->imbalance[c]));
    json_t *root = json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:b, s:b, s:o, s:s, s:s, "
        "s:I, s:o}",
        "vertices", (json_int_t)h->vertices, "nets", (json_int_t)h->nets, "pins",
        (json_int_t)h->net_offset[h->nets], "k", (json_int_t)a->blocks, "epsilon",
        list_of(a->epsilon, a->epsilons), "objective", cleave__partition_objectives[a->objective],
        "cut", (json_int_t)r->cut, "km1", (json_int_t)r->km1, "imbalance", imbalance, "seconds",
        cleave__json_real(r->seconds), "seed", cleave__json_unsigned(a->common.seed), "soed",
        (json_int_t)r->soed, "balanced", (int)r->balanced, "satisfied", (int)satisfied,
        "underweight", list_of(a->underweight, a->underweights), "placer",
        a->placer ? a->placer : cleave_placer_at(0)->name, "preset",
        cleave__partition_presets[a->preset], "threads", (json_int_t)a->threads, "copies",
        cleave__replicas_json(&a->replicas, h->weights));
    return cleave__json_write(root, stdout, error);
}

static const struct cleave_report_column columns[] = {
    {.key = "vertices", .title = "vertices", .type = CLEAVE_REPORT_INTEGER},
    {.key = "nets", .title = "nets", .type = CLEAVE_REPORT_INTEGER},
    {.key = "pins", .title = "pins", .type = CLEAVE_REPORT_INTEGER},
    {.key = "k", .title = "k", .type = CLEAVE_REPORT_INTEGER},
    {.key = "objective", .title = "objective"},
    {.key = "cut", .title = "cut", .type = CLEAVE_REPORT_INTEGER},
    {.key = "km1", .title = "km1", .type = CLEAVE_REPORT_INTEGER},
    {.key = "soed", .title = "soed", .type = CLEAVE_REPORT_INTEGER},
    {.key = "imbalance", .title = "imbalance %"},
    {.key = "balanced", .title = "balanced", .type = CLEAVE_REPORT_BOOLEAN},
    {.key = "seconds", .title = "seconds", .type = CLEAVE_REPORT_REAL, .decimals = 2},
};

static enum cleave_status print_table(const struct cleave_partition_arguments *a,
                                      const struct cleave_hypergraph *h,
                                      const struct cleave_partition_result *r, FILE *out,
                                      struct cleave_error *error)
{
    char imbalance[CLEAVE_WEIGHTS_MAX * 16] = "";
    size_t used = 0;
    for (uint32_t c = 0; c < h->weights && used < sizeof imbalance; c++) {
        int n = snprintf(imbalance + used, sizeof imbalance - used, "%s%.2f", c ? " " : "",
                         100 * r->imbalance[c]);
        used += n > 0 ? (size_t)n : 0;
    }
    struct cleave_report report;
    cleave__report_init(&report, columns, sizeof columns / sizeof *columns);
    enum cleave_status status = CLEAVE_OK;
    if (!cleave__report_row(&report) ||
        !cleave__report_text(&report, 4, cleave__partition_objectives[a->objective]) ||
        !cleave__report_text(&report, 8, imbalance)) {
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    } else {
        cleave__report_integer(&report, 0, h->vertices);
        cleave__report_integer(&report, 1, h->nets);
        cleave__report_integer(&report, 2, (int64_t)h->net_offset[h->nets]);
        cleave__report_integer(&report, 3, a->blocks);
        cleave__report_integer(&report, 5, r->cut);
        cleave__report_integer(&report, 6, r->km1);
        cleave__report_integer(&report, 7, r->soed);
        cleave__report_boolean(&report, 9, r->balanced);
        cleave__report_real(&report, 10, r->seconds);
        status = a->common.csv ? cleave__report_print_csv(&report, out, error)
                               : cleave__report_print(&report, out, 0, error);
    }
    cleave__report_free(&report);
    return status;
}

enum cleave_status cleave__partition_print(const struct cleave_partition_arguments *a,
                                           const struct cleave_hypergraph *h,
                                           const struct cleave_partition_result *r, bool satisfied,
                                           struct cleave_error *error)
{
    if (a->common.json)
        return print_json(a, h, r, satisfied, error);
    bool taken = a->output && !strcmp(a->output, "-");
    FILE *out = taken ? stderr : stdout;
    enum cleave_status status = print_table(a, h, r, out, error);
    if (!status && !a->common.csv)
        cleave__replicas_print(&a->replicas, out);
    return status;
}
