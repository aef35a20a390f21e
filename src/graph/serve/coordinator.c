/* A coordinator: takes queries, asks shards, answers. The search itself is in search.c.
 *
 * An answer: u64 number; u64 hops, requests, remote requests, reads, looks, rounds; u32 users and
 * each of them; and where lists change, u32 reads, each u32 user, u64 version, asked, answered. */
#include "graph/serve/coordinator.h"

#include <stdlib.h>
#include <string.h>

#include "graph/serve/stranger.h"

static void no_memory(struct cleave_context *context)
{
    cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for queries");
}

static void destroy(void *self)
{
    struct cleave__coordinator *c = self;
    for (size_t i = 0; i < c->searches.count; i++) {
        struct cleave__search *s = c->searches.data[i];
        CLEAVE_VECTOR_FREE(&s->frontier);
        CLEAVE_VECTOR_FREE(&s->next);
        CLEAVE_VECTOR_FREE(&s->ask);
        CLEAVE_VECTOR_FREE(&s->answer);
        CLEAVE_VECTOR_FREE(&s->notes);
        free(s->seen.slot);
        free(s);
    }
    CLEAVE_VECTOR_FREE(&c->searches);
    CLEAVE_VECTOR_FREE(&c->asks);
    CLEAVE_VECTOR_FREE(&c->free_asks);
    CLEAVE_VECTOR_FREE(&c->queue);
    for (uint32_t i = 0; c->far && i < c->seat->world->serving->shards; i++)
        CLEAVE_VECTOR_FREE(&c->far[i].waiting);
    free(c->far);
    free(c->owner);
    free(c->copied);
    free(c);
}

/* What outlives a crash: the map, and a barrier that has no answer yet. */
static void save(void *self, struct cleave_context *context)
{
    struct cleave__coordinator *c = self;
    struct cleave_writer writer = {0};
    if (!c->seat->world->serving->crashes)
        return;
    cleave__move_router_write(&c->router, &writer);
    for (uint32_t v = 0; v < c->seat->world->graph->vertices; v++) {
        cleave__put32(&writer, c->owner[v]);
        cleave__put8(&writer, c->copied[v]);
    }
    if (writer.failed)
        no_memory(context);
    else
        cleave__context_save(context, writer.data, writer.count);
    free(writer.data);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__coordinator *c = self;
    struct cleave_reader reader = {saved, saved + length, false};
    if (!saved)
        return;
    if (!cleave__move_router_read(&c->router, &reader))
        no_memory(context);
    for (uint32_t v = 0; v < c->seat->world->graph->vertices; v++) {
        c->owner[v] = cleave__get32(&reader);
        c->copied[v] = cleave__get8(&reader);
    }
    cleave__move_router_resume(&c->router, context);
}

static void map(void *self, uint32_t target, const uint8_t *pieces, size_t count)
{
    struct cleave__coordinator *c = self;
    for (size_t i = 0; i < count; i++)
        c->owner[cleave__load64(pieces + i * 8)] = target - cleave__shard_actor(0);
}

static const struct cleave__move_router_ops router_ops = {map, save};

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__seat *seat = argument;
    struct cleave__coordinator *c = calloc(1, sizeof *c);
    size_t bytes = seat->world->graph->vertices * sizeof *c->owner;
    if (c) {
        c->seat = seat;
        c->router = (struct cleave__move_router){
            .ops = &router_ops, .holder = c, .retry_ns = seat->world->serving->retry_ns};
        c->owner = malloc(bytes + 1);
        c->copied = calloc((size_t)seat->world->graph->vertices + 1, sizeof *c->copied);
        if (seat->world->open)
            c->far = calloc(seat->world->serving->shards, sizeof *c->far);
    }
    if (!c || !c->owner || !c->copied || (seat->world->open && !c->far)) {
        if (c)
            destroy(c);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a coordinator");
    }
    memcpy(c->owner, seat->world->serving->owner, bytes);
    *self = c;
    return CLEAVE_OK;
}

/* One that is not busy, or a new one; UINT32_MAX: memory is out. */
static uint32_t search_slot(struct cleave__coordinator *c)
{
    for (uint32_t i = 0; i < c->searches.count; i++) {
        if (!c->searches.data[i]->busy)
            return i;
    }
    struct cleave__search *s = calloc(1, sizeof *s);
    if (!s || !CLEAVE_PUSH(&c->searches, s)) {
        free(s);
        return UINT32_MAX;
    }
    return (uint32_t)c->searches.count - 1;
}

static void begin(struct cleave__coordinator *c, struct cleave_context *context,
                  const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    const struct cleave__world *world = c->seat->world;
    struct cleave__query query = world->serving->query;
    enum cleave__serving_executor executor = world->serving->executor;
    uint64_t number = cleave__get64(&reader), wait_ns = 0;
    query.source = cleave__get32(&reader);
    if (world->open)
        wait_ns = cleave__get64(&reader);
    if (world->open && !cleave__question_read(&reader, world->graph, &query, &executor)) {
        cleave__stranger_refuse(world, message); /* of somebody who speaks otherwise */
        return;
    }
    uint32_t slot = search_slot(c);
    if (slot == UINT32_MAX) {
        no_memory(context);
        return;
    }
    struct cleave__search *s = c->searches.data[slot];
    s->busy = true;
    s->client = message->promise;
    s->number = number;
    s->query = query;
    s->executor = executor;
    s->source = query.source;
    s->out = 0;
    s->lost = false;
    if (world->open)
        s->until_ns = cleave__context_now_ns(context) + (wait_ns < UINT64_MAX / 2 ? wait_ns : 0);
    if (!cleave__search_begin(c, context, slot))
        no_memory(context);
}

void cleave__coordinator_answer(struct cleave__coordinator *c, struct cleave_context *context,
                                struct cleave__search *s)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    const uint64_t figures[] = {s->number, s->hops,  s->requests, s->remote_requests,
                                s->reads,  s->looks, s->rounds};
    for (uint32_t i = 0; i < sizeof figures / sizeof *figures; i++)
        cleave__put64(writer, figures[i]);
    cleave__put32(writer, (uint32_t)s->answer.count);
    uint8_t *to = cleave__put_space(writer, s->answer.count * 4);
    for (size_t i = 0; to && i < s->answer.count; i++)
        cleave__store32(to + i * 4, s->answer.data[i].user);
    if (c->seat->world->tracked) {
        cleave__put32(writer, (uint32_t)s->notes.count);
        for (size_t i = 0; i < s->notes.count; i++) {
            cleave__put32(writer, s->notes.data[i].user);
            cleave__put64(writer, s->notes.data[i].version);
            cleave__put64(writer, s->notes.data[i].asked_ns);
            cleave__put64(writer, s->notes.data[i].answered_ns);
        }
    }
    s->busy = false;
    if (writer->failed)
        no_memory(context);
    else
        cleave__context_answer(context, s->client, CLEAVE__GRAPH_ANSWER, writer->data,
                               writer->count);
}

bool cleave__coordinator_send(struct cleave__coordinator *c, struct cleave_context *context,
                              struct cleave__ask ask)
{
    const struct cleave__world *world = c->seat->world;
    struct cleave__search *s = c->searches.data[ask.search];
    struct cleave_writer *writer = cleave__context_writer(context);
    bool copies = false;
    uint32_t tag;
    if (c->free_asks.count) {
        tag = c->free_asks.data[--c->free_asks.count];
    } else {
        tag = (uint32_t)c->asks.count;
        if (!CLEAVE_PUSH(&c->asks, ask) || !CLEAVE_RESERVE(&c->free_asks, c->asks.count))
            return false;
    }
    if (world->tracked)
        ask.sent_ns = cleave__context_now_ns(context);
    c->asks.data[tag] = ask;
    c->under_way++;
    cleave__counter_add(c->seat->world->watch->requested, 1);
    s->requests++;
    s->remote_requests += ask.shard != s->home;
    for (uint32_t i = 0; i < ask.count && !ask.owners; i++)
        copies = copies || c->copied[s->ask.data[ask.first + i]];
    cleave__put32(writer, (s->looking ? CLEAVE__READ_BRIEF : 0) | (copies ? CLEAVE__READ_COPY : 0) |
                              (s->level == 0 ? CLEAVE__READ_SOURCE : 0));
    for (uint32_t i = 0; i < ask.count; i++)
        cleave__put32(writer, s->ask.data[ask.first + i]);
    if (writer->failed)
        return false;
    cleave__context_request(context, cleave__shard_actor(ask.shard), CLEAVE__GRAPH_READ,
                            writer->data, writer->count,
                            c->far ? cleave__far_pause_ns(c, ask.shard)
                                   : cleave__pause_ns(world->serving->retry_ns, ask.tries),
                            tag);
    return true;
}

void cleave__coordinator_ask(struct cleave__coordinator *c, struct cleave_context *context,
                             uint32_t search, uint32_t first, uint32_t count, bool owners,
                             uint32_t tries)
{
    const struct cleave__world *world = c->seat->world;
    struct cleave__search *s = c->searches.data[search];
    bool single = s->executor == CLEAVE__SERVE_DIRECT, ok = true;
    for (uint32_t end, all = first + count; first < all && ok; first = end) {
        uint32_t shard = cleave__coordinator_shard(c, s, s->ask.data[first], owners);
        end = first + 1;
        while (!single && end < all &&
               cleave__coordinator_shard(c, s, s->ask.data[end], owners) == shard)
            end++;
        struct cleave__ask ask = {search, first, end - first, shard, owners, tries, 0, 0};
        s->out++;
        ok = c->far                         ? cleave__far_ask(c, context, ask)
             : c->under_way < world->window ? cleave__coordinator_send(c, context, ask)
                                            : CLEAVE_PUSH(&c->queue, ask);
    }
    if (!ok)
        no_memory(context);
}

/* What waited goes, as far as the window allows: by the map as it is now. */
static void send_waiting(struct cleave__coordinator *c, struct cleave_context *context)
{
    while (c->queue_first < c->queue.count && c->under_way < c->seat->world->window) {
        struct cleave__ask ask = c->queue.data[c->queue_first++];
        cleave__coordinator_ask(c, context, ask.search, ask.first, ask.count, ask.owners,
                                ask.tries);
    }
    if (c->queue_first == c->queue.count)
        c->queue_first = c->queue.count = 0;
}

/* Where in the search's `ask` the user is, one of the request's. Answers come in the order asked,
 * but for users that moved meanwhile. */
static uint32_t place_of(const struct cleave__search *s, const struct cleave__ask *ask,
                         uint32_t from, uint32_t user)
{
    for (uint32_t i = 0; i < ask->count; i++) {
        uint32_t at = ask->first + (from + i) % ask->count;
        if (s->ask.data[at] == user)
            return at;
    }
    return UINT32_MAX;
}

static bool take_record(struct cleave__coordinator *c, struct cleave_context *context,
                        const struct cleave__ask *ask, uint32_t index, struct cleave_reader *reader)
{
    struct cleave__search *s = c->searches.data[ask->search];
    const uint8_t *head = cleave__get_bytes(reader, 24), *targets = NULL;
    uint32_t degree = head ? cleave__load32(head + 4) : 0, user = head ? cleave__load32(head) : 0;
    uint32_t place = head ? place_of(s, ask, index, user) : UINT32_MAX;
    if (head && degree == CLEAVE__ELSEWHERE && place != UINT32_MAX) {
        cleave__coordinator_ask(c, context, ask->search, place, 1, true, ask->tries);
        return true;
    }
    if (head && !s->looking)
        targets = cleave__get_bytes(reader, (uint64_t)degree * 4);
    if (reader->failed || place == UINT32_MAX) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "lists that were not asked for");
        return false;
    }
    s->pending--;
    bool ok = !c->seat->world->tracked ||
              CLEAVE_PUSH(&s->notes,
                          (struct cleave__read_note){user, cleave__load64(head + 16), ask->sent_ns,
                                                     cleave__context_now_ns(context)});
    if (!ok || !cleave__search_record(c, s, user, degree, cleave__load32(head + 8), targets)) {
        no_memory(context);
        return false;
    }
    return true;
}

static void take_lists(struct cleave__coordinator *c, struct cleave_context *context,
                       const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave__ask ask = c->asks.data[message->tag];
    c->free_asks.data[c->free_asks.count++] = (uint32_t)message->tag;
    bool in_time = message->sort != CLEAVE_TIMEOUT;
    if (in_time && c->far) {
        const struct cleave__search *s = c->searches.data[ask.search];
        in_time = cleave__stranger_lists(c->seat->world, s->ask.data + ask.first, ask.count,
                                         s->looking, message);
        if (!in_time) /* as if none had come */
            cleave__stranger_refuse(c->seat->world, message);
    }
    c->under_way--;
    if (!in_time) {
        c->repeated++;
        cleave__counter_add(c->seat->world->watch->requested_again, 1);
    }
    if (c->far && !cleave__far_answered(c, context, &ask, in_time))
        return;
    if (!in_time) {
        cleave__coordinator_ask(c, context, ask.search, ask.first, ask.count, ask.owners,
                                cleave__tries_more(ask.tries));
        return;
    }
    for (uint32_t i = 0; i < ask.count; i++) {
        if (!take_record(c, context, &ask, i, &reader))
            return;
    }
    if (c->searches.data[ask.search]->pending == 0 && !cleave__search_go_on(c, context, ask.search))
        no_memory(context);
    if (c->far && !cleave__far_go_on(c, context, ask.shard))
        no_memory(context);
    send_waiting(c, context);
}

static void take_replicas(struct cleave__coordinator *c, struct cleave_context *context,
                          const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    while (cleave__left(&reader))
        c->copied[cleave__get32(&reader)] = true;
    save(c, context);
    cleave__context_answer(context, message->promise, CLEAVE__GRAPH_DONE, NULL, 0);
}

/* A shard is there again: it need not be found out by a request that waits for long. */
static void take_back(struct cleave__coordinator *c, struct cleave_context *context,
                      uint32_t sender)
{
    uint32_t shard = sender - cleave__shard_actor(0);
    if (shard >= c->seat->world->serving->shards)
        return;
    cleave__far_heard(c, shard);
    if (!cleave__far_go_on(c, context, shard))
        no_memory(context);
}

static void receive_open(struct cleave__coordinator *c, struct cleave_context *context,
                         const struct cleave_message *message)
{
    if (!cleave__stranger_to_coordinator(c->seat, message))
        cleave__stranger_refuse(c->seat->world, message);
    else if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT)
        take_lists(c, context, message);
    else if (message->sort == CLEAVE_REQUEST)
        begin(c, context, message);
    else
        take_back(c, context, message->sender);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__coordinator *c = self;
    if (c->far)
        receive_open(c, context, message);
    else if (cleave__move_message(message))
        cleave__move_router_receive(&c->router, context, message);
    else if (message->kind == CLEAVE__GRAPH_REPLICAS)
        take_replicas(c, context, message);
    else if (message->sort == CLEAVE_REPLY || message->sort == CLEAVE_TIMEOUT)
        take_lists(c, context, message);
    else if (message->kind == CLEAVE__GRAPH_QUERY)
        begin(c, context, message);
    else
        cleave__context_fail(context, CLEAVE_CORRUPT,
                             "a message of kind %u, unknown to coordinators", message->kind);
}

const struct cleave_actor_ops cleave__coordinator_ops = {"coordinator", create, destroy, receive,
                                                         start};
