/* The feeder: draws items, fills messages, keeps so many under way to each router. A change of a
 * query waits until the one before it to the same query is acknowledged. */
#include "stream/serve/feeder.h"

#include <stdlib.h>
#include <string.h>

#include "move/move.h"
#include "stream/serve/evaluator.h"

#define TAG_OVER UINT64_MAX
enum { TRIES_FIRST = 3, GRACE_MS = 60000 };

static void destroy(void *self)
{
    struct cleave__feeder *f = self;
    for (size_t i = 0; i < f->fed.count; i++) {
        CLEAVE_VECTOR_FREE(&f->fed.data[i].which);
        free(f->fed.data[i].body);
    }
    CLEAVE_VECTOR_FREE(&f->fed);
    CLEAVE_VECTOR_FREE(&f->filling.which);
    free(f->under_way);
    free(f->silent);
    cleave__map_free(&f->changing);
    cleave__map_free(&f->sequences);
    cleave__histogram_free(&f->ack_ns);
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
        f->version = seat->world->streaming->first_version;
        f->under_way = calloc(seat->world->streaming->routers, sizeof *f->under_way);
        f->silent = calloc(seat->world->streaming->routers, sizeof *f->silent);
    }
    if (!f || !f->under_way || !f->silent) {
        if (f)
            destroy(f);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a feeder");
    }
    *self = f;
    return CLEAVE_OK;
}

/* What a successor must know: numbers in a row. */
static uint64_t **kept(struct cleave__feeder *f, uint64_t *list[])
{
    uint64_t *all[CLEAVE__FEEDER_KEPT] = {
        &f->step,           &f->version,      &f->last_ms,  &f->order,           &f->objects,
        &f->queries,        &f->removals,     &f->repeated, &f->first_object_ns, &f->last_object_ns,
        &f->first_query_ns, &f->last_query_ns};
    memcpy(list, all, sizeof all);
    return list;
}

void cleave__feeder_write(struct cleave__feeder *f, struct cleave_writer *writer)
{
    uint64_t *list[CLEAVE__FEEDER_KEPT];
    cleave__put8(writer, f->ended);
    for (uint32_t i = 0; i < CLEAVE__FEEDER_KEPT; i++)
        cleave__put64(writer, *kept(f, list)[i]);
}

enum cleave_status cleave__feeder_load(struct cleave__feeder *f, const uint8_t *saved,
                                       size_t length, struct cleave_error *error)
{
    uint64_t *list[CLEAVE__FEEDER_KEPT];
    struct cleave_reader reader = {saved, saved + length, false};
    f->ended = cleave__get8(&reader);
    for (uint32_t i = 0; i < CLEAVE__FEEDER_KEPT; i++)
        *kept(f, list)[i] = cleave__get64(&reader);
    if (reader.failed || cleave__left(&reader))
        return cleave_error_set(error, CLEAVE_CORRUPT, "what a feeder kept makes no sense");
    return CLEAVE_OK;
}

static void save(struct cleave__feeder *f, struct cleave_context *context)
{
    if (!f->seat->world->durable)
        return;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__feeder_write(f, writer);
    if (writer->failed)
        cleave__stream_no_memory(context);
    else
        cleave__context_save(context, writer->data, writer->count);
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
    /* Other feeders' clocks may be a little behind. */
    uint64_t grace_ms = f->seat->world->streaming->apart ? GRACE_MS : 0;
    return first_ms > grace_ms ? first_ms - grace_ms : 0;
}

/* Every change of a lower version is acknowledged. */
static uint64_t settled(const struct cleave__feeder *f)
{
    uint64_t least = f->version + 1;
    if (f->seat->world->streaming->others)
        return 0;
    if (f->filling.count && !f->filling.objects)
        least = f->filling.first_version;
    for (size_t i = 0; i < f->fed.count; i++) {
        const struct cleave__fed *fed = &f->fed.data[i];
        if (fed->used && !fed->objects && fed->first_version < least)
            least = fed->first_version;
    }
    return least;
}

static void send(struct cleave__feeder *f, struct cleave_context *context, uint32_t index,
                 const uint8_t *body, size_t length)
{
    const struct cleave__fed *fed = &f->fed.data[index];
    enum cleave__stream_kind kind = !fed->objects ? CLEAVE__STREAM_CHANGES
                                    : fed->tries  ? CLEAVE__STREAM_OBJECTS_AGAIN
                                                  : CLEAVE__STREAM_OBJECTS;
#ifdef CLEAVE_PLANT_NO_AGAIN /* a bug that tests build in, to see it found */
    kind = fed->objects ? CLEAVE__STREAM_OBJECTS : kind;
#endif
    uint32_t tries = fed->tries + TRIES_FIRST; /* routers ask again themselves, and sooner */
    uint64_t pause_ns = cleave__pause_ns(f->seat->world->streaming->retry_ns,
                                         tries < CLEAVE__TRIES_MOST ? tries : CLEAVE__TRIES_MOST);
    const struct cleave__stream_world *world = f->seat->world;
    /* What travels in pieces must not go to several routers. */
    uint32_t router =
        fed->tries && world->streaming->apart && length <= world->streaming->whole_most
            ? cleave__any_router(world)
            : cleave__router_actor(world, fed->router);
    cleave__context_request(context, router, kind, body, length, pause_ns, index);
}

/* To the next router, one that answers if there is such; where routers are a group, to any. */
static void send_again(struct cleave__feeder *f, struct cleave_context *context, uint32_t index)
{
    struct cleave__fed *fed = &f->fed.data[index];
    uint32_t routers = f->seat->world->streaming->routers, next = fed->router;
    f->silent[fed->router] = true;
    f->under_way[fed->router]--;
    for (uint32_t i = 0; i < routers; i++) {
        next = (next + 1) % routers;
        if (!f->silent[next])
            break;
    }
    if (f->silent[next])
        next = (fed->router + 1) % routers;
    fed->router = next;
    fed->tries = cleave__tries_more(fed->tries);
    f->under_way[next]++;
    f->repeated++;
    send(f, context, index, fed->body, fed->length);
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
    f->filling.body = world->durable ? malloc(f->body.count) : NULL;
    if (world->durable && !f->filling.body) {
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
    fed->sent_ns = now_ns;
    if (!fed->objects) {
        cleave__store64(f->body.data, settled(f));
        f->first_query_ns = f->first_query_ns ? f->first_query_ns : now_ns;
    } else { /* the head, left free until now */
        cleave__store64(f->body.data, now_ns);
        cleave__store64(f->body.data + 8, done_ms(f, fed->first_ms));
        cleave__store64(f->body.data + 16, settled(f));
        f->first_object_ns = f->first_object_ns ? f->first_object_ns : now_ns;
    }
    if (world->durable) {
        memcpy(fed->body, f->body.data, f->body.count);
        fed->length = f->body.count;
    }
    tell(f, fed, false);
    f->under_way[fed->router]++;
    f->in_all++;
    f->next_router = (f->next_router + 1) % world->streaming->routers;
    save(f, context);
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
    if (!f->filling.count) {
        f->filling.objects = false;
        f->filling.first_version = record.version;
        cleave__put64(&f->body, 0); /* settled, when it is sent */
    }
    cleave__record_write(&record, &f->body);
    *(removed ? &f->removals : &f->queries) += 1;
    cleave__counter_add(removed ? f->seat->world->watch->removals : f->seat->world->watch->queries,
                        1);
    return cleave__map_put(&f->changing, record.query.id) &&
           CLEAVE_PUSH(&f->filling.which, record.query.id << 1 | removed);
}

/* Nothing more will come: with faults until the balancer has heard. */
static void over(struct cleave__feeder *f, struct cleave_context *context)
{
    const struct cleave__stream_world *world = f->seat->world;
    uint32_t balancer = cleave__balancer_actor(world);
    if (world->streaming->apart) {
        cleave__context_end(context);
        return;
    }
    if (world->streaming->balance == CLEAVE__BALANCE_STATIC)
        return;
    if (!world->durable)
        cleave__context_send(context, balancer, CLEAVE__STREAM_OVER, NULL, 0);
    else
        cleave__context_request(context, balancer, CLEAVE__STREAM_OVER, NULL, 0,
                                cleave__pause_ns(world->streaming->retry_ns, f->over_tries),
                                TAG_OVER);
}

/* Draws and sends as long as there is room. */
static void feed(struct cleave__feeder *f, struct cleave_context *context)
{
    const struct cleave__stream_world *world = f->seat->world;
    const struct cleave__streaming *streaming = world->streaming;
    uint32_t full = 0; /* routers in a row that have no room */
    while (!f->ended && full < streaming->routers) {
        if (f->under_way[f->next_router] >= (f->silent[f->next_router] ? 1 : world->window)) {
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
    if (f->ended && !f->in_all)
        over(f, context);
}

static void answered(struct cleave__feeder *f, struct cleave_context *context,
                     const struct cleave_message *message)
{
    if (message->tag == TAG_OVER) {
        f->over_tries = cleave__tries_more(f->over_tries);
        if (message->sort == CLEAVE_TIMEOUT)
            over(f, context);
        return;
    }
    uint32_t index = (uint32_t)message->tag;
    struct cleave__fed *fed = &f->fed.data[index];
    uint64_t now_ns = cleave__context_now_ns(context);
    if (message->sort == CLEAVE_TIMEOUT) {
        send_again(f, context, index);
        return;
    }
    const struct cleave__streaming *streaming = f->seat->world->streaming;
    struct cleave_error error;
    enum cleave_status status = streaming->feed_ops->may_count
                                    ? streaming->feed_ops->may_count(streaming->feed, &error)
                                    : CLEAVE_OK;
    if (status) {
        cleave__context_fail(context, status, "%s", error.message);
        return;
    }
    tell(f, fed, true);
    for (size_t i = 0; !fed->objects && i < fed->which.count; i++) {
        cleave__map_remove(&f->changing, fed->which.data[i] >> 1);
        *(fed->which.data[i] & 1 ? &f->removals_acknowledged : &f->queries_acknowledged) += 1;
    }
    *(fed->objects ? &f->last_object_ns : &f->last_query_ns) = now_ns;
    if (fed->objects) {
        f->objects_acknowledged += fed->which.count;
        if (f->seat->world->streaming->apart &&
            !cleave__histogram_add(&f->ack_ns, now_ns - fed->sent_ns, fed->which.count)) {
            cleave__stream_no_memory(context);
            return;
        }
        cleave__counter_add(f->seat->world->watch->acknowledged, fed->which.count);
        cleave__gauge_add(f->seat->world->watch->under_way, -(int64_t)fed->which.count);
    }
    f->silent[fed->router] = false;
    f->under_way[fed->router]--;
    f->in_all--;
    fed->used = false;
    free(fed->body);
    fed->body = NULL;
    save(f, context);
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

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__feeder *f = self;
    struct cleave_error error;
    if (!f->seat->world->durable)
        return; /* begins with the first message */
    enum cleave_status status = saved ? cleave__feeder_load(f, saved, length, &error) : CLEAVE_OK;
    if (status)
        cleave__context_fail(context, status, "%s", error.message);
    else
        feed(f, context);
}

const struct cleave_actor_ops cleave__feeder_ops = {"feeder", create, destroy, receive, start};
