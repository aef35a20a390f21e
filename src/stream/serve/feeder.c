/* The feeder: draws items, fills messages, keeps so many under way to each router. A change of a
 * query waits until the one before it to the same query is acknowledged. */
#include "stream/serve/feeder.h"

#include <stdlib.h>
#include <string.h>

#include "stream/serve/evaluator.h"

static void destroy(void *self)
{
    struct cleave__feeder *f = self;
    for (size_t i = 0; i < f->fed.count; i++)
        CLEAVE_VECTOR_FREE(&f->fed.data[i].which);
    CLEAVE_VECTOR_FREE(&f->fed);
    CLEAVE_VECTOR_FREE(&f->filling.which);
    free(f->under_way);
    cleave__map_free(&f->changing);
    cleave__map_free(&f->sequences);
    cleave__arena_free(&f->arena);
    free(f->body.data);
    free(f);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__stream_seat *seat = argument;
    struct cleave__feeder *f = calloc(1, sizeof *f);
    if (f) {
        f->seat = seat;
        f->under_way = calloc(seat->world->streaming->routers, sizeof *f->under_way);
    }
    if (!f || !f->under_way) {
        if (f)
            destroy(f);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a feeder");
    }
    *self = f;
    return CLEAVE_OK;
}

static void tell(struct cleave__feeder *f, const struct cleave__fed *fed, bool acknowledged)
{
    const struct cleave__streaming *streaming = f->seat->world->streaming;
    void (*told)(void *, enum cleave__feed_kind, uint64_t, uint64_t) =
        acknowledged ? streaming->feed_ops->acknowledged : streaming->feed_ops->sent;
    f->step++;
    for (size_t i = 0; told && i < fed->which.count; i++) {
        uint64_t which = fed->which.data[i];
        if (fed->objects)
            told(streaming->feed, CLEAVE__FEED_OBJECT, which, f->step);
        else
            told(streaming->feed, which & 1 ? CLEAVE__FEED_REMOVE : CLEAVE__FEED_STORE, which >> 1,
                 f->step);
    }
}

/* The earliest time of an object that is not acknowledged, as far as `first_ms`. */
static uint64_t done_ms(const struct cleave__feeder *f, uint64_t first_ms)
{
    for (size_t i = 0; i < f->fed.count; i++) {
        const struct cleave__fed *fed = &f->fed.data[i];
        if (fed->used && fed->objects && fed->first_ms < first_ms)
            first_ms = fed->first_ms;
    }
    return first_ms;
}

static void send(struct cleave__feeder *f, struct cleave_context *context, uint32_t index,
                 const uint8_t *body, size_t length)
{
    const struct cleave__fed *fed = &f->fed.data[index];
    cleave__context_request(context, cleave__router_actor(f->seat->world, fed->router),
                            fed->objects ? CLEAVE__STREAM_OBJECTS : CLEAVE__STREAM_CHANGES, body,
                            length, 0, index);
}

/* One that was sent long ago has no answer, and the sink would wait for its things in vain. */
static bool too_far_ahead(const struct cleave__feeder *f)
{
    if (!f->seat->world->streaming->track)
        return false;
    uint64_t oldest = f->order;
    for (size_t i = 0; i < f->fed.count; i++) {
        if (f->fed.data[i].used && f->fed.data[i].order < oldest)
            oldest = f->fed.data[i].order;
    }
    return f->order - oldest >= cleave__stream_ahead_most(f->seat->world);
}

/* Sends what is filled. False: the run is over. */
static bool flush(struct cleave__feeder *f, struct cleave_context *context)
{
    const struct cleave__stream_world *world = f->seat->world;
    if (!f->filling.count)
        return true;
    uint32_t index = 0;
    while (index < f->fed.count && f->fed.data[index].used)
        index++;
    if (f->body.failed ||
        (index == f->fed.count && !CLEAVE_PUSH(&f->fed, (struct cleave__fed){0}))) {
        cleave__stream_no_memory(context);
        return false;
    }
    struct cleave__fed spare = f->fed.data[index];
    f->filling.used = true;
    f->filling.order = f->order++;
    f->filling.router = f->next_router;
    f->fed.data[index] = f->filling;
    struct cleave__fed *fed = &f->fed.data[index];
    uint64_t now_ns = cleave__context_now_ns(context);
    if (fed->objects) { /* the head, left free until now */
        cleave__store64(f->body.data, now_ns);
        cleave__store64(f->body.data + 8, done_ms(f, fed->first_ms));
        f->first_object_ns = f->first_object_ns ? f->first_object_ns : now_ns;
    } else if (!f->first_query_ns) {
        f->first_query_ns = now_ns;
    }
    tell(f, fed, false);
    f->under_way[fed->router]++;
    f->in_all++;
    f->next_router = (f->next_router + 1) % world->streaming->routers;
    send(f, context, index, f->body.data, f->body.count);
    spare.which.count = 0;
    f->filling = (struct cleave__fed){0};
    f->filling.which.data = spare.which.data;
    f->filling.which.capacity = spare.which.capacity;
    f->body.count = 0;
    return true;
}

static bool add_object(struct cleave__feeder *f)
{
    struct cleave__object *object = &f->item.object;
    if (f->seat->world->streaming->track && object->id) {
        uint64_t *sequence = cleave__map_put(&f->sequences, object->id);
        if (!sequence)
            return false;
        object->sequence = ++*sequence;
    }
    f->last_ms = object->time_ms;
    if (!f->filling.count) {
        f->filling.objects = true;
        f->filling.first_ms = object->time_ms;
        struct cleave__objects_head none = {0};
        cleave__put_head(&f->body, &none);
    }
    cleave__object_write(object, &f->body);
    f->objects++;
    cleave__counter_add(f->seat->world->watch->accepted, 1);
    cleave__gauge_add(f->seat->world->watch->under_way, 1);
    return CLEAVE_PUSH(&f->filling.which, object->number);
}

static bool add_change(struct cleave__feeder *f)
{
    bool removed = f->item.kind == CLEAVE__FEED_REMOVE;
    struct cleave__record record = {.op = removed ? CLEAVE__REMOVE : CLEAVE__STORE,
                                    .version = ++f->version,
                                    .query = f->item.query};
    f->filling.objects = false;
    cleave__record_write(&record, &f->body);
    *(removed ? &f->removals : &f->queries) += 1;
    cleave__counter_add(removed ? f->seat->world->watch->removals : f->seat->world->watch->queries,
                        1);
    return cleave__map_put(&f->changing, record.query.id) &&
           CLEAVE_PUSH(&f->filling.which, record.query.id << 1 | removed);
}

/* Draws and sends as long as there is room. */
static void feed(struct cleave__feeder *f, struct cleave_context *context)
{
    const struct cleave__stream_world *world = f->seat->world;
    const struct cleave__streaming *streaming = world->streaming;
    uint32_t full = 0; /* routers in a row that have no room */
    while (!f->ended && full < streaming->routers) {
        if (f->under_way[f->next_router] >= world->window) {
            f->next_router = (f->next_router + 1) % streaming->routers;
            full++;
            continue;
        }
        full = 0;
        if (!f->has_item) {
            struct cleave_error error;
            cleave__arena_rewind(&f->arena, (struct cleave_arena_mark){0});
            enum cleave_status status =
                streaming->feed_ops->next(streaming->feed, &f->arena, &f->item, &error);
            if (status) {
                cleave__context_fail(context, status, "%s", error.message);
                return;
            }
            f->has_item = true;
        }
        bool object = f->item.kind == CLEAVE__FEED_OBJECT;
        bool change = f->item.kind == CLEAVE__FEED_STORE || f->item.kind == CLEAVE__FEED_REMOVE;
        if (f->filling.count && (f->filling.count == world->batch || (!object && !change) ||
                                 object != f->filling.objects)) {
            if (too_far_ahead(f))
                return; /* until an answer comes */
            if (!flush(f, context))
                return;
            continue;
        }
        if (change && cleave__map_find(&f->changing, f->item.query.id)) {
            if (!flush(f, context))
                return;
            return; /* until that change is acknowledged */
        }
        if (!object && !change) {
            if (f->in_all)
                return;
            f->has_item = false;
            f->ended = f->item.kind == CLEAVE__FEED_END;
            continue;
        }
        if (object && f->item.object.time_ms < f->last_ms) {
            cleave__context_fail(context, CLEAVE_BAD_INPUT,
                                 "object %llu is of an earlier time than the one before it",
                                 (unsigned long long)f->item.object.number);
            return;
        }
        if (!(object ? add_object(f) : add_change(f))) {
            cleave__stream_no_memory(context);
            return;
        }
        f->filling.count++;
        f->has_item = false;
    }
    if (f->ended && !f->in_all && streaming->balance != CLEAVE__BALANCE_STATIC)
        cleave__context_send(context, cleave__balancer_actor(world), CLEAVE__STREAM_OVER, NULL, 0);
}

static void answered(struct cleave__feeder *f, struct cleave_context *context,
                     const struct cleave_message *message)
{
    uint32_t index = (uint32_t)message->tag;
    struct cleave__fed *fed = &f->fed.data[index];
    uint64_t now_ns = cleave__context_now_ns(context);
    tell(f, fed, true);
    for (size_t i = 0; !fed->objects && i < fed->which.count; i++)
        cleave__map_remove(&f->changing, fed->which.data[i] >> 1);
    *(fed->objects ? &f->last_object_ns : &f->last_query_ns) = now_ns;
    if (fed->objects) {
        cleave__counter_add(f->seat->world->watch->acknowledged, fed->which.count);
        cleave__gauge_add(f->seat->world->watch->under_way, -(int64_t)fed->which.count);
    }
    f->under_way[fed->router]--;
    f->in_all--;
    fed->used = false;
    feed(f, context);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__feeder *f = self;
    if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT)
        answered(f, context, message);
    else
        feed(f, context); /* the first message: begin */
}

const struct cleave_actor_ops cleave__feeder_ops = {"feeder", create, destroy, receive, NULL};
