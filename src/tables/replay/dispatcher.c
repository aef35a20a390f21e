/* The dispatcher: reads, plans, hands out in order, compares. */
#include "tables/replay/dispatcher.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/frame.h"

enum { REFERENCE_BIT = 1 << 30, RATE_TAG = 1, STALL_TAG = 2 };

static const uint64_t STALL_NS = 1000000000;

static void destroy(void *self)
{
    struct cleave__dispatcher *dispatcher = self;
    for (uint32_t s = 0; dispatcher->slots && s < dispatcher->arguments->window; s++) {
        cleave__arena_free(&dispatcher->slots[s].arena);
        cleave__arena_free(&dispatcher->slots[s].again);
        free(dispatcher->slots[s].message.data);
    }
    cleave__planner_free(dispatcher->planner);
    cleave__planner_free(dispatcher->both[0]);
    cleave__planner_free(dispatcher->both[1]);
    cleave__shift_gate_free(dispatcher->gate);
    cleave__order_free(dispatcher->order);
    cleave__workload_free(&dispatcher->workload);
    CLEAVE_VECTOR_FREE(&dispatcher->failed);
    free(dispatcher->result.shard_transactions);
    free(dispatcher->slots);
    free(dispatcher->places);
    free(dispatcher->busy);
    free(dispatcher);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__dispatch_arguments *arguments = argument;
    const struct cleave_schema *schema = cleave__lookup_schema(arguments->world->lookup);
    struct cleave__dispatcher *dispatcher = calloc(1, sizeof *dispatcher);
    if (!dispatcher)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the dispatcher");
    dispatcher->arguments = arguments;
    cleave__workload_init(&dispatcher->workload, schema);
    enum cleave_status status =
        cleave__planner_new(arguments->world->lookup, &dispatcher->planner, error);
    if (!status && arguments->mix)
        status = cleave__dispatcher_watch(dispatcher, error);
    dispatcher->order = cleave__order_new(schema, arguments->window);
    dispatcher->slots = calloc(arguments->window, sizeof *dispatcher->slots);
    dispatcher->places = calloc(arguments->window, sizeof *dispatcher->places);
    dispatcher->busy = calloc(arguments->world->clients, sizeof *dispatcher->busy);
    dispatcher->result.shard_transactions = calloc(cleave__lookup_shards(arguments->world->lookup),
                                                   sizeof *dispatcher->result.shard_transactions);
    if (!status && (!dispatcher->order || !dispatcher->slots || !dispatcher->places ||
                    !dispatcher->busy || !dispatcher->result.shard_transactions))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the dispatcher");
    if (status) {
        destroy(dispatcher);
        return status;
    }
    *self = dispatcher;
    return CLEAVE_OK;
}

static uint32_t free_slot(const struct cleave__dispatcher *dispatcher)
{
    for (uint32_t s = 0; s < dispatcher->arguments->window; s++) {
        if (!dispatcher->slots[s].used)
            return s;
    }
    return CLEAVE__ORDER_NONE;
}

/* Plans one transaction into a slot; `*kept` false: it is not replayed. */
static enum cleave_status admit(struct cleave__dispatcher *dispatcher,
                                const struct cleave_trace_transaction *transaction,
                                struct cleave__dispatch_slot *slot, bool *kept,
                                struct cleave_error *error)
{
    const struct cleave_replay_options *options = dispatcher->arguments->options;
    struct cleave_replay_result *result = &dispatcher->result;
    cleave__arena_rewind(&slot->arena, (struct cleave_arena_mark){0});
    cleave__arena_rewind(&slot->again, (struct cleave_arena_mark){0});
    *kept = false;
    bool waits = false;
    enum cleave_status status =
        dispatcher->gate
            ? cleave__dispatcher_plan(dispatcher, transaction, slot, &waits, error)
            : cleave__planner_plan(dispatcher->planner, transaction, dispatcher->admitted,
                                   &slot->arena, &slot->planned, error);
    if (!status) {
        slot->message.count = 0;
        cleave__planned_write(&slot->planned, dispatcher->admitted, &slot->message);
        if (slot->message.failed)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a transaction");
        if (slot->message.count > CLEAVE_FRAME_BODY_MOST)
            status = cleave_error_set(error, CLEAVE_UNSUPPORTED, "its text is past 16 MiB");
    }
    if (status == CLEAVE_UNSUPPORTED) {
        result->refused++;
        cleave__counter_add(dispatcher->arguments->world->watch->refused, 1);
        if (options->refused)
            options->refused(options->refused_context, result->read, error->message);
        return CLEAVE_OK;
    }
    if (status)
        return status;
    if (slot->planned.access_count == 0) {
        result->empty++;
        cleave__counter_add(dispatcher->arguments->world->watch->empty, 1);
        return CLEAVE_OK;
    }
    bool added;
    status =
        cleave__workload_add(&dispatcher->workload, cleave__planner_analyzer(dispatcher->planner),
                             transaction, &added, error);
    if (status)
        return status;
    slot->counted = added ? dispatcher->workload.transactions - 1 : CLEAVE_ABSENT;
    slot->number = dispatcher->admitted++;
    slot->read = result->read;
    cleave__counter_add(dispatcher->arguments->world->watch->replayed, 1);
    slot->used = true;
    slot->done = slot->referenced = false;
    slot->outcome = slot->reference = (struct cleave__outcome){0};
    dispatcher->slots_used++;
    if (dispatcher->gate)
        cleave__shift_gate_plan(dispatcher->gate, (uint32_t)(slot - dispatcher->slots),
                                &slot->planned);
    if (waits)
        cleave__shift_gate_wait(dispatcher->gate, (uint32_t)(slot - dispatcher->slots));
    *kept = true;
    return CLEAVE_OK;
}

/* Into the order, and to the reference. */
static bool enter(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                  uint32_t index)
{
    const struct cleave__dispatch_arguments *arguments = dispatcher->arguments;
    struct cleave__dispatch_slot *slot = &dispatcher->slots[index];
    uint32_t place;
    uint32_t accesses = arguments->options->unordered ? 0 : slot->planned.access_count;
    if (!cleave__order_enter(dispatcher->order, slot->planned.accesses, accesses, &place))
        return false;
    dispatcher->places[place] = index;
    if (arguments->reference)
        cleave__context_request(context, arguments->reference, CLEAVE__REPLAY_RUN,
                                slot->message.data, slot->message.count, 0, index | REFERENCE_BIT);
    else
        slot->referenced = true;
    return true;
}

/* Whether the rate lets another transaction in now; else a timer comes. */
static bool may_read(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    double rate = dispatcher->arguments->options->rate;
    if (rate <= 0)
        return true;
    if (dispatcher->waiting)
        return false;
    double due_ns = (double)dispatcher->result.read / rate * 1e9;
    double gone_ns = (double)(cleave__context_now_ns(context) - dispatcher->began_ns);
    if (due_ns <= gone_ns)
        return true;
    dispatcher->waiting = true;
    cleave__context_timer(context, (uint64_t)(due_ns - gone_ns) + 1, RATE_TAG);
    return false;
}

static void fill(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    const struct cleave_replay_options *options = dispatcher->arguments->options;
    while (!dispatcher->ended && dispatcher->slots_used < dispatcher->arguments->window &&
           may_read(dispatcher, context)) {
        struct cleave_trace_transaction transaction;
        struct cleave_error error = {0};
        bool kept = false;
        uint32_t index = free_slot(dispatcher);
        enum cleave_status status =
            options->limit && dispatcher->result.read >= options->limit
                ? CLEAVE_END
                : options->source.next(options->source.context, &transaction, &error);
        if (status == CLEAVE_END) {
            dispatcher->ended = true;
            break;
        }
        if (!status) {
            status = admit(dispatcher, &transaction, &dispatcher->slots[index], &kept, &error);
            dispatcher->result.read++;
            cleave__counter_add(dispatcher->arguments->world->watch->read, 1);
        }
        if (!status && kept && !enter(dispatcher, context, index))
            status = cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for a transaction");
        if (status) {
            dispatcher->ended = true;
            cleave__context_fail(context, status, "%s", error.message);
            return;
        }
    }
    if (dispatcher->gate)
        cleave__dispatcher_go(dispatcher, context);
}

/* The next transaction that may run: its place in the order. */
static uint32_t next_place(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    for (;;) {
        uint32_t place =
            dispatcher->gate ? cleave__shift_gate_released(dispatcher->gate) : CLEAVE__ORDER_NONE;
        if (place == CLEAVE__ORDER_NONE)
            place = cleave__order_take(dispatcher->order);
        if (place == CLEAVE__ORDER_NONE || !dispatcher->gate ||
            cleave__dispatcher_pass(dispatcher, context, dispatcher->places[place], place))
            return place;
    }
}

static void hand_out(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    for (uint32_t c = 0; c < dispatcher->arguments->world->clients; c++) {
        if (dispatcher->busy[c])
            continue;
        uint32_t place = next_place(dispatcher, context);
        if (place == CLEAVE__ORDER_NONE)
            return;
        uint32_t index = dispatcher->places[place];
        const struct cleave__dispatch_slot *slot = &dispatcher->slots[index];
        dispatcher->busy[c] = true;
        cleave__context_request(context, dispatcher->arguments->first_client + c,
                                CLEAVE__REPLAY_RUN, slot->message.data, slot->message.count, 0,
                                (uint64_t)c << 32 | (uint64_t)place);
    }
}

static void tell_difference(struct cleave_replay_result *result, const char *format, ...)
    CLEAVE_PRINTF(2, 3);

static void tell_difference(struct cleave_replay_result *result, const char *format, ...)
{
    va_list arguments;
    if (result->different < CLEAVE_REPLAY_TOLD) {
        va_start(arguments, format);
        vsnprintf(result->differences[result->different], sizeof result->differences[0], format,
                  arguments);
        va_end(arguments);
    }
    result->different++;
}

/* One that failed, here or there or on both sides. */
static void compare_failures(struct cleave__dispatcher *dispatcher,
                             const struct cleave__dispatch_slot *slot)
{
    struct cleave_replay_result *result = &dispatcher->result;
    const struct cleave_replay_options *options = dispatcher->arguments->options;
    const char *here = slot->outcome.failure, *there = slot->reference.failure;
    bool compares = dispatcher->arguments->reference;
    result->compared += compares;
    if (compares && (!here || !there)) {
        result->failed_alone++;
        tell_difference(result, "transaction %" PRIu64 " fails on the %s alone: %.220s",
                        slot->read + 1, here ? "shards" : "unsharded database",
                        here ? here : there);
    } else if (options->refused) {
        char why[560];
        snprintf(why, sizeof why, "it fails%s: %s",
                 compares ? ", as on the unsharded database" : "", here);
        options->refused(options->refused_context, slot->read, why);
    }
}

/* While clients work a timer watches over them; with none at work the run may come to its end. */
static void watch_stall(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    bool busy = false;
    for (uint32_t c = 0; c < dispatcher->arguments->world->clients; c++)
        busy = busy || dispatcher->busy[c];
    if (busy && !dispatcher->stall) {
        dispatcher->stall = cleave__context_timer(context, STALL_NS, STALL_TAG);
    } else if (!busy && dispatcher->stall) {
        cleave__context_cancel(context, dispatcher->stall);
        dispatcher->stall = 0;
    }
}

/* The timer has come. */
static void look_for_stall(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    dispatcher->stall = 0;
    if (cleave__context_now_ns(context) - dispatcher->last_reply_ns >= STALL_NS)
        cleave__context_send(context, dispatcher->arguments->late, CLEAVE__REPLAY_LATE, NULL, 0);
    watch_stall(dispatcher, context);
}

/* Both answers are here. */
static void compare(struct cleave__dispatcher *dispatcher, struct cleave__dispatch_slot *slot)
{
    struct cleave_replay_result *result = &dispatcher->result;
    bool failed = slot->outcome.failure || slot->reference.failure;
    if (failed)
        compare_failures(dispatcher, slot);
    for (uint32_t s = 0; s < slot->planned.statement_count && !failed; s++) {
        const struct cleave__planned_statement *statement = &slot->planned.statements[s];
        if (statement->rule == CLEAVE__RULE_PASS || !dispatcher->arguments->reference)
            continue;
        if (slot->outcome.lost) {
            result->lost++;
            continue;
        }
        const struct cleave__digest *here = &slot->outcome.digests[s];
        const struct cleave__digest *there = &slot->reference.digests[s];
        result->compared++;
        if (cleave__digest_equal(here, there))
            continue;
        tell_difference(result,
                        "transaction %" PRIu64 ", statement %u: %" PRIu64 " rows%s, %" PRIu64
                        " affected; unsharded %" PRIu64 " rows, %" PRIu64 " affected: %.150s",
                        slot->read + 1, s + 1, here->rows,
                        here->rows == there->rows && here->affected == there->affected
                            ? " that are others"
                            : "",
                        here->affected, there->rows, there->affected, statement->text);
    }
    slot->used = false;
    dispatcher->slots_used--;
}

/* It failed on the shards, and nothing of it is there. */
static bool count_failure(struct cleave__dispatcher *dispatcher,
                          const struct cleave__dispatch_slot *slot)
{
    dispatcher->result.refused++;
    dispatcher->result.failed++;
    dispatcher->result.retries += slot->outcome.retries;
    cleave__counter_add(dispatcher->arguments->world->watch->failed, 1);
    return slot->counted == CLEAVE_ABSENT || CLEAVE_PUSH(&dispatcher->failed, slot->counted);
}

static void count(struct cleave__dispatcher *dispatcher, const struct cleave__dispatch_slot *slot)
{
    struct cleave_replay_result *result = &dispatcher->result;
    const struct cleave__outcome *outcome = &slot->outcome;
    bool distributed = outcome->parts > 1, writes = slot->planned.writes;
    result->replayed++;
    result->statements += slot->planned.statement_count;
    result->counted.transactions++;
    result->counted.parts += outcome->parts;
    result->counted.distributed += distributed;
    result->counted.read_only_distributed += distributed && !writes;
    result->counted.write_distributed += distributed && writes;
    result->two_phase += outcome->prepared > 0;
    result->prepared += outcome->prepared;
    result->retries += outcome->retries;
    for (uint32_t s = 0; s < cleave__lookup_shards(dispatcher->arguments->world->lookup); s++)
        result->shard_transactions[s] += cleave__shardset_has(&outcome->shards, s);
}

static void stopped(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                    const struct cleave__dispatch_slot *slot, struct cleave_reader *reader,
                    bool reference)
{
    enum cleave_status status = cleave__get_count(reader, CLEAVE_END);
    uint32_t length = cleave__get_count(reader, 4096);
    const uint8_t *text = cleave__get_bytes(reader, length);
    dispatcher->ended = true;
    cleave__context_fail(context, status ? status : CLEAVE_CORRUPT,
                         "transaction %" PRIu64 "%s: %.*s", slot->read + 1,
                         reference ? " on the reference" : "", text ? (int)length : 0,
                         text ? (const char *)text : "");
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__dispatcher *dispatcher = self;
    if (message->sort == CLEAVE_TIMER && message->tag == STALL_TAG) {
        look_for_stall(dispatcher, context);
        return;
    }
    if (message->sort == CLEAVE_TIMER) {
        dispatcher->waiting = false;
        fill(dispatcher, context);
        hand_out(dispatcher, context);
        watch_stall(dispatcher, context);
        return;
    }
    if (message->sort == CLEAVE_REQUEST) {
        if (!cleave__shift_gate_receive(dispatcher->gate, context, message))
            cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for a repartition");
        hand_out(dispatcher, context);
        watch_stall(dispatcher, context);
        return;
    }
    bool reference = message->tag & REFERENCE_BIT;
    uint32_t low = (uint32_t)message->tag & ~(uint32_t)REFERENCE_BIT;
    uint32_t index = reference ? low : dispatcher->places[low];
    struct cleave__dispatch_slot *slot = &dispatcher->slots[index];
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    if (message->kind == CLEAVE__REPLAY_STOPPED) {
        stopped(dispatcher, context, slot, &reader, reference);
        return;
    }
    struct cleave__outcome *outcome = reference ? &slot->reference : &slot->outcome;
    if (!cleave__outcome_read(&reader, &slot->arena, outcome) || outcome->number != slot->number ||
        outcome->statement_count != slot->planned.statement_count) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "an outcome makes no sense");
        return;
    }
    if (reference) {
        slot->referenced = true;
    } else {
        const struct cleave_replay_options *options = dispatcher->arguments->options;
        slot->done = true;
        dispatcher->last_reply_ns = cleave__context_now_ns(context);
        dispatcher->busy[message->tag >> 32] = false;
        cleave__order_leave(dispatcher->order, low);
        if (!slot->outcome.failure)
            count(dispatcher, slot);
        else if (!count_failure(dispatcher, slot))
            cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for what failed");
        if (dispatcher->gate)
            cleave__dispatcher_over(dispatcher, context, index);
        if (options->acknowledged && !slot->outcome.failure)
            options->acknowledged(options->test_context, slot->number);
    }
    if (slot->done && slot->referenced)
        compare(dispatcher, slot);
    fill(dispatcher, context);
    hand_out(dispatcher, context);
    watch_stall(dispatcher, context);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__dispatcher *dispatcher = self;
    (void)saved, (void)length;
    dispatcher->began_ns = dispatcher->last_reply_ns = cleave__context_now_ns(context);
    fill(dispatcher, context);
    hand_out(dispatcher, context);
    watch_stall(dispatcher, context);
}

const struct cleave_actor_ops cleave__dispatcher_ops = {"dispatcher", create, destroy, receive,
                                                        start};
