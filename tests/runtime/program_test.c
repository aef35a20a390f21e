/* Random programs of actors have the same outcome on every transport, where it does not depend on
 * who is faster: tokens walk upwards through the actors, now as messages, now as requests that are
 * answered (at once, or after a timer), past mailboxes of one or two; where a token goes next is a
 * function of the token alone. Upwards, so that full mailboxes never wait for each other. What each
 * actor saw is summed up without regard to order; order within each channel is checked by the
 * runtime itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe.h"
#include "support/property.h"

enum { ACTORS_MOST = 40, SHAPES = 4 };

struct program {
    uint32_t actors, tokens, mailbox_most;
    uint64_t seed;
};

struct outcome {
    uint64_t sum[ACTORS_MOST + 1], received[ACTORS_MOST + 1], sent[ACTORS_MOST + 1];
};

static uint64_t choose(uint64_t token, uint32_t actor, uint64_t what)
{
    return cleave__mix64(token ^ cleave__mix64(actor * 16 + what));
}

static void step(struct probe *probe, struct cleave_context *context, uint64_t token)
{
    uint32_t self = cleave__context_self(context), actors = probe->plan->count;
    uint64_t copies = choose(token, self, 0) % 8 == 0 ? 2 : 1;
    for (uint64_t copy = 0; copy < copies && self < actors; copy++) {
        uint64_t next = choose(token, self, 1 + copy);
        uint32_t to = self + 1 + (uint32_t)(next % 5);
        if (to > actors)
            to = actors;
        if (next >> 60 == 0)
            cleave__context_timer(context, next % 50000, next);
        else if (next >> 60 < 6)
            cleave__context_request(context, to, (uint32_t)(next >> 61), &next, sizeof next, 0,
                                    next + 1);
        else
            cleave__context_send(context, to, 1, &next, sizeof next);
    }
}

static void walk(struct probe *probe, struct cleave_context *context,
                 const struct cleave_message *message)
{
    uint64_t token = message->length ? cleave__load64(message->body) : message->tag;
    probe->sum += cleave__mix64(token + (uint64_t)message->sort * 977 + message->kind);
    if (message->sort == CLEAVE_REQUEST)
        cleave__context_answer(context, message->promise, 3, NULL, 0);
    if (message->sort != CLEAVE_REPLY)
        step(probe, context, token);
}

static bool play(const struct program *program, const struct probe_transport *transport,
                 struct cleave_runtime_options options, struct outcome *outcome)
{
    struct cleave_runtime *runtime = NULL;
    struct cleave_error error;
    struct probe_plan plan = {.receive = walk, .count = program->actors};
    probe_options(transport, &options);
    options.mailbox_most = program->mailbox_most;
    options.batch = 1 + (uint32_t)(program->seed % 7);
    enum cleave_status status = cleave__runtime_new(&options, &runtime, &error);
    for (uint32_t a = 1; a <= program->actors && !status; a++) {
        uint32_t actor;
        struct cleave_spawn_options on = {.node = a % 3};
        status = cleave__runtime_spawn(runtime, &probe_ops, &plan, &on, &actor, &error);
    }
    for (uint32_t t = 0; t < program->tokens && !status; t++) {
        uint64_t token = cleave__mix64(program->seed + t);
        status = cleave__runtime_post(runtime, 1 + (uint32_t)(token % program->actors), 1, &token,
                                      sizeof token, &error);
    }
    if (!status)
        status = cleave__runtime_run(runtime, 0, NULL, &error);
    bool good = !status && cleave__runtime_check(runtime);
    for (uint32_t a = 1; a <= program->actors && good; a++) {
        outcome->sum[a] = probe_state(runtime, a)->sum;
        outcome->received[a] = cleave__runtime_stats(runtime, a)->received;
        outcome->sent[a] = cleave__runtime_stats(runtime, a)->sent;
    }
    if (status)
        printf("  %s: %s\n", transport->name, error.message);
    cleave__runtime_free(runtime);
    return good;
}

static bool agree(struct property_source *source, void *context)
{
    (void)context;
    struct program program = {.actors = 1 + (uint32_t)property_draw(source, ACTORS_MOST),
                              .tokens = 1 + (uint32_t)property_draw(source, 60),
                              .mailbox_most = 1 + (uint32_t)property_draw(source, 3),
                              .seed = property_draw(source, UINT64_C(1) << 40)};
    struct outcome first = {.sum = {0}};
    /* The plain sim is what the others are compared with: sims with delays, service times and few
     * processors, and threads. */
    if (!play(&program, &probe_transports[0], (struct cleave_runtime_options){0}, &first))
        return false;
    struct cleave_host nodes[2] = {{.servers = 1, .bytes_per_s = 1000000}, {.servers = 2}};
    for (uint64_t shape = 1; shape < SHAPES; shape++) {
        struct cleave_runtime_options options = {.seed = shape};
        options.sim = (struct cleave_sim_options){
            .remote = {.kind = CLEAVE_UNIFORM, .high_ns = shape * 100000},
            .local = {.kind = CLEAVE_PARETO, .low_ns = 100, .shape = 1},
            .nodes = nodes,
            .node_count = 2};
        struct outcome other = {.sum = {0}};
        if (!play(&program, &probe_transports[shape % 2], options, &other) ||
            memcmp(&other, &first, sizeof first) != 0) {
            if (source->verbose)
                printf("  sim %llu differs: %u actors, %u tokens, mailboxes of %u, seed %llu\n",
                       (unsigned long long)shape, program.actors, program.tokens,
                       program.mailbox_most, (unsigned long long)program.seed);
            return false;
        }
    }
    for (unsigned t = 2; t < probe_transport_count; t++) {
        struct outcome other = {.sum = {0}};
        struct cleave_runtime_options options = {.measure = program.seed % 2,
                                                 .lean = program.seed % 3 == 0};
        if (!play(&program, &probe_transports[t], options, &other) ||
            memcmp(&other, &first, sizeof first) != 0) {
            if (source->verbose)
                printf("  %s differs: %u actors, %u tokens, mailboxes of %u, seed %llu\n",
                       probe_transports[t].name, program.actors, program.tokens,
                       program.mailbox_most, (unsigned long long)program.seed);
            return false;
        }
    }
    return true;
}

static void transports_agree(void **state)
{
    (void)state;
    assert_true(property_run("programs on every transport", agree, NULL, 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transports_agree)};
    return cmocka_run_group_tests(tests, probe_setup, probe_teardown);
}
