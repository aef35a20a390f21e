/* The runtime's own checks, each shown to see: messages lost, doubled, altered; over-full
 * mailboxes; actors stuck in a cycle; requests never answered, or twice; misuse. On every
 * transport. Without the planted bug the same program ends well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe.h"
#include "support/failalloc.h"

#define EACH(t)                                                                                    \
    for (const struct probe_transport *t = probe_transports;                                       \
         t < probe_transports + probe_transport_count; t++)

static void expect(struct cleave_runtime *runtime, enum cleave_status wanted, const char *part)
{
    struct cleave_error error = {.message = ""};
    enum cleave_status status = probe_run(runtime, &error);
    if (status != wanted || (part && !strstr(error.message, part)))
        fail_msg("wanted %d '%s', got %d '%s'", wanted, part ? part : "", status, error.message);
    if (status) { /* and stays so */
        assert_int_equal(cleave__runtime_run(runtime, 0, NULL, &error), status);
        assert_int_equal(cleave__runtime_post(runtime, 1, 0, NULL, 0, &error), status);
    }
    cleave__runtime_free(runtime);
}

static void send_count(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                       size_t length)
{
    (void)saved, (void)length;
    for (uint64_t i = 1; i <= probe->plan->count; i++)
        cleave__context_send(context, probe->plan->peer, 7, &i, sizeof i);
}

static struct cleave_runtime *stream_at(const struct probe_transport *t, enum cleave_plant plant,
                                        uint64_t plant_at)
{
    static const struct probe_plan sink = {.receive = NULL};
    static struct probe_plan source;
    static const struct cleave_spawn_options sink_options = {.name = "sink"};
    static const struct cleave_spawn_options source_options = {.name = "source"};
    struct cleave_runtime *runtime = probe_runtime(
        t, (struct cleave_runtime_options){
               .mailbox_most = plant == CLEAVE_PLANT_TWICE || plant_at == 100 ? 1000 : 16,
               .plant = plant,
               .plant_at = plant_at});
    uint32_t at = probe_spawn(runtime, &sink, &sink_options);
    source = (struct probe_plan){.start = send_count, .peer = at, .count = 100};
    probe_spawn(runtime, &source, &source_options);
    return runtime;
}

static struct cleave_runtime *stream(const struct probe_transport *t, enum cleave_plant plant)
{
    return stream_at(t, plant, 30);
}

static void planted_bugs_are_seen(void **state)
{
    (void)state;
    EACH(t)
    {
        expect(stream(t, CLEAVE_PLANT_NOTHING), CLEAVE_OK, NULL);
        if (t->ops == &cleave__nats)
            continue;
        expect(stream(t, CLEAVE_PLANT_LOSE), CLEAVE_CORRUPT, "from source to sink, message ");
        expect(stream_at(t, CLEAVE_PLANT_LOSE, 100), CLEAVE_CORRUPT,
               "from source to sink 100 messages were sent and 99 taken up");
        expect(stream(t, CLEAVE_PLANT_TWICE), CLEAVE_CORRUPT, "there twice");
        expect(stream(t, CLEAVE_PLANT_OVERFILL), CLEAVE_CORRUPT, "the mailbox of sink holds ");
        expect(stream(t, CLEAVE_PLANT_FLIP), CLEAVE_CORRUPT,
               t->checksums ? "fails its checksum" : "from source to sink, message ");
    }
}

/* On nats a gap is counted, what comes twice dropped, a mailbox never over-full; only what is
 * missing at the end, with no connection lost meanwhile, is wrong. */
static void planted_bugs_are_borne(void **state)
{
    (void)state;
    EACH(t)
    {
        if (t->ops != &cleave__nats)
            continue;
        const struct {
            enum cleave_plant plant;
            uint64_t received, lost;
        } wanted[] = {{CLEAVE_PLANT_LOSE, 99, 1},
                      {CLEAVE_PLANT_TWICE, 100, 0},
                      {CLEAVE_PLANT_OVERFILL, 100, 0}};
        for (int w = 0; w < 3; w++) {
            struct cleave_runtime *runtime = stream(t, wanted[w].plant);
            probe_run_well(runtime);
            const struct cleave_actor_stats *stats = cleave__runtime_stats(runtime, 1);
            assert_int_equal(stats->received, wanted[w].received);
            assert_int_equal(stats->lost, wanted[w].lost);
            cleave__runtime_free(runtime);
        }
        expect(stream_at(t, CLEAVE_PLANT_LOSE, 100), CLEAVE_CORRUPT,
               "from source to sink 100 messages were sent and 99 taken up");
    }
}

/* ---- cycles ---- */

static void flood_more(struct probe *probe, struct cleave_context *context,
                       const struct cleave_message *message)
{
    (void)message;
    for (uint32_t i = 0; i < probe->plan->count; i++)
        cleave__context_send(context, probe->plan->peer, 1, NULL, 0);
}

static struct cleave_runtime *flood(const struct probe_transport *t, uint32_t actors,
                                    uint32_t count)
{
    static const struct cleave_spawn_options names[] = {
        {.name = "ann"}, {.name = "bob"}, {.name = "cay"}};
    static struct probe_plan plans[3];
    struct cleave_runtime *runtime =
        probe_runtime(t, (struct cleave_runtime_options){.mailbox_most = 8});
    for (uint32_t i = 0; i < actors; i++) {
        plans[i] = (struct probe_plan){
            .receive = flood_more, .peer = (i + 1) % actors + 1, .count = count};
        probe_spawn(runtime, &plans[i], &names[i]);
    }
    for (uint32_t i = 0; i < actors; i++)
        assert_int_equal(cleave__runtime_post(runtime, i + 1, 1, NULL, 0, NULL), CLEAVE_OK);
    return runtime;
}

static void cycles_are_named(void **state)
{
    (void)state;
    EACH(t)
    {
        expect(flood(t, 3, 2), CLEAVE_CORRUPT, "waits for room in the next one's mailbox");
        expect(flood(t, 2, 20), CLEAVE_CORRUPT, "waits for room");
        expect(flood(t, 1, 9), CLEAVE_CORRUPT, "ann -> ann");
    }
}

/* A timer far in the future does not hide that the others are stuck (threads); sim gets there at
 * once. */
static void wait_long(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                      size_t length)
{
    (void)probe, (void)saved, (void)length;
    cleave__context_timer(context, UINT64_C(3600000000000), 0);
}

static void cycles_under_a_timer(void **state)
{
    (void)state;
    EACH(t)
    {
        static const struct probe_plan waiting = {.start = wait_long};
        struct cleave_runtime *runtime = flood(t, 3, 2);
        probe_spawn(runtime, &waiting, NULL);
        expect(runtime, CLEAVE_CORRUPT, "waits for room");
    }
}

/* Nor do others that never end. */
static void go_on_for_ever(struct probe *probe, struct cleave_context *context,
                           const struct cleave_message *message)
{
    (void)message;
    cleave__context_send(context, probe->plan->peer, 1, NULL, 0);
}

static void cycles_beside_others(void **state)
{
    (void)state;
    EACH(t)
    {
        struct probe_plan busy[2] = {{.receive = go_on_for_ever, .peer = 5},
                                     {.receive = go_on_for_ever, .peer = 4}};
        struct cleave_runtime *runtime = flood(t, 3, 2);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(probe_spawn(runtime, &busy[i], NULL), 4 + i);
        assert_int_equal(cleave__runtime_post(runtime, 4, 1, NULL, 0, NULL), CLEAVE_OK);
        expect(runtime, CLEAVE_CORRUPT, "stuck: ");
    }
}

/* ---- requests ---- */

static void ask(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                size_t length)
{
    (void)saved, (void)length;
    for (uint32_t i = 0; i < probe->plan->count; i++)
        cleave__context_request(context, probe->plan->peer, 1, NULL, 0, 0, 0);
}

static void answer_twice(struct probe *probe, struct cleave_context *context,
                         const struct cleave_message *message)
{
    (void)probe;
    cleave__context_answer(context, message->promise, 1, NULL, 0);
    cleave__context_answer(context, message->promise, 1, NULL, 0);
}

static void answer_never_asked(struct probe *probe, struct cleave_context *context,
                               const struct cleave_message *message)
{
    (void)probe;
    struct cleave_promise promise = {message->sender, 1000};
    cleave__context_answer(context, promise, 1, NULL, 0);
}

static struct cleave_runtime *asking(const struct probe_transport *t, probe_receive *receive,
                                     uint32_t count)
{
    static struct probe_plan server, asker;
    static const struct cleave_spawn_options server_name = {.name = "server"},
                                             asker_name = {.name = "asker"};
    struct cleave_runtime *runtime =
        probe_runtime(t, (struct cleave_runtime_options){.requests_most = 50});
    server = (struct probe_plan){.receive = receive};
    uint32_t at = probe_spawn(runtime, &server, &server_name);
    asker = (struct probe_plan){.start = ask, .peer = at, .count = count};
    probe_spawn(runtime, &asker, &asker_name);
    return runtime;
}

static void answers_are_counted(void **state)
{
    (void)state;
    EACH(t)
    {
        expect(asking(t, NULL, 3), CLEAVE_CORRUPT,
               "3 requests were never answered: one of asker to server");
        expect(asking(t, answer_twice, 1), CLEAVE_CORRUPT,
               "server answers a request of asker that has its answer already");
        expect(asking(t, answer_never_asked, 1), CLEAVE_CORRUPT,
               t->ops == &cleave__nats ? "1 request was never answered" /* of an earlier life? */
                                       : "that was never made");
        expect(asking(t, NULL, 51), CLEAVE_LIMIT, "asker has 50 requests without an answer");
    }
}

/* ---- misuse ---- */

static void send_to_nobody(struct probe *probe, struct cleave_context *context,
                           const struct cleave_message *message)
{
    (void)probe, (void)message;
    cleave__context_send(context, 77, 1, NULL, 0);
}

static void give_up(struct probe *probe, struct cleave_context *context,
                    const struct cleave_message *message)
{
    (void)probe, (void)message;
    cleave__context_fail(context, CLEAVE_UNSUPPORTED, "no %s", "more");
}

static void send_too_much(struct probe *probe, struct cleave_context *context,
                          const struct cleave_message *message)
{
    static const uint8_t byte;
    (void)probe, (void)message;
    cleave__context_send(context, 1, 1, &byte, (1 << 24) + 1);
}

static void wait_for_ever(struct probe *probe, struct cleave_context *context,
                          const struct cleave_message *message)
{
    (void)probe, (void)message;
    cleave__context_timer(context, UINT64_MAX, 1);
}

static struct cleave_runtime *one(const struct probe_transport *t, probe_receive *receive)
{
    static struct probe_plan plan;
    struct cleave_runtime *runtime = probe_runtime(t, (struct cleave_runtime_options){0});
    plan = (struct probe_plan){.receive = receive};
    uint32_t actor = probe_spawn(runtime, &plan, NULL);
    assert_int_equal(cleave__runtime_post(runtime, actor, 1, NULL, 0, NULL), CLEAVE_OK);
    return runtime;
}

static void misuse_is_told(void **state)
{
    (void)state;
    EACH(t)
    {
        expect(one(t, send_to_nobody), CLEAVE_BAD_ARGUMENT,
               "probe 1 sends to actor 77, which does not exist");
        expect(one(t, give_up), CLEAVE_UNSUPPORTED, "probe 1: no more");
        expect(one(t, send_too_much), CLEAVE_LIMIT, "a message has at most");
        if (t->ops == &cleave__sim)
            expect(one(t, wait_for_ever), CLEAVE_LIMIT, "the simulated clock runs out");
        struct cleave_runtime *runtime = probe_runtime(t, (struct cleave_runtime_options){0});
        struct cleave_error error;
        assert_int_equal(cleave__runtime_post(runtime, 1, 1, NULL, 0, &error), CLEAVE_BAD_ARGUMENT);
        cleave__runtime_free(runtime);
    }
}

/* ---- memory ---- */

struct attempt {
    const struct probe_transport *transport;
    struct probe_plan sink, source, asker, server;
};

static void answer(struct probe *probe, struct cleave_context *context,
                   const struct cleave_message *message)
{
    (void)probe;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put64(writer, 1);
    cleave__context_save(context, "saved", 5);
    cleave__context_answer(context, message->promise, 1, writer->data, writer->count);
}

static void ask_in_time(struct probe *probe, struct cleave_context *context, const uint8_t *saved,
                        size_t length)
{
    (void)saved, (void)length;
    for (uint32_t i = 0; i < 3; i++)
        cleave__context_request(context, probe->plan->peer, 1, NULL, 0, 1000000000, 0);
    cleave__context_timer(context, 1000, 0);
}

static bool try_all(void *context)
{
    struct attempt *attempt = context;
    struct cleave_runtime_options options = {.measure = true, .mailbox_most = 2};
    probe_options(attempt->transport, &options);
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    uint32_t a;
    enum cleave_status status = cleave__runtime_new(&options, &runtime, &error);
    if (status)
        return status == CLEAVE_NO_MEMORY && !runtime;
    const struct probe_plan *plans[] = {&attempt->sink, &attempt->source, &attempt->server,
                                        &attempt->asker};
    for (int i = 0; i < 4 && !status; i++)
        status = cleave__runtime_spawn(runtime, &probe_ops, plans[i], NULL, &a, &error);
    for (int i = 0; i < 4 && !status; i++)
        status = cleave__runtime_post(runtime, 1, 1, "xyz", 3, &error);
    if (!status)
        status = cleave__runtime_run(runtime, 0, NULL, &error);
    struct cleave_actor_stats sum = {0};
    if (!status)
        status = cleave__runtime_sum(runtime, &sum, &error);
    cleave__histogram_free(&sum.waiting_ns);
    cleave__histogram_free(&sum.answering_ns);
    cleave__runtime_free(runtime);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    (void)state;
    EACH(t)
    {
        struct attempt attempt = {.transport = t,
                                  .source = {.start = send_count, .peer = 1, .count = 7},
                                  .server = {.receive = answer},
                                  .asker = {.start = ask_in_time, .peer = 3}};
        assert_true(failalloc_run(t->name, try_all, &attempt, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_bugs_are_seen), cmocka_unit_test(planted_bugs_are_borne),
        cmocka_unit_test(cycles_are_named),      cmocka_unit_test(cycles_under_a_timer),
        cmocka_unit_test(cycles_beside_others),  cmocka_unit_test(answers_are_counted),
        cmocka_unit_test(misuse_is_told),        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, probe_setup, probe_teardown);
}
