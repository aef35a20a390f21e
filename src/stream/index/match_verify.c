/* The last stages of a match: candidates against their records, and matches into their order. */
#include <stdlib.h>
#include <string.h>

#include "stream/index/match.h"

/* Rising terms. Short lists are compared whole: no branch to guess. */
static bool has_term(const struct cleave__object *object, uint32_t term)
{
    const uint32_t *terms = object->terms;
    uint32_t count = object->term_count;
    if (count <= 16) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            found |= terms[i] == term;
        return found;
    }
    while (count > 1) {
        uint32_t half = count / 2;
        if (terms[half] <= term)
            terms += half;
        count -= half;
    }
    return terms[0] == term;
}

/* Whether the terms agree and this posting is the one that answers. */
static bool terms_verified(const struct cleave__record *record, const struct cleave__object *object,
                           const struct candidate *c)
{
    uint32_t count = cleave__record_term_count(record);
    const uint32_t *terms = cleave__record_terms(record);
    if (count == 0)
        return c->term == CLEAVE__NO_TERM;
    if (record->head & CLEAVE__RECORD_CONTAINS) {
        if (cleave__record_first(record) != c->term ||
            (c->second != CLEAVE__NO_TERM && cleave__record_second(record) != c->second))
            return false;
        for (uint32_t i = 0; i < count; i++) {
            if (!has_term(object, terms[i]))
                return false;
        }
        return true;
    }
    for (uint32_t i = 0; i < count && terms[i] <= c->term; i++) {
        if (has_term(object, terms[i]))
            return terms[i] == c->term;
    }
    return false;
}

void cleave__match_verify(struct match *m)
{
    uint32_t count = m->candidate_count;
    m->candidate_count = 0;
    if (!CLEAVE_RESERVE(&m->out->items, m->out->items.count + count)) {
        m->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *c = &m->candidates[i];
        const struct cleave__record *record = cleave__index_record(m->index, c->slot);
        const struct cleave__object *object = &m->objects[m->base + c->object];
        if (record->head & CLEAVE__RECORD_ENDS &&
            object->time_ms >= cleave__index_end_ms(m->index, c->slot))
            continue;
        if (cleave__record_level(record) == c->level &&
            cleave__record_place(record, m->index->pyramid.space, object) &&
            terms_verified(record, object, c)) {
            m->twins |= c->twin;
            emit(m, c->object, c->slot);
        }
    }
}

static int by_object_and_slot(const void *a, const void *b)
{
    const struct cleave__match *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Each match of the group once; by object. */
static void drop_twins(struct match *m)
{
    struct cleave__match *items = m->out->items.data + m->group_from;
    size_t count = m->out->items.count - m->group_from, kept = 0;
    qsort(items, count, sizeof *items, by_object_and_slot);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_object_and_slot(&items[kept - 1], &items[i]) != 0)
            items[kept++] = items[i];
    }
    m->out->items.count = m->group_from + kept;
}

/* The group's matches by object: counted, then copied to their places by way of the room behind. */
static void order(struct match *m)
{
    size_t count = m->out->items.count - m->group_from, from[GROUP + 1] = {0};
    if (!CLEAVE_RESERVE(&m->out->items, m->out->items.count + count)) {
        m->no_memory = true;
        return;
    }
    struct cleave__match *items = m->out->items.data + m->group_from, *copy = items + count;
    memcpy(copy, items, count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        from[copy[i].object - m->base + 1]++;
    for (uint32_t i = 0; i < GROUP; i++)
        from[i + 1] += from[i];
    for (size_t i = 0; i < count; i++)
        items[from[copy[i].object - m->base]++] = copy[i];
}

void cleave__match_order(struct match *m)
{
    if (m->twins && !m->no_memory)
        drop_twins(m);
    else if (m->disorder && !m->no_memory)
        order(m);
}
