/* The options that `cleave graph` subcommands share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/graph.h"

enum {
    KEY_EDGES = 0x4000,
    KEY_LABELS,
    KEY_UNDIRECTED,
    KEY_GENERATE,
    KEY_PLACEMENTS,
    KEY_EXECUTORS,
    KEY_EXACTLY,
    KEY_TOP,
    KEY_LABEL,
    KEY_DEGREE,
    KEY_ID,
    KEY_PRESET,
    KEY_STARTS,
    KEY_AXIS = 0x5000 /* and the axis */
};

static const struct cleave_sweep defaults[CLEAVE_GRAPH_AXES] = {
    [CLEAVE_AXIS_USERS] = {"users", CLEAVE_SWEEP_WHOLE, 1, CLEAVE__USERS_MAX, {{10000}}, 1, 0},
    [CLEAVE_AXIS_COMMUNITIES] = {"communities", CLEAVE_SWEEP_WHOLE, 1, 1e9, {{10}}, 1, 0},
    [CLEAVE_AXIS_DEGREE] = {"degree", CLEAVE_SWEEP_WHOLE, 0, 1e6, {{8}}, 1, 0},
    [CLEAVE_AXIS_LOCAL] = {"local", CLEAVE_SWEEP_WHOLE, 0, 1e6, {{7}}, 1, 0},
    [CLEAVE_AXIS_SIZES] = {"sizes", CLEAVE_SWEEP_WORD, 0, 0, {{.word = ""}}, 1, 0},
    [CLEAVE_AXIS_HUBS] = {"hubs", CLEAVE_SWEEP_WHOLE, 1, 1e9, {{100}}, 1, 0},
    [CLEAVE_AXIS_TO_HUBS] = {"to-hubs", CLEAVE_SWEEP_WHOLE, 0, 1e6, {{2}}, 1, 0},
    [CLEAVE_AXIS_MIXING] = {"mixing", CLEAVE_SWEEP_REAL, 0, 1, {{.real = 0.2}}, 1, 0},
    [CLEAVE_AXIS_SEED] = {"seeds", CLEAVE_SWEEP_WHOLE, 0, 9e18, {{1}}, 1, 0},
    [CLEAVE_AXIS_SHARDS] = {"shards", CLEAVE_SWEEP_WHOLE, 1, 1024, {{4}}, 1, 0},
    [CLEAVE_AXIS_BALANCE] = {"balance", CLEAVE_SWEEP_WORD, 0, 0, {{.word = "vertices"}}, 1, 0},
    [CLEAVE_AXIS_EPSILON] = {"epsilon", CLEAVE_SWEEP_REAL, 0, 1e9, {{.real = 0.03}}, 1, 0},
    [CLEAVE_AXIS_HOPS] = {"hops", CLEAVE_SWEEP_WHOLE, 1, CLEAVE__HOPS_MAX, {{2}}, 1, 0},
    [CLEAVE_AXIS_LIMIT] = {"limit", CLEAVE_SWEEP_WHOLE, 0, 1e15, {{0}}, 1, 0},
    [CLEAVE_AXIS_QUERIES] = {"queries", CLEAVE_SWEEP_WHOLE, 1, 2e9, {{10000}}, 1, 0},
    [CLEAVE_AXIS_TRAIN] = {"train", CLEAVE_SWEEP_WHOLE, 1, 2e9, {{10000}}, 1, 0},
};

void cleave__graph_defaults(struct cleave_graph_arguments *arguments)
{
    memcpy(arguments->axis, defaults, sizeof defaults);
    arguments->threads = 1;
}

void cleave__graph_settle(struct cleave_graph_arguments *arguments)
{
    if (!arguments->seeds)
        arguments->axis[CLEAVE_AXIS_SEED].value[0].whole = arguments->common.seed;
}

uint64_t cleave__graph_now(const struct cleave_graph_arguments *arguments,
                           enum cleave_graph_axis axis)
{
    return cleave__sweep_now(&arguments->axis[axis]).whole;
}

static const struct argp_option source_options[] = {
    {NULL, 0, NULL, 0, "The graph, from files:", 1},
    {"edges", KEY_EDGES, "FILE", 0,
     "A line an edge, source and target between spaces, tabs or commas; or METIS .graph", 1},
    {"labels", KEY_LABELS, "FILE", 0, "A line a user: id and label (its community)", 1},
    {"undirected", KEY_UNDIRECTED, NULL, 0, "A line is an edge both ways", 1},
    {0},
};

static const struct argp_option made_options[] = {
    {NULL, 0, NULL, 0, "The graph, made up:", 2},
    {"generate", KEY_GENERATE, "NAME", 0, "See the list of generators below", 2},
    {"users", KEY_AXIS + CLEAVE_AXIS_USERS, "N", 0, "Users (10000)", 2},
    {"communities", KEY_AXIS + CLEAVE_AXIS_COMMUNITIES, "N", 0, "Communities (10)", 2},
    {"degree", KEY_AXIS + CLEAVE_AXIS_DEGREE, "N", 0, "Edges a user has (8)", 2},
    {"local", KEY_AXIS + CLEAVE_AXIS_LOCAL, "N", 0, "Of these, within the community (7)", 2},
    {"sizes", KEY_AXIS + CLEAVE_AXIS_SIZES, "N+N...", 0, "Sizes of uneven communities", 2},
    {"hubs", KEY_AXIS + CLEAVE_AXIS_HUBS, "N", 0, "Hubs (100)", 2},
    {"to-hubs", KEY_AXIS + CLEAVE_AXIS_TO_HUBS, "N", 0, "Of a user's edges, those to hubs (2)", 2},
    {"mixing", KEY_AXIS + CLEAVE_AXIS_MIXING, "X", 0,
     "Share of edges that leave the community, for lfr (0.2)", 2},
    {"seeds", KEY_AXIS + CLEAVE_AXIS_SEED, "N", 0, "Seeds, where there are several", 2},
    {0},
};

static const struct argp_option query_options[] = {
    {NULL, 0, NULL, 0, "The queries:", 3},
    {"hops", KEY_AXIS + CLEAVE_AXIS_HOPS, "N", 0, "Everyone within so many hops (2)", 3},
    {"exactly", KEY_EXACTLY, NULL, 0, "Only those at that distance", 3},
    {"target-label", KEY_LABEL, "LABEL", 0, "Only users with this label", 3},
    {"target-degree", KEY_DEGREE, "LOW..HIGH", 0, "Only users with so many edges", 3},
    {"target-id", KEY_ID, "LOW..HIGH", 0, "Only users with such ids", 3},
    {"limit", KEY_AXIS + CLEAVE_AXIS_LIMIT, "N", 0, "Any N of them (0: all)", 3},
    {"top", KEY_TOP, NULL, 0, "With --limit: those with the most edges", 3},
    {0},
};

static const struct argp_option place_options[] = {
    {NULL, 0, NULL, 0, "The shards:", 4},
    {"shards", KEY_AXIS + CLEAVE_AXIS_SHARDS, "N", 0, "Number of shards, 1 to 1024 (4)", 4},
    {"placements", KEY_PLACEMENTS, "LIST", 0,
     "Names with commas between, see the list below; @FILE holds one", 4},
    {"balance", KEY_AXIS + CLEAVE_AXIS_BALANCE, "WHAT[+WHAT...]", 0,
     "vertices, edges or reads: what every shard is to have its share of (vertices)", 4},
    {"epsilon", KEY_AXIS + CLEAVE_AXIS_EPSILON, "E", 0, "Allowed overweight of a shard (0.03)", 4},
    {"preset", KEY_PRESET, "fast|default|quality", 0, "How much work the partitioner takes", 4},
    {"starts", KEY_STARTS, "N", 0, "Independent tries of the partitioner, the best kept", 4},
    {"threads", 't', "N", 0, "Threads of the partitioner, 1 to 256 (1); the same answer", 4},
    {"train", KEY_AXIS + CLEAVE_AXIS_TRAIN, "N", 0,
     "Queries to place by, of other users than those measured where there are more (10000)", 4},
    {0},
};

static const struct argp_option executor_options[] = {
    {NULL, 0, NULL, 0, "What is measured:", 5},
    {"executors", KEY_EXECUTORS, "LIST", 0, "direct, batched, early (direct,batched)", 5},
    {0},
};

static const struct argp_option queries_options[] = {
    {NULL, 0, NULL, 0, "What is measured:", 5},
    {"queries", KEY_AXIS + CLEAVE_AXIS_QUERIES, "N", 0,
     "From so many users, drawn by the seed; from all where there are fewer (10000)", 5},
    {0},
};

static void read_range(struct argp_state *state, const char *option, const char *value,
                       uint64_t *low, uint64_t *high)
{
    const char *dots = strstr(value, "..");
    bool ok = dots && (dots == value || cleave__graph_number(value, (size_t)(dots - value), low)) &&
              (!dots[2] || cleave__graph_number(dots + 2, strlen(dots + 2), high));
    if (dots == value)
        *low = 0;
    if (dots && !dots[2])
        *high = UINT64_MAX;
    if (!ok || *low > *high)
        argp_error(state, "%s takes a range such as 3..9, 3.. or ..9, not '%s'", option, value);
}

static error_t parse_axis(struct cleave_graph_arguments *a, int key, char *value,
                          struct argp_state *state)
{
    uint32_t i = (uint32_t)key - KEY_AXIS;
    if (key < KEY_AXIS || i >= CLEAVE_GRAPH_AXES)
        return ARGP_ERR_UNKNOWN;
    cleave__sweep_parse(state, &a->axis[i], value);
    a->seeds = a->seeds || i == CLEAVE_AXIS_SEED;
    if (!a->sweeps && a->axis[i].count > 1)
        argp_error(state, "--%s: one value only here; cleave graph compare takes several",
                   a->axis[i].name);
    for (uint32_t v = 0; i == CLEAVE_AXIS_BALANCE && v < a->axis[i].count; v++) {
        unsigned set;
        struct cleave_error error;
        if (cleave__graph_balance_of(a->axis[i].value[v].word, &set, &error))
            argp_error(state, "--balance: %s", error.message);
    }
    return 0;
}

static error_t parse_source(int key, char *value, struct argp_state *state)
{
    struct cleave_graph_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = a;
        return 0;
    case KEY_EDGES:
        a->edges = value;
        return 0;
    case KEY_LABELS:
        a->labels = value;
        return 0;
    case KEY_UNDIRECTED:
        a->undirected = true;
        return 0;
    case ARGP_KEY_END:
        if (!a->edges == !a->generator)
            argp_error(state, "which graph? --edges FILE, or --generate NAME");
        if (a->generator && (a->labels || a->undirected))
            argp_error(state, "--labels and --undirected go with --edges");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_made(int key, char *value, struct argp_state *state)
{
    struct cleave_graph_arguments *a = state->input;
    if (key != KEY_GENERATE)
        return parse_axis(a, key, value, state);
    a->generator = cleave__graph_generator_find(value);
    if (!a->generator)
        argp_error(state, "no generator is called '%s': see --help", value);
    return 0;
}

static error_t parse_query(int key, char *value, struct argp_state *state)
{
    struct cleave_graph_arguments *a = state->input;
    switch (key) {
    case KEY_EXACTLY:
        a->exactly = true;
        return 0;
    case KEY_TOP:
        a->top = true;
        return 0;
    case KEY_LABEL:
        a->target_label = value;
        return 0;
    case KEY_DEGREE:
        read_range(state, "--target-degree", value, &a->degree_low, &a->degree_high);
        a->has_degree = true;
        return 0;
    case KEY_ID:
        read_range(state, "--target-id", value, &a->id_low, &a->id_high);
        a->has_id = true;
        return 0;
    default:
        return parse_axis(a, key, value, state);
    }
}

static void add_placement(struct argp_state *state, struct cleave_graph_arguments *a,
                          const char *name)
{
    if (name[0] != '@' && !cleave__graph_placement_exists(name))
        argp_error(state, "no placement is called '%s': see --help", name);
    if (a->placement_count == CLEAVE_PLACEMENTS_MAX)
        argp_error(state, "more than %d placements", CLEAVE_PLACEMENTS_MAX);
    a->placements[a->placement_count++] = name;
}

static void add_executor(struct argp_state *state, struct cleave_graph_arguments *a,
                         const char *name)
{
    const struct cleave__executor *executor = cleave__executor_find(name);
    if (!executor)
        argp_error(state, "no executor is called '%s': direct, batched or early", name);
    if (a->executor_count == CLEAVE_EXECUTORS_MAX)
        argp_error(state, "more than %d executors", CLEAVE_EXECUTORS_MAX);
    a->executors[a->executor_count++] = executor;
}

static error_t parse_place(int key, char *value, struct argp_state *state)
{
    static const char *const presets[] = {
        [CLEAVE_DEFAULT] = "default", [CLEAVE_FAST] = "fast", [CLEAVE_QUALITY] = "quality", NULL};
    struct cleave_graph_arguments *a = state->input;
    char *name;
    switch (key) {
    case KEY_PLACEMENTS:
        a->placement_count = 0;
        while ((name = cleave__option_item(state, "--placements", &value)))
            add_placement(state, a, name);
        return 0;
    case KEY_PRESET:
        a->preset = (enum cleave_preset)cleave__option_choice(state, "--preset", value, presets);
        return 0;
    case KEY_STARTS:
        a->starts = (uint32_t)cleave__option_integer(state, "--starts", value, 1, 1000000);
        return 0;
    case 't':
        a->threads = (uint32_t)cleave__option_integer(state, "--threads", value, 1, 256);
        return 0;
    default:
        return parse_axis(a, key, value, state);
    }
}

static error_t parse_executors(int key, char *value, struct argp_state *state)
{
    struct cleave_graph_arguments *a = state->input;
    char *name;
    switch (key) {
    case KEY_EXECUTORS:
        a->executor_count = 0;
        while ((name = cleave__option_item(state, "--executors", &value)))
            add_executor(state, a, name);
        return 0;
    case ARGP_KEY_END:
        if (!a->executor_count) {
            a->executors[a->executor_count++] = cleave__executor_find("direct");
            a->executors[a->executor_count++] = cleave__executor_find("batched");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_queries(int key, char *value, struct argp_state *state)
{
    return parse_axis(state->input, key, value, state);
}

/* The list of generators after the options; argp frees it. */
static char *list_generators(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    if (!out)
        return (char *)(uintptr_t)text;
    fputs("Generators:", out);
    for (uint32_t i = 0; cleave__graph_generator_at(i); i++)
        fprintf(out, "\n  %-14s%s", cleave__graph_generator_at(i)->name,
                cleave__graph_generator_at(i)->summary);
    return fclose(out) ? NULL : list;
}

static char *list_placements(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    if (!out)
        return (char *)(uintptr_t)text;
    fputs("Placements:", out);
    for (uint32_t i = 0; cleave__graph_placement_at(i); i++)
        fprintf(out, "\n  %-15s%s", cleave__graph_placement_at(i)->name,
                cleave__graph_placement_at(i)->summary);
    return fclose(out) ? NULL : list;
}

const struct argp cleave__graph_made_argp = {made_options, parse_made,      NULL, "\v",
                                             NULL,         list_generators, NULL};
static const struct argp_child source_children[] = {{&cleave__graph_made_argp, 0, NULL, 0}, {0}};
const struct argp cleave__graph_source_argp = {source_options,  parse_source, NULL, NULL,
                                               source_children, NULL,         NULL};
const struct argp cleave__graph_query_argp = {query_options, parse_query, NULL, NULL,
                                              NULL,          NULL,        NULL};
const struct argp cleave__graph_place_argp = {place_options, parse_place,     NULL, "\v",
                                              NULL,          list_placements, NULL};
const struct argp cleave__graph_executor_argp = {
    executor_options, parse_executors, NULL, NULL, NULL, NULL, NULL};
const struct argp cleave__graph_queries_argp = {
    queries_options, parse_queries, NULL, NULL, NULL, NULL, NULL};
