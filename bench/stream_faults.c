/* Many worlds in which a stream is at work while queries come and go, cells move in every kind of
 * operation, evaluators are slow or fail: what is reported is held against brute force.
 *
 * usage: stream_faults [SEEDS [ITEMS [FIRST_SEED]]]      10000 worlds of 400 items
 * Every other world has faults. Ends with 1 at the first world that goes wrong, and its seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream_serve/scenario.h"

int main(int argc, char **argv)
{
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    uint32_t items = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 400;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct cleave__streamed sum = {0};
    struct cleave__stream_script_check all = {0};
    uint64_t kinds[CLEAVE__BALANCE_KINDS] = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct scenario scenario;
        struct cleave__streamed streamed;
        struct cleave__stream_script_check check;
        char wrong[200];
        scenario_draw(&scenario, seed, &(struct scenario_options){items, seed % 2, false, NULL});
        scenario_run(&scenario, &streamed, &check, wrong);
        if (wrong[0]) {
            printf("seed %" PRIu64 ": %s\n", seed, wrong);
            return 1;
        }
        for (size_t i = 0; i < streamed.rebalance_count; i++)
            kinds[streamed.rebalances[i].done ? streamed.rebalances[i].kind : 0]++;
        all.must += check.must;
        all.may += check.may;
        sum.objects += streamed.objects;
        sum.queries += streamed.queries;
        sum.removals += streamed.removals;
        sum.forwarded += streamed.forwarded;
        sum.moved_queries += streamed.moved_queries;
        sum.pruned += streamed.pruned;
        sum.shed += streamed.shed;
        sum.expired += streamed.expired;
        sum.crashes += streamed.crashes;
        sum.repeated += streamed.repeated;
        sum.redelivered += streamed.redelivered;
        sum.digest ^= streamed.digest_of_events;
        cleave__streamed_free(&streamed);
        scenario_free(&scenario);
    }
    printf("%" PRIu64 " worlds, %" PRIu64 " objects, %" PRIu64 " queries stored, %" PRIu64
           " removed, %" PRIu64 " expired\n",
           seeds, sum.objects, sum.queries, sum.removals, sum.expired);
    printf("%" PRIu64
           " matches that must be reported: missing 0, duplicates 0, unexpected 0 (%" PRIu64
           " more may be)\n",
           all.must, all.may);
    for (int kind = 1; kind < CLEAVE__BALANCE_KINDS; kind++)
        printf("%s %" PRIu64 "%s", cleave__balance_kind_name((enum cleave__balance_kind)kind),
               kinds[kind], kind + 1 < CLEAVE__BALANCE_KINDS ? ", " : "");
    printf(" moves; %" PRIu64 " given up; %" PRIu64 " queries moved, %" PRIu64
           " objects forwarded\n",
           kinds[0], sum.moved_queries, sum.forwarded);
    printf("%" PRIu64 " objects kept away by summaries, %" PRIu64 " keywords shed\n", sum.pruned,
           sum.shed);
    printf("%" PRIu64 " crashes, %" PRIu64 " requests repeated, %" PRIu64
           " matches redelivered; digest %016" PRIx64 "\n",
           sum.crashes, sum.repeated, sum.redelivered, sum.digest);
    return 0;
}
