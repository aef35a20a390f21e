#include "tables/replay/wire.h"

#include <string.h>

enum { COUNT_MOST = 1 << 24 };

static void put_text(struct cleave_writer *w, const char *text)
{
    size_t length = strlen(text);
    cleave__put_varint(w, length);
    cleave__put_bytes(w, text, length + 1);
}

static const char *get_text(struct cleave_reader *r)
{
    uint64_t length = cleave__get_varint(r);
    const uint8_t *bytes =
        length < UINT64_MAX ? cleave__get_bytes(r, length + 1) : (r->failed = true, NULL);
    if (!bytes || memchr(bytes, 0, length + 1) != bytes + length) {
        r->failed = true;
        return NULL;
    }
    return (const char *)bytes;
}

static void put_set(struct cleave_writer *w, const struct cleave_shardset *set)
{
    cleave__put_varint(w, cleave__shardset_count(set));
    for (uint32_t s = 0; s < CLEAVE_SHARDS_MAX; s++) {
        if (cleave__shardset_has(set, s))
            cleave__put_varint(w, s);
    }
}

static void get_set(struct cleave_reader *r, uint32_t shards, struct cleave_shardset *set)
{
    cleave__shardset_clear(set);
    for (uint32_t n = cleave__get_count(r, shards); n-- > 0 && !r->failed;)
        cleave__shardset_add(set, cleave__get_count(r, shards - 1));
}

static void put_statement(struct cleave_writer *w,
                          const struct cleave__planned_statement *statement)
{
    put_text(w, statement->text);
    cleave__put_varint(w, statement->parameter_count);
    for (uint32_t p = 0; p < statement->parameter_count; p++) {
        cleave__put8(w, statement->parameters[p] != NULL);
        if (statement->parameters[p])
            put_text(w, statement->parameters[p]);
    }
    cleave__put8(w, (uint8_t)statement->rule);
    cleave__put_varint(w, statement->table);
    cleave__put8(w, statement->returning);
    cleave__put_varint(w, statement->key_count);
    for (uint32_t k = 0; k < statement->key_count; k++)
        put_text(w, statement->keys[k]);
    cleave__put_varint(w, statement->piece_count);
    for (uint32_t p = 0; p < statement->piece_count; p++) {
        const struct cleave__piece *piece = &statement->pieces[p];
        bool same = piece->text == statement->text; /* said once */
        cleave__put8(w,
                     (uint8_t)(piece->bound | piece->copies << 1 | piece->second << 2 | same << 3));
        cleave__put_varint(w, piece->table);
        put_set(w, &piece->shards);
        if (!same)
            put_text(w, piece->text);
    }
}

void cleave__planned_write(const struct cleave__planned *planned, uint64_t number,
                           struct cleave_writer *w)
{
    cleave__put64(w, number);
    cleave__put8(w, planned->writes);
    put_set(w, &planned->shards);
    cleave__put_varint(w, planned->statement_count);
    for (uint32_t s = 0; s < planned->statement_count; s++)
        put_statement(w, &planned->statements[s]);
}

/* Room for as many things of `size` as are said to follow; each takes a byte at least. */
static void *get_list(struct cleave_reader *r, struct cleave_arena *arena, size_t size,
                      uint32_t *count)
{
    *count = cleave__get_count(r, COUNT_MOST);
    if (*count > cleave__left(r))
        r->failed = true;
    void *list = r->failed ? NULL : cleave__arena_zalloc(arena, (*count + 1) * size);
    r->failed = r->failed || !list;
    if (r->failed)
        *count = 0;
    return list;
}

static void get_statement(struct cleave_reader *r, uint32_t shards, struct cleave_arena *arena,
                          struct cleave__planned_statement *out)
{
    out->text = get_text(r);
    const char **parameters = get_list(r, arena, sizeof *parameters, &out->parameter_count);
    for (uint32_t p = 0; p < out->parameter_count && !r->failed; p++)
        parameters[p] = cleave__get8(r) ? get_text(r) : NULL;
    out->parameters = parameters;
    uint8_t rule = cleave__get8(r);
    r->failed = r->failed || rule >= CLEAVE__RULES;
    out->rule = (enum cleave__rule)rule;
    out->table = cleave__get_count(r, UINT32_MAX);
    out->returning = cleave__get8(r);
    out->keys = get_list(r, arena, sizeof *out->keys, &out->key_count);
    for (uint32_t k = 0; k < out->key_count && !r->failed; k++)
        out->keys[k] = get_text(r);
    out->pieces = get_list(r, arena, sizeof *out->pieces, &out->piece_count);
    for (uint32_t p = 0; p < out->piece_count && !r->failed; p++) {
        struct cleave__piece *piece = &out->pieces[p];
        uint8_t flags = cleave__get8(r);
        piece->bound = flags & 1;
        piece->copies = flags & 2;
        piece->second = flags & 4;
        piece->table = cleave__get_count(r, UINT32_MAX);
        get_set(r, shards, &piece->shards);
        piece->text = flags & 8 ? out->text : get_text(r);
    }
}

bool cleave__planned_read(struct cleave_reader *r, uint32_t shards, struct cleave_arena *arena,
                          uint64_t *number, struct cleave__planned *out)
{
    struct cleave__planned planned = {0};
    *number = cleave__get64(r);
    planned.writes = cleave__get8(r);
    get_set(r, shards, &planned.shards);
    planned.statements = get_list(r, arena, sizeof *planned.statements, &planned.statement_count);
    for (uint32_t s = 0; s < planned.statement_count && !r->failed; s++)
        get_statement(r, shards, arena, &planned.statements[s]);
    *out = planned;
    return !r->failed && cleave__left(r) == 0;
}

void cleave__outcome_write(const struct cleave__outcome *outcome, struct cleave_writer *w)
{
    cleave__put64(w, outcome->number);
    cleave__put64(w, outcome->ns);
    cleave__put_varint(w, outcome->parts);
    cleave__put_varint(w, outcome->prepared);
    cleave__put_varint(w, outcome->retries);
    cleave__put8(w, (uint8_t)(outcome->lost | (outcome->failure != NULL) << 1));
    if (outcome->failure)
        put_text(w, outcome->failure);
    put_set(w, &outcome->shards);
    cleave__put_varint(w, outcome->statement_count);
    for (uint32_t s = 0; s < outcome->statement_count; s++)
        cleave__digest_write(&outcome->digests[s], w);
}

bool cleave__outcome_read(struct cleave_reader *r, struct cleave_arena *arena,
                          struct cleave__outcome *out)
{
    struct cleave__outcome outcome = {.number = cleave__get64(r), .ns = cleave__get64(r)};
    outcome.parts = cleave__get_count(r, CLEAVE_SHARDS_MAX);
    outcome.prepared = cleave__get_count(r, CLEAVE_SHARDS_MAX);
    outcome.retries = cleave__get_count(r, UINT32_MAX);
    uint8_t flags = cleave__get8(r);
    outcome.lost = flags & 1;
    const char *failure = flags & 2 ? get_text(r) : NULL;
    if (failure && !(outcome.failure = cleave__arena_copy(arena, failure, strlen(failure))))
        r->failed = true; /* the message goes before the outcome is looked at */
    get_set(r, CLEAVE_SHARDS_MAX, &outcome.shards);
    outcome.digests = get_list(r, arena, sizeof *outcome.digests, &outcome.statement_count);
    for (uint32_t s = 0; s < outcome.statement_count && !r->failed; s++)
        cleave__digest_read(&outcome.digests[s], r);
    *out = outcome;
    return !r->failed && cleave__left(r) == 0;
}
