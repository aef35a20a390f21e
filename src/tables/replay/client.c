/* A client's turn: rounds, answers, and again when a shard was lost. */
#include "tables/replay/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static void destroy(void *self)
{
    struct cleave__replay_client *client = self;
    for (uint32_t s = 0; client->branches && s < client->shards; s++) {
        cleave__port_close(&client->branches[s].port);
        CLEAVE_VECTOR_FREE(&client->branches[s].statements);
    }
    cleave__client_gather_free(client);
    CLEAVE_VECTOR_FREE(&client->fetched);
    cleave__histogram_free(&client->latency_ns);
    cleave__arena_free(&client->arena);
    free(client->branches);
    free(client);
}

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    const struct cleave__replay_seat *seat = argument;
    struct cleave__replay_client *client = calloc(1, sizeof *client);
    if (!client)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a client");
    client->seat = seat;
    client->world = seat->world;
    client->shards = cleave__lookup_shards(seat->world->lookup);
    client->branches = calloc(client->shards, sizeof *client->branches);
    client->scratch_tables = calloc(cleave__lookup_schema(seat->world->lookup)->table_count + 1,
                                    sizeof *client->scratch_tables);
    if (!client->branches || !client->scratch_tables) {
        destroy(client);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a client");
    }
    for (uint32_t s = 0; s < client->shards; s++)
        cleave__port_init(&client->branches[s].port, seat->world->urls[s]);
    *self = client;
    return CLEAVE_OK;
}

enum cleave_status cleave__client_push(struct cleave__replay_client *client, uint32_t shard,
                                       const struct cleave_store_statement *statement,
                                       struct cleave_error *error)
{
    struct cleave__branch *branch = &client->branches[shard];
    branch->took_part = true;
    if (!CLEAVE_PUSH(&branch->statements, *statement))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a batch");
    return CLEAVE_OK;
}

/* Statements [from, to) to the shards of their pieces. */
static enum cleave_status push_statements(struct cleave__replay_client *client, uint32_t from,
                                          uint32_t to, struct cleave_error *error)
{
    for (uint32_t s = from; s < to; s++) {
        const struct cleave__planned_statement *statement = &client->planned->statements[s];
        for (uint32_t p = 0; p < statement->piece_count; p++) {
            const struct cleave__piece *piece = &statement->pieces[p];
            struct cleave_store_statement one = {.text = piece->text};
            if (piece->bound) {
                one.parameters = client->parameters[s];
                one.parameter_count = statement->parameter_count;
            }
            for (uint32_t i = 0; i < client->shards; i++) {
                if (!cleave__shardset_has(&piece->shards, i))
                    continue;
                enum cleave_status status = cleave__client_push(client, i, &one, error);
                if (status)
                    return status;
            }
        }
    }
    return CLEAVE_OK;
}

static uint32_t count_parts(const struct cleave__replay_client *client)
{
    uint32_t parts = 0;
    for (uint32_t s = 0; s < client->shards; s++)
        parts += client->branches[s].took_part;
    return parts;
}

/* Parts take turns in deciding. */
static uint32_t choose_anchor(const struct cleave__replay_client *client, uint32_t parts)
{
    uint32_t skip = (uint32_t)(client->outcome.number % parts);
    for (uint32_t s = 0; s < client->shards; s++) {
        if (client->branches[s].took_part && skip-- == 0)
            return s;
    }
    return 0;
}

/* What it decides with, as a last statement. */
static enum cleave_status push_decision(struct cleave__replay_client *client, uint32_t shard,
                                        struct cleave_error *error)
{
    struct cleave_store_statement statement;
    struct cleave_store_parameter *parameters =
        cleave__arena_array(&client->arena, 2, sizeof *parameters);
    char *text = cleave__arena_alloc(&client->arena, 24);
    if (!parameters || !text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a decision");
    cleave__decision_statement(client->world->coordinator, client->id, text, parameters,
                               &statement);
    client->branches[shard].own = (uint32_t)client->branches[shard].statements.count;
    return cleave__client_push(client, shard, &statement, error);
}

static enum cleave_status send(struct cleave__replay_client *client, struct cleave__branch *branch,
                               enum cleave_batch_end end, const char *name,
                               struct cleave_error *error)
{
    struct cleave_arena *arena = &client->arena;
    branch->cursor = 0;
    branch->batch = (struct cleave_store_batch){branch->statements.data,
                                                (uint32_t)branch->statements.count, end, name};
    branch->answers =
        cleave__arena_array(arena, branch->statements.count + 1, sizeof *branch->answers);
    if (!branch->answers)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for answers");
    enum cleave_status status = cleave__port_await(&branch->port, client->world, error);
    if (!status) {
        branch->state = end == CLEAVE_BATCH_PREPARE ? CLEAVE__BRANCH_UNKNOWN : CLEAVE__BRANCH_NONE;
        status = branch->port.ops->send(branch->port.session, &branch->batch, error);
    }
    branch->sent = !status;
    return status;
}

/* Whether a store says so because of the work itself: begun anew it would say so again, at the
 * latest once nobody is in its way (CLEAVE_CONFLICT). */
static bool is_refusal(enum cleave_status status)
{
    return status == CLEAVE_BAD_INPUT || status == CLEAVE_CONFLICT;
}

static enum cleave_status receive_answers(struct cleave__replay_client *client,
                                          struct cleave__branch *branch, struct cleave_error *error)
{
    static const enum cleave__branch_state after[] = {[CLEAVE_BATCH_OPEN] = CLEAVE__BRANCH_OPEN,
                                                      [CLEAVE_BATCH_COMMIT] = CLEAVE__BRANCH_NONE,
                                                      [CLEAVE_BATCH_ROLLBACK] = CLEAVE__BRANCH_NONE,
                                                      [CLEAVE_BATCH_PREPARE] =
                                                          CLEAVE__BRANCH_PREPARED};
    uint32_t failed = CLEAVE_ABSENT - 1;
    enum cleave_status status = branch->port.ops->receive(branch->port.session, &client->arena,
                                                          branch->answers, &failed, error);
    branch->sent = false;
    client->refused = client->refused || status == CLEAVE_CONFLICT ||
                      (status == CLEAVE_BAD_INPUT && failed != branch->own);
    if (!status)
        branch->state = after[branch->batch.end];
    else if (status != CLEAVE_IO)
        branch->state = CLEAVE__BRANCH_NONE;
    if (status == CLEAVE_IO)
        cleave__port_close(&branch->port);
    return status;
}

static void at(const struct cleave__replay_client *client, const char *point)
{
    if (client->world->at)
        client->world->at(client->world->at_context, point);
}

enum cleave_status cleave__client_play(struct cleave__replay_client *client, bool last,
                                       struct cleave_error *error)
{
    uint32_t parts = count_parts(client);
    bool writes = client->planned->writes;
    enum cleave_status status = CLEAVE_OK;
    if (last && parts) {
        client->anchor = choose_anchor(client, parts);
        if (writes && parts == 1)
            status = push_decision(client, client->anchor, error);
    }
    bool prepares = last && writes && parts > 1;
    for (uint32_t s = 0; s < client->shards && !status; s++) {
        struct cleave__branch *branch = &client->branches[s];
        if (!branch->took_part || (!last && branch->statements.count == 0))
            continue;
        enum cleave_batch_end end = !last                 ? CLEAVE_BATCH_OPEN
                                    : !prepares           ? CLEAVE_BATCH_COMMIT
                                    : s == client->anchor ? CLEAVE_BATCH_OPEN
                                                          : CLEAVE_BATCH_PREPARE;
        if (end == CLEAVE_BATCH_PREPARE)
            cleave__branch_name(client->world->coordinator, client->id, client->anchor, s,
                                branch->name);
        status = send(client, branch, end, branch->name, error);
        if (status == CLEAVE_IO)
            cleave__port_close(&branch->port);
    }
    if (last)
        at(client, prepares ? "asked to prepare" : "asked to commit");
    /* What was sent is received, whatever happens to the others. */
    for (uint32_t s = 0; s < client->shards; s++) {
        struct cleave__branch *branch = &client->branches[s];
        struct cleave_error here;
        enum cleave_status got = branch->sent ? receive_answers(client, branch, &here) : CLEAVE_OK;
        branch->statements.count = 0;
        /* Of several errors, one that will not pass; one that ends the replay before all. */
        if (got && (!status || status == CLEAVE_IO ||
                    (is_refusal(status) && got != CLEAVE_IO && !is_refusal(got)))) {
            status = got;
            if (error)
                *error = here;
        }
    }
    return status;
}

/* ---- answers ---- */

static enum cleave_status take_statement(struct cleave__replay_client *client, uint32_t index,
                                         struct cleave_error *error)
{
    const struct cleave__planned_statement *statement = &client->planned->statements[index];
    struct cleave__digest *digest = &client->outcome.digests[index];
    if (statement->rule == CLEAVE__RULE_FIRST || statement->rule == CLEAVE__RULE_MOVE)
        return cleave__client_take_rows(client, statement, digest, error);
    for (uint32_t p = 0; p < statement->piece_count; p++) {
        const struct cleave__piece *piece = &statement->pieces[p];
        bool taken = false;
        for (uint32_t s = 0; s < client->shards; s++) {
            if (!cleave__shardset_has(&piece->shards, s))
                continue;
            struct cleave__branch *branch = &client->branches[s];
            const struct cleave_store_answer *answer = &branch->answers[branch->cursor++];
            if (statement->rule == CLEAVE__RULE_GATHER) {
                struct cleave__fetched fetched = {index, s, piece, answer};
                if (!CLEAVE_PUSH(&client->fetched, fetched))
                    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for rows");
            } else if (!taken || !piece->copies) {
                cleave__digest_answer(digest, answer, answer->columns, statement->keys,
                                      statement->key_count);
                taken = true;
            }
        }
    }
    return CLEAVE_OK;
}

/* What was pushed for an UPDATE's rows: each is removed from one shard, put on another. */
static enum cleave_status move_rows(struct cleave__replay_client *client,
                                    const struct cleave__planned_statement *statement,
                                    struct cleave_error *error)
{
    const struct cleave_table *table =
        &cleave__lookup_schema(client->world->lookup)->tables[statement->table];
    for (uint32_t s = 0; s < client->shards; s++)
        client->branches[s].batch.count = 0;
    enum cleave_status status = cleave__client_play(client, false, error);
    /* Without a primary key equal rows go together at the first removal. */
    for (uint32_t s = 0; s < client->shards && !status && table->primary.count; s++) {
        const struct cleave__branch *branch = &client->branches[s];
        for (uint32_t i = 0; i < branch->batch.count && !status; i++) {
            if (branch->answers[i].affected != 1)
                status = cleave_error_set(
                    error, CLEAVE_CORRUPT,
                    "%.100s: %llu rows of %.60s moved where one was to: its "
                    "primary key is not unique there",
                    cleave__port_shown(&branch->port, (char[CLEAVE__SHOWN_SIZE]){0}),
                    (unsigned long long)branch->answers[i].affected, table->name);
        }
    }
    return status;
}

static enum cleave_status play_all(struct cleave__replay_client *client, struct cleave_error *error)
{
    const struct cleave__planned *planned = client->planned;
    uint32_t from = 0;
    bool ended = false;
    enum cleave_status status = CLEAVE_OK;
    while (!status && !ended) {
        uint32_t to = from;
        bool moves = false;
        while (to < planned->statement_count && !moves)
            moves = planned->statements[to++].rule == CLEAVE__RULE_MOVE;
        status = push_statements(client, from, to, error);
        ended = !moves && to == planned->statement_count;
        if (!status)
            status = cleave__client_play(client, ended, error);
        for (uint32_t s = from; s < to && !status; s++)
            status = take_statement(client, s, error);
        if (!status && moves)
            status = move_rows(client, &planned->statements[to - 1], error);
        from = to;
    }
    return status;
}

static void forget(struct cleave__replay_client *client)
{
    for (uint32_t s = 0; s < client->shards; s++) {
        client->branches[s].took_part = false;
        client->branches[s].state = CLEAVE__BRANCH_NONE;
        client->branches[s].statements.count = 0;
        client->branches[s].own = CLEAVE_ABSENT;
    }
    client->refused = false;
    client->outcome.shards = (struct cleave_shardset){{0}};
    client->fetched.count = 0;
    if (client->outcome.statement_count)
        memset(client->outcome.digests, 0,
               client->outcome.statement_count * sizeof *client->outcome.digests);
}

/* Queries over several shards: before anything is committed, since they too can fail. */
static enum cleave_status gather_all(struct cleave__replay_client *client,
                                     struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s < client->planned->statement_count && !status; s++) {
        if (client->planned->statements[s].rule == CLEAVE__RULE_GATHER)
            status = cleave__client_gather(client, s, &client->outcome.digests[s], error);
    }
    client->refused = client->refused || is_refusal(status);
    return status;
}

/* CLEAVE_IO: a shard was lost, and nothing is left of this attempt. The same is true of
 * CLEAVE_BAD_INPUT and CLEAVE_CONFLICT when `refused` is set. */
static enum cleave_status attempt(struct cleave__replay_client *client, struct cleave_error *error)
{
    forget(client);
    client->id =
        client->world->base_id + client->attempts++ * client->world->clients + client->seat->client;
    enum cleave_status status = play_all(client, error);
    if (!status)
        status = gather_all(client, error);
    uint32_t parts = count_parts(client);
    bool writes = client->planned->writes;
    if (status == CLEAVE_IO && writes && parts == 1) {
        bool committed = false;
        status = cleave__client_find_out(client, &committed, error);
        client->outcome.lost = committed;
        if (!status && !committed)
            return CLEAVE_IO;
    } else if (status) {
        struct cleave_error later;
        enum cleave_status left = cleave__client_abort(client, &later);
        if (left && (status == CLEAVE_IO || client->refused)) { /* it must not be begun anew */
            status = left;
            *error = later;
            client->refused = false;
        }
        return status;
    } else if (writes && parts > 1) {
        status = cleave__client_commit(client, error);
        client->outcome.prepared = parts - 1;
    }
    if (status)
        return status;
    client->outcome.parts = parts;
    for (uint32_t s = 0; s < client->shards; s++) {
        if (client->branches[s].took_part)
            cleave__shardset_add(&client->outcome.shards, s);
    }
    return status;
}

/* What a statement's failure comes to. */
static enum cleave_status fail_softly(struct cleave__replay_client *client,
                                      struct cleave_error *error)
{
    client->outcome.parts = client->outcome.prepared = 0;
    client->outcome.lost = false;
    client->outcome.failure =
        cleave__arena_copy(&client->arena, error->message, strlen(error->message));
    return client->outcome.failure
               ? CLEAVE_OK
               : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an outcome");
}

static enum cleave_status run(struct cleave__replay_client *client, struct cleave_error *error)
{
    uint64_t until_ns = cleave__clock_ns() + client->world->patience_ns;
    for (int conflicts = 0;;) {
        enum cleave_status status = attempt(client, error);
        if (client->refused && (status == CLEAVE_BAD_INPUT ||
                                (status == CLEAVE_CONFLICT && conflicts == CLEAVE__CONFLICTS)))
            return fail_softly(client, error);
        bool again = status == CLEAVE_IO || (client->refused && status == CLEAVE_CONFLICT);
        if (!again || cleave__clock_ns() > until_ns ||
            (client->world->stop && *client->world->stop))
            return status;
        if (status == CLEAVE_CONFLICT)
            cleave__conflict_nap(conflicts++);
        client->outcome.retries++;
        cleave__counter_add(client->world->watch->repeated, 1);
        /* The lost ones first: there is no use in work on others while they are gone. */
        for (uint32_t s = 0; s < client->shards; s++) {
            struct cleave__branch *branch = &client->branches[s];
            status = branch->took_part ? cleave__port_await(&branch->port, client->world, error)
                                       : CLEAVE_OK;
            if (status)
                return status;
        }
    }
}

static bool take(struct cleave__replay_client *client, const struct cleave_message *message,
                 struct cleave__planned *planned)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_arena *arena = &client->arena;
    cleave__arena_rewind(arena, (struct cleave_arena_mark){0});
    client->outcome = (struct cleave__outcome){0};
    if (!cleave__planned_read(&reader, client->shards, arena, &client->outcome.number, planned))
        return false;
    client->planned = planned;
    uint32_t count = planned->statement_count;
    client->outcome.digests =
        cleave__arena_zalloc(arena, (count + 1) * sizeof *client->outcome.digests);
    client->parameters = cleave__arena_array(arena, count + 1, sizeof *client->parameters);
    if (!client->outcome.digests || !client->parameters)
        return false;
    client->outcome.statement_count = count;
    for (uint32_t s = 0; s < count; s++) {
        const struct cleave__planned_statement *statement = &planned->statements[s];
        client->parameters[s] = cleave__arena_array(arena, statement->parameter_count + 1,
                                                    sizeof *client->parameters[s]);
        if (!client->parameters[s])
            return false;
        for (uint32_t p = 0; p < statement->parameter_count; p++)
            client->parameters[s][p].text = statement->parameters[p];
    }
    return true;
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__replay_client *client = self;
    struct cleave__planned planned;
    if (message->sort != CLEAVE_REQUEST || !take(client, message, &planned)) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a transaction is cut short");
        return;
    }
    struct cleave_error error = {0};
    uint64_t began_ns = cleave__clock_ns();
    enum cleave_status status = run(client, &error);
    client->planned = NULL;
    struct cleave_writer *writer = cleave__context_writer(context);
    if (status) {
        cleave__put_varint(writer, status);
        cleave__put_text(writer, error.message, strlen(error.message));
        cleave__context_answer(context, message->promise, CLEAVE__REPLAY_STOPPED, writer->data,
                               writer->count);
        return;
    }
    client->outcome.ns = cleave__clock_ns() - began_ns;
    cleave__timing_add(client->world->watch->running, client->outcome.ns);
    if (!cleave__histogram_add(&client->latency_ns, client->outcome.ns, 1))
        cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for latencies");
    cleave__outcome_write(&client->outcome, writer);
    cleave__context_answer(context, message->promise, CLEAVE__REPLAY_DONE, writer->data,
                           writer->count);
}

const struct cleave_actor_ops cleave__replay_client_ops = {"client", create, destroy, receive,
                                                           NULL};
