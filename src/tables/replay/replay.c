#include "tables/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/runtime.h"
#include "tables/compare/count.h"
#include "tables/replay/claim.h"
#include "tables/replay/client.h"
#include "tables/replay/dispatcher.h"
#include "tables/replay/shift.h"

enum { PIECES = 64, BATCH_ROWS = 2000, MOVE_ROWS = 4000 };
enum { CLIENTS = 8, CLIENTS_MOST = 256, WINDOW_A_CLIENT = 6, WINDOW_LEAST = 32, PATIENCE_S = 30 };

/* Everything of one run, to be freed together. */
struct run {
    struct cleave__replay_world world;
    struct cleave__replay_watch watch;
    struct cleave__dispatch_arguments arguments;
    struct cleave__replay_seat *seats;
    struct cleave_runtime *runtime;
    uint32_t dispatcher, mover;
    struct cleave__shift_seat shift; /* of a repartition: `mix` is not NULL */
    char coordinator[CLEAVE__COORDINATOR_MOST + 8];
    char command[800];
    struct cleave__port claim; /* the coordinator's name, held */
    struct cleave_arena arena;
};

static const char COORDINATOR[] = "replay";

static uint32_t count_shards(const struct cleave_replay_options *options)
{
    uint32_t shards = cleave__lookup_shards(options->lookup);
    uint32_t more = options->repartition ? cleave__lookup_shards(options->repartition) : 0;
    return more > shards ? more : shards;
}

static enum cleave_status check(const struct cleave_replay_options *options,
                                struct cleave_error *error)
{
    if (options->coordinator && !cleave__coordinator_valid(options->coordinator))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a coordinator's name is 1 to %d letters, digits and _, not \"%s\"",
                                CLEAVE__COORDINATOR_MOST, options->coordinator);
    if (options->clients > CLIENTS_MOST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%u clients are too many: %d at most",
                                options->clients, CLIENTS_MOST);
    if (options->unordered && options->reference)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "without an order answers are not determined: nothing can be "
                                "compared with a reference");
    const struct cleave_store_ops *ops = cleave__store_of(options->urls[0]);
    for (uint32_t s = 0; s < count_shards(options); s++) {
        if (cleave__store_of(options->urls[s]) != ops ||
            (options->reference && cleave__store_of(options->reference) != ops))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "the shards and the reference must be of one kind");
        for (uint32_t o = 0; o < s; o++) {
            if (strcmp(options->urls[s], options->urls[o]) == 0)
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "shards %u and %u are the same database", o, s);
        }
    }
    return CLEAVE_OK;
}

/* A database where nothing was loaded: every transaction would fail. */
static enum cleave_status check_loaded(const struct cleave_lookup *lookup,
                                       struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_schema *schema = cleave__lookup_schema(lookup);
    const struct cleave_store_table *there;
    struct cleave_arena arena = {0};
    uint32_t count, found = 0;
    enum cleave_status status = port->ops->tables(port->session, &arena, &there, &count, error);
    for (uint32_t t = 0; t < schema->table_count && !status; t++) {
        for (uint32_t i = 0; i < count; i++)
            found += strcmp(there[i].name, schema->tables[t].name) == 0;
    }
    cleave__arena_free(&arena);
    if (!status && !found && schema->table_count)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "%s has none of the lookup table's tables: load it first, with "
                                  "`cleave tables load`",
                                  cleave__port_shown(port, (char[CLEAVE__SHOWN_SIZE]){0}));
    return status;
}

/* Whatever their URLs are, shards and reference must be different databases: a transaction on one
 * database twice waits for itself, and a reference that is a shard does all work again. */
static enum cleave_status tell_apart(const struct cleave__replay_world *world,
                                     struct cleave_error *error)
{
    struct one {
        struct cleave__port port;
        char identity[CLEAVE_IDENTITY_SIZE];
    };
    uint32_t shards = cleave__lookup_shards(world->lookup), count = shards + !!world->reference;
    struct one *all = calloc(count, sizeof *all);
    enum cleave_status status = CLEAVE_OK;
    if (!all)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    /* Open until all are known: an empty file goes when it is closed, and its number to the next.
     */
    for (uint32_t i = 0; i < count && !status; i++) {
        struct cleave__port *port = &all[i].port;
        cleave__port_init(port, i < shards ? world->urls[i] : world->reference);
        status = cleave__port_open(port, error);
        if (!status)
            status = cleave__store_identity(port->url, port->session, all[i].identity, error);
        for (uint32_t o = 0; o < i && !status; o++) {
            if (strcmp(all[o].identity, all[i].identity) == 0)
                status =
                    i < shards
                        ? cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                           "shards %u and %u are the same database", o, i)
                        : cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                           "the reference is the same database as shard %u", o);
        }
    }
    for (uint32_t i = 0; i < count && !status; i++)
        status = check_loaded(world->lookup, &all[i].port, error);
    for (uint32_t i = 0; i < count; i++)
        cleave__port_close(&all[i].port);
    free(all);
    return status;
}

static enum cleave_status spawn_all(struct run *run, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    const struct cleave_spawn_options named = {.name = "replay"}; /* what messages begin with */
    for (uint32_t c = 0; c < run->world.clients && !status; c++) {
        uint32_t actor;
        run->seats[c] = (struct cleave__replay_seat){&run->world, c};
        status = cleave__runtime_spawn(run->runtime, &cleave__replay_client_ops, &run->seats[c],
                                       &named, &actor, error);
        if (c == 0)
            run->arguments.first_client = actor;
    }
    if (!status && run->world.reference)
        status = cleave__runtime_spawn(run->runtime, &cleave__reference_ops, &run->world, &named,
                                       &run->arguments.reference, error);
    if (!status)
        status = cleave__runtime_spawn(run->runtime, &cleave__late_ops, &run->world, &named,
                                       &run->arguments.late, error);
    if (!status)
        status = cleave__runtime_spawn(run->runtime, &cleave__dispatcher_ops, &run->arguments,
                                       &named, &run->dispatcher, error);
    run->shift.dispatcher = run->dispatcher;
    if (!status && run->shift.mix)
        status = cleave__runtime_spawn(run->runtime, &cleave__shift_ops, &run->shift, &named,
                                       &run->mover, error);
    return status;
}

/* Who failed was rolled back, which was not predicted. */
static void leave_failed_out(const struct cleave_lookup *lookup,
                             const struct cleave__dispatcher *dispatcher,
                             struct cleave_replay_counts *predicted)
{
    for (size_t i = 0; i < dispatcher->failed.count; i++) {
        uint32_t transaction = dispatcher->failed.data[i];
        struct cleave_shardset shards;
        cleave__touch(lookup, &dispatcher->workload, transaction, &shards);
        uint32_t parts = cleave__shardset_count(&shards);
        bool writes = dispatcher->workload.writes.data[transaction];
        predicted->transactions--;
        predicted->parts -= parts;
        predicted->distributed -= parts > 1;
        predicted->read_only_distributed -= parts > 1 && !writes;
        predicted->write_distributed -= parts > 1 && writes;
    }
}

static enum cleave_status sum_up(struct run *run, struct cleave_replay_result *out,
                                 struct cleave_error *error)
{
    struct cleave__dispatcher *dispatcher = cleave__runtime_state(run->runtime, run->dispatcher);
    struct cleave_replay_result result = dispatcher->result;
    struct cleave_histogram latency = {0};
    struct cleave_arena arena = {0};
    struct cleave_count count;
    bool merged = true;
    for (uint32_t c = 0; c < run->world.clients; c++) {
        const struct cleave__replay_client *client =
            cleave__runtime_state(run->runtime, run->arguments.first_client + c);
        result.unknown += client->unknown;
        merged = merged && cleave__histogram_merge(&latency, &client->latency_ns);
    }
    result.p50_ms = (double)cleave__histogram_quantile(&latency, 0.5) * 1e-6;
    result.p99_ms = (double)cleave__histogram_quantile(&latency, 0.99) * 1e-6;
    cleave__histogram_free(&latency);
    enum cleave_status status =
        merged ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for latencies");
    if (run->shift.mix) { /* each was counted by the map of its time */
        const struct cleave__shift *shift = cleave__runtime_state(run->runtime, run->mover);
        uint64_t held = result.shift.held;
        result.shift = shift->result;
        result.shift.held = held;
    } else if (!status) {
        status = cleave__count(run->world.lookup, &dispatcher->workload, 1, &arena, &count, error);
    }
    if (!status && !run->shift.mix) {
        result.predicted = (struct cleave_replay_counts){count.transactions, count.distributed,
                                                         count.read_only_distributed,
                                                         count.write_distributed, count.parts};
        leave_failed_out(run->world.lookup, dispatcher, &result.predicted);
    }
    if (!status) {
        dispatcher->result.shard_transactions = NULL; /* the caller's now */
        *out = result;
    }
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status play(struct run *run, const struct cleave_replay_options *options,
                               struct cleave_replay_result *out, struct cleave_error *error)
{
    /* Each client and the reference may block; the dispatcher must not wait for them. */
    struct cleave_runtime_options runtime = {.transport = &cleave__threads,
                                             .seed = options->seed,
                                             .lean = true,
                                             .metrics = options->metrics,
                                             .threads =
                                                 run->world.clients + 3 + (run->shift.mix != NULL)};
    enum cleave_status status = cleave__runtime_new(&runtime, &run->runtime, error);
    if (!status)
        status = spawn_all(run, error);
    uint64_t began_ns = cleave__clock_ns();
    if (!status)
        status = cleave__runtime_run(run->runtime, 0, options->progress, error);
    double seconds = (double)(cleave__clock_ns() - began_ns) * 1e-9;
    if (!status)
        status = sum_up(run, out, error);
    if (!status) {
        out->seconds = seconds;
        out->tx_per_s = seconds > 0 ? (double)out->counted.transactions / seconds : 0;
    }
    return status;
}

/* What a repartition needs before anything runs. */
static enum cleave_status begin_shift(struct run *run, const struct cleave_replay_options *options,
                                      struct cleave_error *error)
{
    uint32_t pieces = options->pieces ? options->pieces : PIECES;
    enum cleave_status status =
        cleave__mix_new(options->lookup, options->repartition, pieces, &run->shift.mix, error);
    if (status)
        return status;
    snprintf(run->coordinator, sizeof run->coordinator, "%.34s_shift", run->world.coordinator);
    run->world.lookup = cleave__mix_lookup(run->shift.mix);
    run->shift.world = &run->world;
    run->shift.coordinator = run->coordinator;
    run->shift.batch_rows = options->batch_rows ? options->batch_rows : BATCH_ROWS;
    run->shift.move_rows = options->move_rows ? options->move_rows : MOVE_ROWS;
    run->arguments.mix = run->shift.mix;
    run->arguments.mover = &run->mover;
    cleave__shift_name(options->lookup, options->repartition, pieces, run->shift.plan);
    const char *from = options->lookup_name, *to = options->repartition_name;
    int n = snprintf(run->command, sizeof run->command,
                     "cleave tables repartition --from %.300s --to %.300s", from ? from : "OLD",
                     to ? to : "NEW");
    if (pieces != PIECES)
        n += snprintf(run->command + n, sizeof run->command - (size_t)n, " --pieces %u", pieces);
    if (strcmp(run->world.coordinator, COORDINATOR) != 0)
        snprintf(run->command + n, sizeof run->command - (size_t)n, " --coordinator %s",
                 run->world.coordinator);
    run->shift.command = run->command;
    status = cleave__claim_whole(&run->world, run->shift.plan, error);
    if (!status)
        status = cleave__claim_places(&run->world, true, error);
    return status ? status : cleave__shift_prepare(&run->shift, error);
}

enum cleave_status cleave__replay(const struct cleave_replay_options *options,
                                  struct cleave_replay_result *out, struct cleave_error *error)
{
    enum cleave_status status = check(options, error);
    if (status)
        return status;
    struct cleave__recovery before, after;
    struct cleave_replay_result result = {0};
    struct run run = {
        .world = {
            .lookup = options->lookup,
            .urls = options->urls,
            .reference = options->reference,
            .coordinator = options->coordinator ? options->coordinator : COORDINATOR,
            .clients = options->clients ? options->clients : CLIENTS,
            .patience_ns =
                (uint64_t)((options->patience_s > 0 ? options->patience_s : PATIENCE_S) * 1e9),
            .stop = options->progress ? options->progress->stop : NULL,
            .at = options->at,
            .at_context = options->test_context}};
    run.world.watch = &run.watch;
    if (options->metrics)
        status = cleave__replay_watch_make(&run.watch, options->metrics, error);
    if (status)
        return status;
    run.arguments.options = options;
    run.arguments.world = &run.world;
    run.arguments.window = run.world.clients * WINDOW_A_CLIENT;
    if (run.arguments.window < WINDOW_LEAST)
        run.arguments.window = WINDOW_LEAST;
    run.seats = calloc(run.world.clients, sizeof *run.seats);
    if (!run.seats)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for clients");
    /* At the beginning a shard that is not there is more likely a wrong URL than a crash. */
    uint64_t patience_ns = run.world.patience_ns;
    run.world.patience_ns = 0;
    status = tell_apart(&run.world, error);
    if (!status)
        status = cleave__claim_name(&run.world, &run.claim, error);
    if (!status && !options->repartition) /* which has more shards, perhaps: begin_shift */
        status = cleave__claim_places(&run.world, true, error);
    if (!status)
        status = cleave__claim_generated(&run.world, &run.arena, &run.world.generated, error);
    if (!status)
        status = options->repartition ? begin_shift(&run, options, error)
                                      : cleave__claim_whole(&run.world, NULL, error);
    if (!status)
        status = cleave__recover(&run.world, false, &before, error);
    if (!status)
        status = cleave__decisions_reserve(&run.world, &before, &run.world.base_id, error);
    run.world.patience_ns = patience_ns;
    if (status) {
        cleave__port_close(&run.claim);
        cleave__arena_free(&run.arena);
        cleave__mix_free(run.shift.mix);
        free(run.seats);
        return status;
    }
    status = play(&run, options, &result, error);
    cleave__runtime_free(run.runtime);
    free(run.seats);
    /* Whatever became of the run, nothing of it stays behind, if the shards are there. */
    struct cleave_error later;
    enum cleave_status swept;
    uint64_t until_ns = cleave__clock_ns() + run.world.patience_ns;
    do { /* a shard that dies in the middle of it: once more */
        swept = cleave__recover(&run.world, false, &after, &later);
        if (!swept && run.shift.mix)
            swept = cleave__shift_clean(&run.shift, &later);
        if (!swept && !status)
            swept = cleave__decisions_forget(&run.world, &later);
    } while (swept == CLEAVE_IO && cleave__clock_ns() < until_ns &&
             !(run.world.stop && *run.world.stop));
    cleave__port_close(&run.claim);
    cleave__arena_free(&run.arena);
    cleave__mix_free(run.shift.mix);
    if (!status && swept) {
        status = swept;
        if (error)
            *error = later;
    }
    if (status) {
        free(result.shard_transactions);
        return status;
    }
    result.recovered_committed = before.committed;
    result.recovered_rolled_back = before.rolled_back;
    result.foreign = before.foreign;
    *out = result;
    return CLEAVE_OK;
}

void cleave__replay_result_free(struct cleave_replay_result *result)
{
    free(result->shard_transactions);
    result->shard_transactions = NULL;
}

bool cleave__replay_right(const struct cleave_replay_result *result)
{
    const struct cleave_replay_counts *a = &result->counted, *b = &result->predicted;
    return result->different == 0 && a->transactions == b->transactions &&
           a->distributed == b->distributed &&
           a->read_only_distributed == b->read_only_distributed &&
           a->write_distributed == b->write_distributed && a->parts == b->parts &&
           result->read == result->replayed + result->refused + result->empty &&
           result->replayed == a->transactions;
}
