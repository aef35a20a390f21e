/* A process that moves tables between placements is killed (-9) at random moments and at points
 * within its switches, again and again, forth and back between two placements. After each death
 * what it left prepared is settled, and every row is there once; in the end every row is where the
 * last placement says, and as it was.
 *
 * argument "postgres": on PostgreSQL servers; "shard": where it is a shard's server that dies. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../oracle/world.h"
#include "base/random.h"
#include "tables/replay/audit.h"
#include "tables/replay/decide.h"
#include "tables/replay/shift.h"
#include "world.h"

#define DDL                                                                                        \
    "CREATE TABLE t (id int NOT NULL PRIMARY KEY, k int, v varchar(20));"                          \
    "CREATE TABLE u (k int, w varchar(20));"                                                       \
    "CREATE TABLE ru (k int, w int)"

enum { SHARDS = 3, TRANSACTIONS = 30, ROWS = 10 };

static enum cleave_status nothing(void *context, struct cleave_trace_transaction *out,
                                  struct cleave_error *error)
{
    (void)context, (void)out, (void)error;
    return CLEAVE_END;
}

static void at(void *context, const char *point)
{
    int *left = context;
    (void)point;
    if (--*left == 0)
        raise(SIGKILL);
}

static struct cleave_replay_options options_of(const struct replay_world *stores,
                                               struct cleave_lookup *const *lookups, uint32_t from)
{
    return (struct cleave_replay_options){.lookup = lookups[from],
                                          .urls = stores->urls,
                                          .source = {nothing, NULL},
                                          .clients = 1,
                                          .repartition = lookups[!from],
                                          .pieces = 12,
                                          .batch_rows = 10,
                                          .move_rows = 40};
}

/* A child that repartitions; true: it came to its end. */
static bool run_child(const struct replay_world *stores, struct cleave_lookup *const *lookups,
                      uint32_t from, int points, int ms)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct cleave_replay_options options = options_of(stores, lookups, from);
        struct cleave_replay_result result;
        struct cleave_error error = {0};
        options.at = at;
        options.test_context = &points;
        enum cleave_status status = cleave__replay(&options, &result, &error);
        if (status)
            fprintf(stderr, "child: %s\n", error.message);
        _exit(status || !result.shift.whole);
    }
    assert_true(child > 0);
    if (ms >= 0) {
        nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
        kill(child, SIGKILL);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        assert_int_equal(WEXITSTATUS(how), 0);
    return WIFEXITED(how);
}

static unsigned long count(const struct replay_world *stores, const char *query)
{
    unsigned long sum = 0;
    for (uint32_t s = 0; s < SHARDS; s++) {
        char text[40];
        world_ask(stores->urls[s], query, text, sizeof text);
        sum += strtoul(text, NULL, 10);
    }
    return sum;
}

static void settle(const struct replay_world *stores, const struct cleave_lookup *lookup)
{
    struct cleave__replay_world world = {.lookup = lookup,
                                         .urls = stores->urls,
                                         .coordinator = "replay_shift",
                                         .patience_ns = 60000000000u};
    struct cleave__recovery recovery;
    struct cleave_error error = {0};
    if (cleave__recover(&world, false, &recovery, &error))
        fail_msg("%s", error.message);
}

static void load(const struct replay_world *stores, struct cleave_lookup *lookup)
{
    static char texts[TRANSACTIONS][4096];
    const char *list_texts[TRANSACTIONS];
    struct cleave_replay_result result;
    struct cleave_error error = {0};
    for (int i = 0; i < TRANSACTIONS; i++) {
        size_t n = 0;
        list_texts[i] = texts[i];
        for (int r = i * ROWS; r < (i + 1) * ROWS; r++)
            n += (size_t)snprintf(texts[i] + n, sizeof texts[i] - n,
                                  "%sINSERT INTO t VALUES (%d, %d, 'v%d'); INSERT INTO u VALUES "
                                  "(%d, 'w%d'); INSERT INTO ru VALUES (%d, %d)",
                                  n ? "; " : "", r, r % 37, r, r % 23, r, r, r);
    }
    struct world_list list = {list_texts, TRANSACTIONS, 0, {{0}}, {0}};
    struct cleave_replay_options options = {.lookup = lookup,
                                            .urls = stores->urls,
                                            .source = world_source(&list),
                                            .reference = stores->reference,
                                            .clients = 4};
    if (cleave__replay(&options, &result, &error))
        fail_msg("%s", error.message);
    assert_true(cleave__replay_right(&result));
    cleave__replay_result_free(&result);
}

static void killing(const struct replay_world *stores, int kills)
{
    const char *seed_text = getenv("CLEAVE_PROPERTY_SEED");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 20261201;
    struct cleave_random random;
    struct world worlds[2];
    struct cleave_lookup *lookups[2];
    struct cleave_error error = {0};
    struct cleave_audit audit = {0};
    cleave__random_seed(&random, seed);
    /* A: by id on two shards; B: by k on three. Table ru is copied everywhere. */
    for (uint32_t i = 0; i < 2; i++) {
        world_open(&worlds[i], DDL, 2 + i);
        if (i) {
            struct cleave_table_layout *t = &worlds[i].layout.tables[world_table(&worlds[i], "t")];
            t->key_column = world_column(&worlds[i], "t", "k");
        }
        assert_int_equal(cleave__lookup_build(&worlds[i].layout, &lookups[i], &error), 0);
    }
    for (uint32_t s = 0; s <= SHARDS; s++)
        world_run(s < SHARDS ? stores->urls[s] : stores->reference, DDL);
    load(stores, lookups[0]);
    uint32_t from = 0;
    int killed = 0, whole = 0;
    while (killed < kills) {
        bool timed = cleave__random_below(&random, 2);
        int points = timed ? 0 : 1 + (int)cleave__random_below(&random, 30);
        int ms = timed ? (int)cleave__random_below(&random, 150) : -1;
        if (run_child(stores, lookups, from, points, ms)) {
            from = !from;
            whole++;
            continue;
        }
        killed++;
        settle(stores, lookups[1]);
        unsigned long t = count(stores, "SELECT count(*) FROM t");
        unsigned long u = count(stores, "SELECT count(*) FROM u");
        if (t != TRANSACTIONS * ROWS || u != TRANSACTIONS * ROWS)
            fail_msg("seed %llu, after %d kills: %lu and %lu rows, not %d",
                     (unsigned long long)seed, killed, t, u, TRANSACTIONS * ROWS);
    }
    assert_true(run_child(stores, lookups, from, 0, -1));
    from = !from;
    if (cleave__replay_audit(lookups[from], stores->urls, stores->reference, &audit, &error))
        fail_msg("%s", error.message);
    if (!cleave__audit_right(&audit))
        fail_msg("seed %llu: %s", (unsigned long long)seed, audit.first);
    print_message("%d kills, %d repartitions came to their end between them\n", killed, whole);
    for (int i = 0; i < 2; i++) {
        cleave__lookup_release(lookups[i]);
        world_close(&worlds[i]);
    }
}

static void on_sqlite(void **state)
{
    (void)state;
    struct replay_world stores;
    world_sqlite(&stores, SHARDS);
    killing(&stores, 30);
    world_remove(&stores);
}

/* Servers that keep what they have committed when they are killed; others are fast and unsafe. */
static bool durable_servers(struct replay_world *stores)
{
    struct cleave_error error = {0};
    *stores = (struct replay_world){.shards = SHARDS};
    snprintf(stores->folder, sizeof stores->folder, "/tmp/cleave-replay-XXXXXX");
    assert_non_null(mkdtemp(stores->folder));
    struct cleave_cluster_options options = {
        .folder = stores->folder, .postgres = SHARDS + 1, .fsync = true};
    enum cleave_status status = cleave__cluster_up(&options, &stores->cluster, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        rmdir(stores->folder);
        assert_int_equal(status, CLEAVE_NOT_FOUND);
        return false;
    }
    for (uint32_t s = 0; s <= SHARDS; s++)
        *(s < SHARDS ? &stores->urls[s] : &stores->reference) =
            cleave__cluster_server(stores->cluster, s)->url;
    return true;
}

/* Tells the parent that rows move. */
static void tell(void *context, const char *point)
{
    int *pipe_end = context;
    (void)point;
    if (*pipe_end >= 0 && write(*pipe_end, "m", 1) == 1)
        *pipe_end = -1;
}

/* A shard's server dies and comes back while rows move: the mover goes on by itself. */
static void a_shard_dies(void **state)
{
    (void)state;
    struct replay_world stores;
    struct world worlds[2];
    struct cleave_lookup *lookups[2];
    struct cleave_error error = {0};
    struct cleave_audit audit = {0};
    if (!durable_servers(&stores))
        skip();
    for (uint32_t i = 0; i < 2; i++) {
        world_open(&worlds[i], DDL, 2 + i);
        worlds[i].layout.tables[world_table(&worlds[i], "t")].key_column = i;
        assert_int_equal(cleave__lookup_build(&worlds[i].layout, &lookups[i], &error), 0);
    }
    for (uint32_t s = 0; s <= SHARDS; s++)
        world_run(s < SHARDS ? stores.urls[s] : stores.reference, DDL);
    load(&stores, lookups[0]);
    uint32_t from = 0;
    for (uint32_t round = 0; round < 4; round++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            struct cleave_replay_options options = options_of(&stores, lookups, from);
            struct cleave_replay_result result;
            options.at = tell;
            options.test_context = &ends[1];
            enum cleave_status status = cleave__replay(&options, &result, &error);
            if (status)
                fprintf(stderr, "child: %s\n", error.message);
            _exit(status || !result.shift.whole);
        }
        assert_true(child > 0);
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        nanosleep(&(struct timespec){0, round * 40000000L}, NULL);
        assert_int_equal(cleave__cluster_kill(stores.cluster, round % SHARDS, &error), 0);
        assert_int_equal(cleave__cluster_start(stores.cluster, round % SHARDS, &error), 0);
        int how = 0;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
        from = !from;
        if (cleave__replay_audit(lookups[from], stores.urls, stores.reference, &audit, &error))
            fail_msg("%s", error.message);
        if (!cleave__audit_right(&audit))
            fail_msg("%s", audit.first);
    }
    world_remove(&stores);
    for (int i = 0; i < 2; i++) {
        cleave__lookup_release(lookups[i]);
        world_close(&worlds[i]);
    }
}

static void on_postgres(void **state)
{
    (void)state;
    struct replay_world stores;
    if (!world_postgres(&stores, SHARDS))
        skip();
    killing(&stores, 15);
    world_remove(&stores);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest here[] = {cmocka_unit_test(on_sqlite)};
    const struct CMUnitTest shard[] = {cmocka_unit_test(a_shard_dies)};
    const struct CMUnitTest postgres[] = {cmocka_unit_test(on_postgres)};
    if (count > 1 && strcmp(arguments[1], "postgres") == 0)
        return cmocka_run_group_tests(postgres, NULL, NULL);
    if (count > 1 && strcmp(arguments[1], "shard") == 0)
        return cmocka_run_group_tests(shard, NULL, NULL);
    return cmocka_run_group_tests(here, NULL, NULL);
}
