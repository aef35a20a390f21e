/* Many worlds in which a graph is at work while lists change, users move, hubs have copies, shards
 * split and machines fail: every answer is checked (src/graph/serve/check.h).
 *
 * usage: graph_faults [SEEDS [QUERIES [FIRST_SEED]]]      1000 worlds of 1000 queries
 * Ends with 1 at the first world that goes wrong, and its seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_serve/scenario.h"

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint32_t queries = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct cleave__served sum = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct scenario scenario;
        struct cleave__served served;
        struct cleave_error error;
        scenario_draw(&scenario, seed, &(struct scenario_options){queries, true, false});
        enum cleave_status status =
            cleave__graph_serve(scenario.graph, &scenario.serving, &served, &error);
        scenario_free(&scenario);
        if (status || !served.verified) {
            printf("seed %" PRIu64 ": %s\n", seed, status ? error.message : served.wrong);
            return 1;
        }
        sum.queries += served.queries;
        sum.final_queries += served.final_queries;
        sum.changes += served.changes;
        sum.moves += served.moves;
        sum.moves_given_up += served.moves_given_up;
        sum.moved += served.moved;
        sum.forwarded += served.forwarded;
        sum.copied += served.copied;
        sum.copy_reads += served.copy_reads;
        sum.elsewhere += served.elsewhere;
        sum.crashes += served.crashes;
        sum.repeated += served.repeated;
        sum.cache.hits += served.cache.hits;
        sum.cache.invalidations += served.cache.invalidations;
        sum.digest ^= served.digest;
    }
    printf("%" PRIu64 " worlds, %" PRIu64 " answers, %" PRIu64 " of them when nothing changed any "
           "more: none wrong\n",
           seeds, sum.queries, sum.final_queries);
    printf("%" PRIu64 " changes, %" PRIu64 " moves of %" PRIu64 " users (%" PRIu64
           " given up), %" PRIu64 " forwarded\n",
           sum.changes, sum.moves, sum.moved, sum.moves_given_up, sum.forwarded);
    printf("%" PRIu64 " users copied, %" PRIu64 " reads from copies, %" PRIu64 " sent elsewhere\n",
           sum.copied, sum.copy_reads, sum.elsewhere);
    printf("%" PRIu64 " cache hits, %" PRIu64 " invalidations\n", sum.cache.hits,
           sum.cache.invalidations);
    printf("%" PRIu64 " crashes, %" PRIu64 " requests repeated; digest %016" PRIx64 "\n",
           sum.crashes, sum.repeated, sum.digest);
    return 0;
}
