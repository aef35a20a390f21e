#include <stdlib.h>
#include <string.h>

#include "cli/tables.h"

enum {
    KEY_SCHEMA = 0x2000,
    KEY_CATALOG,
    KEY_SIZES,
    KEY_STATS,
    KEY_TRACE,
    KEY_HELD_OUT_TRACE,
    KEY_HELD_OUT_FRACTION,
    KEY_HELD_OUT,
    KEY_BENCHMARK,
    KEY_TRANSACTIONS,
    KEY_FORMAT,
    KEY_LINE_PREFIX,
    KEY_DATABASE,
    KEY_USER,
    KEY_LIMIT,
    KEY_VERIFY,
    KEY_EPSILON,
    KEY_STRICT,
    KEY_NO_REPLICATION,
    KEY_NO_EXCEPTIONS,
    KEY_NO_DERIVED,
    KEY_ATTRIBUTES,
    KEY_CONSTRAINTS,
    KEY_ALPHA,
    KEY_OPTION = 0x4000 /* + index among the benchmarks' own options */
};

static const struct argp_option source_options[] = {
    {0, 0, 0, 0, "The database:", 1},
    {"schema", KEY_SCHEMA, "FILE", 0,
     "SQL DDL (pg_dump -s writes it); without it, tables are inferred from the statements", 1},
    {"catalog", KEY_CATALOG, "CONNECTION", 0,
     "Schema, sizes and statistics of a live PostgreSQL (a libpq connection string)", 1},
    {"sizes", KEY_SIZES, "FILE", 0, "Row counts, YAML", 1},
    {"stats", KEY_STATS, "FILE", 0, "A dump of pg_class and pg_stats (docs/sizes.md)", 1},
    {0, 0, 0, 0, "The workload, from files:", 2},
    {"trace", KEY_TRACE, "FILE", 0,
     "SQL, `id TAB statement`, or a PostgreSQL csvlog, jsonlog or stderr log; gz, bz2, xz, zst; - "
     "is standard input; more files may follow as arguments",
     2},
    {"held-out-trace", KEY_HELD_OUT_TRACE, "FILE", 0, "A trace that only judges (repeatable)", 2},
    {"held-out-fraction", KEY_HELD_OUT_FRACTION, "SHARE", 0,
     "Last share of the transactions held out (0.3)", 2},
    {"format", KEY_FORMAT, "NAME", 0, "auto, sql, tab, csvlog, jsonlog or stderr (auto)", 2},
    {"line-prefix", KEY_LINE_PREFIX, "PREFIX", 0, "log_line_prefix of a stderr log (guessed)", 2},
    {"database", KEY_DATABASE, "NAME", 0, "Only this database's sessions", 2},
    {"user", KEY_USER, "NAME", 0, "Only this user's sessions", 2},
    {"limit", KEY_LIMIT, "N", 0, "Read at most N transactions", 2},
    {0, 0, 0, 0, "The workload, generated:", 3},
    {"benchmark", KEY_BENCHMARK, "NAME", 0, "tpcc, tatp or epinions", 3},
    {"transactions", KEY_TRANSACTIONS, "N", 0, "Transactions to place by (1000)", 3},
    {"held-out", KEY_HELD_OUT, "N", 0, "Later transactions that only judge (1000)", 3},
    {0},
};

static const char *const formats[] = {"auto", "sql", "tab", "csvlog", "jsonlog", "stderr", NULL};

/* Names of the benchmarks' own options, each once. */
static const char *option_names[CLEAVE_BENCHMARK_OPTIONS_MAX];

static void check_benchmark(struct argp_state *state, const char *name)
{
    const char *words[16] = {NULL};
    for (uint32_t b = 0; b < 15 && cleave__benchmark_at(b); b++)
        words[b] = cleave__benchmark_at(b)->name;
    cleave__option_choice(state, "--benchmark", name, words);
}

static error_t parse_source(int key, char *value, struct argp_state *state)
{
    struct cleave_tables_arguments *a = state->input;
    struct cleave_case_source *source = &a->source;
    if (key >= KEY_OPTION && key < KEY_OPTION + CLEAVE_BENCHMARK_OPTIONS_MAX) {
        if (source->benchmark_option_count == CLEAVE_BENCHMARK_OPTIONS_MAX)
            argp_error(state, "too many benchmark options");
        a->benchmark_options[source->benchmark_option_count++] =
            (struct cleave_benchmark_option){option_names[key - KEY_OPTION], value};
        return 0;
    }
    switch (key) {
    case KEY_SCHEMA:
        source->schema_path = value;
        break;
    case KEY_CATALOG:
        source->catalog = value;
        break;
    case KEY_SIZES:
        source->sizes_path = value;
        break;
    case KEY_STATS:
        source->stats_path = value;
        break;
    case ARGP_KEY_ARG:
    case KEY_TRACE:
        if (source->trace_count == CLEAVE_PATHS_MAX)
            argp_error(state, "more than %d traces", CLEAVE_PATHS_MAX);
        a->traces[source->trace_count++] = value;
        break;
    case KEY_HELD_OUT_TRACE:
        if (source->held_out_trace_count == CLEAVE_PATHS_MAX)
            argp_error(state, "more than %d traces", CLEAVE_PATHS_MAX);
        a->held_out_traces[source->held_out_trace_count++] = value;
        break;
    case KEY_HELD_OUT_FRACTION:
        source->held_out_fraction =
            cleave__option_real(state, "--held-out-fraction", value, 0, 0.95);
        break;
    case KEY_HELD_OUT:
        source->held_out =
            (uint64_t)cleave__option_integer(state, "--held-out", value, 0, 1000000000);
        break;
    case KEY_TRANSACTIONS:
        source->transactions =
            (uint64_t)cleave__option_integer(state, "--transactions", value, 1, 1000000000);
        break;
    case KEY_BENCHMARK:
        check_benchmark(state, value);
        source->benchmark = value;
        break;
    case KEY_FORMAT:
        source->trace.format = cleave__option_choice(state, "--format", value, formats);
        break;
    case KEY_LINE_PREFIX:
        source->trace.line_prefix = value;
        break;
    case KEY_DATABASE:
        source->trace.database = value;
        break;
    case KEY_USER:
        source->trace.user = value;
        break;
    case KEY_LIMIT:
        source->limit = (uint64_t)cleave__option_integer(state, "--limit", value, 1, INT64_MAX);
        break;
    case ARGP_KEY_END:
        if (!source->benchmark && !source->trace_count)
            argp_error(state, "no workload: give --benchmark NAME or --trace FILE");
        if (source->benchmark && (source->trace_count || source->schema_path || source->catalog))
            argp_error(state, "--benchmark brings its own schema and trace");
        if (source->schema_path && source->catalog)
            argp_error(state, "--schema and --catalog exclude each other");
        if (!source->benchmark && source->benchmark_option_count)
            argp_error(state, "--%s belongs to --benchmark", a->benchmark_options[0].name);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Appends the benchmarks' own options to `all`, whose first `fixed` are taken; there is room. */
static void add_benchmark_options(struct argp_option *all, size_t fixed)
{
    uint32_t known = 0;
    for (uint32_t b = 0; cleave__benchmark_at(b); b++) {
        const char *const(*list)[2] = cleave__benchmark_at(b)->options;
        for (uint32_t o = 0; list && list[o][0] && known < CLEAVE_BENCHMARK_OPTIONS_MAX; o++) {
            bool repeated = false;
            for (uint32_t k = 0; k < known; k++)
                repeated |= strcmp(option_names[k], list[o][0]) == 0;
            if (repeated)
                continue;
            all[fixed + known] = (struct argp_option){
                list[o][0], KEY_OPTION + (int)known, "VALUE", 0, list[o][1], 3};
            option_names[known++] = list[o][0];
        }
    }
}

const struct argp *cleave__tables_source_argp(void)
{
    enum { FIXED = sizeof source_options / sizeof *source_options };
    static struct argp_option all[FIXED + CLEAVE_BENCHMARK_OPTIONS_MAX];
    static struct argp argp;
    if (argp.parser)
        return &argp;
    memcpy(all, source_options, sizeof source_options);
    add_benchmark_options(all, FIXED - 1);
    argp = (struct argp){all, parse_source, NULL, NULL, NULL, NULL, NULL};
    return &argp;
}

static error_t parse_benchmark(int key, char *value, struct argp_state *state)
{
    const struct cleave_tables_arguments *a = state->input;
    if (key == ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (key != ARGP_KEY_END)
        return parse_source(key, value, state);
    if (!a->source.benchmark && a->source.benchmark_option_count)
        argp_error(state, "--%s belongs to --benchmark", a->benchmark_options[0].name);
    return 0;
}

const struct argp *cleave__tables_benchmark_argp(void)
{
    static struct argp_option all[3 + CLEAVE_BENCHMARK_OPTIONS_MAX] = {
        {0, 0, 0, 0, "A generated database:", 3},
        {"benchmark", KEY_BENCHMARK, "NAME", 0, "tpcc, tatp or epinions", 3}};
    static struct argp argp;
    if (argp.parser)
        return &argp;
    add_benchmark_options(all, 2);
    argp = (struct argp){all, parse_benchmark, NULL, NULL, NULL, NULL, NULL};
    return &argp;
}

static const struct argp_option steer_options[] = {
    {0, 0, 0, 0, "The placement:", 4},
    {"shards", 'k', "K", 0, "Number of shards (2)", 4},
    {"epsilon", KEY_EPSILON, "SHARE", 0, "Balance aimed at, rows and accesses each (0.10)", 4},
    {"strict", KEY_STRICT, 0, 0, "Balance before fewer distributed transactions", 4},
    {"no-replication", KEY_NO_REPLICATION, 0, 0, "Never copy a table to every shard", 4},
    {"no-exceptions", KEY_NO_EXCEPTIONS, 0, 0, "Rules by key only, no rows apart from them", 4},
    {"no-derived-keys", KEY_NO_DERIVED, 0, 0, "Do not route by columns that spell a key", 4},
    {"attributes", KEY_ATTRIBUTES, "N", 0, "Most accessed attributes that cut a table (2)", 4},
    {"constraints", KEY_CONSTRAINTS, "FILE", 0, "What was decided, YAML (docs/steering.md)", 4},
    {"alpha", KEY_ALPHA, "SHARE", 0,
     "Weight of size in the skew factor, accesses have the rest (0.5)", 4},
    {"verify", KEY_VERIFY, "N", 0,
     "Transactions of each part that the oracle recounts; all, or 0 (2000)", 4},
    {0},
};

/* Options that change the steer. `state` is only for complaints: NULL when a value was checked. */
static bool apply_steer(struct cleave_steer *steer, int key, char *value, struct argp_state *state)
{
    switch (key) {
    case KEY_EPSILON:
        steer->epsilon = cleave__option_real(state, "--epsilon", value, 0, 1000);
        return true;
    case KEY_STRICT:
        steer->strict = true;
        return true;
    case KEY_NO_REPLICATION:
        steer->replication = false;
        return true;
    case KEY_NO_EXCEPTIONS:
        steer->exceptions = false;
        return true;
    case KEY_NO_DERIVED:
        steer->derived_keys = false;
        return true;
    case KEY_ATTRIBUTES:
        steer->attributes = (uint32_t)cleave__option_integer(state, "--attributes", value, 1, 8);
        return true;
    case KEY_ALPHA:
        steer->alpha = cleave__option_real(state, "--alpha", value, 0, 1);
        steer->beta = 1 - steer->alpha;
        return true;
    default:
        return false;
    }
}

void cleave__tables_override(struct cleave_tables_arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->override_count; i++)
        apply_steer(&arguments->steer, arguments->overrides[i].key, arguments->overrides[i].value,
                    NULL);
}

static error_t parse_steer(int key, char *value, struct argp_state *state)
{
    struct cleave_tables_arguments *a = state->input;
    if (apply_steer(&a->steer, key, value, state)) {
        if (a->override_count == CLEAVE_OVERRIDES_MAX)
            argp_error(state, "too many options");
        a->overrides[a->override_count].key = key;
        a->overrides[a->override_count++].value = value;
        return 0;
    }
    switch (key) {
    case 'k':
        a->shards =
            (uint32_t)cleave__option_integer(state, "--shards", value, 1, CLEAVE_SHARDS_MAX);
        break;
    case KEY_CONSTRAINTS:
        a->constraints = value;
        break;
    case KEY_VERIFY:
        a->verify = strcmp(value, "all") == 0
                        ? UINT64_MAX
                        : (uint64_t)cleave__option_integer(state, "--verify", value, 0, INT64_MAX);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cleave__tables_steer_argp = {steer_options, parse_steer, NULL, NULL,
                                               NULL,          NULL,        NULL};

void cleave__tables_defaults(struct cleave_tables_arguments *arguments)
{
    arguments->source.transactions = 1000;
    arguments->source.held_out = 1000;
    arguments->source.held_out_fraction = 0.3;
    arguments->shards = 2;
    arguments->verify = 2000;
    arguments->steer = (struct cleave_steer)CLEAVE_STEER_DEFAULTS;
}
