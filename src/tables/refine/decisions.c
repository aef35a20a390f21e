/* Decisions: each makes a snapshot, changes the copy, checks it against the schema, and pushes it.
 */
#include <stdlib.h>
#include <string.h>

#include "tables/refine/constraints.h"
#include "tables/refine/session.h"

const struct cleave_steer *cleave__session_steer(const struct cleave_session *session)
{
    return &session->decisions.data[session->decisions.count - 1];
}

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the decision");
}

/* Checks and pushes a changed snapshot. */
static enum cleave_status decide(struct cleave_session *session, const struct cleave_steer *steer,
                                 struct cleave_error *error)
{
    enum cleave_status status =
        cleave__steer_check(steer, session->kase->schema, session->input.shards, error);
    if (status)
        return status;
    if (!CLEAVE_PUSH(&session->decisions, *steer))
        return no_memory(error);
    session->dirty = true;
    return CLEAVE_OK;
}

/* A copy of an array with room for one more, in the session's arena. */
static void *copy_array(struct cleave_session *session, const void *from, uint32_t count,
                        size_t size)
{
    char *to = cleave__arena_zalloc(&session->arena, ((size_t)count + 1) * size);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

static bool copy_rows(struct cleave_session *session, const struct cleave_rows *from,
                      struct cleave_selector *to)
{
    const char *texts[3] = {from->table, from->column, from->value};
    const char *held[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        if (!texts[i])
            continue;
        held[i] = cleave__arena_copy(&session->arena, texts[i], strlen(texts[i]));
        if (!held[i])
            return false;
    }
    *to = (struct cleave_selector){held[0], held[1], held[2]};
    return true;
}

static enum cleave_status add_rule(struct cleave_session *session, enum cleave_rule_kind kind,
                                   const struct cleave_rows *a, const struct cleave_rows *b,
                                   uint32_t shard, struct cleave_error *error)
{
    struct cleave_steer steer = *cleave__session_steer(session);
    struct cleave_rule rule = {.kind = kind, .shard = shard};
    if (!a || !a->table || (b && !b->table))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "a decision needs a table");
    steer.rules = copy_array(session, steer.rules, steer.rule_count, sizeof *steer.rules);
    if (!steer.rules || !copy_rows(session, a, &rule.a) || (b && !copy_rows(session, b, &rule.b)))
        return no_memory(error);
    steer.rules[steer.rule_count++] = rule;
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_pin(struct cleave_session *session,
                                      const struct cleave_rows *rows, uint32_t shard,
                                      struct cleave_error *error)
{
    return add_rule(session, CLEAVE_PIN, rows, NULL, shard, error);
}

enum cleave_status cleave_session_together(struct cleave_session *session,
                                           const struct cleave_rows *a, const struct cleave_rows *b,
                                           struct cleave_error *error)
{
    return add_rule(session, CLEAVE_TOGETHER, a, b, 0, error);
}

enum cleave_status cleave_session_apart(struct cleave_session *session, const struct cleave_rows *a,
                                        const struct cleave_rows *b, struct cleave_error *error)
{
    return add_rule(session, CLEAVE_APART, a, b, 0, error);
}

enum cleave_status cleave_session_split(struct cleave_session *session,
                                        const struct cleave_rows *rows, struct cleave_error *error)
{
    return add_rule(session, CLEAVE_SPLIT, rows, NULL, 0, error);
}

enum cleave_status cleave_session_merge(struct cleave_session *session,
                                        const struct cleave_rows *rows, struct cleave_error *error)
{
    return add_rule(session, CLEAVE_MERGE, rows, NULL, 0, error);
}

/* The table's entry in a snapshot whose list is already a copy; appended when absent. */
static struct cleave_table_steer *table_entry(struct cleave_session *session,
                                              struct cleave_steer *steer, const char *table)
{
    for (uint32_t t = 0; t < steer->table_count; t++) {
        if (strcmp(steer->tables[t].table, table) == 0)
            return &steer->tables[t];
    }
    const char *name = cleave__arena_copy(&session->arena, table, strlen(table));
    if (!name)
        return NULL;
    steer->tables[steer->table_count] = (struct cleave_table_steer){.table = name};
    return &steer->tables[steer->table_count++];
}

static struct cleave_table_steer *edit_table(struct cleave_session *session,
                                             struct cleave_steer *steer, const char *table)
{
    *steer = *cleave__session_steer(session);
    steer->tables = copy_array(session, steer->tables, steer->table_count, sizeof *steer->tables);
    return steer->tables ? table_entry(session, steer, table) : NULL;
}

enum cleave_status cleave_session_replicate(struct cleave_session *session, const char *table,
                                            enum cleave_replication mode,
                                            struct cleave_error *error)
{
    struct cleave_steer steer;
    struct cleave_table_steer *entry = edit_table(session, &steer, table);
    if (!entry)
        return no_memory(error);
    entry->replicate = mode == CLEAVE_REPLICATION_ALWAYS  ? CLEAVE_REPLICATE_ALWAYS
                       : mode == CLEAVE_REPLICATION_NEVER ? CLEAVE_REPLICATE_NEVER
                                                          : CLEAVE_REPLICATE_AUTO;
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_key(struct cleave_session *session, const char *table,
                                      const char *column, struct cleave_error *error)
{
    struct cleave_steer steer;
    struct cleave_table_steer *entry = edit_table(session, &steer, table);
    const char *held = column ? cleave__arena_copy(&session->arena, column, strlen(column)) : NULL;
    if (!entry || (column && !held))
        return no_memory(error);
    entry->key = held;
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_weights(struct cleave_session *session, double size,
                                          double access, struct cleave_error *error)
{
    struct cleave_steer steer = *cleave__session_steer(session);
    steer.size_weight = size;
    steer.access_weight = access;
    if (size + access > 0) {
        steer.alpha = size / (size + access);
        steer.beta = 1 - steer.alpha;
    }
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_capacity(struct cleave_session *session, uint32_t shard,
                                           double storage, double accesses, double network,
                                           double share, struct cleave_error *error)
{
    struct cleave_steer steer = *cleave__session_steer(session);
    if (shard >= session->input.shards)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "shards are numbered 0 to %u",
                                session->input.shards - 1);
    uint32_t count = shard >= steer.node_count ? shard + 1 : steer.node_count;
    struct cleave_node *nodes =
        cleave__arena_zalloc(&session->arena, (size_t)count * sizeof *nodes);
    if (!nodes)
        return no_memory(error);
    if (steer.node_count)
        memcpy(nodes, steer.nodes, steer.node_count * sizeof *nodes);
    nodes[shard] = (struct cleave_node){storage, accesses, network, share};
    steer.nodes = nodes;
    steer.node_count = count;
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_epsilon(struct cleave_session *session, double epsilon,
                                          bool strict, struct cleave_error *error)
{
    struct cleave_steer steer = *cleave__session_steer(session);
    steer.epsilon = epsilon;
    steer.strict = strict;
    return decide(session, &steer, error);
}

enum cleave_status cleave_session_budget(struct cleave_session *session, uint32_t iterations,
                                         uint32_t split_top, bool rank_by_ratio,
                                         struct cleave_error *error)
{
    struct cleave_steer steer = *cleave__session_steer(session);
    bool dirty = session->dirty;
    steer.iterations = iterations;
    steer.split_top = split_top;
    steer.rank_by_ratio = rank_by_ratio;
    enum cleave_status status = decide(session, &steer, error);
    if (!status)
        session->dirty = dirty; /* the placement stands; only what follows changes */
    return status;
}

enum cleave_status cleave_session_undo(struct cleave_session *session, struct cleave_error *error)
{
    if (session->decisions.count < 2)
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "there is no decision to undo");
    session->decisions.count--;
    session->dirty = true;
    return CLEAVE_OK;
}

enum cleave_status cleave_session_save(const struct cleave_session *session, const char *path,
                                       struct cleave_error *error)
{
    return cleave__constraints_write(path, cleave__session_steer(session), error);
}

enum cleave_status cleave_session_load(struct cleave_session *session, const char *path,
                                       struct cleave_error *error)
{
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    enum cleave_status status = cleave__constraints_read(
        path, session->kase->schema, session->input.shards, &session->arena, &steer, error);
    return status ? status : decide(session, &steer, error);
}
