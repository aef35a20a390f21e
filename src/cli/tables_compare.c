/* cleave tables compare: seven schemes on one workload, training and held-out figures each. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/tables.h"
#include "cli/tables_simulate.h"
#include "report/json.h"
#include "report/report.h"

enum { SCHEMES_MAX = 16, KEY_SCHEMES = 0x3000 };

struct arguments {
    struct cleave_tables_arguments tables;
    const struct cleave_scheme *schemes[SCHEMES_MAX];
    uint32_t scheme_count;
    struct cleave_simulate_arguments simulate;
    struct cleave_simulated simulated[SCHEMES_MAX]; /* by scheme, if asked for */
};

static const struct argp_option options[] = {
    {"schemes", KEY_SCHEMES, "LIST", 0,
     "Names with commas between: HGP,SH,PKH,PKR,PKRR,CMRR,AllR (all)", 4},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables;
        state->child_inputs[2] = &a->simulate;
        state->child_inputs[3] = &a->tables.common;
        return 0;
    case KEY_SCHEMES:
        for (char *name; (name = cleave__option_item(state, "--schemes", &value));) {
            const struct cleave_scheme *scheme = cleave__scheme_find(name);
            if (!scheme)
                argp_error(state, "no scheme is called '%s': see --help", name);
            if (a->scheme_count == SCHEMES_MAX)
                argp_error(state, "more than %d schemes", SCHEMES_MAX);
            a->schemes[a->scheme_count++] = scheme;
        }
        return 0;
    case ARGP_KEY_END:
        for (uint32_t i = 0; a->scheme_count == i && cleave__scheme_at(i); i++)
            a->schemes[a->scheme_count++] = cleave__scheme_at(i);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct cleave_report_column columns[] = {
    {.key = "scheme", .title = "scheme"},
    {.key = "train",
     .title = "train",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "held_out",
     .title = "held out",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "read_only",
     .title = "reads",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "writing",
     .title = "writes",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 2},
    {.key = "skew_factor", .title = "skew", .type = CLEAVE_REPORT_REAL, .decimals = 4},
    {.key = "size",
     .title = "size imb",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 1},
    {.key = "access",
     .title = "access imb",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 1},
    {.key = "bottleneck",
     .title = "busiest",
     .unit = "%",
     .type = CLEAVE_REPORT_REAL,
     .scale = 100,
     .decimals = 1},
    {.key = "lookup_bytes", .title = "lookup", .unit = "B", .type = CLEAVE_REPORT_INTEGER},
    {.key = "seconds", .title = "seconds", .type = CLEAVE_REPORT_REAL, .decimals = 2},
    /* with --simulate */
    {.key = "simulated.tx_per_s", .title = "tx/s", .type = CLEAVE_REPORT_REAL, .decimals = 0},
    {.key = "simulated.p50_ms",
     .title = "p50",
     .unit = "ms",
     .type = CLEAVE_REPORT_REAL,
     .decimals = 2},
    {.key = "simulated.p99_ms",
     .title = "p99",
     .unit = "ms",
     .type = CLEAVE_REPORT_REAL,
     .decimals = 2},
};
enum { COLUMNS = sizeof columns / sizeof *columns, SIMULATED_COLUMNS = 3 };

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static bool fill_row(struct cleave_report *report, const struct cleave_scheme_result *result,
                     const struct cleave_simulated *simulated)
{
    const struct cleave_evaluation *e = &result->evaluation;
    const struct cleave_count *judge = e->held_out.transactions ? &e->held_out : &e->train;
    uint32_t c = 0;
    bool ok = cleave__report_row(report) && cleave__report_text(report, c++, result->scheme->name);
    cleave__report_real(report, c++, share(e->train.distributed, e->train.transactions));
    if (e->held_out.transactions)
        cleave__report_real(report, c, share(e->held_out.distributed, e->held_out.transactions));
    c++;
    cleave__report_real(report, c++, share(judge->read_only_distributed, judge->transactions));
    cleave__report_real(report, c++, share(judge->write_distributed, judge->transactions));
    cleave__report_real(report, c++, e->skew_factor);
    cleave__report_real(report, c++, e->imbalance_size);
    cleave__report_real(report, c++, e->imbalance_access);
    cleave__report_real(report, c++, e->bottleneck);
    cleave__report_integer(report, c++, (int64_t)e->lookup_bytes);
    cleave__report_real(report, c++, result->seconds);
    if (simulated) {
        cleave__report_real(report, c++, simulated->tx_per_s);
        cleave__report_real(report, c++, simulated->p50_ms);
        cleave__report_real(report, c++, simulated->p99_ms);
    }
    return ok;
}

static uint32_t terminal_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static double judged(const struct cleave_scheme_result *result)
{
    return share(result->evaluation.held_out.distributed, result->evaluation.held_out.transactions);
}

/* What a reader of the figures should know: a placement that does not hold for later transactions,
 * and a scheme that does better on them. Null when there is nothing to say. */
static const char *remark(const struct cleave_comparison *comparison, uint32_t r, char *text,
                          size_t size)
{
    const struct cleave_scheme_result *result = &comparison->results[r];
    const struct cleave_evaluation *e = &result->evaluation;
    double train = share(e->train.distributed, e->train.transactions), later = judged(result);
    uint32_t best = r;
    if (r != 0 || e->held_out.transactions < 50)
        return NULL;
    for (uint32_t i = 0; i < comparison->result_count; i++) {
        /* A point less may be noise. */
        if (judged(&comparison->results[i]) < judged(&comparison->results[best]) - 0.01)
            best = i;
    }
    if (best != r)
        snprintf(text, size,
                 "%s does better on the held-out transactions: %.2f %% against %.2f %%; they may "
                 "differ from those placed by (another time, another job)",
                 comparison->results[best].scheme->name, 100 * judged(&comparison->results[best]),
                 100 * later);
    else if (later > 1.5 * train + 0.02)
        snprintf(text, size,
                 "far more held-out transactions are distributed than in training: believe the "
                 "second figure, and give more of the log");
    else
        return NULL;
    return text;
}

static enum cleave_status print_table(const struct arguments *a, const struct cleave_case *kase,
                                      const struct cleave_comparison *comparison,
                                      struct cleave_error *error)
{
    struct cleave_report report;
    cleave__report_init(&report, columns,
                        a->simulate.simulate ? COLUMNS : COLUMNS - SIMULATED_COLUMNS);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t r = 0; r < comparison->result_count && !status; r++) {
        if (!fill_row(&report, &comparison->results[r],
                      a->simulate.simulate ? &a->simulated[r] : NULL))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
    }
    if (!status && a->tables.common.csv) {
        status = cleave__report_print_csv(&report, stdout, error);
    } else if (!status) {
        if (!a->tables.common.quiet)
            cleave__tables_describe(kase, stdout);
        printf("\ndistributed transactions over %" PRIu32 " shards:\n\n", a->tables.shards);
        status = cleave__report_print(&report, stdout, terminal_width(), error);
        printf("\n");
        for (uint32_t r = 0; r < comparison->result_count; r++) {
            const struct cleave_scheme_result *result = &comparison->results[r];
            if (!result->evaluation.feasible)
                printf("%s is not feasible: %s\n", result->scheme->name,
                       result->evaluation.infeasible);
            for (const char *line = result->notes; *line;) {
                const char *end = strchr(line, '\n');
                int length = end ? (int)(end - line) : (int)strlen(line);
                printf("%s: %.*s\n", result->scheme->name, length, line);
                line += length + (end != NULL);
            }
            char text[300];
            if (remark(comparison, r, text, sizeof text))
                printf("%s: %s\n", result->scheme->name, text);
        }
        if (comparison->verified)
            printf("verified: %" PRIu64 " transactions recounted from their statements, every "
                   "scheme agrees\n",
                   comparison->verified_transactions);
        else if (*comparison->disagreement)
            printf("NOT verified: %s\n", comparison->disagreement);
        else
            printf("not verified: no transaction was recounted (--verify 0)\n");
    }
    cleave__report_free(&report);
    return status;
}

static json_t *scheme_json(const struct cleave_scheme_result *result,
                           const struct cleave_simulated *simulated)
{
    const struct cleave_evaluation *e = &result->evaluation;
    json_t *imbalance = json_object();
    json_object_set_new(imbalance, "size", cleave__json_real(e->imbalance_size));
    json_object_set_new(imbalance, "access", cleave__json_real(e->imbalance_access));
    json_t *scheme = json_object();
    json_object_set_new(scheme, "scheme", json_string(result->scheme->name));
    json_object_set_new(scheme, "train", cleave__tables_count_json(&e->train));
    json_object_set_new(scheme, "held_out", cleave__tables_count_json(&e->held_out));
    json_object_set_new(scheme, "skew_factor", cleave__json_real(e->skew_factor));
    json_object_set_new(scheme, "imbalance", imbalance);
    json_object_set_new(scheme, "bottleneck", cleave__json_real(e->bottleneck));
    json_object_set_new(scheme, "feasible", json_boolean(e->feasible));
    if (!e->feasible)
        json_object_set_new(scheme, "infeasible", json_string(e->infeasible));
    json_object_set_new(scheme, "lookup_bytes", json_integer((json_int_t)e->lookup_bytes));
    json_object_set_new(scheme, "seconds", cleave__json_real(result->seconds));
    json_object_set_new(scheme, "notes", cleave__json_text(result->notes, strlen(result->notes)));
    if (simulated) {
        json_t *played = json_object();
        json_object_set_new(played, "tx_per_s", cleave__json_real(simulated->tx_per_s));
        json_object_set_new(played, "p50_ms", cleave__json_real(simulated->p50_ms));
        json_object_set_new(played, "p99_ms", cleave__json_real(simulated->p99_ms));
        json_object_set_new(played, "busiest", cleave__json_real(simulated->busiest));
        json_object_set_new(played, "transactions",
                            json_integer((json_int_t)simulated->transactions));
        json_object_set_new(played, "distributed",
                            json_integer((json_int_t)simulated->distributed));
        json_object_set_new(played, "accesses", json_integer((json_int_t)simulated->accesses));
        json_object_set_new(scheme, "simulated", played);
    }
    return scheme;
}

static enum cleave_status print_json(const struct arguments *a, const struct cleave_case *kase,
                                     const struct cleave_comparison *comparison,
                                     struct cleave_error *error)
{
    json_t *root = json_object(), *schemes = json_array();
    json_object_set_new(root, "benchmark",
                        kase->benchmark ? json_string(kase->benchmark) : json_null());
    json_object_set_new(root, "shards", json_integer(a->tables.shards));
    json_object_set_new(root, "seed", cleave__json_unsigned(a->tables.common.seed));
    json_object_set_new(root, "train",
                        json_pack("{s:I}", "transactions", (json_int_t)kase->train.transactions));
    json_object_set_new(
        root, "held_out",
        json_pack("{s:I}", "transactions", (json_int_t)kase->held_out.transactions));
    json_object_set_new(root, "trace", cleave__tables_describe_json(kase));
    for (uint32_t r = 0; r < comparison->result_count; r++) {
        json_t *scheme =
            scheme_json(&comparison->results[r], a->simulate.simulate ? &a->simulated[r] : NULL);
        char text[300];
        if (remark(comparison, r, text, sizeof text))
            json_object_set_new(scheme, "remark", json_string(text));
        json_array_append_new(schemes, scheme);
    }
    json_object_set_new(root, "schemes", schemes);
    json_object_set_new(root, "verified", json_boolean(comparison->verified));
    json_object_set_new(root, "verified_transactions",
                        json_integer((json_int_t)comparison->verified_transactions));
    if (*comparison->disagreement)
        json_object_set_new(
            root, "disagreement",
            cleave__json_text(comparison->disagreement, strlen(comparison->disagreement)));
    return cleave__json_write(root, stdout, error);
}

int cleave__command_tables_compare(int argc, char **argv)
{
    struct argp_child children[] = {{cleave__tables_source_argp(), 0, NULL, 0},
                                    {&cleave__tables_steer_argp, 0, NULL, 0},
                                    {&cleave__tables_simulate_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {
        options,
        parse,
        "[FILE...]",
        "Compares placement schemes on one workload: distributed transactions "
        "among those they were made from (train) and among later ones (held "
        "out), balance, and the size of the lookup table.",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: path lists */
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_case *kase = NULL;
    struct cleave_comparison comparison;
    enum cleave_status status = cleave__tables_load(&a.tables, &terminal, &kase, &error);
    if (status)
        return cleave__command_fail(&error);
    status = cleave__compare(kase, a.schemes, a.scheme_count, a.tables.shards, a.tables.common.seed,
                             &a.tables.steer, &terminal.progress, &comparison, &error);
    bool compared = !status;
    if (compared && a.simulate.simulate)
        status = cleave__tables_simulate(&a.simulate, kase, &comparison, a.tables.common.seed,
                                         &terminal.progress, a.simulated, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = a.tables.common.json ? print_json(&a, kase, &comparison, &error)
                                      : print_table(&a, kase, &comparison, &error);
    if (compared)
        cleave__comparison_free(&comparison);
    cleave__tables_simulate_free(&a.simulate);
    cleave__case_free(kase);
    cleave__arena_free(&a.tables.arena);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
