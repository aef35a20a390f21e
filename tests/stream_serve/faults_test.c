/* Streams at work while queries come and go and cells move: nothing is missing, nothing comes
 * twice; with evaluators that fail, too, on threads, and on nats. bench/stream_faults runs as many
 * worlds as one likes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream_serve/scenario.h"
#include "support/failalloc.h"
#include "support/nats_server.h"

static struct nats_server server; /* running: worlds that are threaded are behind it */

static void run_worlds(uint64_t first, uint32_t worlds, const struct scenario_options *options,
                       struct cleave__streamed *sum, uint64_t kinds[CLEAVE__BALANCE_KINDS])
{
    for (uint64_t seed = first; seed < first + worlds; seed++) {
        struct scenario scenario;
        struct cleave__streamed streamed;
        struct cleave__stream_script_check check;
        char wrong[200];
        scenario_draw(&scenario, seed, options);
        if (options->threaded && server.runs) {
            scenario.streaming.transport = &cleave__nats;
            scenario.streaming.nats = nats_server_world(&server);
        }
        scenario_run(&scenario, &streamed, &check, wrong);
        if (wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, wrong);
        for (size_t i = 0; i < streamed.rebalance_count; i++)
            kinds[streamed.rebalances[i].done ? streamed.rebalances[i].kind : 0]++;
        sum->matches += check.must;
        sum->forwarded += streamed.forwarded;
        sum->moved_queries += streamed.moved_queries;
        sum->shed += streamed.shed;
        sum->expired += streamed.expired;
        sum->pruned += streamed.pruned;
        sum->keywords += streamed.keywords;
        sum->crashes += streamed.crashes;
        sum->repeated += streamed.repeated;
        sum->redelivered += streamed.redelivered;
        cleave__streamed_free(&streamed);
        scenario_free(&scenario);
    }
}

/* What is to be tested does happen. */
static void no_faults(void **state)
{
    struct cleave__streamed sum = {0};
    uint64_t kinds[CLEAVE__BALANCE_KINDS] = {0};
    (void)state;
    run_worlds(1, 150, &(struct scenario_options){400, false, false, NULL}, &sum, kinds);
    for (int kind = 1; kind < CLEAVE__BALANCE_KINDS; kind++)
        assert_true(kinds[kind] > 50);
    assert_true(sum.matches > 5000 && sum.forwarded > 100 && sum.moved_queries > 1000);
    assert_true(sum.shed > 100 && sum.expired > 100 && sum.pruned > 1000 && sum.keywords > 1000);
    assert_true(kinds[0] == 0 && sum.repeated == 0);
}

static void faults(void **state)
{
    struct cleave__streamed sum = {0};
    uint64_t kinds[CLEAVE__BALANCE_KINDS] = {0};
    (void)state;
    run_worlds(1000, 150, &(struct scenario_options){400, true, false, NULL}, &sum, kinds);
    assert_true(sum.crashes > 50 && sum.repeated > 100 && sum.redelivered > 10 && kinds[0] > 10);
}

static void on_threads(void **state)
{
    struct cleave__streamed sum = {0};
    uint64_t kinds[CLEAVE__BALANCE_KINDS] = {0};
    (void)state;
    run_worlds(2000, 30, &(struct scenario_options){3000, false, true, NULL}, &sum, kinds);
    assert_true(sum.matches > 1000 && sum.moved_queries > 100);
}

static void on_nats(void **state)
{
    struct cleave__streamed sum = {0};
    uint64_t kinds[CLEAVE__BALANCE_KINDS] = {0};
    (void)state;
    if (!nats_server_installed())
        return;
    assert_true(nats_server_start(&server));
    run_worlds(3000, 30, &(struct scenario_options){1500, false, true, NULL}, &sum, kinds);
    nats_server_stop(&server);
    assert_true(sum.matches > 1000 && sum.moved_queries > 100);
}

static void same_seed_same_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint64_t digest[2];
        for (int i = 0; i < 2; i++) {
            struct scenario scenario;
            struct cleave__streamed streamed;
            struct cleave__stream_script_check check;
            char wrong[200];
            scenario_draw(&scenario, seed, &(struct scenario_options){300, seed % 2, false, NULL});
            scenario_run(&scenario, &streamed, &check, wrong);
            digest[i] = streamed.digest_of_events;
            cleave__streamed_free(&streamed);
            scenario_free(&scenario);
        }
        assert_int_equal(digest[0], digest[1]);
    }
}

static bool serve_once(void *context)
{
    struct scenario *scenario = context;
    struct cleave__streamed streamed;
    struct cleave_error error;
    scenario->script.at = 0;
    enum cleave_status status = cleave__stream_serve(&scenario->streaming, &streamed, &error);
    if (!status)
        cleave__streamed_free(&streamed);
    if (status && status != CLEAVE_NO_MEMORY)
        print_message("%s\n", error.message);
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
}

static void without_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed <= 17; seed++) {
        struct scenario scenario;
        scenario_draw(&scenario, seed,
                      &(struct scenario_options){60, seed % 2, false, &cleave__matcher_index});
        assert_true(failalloc_run("serve", serve_once, &scenario, 1));
        scenario_free(&scenario);
    }
}

/* "threads": what runs threads alone; "nats": on nats. */
int main(int argc, char **argv)
{
    const struct CMUnitTest threads[] = {cmocka_unit_test(on_threads)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_faults), cmocka_unit_test(faults),
                                       cmocka_unit_test(same_seed_same_run),
                                       cmocka_unit_test(without_memory)};
    const struct CMUnitTest nats[] = {cmocka_unit_test(on_nats)};
    if (argc > 1 && strcmp(argv[1], "nats") == 0)
        return cmocka_run_group_tests(nats, NULL, NULL);
    return argc > 1 ? cmocka_run_group_tests(threads, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
