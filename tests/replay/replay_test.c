/* Replay on SQLite, or PostgreSQL: the three benchmarks under the seven schemes, each answer the
 * unsharded one's, as many distributed transactions as are counted, every row where it belongs at
 * the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tables/replay/audit.h"
#include "tables/replay/fill.h"
#include "world.h"

enum { SKIPPED = 77 };

static struct replay_world world; /* of the group */

static void ok(enum cleave_status status, const struct cleave_error *error)
{
    if (status)
        fail_msg("%s", error->message);
}

static void show(const struct cleave_replay_result *r, const char *name)
{
    print_message("%s: %llu of %llu distributed (%llu reading), counted %llu; %llu compared; %.0f "
                  "tx/s, p99 %.1f ms\n",
                  name, (unsigned long long)r->counted.distributed,
                  (unsigned long long)r->counted.transactions,
                  (unsigned long long)r->counted.read_only_distributed,
                  (unsigned long long)r->predicted.distributed, (unsigned long long)r->compared,
                  r->tx_per_s, r->p99_ms);
    for (uint32_t d = 0; d < r->different && d < CLEAVE_REPLAY_TOLD; d++)
        print_message("  %s\n", r->differences[d]);
}

static void refused(void *context, uint64_t number, const char *why)
{
    (void)context;
    print_message("refused %llu: %s\n", (unsigned long long)number, why);
}

static void replay_benchmark(const char *benchmark, const struct cleave_benchmark_option *options,
                             uint32_t option_count, uint64_t transactions)
{
    struct cleave_error error;
    struct cleave_case *kase;
    struct cleave_case_source source = {.benchmark = benchmark,
                                        .benchmark_options = options,
                                        .benchmark_option_count = option_count,
                                        .seed = 7,
                                        .transactions = transactions / 2,
                                        .held_out = transactions - transactions / 2};
    ok(cleave__case_load(&source, &kase, &error), &error);
    for (uint32_t i = 0; cleave__scheme_at(i); i++) {
        const struct cleave_scheme *scheme = cleave__scheme_at(i);
        struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
        struct cleave_comparison comparison;
        struct cleave_generator *generator;
        struct cleave_replay_result result;
        struct cleave_audit audit;
        world_empty(&world);
        ok(cleave__compare(kase, &scheme, 1, 3, 1, &steer, NULL, &comparison, &error), &error);
        const struct cleave_lookup *lookup = comparison.results[0].lookup;
        ok(cleave__generator_new(benchmark, options, option_count, 7, &generator, &error), &error);
        ok(cleave__replay_fill(generator, lookup, world.urls, world.reference, NULL, &error),
           &error);
        ok(cleave__replay_audit(lookup, world.urls, world.reference, &audit, &error), &error);
        if (!cleave__audit_right(&audit))
            fail_msg("%s after loading: %s", scheme->name, audit.first);
        struct cleave_replay_options replay = {.lookup = lookup,
                                               .urls = world.urls,
                                               .source = world_generated(generator),
                                               .reference = world.reference,
                                               .clients = 3,
                                               .limit = transactions,
                                               .refused = refused};
        ok(cleave__replay(&replay, &result, &error), &error);
        show(&result, scheme->name);
        assert_true(cleave__replay_right(&result));
        assert_int_equal(result.replayed, transactions);
        assert_true(result.compared > transactions);
        ok(cleave__replay_audit(lookup, world.urls, world.reference, &audit, &error), &error);
        if (!cleave__audit_right(&audit))
            fail_msg("%s after replay: %s", scheme->name, audit.first);
        cleave__replay_result_free(&result);
        cleave__generator_free(generator);
        cleave__comparison_free(&comparison);
    }
    cleave__case_free(kase);
}

static void tpcc(void **state)
{
    (void)state;
    const struct cleave_benchmark_option options[] = {
        {"warehouses", "3"}, {"items", "200"}, {"customers-per-district", "30"}};
    replay_benchmark("tpcc", options, 3, 150);
}

static void tatp(void **state)
{
    (void)state;
    const struct cleave_benchmark_option options[] = {{"subscribers", "300"}};
    replay_benchmark("tatp", options, 1, 400);
}

static void epinions(void **state)
{
    (void)state;
    const struct cleave_benchmark_option options[] = {{"users", "60"}, {"items", "40"}};
    replay_benchmark("epinions", options, 2, 200);
}

/* With an argument: on PostgreSQL. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc < 2)
        world_sqlite(&world, 3);
    else if (!world_postgres(&world, 3))
        return SKIPPED;

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tpcc),
        cmocka_unit_test(tatp),
        cmocka_unit_test(epinions),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    world_remove(&world);
    return failures;
}
