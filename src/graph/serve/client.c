/* A client in closed loop. It keeps the answers for the check. It never crashes; a query that is
 * not answered in time is asked again, of another coordinator. */
#include "graph/serve/client.h"

#include <stdlib.h>

#include "graph/serve/stranger.h"
#include "move/move.h"

static void destroy(void *self)
{
    struct cleave__graph_client *client = self;
    cleave__histogram_free(&client->latency_ns);
    free(client->began_ns);
    free(client->number);
    free(client->tries);
    free(client->log.data);
    free(client);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__seat *seat = argument;
    uint32_t outstanding = seat->world->serving->outstanding;
    struct cleave__graph_client *client = calloc(1, sizeof *client);
    if (client) {
        client->seat = seat;
        client->step = seat->world->open ? 1 : seat->world->serving->clients;
        client->next = seat->world->open ? 0 : seat->index;
        client->end = seat->world->serving->sources;
        client->tries = calloc(outstanding, sizeof *client->tries);
        client->began_ns = calloc(outstanding, sizeof *client->began_ns);
        client->number = calloc(outstanding, sizeof *client->number);
    }
    if (!client || !client->began_ns || !client->number || !client->tries) {
        if (client)
            destroy(client);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a client");
    }
    *self = client;
    return CLEAVE_OK;
}

static void send(struct cleave__graph_client *client, struct cleave_context *context, uint32_t at)
{
    const struct cleave__world *world = client->seat->world;
    struct cleave_writer *writer = cleave__context_writer(context);
    uint64_t number = client->number[at];
    cleave__put64(writer, number);
    cleave__put32(writer, cleave__source_of(world->serving, number));
    uint64_t to = (number + client->tries[at]) % world->serving->coordinators;
    /* Longer than shards have for some answers in a row; and ever longer, so that queries which
     * take long are not asked again for ever. */
    uint32_t tries = client->tries[at] + 4;
    uint64_t wait_ns = cleave__graph_pause_ns(
        world->serving, tries < CLEAVE__TRIES_MOST ? tries : CLEAVE__TRIES_MOST);
    if (world->open) {
        cleave__put64(writer, wait_ns);
        cleave__question_write(&world->serving->query, world->serving->executor, writer);
    }
    if (writer->failed) {
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for queries");
        return;
    }
    cleave__context_request(context,
                            world->open ? cleave__coordinators_group(world)
                                        : cleave__coordinator_actor(world, (uint32_t)to),
                            CLEAVE__GRAPH_QUERY, writer->data, writer->count, wait_ns, at);
}

/* The next query, if there is one. */
static void begin(struct cleave__graph_client *client, struct cleave_context *context, uint32_t at)
{
    if (client->next >= client->end)
        return;
    client->tries[at] = 0;
    client->number[at] = client->next;
    client->next += client->step;
    client->began_ns[at] = cleave__context_now_ns(context);
    cleave__counter_add(client->seat->world->watch->asked, 1);
    cleave__gauge_add(client->seat->world->watch->under_way, 1);
    send(client, context, at);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    struct cleave__graph_client *client = self;
    (void)saved, (void)length;
    for (uint32_t i = 0; i < client->seat->world->serving->outstanding; i++)
        begin(client, context, i);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__graph_client *client = self;
    const struct cleave__serving *serving = client->seat->world->serving;
    uint32_t at = (uint32_t)message->tag;
    bool open = client->seat->world->open;
    if (open && message->sort != CLEAVE_REPLY && message->sort != CLEAVE_TIMEOUT) {
        cleave__stranger_refuse(client->seat->world, message);
        return;
    }
    if (message->sort == CLEAVE_MESSAGE) { /* the queries when nothing changes any more */
        client->next = (uint64_t)serving->sources + client->seat->index;
        client->end = (uint64_t)serving->sources + serving->finals;
        start(client, context, NULL, 0);
        return;
    }
    bool answered = message->sort != CLEAVE_TIMEOUT;
    if (answered && open &&
        !cleave__stranger_answer(client->seat->world, client->number[at], message)) {
        cleave__stranger_refuse(client->seat->world, message);
        answered = false;
    }
    if (!answered) {
        client->tries[at]++;
        cleave__counter_add(client->seat->world->watch->asked_again, 1);
        send(client, context, at);
        return;
    }
    uint64_t now_ns = cleave__context_now_ns(context);
    cleave__put64(&client->log, message->length);
    cleave__put_bytes(&client->log, message->body, message->length);
    client->done++;
    cleave__counter_add(client->seat->world->watch->answered, 1);
    cleave__gauge_add(client->seat->world->watch->under_way, -1);
    cleave__timing_add(client->seat->world->watch->answering, now_ns - client->began_ns[at]);
    if (client->number[at] < serving->sources)
        client->last_ns = now_ns;
    if (client->log.failed ||
        (client->number[at] < serving->sources && client->number[at] >= serving->warm &&
         !cleave__histogram_add(&client->latency_ns, now_ns - client->began_ns[at], 1)))
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for answers");
    begin(client, context, at);
}

const struct cleave_actor_ops cleave__graph_client_ops = {"client", create, destroy, receive,
                                                          start};
