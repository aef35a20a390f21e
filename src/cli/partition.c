/* cleave partition: the partitioner by itself, on files of hMETIS, METIS or PaToH. */
#include "cli/partition.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"

enum { THREADS_MAX = 256 };
enum {
    KEY_OBJECTIVE = 0x2000,
    KEY_UNDERWEIGHT,
    KEY_FIX,
    KEY_TOGETHER,
    KEY_APART,
    KEY_PLACER,
    KEY_PRESET,
    KEY_SHARES,
    KEY_WARM,
    KEY_REFINE,
    KEY_BUDGET,
    KEY_STARTS,
    KEY_FORMAT
};

const char *const cleave__partition_objectives[] = {
    [CLEAVE_CUT] = "cut", [CLEAVE_KM1] = "km1", [CLEAVE_SOED] = "soed", NULL};
const char *const cleave__partition_presets[] = {
    [CLEAVE_DEFAULT] = "default", [CLEAVE_FAST] = "fast", [CLEAVE_QUALITY] = "quality", NULL};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The blocks:", 1},
    {"blocks", 'k', "K", 0, "Number of blocks, 1 to 1024", 1},
    {"epsilon", 'e', "E[,E...]", 0,
     "Allowed overweight of a block: one number for all of a vertex's weights, or one each (0.03)",
     1},
    {"underweight", KEY_UNDERWEIGHT, "U[,U...]", 0,
     "Allowed underweight of a block, 0 to 1, likewise (no lower bound)", 1},
    {"shares", KEY_SHARES, "S,S...", 0, "Target shares of the blocks, any scale (equal)", 1},
    {"objective", KEY_OBJECTIVE, "cut|km1|soed", 0,
     "What to keep low, a sum over the nets cut: weight (cut), weight * (blocks touched - 1) (km1, "
     "the default), or weight * blocks touched (soed)",
     1},
    {NULL, 0, NULL, 0, "The vertices:", 2},
    {"fix", KEY_FIX, "FILE", 0, "A line a vertex: its block, or -1 for free", 2},
    {"together", KEY_TOGETHER, "FILE", 0,
     "A line a vertex: the number of a group that stays together, or 0", 2},
    {"apart", KEY_APART, "FILE", 0,
     "A line a pair: two vertices, counted from 1, kept in different blocks", 2},
    {NULL, 0, NULL, 0, "An earlier answer:", 3},
    {"start", KEY_WARM, "FILE", 0, "A line a vertex, its block: try to improve this too", 3},
    {"refine", KEY_REFINE, NULL, 0, "With --start: only improve it, no fresh start", 3},
    {"budget", KEY_BUDGET, "WEIGHT", 0,
     "With --start: most of the first weight that may change its block", 3},
    {NULL, 0, NULL, 0, "The work:", 4},
    {"preset", KEY_PRESET, "fast|default|quality", 0, "How much work an answer is worth", 4},
    {"threads", 't', "N", 0, "Threads, 1 to 256 (one a processor); the same answer with any number",
     4},
    {"starts", KEY_STARTS, "N", 0, "Independent tries, the best kept (by preset and size)", 4},
    {"placer", KEY_PLACER, "NAME", 0, "Algorithm (multilevel); see the list below", 4},
    {NULL, 0, NULL, 0, "Files:", 5},
    {"format", KEY_FORMAT, "hgr|graph|patoh", 0, "Format of the input (by its name, else hgr)", 5},
    {"output", 'o', "FILE", 0,
     "Block numbers, one a line; - is standard output (F.part.K beside the input F)", 5},
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

/* Processors that this process may run on. */
static uint32_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (uint32_t)count;
}

static void check_arguments(struct argp_state *state, struct cleave_partition_arguments *a)
{
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
    cleave__option_apart(state, "--output", a->output, "--copies", a->replicas.copies);
    if (!a->threads)
        a->threads = processors();
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_partition_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        state->child_inputs[1] = &a->replicas;
        return 0;
    case 'k':
        a->blocks = (uint32_t)cleave__option_integer(state, "-k", value, 1, CLEAVE_BLOCKS_MAX);
        return 0;
    case 'e':
        a->epsilons = read_list(state, "-e", value, 0, 1e9, a->epsilon, CLEAVE_WEIGHTS_MAX);
        return 0;
    case KEY_UNDERWEIGHT:
        a->underweights =
            read_list(state, "--underweight", value, 0, 1, a->underweight, CLEAVE_WEIGHTS_MAX);
        return 0;
    case KEY_OBJECTIVE:
        a->objective =
            cleave__option_choice(state, "--objective", value, cleave__partition_objectives);
        return 0;
    case KEY_SHARES:
        a->shares = read_list(state, "--shares", value, 1e-99, 1e99, a->share, CLEAVE_BLOCKS_MAX);
        return 0;
    case KEY_FIX:
        a->fix = value;
        return 0;
    case KEY_TOGETHER:
        a->together = value;
        return 0;
    case KEY_APART:
        a->apart = value;
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
    case KEY_PRESET:
        a->preset = cleave__option_choice(state, "--preset", value, cleave__partition_presets);
        return 0;
    case 't':
        a->threads = (uint32_t)cleave__option_integer(state, "--threads", value, 1, THREADS_MAX);
        return 0;
    case KEY_STARTS:
        a->starts = (uint32_t)cleave__option_integer(state, "--starts", value, 1, 1000000);
        return 0;
    case KEY_FORMAT:
        a->format = cleave__option_choice(state, "--format", value, cleave__partition_formats);
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
        check_arguments(state, a);
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
    if (used < sizeof list - 1)
        memcpy(list + used, "\n", 2);
    return strdup(list);
}

static const struct argp_child children[] = {
    {&cleave__options_argp, 0, "Common:", 9},
    {&cleave__replicas_argp, 0, "Copies of chosen vertices:", 6},
    {0},
};
static const struct argp argp = {
    options,
    parse,
    "F",
    "Divides the vertices of a hypergraph into K balanced blocks so that few nets are cut. F is an "
    "hMETIS .hgr file (several weights a vertex allowed), a METIS .graph or a PaToH .u or .patoh "
    "file, plain or packed (gz, bz2, xz, zst); - is standard input.\n\n"
    "  cleave partition F.hgr -k 8 -e 0.03\n\v",
    children,
    list_placers,
    NULL};

/* The blocks go to `block` also when nothing satisfies every constraint: then the nearest. */
static enum cleave_status partition(struct cleave_partition_arguments *a,
                                    const struct cleave_partition_input *in, uint32_t *block,
                                    struct cleave_partition_result *result,
                                    struct cleave_error *error)
{
    struct cleave_terminal terminal;
    cleave__terminal_init(&terminal, a->common.quiet);
    struct cleave_partition_options o = {
        .blocks = a->blocks,
        .epsilons = a->epsilon,
        .underweight = a->underweights ? a->underweight : NULL,
        .objective = a->objective,
        .preset = a->preset,
        .placer = a->placer,
        .target_share = a->shares ? a->share : NULL,
        .fixed = in->fixed,
        .warm_start = (const uint32_t *)in->warm,
        .warm_refine_only = a->refine_only,
        .migration_budget = a->budget,
        .together = in->together,
        .apart = (const uint32_t(*)[2])in->apart,
        .apart_count = in->apart_count,
        .starts = a->starts,
        .threads = a->threads,
        .seed = a->common.seed,
        .progress = &terminal.progress,
    };
    enum cleave_status status =
        cleave__replicas_partition(&a->replicas, in->hypergraph, &o, block, result, error);
    cleave__terminal_clear(&terminal);
    return status;
}

/* Writes, prints, and says where the blocks are: a remark, or part of why there is no answer. */
static enum cleave_status show(const struct cleave_partition_arguments *a,
                               const struct cleave_hypergraph *h, const uint32_t *block,
                               const struct cleave_partition_result *result,
                               enum cleave_status answered, struct cleave_error *error)
{
    struct cleave_error late = {0}, said;
    char *where;
    enum cleave_status status = cleave__partition_write(a, block, h->vertices, &where, &late);
    if (status) {
        *error = late;
        return status;
    }
    if (answered) {
        cleave_error_set(&said, answered, "%.400s (numbers count from 0)%s%.80s", error->message,
                         !where               ? ""
                         : strcmp(where, "-") ? "; the nearest placement is in "
                                              : "; the nearest placement is on standard output",
                         where && strcmp(where, "-") ? where : "");
        *error = said;
    } else if (where && !a->output && !a->common.quiet) {
        cleave_error_set(&said, answered, "blocks written to %s", where);
        fprintf(stderr, "cleave: %s\n", said.message);
    }
    free(where);
    status = cleave__partition_print(a, h, result, !answered, &late);
    if (status)
        *error = late;
    return status;
}

int cleave__command_partition(int argc, char **argv)
{
    struct cleave_partition_arguments a = {.common = CLEAVE_OPTIONS_DEFAULT,
                                           .objective = CLEAVE_KM1,
                                           .epsilon = {0.03},
                                           .epsilons = 1};
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error = {0};
    struct cleave_partition_input in = {0};
    struct cleave_partition_result result;
    uint32_t *block = NULL;
    cleave__interrupt_release();
    enum cleave_status status = cleave__partition_read(&a, &in, &error), answered = CLEAVE_OK;
    cleave__interrupt_catch();
    uint32_t vertices = status ? 0 : in.hypergraph->vertices;
    if (!status && !(block = malloc(((size_t)vertices + 1) * sizeof *block)))
        status = cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for %u vertices", vertices);
    if (!status) {
        answered = partition(&a, &in, block, &result, &error);
        if (answered != CLEAVE_UNSATISFIABLE)
            status = answered;
    }
    /* The nearest placement is shown and written like an answer, and then reported as a failure. */
    if (!status)
        status = show(&a, in.hypergraph, block, &result, answered, &error);
    free(block);
    cleave__partition_input_free(&in);
    return status || answered ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
