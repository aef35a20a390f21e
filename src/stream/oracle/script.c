#include "stream/oracle/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

void cleave__stream_script_free(struct cleave__stream_script *script)
{
    cleave__arena_free(&script->arena);
    CLEAVE_VECTOR_FREE(&script->items);
    CLEAVE_VECTOR_FREE(&script->objects);
    CLEAVE_VECTOR_FREE(&script->queries);
    CLEAVE_VECTOR_FREE(&script->live);
    CLEAVE_VECTOR_FREE(&script->drawn);
    CLEAVE_VECTOR_FREE(&script->sent);
    CLEAVE_VECTOR_FREE(&script->removing);
}

static void *copy(struct cleave_arena *arena, const void *from, size_t count, size_t size, bool *ok)
{
    void *to = count ? cleave__arena_array(arena, count, size) : NULL;
    *ok = *ok && (to || !count);
    if (to)
        memcpy(to, from, count * size);
    return to;
}

bool cleave__stream_script_object(struct cleave__stream_script *script,
                                  const struct cleave__object *object)
{
    struct cleave__scripted_object own = {.object = *object};
    bool ok = true;
    own.object.number = script->objects.count + 1;
    own.object.terms =
        copy(&script->arena, object->terms, object->term_count, sizeof *object->terms, &ok);
    own.object.measures = copy(&script->arena, object->measures, object->measure_count,
                               sizeof *object->measures, &ok);
    struct cleave__stream_script_item item = {CLEAVE__FEED_OBJECT, (uint32_t)script->objects.count};
    return ok && CLEAVE_RESERVE(&script->items, script->items.count + 1) &&
           CLEAVE_PUSH(&script->objects, own) && CLEAVE_PUSH(&script->items, item);
}

bool cleave__stream_script_store(struct cleave__stream_script *script,
                                 const struct cleave__query *query)
{
    struct cleave__scripted_query own = {.query = *query};
    bool ok = true;
    own.query.terms =
        copy(&script->arena, query->terms, query->term_count, sizeof *query->terms, &ok);
    own.query.filters =
        copy(&script->arena, query->filters, query->filter_count, sizeof *query->filters, &ok);
    struct cleave__stream_script_item item = {CLEAVE__FEED_STORE, (uint32_t)script->queries.count};
    while (ok && script->live.count <= query->id)
        ok = CLEAVE_PUSH(&script->live, 0) && CLEAVE_PUSH(&script->drawn, 0) &&
             CLEAVE_PUSH(&script->sent, 0) && CLEAVE_PUSH(&script->removing, 0);
    ok = ok && CLEAVE_RESERVE(&script->items, script->items.count + 1) &&
         CLEAVE_PUSH(&script->queries, own) && CLEAVE_PUSH(&script->items, item);
    if (ok)
        script->live.data[query->id] = (uint32_t)script->queries.count;
    return ok;
}

bool cleave__stream_script_remove(struct cleave__stream_script *script, uint64_t id)
{
    struct cleave__stream_script_item item = {CLEAVE__FEED_REMOVE, script->live.data[id] - 1};
    script->live.data[id] = 0;
    return CLEAVE_PUSH(&script->items, item);
}

bool cleave__stream_script_wait(struct cleave__stream_script *script)
{
    return CLEAVE_PUSH(&script->items, (struct cleave__stream_script_item){CLEAVE__FEED_WAIT, 0});
}

static enum cleave_status next(void *feed, struct cleave_arena *arena,
                               struct cleave__feed_item *out, struct cleave_error *error)
{
    struct cleave__stream_script *script = feed;
    (void)arena, (void)error;
    if (script->at == script->items.count) {
        out->kind = CLEAVE__FEED_END;
        return CLEAVE_OK;
    }
    struct cleave__stream_script_item item = script->items.data[script->at++];
    out->kind = item.kind;
    if (item.kind == CLEAVE__FEED_OBJECT) {
        out->object = script->objects.data[item.index].object;
    } else if (item.kind != CLEAVE__FEED_WAIT) {
        out->query = script->queries.data[item.index].query;
        if (item.kind == CLEAVE__FEED_STORE)
            script->drawn.data[out->query.id] = item.index + 1;
        else
            script->removing.data[out->query.id] = item.index + 1;
    }
    return CLEAVE_OK;
}

static void note(struct cleave__stream_script *script, enum cleave__feed_kind kind, uint64_t which,
                 uint64_t step, bool acknowledged)
{
    if (kind == CLEAVE__FEED_OBJECT) {
        struct cleave__scripted_object *object = &script->objects.data[which - 1];
        *(acknowledged ? &object->acknowledged : &object->sent) = step;
        return;
    }
    /* Of one id only one change is under way. A feeder that crashed may have lost some before they
     * were sent: a removal of what never was stored, a query in the stead of one not removed. */
    uint32_t now = kind == CLEAVE__FEED_REMOVE ? script->removing.data[which]
                   : acknowledged              ? script->sent.data[which]
                                               : script->drawn.data[which];
    uint32_t before = script->sent.data[which];
    if (!acknowledged && before && before != now && !script->queries.data[before - 1].removal_sent)
        script->queries.data[before - 1].removal_sent = step;
    if (!acknowledged && kind == CLEAVE__FEED_STORE)
        script->sent.data[which] = now;
    struct cleave__scripted_query *query = &script->queries.data[now - 1];
    if (kind == CLEAVE__FEED_STORE)
        *(acknowledged ? &query->acknowledged : &query->sent) = step;
    else
        *(acknowledged ? &query->removed : &query->removal_sent) = step;
}

static void sent(void *feed, enum cleave__feed_kind kind, uint64_t which, uint64_t step)
{
    note(feed, kind, which, step, false);
}

static void acknowledged(void *feed, enum cleave__feed_kind kind, uint64_t which, uint64_t step)
{
    note(feed, kind, which, step, true);
}

const struct cleave__feed_ops cleave__stream_script_feed = {
    .next = next, .sent = sent, .acknowledged = acknowledged};

/* ---- the check ---- */

struct expected {
    struct cleave__matched_pair pair;
    bool must;
};

static int compare(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    if (x->pair.object != y->pair.object)
        return x->pair.object < y->pair.object ? -1 : 1;
    if (x->pair.query != y->pair.query)
        return x->pair.query < y->pair.query ? -1 : 1;
    return y->must - x->must; /* what must be first */
}

static void wrong(struct cleave__stream_script_check *check, const char *what, uint64_t object,
                  uint64_t query)
{
    if (!check->missing && !check->unexpected)
        snprintf(check->wrong, sizeof check->wrong, "object %" PRIu64 " and query %" PRIu64 ": %s",
                 object, query, what);
}

static void hold(const struct expected *expected, size_t count,
                 const struct cleave__streamed *streamed, struct cleave__stream_script_check *check)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cleave__matched_pair *pair = &expected[i].pair;
        if (i &&
            compare(&(struct expected){expected[i - 1].pair, 0}, &(struct expected){*pair, 0}) == 0)
            continue; /* another storing of the same query */
        check->must += expected[i].must;
        check->may += !expected[i].must;
        while (at < streamed->pair_count && (streamed->pairs[at].object < pair->object ||
                                             (streamed->pairs[at].object == pair->object &&
                                              streamed->pairs[at].query < pair->query))) {
            wrong(check, "reported, and should not", streamed->pairs[at].object,
                  streamed->pairs[at].query);
            check->unexpected++;
            at++;
        }
        bool found = at < streamed->pair_count && streamed->pairs[at].object == pair->object &&
                     streamed->pairs[at].query == pair->query;
        if (!found && expected[i].must) {
            wrong(check, "not reported", pair->object, pair->query);
            check->missing++;
        }
        at += found;
    }
    if (at < streamed->pair_count)
        wrong(check, "reported, and should not", streamed->pairs[at].object,
              streamed->pairs[at].query);
    check->unexpected += streamed->pair_count - at;
}

enum cleave_status cleave__stream_script_check(const struct cleave__stream_script *script,
                                               const struct cleave__streamed *streamed,
                                               const struct cleave__matcher_ops *matcher,
                                               struct cleave__stream_script_check *out,
                                               struct cleave_error *error)
{
    struct cleave__stream_script_check check = {0};
    struct cleave__matches matches = {0};
    CLEAVE_VECTOR(struct expected) expected = {0};
    CLEAVE_VECTOR(uint32_t) of_slot = {0};
    struct cleave__object batch[BATCH];
    void *all = NULL;
    bool ok = true;
    enum cleave_status status =
        matcher->create(&(struct cleave__matcher_options){script->space}, &all, error);
    for (uint32_t q = 0; q < script->queries.count && !status && ok; q++) {
        uint32_t slot;
        status = matcher->add(all, &script->queries.data[q].query, &slot, error);
        while (!status && ok && of_slot.count <= slot)
            ok = CLEAVE_PUSH(&of_slot, 0);
        if (!status && ok)
            of_slot.data[slot] = q;
    }
    for (size_t from = 0; from < script->objects.count && !status && ok; from += BATCH) {
        uint32_t count = 0;
        for (size_t i = from; i < script->objects.count && count < BATCH; i++)
            batch[count++] = script->objects.data[i].object;
        matches.items.count = 0;
        status = matcher->match(all, batch, count, &matches, NULL, error);
        for (size_t i = 0; i < matches.items.count && !status && ok; i++) {
            const struct cleave__scripted_object *o =
                &script->objects.data[from + matches.items.data[i].object];
            const struct cleave__scripted_query *q =
                &script->queries.data[of_slot.data[matches.items.data[i].slot]];
            /* Not acknowledged, by a feeder that crashed: it may have been done or not. */
            bool before = q->sent && (!o->acknowledged || q->sent < o->acknowledged);
            bool after = q->removed && q->removed < o->sent;
            bool must = o->acknowledged && q->acknowledged && q->acknowledged < o->sent &&
                        (!q->removal_sent || q->removal_sent > o->acknowledged);
            if (o->sent && before && !after)
                ok = CLEAVE_PUSH(&expected,
                                 (struct expected){{o->object.number, q->query.id}, must});
        }
    }
    if (!status && !ok)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the check");
    if (!status) {
        if (expected.count)
            qsort(expected.data, expected.count, sizeof *expected.data, compare);
        hold(expected.data, expected.count, streamed, &check);
        *out = check;
    }
    matcher->destroy(all);
    CLEAVE_VECTOR_FREE(&matches.items);
    CLEAVE_VECTOR_FREE(&expected);
    CLEAVE_VECTOR_FREE(&of_slot);
    return status;
}
