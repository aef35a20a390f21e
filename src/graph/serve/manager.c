/* The manager: copies of hubs, a split, moves at random; one step at a time.
 *
 * Which hubs: those of most observed reads a byte, until the budget is spent; one more copy on
 * every shard costs its bytes times the others' number. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/serve/change.h"

enum tag { TICK, ASK_LOAD, ASK_COPY, TELL_COPIES };

static void no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for a manager");
}

static void destroy(void *self)
{
    struct cleave__graph_manager *m = self;
    cleave__mover_free(&m->mover);
    CLEAVE_VECTOR_FREE(&m->hot);
    free(m->owner);
    free(m->load);
    free(m);
}

static uint64_t tag_of(enum tag what, uint32_t tries, uint64_t index)
{
    return (uint64_t)tries << 40 | (uint64_t)what << 32 | index;
}

static bool wants_moves(const struct cleave__graph_manager *m)
{
    const struct cleave__serving *serving = m->seat->world->serving;
    return m->moves + m->given_up < serving->moves && serving->shards > 1;
}

/* The next step, some time later, if there is one. */
static void plan_next(struct cleave__graph_manager *m, struct cleave_context *context)
{
    if (!m->replicated || !m->split || wants_moves(m))
        cleave__context_timer(context, m->seat->world->serving->manage_every_ns,
                              tag_of(TICK, 0, 0));
}

static void over(void *self, struct cleave_context *context, bool moved)
{
    struct cleave__graph_manager *m = self;
    if (moved) {
        m->moves++;
        m->moved += m->mover.pieces.count;
        for (size_t i = 0; i < m->mover.pieces.count; i++)
            m->owner[m->mover.pieces.data[i]] = m->mover.target - cleave__shard_actor(0);
    } else {
        m->given_up++;
    }
    plan_next(m, context);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__seat *seat = argument;
    const struct cleave__serving *serving = seat->world->serving;
    struct cleave__graph_manager *m = calloc(1, sizeof *m);
    size_t bytes = seat->world->graph->vertices * sizeof *m->owner;
    if (m) {
        m->seat = seat;
        m->mover = (struct cleave__mover){
            .done = over, .holder = m, .retry_ns = serving->retry_ns, .tries_most = 8};
        m->replicated = !serving->replicate_bytes || serving->shards == 1;
        m->split = !serving->split || serving->shards == 1;
        m->owner = malloc(bytes + 1);
        m->load = calloc(serving->shards, sizeof *m->load);
    }
    if (!m || !m->owner || !m->load) {
        if (m)
            destroy(m);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a manager");
    }
    memcpy(m->owner, serving->owner, bytes);
    *self = m;
    return CLEAVE_OK;
}

static void begin_move(struct cleave__graph_manager *m, struct cleave_context *context,
                       uint32_t source, uint32_t target, const uint64_t *users, size_t count)
{
    const struct cleave__world *world = m->seat->world;
    uint32_t routers = world->serving->coordinators + 1, *router = malloc(routers * sizeof *router);
    if (!router) {
        no_memory(context);
        return;
    }
    for (uint32_t i = 0; i + 1 < routers; i++)
        router[i] = cleave__coordinator_actor(world, i);
    router[routers - 1] = cleave__writer_actor(world);
    cleave__mover_begin(&m->mover, context, cleave__shard_actor(source),
                        cleave__shard_actor(target), router, routers, users, count);
    free(router);
}

/* Some users of one shard to another, whichever. */
static void move_some(struct cleave__graph_manager *m, struct cleave_context *context)
{
    const struct cleave__serving *serving = m->seat->world->serving;
    struct cleave_random *random = cleave__context_random(context);
    uint32_t n = m->seat->world->graph->vertices;
    uint32_t source = m->owner[cleave__random_below(random, n)]; /* has one at least */
    uint32_t target = (uint32_t)cleave__random_below(random, serving->shards - 1), of_source = 0;
    target += target >= source;
    for (uint32_t v = 0; v < n; v++)
        of_source += m->owner[v] == source;
    uint32_t most = serving->move_most < of_source ? serving->move_most : of_source;
    uint32_t wanted = 1 + (uint32_t)cleave__random_below(random, most ? most : 1);
    CLEAVE_VECTOR(uint64_t) users = {0};
    for (uint32_t v = 0; v < n && wanted; v++) {
        if (m->owner[v] != source)
            continue;
        if (cleave__random_below(random, of_source--) < wanted) {
            wanted--;
            if (!CLEAVE_PUSH(&users, v))
                no_memory(context);
        }
    }
    begin_move(m, context, source, target, users.data, users.count);
    CLEAVE_VECTOR_FREE(&users);
}

/* Requests: `tries` were in vain. */
static uint64_t pause_ns(const struct cleave__graph_manager *m, uint32_t tries)
{
    return cleave__pause_ns(m->seat->world->serving->retry_ns, tries);
}

static void ask_load(struct cleave__graph_manager *m, struct cleave_context *context,
                     uint32_t shard, uint32_t tries)
{
    cleave__context_request(context, cleave__shard_actor(shard), CLEAVE__GRAPH_LOAD, NULL, 0,
                            pause_ns(m, tries), tag_of(ASK_LOAD, tries, shard));
}

static void ask_loads(struct cleave__graph_manager *m, struct cleave_context *context)
{
    const struct cleave__serving *serving = m->seat->world->serving;
    m->waiting = serving->shards;
    m->hot.count = 0;
    for (uint32_t s = 0; s < serving->shards; s++)
        ask_load(m, context, s, 0);
}

static void ask_copy(struct cleave__graph_manager *m, struct cleave_context *context, uint32_t i,
                     uint32_t tries)
{
    uint8_t body[4];
    uint32_t user = m->hot.data[i].user;
    cleave__store32(body, user);
    cleave__context_request(context, cleave__shard_actor(m->owner[user]), CLEAVE__GRAPH_REPLICATE,
                            body, sizeof body, pause_ns(m, tries), tag_of(ASK_COPY, tries, i));
}

static void tell_copies(struct cleave__graph_manager *m, struct cleave_context *context, uint32_t i,
                        uint32_t tries)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    for (uint32_t h = 0; h < m->copied; h++)
        cleave__put32(writer, m->hot.data[h].user);
    if (writer->failed)
        no_memory(context);
    else
        cleave__context_request(context, cleave__coordinator_actor(m->seat->world, i),
                                CLEAVE__GRAPH_REPLICAS, writer->data, writer->count,
                                pause_ns(m, tries), tag_of(TELL_COPIES, tries, i));
}

static int compare_hot(const void *a, const void *b)
{
    const struct cleave__hot *x = a, *y = b;
    __extension__ typedef unsigned __int128 wide;
    wide l = (wide)x->reads * y->bytes, r = (wide)y->reads * x->bytes;
    return l != r ? (l < r) - (l > r) : (x->user > y->user) - (x->user < y->user);
}

static void choose_hubs(struct cleave__graph_manager *m, struct cleave_context *context)
{
    const struct cleave__serving *serving = m->seat->world->serving;
    uint32_t chosen = 0;
    if (m->hot.count)
        qsort(m->hot.data, m->hot.count, sizeof *m->hot.data, compare_hot);
    for (size_t i = 0; i < m->hot.count; i++) {
        uint64_t bytes = m->hot.data[i].bytes * (serving->shards - 1);
        if (m->copied_bytes + bytes > serving->replicate_bytes)
            continue;
        m->copied_bytes += bytes;
        m->hot.data[chosen++] = m->hot.data[i];
    }
    m->copied = m->waiting = chosen;
    m->replicated = true;
    while (m->asked < chosen && m->asked < CLEAVE__COPIES_AT_ONCE)
        ask_copy(m, context, m->asked++, 0);
    if (!chosen)
        plan_next(m, context);
}

/* Half of the busiest shard goes to the idlest. */
static void split(struct cleave__graph_manager *m, struct cleave_context *context)
{
    const struct cleave__world *world = m->seat->world;
    uint32_t full = 0, spare = 0;
    for (uint32_t s = 1; s < world->serving->shards; s++) {
        full = m->load[s] > m->load[full] ? s : full;
        spare = m->load[s] < m->load[spare] ? s : spare;
    }
    size_t count = 0;
    m->split = true;
    uint64_t *users =
        cleave__split_choose(world->graph, m->owner, full, world->serving->seed, &count);
    if (!users)
        no_memory(context);
    else if (count && full != spare)
        begin_move(m, context, full, spare, users, count);
    else
        plan_next(m, context);
    free(users);
}

static void take_load(struct cleave__graph_manager *m, struct cleave_context *context,
                      const struct cleave_message *message, uint32_t shard)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    m->load[shard] = cleave__get64(&reader);
    cleave__get32(&reader);
    while (cleave__left(&reader)) {
        struct cleave__hot hot = {.user = cleave__get32(&reader)};
        hot.reads = cleave__get64(&reader);
        hot.bytes = cleave__get64(&reader);
        if (m->owner[hot.user] == shard && !CLEAVE_PUSH(&m->hot, hot))
            no_memory(context);
    }
    if (--m->waiting)
        return;
    if (!m->replicated)
        choose_hubs(m, context);
    else
        split(m, context);
}

static void tick(struct cleave__graph_manager *m, struct cleave_context *context)
{
    if (!m->replicated || !m->split)
        ask_loads(m, context);
    else
        move_some(m, context);
}

static void again(struct cleave__graph_manager *m, struct cleave_context *context, enum tag what,
                  uint32_t index, uint32_t tries)
{
    if (what == ASK_LOAD)
        ask_load(m, context, index, tries);
    else if (what == ASK_COPY)
        ask_copy(m, context, index, tries);
    else
        tell_copies(m, context, index, tries);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    (void)saved, (void)length;
    plan_next(self, context);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__graph_manager *m = self;
    enum tag what = (enum tag)(message->tag >> 32 & 0xff);
    uint32_t index = (uint32_t)message->tag;
    if (cleave__move_message(message)) {
        cleave__mover_receive(&m->mover, context, message);
    } else if (message->sort == CLEAVE_TIMER) {
        tick(m, context);
    } else if (message->sort == CLEAVE_TIMEOUT) {
        again(m, context, what, index, cleave__tries_more((uint32_t)(message->tag >> 40)));
    } else if (what == ASK_LOAD) {
        take_load(m, context, message, index);
    } else if (--m->waiting) {
        if (what == ASK_COPY && m->asked < m->copied)
            ask_copy(m, context, m->asked++, 0);
    } else {
        if (what == TELL_COPIES) {
            plan_next(m, context);
            return;
        }
        m->waiting = m->seat->world->serving->coordinators;
        for (uint32_t i = 0; i < m->seat->world->serving->coordinators; i++)
            tell_copies(m, context, i, 0);
    }
}

const struct cleave_actor_ops cleave__graph_manager_ops = {"manager", create, destroy, receive,
                                                           start};
