/* A client in closed loop. */
#include <stdlib.h>

#include "tables/serve/actors.h"

void cleave__serve_body(struct cleave_writer *writer, uint64_t transaction, uint32_t accesses)
{
    enum { BYTES_AN_ACCESS = 100, BYTES_BESIDES = 64, ACCESSES_MOST = 100000 };
    cleave__put_varint(writer, transaction);
    cleave__put_varint(writer, accesses);
    size_t size = BYTES_BESIDES +
                  (size_t)(accesses < ACCESSES_MOST ? accesses : ACCESSES_MOST) * BYTES_AN_ACCESS;
    if (size > writer->count)
        cleave__put_space(writer, size - writer->count);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct cleave__client *client = calloc(1, sizeof *client);
    if (!client)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a simulated client");
    client->seat = argument;
    client->next = client->seat->client;
    *self = client;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct cleave__client *client = self;
    cleave__histogram_free(&client->latency_ns);
    free(client);
}

/* Begins the next transaction, if there is one. */
static void begin(struct cleave__client *client, struct cleave_context *context)
{
    const struct cleave__cluster *cluster = client->seat->cluster;
    const struct cleave_plan *plan = cluster->plan;
    if (client->next >= cluster->transactions)
        return;
    uint32_t transaction = (uint32_t)(client->next % plan->transactions);
    uint64_t from = plan->offsets.data[transaction];
    uint32_t parts = (uint32_t)(plan->offsets.data[transaction + 1] - from), accesses = 0;
    for (uint32_t p = 0; p < parts; p++)
        accesses += plan->parts.data[from + p].accesses;
    /* Parts take turns in coordinating. */
    uint32_t shard = plan->parts.data[from + client->next % parts].shard;
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__serve_body(writer, client->next, accesses);
    client->began_ns = cleave__context_now_ns(context);
    client->distributed += parts > 1;
    client->accesses += accesses;
    client->next += cluster->simulation->clients;
    cleave__context_request(context, cleave__backend_of(cluster, shard, client->seat->client),
                            CLEAVE__SERVE_RUN, writer->data, writer->count, 0, 0);
}

static void start(void *self, struct cleave_context *context, const uint8_t *saved, size_t length)
{
    (void)saved, (void)length;
    begin(self, context);
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__client *client = self;
    (void)message;
    client->done++;
    if (!cleave__histogram_add(&client->latency_ns,
                               cleave__context_now_ns(context) - client->began_ns, 1))
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for latencies");
    begin(client, context);
}

const struct cleave_actor_ops cleave__client_ops = {"client", create, destroy, receive, start};
