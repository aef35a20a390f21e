#include "graph_serve/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { US = 1000, MS = 1000 * US };

static uint32_t below(struct cleave_random *random, uint32_t bound)
{
    return (uint32_t)cleave__random_below(random, bound);
}

/* Some users are followed by many, most by few. */
static struct cleave__graph *draw_graph(struct cleave_random *random)
{
    uint32_t n = 10 + below(random, 90), degree = 1 + below(random, 6);
    struct cleave__edges edges = {0};
    struct cleave__graph *graph;
    struct cleave_error error;
    for (uint32_t e = 0; e < n * degree; e++) {
        uint32_t to = below(random, below(random, 3) ? n : 1 + n / 8);
        if (!CLEAVE_PUSH(&edges.end, below(random, n)) || !CLEAVE_PUSH(&edges.end, to))
            abort();
    }
    if (cleave__graph_build(n, &edges, false, &graph, &error))
        abort();
    CLEAVE_VECTOR_FREE(&edges.end);
    return graph;
}

static struct cleave__query draw_query(struct cleave_random *random)
{
    struct cleave__query query = {.hops = 1 + below(random, 3),
                                  .exactly = below(random, 3) == 0,
                                  .by_degree = below(random, 4) == 0,
                                  .degree_low = below(random, 3),
                                  .degree_high = 3 + below(random, 6)};
    if (below(random, 3) == 0) {
        query.limit = 1 + below(random, 10);
        query.top = below(random, 2);
    }
    return query;
}

/* Crashes of shards and of coordinators, cuts that hold or lose messages, slowness; machines of
 * shards and coordinators alone, for the others are said never to crash. */
static void draw_faults(struct scenario *s, struct cleave_random *random, uint64_t seed,
                        uint64_t horizon_ns)
{
    struct cleave__serving *serving = &s->serving;
    unsigned kinds = 1 + below(random, (1u << CLEAVE_FAULT_KINDS) - 1);
    serving->fault_count = 1 + below(random, SCENARIO_FAULTS);
    cleave__faults_draw(seed, kinds, horizon_ns, serving->shards + serving->coordinators, s->faults,
                        serving->fault_count);
    serving->faults = s->faults;
    /* Rarely before an answer could be there. */
    serving->retry_ns = (6 + below(random, 30)) * serving->delay.low_ns;
    for (size_t i = 0; i < serving->fault_count; i++) {
        struct cleave_fault *fault = &s->faults[i];
        serving->crashes = serving->crashes || fault->kind == CLEAVE_FAULT_CRASH;
        /* Most crashes hit one machine, often in the middle of a move. */
        if (fault->kind == CLEAVE_FAULT_CRASH && below(random, 4)) {
            fault->node_count = 0;
            fault->actor = 1 + below(random, serving->shards + serving->coordinators);
        }
    }
}

void scenario_draw(struct scenario *s, uint64_t seed, const struct scenario_options *options)
{
    static const char *const policies[] = {"lru",     "fifo", "clock", "lfu",       "sieve",
                                           "s3-fifo", "arc",  "lirs",  "w-tiny-lfu"};
    struct cleave_random random;
    struct cleave_error error;
    cleave__random_seed(&random, seed);
    *s = (struct scenario){.graph = draw_graph(&random)};
    uint32_t n = s->graph->vertices, shards = 2 + below(&random, 4);
    uint32_t spare = below(&random, 2); /* a shard that has nobody */
    s->owner = malloc(n * sizeof *s->owner);
    s->source = malloc(options->queries * sizeof *s->source);
    if (!s->owner || !s->source)
        abort();
    for (uint32_t v = 0; v < n; v++)
        s->owner[v] = below(&random, shards - spare);
    for (uint32_t i = 0; i < options->queries; i++)
        s->source[i] = below(&random, below(&random, 2) ? n : 1 + n / 8);
    uint64_t unit_ns = options->threaded ? 20 * US : MS;
    s->serving = (struct cleave__serving){
        .transport = options->threaded ? &cleave__threads : &cleave__sim,
        .threads = 2,
        .seed = seed,
        .shards = shards,
        .coordinators = 1 + below(&random, 3),
        .clients = 1 + below(&random, 4),
        .outstanding = 1 + below(&random, 4),
        .mailbox_most = 256,
        .owner = s->owner,
        .executor = (enum cleave__serving_executor)below(&random, 3),
        .query = draw_query(&random),
        .source = s->source,
        .sources = options->queries,
        .cached = below(&random, 4),
        .capacity = 1 + below(&random, 40),
        .delay = {.kind = CLEAVE_LOGNORMAL, .low_ns = 100 * US + below(&random, MS), .shape = 0.8},
        .service = {.kind = CLEAVE_CONSTANT, .low_ns = 5 * US},
        .hit = {.kind = CLEAVE_CONSTANT, .low_ns = 1 * US},
        .miss = {.kind = CLEAVE_CONSTANT, .low_ns = 20 * US},
        .changes = options->queries / 2,
        .change_every_ns = unit_ns / (1 + below(&random, 8)),
        .moves = 3 + below(&random, 20),
        .manage_every_ns = unit_ns * (1 + below(&random, 10)),
        .move_most = 1 + below(&random, n),
        .replicate_bytes = below(&random, 3) ? below(&random, 4000) : 0,
        .split = spare,
        .finals = options->queries / 10};
    const char *policy = policies[below(&random, sizeof policies / sizeof *policies)];
    if (cleave__cache_choice_parse(policy, strlen(policy), &s->serving.cache, &error))
        abort();
    if (options->faulty)
        draw_faults(s, &random, seed, options->queries * (uint64_t)MS / 2);
}

void scenario_free(struct scenario *s)
{
    cleave__graph_free(s->graph);
    free(s->owner);
    free(s->source);
}
