/* An evaluator: made, freed, checked, and who takes which message. */
#include "stream/serve/evaluator.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "stream/route/summary.h"

static void destroy(void *self)
{
    struct cleave__evaluator *e = self;
    if (e->matcher)
        e->ops->destroy(e->matcher);
    cleave__map_free(&e->slot_of);
    cleave__map_free(&e->removed);
    cleave__map_free(&e->need);
    CLEAVE_VECTOR_FREE(&e->held);
    cleave__move_end_free(&e->end);
    cleave__aggregates_free(e->sums);
    free(e->loads);
    CLEAVE_VECTOR_FREE(&e->shedding);
    free(e->doubted);
    free(e->router_life);
    for (size_t i = 0; i < e->pending.count; i++)
        free(e->pending.data[i].body);
    CLEAVE_VECTOR_FREE(&e->pending);
    CLEAVE_VECTOR_FREE(&e->listed);
    CLEAVE_VECTOR_FREE(&e->listed_at);
    cleave__arena_free(&e->arena);
    CLEAVE_VECTOR_FREE(&e->objects);
    CLEAVE_VECTOR_FREE(&e->candidates);
    CLEAVE_VECTOR_FREE(&e->matches.items);
    free(e);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__stream_seat *seat = argument;
    const struct cleave__streaming *streaming = seat->world->streaming;
    struct cleave__evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an evaluator");
    e->seat = seat;
    e->ops = streaming->matcher;
    e->own = cleave__stream_partition(streaming, seat->index);
    e->end = (struct cleave__move_end){
        .ops = &cleave__evaluator_move_ops, .holder = e, .retry_ns = streaming->retry_ns};
    e->doubted = calloc(streaming->routers, sizeof *e->doubted);
    e->router_life = calloc(streaming->routers, sizeof *e->router_life);
    enum cleave_status status =
        e->doubted && e->router_life
            ? CLEAVE_OK
            : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an evaluator");
    if (!status)
        status = e->ops->create(&(struct cleave__matcher_options){.space = streaming->space},
                                &e->matcher, error);
    if (!status)
        status =
            cleave__aggregates_new(streaming->grid.columns, streaming->grid.rows, &e->sums, error);
    if (!status && streaming->centralized)
        status =
            cleave__cell_loads_new(streaming->grid.columns, streaming->grid.rows, &e->loads, error);
    if (status) {
        destroy(e);
        return status;
    }
    *self = e;
    return CLEAVE_OK;
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__evaluator *e = self;
    e->context = context;
    e->life = cleave__random_next(cleave__context_random(context)) | 1; /* not 0 */
    if (!saved)
        return;
    struct cleave_error error;
    enum cleave_status status = cleave__evaluator_load(e, saved, length, &error);
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return;
    }
    cleave__move_end_resume(&e->end, context);
    cleave__evaluator_send_doubts(e, context);
    if (e->shedding.count) {
        e->shed_waits = e->seat->world->streaming->routers;
        for (uint32_t r = 0; r < e->shed_waits; r++)
            cleave__evaluator_send_shed(e, context, r, 0);
    }
}

/* Processor time of this thread: for the figure alone, nothing is decided by it. 0 on sim. */
static uint64_t work_ns(const struct cleave__evaluator *e)
{
    bool sim = e->seat->world->streaming->transport == &cleave__sim;
    return sim ? 0 : cleave__clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__evaluator *e = self;
    e->context = context;
    struct cleave_arena_mark mark = cleave__arena_mark(&e->arena);
    cleave__context_spend(context, e->seat->world->streaming->service.message_ns);
    if (cleave__move_message(message)) {
        uint64_t began_ns = work_ns(e);
        cleave__move_end_receive(&e->end, context, message);
        uint64_t took_ns = work_ns(e) - began_ns;
        e->step_most_ns = took_ns > e->step_most_ns ? took_ns : e->step_most_ns;
    } else if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT) {
        if (message->tag >> 48 == CLEAVE__TAG_SHED)
            cleave__evaluator_shed_answer(e, context, message);
        else if (message->tag >> 48 == CLEAVE__TAG_DOUBT)
            cleave__evaluator_doubt_answer(e, context, message);
        else
            cleave__evaluator_answered(e, context, message);
    } else {
        switch (message->kind) {
        case CLEAVE__STREAM_EVALUATE:
        case CLEAVE__STREAM_EVALUATE_ON:
            cleave__evaluator_match(e, context, message);
            break;
        case CLEAVE__STREAM_STORE:
        case CLEAVE__STREAM_STORE_ON:
        case CLEAVE__STREAM_COPY:
            cleave__evaluator_changes(e, context, message);
            break;
        case CLEAVE__STREAM_TELL:
            cleave__evaluator_tell(e, context, message);
            break;
        case CLEAVE__STREAM_LOAD:
            cleave__evaluator_tell_load(e, context, message);
            break;
        case CLEAVE__STREAM_SHIFT:
            cleave__evaluator_tell_shift(e, context, message);
            break;
        default:
            cleave__stream_corrupt(context, "a message of a kind unknown to evaluators");
        }
    }
    cleave__arena_rewind(&e->arena, mark);
}

bool cleave__evaluator_check(const struct cleave__evaluator *e, const char **why)
{
    *why = "an evaluator's matcher is out of order";
    if (!e->ops->check(e->matcher))
        return false;
    *why = "an evaluator's maps are out of order";
    if (!cleave__map_check(&e->slot_of) || !cleave__map_check(&e->need))
        return false;
    *why = "an evaluator's move is out of order";
    if (!cleave__move_end_check(&e->end))
        return false;
    *why = "an evaluator's sums are out of order";
    if (!cleave__aggregates_check(e->sums, e->own) || e->sums->queries != e->slot_of.count)
        return false;
    struct cleave__map need = {0};
    size_t queries = 0, at = 0;
    uint64_t key, value, useless = 0;
    bool right = true;
    *why = "an evaluator's queries are not what it knows of them";
    for (uint32_t slot = 0; slot < e->ops->slots(e->matcher) && right; slot++) {
        struct cleave__query query;
        if (!e->ops->query(e->matcher, slot, &query))
            continue;
        queries++;
        const uint64_t *found = cleave__map_find(&e->slot_of, query.id);
        struct cleave__ranges ranges = cleave__query_ranges(e->seat->world->streaming, &query);
        right =
            found && *found == slot && e->held.data[slot].id == query.id &&
            (e->end.phase != CLEAVE__MOVE_NONE || e->end.incoming.count ||
             (slot >= e->sweeping && slot < e->sweep_to) || cleave__ranges_meet(&ranges, e->own));
        const uint64_t *gone = cleave__map_find(&e->removed, query.id);
        right = right && !(gone && *gone >= e->held.data[slot].version);
        uint32_t cover = e->held.data[slot].cover;
        bool all = query.predicate == CLEAVE__OVERLAPS && query.term_count;
        for (uint32_t i = 0; right && i < (all ? query.term_count : 1); i++) {
            uint64_t *count = cleave__map_put(&need, all ? query.terms[i] : cover);
            if (!count) { /* no memory to check with */
                cleave__map_free(&need);
                return true;
            }
            ++*count;
        }
    }
    while (right && cleave__map_next(&e->need, &at, &key, &value)) {
        const uint64_t *count = cleave__map_find(&need, key);
        right = value == (count ? *count : 0);
        useless += !value;
    }
    cleave__map_free(&need);
    return right && queries == e->slot_of.count && useless == e->useless;
}

const struct cleave_actor_ops cleave__evaluator_ops = {"evaluator", create, destroy, receive,
                                                       start};
