/* Predicted execution: with constant times, latencies and throughput are what a pencil gives; fewer
 * distributed transactions give more throughput, unless skew outweighs it; limits of a node bind;
 * a seed repeats; every allocation fails in turn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/failalloc.h"
#include "support/property.h"
#include "tables/serve/simulate.h"

enum { US = 1000, WORK = 100 * US, PREPARE = 70 * US, GATHER = 40 * US, FLUSH = 1000 * US };
enum { NET = 300 * US };

static struct cleave_distribution constant(uint64_t ns)
{
    return (struct cleave_distribution){.kind = CLEAVE_CONSTANT, .low_ns = ns};
}

static struct cleave_simulation plain(uint32_t clients)
{
    return (struct cleave_simulation){.clients = clients,
                                      .work = constant(WORK),
                                      .prepare = constant(PREPARE),
                                      .gather = constant(GATHER),
                                      .flush = constant(FLUSH),
                                      .network = constant(NET)};
}

static void add(struct cleave_plan *plan, bool writes, uint32_t count,
                const struct cleave_plan_part *parts)
{
    assert_true(cleave__plan_add(plan, parts, count, writes, 0));
}

static struct cleave_simulated played(const struct cleave_plan *plan,
                                      const struct cleave_simulation *simulation)
{
    struct cleave_simulated simulated;
    struct cleave_error error;
    if (cleave__simulate(plan, simulation, NULL, &simulated, &error))
        fail_msg("%s", error.message);
    return simulated;
}

/* One client, one transaction: its latency in nanoseconds. */
static double latency_on(const struct cleave_simulation *simulation, bool writes, uint32_t count,
                         const struct cleave_plan_part *parts, uint32_t gathers)
{
    struct cleave_plan plan = {.shards = 4};
    assert_true(cleave__plan_add(&plan, parts, count, writes, gathers));
    struct cleave_simulated simulated = played(&plan, simulation);
    assert_int_equal(simulated.transactions, 1);
    assert_int_equal(simulated.distributed, count > 1);
    uint64_t accesses = 0;
    for (uint32_t p = 0; p < count; p++)
        accesses += parts[p].accesses;
    assert_int_equal(simulated.accesses, accesses);
    cleave__plan_free(&plan);
    return simulated.p50_ms * 1e6;
}

static double latency_ns(bool writes, uint32_t count, const struct cleave_plan_part *parts)
{
    struct cleave_simulation simulation = plain(1);
    return latency_on(&simulation, writes, count, parts, 0);
}

static void same_ns(double got, double wanted)
{
    if (fabs(got - wanted) > 1)
        fail_msg("%.0f ns, wanted %.0f", got, wanted);
}

static void latencies_by_pencil(void **state)
{
    (void)state;
    const struct cleave_plan_part one[] = {{2, 5}}, two[] = {{0, 2}, {3, 4}};
    struct cleave_simulation simulation = plain(1);
    same_ns(latency_ns(false, 1, one), NET + 5 * WORK + NET);
    same_ns(latency_ns(true, 1, one), NET + 5 * WORK + FLUSH + NET);
    /* Asked at NET, the other part has it at 2 NET, works, and its answer is there at 3 NET. */
    double reading = NET + NET + 4 * WORK + NET + NET;
    same_ns(latency_ns(false, 2, two), reading);
    same_ns(latency_on(&simulation, false, 2, two, 3), reading + 3 * GATHER);
    /* So prepared; then the decision, and the others' commit there and back. */
    double last = FLUSH + (NET + PREPARE + FLUSH + NET) + NET;
    same_ns(latency_ns(true, 2, two), NET + (NET + 4 * WORK + PREPARE + FLUSH + NET) + last);
    /* A coordinator with more work than its parts is what they wait for. */
    const struct cleave_plan_part busy[] = {{0, 50}, {3, 4}};
    same_ns(latency_ns(true, 2, busy), NET + 50 * WORK + last);
    same_ns(latency_on(&simulation, true, 2, busy, 2), NET + 50 * WORK + 2 * GATHER + last);
    /* Where both are on one machine nothing goes over the network but the client's. */
    simulation.machines = 3;
    simulation.processors = 2;
    same_ns(latency_on(&simulation, false, 2, two, 0), NET + 4 * WORK + NET);
    /* With one processor one part works after the other. */
    simulation.processors = 1;
    same_ns(latency_on(&simulation, false, 2, two, 0), NET + 6 * WORK + NET);
    simulation.machines = 2; /* shard 3 on the second, shard 0 on the first */
    same_ns(latency_on(&simulation, false, 2, two, 0), reading);
}

/* Of 1,000 transactions, every `every`-th writes on two shards; the others read on one: of two
 * shards in turn, or always the first. */
static struct cleave_plan mixed(uint32_t every, bool skewed)
{
    struct cleave_plan plan = {.shards = 2};
    for (uint32_t t = 0; t < 1000; t++) {
        const struct cleave_plan_part both[] = {{0, 2}, {1, 2}},
                                      one[] = {{skewed ? 0 : t / 2 % 2, 4}};
        bool distributed = every && t % every == 0;
        add(&plan, true, distributed ? 2 : 1, distributed ? both : one);
    }
    return plan;
}

static struct cleave_simulated mixed_played(uint32_t every, bool skewed,
                                            const struct cleave_simulation *simulation)
{
    struct cleave_plan plan = mixed(every, skewed);
    struct cleave_simulated simulated = played(&plan, simulation);
    cleave__plan_free(&plan);
    return simulated;
}

static void order_makes_sense(void **state)
{
    (void)state;
    struct cleave_simulation simulation = plain(160);
    simulation.processors = 2;
    simulation.transactions = 4000;
    struct cleave_simulated none = mixed_played(0, false, &simulation),
                            few = mixed_played(10, false, &simulation),
                            many = mixed_played(2, false, &simulation),
                            all = mixed_played(1, false, &simulation),
                            skewed = mixed_played(0, true, &simulation);
    assert_int_equal(none.transactions, 4000);
    assert_int_equal(few.distributed, 400);
    assert_int_equal(all.distributed, 4000);
    assert_true(none.tx_per_s > few.tx_per_s && few.tx_per_s > many.tx_per_s &&
                many.tx_per_s > all.tx_per_s);
    assert_true(none.p50_ms < all.p50_ms);
    /* 4 accesses are 0.4 ms of one of 4 processors; on one shard, of 2. */
    assert_true(none.tx_per_s > 0.9 * 4 / 0.0004 && none.tx_per_s <= 4 / 0.0004);
    assert_true(skewed.tx_per_s > 0.97 * 2 / 0.0004 && skewed.tx_per_s <= 2 / 0.0004);
    assert_true(skewed.busiest > 0.97 && skewed.busiest <= 1);
    assert_true(few.tx_per_s > skewed.tx_per_s); /* skew outweighs a few distributed ones */
}

static void limits_bind(void **state)
{
    (void)state;
    struct cleave_simulation simulation = plain(160), more;
    simulation.processors = 2;
    simulation.transactions = 2000;
    struct cleave_simulated before = mixed_played(2, false, &simulation), after;
    more = simulation;
    more.processors = 8;
    after = mixed_played(2, false, &more);
    assert_true(after.tx_per_s > 2 * before.tx_per_s);
    more = simulation;
    more.bytes_per_s = 100000; /* an answer of 4 accesses is 500 bytes: 5 ms */
    after = mixed_played(2, false, &more);
    assert_true(after.tx_per_s < before.tx_per_s / 2 && after.tx_per_s < 2 * 200);
    more = simulation;
    more.network = constant(20 * NET);
    after = mixed_played(2, false, &more);
    assert_true(after.p50_ms > before.p50_ms);
    more = simulation;
    more.clients = 1;
    after = mixed_played(2, false, &more);
    assert_true(after.tx_per_s < before.tx_per_s && after.p50_ms < before.p50_ms);
}

static bool repeats(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_plan plan = {.shards = 1 + (uint32_t)property_draw(source, 6)};
    uint32_t count = 1 + (uint32_t)property_draw(source, 40);
    uint64_t distributed = 0;
    for (uint32_t t = 0; t < count; t++) {
        struct cleave_plan_part parts[6];
        uint32_t n = 0;
        for (uint32_t s = 0; s < plan.shards; s++) {
            if (property_draw(source, 3) == 0 || (s + 1 == plan.shards && n == 0))
                parts[n++] = (struct cleave_plan_part){s, 1 + (uint32_t)property_draw(source, 5)};
        }
        add(&plan, property_draw(source, 2), n, parts);
        distributed += n > 1;
    }
    struct cleave_simulation simulation = cleave__simulation_usual(plan.shards);
    simulation.machines = (uint32_t)property_draw(source, 4);
    simulation.clients = 1 + (uint32_t)property_draw(source, 20);
    simulation.processors = (uint32_t)property_draw(source, 3);
    simulation.transactions = property_draw(source, 2) ? count * 3 : 0;
    simulation.seed = property_draw(source, 1000);
    struct cleave_simulated first = played(&plan, &simulation), second = played(&plan, &simulation);
    uint64_t rounds = simulation.transactions ? 3 : 1;
    cleave__plan_free(&plan);
    return first.transactions == count * rounds && first.distributed == distributed * rounds &&
           first.tx_per_s == second.tx_per_s && first.p50_ms == second.p50_ms &&
           first.p99_ms == second.p99_ms && first.p99_ms >= first.p50_ms && first.p50_ms > 0 &&
           first.busiest > 0 && first.busiest <= 1.0001;
}

static void seeds_repeat(void **state)
{
    (void)state;
    assert_true(property_run("simulation repeats", repeats, NULL, 150));
}

static void nothing_and_nonsense(void **state)
{
    (void)state;
    struct cleave_plan plan = {.shards = 3};
    struct cleave_simulation simulation = plain(2);
    assert_int_equal(played(&plan, &simulation).transactions, 0);
    add(&plan, true, 1, &(struct cleave_plan_part){0, 1});
    simulation.clients = 0;
    struct cleave_simulated simulated = {.transactions = 77};
    struct cleave_error error;
    assert_int_equal(cleave__simulate(&plan, &simulation, NULL, &simulated, &error),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(simulated.transactions, 77);
    volatile sig_atomic_t stop = 1;
    struct cleave_progress progress = {.stop = &stop};
    simulation = plain(4);
    simulation.transactions = 5000;
    assert_int_equal(cleave__simulate(&plan, &simulation, &progress, &simulated, &error),
                     CLEAVE_INTERRUPTED);
    cleave__plan_free(&plan);
}

static bool try_all(void *context)
{
    const struct cleave_simulation *simulation = context;
    struct cleave_plan plan = {.shards = 2};
    const struct cleave_plan_part both[] = {{0, 2}, {1, 2}};
    struct cleave_simulated simulated;
    struct cleave_error error;
    bool good = true;
    if (cleave__plan_add(&plan, both, 2, true, 1)) {
        enum cleave_status status = cleave__simulate(&plan, simulation, NULL, &simulated, &error);
        good = !status || status == CLEAVE_NO_MEMORY;
    }
    cleave__plan_free(&plan);
    return good;
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct cleave_simulation simulation = plain(2);
    simulation.transactions = 4;
    assert_true(failalloc_run("simulate", try_all, &simulation, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_by_pencil),  cmocka_unit_test(order_makes_sense),
        cmocka_unit_test(limits_bind),          cmocka_unit_test(seeds_repeat),
        cmocka_unit_test(nothing_and_nonsense), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
