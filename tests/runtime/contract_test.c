/* What actors may rely on, on every transport: each test runs on all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe.h"

#define EACH(t)                                                                                    \
    for (const struct probe_transport *t = probe_transports;                                       \
         t < probe_transports + probe_transport_count; t++)

static uint64_t number_of(const struct cleave_message *message)
{
    uint64_t number = 0;
    assert_int_equal(message->length, sizeof number);
    memcpy(&number, message->body, sizeof number);
    return number;
}

/* ---- order and back-pressure ---- */

enum { SENDERS = 20, MESSAGES = 300 };

static void send_many(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                      size_t length)
{
    (void)saved, (void)length;
    for (uint64_t i = 1; i <= probe->plan->count; i++)
        cleave__context_send(context, probe->plan->peer, 7, &i, sizeof i);
}

static void receive_in_order(struct probe *probe, struct cleave_context *context,
                             const struct cleave_message *message)
{
    (void)context;
    uint64_t number = number_of(message);
    probe->wrong += number != probe->last_of[message->sender] + 1 || message->kind != 7;
    probe->last_of[message->sender] = number;
    probe->sum += number;
}

/* Through a chain of relays with tiny mailboxes: all arrive, in order, and none is over-full. */
static void relay(struct probe *probe, struct cleave_context *context,
                  const struct cleave_message *message)
{
    uint64_t number = number_of(message) * 64 + message->sender % 64;
    cleave__context_send(context, probe->plan->peer, 8, &number, sizeof number);
}

static void receive_relayed(struct probe *probe, struct cleave_context *context,
                            const struct cleave_message *message)
{
    (void)context;
    uint64_t number = number_of(message), sender = number % 64;
    probe->wrong += number / 64 != probe->last_of[sender] + 1 || message->kind != 8;
    probe->last_of[sender] = number / 64;
    probe->sum += number / 64;
}

static void order_and_pressure(void **state)
{
    (void)state;
    EACH(t)
    {
        static const uint32_t capacities[] = {1, 3, 1000};
        for (unsigned c = 0; c < 3; c++) {
            struct cleave_runtime *runtime = probe_runtime(
                t, (struct cleave_runtime_options){
                       .mailbox_most = capacities[c],
                       .batch = 8,
                       .nats.probe_ns = 6000000 /* so that probes meet turns of who asks */});
            struct probe_plan sink_plan = {.receive = receive_relayed},
                              direct_plan = {.receive = receive_in_order};
            uint32_t sink = probe_spawn(runtime, &sink_plan, NULL);
            uint32_t direct = probe_spawn(runtime, &direct_plan, NULL);
            struct probe_plan relay_plan = {.receive = relay, .peer = sink};
            uint32_t middle = probe_spawn(runtime, &relay_plan, NULL);
            struct probe_plan senders = {.start = send_many, .peer = middle, .count = MESSAGES},
                              straight = {.start = send_many, .peer = direct, .count = MESSAGES};
            for (int i = 0; i < SENDERS; i++)
                probe_spawn(runtime, i % 2 ? &senders : &straight, NULL);
            probe_run_well(runtime);
            uint64_t each = MESSAGES * (MESSAGES + 1) / 2 * (SENDERS / 2);
            assert_int_equal(probe_state(runtime, sink)->sum, each);
            assert_int_equal(probe_state(runtime, direct)->sum, each);
            assert_int_equal(probe_state(runtime, sink)->wrong, 0);
            assert_int_equal(probe_state(runtime, direct)->wrong, 0);
            const struct cleave_actor_stats *stats = cleave__runtime_stats(runtime, middle);
            assert_int_equal(stats->received, MESSAGES * SENDERS / 2);
            assert_int_equal(stats->sent, MESSAGES * SENDERS / 2);
            assert_int_equal(stats->bytes_received, stats->received * 8);
            assert_true(stats->queue_most <= capacities[c]);
            struct cleave_actor_stats sum = {0};
            assert_int_equal(cleave__runtime_sum(runtime, &sum, NULL), CLEAVE_OK);
            assert_int_equal(sum.sent, MESSAGES * SENDERS * 3 / 2);
            assert_int_equal(sum.received, sum.sent);
            assert_true(c == 2 || sum.parkings > 0);
            cleave__histogram_free(&sum.waiting_ns);
            cleave__histogram_free(&sum.answering_ns);
            cleave__runtime_free(runtime);
        }
    }
}

/* One turn long enough for the receiver to make room meanwhile: what is parked is not overtaken. */
static void one_long_turn(void **state)
{
    (void)state;
    EACH(t)
    {
        uint64_t count = t->ops == &cleave__threads ? 200000 : t->ops == &cleave__sim ? 500 : 3000;
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 2});
        struct probe_plan sink = {.receive = receive_in_order};
        struct probe_plan source = {.start = send_many, .count = (uint32_t)count};
        source.peer = probe_spawn(runtime, &sink, NULL);
        probe_spawn(runtime, &source, NULL);
        probe_run_well(runtime);
        assert_int_equal(probe_state(runtime, source.peer)->sum, count * (count + 1) / 2);
        assert_int_equal(probe_state(runtime, source.peer)->wrong, 0);
        cleave__runtime_free(runtime);
    }
}

static void posts_wait_outside(void **state)
{
    (void)state;
    EACH(t)
    {
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 2});
        struct probe_plan plan = {.receive = receive_in_order};
        uint32_t actor = probe_spawn(runtime, &plan, NULL);
        for (uint64_t round = 0, number = 0; round < 3; round++) {
            for (int i = 0; i < 50; i++) {
                number++;
                assert_int_equal(
                    cleave__runtime_post(runtime, actor, 7, &number, sizeof number, NULL), 0);
            }
            probe_run_well(runtime); /* and on from there */
            assert_int_equal(probe_state(runtime, actor)->sum, number * (number + 1) / 2);
        }
        assert_int_equal(probe_state(runtime, actor)->wrong, 0);
        cleave__runtime_free(runtime);
    }
}

/* ---- requests ---- */

static void ask_all(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                    size_t length)
{
    (void)saved, (void)length;
    for (uint64_t i = 0; i < probe->plan->count; i++)
        cleave__context_request(context, probe->plan->peer, 1, &i, sizeof i, probe->plan->delay_ns,
                                i * 3);
}

static void check_square(struct probe *probe, struct cleave_context *context,
                         const struct cleave_message *message)
{
    (void)context;
    if (message->sort == CLEAVE_TIMEOUT) {
        probe->sum += message->tag;
        return;
    }
    uint64_t i = message->tag / 3;
    probe->wrong +=
        message->sort != CLEAVE_REPLY || message->kind != 2 || number_of(message) != i * i;
    probe->sum += message->tag;
}

static void answer_square(struct probe *probe, struct cleave_context *context,
                          const struct cleave_message *message)
{
    (void)probe;
    uint64_t i = number_of(message), square = i * i;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put64(writer, square);
    cleave__context_answer(context, message->promise, 2, writer->data, writer->count);
}

/* Hands the question on, with where to answer. */
static void pass_on(struct probe *probe, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put32(writer, message->promise.requester);
    cleave__put64(writer, message->promise.correlation);
    cleave__put64(writer, number_of(message));
    cleave__context_send(context, probe->plan->peer, 3, writer->data, writer->count);
}

static void answer_passed(struct probe *probe, struct cleave_context *context,
                          const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_promise promise;
    promise.requester = cleave__get32(&reader);
    promise.correlation = cleave__get64(&reader);
    uint64_t i = cleave__get64(&reader), square = i * i;
    probe->wrong += reader.failed;
    cleave__context_answer(context, promise, 2, &square, sizeof square);
}

/* More questions than either mailbox holds, both ways at once: answers have places of their own. */
static void questions_both_ways(void **state)
{
    (void)state;
    EACH(t)
    {
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 4, .measure = true});
        struct probe_plan server = {.receive = answer_square};
        uint32_t servers[2] = {probe_spawn(runtime, &server, NULL),
                               probe_spawn(runtime, &server, NULL)};
        struct probe_plan passing = {.receive = answer_passed};
        uint32_t last = probe_spawn(runtime, &passing, NULL);
        struct probe_plan middle = {.receive = pass_on, .peer = last};
        uint32_t through = probe_spawn(runtime, &middle, NULL);
        struct probe_plan askers[3] = {
            {.receive = check_square, .start = ask_all, .peer = servers[0], .count = 500},
            {.receive = check_square,
             .start = ask_all,
             .peer = servers[1],
             .count = 500,
             .delay_ns = UINT64_C(3600000000000)},
            {.receive = check_square, .start = ask_all, .peer = through, .count = 500}};
        uint32_t asker[3];
        for (int i = 0; i < 3; i++)
            asker[i] = probe_spawn(runtime, &askers[i], NULL);
        probe_run_well(runtime); /* the hour's timeouts are cancelled, so it ends now */
        for (int i = 0; i < 3; i++) {
            assert_int_equal(probe_state(runtime, asker[i])->got[CLEAVE_REPLY], 500);
            assert_int_equal(probe_state(runtime, asker[i])->sum, 3 * 500 * 499 / 2);
            assert_int_equal(probe_state(runtime, asker[i])->wrong, 0);
            assert_int_equal(cleave__runtime_stats(runtime, asker[i])->answering_ns.count, 500);
        }
        cleave__runtime_free(runtime);
    }
}

static void keep_promise(struct probe *probe, struct cleave_context *context,
                         const struct cleave_message *message)
{
    if (message->sort == CLEAVE_REQUEST) {
        probe->promise = message->promise;
        cleave__context_timer(context, probe->plan->delay_ns, 0);
    } else {
        uint64_t zero = 0;
        cleave__context_answer(context, probe->promise, 2, &zero, sizeof zero);
    }
}

static void timeouts_and_late_answers(void **state)
{
    (void)state;
    EACH(t)
    {
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 4});
        struct probe_plan slow = {.receive = keep_promise, .delay_ns = 30000000};
        uint32_t server = probe_spawn(runtime, &slow, NULL);
        struct probe_plan silent = {.receive = NULL};
        uint32_t never = probe_spawn(runtime, &silent, NULL);
        struct probe_plan askers[2] = {{.receive = check_square,
                                        .start = ask_all,
                                        .peer = server,
                                        .count = 1,
                                        .delay_ns = 1000000},
                                       {.receive = check_square,
                                        .start = ask_all,
                                        .peer = never,
                                        .count = 9,
                                        .delay_ns = 1000000}};
        uint32_t asker[2] = {probe_spawn(runtime, &askers[0], NULL),
                             probe_spawn(runtime, &askers[1], NULL)};
        probe_run_well(runtime);
        assert_int_equal(probe_state(runtime, asker[0])->got[CLEAVE_TIMEOUT], 1);
        assert_int_equal(probe_state(runtime, asker[0])->got[CLEAVE_REPLY], 0);
        assert_int_equal(cleave__runtime_stats(runtime, asker[0])->late, 1);
        assert_int_equal(probe_state(runtime, asker[1])->got[CLEAVE_TIMEOUT], 9);
        assert_int_equal(probe_state(runtime, asker[1])->sum, 3 * 36);
        cleave__runtime_free(runtime);
    }
}

/* ---- timers, clock, random numbers, start ---- */

static void set_timers(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    assert_true(saved == NULL && length == 0);
    probe->digest = cleave__random_next(cleave__context_random(context));
    probe->promise.correlation = cleave__context_now_ns(context);
    cleave__context_timer(context, 6000000, 3);
    cleave__context_timer(context, 2000000, 1);
    uint64_t dropped = cleave__context_timer(context, 3000000, 9);
    cleave__context_timer(context, 4000000, 2);
    assert_true(cleave__context_cancel(context, dropped));
    assert_false(cleave__context_cancel(context, dropped));
    cleave__context_timer(context, UINT64_C(3600000000000), 99);
}

static void note_timer(struct probe *probe, struct cleave_context *context,
                       const struct cleave_message *message)
{
    uint64_t passed = cleave__context_now_ns(context) - probe->promise.correlation;
    probe->wrong += message->sort != CLEAVE_TIMER || message->tag != ++probe->sum ||
                    passed < message->tag * 2000000;
    if (message->tag == 3)
        cleave__context_end(context);
}

static void timers_and_end(void **state)
{
    (void)state;
    uint64_t digests[2] = {0, 0};
    EACH(t)
    {
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.seed = 5});
        struct probe_plan plan = {.receive = note_timer, .start = set_timers};
        uint32_t actors[2] = {probe_spawn(runtime, &plan, NULL), probe_spawn(runtime, &plan, NULL)};
        probe_run_well(runtime);
        struct probe *first = probe_state(runtime, actors[0]);
        assert_int_equal(first->wrong + probe_state(runtime, actors[1])->wrong, 0);
        assert_true(first->sum == 3 || probe_state(runtime, actors[1])->sum == 3);
        for (int i = 0; i < 2; i++) { /* the same streams on every transport, not on two actors */
            uint64_t digest = probe_state(runtime, actors[i])->digest;
            assert_true(t == probe_transports || digest == digests[i]);
            digests[i] = digest;
        }
        assert_true(digests[0] != digests[1]);
        cleave__runtime_free(runtime);
    }
}

static void bounded_by_the_clock(void **state)
{
    (void)state;
    EACH(t)
    {
        struct cleave_runtime *runtime = probe_runtime(t, (struct cleave_runtime_options){0});
        struct probe_plan silent = {.receive = NULL, .start = NULL};
        struct probe_plan plan = {.receive = check_square,
                                  .start = ask_all,
                                  .count = 1,
                                  .delay_ns = UINT64_C(3600000000000)};
        plan.peer = probe_spawn(runtime, &silent, NULL);
        uint32_t asker = probe_spawn(runtime, &plan, NULL);
        struct cleave_error error;
        uint64_t until = cleave__runtime_now_ns(runtime) + 5000000;
        assert_int_equal(cleave__runtime_run(runtime, until, NULL, &error), CLEAVE_OK);
        assert_true(cleave__runtime_now_ns(runtime) >= until);
        assert_int_equal(probe_state(runtime, asker)->got[CLEAVE_TIMEOUT], 0);
        volatile sig_atomic_t stop = 1;
        struct cleave_progress progress = {.stop = &stop};
        if (t->ops != &cleave__sim) { /* sim would find nothing to stop in one event */
            assert_int_equal(cleave__runtime_run(runtime, 0, &progress, &error),
                             CLEAVE_INTERRUPTED);
        }
        assert_true(cleave__runtime_check(runtime));
        cleave__runtime_free(runtime);
    }
}

static void end_now_and_then(struct probe *probe, struct cleave_context *context,
                             const struct cleave_message *message)
{
    receive_in_order(probe, context, message);
    if (probe->last_of[message->sender] % 50 == 0)
        cleave__context_end(context);
}

/* Ended in between, nothing is lost or doubled: the next run goes on from there. */
static void ends_and_goes_on(void **state)
{
    (void)state;
    EACH(t)
    {
        struct cleave_runtime *runtime =
            probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 7, .batch = 3});
        struct probe_plan sink = {.receive = end_now_and_then};
        struct probe_plan sources = {.start = send_many, .count = 400};
        sources.peer = probe_spawn(runtime, &sink, NULL);
        for (int i = 0; i < 3; i++)
            probe_spawn(runtime, &sources, NULL);
        unsigned runs = 0;
        const uint64_t all = 3 * (400 * 401 / 2);
        for (; probe_state(runtime, sources.peer)->sum < all && runs < 100; runs++)
            probe_run_well(runtime);
        assert_int_equal(probe_state(runtime, sources.peer)->sum, all);
        assert_int_equal(probe_state(runtime, sources.peer)->wrong, 0);
        assert_true(runs > 10);
        probe_run_well(runtime);
        cleave__runtime_free(runtime);
    }
}

/* ---- a ring of ten thousand ---- */

static void hand_on(struct probe *probe, struct cleave_context *context,
                    const struct cleave_message *message)
{
    uint64_t left = number_of(message);
    probe->sum++;
    if (left > 0) {
        left--;
        cleave__context_send(context, probe->plan->peer, 1, &left, sizeof left);
    }
}

static void ten_thousand(void **state)
{
    (void)state;
    enum { ACTORS = 10000, ROUNDS = 3 };
    struct probe_plan *plans = calloc(ACTORS, sizeof *plans);
    assert_non_null(plans);
    EACH(t)
    {
        struct cleave_runtime_options options = {0};
        probe_options(t, &options);
        struct cleave_runtime *runtime;
        assert_int_equal(cleave__runtime_new(&options, &runtime, NULL), CLEAVE_OK);
        for (uint32_t i = 0; i < ACTORS; i++) {
            plans[i] = (struct probe_plan){.receive = hand_on, .peer = (i + 1) % ACTORS + 1};
            assert_int_equal(probe_spawn(runtime, &plans[i], NULL), i + 1);
        }
        uint64_t left = ACTORS * ROUNDS - 1;
        assert_int_equal(cleave__runtime_post(runtime, 1, 1, &left, sizeof left, NULL), CLEAVE_OK);
        probe_run_well(runtime);
        for (uint32_t i = 1; i <= ACTORS; i++)
            assert_int_equal(probe_state(runtime, i)->sum, ROUNDS);
        cleave__runtime_free(runtime);
    }
    free(plans);
}

/* Thousands that wait for room in one small mailbox: each is woken when there is some, not all at
 * every turn (which took minutes). */
static void fan_in(void **state)
{
    (void)state;
    enum { SOURCES = 3000, EACH_SENDS = 20 };
    EACH(t)
    {
        struct cleave_runtime_options options = {.mailbox_most = 5};
        probe_options(t, &options);
        struct cleave_runtime *runtime;
        assert_int_equal(cleave__runtime_new(&options, &runtime, NULL), CLEAVE_OK);
        struct probe_plan sink = {.receive = NULL};
        struct probe_plan source = {.start = send_many, .count = EACH_SENDS};
        source.peer = probe_spawn(runtime, &sink, NULL);
        for (int i = 0; i < SOURCES; i++)
            probe_spawn(runtime, &source, NULL);
        probe_run_well(runtime);
        assert_int_equal(probe_state(runtime, source.peer)->got[CLEAVE_MESSAGE],
                         SOURCES * EACH_SENDS);
        cleave__runtime_free(runtime);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_pressure),
        cmocka_unit_test(one_long_turn),
        cmocka_unit_test(posts_wait_outside),
        cmocka_unit_test(questions_both_ways),
        cmocka_unit_test(timeouts_and_late_answers),
        cmocka_unit_test(timers_and_end),
        cmocka_unit_test(bounded_by_the_clock),
        cmocka_unit_test(ends_and_goes_on),
        cmocka_unit_test(ten_thousand),
        cmocka_unit_test(fan_in),
    };
    return cmocka_run_group_tests(tests, probe_setup, probe_teardown);
}
