#include "cli/tables_simulate.h"

#include <math.h>
#include <string.h>

enum {
    KEY_SIMULATE = 0x5000,
    KEY_SIMULATED,
    KEY_CLIENTS,
    KEY_NODE_PROCESSORS,
    KEY_NODE_BANDWIDTH,
    KEY_MACHINES,
    KEY_WORK,
    KEY_PREPARE,
    KEY_GATHER,
    KEY_FLUSH,
    KEY_NETWORK
};

enum { CLIENTS_MOST = 100000, PROCESSORS_MOST = 100000 };

static const struct argp_option options[] = {
    {0, 0, 0, 0,
     "Predicted execution (times such as 2ms, lognormal:1ms,0.5; docs/simulation.md):", 5},
    {"simulate", KEY_SIMULATE, 0, 0,
     "Play the later transactions on simulated nodes under each scheme: throughput and latency", 5},
    {"connections", KEY_CLIENTS, "N", 0,
     "Clients, each with a transaction at a time (16 a shard; fewer with many shards)", 5},
    {"simulated", KEY_SIMULATED, "N", 0,
     "Transactions to play, repeated as need be (10000; fewer with many shards)", 5},
    {"node-processors", KEY_NODE_PROCESSORS, "N[,N...]", 0,
     "Of each node, or of the first, second, ... (the last goes for the rest); 0: no limit (4)", 5},
    {"node-bandwidth", KEY_NODE_BANDWIDTH, "BYTES[,BYTES...]", 0,
     "A second, that a node can send, likewise; 0: no limit (125000000)", 5},
    {"machines", KEY_MACHINES, "N", 0, "Shards are on so many nodes in turn (each on its own)", 5},
    {"work", KEY_WORK, "TIME", 0, "Processor time of an access (100us)", 5},
    {"prepare", KEY_PREPARE, "TIME", 0,
     "Processor time of preparing a part, and again of committing it (100us)", 5},
    {"gather", KEY_GATHER, "TIME", 0,
     "Processor time of bringing together what a query read on several shards (100us)", 5},
    {"flush", KEY_FLUSH, "TIME", 0,
     "How long a log flush takes: one a commit, one a prepare (200us)", 5},
    {"network", KEY_NETWORK, "TIME", 0, "Delay between machines (lognormal:200us,0.5)", 5},
    {0},
};

static void read_times(struct argp_state *state, const char *option, const char *value,
                       struct cleave_distribution *out, bool *given)
{
    struct cleave_error error;
    struct cleave_distribution read;
    if (cleave__distribution_parse(value, &read, &error)) {
        argp_error(state, "%s: %s", option, error.message);
        return;
    }
    cleave__distribution_free(out);
    *out = read;
    *given = true;
}

/* Room for one more entry of a list by node. */
static uint32_t list_slot(struct argp_state *state, const char *option, uint32_t *count)
{
    if (*count == CLEAVE_SHARDS_MAX)
        argp_error(state, "%s: more than %d nodes", option, CLEAVE_SHARDS_MAX);
    return (*count)++;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_simulate_arguments *a = state->input;
    switch (key) {
    case KEY_SIMULATE:
        a->simulate = true;
        return 0;
    case KEY_CLIENTS:
        a->clients =
            (uint32_t)cleave__option_integer(state, "--connections", value, 1, CLIENTS_MOST);
        break;
    case KEY_SIMULATED:
        a->transactions =
            (uint64_t)cleave__option_integer(state, "--simulated", value, 1, 1000000000);
        break;
    case KEY_NODE_PROCESSORS:
        a->processor_count = 0;
        for (char *word; (word = cleave__option_item(state, "--node-processors", &value));) {
            uint32_t slot = list_slot(state, "--node-processors", &a->processor_count);
            a->processors[slot] = (uint32_t)cleave__option_integer(state, "--node-processors", word,
                                                                   0, PROCESSORS_MOST);
        }
        break;
    case KEY_NODE_BANDWIDTH:
        a->bandwidth_count = 0;
        for (char *word; (word = cleave__option_item(state, "--node-bandwidth", &value));) {
            uint32_t slot = list_slot(state, "--node-bandwidth", &a->bandwidth_count);
            double bytes = cleave__option_real(state, "--node-bandwidth", word, 0, 1e15);
            if (bytes != floor(bytes)) /* half a byte a second is not no limit */
                argp_error(state, "--node-bandwidth takes whole bytes a second, not '%s'", word);
            a->bandwidth[slot] = (uint64_t)bytes;
        }
        break;
    case KEY_MACHINES:
        a->machines =
            (uint32_t)cleave__option_integer(state, "--machines", value, 1, CLEAVE_SHARDS_MAX);
        break;
    case KEY_WORK:
        read_times(state, "--work", value, &a->given.work, &a->has_work);
        break;
    case KEY_PREPARE:
        read_times(state, "--prepare", value, &a->given.prepare, &a->has_prepare);
        break;
    case KEY_GATHER:
        read_times(state, "--gather", value, &a->given.gather, &a->has_gather);
        break;
    case KEY_FLUSH:
        read_times(state, "--flush", value, &a->given.flush, &a->has_flush);
        break;
    case KEY_NETWORK:
        read_times(state, "--network", value, &a->given.network, &a->has_network);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    a->simulate = true; /* nobody says how without wanting it */
    return 0;
}

const struct argp cleave__tables_simulate_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

static struct cleave_simulation settle(struct cleave_simulate_arguments *a, uint32_t shards,
                                       uint64_t seed)
{
    struct cleave_simulation simulation = cleave__simulation_usual(shards);
    simulation.seed = seed;
    simulation.machines = a->machines;
    if (a->clients)
        simulation.clients = a->clients;
    if (a->transactions)
        simulation.transactions = a->transactions;
    /* Each list goes on with its last entry, or the usual if it has none. */
    for (uint32_t s = 0; s < shards; s++) {
        a->hosts[s] = (struct cleave_host){simulation.processors, simulation.bytes_per_s};
        if (a->processor_count)
            a->hosts[s].servers =
                a->processors[s < a->processor_count ? s : a->processor_count - 1];
        if (a->bandwidth_count)
            a->hosts[s].bytes_per_s =
                a->bandwidth[s < a->bandwidth_count ? s : a->bandwidth_count - 1];
    }
    simulation.hosts = a->hosts;
    simulation.host_count = shards;
    if (a->has_work)
        simulation.work = a->given.work;
    if (a->has_prepare)
        simulation.prepare = a->given.prepare;
    if (a->has_gather)
        simulation.gather = a->given.gather;
    if (a->has_flush)
        simulation.flush = a->given.flush;
    if (a->has_network)
        simulation.network = a->given.network;
    return simulation;
}

enum cleave_status cleave__tables_simulate(struct cleave_simulate_arguments *arguments,
                                           const struct cleave_case *kase,
                                           const struct cleave_comparison *comparison,
                                           uint64_t seed, const struct cleave_progress *progress,
                                           struct cleave_simulated *out, struct cleave_error *error)
{
    const struct cleave_workload *workload =
        kase->held_out.transactions ? &kase->held_out : &kase->train;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t r = 0; r < comparison->result_count && !status; r++) {
        const struct cleave_lookup *lookup = comparison->results[r].lookup;
        struct cleave_simulation simulation =
            settle(arguments, cleave__lookup_shards(lookup), seed);
        uint32_t most =
            simulation.transactions < UINT32_MAX ? (uint32_t)simulation.transactions : UINT32_MAX;
        struct cleave_plan plan;
        status = cleave__plan_make(lookup, workload, most, &plan, error);
        if (status)
            break;
        status = cleave__simulate(&plan, &simulation, progress, &out[r], error);
        cleave__plan_free(&plan);
    }
    return status;
}

void cleave__tables_simulate_free(struct cleave_simulate_arguments *arguments)
{
    cleave__distribution_free(&arguments->given.work);
    cleave__distribution_free(&arguments->given.prepare);
    cleave__distribution_free(&arguments->given.gather);
    cleave__distribution_free(&arguments->given.flush);
    cleave__distribution_free(&arguments->given.network);
}
