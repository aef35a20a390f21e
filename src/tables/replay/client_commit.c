/* Two-phase commit, from the client's side; decide.h says how. */
#include "base/clock.h"
#include "tables/replay/client.h"

static void at(const struct cleave__replay_client *client, const char *point)
{
    if (client->world->at)
        client->world->at(client->world->at_context, point);
}

/* The branch's name goes on with the anchor of this attempt. */
static void name_of(const struct cleave__replay_client *client, uint32_t shard,
                    char name[CLEAVE_PREPARED_NAME_MOST + 1])
{
    cleave__branch_name(client->world->coordinator, client->id, client->anchor, shard, name);
}

/* Finishes every branch that is, or may be, prepared: once in one round, then whoever was lost. */
static enum cleave_status finish(struct cleave__replay_client *client, bool commit,
                                 struct cleave_error *error)
{
    char name[CLEAVE_PREPARED_NAME_MOST + 1];
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        struct cleave__port *port = &branch->port;
        name_of(client, s, name);
        branch->sent = branch->state == CLEAVE__BRANCH_PREPARED && port->session &&
                       !port->ops->send_finish(port->session, name, commit, NULL);
        if (branch->state == CLEAVE__BRANCH_PREPARED && !branch->sent)
            cleave__port_close(port);
    }
    at(client, commit ? "asked to finish" : "asked to roll back");
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        struct cleave__port *port = &branch->port;
        if (!branch->sent)
            continue;
        enum cleave_status got = port->ops->receive_finish(port->session, NULL);
        branch->sent = false;
        if (!got || got == CLEAVE_NOT_FOUND)
            branch->state = CLEAVE__BRANCH_NONE;
        if (got == CLEAVE_IO)
            cleave__port_close(port);
    }
    uint64_t until_ns = cleave__clock_ns() + client->world->patience_ns;
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        name_of(client, s, name);
        while (branch->state == CLEAVE__BRANCH_PREPARED ||
               branch->state == CLEAVE__BRANCH_UNKNOWN) {
            enum cleave_status got = cleave__port_await(&branch->port, client->world, error);
            if (!got)
                got = cleave__port_finish(&branch->port, name, commit, error);
            if (!got) {
                branch->state = CLEAVE__BRANCH_NONE;
            } else if (got != CLEAVE_IO || cleave__clock_ns() > until_ns ||
                       (client->world->stop && *client->world->stop)) {
                status = cleave_error_set(
                    error, got == CLEAVE_IO ? CLEAVE_LIMIT : got,
                    "%.200s has a transaction prepared that is %s, and did "
                    "not take that in time; `cleave tables recover` settles "
                    "it",
                    cleave__port_shown(&branch->port, (char[CLEAVE__SHOWN_SIZE]){0}),
                    commit ? "committed" : "to be rolled back");
                break;
            }
        }
    }
    return status;
}

enum cleave_status cleave__client_find_out(struct cleave__replay_client *client, bool *committed,
                                           struct cleave_error *error)
{
    struct cleave__port *anchor = &client->branches[client->anchor].port;
    uint64_t until_ns = cleave__clock_ns() + client->world->patience_ns;
    client->unknown++;
    for (;;) {
        enum cleave_status status = cleave__port_await(anchor, client->world, error);
        if (!status)
            status = cleave__decision_find(anchor, client->world->coordinator, client->id,
                                           committed, error);
        if (status != CLEAVE_IO)
            return status;
        if (cleave__clock_ns() > until_ns || (client->world->stop && *client->world->stop))
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "%s did not come back in time: whether its last transaction "
                                    "was committed is not known; `cleave tables recover` settles "
                                    "what waits for it",
                                    cleave__port_shown(anchor, (char[CLEAVE__SHOWN_SIZE]){0}));
    }
}

/* The anchor's commit, which is the decision. */
static enum cleave_status decide(struct cleave__replay_client *client, struct cleave_error *error)
{
    struct cleave__branch *anchor = &client->branches[client->anchor];
    char text[24];
    struct cleave_store_parameter parameters[2];
    struct cleave_store_statement statement;
    struct cleave_store_answer answer;
    cleave__decision_statement(client->world->coordinator, client->id, text, parameters,
                               &statement);
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    uint32_t failed = 1;
    anchor->state = CLEAVE__BRANCH_NONE; /* it is over there, one way or the other */
    if (!anchor->port.session)
        return cleave_error_set(error, CLEAVE_IO, "%s is gone",
                                cleave__port_shown(&anchor->port, (char[CLEAVE__SHOWN_SIZE]){0}));
    enum cleave_status status = anchor->port.ops->send(anchor->port.session, &batch, error);
    at(client, "asked to decide");
    if (!status)
        status = anchor->port.ops->receive(anchor->port.session, &client->arena, &answer, &failed,
                                           error);
    if (status == CLEAVE_IO)
        cleave__port_close(&anchor->port);
    /* A constraint that is looked at when the transaction ends. */
    client->refused =
        client->refused || status == CLEAVE_CONFLICT || (status == CLEAVE_BAD_INPUT && failed == 1);
    /* The row is there: a sweep has fenced this attempt off. It may be begun anew. */
    return status == CLEAVE_BAD_INPUT && failed == 0 ? CLEAVE_IO : status;
}

enum cleave_status cleave__client_commit(struct cleave__replay_client *client,
                                         struct cleave_error *error)
{
    at(client, "prepared");
#ifdef CLEAVE__PLANT_UNDECIDED /* a bug on purpose, in a test alone: nobody decides */
    (void)finish(client, true, error);
#endif
    enum cleave_status status = decide(client, error);
    if (status == CLEAVE_IO) {
        bool committed = false;
        enum cleave_status found = cleave__client_find_out(client, &committed, error);
        if (found)
            return found;
        if (committed)
            status = CLEAVE_OK;
    }
    if (status) {
        struct cleave_error later;
        enum cleave_status left = cleave__client_abort(client, &later);
        if (left && error)
            *error = later;
        client->refused = client->refused && !left;
        return left ? left : status;
    }
    at(client, "decided");
    status = finish(client, true, error);
    at(client, "committed");
    return status;
}

enum cleave_status cleave__client_abort(struct cleave__replay_client *client,
                                        struct cleave_error *error)
{
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        if (branch->state != CLEAVE__BRANCH_OPEN)
            continue;
        const struct cleave_store_batch batch = {NULL, 0, CLEAVE_BATCH_ROLLBACK, NULL};
        branch->state = CLEAVE__BRANCH_NONE;
        /* A session that cannot even roll back is closed, which does. */
        if (branch->port.session &&
            cleave__port_batch(&branch->port, &batch, &client->arena, NULL, NULL))
            cleave__port_close(&branch->port);
    }
    return finish(client, false, error);
}
