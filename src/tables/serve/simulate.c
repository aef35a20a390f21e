#include "tables/serve/simulate.h"

#include <stdlib.h>

#include "runtime/runtime.h"
#include "tables/serve/actors.h"

struct cleave_simulation cleave__simulation_usual(uint32_t shards)
{
    /* Bounds for many shards: half a kilobyte a connection, some microseconds a part. */
    enum { CLIENTS_A_SHARD = 16, CLIENTS_MOST = 1024, CONNECTIONS_MOST = 1 << 17, US = 1000 };
    enum { TRANSACTIONS = 10000, PARTS_MOST = 1 << 20 };
    uint32_t clients = CLIENTS_A_SHARD * shards, transactions = TRANSACTIONS;
    if (clients > CLIENTS_MOST)
        clients = CLIENTS_MOST;
    if (clients > CONNECTIONS_MOST / shards)
        clients = CONNECTIONS_MOST / shards;
    if (transactions > PARTS_MOST / shards)
        transactions = PARTS_MOST / shards;
    return (struct cleave_simulation){
        .clients = clients,
        .processors = 4,
        .bytes_per_s = 125000000,
        .work = {.kind = CLEAVE_CONSTANT, .low_ns = 100 * US},
        .prepare = {.kind = CLEAVE_CONSTANT, .low_ns = 100 * US},
        .gather = {.kind = CLEAVE_CONSTANT, .low_ns = 100 * US},
        .flush = {.kind = CLEAVE_CONSTANT, .low_ns = 200 * US},
        .network = {.kind = CLEAVE_LOGNORMAL, .low_ns = 200 * US, .shape = 0.5},
        .transactions = transactions};
}

/* Everything one simulation needs, to be freed together. */
struct play {
    struct cleave__cluster cluster;
    struct cleave_runtime *runtime;
    struct cleave__seat *seats; /* [clients] */
    uint32_t machines;
    struct cleave_host *hosts; /* [machines] */
    uint32_t first_client;
};

static enum cleave_status spawn_all(struct play *play, struct cleave_error *error)
{
    const struct cleave_simulation *simulation = play->cluster.simulation;
    uint32_t shards = play->cluster.plan->shards, actor = 0;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s <= shards && !status; s++) {
        /* The clients are on a machine of their own, without limits. */
        const struct cleave_actor_ops *ops =
            s < shards ? &cleave__backend_ops : &cleave__client_ops;
        struct cleave_spawn_options on = {.node = s < shards ? s % play->machines : play->machines};
        for (uint32_t c = 0; c < simulation->clients && !status; c++) {
            status = cleave__runtime_spawn(play->runtime, ops, &play->seats[c], &on, &actor, error);
            if (s == shards && c == 0)
                play->first_client = actor;
        }
    }
    return status;
}

static enum cleave_status sum_up(const struct play *play, struct cleave_simulated *out,
                                 struct cleave_error *error)
{
    const struct cleave_simulation *simulation = play->cluster.simulation;
    struct cleave_simulated sum = {0};
    struct cleave_histogram latency = {0};
    for (uint32_t c = 0; c < simulation->clients; c++) {
        const struct cleave__client *client =
            cleave__runtime_state(play->runtime, play->first_client + c);
        sum.transactions += client->done;
        sum.distributed += client->distributed;
        sum.accesses += client->accesses;
        if (!cleave__histogram_merge(&latency, &client->latency_ns)) {
            cleave__histogram_free(&latency);
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for latencies");
        }
    }
    double elapsed_s = (double)cleave__runtime_now_ns(play->runtime) * 1e-9;
    sum.tx_per_s = elapsed_s > 0 ? (double)sum.transactions / elapsed_s : 0;
    sum.p50_ms = (double)cleave__histogram_quantile(&latency, 0.5) * 1e-6;
    sum.p99_ms = (double)cleave__histogram_quantile(&latency, 0.99) * 1e-6;
    cleave__histogram_free(&latency);
    for (uint32_t m = 0; m < play->machines; m++) {
        uint64_t busy_ns = 0;
        uint32_t backends = 0;
        for (uint32_t s = m; s < play->cluster.plan->shards; s += play->machines) {
            for (uint32_t c = 0; c < simulation->clients; c++, backends++)
                busy_ns +=
                    cleave__runtime_stats(play->runtime, cleave__backend_of(&play->cluster, s, c))
                        ->busy_ns;
        }
        uint32_t processors = play->hosts[m].servers ? play->hosts[m].servers : backends;
        double share = elapsed_s > 0 ? (double)busy_ns * 1e-9 / elapsed_s / processors : 0;
        sum.busiest = share > sum.busiest ? share : sum.busiest;
    }
    *out = sum;
    return CLEAVE_OK;
}

enum cleave_status cleave__simulate(const struct cleave_plan *plan,
                                    const struct cleave_simulation *simulation,
                                    const struct cleave_progress *progress,
                                    struct cleave_simulated *out, struct cleave_error *error)
{
    if (plan->transactions == 0) {
        *out = (struct cleave_simulated){0};
        return CLEAVE_OK;
    }
    if (simulation->clients == 0 ||
        (uint64_t)simulation->clients * (plan->shards + 1) > UINT32_MAX / 4)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%u clients cannot be simulated on %u shards: 1 at least, and not "
                                "more than a billion connections",
                                simulation->clients, plan->shards);
    struct play play = {.cluster = {.plan = plan, .simulation = simulation}};
    play.cluster.transactions =
        simulation->transactions ? simulation->transactions : plan->transactions;
    play.seats = calloc(simulation->clients, sizeof *play.seats);
    play.machines = simulation->machines && simulation->machines < plan->shards
                        ? simulation->machines
                        : plan->shards;
    play.hosts = calloc(play.machines, sizeof *play.hosts);
    enum cleave_status status = CLEAVE_OK;
    if (!play.seats || !play.hosts)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the simulation");
    for (uint32_t c = 0; !status && c < simulation->clients; c++)
        play.seats[c] = (struct cleave__seat){&play.cluster, c};
    for (uint32_t m = 0; !status && m < play.machines; m++)
        play.hosts[m] =
            simulation->host_count == 0
                ? (struct cleave_host){simulation->processors, simulation->bytes_per_s}
                : simulation->hosts[m < simulation->host_count ? m : simulation->host_count - 1];
    struct cleave_runtime_options options = {
        .transport = &cleave__sim, .seed = simulation->seed, .lean = true};
    options.sim.remote = simulation->network;
    options.sim.nodes = play.hosts;
    options.sim.node_count = play.machines;
    if (!status)
        status = cleave__runtime_new(&options, &play.runtime, error);
    if (!status)
        status = spawn_all(&play, error);
    if (!status)
        status = cleave__runtime_run(play.runtime, 0, progress, error);
    if (!status)
        status = sum_up(&play, out, error);
    cleave__runtime_free(play.runtime);
    free(play.seats);
    free(play.hosts);
    return status;
}
