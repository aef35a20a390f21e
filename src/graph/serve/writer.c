/* The writer: edges and users come and go while queries run. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/serve/change.h"

enum { OUT_OF = 20 }; /* one change in so many is a user who goes or comes */

static void no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for changes");
}

static void destroy(void *self)
{
    struct cleave__graph_writer *w = self;
    cleave__history_free(&w->history);
    CLEAVE_VECTOR_FREE(&w->plan);
    free(w->owner);
    free(w->busy);
    free(w->tries);
    free(w->change);
    free(w);
}

static void map(void *self, uint32_t target, const uint8_t *pieces, size_t count)
{
    struct cleave__graph_writer *w = self;
    for (size_t i = 0; i < count; i++)
        w->owner[cleave__load64(pieces + i * 8)] = target - cleave__shard_actor(0);
}

static void save(void *self, struct cleave_context *context)
{
    (void)self, (void)context;
}

static const struct cleave__move_router_ops router_ops = {map, save};

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__seat *seat = argument;
    const struct cleave__graph *graph = seat->world->graph;
    struct cleave__graph_writer *w = calloc(1, sizeof *w);
    size_t n = (size_t)graph->vertices + 1;
    if (w) {
        w->seat = seat;
        w->router = (struct cleave__move_router){
            .ops = &router_ops, .holder = w, .retry_ns = seat->world->serving->retry_ns};
        w->owner = malloc(n * sizeof *w->owner);
        w->busy = calloc(n, sizeof *w->busy);
        w->tries = calloc(n, sizeof *w->tries);
        w->change = calloc(n, sizeof *w->change);
    }
    if (!w || !w->owner || !w->busy || !w->tries || !w->change ||
        !cleave__history_open(&w->history, graph)) {
        if (w)
            destroy(w);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a writer");
    }
    memcpy(w->owner, seat->world->serving->owner, graph->vertices * sizeof *w->owner);
    *self = w;
    return CLEAVE_OK;
}

static void send(struct cleave__graph_writer *w, struct cleave_context *context, uint32_t user)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__change_write(&w->change[user], writer);
    if (writer->failed)
        no_memory(context);
    else
        cleave__context_request(context, cleave__shard_actor(w->owner[user]), CLEAVE__GRAPH_CHANGE,
                                writer->data, writer->count,
                                cleave__pause_ns(w->seat->world->serving->retry_ns, w->tries[user]),
                                user);
}

/* A user goes: its edges, and those that lead to it. */
static bool plan_going(struct cleave__graph_writer *w, uint32_t user)
{
    for (uint32_t v = 0; v < w->history.vertices; v++) {
        const struct cleave__user *list = cleave__history_now(&w->history, v);
        bool follows = false;
        for (uint32_t i = 0; i < list->degree && !follows; i++)
            follows = list->target[i] == user;
        if (follows &&
            !CLEAVE_PUSH(&w->plan, (struct cleave__change){
                                       .user = v, .other = user, .op = CLEAVE__CHANGE_REMOVE}))
            return false;
    }
    return CLEAVE_PUSH(&w->plan, (struct cleave__change){.user = user, .op = CLEAVE__CHANGE_CLEAR});
}

/* One comes (back): it follows some and is followed by some. */
static bool plan_coming(struct cleave__graph_writer *w, struct cleave_random *random, uint32_t user)
{
    for (int i = 0; i < 6; i++) {
        uint32_t other = (uint32_t)cleave__random_below(random, w->history.vertices);
        struct cleave__change change = {
            .user = i % 2 ? user : other, .other = i % 2 ? other : user, .op = CLEAVE__CHANGE_ADD};
        if (other != user && !CLEAVE_PUSH(&w->plan, change))
            return false;
    }
    return true;
}

/* The next change; its user may be busy. False: memory is out. */
static bool draw(struct cleave__graph_writer *w, struct cleave_random *random,
                 struct cleave__change *out)
{
    uint32_t n = w->history.vertices, user = (uint32_t)cleave__random_below(random, n);
    const struct cleave__user *list = cleave__history_now(&w->history, user);
    if (!w->plan.count && cleave__random_below(random, OUT_OF) == 0 &&
        !(list->degree ? plan_going(w, user) : plan_coming(w, random, user)))
        return false;
    if (w->plan.count) {
        *out = w->plan.data[--w->plan.count];
        return true;
    }
    *out = (struct cleave__change){.user = user, .op = CLEAVE__CHANGE_ADD};
    if (list->degree && cleave__random_below(random, 2)) {
        out->op = CLEAVE__CHANGE_REMOVE;
        out->other = list->target[cleave__random_below(random, list->degree)];
    } else {
        out->other = (uint32_t)cleave__random_below(random, n);
        if (out->other == user)
            out->op = CLEAVE__CHANGE_NOTHING;
    }
    return true;
}

static void make_change(struct cleave__graph_writer *w, struct cleave_context *context)
{
    struct cleave__change change;
    if (!draw(w, cleave__context_random(context), &change)) {
        no_memory(context);
        return;
    }
    if (w->busy[change.user]) { /* later; in what order does not matter */
        if (!CLEAVE_PUSH(&w->plan, change))
            no_memory(context);
        else if (w->plan.count > 1) {
            uint32_t at =
                (uint32_t)cleave__random_below(cleave__context_random(context), w->plan.count);
            w->plan.data[w->plan.count - 1] = w->plan.data[at];
            w->plan.data[at] = change;
        }
        return;
    }
    const struct cleave__user *list = cleave__history_now(&w->history, change.user);
    change.version = list->version + 1;
    struct cleave__user *fresh = cleave__user_changed(list, &change);
    if (!fresh || !cleave__history_add(&w->history, fresh, cleave__context_now_ns(context))) {
        free(fresh);
        no_memory(context);
        return;
    }
    w->busy[change.user] = true;
    w->change[change.user] = change;
    w->sent++;
    send(w, context, change.user);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    const struct cleave__graph_writer *w = self;
    (void)saved, (void)length;
    if (w->seat->world->serving->changes)
        cleave__context_timer(context, w->seat->world->serving->change_every_ns, 0);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__graph_writer *w = self;
    const struct cleave__serving *serving = w->seat->world->serving;
    uint32_t user = (uint32_t)message->tag;
    if (cleave__move_message(message)) {
        cleave__move_router_receive(&w->router, context, message);
    } else if (message->sort == CLEAVE_TIMER) {
        if (w->sent - w->acknowledged < w->seat->world->write_window) /* else later */
            make_change(w, context);
        if (w->sent < serving->changes)
            cleave__context_timer(context, serving->change_every_ns, 0);
    } else if (message->sort == CLEAVE_TIMEOUT) {
        w->repeated++;
        w->tries[user] = (uint8_t)cleave__tries_more(w->tries[user]);
        send(w, context, user);
    } else {
        w->busy[user] = false;
        w->tries[user] = 0;
        w->acknowledged++;
        cleave__history_acknowledge(&w->history, user, cleave__context_now_ns(context));
    }
}

const struct cleave_actor_ops cleave__graph_writer_ops = {"writer", create, destroy, receive,
                                                          start};
