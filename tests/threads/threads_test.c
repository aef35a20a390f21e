/* The thread rules of the public headers, through the shared library: many threads route by one
 * lookup table (each with its own router), and partition at the same time; the answers are those of
 * one thread alone. Run under ThreadSanitizer by tools/run-tests. argv[1]: the command. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleave/lookup.h"
#include "cleave/partition.h"

enum { THREADS = 4, ROUNDS = 40, KEYS = 500, VERTICES = 600, NETS = 900, BLOCKS = 4 };

static const char *command;
static char lookup_path[] = "threads-XXXXXX";

static const char *const statements[] = {
    "SELECT * FROM warehouse WHERE w_id = 1",
    "SELECT * FROM stock WHERE s_w_id = 2 AND s_i_id IN (1, 2, 3)",
    "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 3 AND d_id = 4",
    "SELECT c_last FROM customer JOIN warehouse ON w_id = c_w_id WHERE c_w_id = 4 AND c_id < 10",
    "SELECT i_price FROM item WHERE i_id = 7",
    "INSERT INTO history (h_c_id, h_c_w_id, h_w_id, h_d_id) VALUES (1, 2, 2, 5)",
    "UPDATE item SET i_price = 0",
    "SELECT nonsense FROM",
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

/* What one thread found: a digest of every answer. */
struct answers {
    const struct cleave_lookup *lookup;
    const struct cleave_hypergraph *hypergraph;
    uint64_t routed[STATEMENTS], keyed, partitioned;
    bool steady; /* the same statement got the same answer each time */
};

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t digest_route(enum cleave_status status, const struct cleave_route *route)
{
    uint64_t digest = mix(UINT64_C(0xcbf29ce484222325), status);
    if (status)
        return digest;
    digest = mix(digest, route->count);
    digest = mix(digest, route->writes);
    for (size_t i = 0; i < CLEAVE_LOOKUP_SHARDS_MAX / 64; i++)
        digest = mix(digest, route->shards[i]);
    return digest;
}

static void *work(void *context)
{
    struct answers *answers = context;
    struct cleave_error error;
    struct cleave_route route;
    answers->steady = true;
    struct cleave_router *router;
    if (cleave_router_new(answers->lookup, &router, &error)) {
        answers->steady = false;
        return NULL;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < STATEMENTS; i++) {
            uint64_t digest =
                digest_route(cleave_router_route(router, statements[i], strlen(statements[i]), NULL,
                                                 0, &route, &error),
                             &route);
            if (round && digest != answers->routed[i])
                answers->steady = false;
            answers->routed[i] = digest;
        }
    }
    cleave_router_free(router);
    for (int key = 0; key < KEYS; key++) {
        static const char *const column = "s_w_id";
        char text[20];
        struct cleave_text value = {text, (size_t)snprintf(text, sizeof text, "%d", key)};
        enum cleave_status status = cleave_lookup_route_key(answers->lookup, "stock", &column,
                                                            &value, 1, true, &route, &error);
        answers->keyed = mix(answers->keyed, digest_route(status, &route));
    }
    struct cleave_partition_options options = {
        .blocks = BLOCKS, .epsilon = 0.05, .threads = 2, .seed = 7};
    uint32_t block[VERTICES];
    if (cleave_partition(answers->hypergraph, &options, block, NULL, &error))
        answers->steady = false;
    else
        for (uint32_t v = 0; v < VERTICES; v++)
            answers->partitioned = mix(answers->partitioned, block[v]);
    return NULL;
}

static struct cleave_hypergraph *make_hypergraph(void)
{
    static uint64_t offsets[NETS + 1];
    static uint32_t pins[NETS * 3];
    for (uint32_t n = 0; n < NETS; n++) {
        offsets[n + 1] = offsets[n] + 3;
        for (uint32_t i = 0; i < 3; i++)
            pins[n * 3 + i] = (n * 7 + i * i * 11 + n * n % 13) % VERTICES;
    }
    struct cleave_hypergraph *hypergraph = NULL;
    struct cleave_error error;
    assert_int_equal(
        cleave_hypergraph_new(VERTICES, NETS, offsets, pins, 1, NULL, NULL, &hypergraph, &error),
        CLEAVE_OK);
    return hypergraph;
}

static void place_tpcc(void)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        execl(command, "cleave", "tables", "place", "--benchmark", "tpcc", "--warehouses", "8",
              "--transactions", "200", "--held-out", "10", "--shards", "4", "--quiet", "-o",
              lookup_path, (char *)NULL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void threads_agree_with_one(void **state)
{
    (void)state;
    place_tpcc();
    struct cleave_error error;
    struct cleave_lookup *lookup;
    assert_int_equal(cleave_lookup_open(lookup_path, &lookup, &error), CLEAVE_OK);
    struct cleave_hypergraph *hypergraph = make_hypergraph();

    struct answers alone = {.lookup = lookup, .hypergraph = hypergraph};
    work(&alone);
    assert_true(alone.steady);
    assert_true(alone.routed[0] != alone.routed[STATEMENTS - 1]);

    pthread_t threads[THREADS];
    struct answers answers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        answers[i] = (struct answers){.lookup = lookup, .hypergraph = hypergraph};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &answers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(answers[i].steady);
        assert_memory_equal(answers[i].routed, alone.routed, sizeof alone.routed);
        assert_true(answers[i].keyed == alone.keyed);
        assert_true(answers[i].partitioned == alone.partitioned);
    }
    cleave_hypergraph_free(hypergraph);
    cleave_lookup_close(lookup);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    command = argv[1];
    int descriptor = mkstemp(lookup_path);
    if (descriptor < 0)
        return 2;
    close(descriptor);
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_agree_with_one)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(lookup_path);
    return failed;
}
