/* Graphs at work while lists change, users move, hubs are copied, shards split and machines fail:
 * no answer is wrong; nothing else is left to chance on sim; and the same on threads and on nats,
 * without faults. bench/graph_faults runs as many worlds as one likes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph_serve/scenario.h"
#include "support/failalloc.h"
#include "support/nats_server.h"

static struct nats_server server; /* running: worlds that are threaded are behind it */

static void run_worlds(uint64_t first, uint32_t worlds, const struct scenario_options *options,
                       struct cleave__served *sum)
{
    for (uint64_t seed = first; seed < first + worlds; seed++) {
        struct scenario scenario;
        struct cleave__served served;
        struct cleave_error error;
        scenario_draw(&scenario, seed, options);
        if (options->threaded && server.runs) {
            scenario.serving.transport = &cleave__nats;
            scenario.serving.nats = nats_server_world(&server);
        }
        enum cleave_status status =
            cleave__graph_serve(scenario.graph, &scenario.serving, &served, &error);
        if (status || !served.verified)
            fail_msg("seed %" PRIu64 ": %s", seed, status ? error.message : served.wrong);
        scenario_free(&scenario);
        sum->moves += served.moves;
        sum->moves_given_up += served.moves_given_up;
        sum->forwarded += served.forwarded;
        sum->copy_reads += served.copy_reads;
        sum->elsewhere += served.elsewhere;
        sum->crashes += served.crashes;
        sum->repeated += served.repeated;
        sum->cache.invalidations += served.cache.invalidations;
        sum->changes += served.changes;
    }
}

/* What is to be tested does happen. */
static void faults(void **state)
{
    struct cleave__served sum = {0};
    (void)state;
    run_worlds(1, 60, &(struct scenario_options){120, true, false}, &sum);
    assert_true(sum.moves > 300 && sum.forwarded > 100 && sum.copy_reads > 100);
    assert_true(sum.elsewhere > 100 && sum.crashes > 100 && sum.repeated > 100);
    assert_true(sum.cache.invalidations > 100 && sum.changes == 60 * 60);
}

static void no_faults(void **state)
{
    struct cleave__served sum = {0};
    (void)state;
    run_worlds(1000, 60, &(struct scenario_options){120, false, false}, &sum);
    assert_true(sum.moves > 300 && sum.moves_given_up == 0 && sum.repeated == 0);
}

/* What is asked again long before it could be answered is asked ever later, and is answered. */
static void impatient(void **state)
{
    (void)state;
    for (uint64_t seed = 4000; seed < 4010; seed++) {
        struct scenario scenario;
        struct cleave__served served;
        struct cleave_error error;
        scenario_draw(&scenario, seed, &(struct scenario_options){60, true, false});
        scenario.serving.retry_ns = 1;
        enum cleave_status status =
            cleave__graph_serve(scenario.graph, &scenario.serving, &served, &error);
        if (status || !served.verified)
            fail_msg("seed %" PRIu64 ": %s", seed, status ? error.message : served.wrong);
        scenario_free(&scenario);
    }
}

static void threads(void **state)
{
    struct cleave__served sum = {0};
    (void)state;
    run_worlds(2000, 20, &(struct scenario_options){400, false, true}, &sum);
    assert_true(sum.moves > 100 && sum.changes == 20 * 200);
}

static void nats(void **state)
{
    struct cleave__served sum = {0};
    (void)state;
    if (!nats_server_installed())
        return;
    assert_true(nats_server_start(&server));
    run_worlds(2000, 20, &(struct scenario_options){200, false, true}, &sum);
    nats_server_stop(&server);
    assert_true(sum.moves > 100 && sum.changes == 20 * 100);
}

static void repeats(void **state)
{
    (void)state;
    for (uint64_t seed = 3000; seed < 3010; seed++) {
        struct cleave__served served[2];
        for (int i = 0; i < 2; i++) {
            struct scenario scenario;
            struct cleave_error error;
            scenario_draw(&scenario, seed, &(struct scenario_options){60, true, false});
            assert_int_equal(
                cleave__graph_serve(scenario.graph, &scenario.serving, &served[i], &error),
                CLEAVE_OK);
            scenario_free(&scenario);
        }
        assert_memory_equal(&served[0], &served[1], offsetof(struct cleave__served, wrong));
    }
}

static bool attempt(void *context)
{
    struct scenario *scenario = context;
    struct cleave__served served;
    struct cleave_error error;
    enum cleave_status status =
        cleave__graph_serve(scenario->graph, &scenario->serving, &served, &error);
    return status ? status == CLEAVE_NO_MEMORY : served.verified;
}

/* Of the many allocations of a run, each so-manieth fails. */
static void memory_runs_out(void **state)
{
    struct scenario scenario;
    (void)state;
    scenario_draw(&scenario, 6, &(struct scenario_options){12, true, false});
    assert_true(failalloc_run("serve with faults", attempt, &scenario, 13));
    scenario_free(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),         cmocka_unit_test(no_faults), cmocka_unit_test(threads),
        cmocka_unit_test(nats),           cmocka_unit_test(repeats),   cmocka_unit_test(impatient),
        cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
