/* cleave partition: the partitioner by itself, on hMETIS or METIS files. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "cleave/partition.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "report/json.h"
#include "report/report.h"

enum { BLOCKS_MAX = 1024 };
enum {
    KEY_OBJECTIVE = 0x2000,
    KEY_FIX,
    KEY_PLACER,
    KEY_SHARES,
    KEY_WARM,
    KEY_REFINE,
    KEY_BUDGET,
    KEY_STARTS,
    KEY_FORMAT
};

struct arguments {
    struct cleave_options common;
    const char *path, *fix, *output, *placer, *warm;
    uint32_t blocks, starts;
    enum cleave_objective objective;
    uint32_t format; /* index in `formats` */
    bool refine_only;
    int64_t budget;
    double epsilon[CLEAVE_WEIGHTS_MAX];
    uint32_t epsilons;
    double share[BLOCKS_MAX];
    uint32_t shares;
};

static const char *const objectives[] = {"cut", "km1", NULL};
static const char *const formats[] = {"auto", "hgr", "graph", NULL};

static const struct argp_option options[] = {
    {"blocks", 'k', "K", 0, "Number of blocks, 1 to 1024", 1},
    {"epsilon", 'e', "E[,E...]", 0,
     "Allowed overweight of a block, for all weights or one each (0.03)", 1},
    {"objective", KEY_OBJECTIVE, "cut|km1", 0,
     "Weight of the nets cut, or of blocks they touch past the first (km1)", 1},
    {"shares", KEY_SHARES, "S,S...", 0, "Target shares of the blocks, any scale (equal)", 1},
    {"fix", KEY_FIX, "FILE", 0, "Fix file: a block or -1 a vertex", 2},
    {"start", KEY_WARM, "FILE", 0, "An earlier answer: try to improve it too", 2},
    {"refine", KEY_REFINE, NULL, 0, "With --start: only improve it, no fresh start", 2},
    {"budget", KEY_BUDGET, "WEIGHT", 0,
     "With --start: most of the first weight that may change its block", 2},
    {"placer", KEY_PLACER, "NAME", 0, "Algorithm (multilevel); see the list below", 3},
    {"starts", KEY_STARTS, "N", 0, "Independent tries (by size)", 3},
    {"format", KEY_FORMAT, "hgr|graph", 0, "Format of the file (by its name)", 3},
    {"output", 'o', "FILE", 0,
     "Block numbers, one a line; - is standard output (F.part.K beside the input)", 3},
    {0},
};

/* "a,b,c" into at most `most` numbers; ends the process when it is no such list. */
static uint32_t read_list(struct argp_state *state, const char *option, const char *value,
                          double low, double high, double *out, uint32_t most)
{
    uint32_t count = 0;
    for (const char *at = value;; at++) {
        char *end;
        errno = 0;
        double number = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !isfinite(number) || number < low ||
            number > high)
            argp_error(state, "%s takes numbers from %g to %g with commas between, not '%s'",
                       option, low, high, value);
        if (count == most)
            argp_error(state, "%s takes at most %u numbers", option, most);
        out[count++] = number;
        if (!*end)
            return count;
        at = end;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case 'k':
        a->blocks = (uint32_t)cleave__option_integer(state, "-k", value, 1, BLOCKS_MAX);
        return 0;
    case 'e':
        a->epsilons = read_list(state, "-e", value, 0, 1e9, a->epsilon, CLEAVE_WEIGHTS_MAX);
        return 0;
    case KEY_OBJECTIVE:
        a->objective = cleave__option_choice(state, "--objective", value, objectives) == 0
                           ? CLEAVE_CUT
                           : CLEAVE_KM1;
        return 0;
    case KEY_SHARES:
        a->shares = read_list(state, "--shares", value, 1e-99, 1e99, a->share, BLOCKS_MAX);
        return 0;
    case KEY_FIX:
        a->fix = value;
        return 0;
    case KEY_WARM:
        a->warm = value;
        return 0;
    case KEY_REFINE:
        a->refine_only = true;
        return 0;
    case KEY_BUDGET:
        a->budget = cleave__option_integer(state, "--budget", value, 1, INT64_MAX);
        return 0;
    case KEY_PLACER:
        a->placer = value;
        return 0;
    case KEY_STARTS:
        a->starts = (uint32_t)cleave__option_integer(state, "--starts", value, 1, 1000000);
        return 0;
    case KEY_FORMAT:
        a->format = cleave__option_choice(state, "--format", value, formats);
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one hypergraph at a time, not '%s' too", value);
        a->path = value;
        return 0;
    case ARGP_KEY_END:
        if (!a->path)
            argp_error(state, "which hypergraph? Name a file, or - for standard input");
        if (!a->blocks)
            argp_error(state, "into how many blocks? Say -k K");
        if (a->shares && a->shares != a->blocks)
            argp_error(state, "--shares gives %u numbers for %u blocks", a->shares, a->blocks);
        if (!a->warm && (a->refine_only || a->budget))
            argp_error(state, "--refine and --budget need --start");
        if (a->output && !strcmp(a->output, "-") && (a->common.json || a->common.csv))
            argp_error(state, "-o - and --json or --csv both want standard output");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --help ends with the placers, straight from their registry. */
static char *list_placers(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char list[1000] = "Placers:";
    size_t used = strlen(list);
    for (uint32_t i = 0; cleave_placer_at(i) && used < sizeof list; i++) {
        int n = snprintf(list + used, sizeof list - used, "\n  %-12s %s", cleave_placer_at(i)->name,
                         cleave_placer_at(i)->summary);
        used += n > 0 ? (size_t)n : 0;
    }
    return strdup(list);
}

static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
static const struct argp argp = {
    options,
    parse,
    "F.hgr",
    "Divides the vertices of a hypergraph into K balanced blocks so that few nets are cut. Reads "
    "hMETIS .hgr (several weights a vertex allowed) and METIS .graph, plain or packed (gz, bz2, "
    "xz, "
    "zst).\v",
    children,
    list_placers,
    NULL};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* A METIS graph by its name, whatever it is packed with. */
static bool is_graph(const struct arguments *a)
{
    static const char *const ends[] = {".graph",    ".graph.gz",  ".graph.bz2",
                                       ".graph.xz", ".graph.zst", NULL};
    for (uint32_t i = 0; ends[i] && a->format == 0; i++) {
        if (ends_with(a->path, ends[i]))
            return true;
    }
    return a->format == 2;
}

static const double *shares_of(const struct arguments *a)
{
    return a->shares ? a->share : NULL;
}

static enum cleave_status read_input(const struct arguments *a,
                                     struct cleave_hypergraph **hypergraph, int32_t **fixed,
                                     int32_t **warm, struct cleave_error *error)
{
    enum cleave_status status = is_graph(a)
                                    ? cleave_hypergraph_read_graph(a->path, hypergraph, error)
                                    : cleave_hypergraph_read_hgr(a->path, hypergraph, error);
    if (!status && a->fix)
        status = cleave_fix_read(a->fix, (*hypergraph)->vertices, fixed, error);
    if (!status && a->warm)
        status = cleave_fix_read(a->warm, (*hypergraph)->vertices, warm, error);
    for (uint32_t v = 0; !status && *warm && v < (*hypergraph)->vertices; v++) {
        if ((*warm)[v] < 0)
            status =
                cleave_error_set(error, CLEAVE_BAD_INPUT,
                                 "%s: vertex %u has no block; a start needs all", a->warm, v + 1);
    }
    if (!status && a->epsilons > 1 && a->epsilons != (*hypergraph)->weights)
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "-e gives %u numbers, but vertices carry %u weights", a->epsilons,
                                  (*hypergraph)->weights);
    return status;
}

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

/* Where the blocks went is said on standard error. Beside an input that lies where nothing may be
 * written, the figures are still the answer: a default file that fails is a remark, not an error.
 */
static enum cleave_status write_output(const struct arguments *a, const uint32_t *block,
                                       uint32_t vertices, struct cleave_error *error)
{
    if (a->output)
        return write_blocks(a->output, block, vertices, error);
    if (!strcmp(a->path, "-")) {
        if (!a->common.quiet)
            fputs("cleave: blocks not written: name a file with -o\n", stderr);
        return CLEAVE_OK;
    }
    size_t size = strlen(a->path) + 32;
    char *path = malloc(size);
    if (!path)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a file name");
    snprintf(path, size, "%s.part.%" PRIu32, a->path, a->blocks);
    struct cleave_error inner;
    enum cleave_status status = write_blocks(path, block, vertices, &inner);
    if (!status && !a->common.quiet)
        fprintf(stderr, "cleave: blocks written to %s\n", path);
    else if (status)
        fprintf(stderr, "cleave: blocks not written (%s); name a file with -o\n", inner.message);
    free(path);
    return CLEAVE_OK;
}

static enum cleave_status print_json(const struct arguments *a, const struct cleave_hypergraph *h,
                                     const struct cleave_partition_result *r,
                                     struct cleave_error *error)
{
    json_t *imbalance = json_array();
    for (uint32_t c = 0; c < h->weights; c++)
        json_array_append_new(imbalance, cleave__json_real(r->imbalance[c]));
    json_t *epsilon = cleave__json_real(a->epsilon[0]);
    if (a->epsilons > 1) {
        json_decref(epsilon);
        epsilon = json_array();
        for (uint32_t c = 0; c < a->epsilons; c++)
            json_array_append_new(epsilon, cleave__json_real(a->epsilon[c]));
    }
    json_t *root = json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:b}", "vertices",
        (json_int_t)h->vertices, "nets", (json_int_t)h->nets, "pins",
        (json_int_t)h->net_offset[h->nets], "k", (json_int_t)a->blocks, "epsilon", epsilon,
        "objective", objectives[a->objective == CLEAVE_KM1], "placer",
        a->placer ? a->placer : cleave_placer_at(0)->name, "cut", (json_int_t)r->cut, "km1",
        (json_int_t)r->km1, "imbalance", imbalance, "seconds", cleave__json_real(r->seconds),
        "seed", json_integer((json_int_t)a->common.seed), "balanced", (int)r->balanced);
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
    {.key = "imbalance", .title = "imbalance %"},
    {.key = "balanced", .title = "balanced", .type = CLEAVE_REPORT_BOOLEAN},
    {.key = "seconds", .title = "seconds", .type = CLEAVE_REPORT_REAL, .decimals = 2},
};

static enum cleave_status print_table(const struct arguments *a, const struct cleave_hypergraph *h,
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
        !cleave__report_text(&report, 4, objectives[a->objective == CLEAVE_KM1]) ||
        !cleave__report_text(&report, 7, imbalance)) {
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    } else {
        cleave__report_integer(&report, 0, h->vertices);
        cleave__report_integer(&report, 1, h->nets);
        cleave__report_integer(&report, 2, (int64_t)h->net_offset[h->nets]);
        cleave__report_integer(&report, 3, a->blocks);
        cleave__report_integer(&report, 5, r->cut);
        cleave__report_integer(&report, 6, r->km1);
        cleave__report_boolean(&report, 8, r->balanced);
        cleave__report_real(&report, 9, r->seconds);
        status = a->common.csv ? cleave__report_print_csv(&report, out, error)
                               : cleave__report_print(&report, out, 0, error);
    }
    cleave__report_free(&report);
    return status;
}

int cleave__command_partition(int argc, char **argv)
{
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT,
                          .objective = CLEAVE_KM1,
                          .epsilon = {0.03},
                          .epsilons = 1};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error = {0};
    struct cleave_hypergraph *h = NULL;
    int32_t *fixed = NULL, *warm = NULL;
    uint32_t *block = NULL;
    struct cleave_partition_result result;
    struct cleave_terminal terminal;
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = read_input(&a, &h, &fixed, &warm, &error), answered = CLEAVE_OK;
    if (!status && !(block = malloc(((size_t)h->vertices + 1) * sizeof *block)))
        status =
            cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    if (!status) {
        struct cleave_partition_options o = {.blocks = a.blocks,
                                             .epsilon = a.epsilon[0],
                                             .epsilons = a.epsilons > 1 ? a.epsilon : NULL,
                                             .objective = a.objective,
                                             .placer = a.placer,
                                             .target_share = shares_of(&a),
                                             .fixed = fixed,
                                             .warm_start = (const uint32_t *)warm,
                                             .warm_refine_only = a.refine_only,
                                             .migration_budget = a.budget,
                                             .starts = a.starts,
                                             .seed = a.common.seed,
                                             .progress = &terminal.progress};
        answered = cleave_partition(h, &o, block, &result, &error);
        cleave__terminal_clear(&terminal);
        if (answered != CLEAVE_UNSATISFIABLE)
            status = answered;
    }
    /* An unbalanced answer is shown and written like any other, and then reported as a failure. */
    struct cleave_error late = {0};
    FILE *out = a.output && !strcmp(a.output, "-") ? stderr : stdout;
    if (!status && (status = write_output(&a, block, h->vertices, &late)))
        error = late;
    if (!status && (status = a.common.json ? print_json(&a, h, &result, &late)
                                           : print_table(&a, h, &result, out, &late)))
        error = late;
    free(fixed);
    free(warm);
    free(block);
    cleave_hypergraph_free(h);
    return status || answered ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
