/* What a message costs: between actors on the transports, beside a bare ring in the same run.
 *
 *   bench/runtime [threads]        (default 2)
 *
 * `ring`: one producer and one consumer in one thread pass 64-byte slots through a single-producer
 * single-consumer ring with acquire and release, 256 at a time: no actors, no checks, the least
 * that passing a message can cost; ratios are to it. Also between two threads. `batches`: pairs of
 * actors, the first sends 256 messages of 8 bytes a turn, as many pairs as threads. `one by one`: a
 * token of 8 bytes goes between two actors. `ring of 10,000`: tokens go around ten thousand actors.
 * `sim`: the same in virtual time, and events (arrivals, ends of service, timers) with delays and
 * service times. Rates are of one thread; every number of messages is checked at the end. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/runtime.h"

struct plan {
    uint32_t peer;
    uint32_t batch;
};

struct state {
    const struct plan *plan;
    uint64_t received;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(enum cleave_status status, const struct cleave_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory");
    state->plan = argument;
    *self = state;
    return CLEAVE_OK;
}

/* The body is how many messages are still to come. */
static uint64_t left_of(const struct cleave_message *message)
{
    uint64_t left;
    memcpy(&left, message->body, sizeof left);
    return left;
}

static void sink(void *self, struct cleave_context *context, const struct cleave_message *message)
{
    (void)context, (void)message;
    ((struct state *)self)->received++;
}

static void source(void *self, struct cleave_context *context, const struct cleave_message *message)
{
    const struct plan *plan = ((struct state *)self)->plan;
    uint64_t left = left_of(message);
    for (uint32_t i = 0; i < plan->batch && left; i++, left--)
        cleave__context_send(context, plan->peer, 1, &left, sizeof left);
    if (left)
        cleave__context_send(context, cleave__context_self(context), 1, &left, sizeof left);
}

static void hand_on(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct state *state = self;
    uint64_t left = left_of(message);
    state->received++;
    if (left--)
        cleave__context_send(context, state->plan->peer, 1, &left, sizeof left);
}

static const struct cleave_actor_ops sink_ops = {"sink", create, free, sink, NULL};
static const struct cleave_actor_ops source_ops = {"source", create, free, source, NULL};
static const struct cleave_actor_ops hand_on_ops = {"relay", create, free, hand_on, NULL};

/* ---- the bare ring ---- */

enum { RING = 1024, BURST = 256 };

struct slot {
    uint64_t words[8];
};
struct ring {
    _Alignas(128) atomic_size_t head;
    _Alignas(128) atomic_size_t tail;
    _Alignas(128) struct slot slots[RING];
};

static void bad_ring(void)
{
    fputs("the ring lost messages\n", stderr);
    exit(1);
}

static struct ring between; /* two threads */

static void *produce(void *argument)
{
    uint64_t messages = *(const uint64_t *)argument;
    for (uint64_t sent = 0; sent < messages;) {
        size_t tail = atomic_load_explicit(&between.tail, memory_order_relaxed);
        size_t free = RING - (tail - atomic_load_explicit(&between.head, memory_order_acquire));
        if (free == 0)
            sched_yield();
        for (; free && sent < messages; free--, sent++)
            between.slots[tail++ % RING] = (struct slot){{sent}};
        atomic_store_explicit(&between.tail, tail, memory_order_release);
    }
    return NULL;
}

static double run_ring_between(uint64_t messages)
{
    uint64_t sum = 0;
    pthread_t thread;
    double start = now_s();
    if (pthread_create(&thread, NULL, produce, &messages))
        exit(1);
    for (uint64_t got = 0; got < messages;) {
        size_t head = atomic_load_explicit(&between.head, memory_order_relaxed);
        size_t there = atomic_load_explicit(&between.tail, memory_order_acquire) - head;
        if (there == 0)
            sched_yield();
        for (; there; there--, got++)
            sum += between.slots[head++ % RING].words[0];
        atomic_store_explicit(&between.head, head, memory_order_release);
    }
    double took = now_s() - start;
    pthread_join(thread, NULL);
    if (sum != messages * (messages - 1) / 2)
        bad_ring();
    return (double)messages / took;
}

static double run_ring(uint64_t messages)
{
    static struct ring ring;
    uint64_t sum = 0;
    double start = now_s();
    for (uint64_t sent = 0; sent < messages;) {
        for (int i = 0; i < BURST && sent < messages; i++, sent++) {
            size_t tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);
            if (tail - atomic_load_explicit(&ring.head, memory_order_acquire) == RING)
                break;
            struct slot slot = {{sent}};
            ring.slots[tail % RING] = slot;
            atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);
        }
        for (int i = 0; i < BURST; i++) {
            size_t head = atomic_load_explicit(&ring.head, memory_order_relaxed);
            if (atomic_load_explicit(&ring.tail, memory_order_acquire) == head)
                break;
            struct slot slot;
            memcpy(&slot, &ring.slots[head % RING], sizeof slot);
            sum += slot.words[0];
            atomic_store_explicit(&ring.head, head + 1, memory_order_release);
        }
    }
    double took = now_s() - start;
    if (sum != messages * (messages - 1) / 2)
        bad_ring();
    return (double)messages / took;
}

/* ---- actors ---- */

static double bare;

static void tell(const char *what, double per_s, const char *of, unsigned threads)
{
    printf("%-44s %7.2f M %s/s a core  %5.1f x the ring\n", what, per_s / threads / 1e6, of,
           bare / (per_s / threads));
    fflush(stdout);
}

static struct cleave_runtime *make(const struct cleave_runtime_options *options)
{
    struct cleave_runtime *runtime;
    struct cleave_error error;
    must(cleave__runtime_new(options, &runtime, &error), &error);
    return runtime;
}

static double run(struct cleave_runtime *runtime)
{
    struct cleave_error error;
    double start = now_s();
    must(cleave__runtime_run(runtime, 0, NULL, &error), &error);
    return now_s() - start;
}

static uint32_t spawn(struct cleave_runtime *runtime, const struct cleave_actor_ops *ops,
                      const struct plan *plan, const struct cleave_spawn_options *options)
{
    uint32_t actor;
    struct cleave_error error;
    must(cleave__runtime_spawn(runtime, ops, plan, options, &actor, &error), &error);
    return actor;
}

static void post(struct cleave_runtime *runtime, uint32_t actor, uint64_t left)
{
    struct cleave_error error;
    must(cleave__runtime_post(runtime, actor, 1, &left, sizeof left, &error), &error);
}

static void expect(struct cleave_runtime *runtime, uint64_t wanted)
{
    struct cleave_actor_stats sum = {0};
    struct cleave_error error;
    must(cleave__runtime_sum(runtime, &sum, &error), &error);
    if (sum.received != wanted || sum.sent != wanted) {
        fprintf(stderr, "%llu sent, %llu received, %llu expected\n", (unsigned long long)sum.sent,
                (unsigned long long)sum.received, (unsigned long long)wanted);
        exit(1);
    }
    cleave__histogram_free(&sum.waiting_ns);
    cleave__histogram_free(&sum.answering_ns);
    cleave__runtime_free(runtime);
}

static void batches(const struct cleave_runtime_options *options, const char *what, uint32_t pairs,
                    uint64_t messages)
{
    struct cleave_runtime *runtime = make(options);
    struct plan plans[64];
    for (uint32_t p = 0; p < pairs; p++) {
        plans[p] = (struct plan){spawn(runtime, &sink_ops, NULL, NULL), BURST};
        post(runtime, spawn(runtime, &source_ops, &plans[p], NULL), messages);
    }
    double took = run(runtime);
    tell(what, (double)(messages * pairs) / took, "messages", options->threads);
    expect(runtime, pairs * (messages + (messages + BURST - 1) / BURST));
}

static void one_by_one(const struct cleave_runtime_options *options, const char *what,
                       uint32_t actors, uint32_t tokens, uint64_t messages)
{
    struct cleave_runtime *runtime = make(options);
    struct plan *plans = calloc(actors, sizeof *plans);
    if (!plans)
        exit(1);
    for (uint32_t a = 0; a < actors; a++) {
        plans[a].peer = (a + 1) % actors + 1;
        spawn(runtime, &hand_on_ops, &plans[a], NULL);
    }
    for (uint32_t t = 0; t < tokens; t++)
        post(runtime, 1 + (uint32_t)((uint64_t)actors * t / tokens), messages / tokens - 1);
    double took = run(runtime);
    tell(what, (double)messages / took, "messages", tokens == 1 ? 1 : options->threads);
    expect(runtime, messages / tokens * tokens);
    free(plans);
}

/* Tokens among actors that take time, with delays: an arrival and an end of service a message. */
static void sim_events(void)
{
    enum { ACTORS = 1000, TOKENS = 4000 };
    static const uint64_t messages = 2000000;
    struct cleave_runtime_options options = {
        .transport = &cleave__sim, .seed = 1, .threads = 1, .mailbox_most = TOKENS};
    struct cleave_error error;
    must(cleave__distribution_parse("uniform:1us,2ms", &options.sim.local, &error), &error);
    struct cleave_spawn_options spawned = {0};
    must(cleave__distribution_parse("uniform:1us,20us", &spawned.service, &error), &error);
    struct cleave_runtime *runtime = make(&options);
    static struct plan plans[ACTORS];
    for (uint32_t a = 0; a < ACTORS; a++) {
        plans[a].peer = (a + 1) % ACTORS + 1;
        spawn(runtime, &hand_on_ops, &plans[a], &spawned);
    }
    for (uint32_t t = 0; t < TOKENS; t++)
        post(runtime, 1 + t % ACTORS, messages / TOKENS - 1);
    double took = run(runtime);
    tell("sim, 1,000 actors, delays and service", 2 * (double)messages / took, "events", 1);
    expect(runtime, messages);
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    if (threads < 1 || threads > 64) {
        fputs("usage: runtime [threads, 1 to 64]\n", stderr);
        return 2;
    }
    struct cleave_runtime_options one = {.transport = &cleave__threads, .threads = 1},
                                  many = {.transport = &cleave__threads, .threads = threads},
                                  sim = {.transport = &cleave__sim, .threads = 1},
                                  checked = {.transport = &cleave__threads, .threads = 1};
    checked.checksums = true;
    run_ring(10000000);
    bare = run_ring(50000000);
    tell("bare ring, batches of 256", bare, "messages", 1);
    tell("bare ring between two threads", run_ring_between(20000000), "messages", 2);
    batches(&one, "threads (1), batches of 256", 1, 10000000);
    char what[80];
    snprintf(what, sizeof what, "threads (%u), batches of 256, a pair each", threads);
    batches(&many, what, threads, 10000000);
    batches(&checked, "threads (1), batches of 256, checksums", 1, 10000000);
    one_by_one(&one, "threads (1), one by one", 2, 1, 3000000);
    one_by_one(&many, "threads, one by one", 2, 1, 3000000);
    one_by_one(&one, "threads (1), ring of 10,000, 1,000 tokens", 10000, 1000, 3000000);
    one_by_one(&many, "threads, ring of 10,000, 1,000 tokens", 10000, 1000, 3000000);
    batches(&sim, "sim, batches of 256 (an event a message)", 1, 3000000);
    one_by_one(&sim, "sim, one by one", 2, 1, 3000000);
    one_by_one(&sim, "sim, ring of 10,000, 1,000 tokens", 10000, 1000, 3000000);
    sim_events();
    return 0;
}
