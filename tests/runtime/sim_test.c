/* What only virtual time promises: exact times of service, queues and links; delays that keep each
 * channel in order; faults on demand, as planned; and that a seed repeats a run to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { MS = 1000000 };

static struct cleave_runtime *make(struct cleave_runtime_options options)
{
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    options.transport = &cleave__sim;
    options.sim.check_always = true;
    if (cleave__runtime_new(&options, &runtime, &error))
        fail_msg("%s", error.message);
    return runtime;
}

static struct cleave_distribution constant(uint64_t ns)
{
    return (struct cleave_distribution){.kind = CLEAVE_CONSTANT, .low_ns = ns};
}

/* ---- exact times ---- */

/* When the last message was received, and when each of the first ones. */
static void note_time(struct probe *probe, struct cleave_context *context,
                      const struct cleave_message *message)
{
    (void)message;
    uint64_t n = probe->got[CLEAVE_MESSAGE] - 1;
    probe->sum = cleave__context_now_ns(context);
    if (n < 64)
        probe->last_of[n] = probe->sum;
}

static void send_sized(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    static const uint8_t body[960];
    (void)saved, (void)length;
    for (uint32_t i = 0; i < probe->plan->count; i++)
        cleave__context_send(context, probe->plan->peer, 1, body, sizeof body);
}

static void service_and_queues(void **state)
{
    (void)state;
    struct cleave_host nodes[2] = {{.servers = 2}, {0}};
    struct cleave_runtime *runtime =
        make((struct cleave_runtime_options){.sim = {.nodes = nodes, .node_count = 2}});
    struct probe_plan sink = {.receive = note_time};
    /* Three actors share two processors; each message takes 2 ms and 1 us for each of 960 bytes. */
    struct cleave_spawn_options on = {.service = constant(2 * MS), .service_per_byte_ps = 1000000};
    uint32_t actors[3];
    struct probe_plan sources[3];
    for (int i = 0; i < 3; i++)
        actors[i] = probe_spawn(runtime, &sink, &on);
    for (int i = 0; i < 3; i++) {
        sources[i] = (struct probe_plan){.start = send_sized, .peer = actors[i], .count = 4};
        probe_spawn(runtime, &sources[i], &(struct cleave_spawn_options){.node = 1});
    }
    probe_run_well(runtime);
    /* 12 services of 2.96 ms on two processors. */
    assert_int_equal(cleave__runtime_now_ns(runtime), 6 * (2 * MS + 960000));
    uint64_t busy = 0;
    for (int i = 0; i < 3; i++)
        busy += cleave__runtime_stats(runtime, actors[i])->busy_ns;
    assert_int_equal(busy, 12 * (2 * MS + 960000));
    const struct cleave_actor_stats *first = cleave__runtime_stats(runtime, actors[0]);
    assert_int_equal(first->waiting_ns.low, 0);
    assert_int_equal(first->queue_most, 3); /* the first one is taken up at once */
    cleave__runtime_free(runtime);
}

static void links_and_delays(void **state)
{
    (void)state;
    /* A message of 1,000 bytes takes 1 ms on this link. */
    struct cleave_host nodes[2] = {{.bytes_per_s = 1000000}, {0}};
    struct cleave_sim_options sim = {
        .nodes = nodes, .node_count = 2, .remote = constant(5 * MS), .local = constant(MS / 2)};
    struct cleave_runtime *runtime = make((struct cleave_runtime_options){.sim = sim});
    struct probe_plan sink = {.receive = note_time};
    uint32_t there = probe_spawn(runtime, &sink, &(struct cleave_spawn_options){.node = 1});
    uint32_t here = probe_spawn(runtime, &sink, NULL);
    struct probe_plan far = {.start = send_sized, .peer = there, .count = 4},
                      near = {.start = send_sized, .peer = here, .count = 2};
    probe_spawn(runtime, &far, NULL);
    probe_spawn(runtime, &near, NULL);
    probe_run_well(runtime);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(probe_state(runtime, there)->last_of[i], (i + 1 + 5) * MS);
    assert_int_equal(probe_state(runtime, here)->sum, MS / 2);
    cleave__runtime_free(runtime);
}

static void spend_then_send(struct probe *probe, struct cleave_context *context,
                            const struct cleave_message *message)
{
    (void)message;
    cleave__context_spend(context, 3 * MS);
    cleave__context_send(context, probe->plan->peer, 1, NULL, 0);
}

static void work_asked_for(void **state)
{
    (void)state;
    struct cleave_runtime *runtime = make((struct cleave_runtime_options){0});
    struct probe_plan sink = {.receive = note_time};
    struct probe_plan busy = {.receive = spend_then_send,
                              .peer = probe_spawn(runtime, &sink, NULL)};
    uint32_t worker = probe_spawn(runtime, &busy, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cleave__runtime_post(runtime, worker, 1, NULL, 0, NULL), CLEAVE_OK);
    probe_run_well(runtime);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(probe_state(runtime, busy.peer)->last_of[i], (i + 1) * 3 * MS);
    assert_int_equal(cleave__runtime_stats(runtime, worker)->busy_ns, 9 * MS);
    cleave__runtime_free(runtime);
}

/* ---- faults ---- */

static void count_and_save(struct probe *probe, struct cleave_context *context,
                           const struct cleave_message *message)
{
    if (message->sort == CLEAVE_TIMER)
        return;
    probe->sum++;
    if (probe->plan->count)
        cleave__context_save(context, &probe->sum, sizeof probe->sum);
    if (message->sort == CLEAVE_REQUEST)
        cleave__context_answer(context, message->promise, 1, &probe->sum, sizeof probe->sum);
}

static void load_saved(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    (void)context;
    if (length == sizeof probe->sum)
        memcpy(&probe->sum, saved, length);
    probe->digest++;
}

/* A message every millisecond for 20 ms, as request with a timeout if the plan has a delay. */
static void tick(struct probe *probe, struct cleave_context *context,
                 const struct cleave_message *message)
{
    if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT)
        return;
    if (probe->plan->delay_ns)
        cleave__context_request(context, probe->plan->peer, 1, NULL, 0, probe->plan->delay_ns, 0);
    else
        cleave__context_send(context, probe->plan->peer, 1, NULL, 0);
    if (++probe->sum < 20)
        cleave__context_timer(context, MS, 0);
}

static void tick_first(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    (void)probe, (void)saved, (void)length;
    cleave__context_timer(context, MS, 0);
}

struct ticking {
    struct cleave_runtime *runtime;
    struct probe_plan server, client;
    uint32_t at, from;
};

static void start_ticking(struct ticking *ticking, const struct cleave_fault *faults, size_t count,
                          bool saves, uint64_t timeout_ns)
{
    struct cleave_sim_options sim = {
        .remote = constant(MS / 10), .faults = faults, .fault_count = count};
    ticking->runtime = make((struct cleave_runtime_options){.sim = sim, .mailbox_most = 50});
    ticking->server =
        (struct probe_plan){.receive = count_and_save, .start = load_saved, .count = saves};
    ticking->at = probe_spawn(ticking->runtime, &ticking->server, NULL);
    ticking->client = (struct probe_plan){
        .receive = tick, .start = tick_first, .peer = ticking->at, .delay_ns = timeout_ns};
    ticking->from =
        probe_spawn(ticking->runtime, &ticking->client, &(struct cleave_spawn_options){.node = 1});
}

static void crash_and_restart(void **state)
{
    (void)state;
    /* Down from 5.5 ms to 8.5: messages 6, 7 and 8 are lost. */
    struct cleave_fault crash = {
        .kind = CLEAVE_FAULT_CRASH, .at_ns = 55 * MS / 10, .for_ns = 3 * MS, .actor = 1};
    struct ticking t;
    start_ticking(&t, &crash, 1, false, 0);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 20 - 8); /* began anew */
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->lost, 3);
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->crashes, 1);
    cleave__runtime_free(t.runtime);

    start_ticking(&t, &crash, 1, true, 0);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 20 - 3); /* went on from what it saved */
    cleave__runtime_free(t.runtime);

    /* The requests of these three time out; the others have their answers. */
    start_ticking(&t, &crash, 1, true, 2 * MS);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.from)->got[CLEAVE_TIMEOUT], 3);
    assert_int_equal(probe_state(t.runtime, t.from)->got[CLEAVE_REPLY], 17);
    cleave__runtime_free(t.runtime);

    /* Without a restart the rest is lost; by node instead of actor. */
    crash = (struct cleave_fault){.kind = CLEAVE_FAULT_CRASH,
                                  .at_ns = 55 * MS / 10,
                                  .for_ns = UINT64_MAX,
                                  .first_node = 0,
                                  .node_count = 1};
    start_ticking(&t, &crash, 1, true, 0);
    probe_run_well(t.runtime);
    assert_null(probe_state(t.runtime, t.at));
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->lost, 15);
    cleave__runtime_free(t.runtime);

    /* The asker crashes and comes back: answers to its earlier life are late, its timer is gone. */
    crash = (struct cleave_fault){
        .kind = CLEAVE_FAULT_CRASH, .at_ns = 5 * MS + 150000, .for_ns = MS / 100, .actor = 2};
    start_ticking(&t, &crash, 1, true, UINT64_MAX);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 5 + 20);
    assert_int_equal(probe_state(t.runtime, t.from)->got[CLEAVE_REPLY], 20);
    assert_int_equal(cleave__runtime_stats(t.runtime, t.from)->late, 1);
    cleave__runtime_free(t.runtime);
}

static void partitions_and_slowness(void **state)
{
    (void)state;
    struct cleave_fault fault = {.kind = CLEAVE_FAULT_LOSE,
                                 .at_ns = 55 * MS / 10,
                                 .for_ns = 3 * MS,
                                 .first_node = 1,
                                 .node_count = 5};
    struct ticking t;
    start_ticking(&t, &fault, 1, false, 0);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 17);
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->lost, 3);
    cleave__runtime_free(t.runtime);

    fault.kind = CLEAVE_FAULT_HOLD;
    start_ticking(&t, &fault, 1, false, 0);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 20);
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->waiting_ns.high,
                     25 * MS / 10 + MS / 10);
    cleave__runtime_free(t.runtime);

    fault.kind = CLEAVE_FAULT_SLOW;
    fault.extra_ns = MS;
    start_ticking(&t, &fault, 1, false, 0);
    probe_run_well(t.runtime);
    assert_int_equal(probe_state(t.runtime, t.at)->sum, 20);
    assert_int_equal(cleave__runtime_stats(t.runtime, t.at)->waiting_ns.high, 11 * MS / 10);
    cleave__runtime_free(t.runtime);

    /* Messages held for ever make no sense. */
    fault = (struct cleave_fault){.kind = CLEAVE_FAULT_HOLD, .at_ns = 1, .for_ns = UINT64_MAX};
    struct cleave_runtime_options options = {.transport = &cleave__sim};
    options.sim.faults = &fault;
    options.sim.fault_count = 1;
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__runtime_new(&options, &runtime, &error), CLEAVE_BAD_ARGUMENT);
    assert_null(runtime);
}

/* ---- random worlds ---- */

enum { NODES = 4, ACTORS = 9, FAULTS = 6 };

struct tape { /* a digest of the encoded trace, and how long it was */
    uint64_t digest, events;
    uint64_t last[ACTORS + 1][ACTORS + 1]; /* sequence numbers that arrived */
    bool in_order;
    uint64_t parkings;
};

static void record(void *context, const struct cleave_trace_event *event)
{
    struct tape *tape = context;
    uint8_t bytes[CLEAVE_TRACE_EVENT_BYTES];
    cleave__trace_encode(event, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        tape->digest = (tape->digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    tape->events++;
    if (event->what == CLEAVE_TRACE_ARRIVED && event->sequence) { /* 0: a timer */
        uint64_t *last = &tape->last[event->sender][event->actor];
        if (event->sequence <= *last)
            tape->in_order = false;
        *last = event->sequence;
    }
}

/* Asks, sends on, sets timers and saves as its random numbers have it, while it has hops left. */
static void wander(struct probe *probe, struct cleave_context *context,
                   const struct cleave_message *message)
{
    struct cleave_random *random = cleave__context_random(context);
    uint64_t hops = message->length == 8              ? cleave__load64(message->body)
                    : message->sort == CLEAVE_MESSAGE ? probe->plan->count
                                                      : message->tag;
    if (message->sort == CLEAVE_REQUEST)
        cleave__context_answer(context, message->promise, 2, NULL, 0);
    if (hops == 0 || message->sort == CLEAVE_REQUEST)
        return;
    hops--;
    uint32_t to = 1 + (uint32_t)cleave__random_below(random, ACTORS);
    uint64_t what = cleave__random_below(random, 6);
    cleave__context_spend(context, cleave__random_below(random, MS / 4));
    uint8_t body[8];
    cleave__store64(body, hops);
    if (what == 0)
        cleave__context_save(context, body, sizeof body);
    if (what <= 1)
        cleave__context_timer(context, cleave__random_below(random, 2 * MS), hops);
    else if (what <= 3)
        cleave__context_request(context, to, 1, body, sizeof body, 5 * MS, hops);
    else
        cleave__context_send(context, to, 1, body, sizeof body);
}

static struct tape play(uint64_t seed, enum cleave_plant plant, enum cleave_status *status,
                        struct cleave_error *error)
{
    struct tape tape = {.in_order = true};
    struct cleave_fault faults[FAULTS];
    cleave__faults_draw(seed, 0, 40 * MS, NODES, faults, FAULTS);
    struct cleave_host nodes[NODES] = {{1, 0}, {2, 20000000}, {0, 0}, {0, 1000000}};
    struct cleave_runtime_options options = {.transport = &cleave__sim,
                                             .seed = seed,
                                             .mailbox_most = seed % 3 ? 40 : 2,
                                             .plant = plant,
                                             .plant_at = 100};
    options.sim = (struct cleave_sim_options){.nodes = nodes,
                                              .node_count = NODES,
                                              .faults = faults,
                                              .fault_count = FAULTS,
                                              .trace = record,
                                              .trace_context = &tape,
                                              .check_always = plant == CLEAVE_PLANT_NOTHING};
    options.sim.local = (struct cleave_distribution){.kind = CLEAVE_UNIFORM, .high_ns = MS / 20};
    options.sim.remote = (struct cleave_distribution){
        .kind = seed % 2 ? CLEAVE_LOGNORMAL : CLEAVE_PARETO, .low_ns = MS / 5, .shape = 1.5};
    struct cleave_runtime *runtime = NULL;
    *status = cleave__runtime_new(&options, &runtime, error);
    struct probe_plan plan = {.receive = wander, .count = 60};
    struct cleave_spawn_options on = {.service = {.kind = CLEAVE_UNIFORM, .high_ns = MS / 10}};
    for (uint32_t a = 0; a < ACTORS && !*status; a++) {
        uint32_t actor;
        on.node = a % NODES;
        *status = cleave__runtime_spawn(runtime, &probe_ops, &plan, &on, &actor, error);
    }
    for (uint32_t a = 1; a <= ACTORS && !*status; a++)
        *status = cleave__runtime_post(runtime, a, 1, NULL, 0, error);
    if (!*status)
        *status = cleave__runtime_run(runtime, 0, NULL, error);
    if (!*status)
        tape.digest ^= cleave__runtime_digest(runtime);
    for (uint32_t a = 1; a <= ACTORS && !*status; a++)
        tape.parkings += cleave__runtime_stats(runtime, a)->parkings;
    cleave__runtime_free(runtime);
    return tape;
}

/* How the random runs ended. With mailboxes of two, some get stuck, rightly. */
struct ends {
    unsigned well, pressed, stuck;
};

static bool repeats(struct property_source *source, void *context)
{
    struct ends *ends = context;
    uint64_t seed = property_draw(source, UINT64_C(1) << 40);
    enum cleave_status status[3];
    struct cleave_error error;
    struct tape first = play(seed, CLEAVE_PLANT_NOTHING, &status[0], &error);
    ends->well += !status[0];
    ends->pressed += !status[0] && first.parkings > 0;
    if (status[0] == CLEAVE_CORRUPT && strncmp(error.message, "stuck: ", 7) == 0) {
        ends->stuck++;
    } else if (status[0]) {
        printf("  seed %llu: %s\n", (unsigned long long)seed, error.message);
        return false;
    }
    struct tape second = play(seed, CLEAVE_PLANT_NOTHING, &status[1], &error),
                other = play(seed + 1, CLEAVE_PLANT_NOTHING, &status[2], &error);
    if (source->verbose)
        printf("  seed %llu: %llu events, %llu again, digests %#llx %#llx %#llx, order %d\n",
               (unsigned long long)seed, (unsigned long long)first.events,
               (unsigned long long)second.events, (unsigned long long)first.digest,
               (unsigned long long)second.digest, (unsigned long long)other.digest, first.in_order);
    return status[1] == status[0] && first.in_order && first.events > 0 &&
           first.digest == second.digest && first.events == second.events &&
           (status[2] || other.digest != first.digest);
}

static void seeds_repeat(void **state)
{
    (void)state;
    struct ends ends = {0};
    assert_true(property_run("sim repeats", repeats, &ends, 150));
    if (ends.well < 80 || ends.pressed < 5)
        fail_msg("%u ended well, %u of them met full mailboxes, %u stuck", ends.well, ends.pressed,
                 ends.stuck);
}

/* The error tells the seed; with it the same failure comes at the same time. */
static void failures_repeat(void **state)
{
    (void)state;
    struct cleave_error first = {.message = ""}, second = {.message = ""};
    enum cleave_status status;
    struct tape a = play(77, CLEAVE_PLANT_LOSE, &status, &first);
    assert_int_equal(status, CLEAVE_CORRUPT);
    assert_non_null(strstr(first.message, "seed 77)"));
    struct tape b = play(77, CLEAVE_PLANT_LOSE, &status, &second);
    assert_string_equal(first.message, second.message);
    assert_true(a.digest == b.digest && a.events == b.events);
}

/* The same on every machine and with every compiler. */
static void runs_are_pinned(void **state)
{
    (void)state;
    struct cleave_error error = {.message = ""};
    enum cleave_status status;
    struct tape tape = play(1, CLEAVE_PLANT_NOTHING, &status, &error);
    assert_int_equal(status, CLEAVE_OK);
    if (tape.events != 1514 || tape.digest != UINT64_C(0xe4c3ee0c634b21d0))
        fail_msg("%llu events, digest %#llx", (unsigned long long)tape.events,
                 (unsigned long long)tape.digest);
}

static bool try_play(void *context)
{
    (void)context;
    enum cleave_status status;
    struct cleave_error error;
    play(3, CLEAVE_PLANT_LOSE, &status, &error); /* ends early: every allocation is tried */
    return status == CLEAVE_CORRUPT || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_true(failalloc_run("sim", try_play, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_and_queues),      cmocka_unit_test(links_and_delays),
        cmocka_unit_test(work_asked_for),          cmocka_unit_test(crash_and_restart),
        cmocka_unit_test(partitions_and_slowness), cmocka_unit_test(seeds_repeat),
        cmocka_unit_test(failures_repeat),         cmocka_unit_test(runs_are_pinned),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
