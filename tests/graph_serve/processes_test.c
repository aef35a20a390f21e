/* A graph served by processes behind a nats-server: shards, coordinators, a client each in its own.
 * One after another is killed under load and started again; every query is answered, and as the
 * unsharded graph says. Strangers' questions are refused; a client gives up when nobody is there.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/serve/world.h"
#include "graph/source/generate.h"
#include "graph/world.h"
#include "support/nats_server.h"
#include "support/property.h"

enum { SHARDS = 3, COORDINATORS = 2, QUERIES = 6000 };

static struct nats_server server;
static uint32_t kills_of_server; /* instead of processes */

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

struct world {
    struct cleave__graph *graph;
    uint32_t *owner, *source;
    struct cleave__serving serving;
};

static struct world make_world(uint64_t seed)
{
    struct world w = {0};
    struct cleave_error error;
    struct cleave_random random;
    struct cleave__generate_options options = {
        .users = 800, .communities = 8, .degree = 8, .local = 6, .seed = seed};
    cleave__random_seed(&random, seed);
    if (cleave__graph_generate(cleave__graph_generator_find("communities"), &options, &w.graph,
                               &error))
        fail_msg("%s", error.message);
    w.owner = malloc(w.graph->vertices * sizeof *w.owner);
    w.source = malloc(QUERIES * sizeof *w.source);
    for (uint32_t v = 0; v < w.graph->vertices; v++)
        w.owner[v] = (uint32_t)cleave__random_below(&random, SHARDS);
    for (uint32_t i = 0; i < QUERIES; i++)
        w.source[i] = (uint32_t)cleave__random_below(&random, w.graph->vertices);
    w.serving = (struct cleave__serving){.transport = &cleave__nats,
                                         .nats = nats_server_world(&server),
                                         .threads = 1,
                                         .seed = seed,
                                         .shards = SHARDS,
                                         .coordinators = COORDINATORS,
                                         .clients = 4,
                                         .outstanding = 8,
                                         .owner = w.owner,
                                         .executor = CLEAVE__SERVE_BATCHED,
                                         .query = {.hops = 2},
                                         .source = w.source,
                                         .sources = QUERIES,
                                         .retry_ns = 20000000,
                                         .retry_most_ns = 500000000};
    w.serving.nats.loop = false;
    return w;
}

static void free_world(struct world *w)
{
    cleave__graph_free(w->graph);
    free(w->owner);
    free(w->source);
}

static pid_t begin(const struct world *w, enum cleave__graph_part part, uint32_t seat)
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    struct cleave__serving serving = w->serving;
    struct cleave__served served;
    struct cleave_error error;
    serving.part = part;
    serving.seat = seat;
    if (cleave__graph_serve(w->graph, &serving, &served, &error))
        fprintf(stderr, "%s\n", error.message);
    else if (!served.verified)
        fprintf(stderr, "%s\n", served.wrong);
    else if (part == CLEAVE__PART_CLIENT && served.queries == serving.sources) {
        fprintf(stderr, "%llu queries in %.2f s, p99 %.2f ms\n", (unsigned long long)served.queries,
                served.elapsed_s, (double)served.p99_ns * 1e-6);
        _exit(0);
    }
    _exit(1);
}

static void stop(pid_t *pid)
{
    if (*pid > 0) {
        kill(*pid, SIGKILL);
        waitpid(*pid, NULL, 0);
    }
    *pid = 0;
}

/* Whether a client ends well in so many hundredths of a second; else it is stopped. */
static bool ends_well(pid_t client, int tries)
{
    int status = 1;
    for (; tries > 0; tries--, sleep_ms(10)) {
        if (waitpid(client, &status, WNOHANG) == client)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    stop(&client);
    return false;
}

/* For so long. */
static void kill_server(long ms)
{
    nats_server_kill(&server);
    sleep_ms(ms);
    assert_true(nats_server_start(&server));
}

/* Everybody at work while the client asks; `kills` times one of the others is killed and comes
 * back, or does not at once. */
static void under_load(uint64_t seed, uint32_t kills)
{
    struct world w = make_world(seed);
    struct cleave_random random;
    pid_t other[SHARDS + COORDINATORS] = {0}, client;
    int status = 0;
    cleave__random_seed(&random, seed);
    for (uint32_t i = 0; i < SHARDS; i++)
        other[i] = begin(&w, CLEAVE__PART_SHARD, i);
    for (uint32_t i = 0; i < COORDINATORS; i++)
        other[SHARDS + i] = begin(&w, CLEAVE__PART_COORDINATOR, i);
    client = begin(&w, CLEAVE__PART_CLIENT, 2);
    bool ended = false;
    for (uint32_t k = 0; k < kills && !ended; k++) {
        uint32_t i = (uint32_t)cleave__random_below(&random, SHARDS + COORDINATORS);
        sleep_ms(30 + (long)cleave__random_below(&random, 100));
        if (kills_of_server) {
            kill_server((long)cleave__random_below(&random, 150));
            ended = waitpid(client, &status, WNOHANG) == client;
            continue;
        }
        stop(&other[i]);
        sleep_ms((long)cleave__random_below(&random, 150));
        other[i] = i < SHARDS ? begin(&w, CLEAVE__PART_SHARD, i)
                              : begin(&w, CLEAVE__PART_COORDINATOR, i - SHARDS);
        ended = waitpid(client, &status, WNOHANG) == client;
        if (ended)
            printf("(the client had ended after %u kills)\n", k + 1);
    }
    for (int tries = 0; !ended && tries < 6000; tries++) {
        ended = waitpid(client, &status, WNOHANG) == client;
        sleep_ms(10);
    }
    for (uint32_t i = 0; i < SHARDS + COORDINATORS; i++)
        stop(&other[i]);
    if (!ended)
        stop(&client);
    free_world(&w);
    assert_true(ended);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void quietly(void **state)
{
    (void)state;
    under_load(1, 0);
}

static void killed(void **state)
{
    (void)state;
    under_load(2, 12);
    under_load(3, 12);
}

/* The server is killed under load and comes back on its port: what was under way is lost, and asked
 * again. */
static void server_killed(void **state)
{
    (void)state;
    kills_of_server = 3;
    under_load(5, 3);
    kills_of_server = 0;
}

/* The server dies while they connect, subscribe and find each other: they wait for it. */
static void server_killed_early(void **state)
{
    enum { ROUNDS = 12, KILLS = 4 };
    struct cleave_random random;
    (void)state;
    cleave__random_seed(&random, 7);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct world w = make_world(round);
        w.serving.sources = 200;
        pid_t pids[SHARDS + COORDINATORS];
        for (uint32_t i = 0; i < SHARDS; i++)
            pids[i] = begin(&w, CLEAVE__PART_SHARD, i);
        for (uint32_t i = 0; i < COORDINATORS; i++)
            pids[SHARDS + i] = begin(&w, CLEAVE__PART_COORDINATOR, i);
        pid_t client = begin(&w, CLEAVE__PART_CLIENT, 3);
        for (uint32_t k = 0; k < KILLS; k++) {
            sleep_ms((long)cleave__random_below(&random, 12));
            kill_server((long)cleave__random_below(&random, 30));
        }
        bool good = ends_well(client, 3000);
        for (uint32_t i = 0; i < SHARDS + COORDINATORS; i++) {
            good = good && waitpid(pids[i], NULL, WNOHANG) == 0;
            stop(&pids[i]);
        }
        free_world(&w);
        assert_true(good);
    }
}

/* A world of halves that know nothing of each other, each on a shard of its own. */
static struct world make_halves(void)
{
    enum { HALF = 300 };
    struct world w = make_world(6);
    struct cleave__edges edges = {0};
    struct cleave_error error;
    cleave__graph_free(w.graph);
    for (uint32_t v = 0; v < HALF; v++) {
        for (uint32_t h = 0; h < 2; h++) {
            uint32_t from = h * HALF + v;
            assert_true(CLEAVE_PUSH(&edges.end, from) &&
                        CLEAVE_PUSH(&edges.end, h * HALF + (v + 1) % HALF) &&
                        CLEAVE_PUSH(&edges.end, from) &&
                        CLEAVE_PUSH(&edges.end, h * HALF + (v + 7) % HALF));
            w.owner[from] = h;
        }
    }
    assert_int_equal(cleave__graph_build(2 * HALF, &edges, false, &w.graph, &error), CLEAVE_OK);
    CLEAVE_VECTOR_FREE(&edges.end);
    w.serving.shards = 2;
    w.serving.sources = 2000;
    return w;
}

/* A shard that is down stops whoever needs it, and nobody else; when it is back they go on. */
static void one_half_is_down(void **state)
{
    struct world w = make_halves(), other = w;
    int status;
    (void)state;
    for (uint32_t i = 0; i < w.serving.sources; i++)
        w.source[i] = 300 + i % 300;
    w.serving.outstanding = 700; /* more than a coordinator asks of a shard at once */
    pid_t up = begin(&w, CLEAVE__PART_SHARD, 0), down;
    pid_t coordinators[2] = {begin(&w, CLEAVE__PART_COORDINATOR, 0),
                             begin(&w, CLEAVE__PART_COORDINATOR, 1)};
    pid_t waits = begin(&w, CLEAVE__PART_CLIENT, 0);
    sleep_ms(1500);
    for (uint32_t i = 0; i < other.serving.sources; i++)
        other.source[i] = i % 300;
    other.serving.patience_ns = UINT64_C(8000000000);
    pid_t goes_on = begin(&other, CLEAVE__PART_CLIENT, 1);
    assert_int_equal(waitpid(goes_on, &status, 0), goes_on);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool waited = waitpid(waits, &status, WNOHANG) == 0;
    down = begin(&w, CLEAVE__PART_SHARD, 1);
    bool ended = ends_well(waits, waited && good ? 3000 : 1);
    stop(&up);
    stop(&down);
    stop(&coordinators[0]);
    stop(&coordinators[1]);
    free_world(&w);
    assert_true(good);
    assert_true(waited);
    assert_true(ended);
}

static void nobody_is_there(void **state)
{
    (void)state;
    struct world w = make_world(4);
    struct cleave__served served;
    struct cleave_error error;
    w.serving.part = CLEAVE__PART_CLIENT;
    w.serving.sources = 3;
    w.serving.patience_ns = 300000000;
    assert_int_equal(cleave__graph_serve(w.graph, &w.serving, &served, &error), CLEAVE_IO);
    assert_non_null(strstr(error.message, "3 of 3 queries have no answer after 0 s"));
    w.serving.seat = 4;
    assert_int_equal(cleave__graph_serve(w.graph, &w.serving, &served, &error),
                     CLEAVE_BAD_ARGUMENT);
    free_world(&w);
}

/* What comes out of any bytes is none, or a question that the graph can be asked; and what was
 * written is read. */
static bool question(struct property_source *source, void *context)
{
    struct cleave__graph *graph = world_graph(source);
    struct cleave__query asked = world_query(source, graph), got = {.source = asked.source};
    enum cleave__serving_executor executor;
    struct cleave_writer writer = {0};
    (void)context;
    cleave__question_write(&asked, CLEAVE__SERVE_EARLY, &writer);
    struct cleave_reader reader = {writer.data, writer.data + writer.count, false};
    bool good = cleave__question_read(&reader, graph, &got, &executor) &&
                executor == CLEAVE__SERVE_EARLY && got.hops == asked.hops &&
                got.limit == asked.limit && got.top == asked.top && got.by_id == asked.by_id &&
                got.id_low == asked.id_low && got.exactly == asked.exactly &&
                got.by_label == asked.by_label && got.label == asked.label;
    for (uint64_t n = property_draw(source, 8); n && writer.count; n--)
        writer.data[property_draw(source, writer.count)] = (uint8_t)property_draw(source, 256);
    size_t length = property_draw(source, 2) ? writer.count : property_draw(source, writer.count);
    reader = (struct cleave_reader){writer.data, writer.data + length, false};
    got.source = (uint32_t)property_draw(source, graph->vertices + 2);
    if (cleave__question_read(&reader, graph, &got, &executor))
        good = good && !cleave__query_check(graph, &got, NULL) && executor <= CLEAVE__SERVE_EARLY;
    free(writer.data);
    cleave__graph_free(graph);
    return good;
}

static void questions(void **state)
{
    (void)state;
    assert_true(property_run("questions", question, NULL, 2000));
}

int main(void)
{
    const struct CMUnitTest alone[] = {cmocka_unit_test(questions)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quietly),          cmocka_unit_test(killed),
        cmocka_unit_test(server_killed),    cmocka_unit_test(server_killed_early),
        cmocka_unit_test(one_half_is_down), cmocka_unit_test(nobody_is_there)};
    int failed = cmocka_run_group_tests(alone, NULL, NULL);
    if (!nats_server_installed())
        return failed;
    if (!nats_server_start(&server))
        return 1;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    nats_server_stop(&server);
    return failed;
}
