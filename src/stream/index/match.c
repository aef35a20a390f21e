/* Objects against the index, in three stages so that no look into memory is waited for.
 *
 *   probe    every term of every object of a group: hash, bucket, filter; what passes is a *hit*,
 *            and its bucket is fetched
 *   scan     every hit's chain and lists: tag, box, signature; what passes is a *candidate*, and
 * its record is fetched verify   every candidate against its record, and out
 *
 * Each stage works through a buffer of fixed size that the one before it fills; a full buffer is
 * worked off and the stage before goes on, so the order of objects is kept. What the stages decide:
 * index.h. Group prefetching as in databases' hash joins (Chen et al. 2007). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stream/index/index.h"

enum { GROUP = 64, HITS = 1024, CANDIDATES = 1024, PROBE_TERMS = 256 };

struct hit {
    uint32_t hash, bucket, term;
    uint16_t object; /* of the group */
    uint8_t level;
};

struct candidate {
    uint32_t slot, term, second;
    uint16_t object;
    uint8_t level;
    uint8_t sure : 1, twin : 1, exact_key : 1;
};

struct staged {
    uint32_t x, y, signature;
};

struct match {
    struct cleave__index *index;
    const struct cleave__object *objects;
    uint32_t base; /* of the group */
    struct cleave__matches *out;
    uint32_t *candidate_counts; /* or NULL */
    size_t object_from;         /* where the matches of the current object begin */
    uint32_t object;            /* it; UINT32_MAX: none yet */
    bool twins;                 /* it has some */
    bool no_memory;
    uint32_t hit_count, candidate_count;
    struct staged staged[GROUP];
    struct hit hits[HITS + PROBE_TERMS];
    struct candidate candidates[CANDIDATES + CLEAVE__BLOCK];
};

static int by_slot(const void *a, const void *b)
{
    uint32_t x = ((const struct cleave__match *)a)->slot;
    uint32_t y = ((const struct cleave__match *)b)->slot;
    return (x > y) - (x < y);
}

/* The current object's matches are all there: each is kept once. */
static void finish_object(struct match *m)
{
    if (!m->twins)
        return;
    m->twins = false;
    struct cleave__match *items = m->out->items.data + m->object_from;
    size_t count = m->out->items.count - m->object_from, kept = 0;
    qsort(items, count, sizeof *items, by_slot);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || items[kept - 1].slot != items[i].slot)
            items[kept++] = items[i];
    }
    m->out->items.count = m->object_from + kept;
}

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

static void verify(struct match *m)
{
    struct cleave__matches *out = m->out;
    uint32_t count = m->candidate_count;
    m->candidate_count = 0;
    if (!CLEAVE_RESERVE(&out->items, out->items.count + count)) {
        m->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *c = &m->candidates[i];
        uint32_t number = m->base + c->object;
        if (!c->sure) {
            const struct cleave__record *record = cleave__index_record(m->index, c->slot);
            const struct cleave__object *object = &m->objects[number];
            if (cleave__record_level(record) != c->level ||
                !cleave__record_place(record, m->index->pyramid.space, object) ||
                !terms_verified(record, object, c))
                continue;
        }
        if (number != m->object) {
            finish_object(m);
            m->object = number;
            m->object_from = out->items.count;
        }
        m->twins |= c->twin;
        out->items.data[out->items.count++] = (struct cleave__match){number, c->slot};
    }
}

static void push_candidate(struct match *m, struct candidate c)
{
    if (!c.sure)
        __builtin_prefetch(cleave__index_record(m->index, c.slot));
    m->candidates[m->candidate_count++] = c;
    if (m->candidate_count >= CANDIDATES)
        verify(m);
}

static uint32_t count_candidates(struct match *m, uint32_t object, uint32_t count)
{
    if (m->candidate_counts)
        m->candidate_counts[m->base + object] += count;
    return count;
}

/* Bits of the places i where x is inside block boxes: [0] at all, [1] strictly. */
static inline void inside(const struct cleave__block *block, uint8_t x, uint8_t y,
                          uint32_t masks[2])
{
#if defined(__SSE2__)
    typedef signed char bytes __attribute__((vector_size(CLEAVE__BLOCK)));
    typedef unsigned char ubytes __attribute__((vector_size(CLEAVE__BLOCK)));
    ubytes x0, y0, x1, y1, vx = (ubytes){0} + x, vy = (ubytes){0} + y;
    memcpy(&x0, block->x0, sizeof x0);
    memcpy(&y0, block->y0, sizeof y0);
    memcpy(&x1, block->x1, sizeof x1);
    memcpy(&y1, block->y1, sizeof y1);
    bytes at_all = (bytes)((vx >= x0) & (vx <= x1) & (vy >= y0) & (vy <= y1));
    bytes strictly = (bytes)((vx > x0) & (vx < x1) & (vy > y0) & (vy < y1));
    masks[0] = (uint32_t)__builtin_ia32_pmovmskb128((char __attribute__((vector_size(16))))at_all);
    masks[1] =
        (uint32_t)__builtin_ia32_pmovmskb128((char __attribute__((vector_size(16))))strictly);
#else
    masks[0] = masks[1] = 0;
    for (uint32_t i = 0; i < CLEAVE__BLOCK; i++) {
        masks[0] |= (uint32_t)(x >= block->x0[i] && x <= block->x1[i] && y >= block->y0[i] &&
                               y <= block->y1[i])
                    << i;
        masks[1] |=
            (uint32_t)(x > block->x0[i] && x < block->x1[i] && y > block->y0[i] && y < block->y1[i])
            << i;
    }
#endif
}

static void scan_list(struct match *m, const struct cleave__list *list, struct candidate key)
{
    const struct staged *staged = &m->staged[key.object];
    uint8_t x = cleave__place_within(staged->x, key.level);
    uint8_t y = cleave__place_within(staged->y, key.level);
    uint32_t signature = staged->signature;
    count_candidates(m, key.object, list->count);
    for (uint32_t s = 0; s < list->segment_count; s++) {
        const struct cleave__segment *segment = &list->segments[s];
        uint32_t blocks = (segment->count + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK;
        for (uint32_t b = 0; b < blocks; b++) {
            const struct cleave__block *block = &segment->blocks[b];
            uint32_t masks[2];
            inside(block, x, y, masks);
            for (uint32_t left = masks[0]; left; left &= left - 1) {
                uint32_t i = (uint32_t)__builtin_ctz(left), slot = block->slot[i];
                uint32_t wants = block->signature[i];
                bool overlaps = slot & CLEAVE__SLOT_OVERLAPS;
                if (!overlaps && wants & ~signature)
                    continue;
                key.slot = slot & CLEAVE__SLOT_MASK;
                key.sure = slot & CLEAVE__SLOT_EXACT && masks[1] >> i & 1 &&
                           (!overlaps || !(wants & signature));
                push_candidate(m, key);
            }
        }
    }
}

static void probe_pairs(struct match *m, const struct hit *hit);

/* The chain of a hit, or of a pair. */
static void scan_chain(struct match *m, const struct hit *hit, uint32_t second)
{
    const struct cleave__index *index = m->index;
    const struct staged *staged = &m->staged[hit->object];
    uint32_t pair = second == CLEAVE__NO_TERM ? 0 : CLEAVE__HEAD_PAIR;
    uint32_t head = cleave__table_head(hit->hash, pair), seen = 0;
    uint8_t x = cleave__place_within(staged->x, hit->level);
    uint8_t y = cleave__place_within(staged->y, hit->level);
    struct candidate key = {
        .term = hit->term, .second = second, .object = hit->object, .level = hit->level};
    for (const struct cleave__line *line = cleave__table_line(&index->table, hit->bucket); line;
         line = cleave__table_next(&index->table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            const struct cleave__posting *p = &line->postings[i];
            uint32_t kind = p->head & CLEAVE__KIND_MASK;
            if ((p->head ^ head) & CLEAVE__HEAD_KEY)
                continue;
            if (kind == CLEAVE__KIND_POSTING) {
                seen++;
                if (x < p->box[0] || x > p->box[2] || y < p->box[1] || y > p->box[3] ||
                    p->signature & ~staged->signature)
                    continue;
                key.slot = p->slot;
                key.sure = false;
                key.twin = (p->head & CLEAVE__HEAD_TWIN) != 0;
                push_candidate(m, key);
            } else if (kind == CLEAVE__KIND_LIST) {
                const struct cleave__list *list = cleave__index_list(index, p->slot);
                if (list->term != hit->term || list->second != second ||
                    list->level != hit->level ||
                    list->column != cleave__place_cell(staged->x, hit->level) ||
                    list->row != cleave__place_cell(staged->y, hit->level))
                    continue;
                key.twin = false;
                scan_list(m, list, key);
                if (list->pairs)
                    probe_pairs(m, hit);
            }
        }
    }
    count_candidates(m, hit->object, seen);
}

/* The keys of a split term with every other term of the object. */
static void probe_pairs(struct match *m, const struct hit *hit)
{
    const struct cleave__index *index = m->index;
    const struct cleave__object *object = &m->objects[m->base + hit->object];
    struct hit hits[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < object->term_count; i++) {
        uint32_t second = object->terms[i];
        uint32_t hash = cleave__key_hash(hit->hash, second) & index->hash_mask;
        uint32_t bucket = cleave__table_bucket(&index->table, hash);
        if (second != hit->term && cleave__table_may(&index->table, bucket, hash)) {
            __builtin_prefetch(cleave__table_line(&index->table, bucket));
            hits[count++] = (struct hit){hash, bucket, second, hit->object, hit->level};
        }
        if (count == 64 || (count && i + 1 == object->term_count)) {
            for (uint32_t k = 0; k < count; k++) {
                struct hit pair = hits[k];
                pair.term = hit->term;
                scan_chain(m, &pair, hits[k].term);
            }
            count = 0;
        }
    }
}

static void scan(struct match *m)
{
    for (uint32_t i = 0; i < m->hit_count; i++)
        scan_chain(m, &m->hits[i], CLEAVE__NO_TERM);
    m->hit_count = 0;
}

/* Up to PROBE_TERMS terms of an object on one level. */
static void probe(struct match *m, uint32_t cell_hash, const uint32_t *terms, uint32_t count,
                  struct hit like)
{
    const struct cleave__table *table = &m->index->table;
    uint32_t mask = m->index->hash_mask, from = m->hit_count, at = from;
    for (uint32_t i = 0; i < count; i++) {
        like.term = terms[i];
        like.hash = cleave__key_hash(cell_hash, terms[i]) & mask;
        like.bucket = cleave__table_bucket(table, like.hash);
        m->hits[at] = like;
        at += cleave__table_may(table, like.bucket, like.hash);
    }
    for (uint32_t i = from; i < at; i++)
        __builtin_prefetch(cleave__table_line(table, m->hits[i].bucket));
    m->hit_count = at;
    if (at >= HITS)
        scan(m);
}

static void probe_object(struct match *m, uint32_t i)
{
    const struct cleave__index *index = m->index;
    const struct cleave__object *object = &m->objects[m->base + i];
    struct staged *staged = &m->staged[i];
    staged->x = cleave__place_x(&index->pyramid, object->x);
    staged->y = cleave__place_y(&index->pyramid, object->y);
    staged->signature = 0;
    for (uint32_t k = 0; k < object->term_count; k++)
        staged->signature |= cleave__term_bit(object->terms[k]);
    uint32_t worded = object->term_count ? index->worded_mask : 0;
    for (uint32_t levels = worded | index->bare_mask; levels; levels &= levels - 1) {
        uint32_t level = (uint32_t)__builtin_ctz(levels);
        struct hit like = {.object = (uint16_t)i, .level = (uint8_t)level};
        uint32_t cell = cleave__cell_hash(level, cleave__place_cell(staged->x, level),
                                          cleave__place_cell(staged->y, level));
        if (worded >> level & 1) {
            for (uint32_t k = 0; k < object->term_count; k += PROBE_TERMS) {
                uint32_t left = object->term_count - k;
                probe(m, cell, object->terms + k, left < PROBE_TERMS ? left : PROBE_TERMS, like);
            }
        }
        if (index->bare_mask >> level & 1)
            probe(m, cell, &(uint32_t){CLEAVE__NO_TERM}, 1, like);
    }
}

enum cleave_status cleave__index_match(void *self, const struct cleave__object *objects,
                                       uint32_t count, struct cleave__matches *out,
                                       uint32_t *candidates, struct cleave_error *error)
{
    struct cleave__index *index = self;
    size_t before = out->items.count;
    struct match m;
    m.index = index;
    m.objects = objects;
    m.out = out;
    m.candidate_counts = candidates;
    m.object = UINT32_MAX;
    m.object_from = before;
    m.twins = m.no_memory = false;
    m.hit_count = m.candidate_count = 0;
    if (candidates)
        memset(candidates, 0, count * sizeof *candidates);
    for (m.base = 0; m.base < count && !m.no_memory; m.base += GROUP) {
        uint32_t left = count - m.base, group = left < GROUP ? left : GROUP;
        for (uint32_t i = 0; i < group; i++)
            probe_object(&m, i);
        scan(&m);
        verify(&m);
        for (uint32_t i = 0; i < group; i++) {
            if (index->seen++ % CLEAVE__LEARN_EVERY == 0)
                cleave__rarity_see(&index->rarity, &objects[m.base + i]);
        }
    }
    if (m.no_memory) {
        out->items.count = before;
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
    }
    finish_object(&m);
    return CLEAVE_OK;
}
