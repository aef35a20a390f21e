/* The reference: every transaction as the trace has it, in its order, on one database. One that
 * fails there is rolled back, and has failed on the shards if these are right. */
#include <stdlib.h>
#include <string.h>

#include "tables/replay/dispatcher.h"

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct cleave__reference *reference = calloc(1, sizeof *reference);
    if (!reference)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the reference");
    reference->world = argument;
    cleave__port_init(&reference->port, reference->world->reference);
    *self = reference;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct cleave__reference *reference = self;
    cleave__port_close(&reference->port);
    cleave__arena_free(&reference->arena);
    free(reference);
}

static enum cleave_status run(struct cleave__reference *reference,
                              const struct cleave__planned *planned,
                              struct cleave__outcome *outcome, struct cleave_error *error)
{
    struct cleave_arena *arena = &reference->arena;
    uint32_t count = planned->statement_count, sent = 0;
    struct cleave_store_statement *statements =
        cleave__arena_array(arena, count + 1, sizeof *statements);
    struct cleave_store_answer *answers = cleave__arena_array(arena, count + 1, sizeof *answers);
    outcome->digests = cleave__arena_zalloc(arena, (count + 1) * sizeof *outcome->digests);
    outcome->statement_count = count;
    if (!statements || !answers || !outcome->digests)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the reference");
    for (uint32_t s = 0; s < count; s++) {
        const struct cleave__planned_statement *statement = &planned->statements[s];
        if (statement->rule == CLEAVE__RULE_PASS)
            continue;
        struct cleave_store_parameter *parameters =
            cleave__arena_array(arena, statement->parameter_count + 1, sizeof *parameters);
        if (!parameters)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the reference");
        for (uint32_t p = 0; p < statement->parameter_count; p++)
            parameters[p].text = statement->parameters[p];
        statements[sent++] = (struct cleave_store_statement){statement->text, parameters,
                                                             statement->parameter_count};
    }
    const struct cleave_store_batch batch = {statements, sent, CLEAVE_BATCH_COMMIT, NULL};
    enum cleave_status status;
    for (int conflicts = 0;; conflicts++) {
        status = cleave__port_batch(&reference->port, &batch, arena, answers, error);
        if (status != CLEAVE_CONFLICT || conflicts == CLEAVE__CONFLICTS)
            break;
        cleave__conflict_nap(conflicts);
    }
    if (status == CLEAVE_BAD_INPUT || status == CLEAVE_CONFLICT) {
        outcome->failure = cleave__arena_copy(arena, error->message, strlen(error->message));
        return outcome->failure
                   ? CLEAVE_OK
                   : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the reference");
    }
    for (uint32_t s = 0, at = 0; s < count && !status; s++) {
        const struct cleave__planned_statement *statement = &planned->statements[s];
        if (statement->rule == CLEAVE__RULE_PASS)
            continue;
        cleave__digest_answer(&outcome->digests[s], &answers[at], answers[at].columns,
                              statement->keys, statement->key_count);
        at++;
    }
    return status;
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct cleave__reference *reference = self;
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave__outcome outcome = {0};
    struct cleave__planned planned;
    struct cleave_error error = {0};
    cleave__arena_rewind(&reference->arena, (struct cleave_arena_mark){0});
    if (message->sort != CLEAVE_REQUEST ||
        !cleave__planned_read(&reader, cleave__lookup_shards(reference->world->lookup),
                              &reference->arena, &outcome.number, &planned)) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "a transaction is cut short");
        return;
    }
    enum cleave_status status = run(reference, &planned, &outcome, &error);
    struct cleave_writer *writer = cleave__context_writer(context);
    if (status) {
        cleave__put_varint(writer, status);
        cleave__put_text(writer, error.message, strlen(error.message));
    } else {
        cleave__outcome_write(&outcome, writer);
    }
    cleave__context_answer(context, message->promise,
                           status ? CLEAVE__REPLAY_STOPPED : CLEAVE__REPLAY_DONE, writer->data,
                           writer->count);
}

const struct cleave_actor_ops cleave__reference_ops = {"reference", create, destroy, receive, NULL};
