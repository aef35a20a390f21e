/* cleave tables replay: a trace through the router on real shards, every answer compared. */
#include "cli/tables_shards.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/observe.h"
#include "cli/tables.h"
#include "report/json.h"
#include "tables/replay/audit.h"
#include "tables/replay/fill.h"
#include "tables/replay/replay.h"
#include "tables/source/generate.h"

enum {
    KEY_SCHEME = 0x5000,
    KEY_REFERENCE,
    KEY_NO_REFERENCE,
    KEY_FILL,
    KEY_CONNECTIONS,
    KEY_RATE,
    KEY_UNORDERED,
    KEY_REPARTITION,
    KEY_AT,
    KEY_PIECES
};

struct arguments {
    struct cleave_tables_arguments tables;
    const char *lookup_path, *repartition_path;
    const struct cleave_scheme *scheme;
    struct cleave_shard_arguments shards;
    struct cleave_replay_options replay;
    bool no_reference, fill;
    struct cleave_observe_arguments observe;
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "The shards:", 5},
    {"lookup", CLEAVE_KEY_LOOKUP, "FILE", 0,
     "Route by this lookup table (`tables place` writes it)", 5},
    {"scheme", KEY_SCHEME, "NAME", 0, "Without --lookup: place by this scheme first (HGP)", 5},
    {"shards", CLEAVE_KEY_SHARDS, "URL|K", 0,
     "Where they are, {} is a shard's number: postgresql://host-{}/db, sqlite:FILE-{}.db; or how "
     "many (2). Without URLs: SQLite files of a benchmark, made for the occasion",
     5},
    {"shard", CLEAVE_KEY_SHARD, "URL", 0, "Shard 0, then shard 1, ... one by one (repeatable)", 5},
    CLEAVE_CLUSTER_OPTION(5),
    {"reference", KEY_REFERENCE, "URL", 0,
     "The unsharded database: each answer is compared with its", 5},
    {"no-verify", KEY_NO_REFERENCE, NULL, 0, "Compare nothing: for speed", 5},
    {"fill", KEY_FILL, NULL, 0, "Put the benchmark's tables and rows there first", 5},
    {0, 0, 0, 0, "The replay:", 6},
    {"connections", KEY_CONNECTIONS, "N", 0, "Clients, each with a session to every shard (8)", 6},
    {"rate", KEY_RATE, "N", 0, "Transactions a second at most (as many as can be)", 6},
    {"coordinator", CLEAVE_KEY_COORDINATOR, "NAME", 0, "Whose transactions these are (replay)", 6},
    {"patience", CLEAVE_KEY_PATIENCE, "SECONDS", 0,
     "How long to wait for a shard that is gone (30)", 6},
    {"unordered", KEY_UNORDERED, NULL, 0,
     "Conflicting transactions side by side, as they come; compares nothing", 6},
    {0, 0, 0, 0, "Live repartition:", 7},
    {"repartition", KEY_REPARTITION, "FILE", 0,
     "Move all rows, meanwhile, to where this lookup table has them; it may have more shards", 7},
    {"repartition-at", KEY_AT, "N", 0, "Begin after so many transactions (0)", 7},
    {"pieces", KEY_PIECES, "N", 0, "Pieces by key, a key map (64)", 7},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->tables;
        state->child_inputs[1] = &a->tables;
        state->child_inputs[2] = &a->tables.common;
        state->child_inputs[3] = &a->observe;
        return 0;
    case CLEAVE_KEY_LOOKUP:
        a->lookup_path = value;
        return 0;
    case KEY_SCHEME:
        a->scheme = cleave__scheme_find(value);
        if (!a->scheme)
            argp_error(state, "no scheme is called '%s': see `tables compare`", value);
        return 0;
    case CLEAVE_KEY_SHARDS:
        if (*value && strspn(value, "0123456789") == strlen(value)) {
            a->tables.shards =
                (uint32_t)cleave__option_integer(state, "--shards", value, 1, CLEAVE_SHARDS_MAX);
            return 0;
        }
        break;
    case KEY_REFERENCE:
        a->replay.reference = value;
        return 0;
    case KEY_NO_REFERENCE:
        a->no_reference = true;
        return 0;
    case KEY_FILL:
        a->fill = true;
        return 0;
    case KEY_CONNECTIONS:
        a->replay.clients = (uint32_t)cleave__option_integer(state, "--connections", value, 1, 256);
        return 0;
    case KEY_RATE:
        a->replay.rate = cleave__option_real(state, "--rate", value, 1e-3, 1e9);
        return 0;
    case CLEAVE_KEY_COORDINATOR:
        a->replay.coordinator = cleave__option_coordinator(state, value);
        return 0;
    case CLEAVE_KEY_PATIENCE:
        a->replay.patience_s = cleave__option_real(state, "--patience", value, 0.1, 1e6);
        return 0;
    case KEY_UNORDERED:
        a->replay.unordered = a->no_reference = true;
        return 0;
    case KEY_REPARTITION:
        a->repartition_path = value;
        return 0;
    case KEY_AT:
        a->replay.repartition_at =
            (uint64_t)cleave__option_integer(state, "--repartition-at", value, 0, INT64_MAX);
        return 0;
    case KEY_PIECES:
        a->replay.pieces = (uint32_t)cleave__option_integer(state, "--pieces", value, 1, 4096);
        return 0;
    case ARGP_KEY_END:
        if (a->tables.common.csv)
            argp_error(state, "there is no table here to print as CSV");
        if (a->lookup_path && a->scheme)
            argp_error(state, "--lookup and --scheme exclude each other");
        if (a->no_reference && a->replay.reference)
            argp_error(state,
                       "--no-verify and --unordered compare nothing: --reference has no use");
        if (!a->tables.source.benchmark && !cleave__shard_given(&a->shards))
            argp_error(state, "no shards: give --shards URL, or --cluster DIR, or --benchmark to "
                              "have some made");
        if (!a->tables.source.benchmark && a->fill)
            argp_error(state, "--fill is for --benchmark; `tables load` loads other databases");
        if (a->fill && !a->no_reference && !a->replay.reference && !a->shards.cluster)
            argp_error(state, "give --reference URL too, or --no-verify");
        return 0;
    default:
        break;
    }
    return cleave__shard_parse(state, &a->shards, key, value) ? 0 : ARGP_ERR_UNKNOWN;
}

/* ---- what the replay needs ---- */

struct setting {
    struct arguments *a;
    struct cleave_terminal terminal;
    struct cleave_observe observe;
    struct cleave_arena arena;
    struct cleave_lookup *lookup, *repartition;
    struct cleave_case *kase;
    struct cleave_generator *generator;
    struct cleave_trace *trace;
    char folder[64]; /* of files made for the occasion; "" */
    uint64_t refused_told;
};

static enum cleave_status place(struct setting *setting, struct cleave_error *error)
{
    struct arguments *a = setting->a;
    const struct cleave_scheme *scheme = a->scheme ? a->scheme : cleave__scheme_find("HGP");
    for (uint32_t t = 0; t < a->tables.source.trace_count; t++) {
        if (strcmp(a->tables.traces[t], "-") == 0)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "standard input cannot be read twice, to place by and to "
                                    "replay: place first, then give --lookup");
    }
    enum cleave_status status =
        cleave__tables_load(&a->tables, &setting->terminal, &setting->kase, error);
    if (status)
        return status;
    struct cleave_layout layout;
    const char *notes = "";
    struct cleave_scheme_input input = {.schema = setting->kase->schema,
                                        .workload = &setting->kase->train,
                                        .profile = &setting->kase->profile,
                                        .shards =
                                            a->shards.count ? a->shards.count : a->tables.shards,
                                        .seed = a->tables.common.seed,
                                        .steer = &a->tables.steer,
                                        .progress = &setting->terminal.progress};
    status = scheme->place(&input, &setting->arena, &layout, &notes, error);
    if (!status)
        status = cleave__lookup_build(&layout, &setting->lookup, error);
    return status;
}

static enum cleave_status next_generated(void *context, struct cleave_trace_transaction *out,
                                         struct cleave_error *error)
{
    struct setting *setting = context;
    return cleave__generator_next(setting->generator, out, NULL, error);
}

static enum cleave_status next_traced(void *context, struct cleave_trace_transaction *out,
                                      struct cleave_error *error)
{
    struct setting *setting = context;
    return cleave__trace_next(setting->trace, out, error);
}

/* Where transactions come from; a benchmark begins anew, since its constants depend on what went
 * before. */
static enum cleave_status open_source(struct setting *setting, struct cleave_error *error)
{
    struct arguments *a = setting->a;
    const struct cleave_case_source *source = &a->tables.source;
    if (source->benchmark) {
        a->replay.source = (struct cleave_replay_source){next_generated, setting};
        a->replay.limit = source->limit ? source->limit : source->transactions + source->held_out;
        return cleave__generator_new(source->benchmark, a->tables.benchmark_options,
                                     source->benchmark_option_count, a->tables.common.seed,
                                     &setting->generator, error);
    }
    a->replay.source = (struct cleave_replay_source){next_traced, setting};
    a->replay.limit = source->limit;
    return cleave__trace_open(a->tables.traces, source->trace_count, &source->trace,
                              &setting->trace, error);
}

/* SQLite files in a folder of their own. */
static enum cleave_status make_files(struct setting *setting, struct cleave_error *error)
{
    struct arguments *a = setting->a;
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(setting->folder, sizeof setting->folder, "%s/cleave-replay-XXXXXX",
                     tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof setting->folder || !mkdtemp(setting->folder)) {
        *setting->folder = 0;
        return cleave_error_set(error, CLEAVE_IO, "no temporary folder can be made in %s",
                                tmp && *tmp ? tmp : "/tmp");
    }
    char *pattern = cleave__arena_alloc(&setting->arena, 200);
    char *reference = cleave__arena_alloc(&setting->arena, 200);
    if (!pattern || !reference)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    snprintf(pattern, 200, "sqlite:%s/shard-{}.db", setting->folder);
    snprintf(reference, 200, "sqlite:%s/unsharded.db", setting->folder);
    a->shards.pattern = pattern;
    if (!a->no_reference)
        a->replay.reference = reference;
    a->fill = true;
    return CLEAVE_OK;
}

static uint32_t count_shards(const struct setting *setting)
{
    uint32_t shards = cleave__lookup_shards(setting->lookup);
    uint32_t more = setting->repartition ? cleave__lookup_shards(setting->repartition) : 0;
    return more > shards ? more : shards;
}

static void remove_files(const struct setting *setting)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    if (!*setting->folder)
        return;
    for (uint32_t s = 0; setting->lookup && s <= count_shards(setting); s++) {
        for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
            char path[300];
            if (s < count_shards(setting))
                snprintf(path, sizeof path, "%s/shard-%u.db%s", setting->folder, s, tails[t]);
            else
                snprintf(path, sizeof path, "%s/unsharded.db%s", setting->folder, tails[t]);
            unlink(path);
        }
    }
    rmdir(setting->folder);
}

static void refused(void *context, uint64_t number, const char *why)
{
    struct setting *setting = context;
    enum { TOLD = 5 };
    CLEAVE_LOG(setting->observe.log, CLEAVE_LOG_WARN, "transaction refused",
               CLEAVE_FIELD_UNSIGNED("number", number + 1), CLEAVE_FIELD_TEXT("why", why));
    if (setting->a->tables.common.quiet || setting->refused_told++ >= TOLD)
        return;
    fprintf(stderr, "cleave: transaction %" PRIu64 " is left out: %s\n", number + 1, why);
}

/* ---- results ---- */

static void print_counts(const char *title, const struct cleave_replay_counts *counts)
{
    printf("  %-9s %" PRIu64 " of %" PRIu64 " transactions distributed (%" PRIu64
           " reading, %" PRIu64 " writing), %" PRIu64 " parts\n",
           title, counts->distributed, counts->transactions, counts->read_only_distributed,
           counts->write_distributed, counts->parts);
}

static double share(const struct cleave_replay_counts *counts)
{
    return counts->transactions ? 100 * (double)counts->distributed / (double)counts->transactions
                                : 0;
}

static void print_shift(const struct cleave_replay_result *r)
{
    const struct cleave_shift_result *shift = &r->shift;
    printf("repartition: %" PRIu32 " pieces in %" PRIu32 " moves, %" PRIu64
           " rows, %.1f s; %" PRIu64 " rows staged (%" PRIu64 " again), %" PRIu64
           " moves begun anew%s\n",
           shift->pieces, shift->moves, shift->rows, shift->seconds, shift->staged, shift->caught,
           shift->again, shift->whole ? "" : "; NOT whole");
    printf("  %" PRIu64 " transactions were held, the longest hold took %.1f ms\n", shift->held,
           shift->longest_hold_ms);
    printf("  distributed: before %.1f %% of %" PRIu64 ", meanwhile %.1f %% of %" PRIu64
           ", after %.1f %% of %" PRIu64 "\n",
           share(&r->phase[0]), r->phase[0].transactions, share(&r->phase[1]),
           r->phase[1].transactions, share(&r->phase[2]), r->phase[2].transactions);
}

static json_t *shift_json(const struct cleave_replay_result *r)
{
    const struct cleave_shift_result *shift = &r->shift;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:b}", "pieces",
                     (json_int_t)shift->pieces, "moves", (json_int_t)shift->moves, "rows",
                     (json_int_t)shift->rows, "staged", (json_int_t)shift->staged, "caught_up",
                     (json_int_t)shift->caught, "begun_anew", (json_int_t)shift->again, "held",
                     (json_int_t)shift->held, "longest_hold_ms", shift->longest_hold_ms, "seconds",
                     shift->seconds, "whole", (int)shift->whole);
}

static void print_result(const struct setting *setting, const struct cleave_replay_result *r,
                         const struct cleave_audit *audit)
{
    printf("%" PRIu64 " transactions read: %" PRIu64 " replayed, %" PRIu64 " refused, %" PRIu64
           " that touch no table\n",
           r->read, r->replayed, r->refused, r->empty);
    if (r->failed)
        printf("  of those refused %" PRIu64 " failed at a statement%s, and were rolled back\n",
               r->failed,
               !setting->a->replay.reference ? ""
               : r->failed_alone             ? ""
                                             : ", as on the unsharded database");
    if (r->failed_alone)
        printf("  %" PRIu64 " failed on one side alone: on the shards, or the unsharded database\n",
               r->failed_alone);
    print_counts("counted", &r->counted);
    print_counts("predicted", &r->predicted);
    printf("  %" PRIu64 " committed in two phases, %" PRIu64 " parts prepared\n", r->two_phase,
           r->prepared);
    if (r->retries)
        printf("  %" PRIu64 " begun anew because a shard was lost or another was in the way, "
               "%" PRIu64 " outcomes found out\n",
               r->retries, r->unknown);
    if (r->recovered_committed + r->recovered_rolled_back)
        printf("  left by an earlier run: %" PRIu32 " parts committed, %" PRIu32 " rolled back\n",
               r->recovered_committed, r->recovered_rolled_back);
    if (r->foreign)
        printf("  %" PRIu32 " prepared transactions of others were left alone; they hold locks\n",
               r->foreign);
    printf("%.0f transactions/s, p50 %.2f ms, p99 %.2f ms\n", r->tx_per_s, r->p50_ms, r->p99_ms);
    if (setting->repartition)
        print_shift(r);
    printf("transactions by shard:");
    for (uint32_t s = 0; s < count_shards(setting); s++)
        printf(" %" PRIu64, r->shard_transactions[s]);
    printf("\n");
    for (uint64_t d = 0; d < r->different && d < CLEAVE_REPLAY_TOLD; d++)
        printf("DIFFERENT: %s\n", r->differences[d]);
    if (!setting->a->replay.reference) {
        printf("not verified: no answer was compared\n");
        return;
    }
    if (r->different)
        printf("NOT verified: %" PRIu64 " of %" PRIu64 " answers are not the unsharded ones\n",
               r->different, r->compared);
    else
        printf("verified: %" PRIu64 " answers are the unsharded database's\n", r->compared);
    if (r->lost)
        printf("  %" PRIu64 " answers went down with a connection\n", r->lost);
    if (cleave__audit_right(audit))
        printf("verified: %" PRIu64 " rows of %" PRIu64
               " tables, each where it belongs, nothing prepared\n",
               audit->rows, audit->tables);
    else
        printf("NOT verified: %s (%" PRIu64 " rows misplaced, %" PRIu64 " tables differ, %" PRIu64
               " transactions prepared)\n",
               audit->first, audit->misplaced, audit->different, audit->prepared);
}

static json_t *counts_json(const struct cleave_replay_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "transactions", (json_int_t)counts->transactions,
                     "distributed", (json_int_t)counts->distributed, "read_only_distributed",
                     (json_int_t)counts->read_only_distributed, "write_distributed",
                     (json_int_t)counts->write_distributed, "parts", (json_int_t)counts->parts);
}

static enum cleave_status print_json(const struct setting *setting,
                                     const struct cleave_replay_result *r,
                                     const struct cleave_audit *audit, struct cleave_error *error)
{
    json_t *root = json_object(), *shards = json_array(), *differences = json_array();
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"read", r->read},
                   {"replayed", r->replayed},
                   {"refused", r->refused},
                   {"empty", r->empty},
                   {"failed", r->failed},
                   {"failed_alone", r->failed_alone},
                   {"statements", r->statements},
                   {"two_phase", r->two_phase},
                   {"prepared_parts", r->prepared},
                   {"retries", r->retries},
                   {"outcomes_found_out", r->unknown},
                   {"recovered_committed", r->recovered_committed},
                   {"recovered_rolled_back", r->recovered_rolled_back},
                   {"left_alone", r->foreign},
                   {"compared", r->compared},
                   {"different", r->different},
                   {"answers_lost", r->lost}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(root, numbers[i].name, cleave__json_unsigned(numbers[i].value));
    json_object_set_new(root, "counted", counts_json(&r->counted));
    json_object_set_new(root, "predicted", counts_json(&r->predicted));
    json_object_set_new(root, "seconds", cleave__json_real(r->seconds));
    json_object_set_new(root, "tx_per_s", cleave__json_real(r->tx_per_s));
    json_object_set_new(root, "p50_ms", cleave__json_real(r->p50_ms));
    json_object_set_new(root, "p99_ms", cleave__json_real(r->p99_ms));
    for (uint32_t s = 0; s < count_shards(setting); s++)
        json_array_append_new(shards, cleave__json_unsigned(r->shard_transactions[s]));
    json_object_set_new(root, "shard_transactions", shards);
    if (setting->repartition) {
        json_t *repartition = shift_json(r);
        json_object_set_new(repartition, "before", counts_json(&r->phase[0]));
        json_object_set_new(repartition, "meanwhile", counts_json(&r->phase[1]));
        json_object_set_new(repartition, "after", counts_json(&r->phase[2]));
        json_object_set_new(root, "repartition", repartition);
    }
    for (uint64_t d = 0; d < r->different && d < CLEAVE_REPLAY_TOLD; d++)
        json_array_append_new(differences,
                              cleave__json_text(r->differences[d], strlen(r->differences[d])));
    json_object_set_new(root, "differences", differences);
    bool verified =
        setting->a->replay.reference && cleave__replay_right(r) && cleave__audit_right(audit);
    json_object_set_new(root, "verified", json_boolean(verified));
    if (setting->a->replay.reference)
        json_object_set_new(root, "audit",
                            json_pack("{s:I, s:I, s:I, s:I, s:I}", "tables",
                                      (json_int_t)audit->tables, "rows", (json_int_t)audit->rows,
                                      "misplaced", (json_int_t)audit->misplaced, "different",
                                      (json_int_t)audit->different, "prepared",
                                      (json_int_t)audit->prepared));
    return cleave__json_write(root, stdout, error);
}

/* ---- the command ---- */

static enum cleave_status set_up(struct setting *setting, struct cleave_error *error)
{
    struct arguments *a = setting->a;
    enum cleave_status status = a->lookup_path
                                    ? cleave__lookup_open(a->lookup_path, &setting->lookup, error)
                                    : place(setting, error);
    if (!status && !cleave__shard_given(&a->shards))
        status = make_files(setting, error);
    if (!status && a->repartition_path)
        status = cleave__lookup_open(a->repartition_path, &setting->repartition, error);
    if (!status)
        status = cleave__shard_urls(&a->shards, count_shards(setting), &setting->arena,
                                    &a->replay.urls, error);
    if (!status && !a->no_reference)
        status = cleave__shard_reference(&a->shards, count_shards(setting), &setting->arena,
                                         &a->replay.reference, error);
    if (!status)
        status = open_source(setting, error);
    if (!status && a->fill)
        status = cleave__replay_fill(setting->generator, setting->lookup, a->replay.urls,
                                     a->replay.reference, &setting->terminal.progress, error);
    return status;
}

static int finish(struct setting *setting, enum cleave_status status, bool right,
                  const struct cleave_error *error)
{
    cleave__terminal_clear(&setting->terminal);
    remove_files(setting);
    cleave__trace_close(setting->trace);
    cleave__generator_free(setting->generator);
    cleave__lookup_release(setting->lookup);
    cleave__lookup_release(setting->repartition);
    cleave__case_free(setting->kase);
    cleave__arena_free(&setting->arena);
    cleave__arena_free(&setting->a->tables.arena);
    return status ? cleave__command_fail(error) : right ? CLEAVE_EXIT_OK : CLEAVE_EXIT_FAILED;
}

int cleave__command_tables_replay(int argc, char **argv)
{
    struct argp_child children[] = {{cleave__tables_source_argp(), 0, NULL, 0},
                                    {&cleave__tables_steer_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {&cleave__observe_argp, 0, NULL, 0},
                                    {0}};
    const struct argp argp = {
        options,
        parse,
        "[FILE...]",
        "Runs a trace through the router on real shards: single-shard transactions directly, "
        "distributed ones in two phases. Every answer is compared with the unsharded database's, "
        "and the distributed transactions counted with those predicted.",
        children,
        NULL,
        NULL};
    static struct arguments a; /* large: path lists */
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__tables_defaults(&a.tables);
    cleave__options_parse(&argp, argc, argv, &a);
    a.tables.verify = 0; /* no recount here: compare does that */
    struct cleave_error error = {0};
    struct setting setting = {.a = &a};
    struct cleave_replay_result result = {0};
    struct cleave_audit audit = {0};
    cleave__interrupt_catch();
    cleave__terminal_init(&setting.terminal, a.tables.common.quiet);
    enum cleave_status status =
        cleave__observe_open(&setting.observe, &a.observe, a.tables.common.quiet, &error);
    if (!status) {
        status = set_up(&setting, &error);
        a.replay.lookup = setting.lookup;
        a.replay.repartition = setting.repartition;
        a.replay.lookup_name = a.lookup_path;
        a.replay.repartition_name = a.repartition_path;
        a.replay.seed = a.tables.common.seed;
        a.replay.metrics = setting.observe.metrics;
        a.replay.progress = &setting.terminal.progress;
        a.replay.refused = refused;
        a.replay.refused_context = &setting;
        if (!status)
            cleave__observe_ready(&setting.observe);
        if (!status)
            status = cleave__replay(&a.replay, &result, &error);
        status = cleave__observe_close(&setting.observe, status, &error);
    }
    if (!status && a.replay.reference)
        status = cleave__replay_audit(setting.repartition ? setting.repartition : setting.lookup,
                                      a.replay.urls, a.replay.reference, &audit, &error);
    cleave__terminal_clear(&setting.terminal);
    bool right = !status && cleave__replay_right(&result) && cleave__audit_right(&audit);
    if (!status && a.tables.common.json)
        status = print_json(&setting, &result, &audit, &error);
    else if (!status)
        print_result(&setting, &result, &audit);
    cleave__replay_result_free(&result);
    return finish(&setting, status, right, &error);
}
