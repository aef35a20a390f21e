/* Actors in several processes on a nats-server: they ask each other, around a ring, in groups, in
 * pieces; a process, or the server, is killed in the middle and started again, and whoever asks
 * with a timeout and again has every answer in the end, no message taken twice.
 *
 * This process makes no runtime: it starts the others and reads what they leave in memory that all
 * share. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe.h"
#include "runtime/nats/bucket.h"
#include "support/nats_server.h"

enum { IDS = 1 << 20, PROCESSES = 6 };
static const uint64_t MS = 1000000;

/* What the processes share. */
struct shared {
    atomic_uint taken[IDS]; /* how often a message was taken, by its id */
    atomic_uint answered, timeouts, twice, wrong;
    atomic_ullong p50_ns, late, lost, received, by_server[PROCESSES];
    atomic_uint ready, fenced, begun, doubled, missing, stop;
    atomic_ullong gap_ns;   /* the longest time without an answer */
    atomic_uchar kept[IDS]; /* deposits that somebody was told of */
};
static struct shared *shared;
static struct nats_server server;
static struct nats_server nodes[3]; /* of a cluster */
static struct cleave_nats_options world;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* A process's part: which of the actors 1.. it is. */
struct part {
    const struct probe_plan *plans; /* [actors] */
    uint32_t actors, own;
    bool durable, serves,
        grouped; /* actors but the last are of the group `shop`, whose number comes after */
    uint32_t mailbox_most;
};

static void play(const struct part *part)
{
    struct cleave_runtime_options options = {.transport = &cleave__nats,
                                             .mailbox_most = part->mailbox_most,
                                             .measure = true,
                                             .nats = world};
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    options.nats.loop = false;
    options.nats.serve = part->serves;
    options.nats.durable = part->durable;
    enum cleave_status status = cleave__runtime_new(&options, &runtime, &error);
    for (uint32_t a = 1, number; a <= part->actors && !status; a++) {
        char name[20];
        snprintf(name, sizeof name, "actor %u", a);
        status = a == part->own ? cleave__runtime_spawn(runtime, &probe_ops, &part->plans[a - 1],
                                                        NULL, &number, &error)
                                : cleave__runtime_remote(runtime, name, &number, &error);
    }
    uint32_t group = 0;
    if (part->grouped && !status)
        status = cleave__runtime_group(runtime, "shop", &group, &error);
    if (part->grouped && !status && part->own < part->actors)
        status = cleave__runtime_join(runtime, part->own, group, &error);
    atomic_fetch_add(&shared->ready, 1);
    if (!status)
        status = cleave__runtime_run(runtime, 0, NULL, &error);
    bool good = !status && cleave__runtime_check(runtime);
    if (status == CLEAVE_CONFLICT)
        atomic_fetch_add(&shared->fenced, 1);
    if (status)
        printf("  %s\n", error.message);
    if (good) {
        const struct cleave_actor_stats *stats = cleave__runtime_stats(runtime, part->own);
        atomic_fetch_add(&shared->late, stats->late);
        atomic_fetch_add(&shared->lost, stats->lost);
        if (stats->answering_ns.count)
            atomic_store(&shared->p50_ns, cleave__histogram_quantile(&stats->answering_ns, 0.5));
    }
    cleave__runtime_free(runtime);
    fflush(NULL);
    _exit(good ? 0 : 1);
}

static pid_t begin(const struct part *part)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        play(part);
    }
    assert_true(pid > 0);
    return pid;
}

static void finish(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void kill_now(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void fresh(void)
{
    memset(shared, 0, sizeof *shared);
    world = nats_server_world(&server);
}

/* ---- asking, with timeouts and again ---- */

/* `count` questions, `peers[0]` at a time; each may be asked several times. A question's body: its
 * number, and an id of its own for each time it is asked. */
static void ask(struct probe *probe, struct cleave_context *context, uint64_t number)
{
    uint64_t body[2] = {number, ++probe->digest % IDS}, delay_ns = probe->plan->delay_ns;
    /* Else the timeout comes before the answer, with it, or long after. */
    cleave__context_request(context, probe->plan->peer, 1, body, sizeof body,
                            delay_ns ? delay_ns : UINT64_C(60000) << body[1] % 10, number);
}

static void ask_first(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                      size_t length)
{
    (void)saved, (void)length;
    for (uint32_t i = 0; i < probe->plan->peers[0] && probe->sum < probe->plan->count; i++)
        ask(probe, context, probe->sum++);
}

static void ask_on(struct probe *probe, struct cleave_context *context,
                   const struct cleave_message *message)
{
    if (message->sort == CLEAVE_TIMEOUT) {
        atomic_fetch_add(&shared->timeouts, 1);
        ask(probe, context, message->tag);
        return;
    }
    uint64_t square = 0;
    if (message->length == sizeof square)
        memcpy(&square, message->body, sizeof square);
    if (message->sort != CLEAVE_REPLY || square != message->tag * message->tag)
        atomic_fetch_add(&shared->wrong, 1);
    if (atomic_fetch_add(&shared->answered, 1) + 1 == probe->plan->count)
        cleave__context_end(context);
    else if (probe->sum < probe->plan->count)
        ask(probe, context, probe->sum++);
}

static void answer(struct probe *probe, struct cleave_context *context,
                   const struct cleave_message *message)
{
    uint64_t body[2] = {0};
    (void)probe;
    if (message->length == sizeof body)
        memcpy(body, message->body, sizeof body);
    if (atomic_fetch_add(&shared->taken[body[1] % IDS], 1))
        atomic_fetch_add(&shared->twice, 1);
    atomic_fetch_add(&shared->received, 1);
    atomic_fetch_add(&shared->by_server[cleave__context_self(context) % PROCESSES], 1);
    uint64_t square = body[0] * body[0];
    cleave__context_answer(context, message->promise, 2, &square, sizeof square);
}

static void one_by_one(void **state)
{
    (void)state;
    static const uint32_t at_once[] = {1};
    const struct probe_plan plans[] = {{.receive = answer},
                                       {.receive = ask_on,
                                        .start = ask_first,
                                        .peer = 1,
                                        .count = 3000,
                                        .peers = at_once,
                                        .delay_ns = 500 * MS}};
    fresh();
    pid_t server_pid = begin(&(struct part){plans, 2, 1, .durable = false, .serves = true});
    finish(begin(&(struct part){plans, 2, 2, .durable = false}));
    kill_now(server_pid);
    assert_int_equal(shared->answered, 3000);
    assert_int_equal(shared->wrong + shared->twice, 0);
    printf("  request and answer between two processes: p50 %.3f ms\n",
           (double)shared->p50_ns / 1e6);
}

/* A run with a question under way does not end, whatever comes when. */
static void answers_meet_timeouts(void **state)
{
    (void)state;
    enum { QUESTIONS = 20000 };
    static const uint32_t at_once[] = {1};
    const struct probe_plan plans[] = {
        {.receive = answer},
        {.receive = ask_on, .start = ask_first, .peer = 1, .count = QUESTIONS, .peers = at_once}};
    fresh();
    pid_t servant = begin(&(struct part){plans, 2, 1, .durable = false, .serves = true});
    finish(begin(&(struct part){plans, 2, 2, .durable = false}));
    kill_now(servant);
    assert_int_equal(shared->answered, QUESTIONS);
    assert_true(shared->timeouts > 0);
}

/* The one asked, or the NATS server, is killed three times on the way and comes back. */
static void killed_on_the_way(bool servers)
{
    enum { QUESTIONS = 60000 };
    static const uint32_t at_once[] = {100};
    const struct probe_plan plans[] = {{.receive = answer},
                                       {.receive = ask_on,
                                        .start = ask_first,
                                        .peer = 1,
                                        .count = QUESTIONS,
                                        .peers = at_once,
                                        .delay_ns = servers ? 300 * MS : 200 * MS}};
    const struct part servant = {plans, 2, 1, .durable = false, .serves = true, .mailbox_most = 64},
                      asker = {plans, 2, 2, .durable = false, .mailbox_most = 64};
    fresh();
    pid_t asked = begin(&servant), client = begin(&asker);
    unsigned kills = 0, waits = 0;
    for (unsigned answered = 0; kills < 3 && answered < QUESTIONS; answered = shared->answered) {
        sleep_ms(5);
        assert_true(++waits < 6000);
        if (answered <= (kills + 1) * QUESTIONS / 8)
            continue;
        if (servers) {
            nats_server_kill(&server);
            sleep_ms(100);
            assert_true(nats_server_start(&server));
        } else {
            kill_now(asked);
            sleep_ms(kills * 100);
            asked = begin(&servant);
        }
        kills++;
    }
    finish(client);
    kill_now(asked);
    printf("  %u kills: %u timeouts, %llu late, %llu lost\n", kills, shared->timeouts,
           (unsigned long long)shared->late, (unsigned long long)shared->lost);
    assert_int_equal(kills, 3);
    assert_int_equal(shared->answered, QUESTIONS);
    assert_int_equal(shared->wrong + shared->twice, 0);
    assert_true(servers || shared->timeouts > 0);
}

static void killed_and_started_again(void **state)
{
    (void)state;
    killed_on_the_way(false);
}

static void server_killed(void **state)
{
    (void)state;
    killed_on_the_way(true);
}

static void groups(void **state)
{
    (void)state;
    enum { QUESTIONS = 3000, MEMBERS = 3 };
    static const uint32_t at_once[] = {20};
    struct probe_plan plans[MEMBERS + 1] = {{.receive = answer},
                                            {.receive = answer},
                                            {.receive = answer},
                                            {.receive = ask_on,
                                             .start = ask_first,
                                             .peer = MEMBERS + 2,
                                             .count = QUESTIONS,
                                             .peers = at_once,
                                             .delay_ns = 300 * MS}};
    pid_t members[MEMBERS];
    fresh();
    for (uint32_t m = 0; m < MEMBERS; m++)
        members[m] = begin(&(struct part){plans, MEMBERS + 1, m + 1, .durable = false,
                                          .serves = true, .grouped = true});
    while (shared->ready < MEMBERS)
        sleep_ms(5);
    sleep_ms(100);
    pid_t client =
        begin(&(struct part){plans, MEMBERS + 1, MEMBERS + 1, .durable = false, .grouped = true});
    while (shared->answered < QUESTIONS / 2)
        sleep_ms(1);
    kill_now(members[1]);
    finish(client);
    kill_now(members[0]);
    kill_now(members[2]);
    assert_int_equal(shared->answered, QUESTIONS);
    assert_int_equal(shared->wrong + shared->twice, 0);
    printf("  a group of %d, one killed: %llu, %llu and %llu taken\n", MEMBERS,
           (unsigned long long)shared->by_server[1], (unsigned long long)shared->by_server[2],
           (unsigned long long)shared->by_server[3]);
    for (uint32_t m = 1; m <= MEMBERS; m++)
        assert_true(shared->by_server[m] > QUESTIONS / 20);
}

/* ---- what outlives a kill ---- */

/* An account: takes each deposit once, by its number, and keeps it before it answers. */
static void deposit(struct probe *probe, struct cleave_context *context,
                    const struct cleave_message *message)
{
    uint64_t body[2] = {0};
    if (message->length == sizeof body)
        memcpy(body, message->body, sizeof body);
    uint8_t *known = (uint8_t *)(uintptr_t)probe->last_of[0];
    uint64_t number = body[0] % IDS, square = body[0] * body[0];
    if (!known[number]) {
        known[number] = 1;
        probe->sum++;
        if (probe->sum % 1000 == 0) { /* now and then all of it, as a list */
            uint32_t *all = malloc(probe->sum * sizeof *all), count = 0;
            for (uint32_t i = 0; all && i < IDS; i++) {
                if (known[i])
                    all[count++] = i;
            }
            cleave__context_save(context, all, count * sizeof *all);
            free(all);
        } else {
            uint32_t one = (uint32_t)number;
            cleave__context_append(context, &one, sizeof one);
        }
    }
    cleave__context_answer(context, message->promise, 2, &square, sizeof square);
}

static void open_account(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                         size_t length)
{
    uint8_t *known = calloc(1, IDS);
    (void)context;
    probe->last_of[0] = (uintptr_t)known;
    for (size_t i = 0; known && i + 4 <= length; i += 4) {
        uint32_t number = cleave__load32(saved + i) % IDS;
        if (known[number])
            atomic_fetch_add(&shared->doubled, 1);
        known[number] = 1;
        probe->sum++;
    }
    /* Every deposit that somebody was told of is there. */
    for (uint32_t i = 0; known && i < IDS; i++) {
        if (shared->kept[i] && !known[i])
            atomic_fetch_add(&shared->missing, 1);
    }
    atomic_fetch_add(&shared->begun, 1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note_answer(struct probe *probe, struct cleave_context *context,
                        const struct cleave_message *message)
{
    if (message->sort == CLEAVE_REPLY) {
        uint64_t now = now_ns(), gap = probe->last_of[1] ? now - probe->last_of[1] : 0;
        probe->last_of[1] = now;
        if (gap > atomic_load(&shared->gap_ns))
            atomic_store(&shared->gap_ns, gap);
        atomic_store(&shared->kept[message->tag % IDS], 1);
    }
    ask_on(probe, context, message);
    if (atomic_load(&shared->stop))
        cleave__context_end(context);
}

enum { DEPOSITS = 20000 };
static const uint32_t deposits_at_once[] = {50};
static const struct probe_plan account_plans[] = {{.receive = deposit, .start = open_account},
                                                  {.receive = note_answer,
                                                   .start = ask_first,
                                                   .peer = 1,
                                                   .count = DEPOSITS,
                                                   .peers = deposits_at_once,
                                                   .delay_ns = 300000000}};
static const struct part account = {.plans = account_plans,
                                    .actors = 2,
                                    .own = 1,
                                    .durable = true,
                                    .serves = true},
                         depositor = {.plans = account_plans, .actors = 2, .own = 2};

/* Begun once more, to look at what is there. */
static void account_is_right(void)
{
    unsigned begun = shared->begun;
    pid_t last = begin(&account);
    for (int waits = 0; shared->begun == begun; sleep_ms(5))
        assert_true(++waits < 4000);
    kill_now(last);
    assert_true(shared->answered == DEPOSITS || shared->stop);
    assert_int_equal(shared->missing, 0);
    assert_int_equal(shared->doubled + shared->wrong, 0);
}

static void nothing_is_forgotten(void **state)
{
    (void)state;
    fresh();
    pid_t servant = begin(&account), client = begin(&depositor);
    unsigned kills = 0, waits = 0;
    for (unsigned answered = 0; kills < 6 && answered < DEPOSITS; answered = shared->answered) {
        sleep_ms(5);
        assert_true(++waits < 6000);
        if (answered <= (kills + 1) * DEPOSITS / 8)
            continue;
        if (kills++ % 3 == 2) {
            nats_server_kill(&server);
            assert_true(nats_server_start(&server));
        } else {
            kill_now(servant);
            servant = begin(&account);
        }
    }
    finish(client);
    kill_now(servant);
    assert_int_equal(kills, 6);
    account_is_right();
}

static void one_of_two_is_fenced(void **state)
{
    (void)state;
    fresh();
    pid_t old = begin(&account), client = begin(&depositor);
    for (int waits = 0; shared->answered < DEPOSITS / 4; sleep_ms(2))
        assert_true(++waits < 6000);
    pid_t new = begin(&account);
    int status;
    assert_int_equal(waitpid(old, &status, 0), old); /* ends by itself */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(shared->fenced, 1);
    finish(client);
    kill_now(new);
    account_is_right();
}

/* ---- a cluster whose servers die in turn ---- */

static void cluster_options(void)
{
    static const char *urls[3];
    static char prefix[60];
    static unsigned worlds;
    snprintf(prefix, sizeof prefix, "cluster.w%u", ++worlds);
    for (int n = 0; n < 3; n++)
        urls[n] = nodes[n].url;
    memset(shared, 0, sizeof *shared);
    world =
        (struct cleave_nats_options){.urls = urls, .url_count = 3, .prefix = prefix, .replicas = 3};
}

/* An account and who pays into it, four at once, until told to stop. */
static void begin_on_cluster(struct part *servant, pid_t *first, pid_t *second)
{
    static const uint32_t at_once[] = {4};
    static struct probe_plan plans[2];
    plans[0] = account_plans[0];
    plans[1] = account_plans[1];
    plans[1].count = IDS;
    plans[1].peers = at_once;
    struct part client = depositor;
    *servant = account;
    servant->plans = client.plans = plans;
    cluster_options();
    *first = begin(servant);
    *second = begin(&client);
}

static void wait_for_more(unsigned more)
{
    unsigned before = shared->answered;
    for (int waits = 0; shared->answered < before + more; sleep_ms(10))
        assert_true(++waits < 3000);
}

static void nodes_die_in_turn(void **state)
{
    struct part servant;
    pid_t first, second;
    (void)state;
    begin_on_cluster(&servant, &first, &second);
    for (int n = 0; n < 3; n++) { /* one of them leads the stream */
        wait_for_more(500);
        shared->gap_ns = 0;
        nats_server_kill(&nodes[n]);
        wait_for_more(500);
        printf("  server %d of 3 killed: %.2f s without an answer\n", n + 1,
               (double)shared->gap_ns / 1e9);
        assert_true(nats_server_start(&nodes[n]));
        sleep_ms(8000); /* it catches up */
    }
    atomic_store(&shared->stop, 1);
    finish(second);
    kill_now(first);
    printf("  %u deposits, %u timeouts\n", shared->answered, shared->timeouts);
    account_is_right();
}

/* Where writes go through a leader that compares first and writes later. */
static void one_of_two_is_fenced_on_a_cluster(void **state)
{
    enum { ROUNDS = 8 };
    struct part servant;
    pid_t now, client;
    (void)state;
    begin_on_cluster(&servant, &now, &client);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        int status;
        wait_for_more(200);
        pid_t next = begin(&servant);
        assert_int_equal(waitpid(now, &status, 0), now); /* ends by itself */
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_int_equal(shared->fenced, round);
        now = next;
    }
    atomic_store(&shared->stop, 1);
    finish(client);
    kill_now(now);
    account_is_right();
}

/* ---- compare-and-set where servers have replicas ---- */

enum { COUNTERS = 4, COUNTS = 40 };

static void *count_up(void *context)
{
    struct cleave_error error = {.message = ""};
    struct cleave__bucket *bucket = NULL;
    bool fine = !cleave__bucket_open(&world, "count", true, &bucket, &error);
    for (int i = 0; i < COUNTS && fine;) {
        struct cleave_writer value = {0};
        char text[24];
        uint64_t revision = 0, now;
        unsigned long long count = 0;
        enum cleave_status status = cleave__bucket_get(bucket, "count", &value, &revision, &error);
        if (!status)
            count = strtoull((char *)value.data, NULL, 10);
        snprintf(text, sizeof text, "%llu.", count + 1); /* ends a number without a zero byte */
        status = status == CLEAVE_NOT_FOUND
                     ? cleave__bucket_create(bucket, "count", text, strlen(text), &now, &error)
                 : status ? status
                          : cleave__bucket_update(bucket, "count", text, strlen(text), revision,
                                                  &now, &error);
        fine = !status || status == CLEAVE_CONFLICT;
        i += !status;
        free(value.data);
    }
    if (!fine)
        printf("  %s\n", error.message);
    cleave__bucket_close(bucket);
    *(bool *)context = fine;
    return NULL;
}

static void one_writer_wins(void **state)
{
    (void)state;
    pthread_t threads[COUNTERS];
    bool fine[COUNTERS];
    struct cleave__bucket *bucket = NULL;
    struct cleave_writer value = {0};
    struct cleave_error error;
    uint64_t revision;
    cluster_options();
    world.patience_ns = UINT64_C(30000000000); /* servers that have just begun have no leader */
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &fine[i]), 0);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNTERS; i++)
        assert_true(fine[i]);
    assert_int_equal(cleave__bucket_open(&world, "count", false, &bucket, &error), CLEAVE_OK);
    assert_int_equal(cleave__bucket_get(bucket, "count", &value, &revision, &error), CLEAVE_OK);
    assert_int_equal(strtoull((char *)value.data, NULL, 10), COUNTERS * COUNTS);
    cleave__bucket_close(bucket);
    free(value.data);
}

static int set_up_cluster(void **state)
{
    (void)state;
    char routes[200] = "";
    int ports[3];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int n = 0; n < 3; n++) {
        ports[n] = nats_server_free_port();
        size_t length = strlen(routes);
        snprintf(routes + length, sizeof routes - length, "%s\"nats://127.0.0.1:%d\"",
                 n ? ", " : "", ports[n]);
    }
    for (int n = 0; n < 3; n++) {
        snprintf(nodes[n].extra, sizeof nodes[n].extra,
                 "server_name: n%d\ncluster { name: test, listen: \"127.0.0.1:%d\", routes: [%s] }",
                 n, ports[n], routes);
        if (!nats_server_start(&nodes[n]))
            return -1;
    }
    return shared == MAP_FAILED ? -1 : 0;
}

static int tear_down_cluster(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++)
        nats_server_stop(&nodes[n]);
    return 0;
}

/* ---- around a ring ---- */

static void hand_on(struct probe *probe, struct cleave_context *context,
                    const struct cleave_message *message)
{
    uint64_t left = 0;
    if (message->length == sizeof left)
        memcpy(&left, message->body, sizeof left);
    probe->wrong += message->length != sizeof left;
    atomic_fetch_add(&shared->received, 1);
    if (left) {
        left--;
        cleave__context_send(context, probe->plan->peer, 1, &left, sizeof left);
    } else {
        cleave__context_request(context, probe->plan->count, 2, NULL, 0, 0, 0);
    }
}

/* Waits until all are there, then sends so many tokens; all of them must come to an end, each of
 * which asks this one. */
static void throw_in(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                     size_t length)
{
    uint64_t left = 1000;
    (void)saved, (void)length;
    for (int i = 0; i < 20; i++)
        cleave__context_send(context, probe->plan->peer, 1, &left, sizeof left);
}

static void count_ends(struct probe *probe, struct cleave_context *context,
                       const struct cleave_message *message)
{
    if (message->sort != CLEAVE_REQUEST) {
        hand_on(probe, context, message);
        return;
    }
    if (++probe->sum == 20)
        cleave__context_end(context);
}

static void around_a_ring(void **state)
{
    (void)state;
    enum { RING = 4 };
    struct probe_plan plans[RING];
    pid_t others[RING - 1];
    fresh();
    for (uint32_t a = 0; a < RING; a++)
        plans[a] =
            (struct probe_plan){.receive = hand_on, .peer = (a + 1) % RING + 1, .count = RING};
    plans[RING - 1].receive = count_ends;
    plans[RING - 1].start = throw_in;
    for (uint32_t a = 0; a < RING - 1; a++)
        others[a] = begin(&(struct part){plans, RING, a + 1, .durable = false, .serves = true,
                                         .mailbox_most = 7});
    while (shared->ready < RING - 1)
        sleep_ms(5);
    sleep_ms(100);
    finish(begin(
        &(struct part){plans, RING, RING, .durable = false, .serves = true, .mailbox_most = 7}));
    for (uint32_t a = 0; a < RING - 1; a++)
        kill_now(others[a]);
    assert_int_equal(shared->received, 20 * 1001);
    assert_int_equal(shared->lost, 0);
}

/* ---- in pieces ---- */

enum { LARGE = 5 << 20 };

static void send_large(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    (void)saved, (void)length;
    uint8_t *body = malloc(LARGE);
    for (uint32_t size = LARGE; size > 1000; size = size / 2 + 1) {
        for (uint32_t i = 0; body && i < size; i++)
            body[i] = (uint8_t)(i * 7 + (i >> 12) + size);
        cleave__context_request(context, probe->plan->peer, 1, body, size, 5000 * MS, size);
    }
    free(body);
}

static void echo(struct probe *probe, struct cleave_context *context,
                 const struct cleave_message *message)
{
    (void)probe;
    cleave__context_answer(context, message->promise, 2, message->body, message->length);
}

static void compare_large(struct probe *probe, struct cleave_context *context,
                          const struct cleave_message *message)
{
    (void)probe, (void)context;
    uint32_t size = (uint32_t)message->tag;
    bool good = message->sort == CLEAVE_REPLY && message->length == size;
    for (uint32_t i = 0; good && i < size; i++)
        good = message->body[i] == (uint8_t)(i * 7 + (i >> 12) + size);
    atomic_fetch_add(good ? &shared->answered : &shared->wrong, 1);
}

static void in_pieces(void **state)
{
    (void)state;
    const struct probe_plan plans[] = {{.receive = echo},
                                       {.receive = compare_large, .start = send_large, .peer = 1}};
    fresh();
    pid_t other =
        begin(&(struct part){plans, 2, 1, .durable = false, .serves = true, .mailbox_most = 3});
    while (shared->ready < 1)
        sleep_ms(5);
    sleep_ms(100);
    finish(begin(&(struct part){plans, 2, 2, .durable = false, .mailbox_most = 3}));
    kill_now(other);
    assert_int_equal(shared->wrong, 0);
    assert_int_equal(shared->answered, 13);
}

static int set_up(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED && nats_server_start(&server) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    nats_server_stop(&server);
    return 0;
}

/* "cluster": on three servers. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(answers_meet_timeouts),
        cmocka_unit_test(around_a_ring),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(groups),
        cmocka_unit_test(killed_and_started_again),
        cmocka_unit_test(server_killed),
        cmocka_unit_test(nothing_is_forgotten),
        cmocka_unit_test(one_of_two_is_fenced),
    };
    if (!nats_server_installed())
        return 0;
    /* What forks comes first: libnats does not bear it once it has threads. */
    const struct CMUnitTest cluster[] = {cmocka_unit_test(one_of_two_is_fenced_on_a_cluster),
                                         cmocka_unit_test(nodes_die_in_turn),
                                         cmocka_unit_test(one_writer_wins)};
    (void)argv;
    return argc > 1 ? cmocka_run_group_tests(cluster, set_up_cluster, tear_down_cluster)
                    : cmocka_run_group_tests(tests, set_up, tear_down);
}
