/* cleave tables place, and refine: a steering session from the command line. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tables.h"
#include "cli/tables_interact.h"
#include "report/json.h"
#include "tables/refine/constraints.h"
#include "tables/refine/session.h"

enum { KEY_SAVE = 0x3000, KEY_INTERACTIVE, KEY_ITERATIONS, KEY_SPLIT, KEY_RANK };

struct arguments {
    struct cleave_tables_arguments tables;
    bool refines, interactive;
    const char *output, *save;
    bool iterations_given, split_given, rank_given;
    uint32_t iterations, split_top;
    bool rank_by_ratio;
};

static const struct argp_option place_options[] = {
    {"output", 'o', "FILE", 0, "Write the lookup table here", 4}, {0}};

static const struct argp_option refine_options[] = {
    {"output", 'o', "FILE", 0, "Write the lookup table here", 4},
    {"interactive", KEY_INTERACTIVE, 0, 0, "Ask after each iteration (type help there)", 5},
    {"iterations", KEY_ITERATIONS, "N", 0, "Iterations at most (10)", 5},
    {"split", KEY_SPLIT, "N", 0, "Groups split in an iteration (20)", 5},
    {"rank", KEY_RANK, "NAME", 0,
     "Split the groups of greatest size, or ratio of size to accesses (size)", 5},
    {"save-constraints", KEY_SAVE, "FILE", 0, "Write what was decided, YAML", 5},
    {0}};

static const char *const ranks[] = {"size", "ratio", NULL};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables;
        state->child_inputs[2] = &a->tables.common;
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case KEY_SAVE:
        a->save = value;
        return 0;
    case KEY_INTERACTIVE:
        a->interactive = true;
        return 0;
    case KEY_ITERATIONS:
        a->iterations_given = true;
        a->iterations = (uint32_t)cleave__option_integer(state, "--iterations", value, 1, 100000);
        return 0;
    case KEY_SPLIT:
        a->split_given = true;
        a->split_top = (uint32_t)cleave__option_integer(state, "--split", value, 1, 1000000);
        return 0;
    case KEY_RANK:
        a->rank_given = true;
        a->rank_by_ratio = cleave__option_choice(state, "--rank", value, ranks) == 1;
        return 0;
    case ARGP_KEY_END:
        if (a->interactive && a->tables.common.json)
            argp_error(state, "--interactive and --json exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static json_t *result_json(const struct cleave_session_result *r)
{
    json_t *imbalance = json_object(), *root = json_object();
    json_object_set_new(imbalance, "size", cleave__json_real(r->imbalance_size));
    json_object_set_new(imbalance, "access", cleave__json_real(r->imbalance_access));
    json_object_set_new(root, "iteration", json_integer(r->iteration));
    json_object_set_new(root, "action", json_string(r->action));
    json_object_set_new(root, "train",
                        json_pack("{s:I, s:I}", "transactions", (json_int_t)r->train_transactions,
                                  "distributed", (json_int_t)r->train_distributed));
    json_object_set_new(root, "held_out",
                        json_pack("{s:I, s:I}", "transactions",
                                  (json_int_t)r->held_out_transactions, "distributed",
                                  (json_int_t)r->held_out_distributed));
    json_object_set_new(root, "skew_factor", cleave__json_real(r->skew_factor));
    json_object_set_new(root, "imbalance", imbalance);
    json_object_set_new(root, "feasible", json_boolean(r->feasible));
    json_object_set_new(root, "infeasible", json_string(r->infeasible));
    json_object_set_new(root, "balanced", json_boolean(r->balanced));
    json_object_set_new(root, "good", json_boolean(r->good));
    json_object_set_new(root, "moved_rows", json_integer((json_int_t)r->moved_rows));
    json_object_set_new(root, "lookup_bytes", json_integer((json_int_t)r->lookup_bytes));
    json_object_set_new(root, "notes", cleave__json_text(r->notes, strlen(r->notes)));
    return root;
}

static enum cleave_status print_json(const struct arguments *a,
                                     const struct cleave_session *session,
                                     struct cleave_error *error)
{
    json_t *root = json_object(), *iterations = json_array();
    struct cleave_session_result result;
    for (uint32_t i = 0; cleave_session_result_at(session, i, &result); i++)
        json_array_append_new(iterations, result_json(&result));
    json_object_set_new(root, "shards", json_integer(a->tables.shards));
    json_object_set_new(root, "seed", cleave__json_unsigned(a->tables.common.seed));
    json_object_set_new(root, "trace", cleave__tables_describe_json(session->kase));
    json_object_set_new(root, "iterations", iterations);
    if (cleave_session_best(session, &result))
        json_object_set_new(root, "best", result_json(&result));
    json_object_set_new(root, "output", a->output ? json_string(a->output) : json_null());
    return cleave__json_write(root, stdout, error);
}

struct watch {
    struct cleave_terminal *terminal;
    struct cleave_session_result last;
    bool any, quiet;
};

static bool show_each(void *context, const struct cleave_session_result *result)
{
    struct watch *watch = context;
    cleave__terminal_clear(watch->terminal);
    if (!watch->quiet)
        cleave__interact_show(stdout, result, watch->any ? &watch->last : NULL);
    watch->last = *result;
    watch->any = true;
    return true;
}

static enum cleave_status steer_session(struct arguments *a, struct cleave_session *session,
                                        struct cleave_terminal *terminal,
                                        struct cleave_error *error)
{
    bool quiet = a->tables.common.json || a->tables.common.csv;
    if (a->interactive)
        return cleave__interact(session, stdin, stdout, error);
    struct watch watch = {.terminal = terminal, .quiet = quiet};
    if (a->refines)
        return cleave_session_run(session, show_each, &watch, error);
    struct cleave_session_result result;
    enum cleave_status status = cleave_session_iterate(session, &result, error);
    if (!status)
        show_each(&watch, &result);
    return status;
}

static enum cleave_status make_session(struct arguments *a, struct cleave_terminal *terminal,
                                       struct cleave_session **out, struct cleave_error *error)
{
    struct cleave_case *kase;
    a->tables.verify = 0; /* no recount here: compare does that */
    enum cleave_status status = cleave__tables_load(&a->tables, terminal, &kase, error);
    if (status)
        return status;
    if (a->iterations_given)
        a->tables.steer.iterations = a->iterations;
    if (a->split_given)
        a->tables.steer.split_top = a->split_top;
    if (a->rank_given)
        a->tables.steer.rank_by_ratio = a->rank_by_ratio;
    if (!a->tables.common.quiet && !a->tables.common.json)
        cleave__tables_describe(kase, stdout);
    return cleave__session_new(kase, a->tables.shards, a->tables.common.seed, &a->tables.steer,
                               &terminal->progress, out, error);
}

static int run(int argc, char **argv, bool refines)
{
    struct argp_child children[] = {{cleave__tables_source_argp(), 0, NULL, 0},
                                    {&cleave__tables_steer_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {
        refines ? refine_options : place_options,
        parse,
        "[FILE...]",
        refines
            ? "Places tables, then splits the heaviest groups and places again until the result "
              "is feasible and balanced, or the budget is spent."
            : "Places tables by their workload and writes a lookup table that routes.",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: path lists */
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT, .refines = refines};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_session *session;
    enum cleave_status status = make_session(&a, &terminal, &session, &error);
    if (status) {
        cleave__arena_free(&a.tables.arena);
        return cleave__command_fail(&error);
    }
    status = steer_session(&a, session, &terminal, &error);
    cleave__terminal_clear(&terminal);
    struct cleave_session_result best;
    bool placed = cleave_session_best(session, &best);
    if (!status && a.output && placed)
        status = cleave_session_write_lookup(session, a.output, &error);
    if (!status && a.save)
        status = cleave_session_save(session, a.save, &error);
    if (!status && a.tables.common.json)
        status = print_json(&a, session, &error);
    else if (!status && a.output && placed && !a.tables.common.quiet)
        printf("lookup table of iteration %" PRIu32 ": %s, %" PRIu64 " bytes\n", best.iteration,
               a.output, best.lookup_bytes);
    bool feasible = !placed || best.feasible;
    if (!status && !feasible)
        cleave_error_set(&error, CLEAVE_UNSATISFIABLE,
                         "no placement found within the nodes' limits; the nearest passes one: %s",
                         best.infeasible);
    int exit_status = status || !feasible ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
    cleave_session_close(session);
    cleave__arena_free(&a.tables.arena);
    return exit_status;
}

int cleave__command_tables_place(int argc, char **argv)
{
    return run(argc, argv, false);
}

int cleave__command_tables_refine(int argc, char **argv)
{
    return run(argc, argv, true);
}
