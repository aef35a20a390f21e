/* Objects against the index, in stages, so that no look into memory is waited for: every stage does
 * its work for all of a group of objects, and asks for the lines that the next one reads.
 *
 *   probe    hashes of every term of every object in its cells; what the filter lets through is a
 *            *hit*
 *   scan     a hit's chain: a posting whose tag, box and signature agree is a *candidate*; a list
 * is put down for later; a PAIRS posting has the term's pairs with the other terms probed lists
 * boxes and signatures by sixteens; most are decided here verify   candidates against their records
 *
 * The stages work off buffers of fixed size, one that is full at once; so matches of a group may
 * come in any order, and at its end they are put into that of the objects. What the stages decide:
 * index.h. Group prefetching as in databases' hash joins (Chen et al. 2007). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stream/index/index.h"

enum { GROUP = 32, PROBES = 512, CANDIDATES = 512, LISTS = 256, BLOCKS_AHEAD = 4 };

/* What is looked for: each part together, so that hashing is done by vectors. */
struct probes {
    uint32_t count;
    uint32_t base[PROBES]; /* hash of the cell, or of cell and term */
    uint32_t last[PROBES]; /* the term, or the second */
    uint32_t term[PROBES];
    uint32_t where[PROBES]; /* object of the group, level << 16, part of the cell << 24 */
    uint32_t hash[PROBES], bucket[PROBES];
    struct hit {
        const struct cleave__line *line;
        uint32_t hash, term, second, where;
    } hits[PROBES];
};

struct candidate {
    uint32_t slot, term, second;
    uint16_t object;
    uint8_t level;
    bool twin;
};

struct list_hit {
    const struct cleave__list *list;
    uint32_t object;
};

struct staged {
    uint32_t x, y;
    uint64_t bits; /* of its terms */
    uint32_t signature;
};

struct match {
    struct cleave__index *index;
    const struct cleave__object *objects;
    struct cleave__matches *out;
    uint32_t *candidate_counts; /* or NULL */
    uint32_t base;              /* of the group */
    size_t group_from;          /* where its matches begin */
    uint32_t last_object;       /* of the last match: to see disorder */
    bool disorder, twins, no_memory;
    uint32_t candidate_count, list_count;
    struct staged staged[GROUP];
    struct probes singles, pairs;
    struct candidate candidates[CANDIDATES];
    struct list_hit lists[LISTS];
};

static void emit(struct match *m, uint32_t object, uint32_t slot)
{
    m->disorder |= object < m->last_object;
    m->last_object = object;
    m->out->items.data[m->out->items.count++] = (struct cleave__match){m->base + object, slot};
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

static void verify(struct match *m)
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

static void push_candidate(struct match *m, struct candidate c)
{
    __builtin_prefetch(cleave__index_record(m->index, c.slot));
    m->candidates[m->candidate_count++] = c;
    if (m->candidate_count == CANDIDATES)
        verify(m);
}

static void count_candidates(struct match *m, uint32_t object, uint32_t count)
{
    if (m->candidate_counts)
        m->candidate_counts[m->base + object] += count;
}

/* Bits of the places i where (x, y) is in the block's boxes, and where strictly. */
static inline void inside(const struct cleave__block *block, uint8_t x, uint8_t y, uint32_t *at_all,
                          uint32_t *strictly)
{
#if defined(__SSE2__)
    typedef unsigned char bytes __attribute__((vector_size(CLEAVE__BLOCK)));
    typedef char signed_bytes __attribute__((vector_size(CLEAVE__BLOCK)));
    bytes x0, y0, x1, y1, vx = (bytes){0} + x, vy = (bytes){0} + y;
    memcpy(&x0, block->x0, sizeof x0);
    memcpy(&y0, block->y0, sizeof y0);
    memcpy(&x1, block->x1, sizeof x1);
    memcpy(&y1, block->y1, sizeof y1);
    signed_bytes a = (signed_bytes)((vx >= x0) & (vx <= x1) & (vy >= y0) & (vy <= y1));
    signed_bytes b = (signed_bytes)((vx > x0) & (vx < x1) & (vy > y0) & (vy < y1));
    *at_all = (uint32_t)__builtin_ia32_pmovmskb128(a);
    *strictly = (uint32_t)__builtin_ia32_pmovmskb128(b);
#else
    *at_all = *strictly = 0;
    for (uint32_t i = 0; i < CLEAVE__BLOCK; i++) {
        *at_all |= (uint32_t)(x >= block->x0[i] && x <= block->x1[i] && y >= block->y0[i] &&
                              y <= block->y1[i])
                   << i;
        *strictly |=
            (uint32_t)(x > block->x0[i] && x < block->x1[i] && y > block->y0[i] && y < block->y1[i])
            << i;
    }
#endif
}

static void scan_block(struct match *m, const struct cleave__block *block, struct candidate key,
                       uint8_t x, uint8_t y, uint32_t signature)
{
    uint32_t at_all, strictly;
    inside(block, x, y, &at_all, &strictly);
    for (uint32_t left = at_all; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), slot = block->slot[i];
        uint32_t wants = key.term == CLEAVE__NO_TERM ? 0 : block->signature[i];
        bool overlaps = slot & CLEAVE__SLOT_OVERLAPS;
        if (!overlaps && wants & ~signature)
            continue;
        if (slot & CLEAVE__SLOT_EXACT && strictly >> i & 1 && !(overlaps && wants & signature)) {
            emit(m, key.object, slot & CLEAVE__SLOT_MASK);
        } else {
            key.slot = slot & CLEAVE__SLOT_MASK;
            push_candidate(m, key);
        }
    }
}

/* For all that a block may give, and the candidates that it may have verified before. */
static bool room_for_block(struct match *m)
{
    m->no_memory |=
        !CLEAVE_RESERVE(&m->out->items, m->out->items.count + CLEAVE__BLOCK + CANDIDATES);
    return !m->no_memory;
}

static void scan_list(struct match *m, const struct list_hit *hit)
{
    const struct cleave__list *list = hit->list;
    const struct staged *staged = &m->staged[hit->object];
    uint8_t x = cleave__place_within(staged->x, list->level);
    uint8_t y = cleave__place_within(staged->y, list->level);
    struct candidate key = {.term = list->term,
                            .second = list->second,
                            .object = (uint16_t)hit->object,
                            .level = list->level};
    count_candidates(m, hit->object, list->count);
    for (uint32_t s = 0; s < list->segment_count && !m->no_memory; s++) {
        const struct cleave__segment *segment = cleave__list_segment(list, s);
        uint32_t blocks = (segment->count + CLEAVE__BLOCK - 1) / CLEAVE__BLOCK;
        if (s + 1 < list->segment_count)
            __builtin_prefetch(cleave__list_segment(list, s + 1)->blocks);
        for (uint32_t b = 0; b < blocks && room_for_block(m); b++) {
            const char *ahead =
                (const char *)&segment->blocks[b + BLOCKS_AHEAD < blocks ? b + BLOCKS_AHEAD : b];
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
            __builtin_prefetch(ahead + 128);
            scan_block(m, &segment->blocks[b], key, x, y, staged->signature);
        }
    }
}

static void scan_lists(struct match *m)
{
    uint32_t count = m->list_count;
    m->list_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *block = (const char *)m->lists[i].list->first.blocks;
        for (uint32_t k = 0; k < sizeof(struct cleave__block); k += 64)
            __builtin_prefetch(block + k);
    }
    for (uint32_t i = 0; i < count && !m->no_memory; i++)
        scan_list(m, &m->lists[i]);
}

static void work_off(struct match *m, struct probes *p, bool pairs);
static void probe_pairs(struct match *m, const struct hit *hit, uint64_t bits);

/* One line of a hit's chain. */
static void scan_line(struct match *m, const struct hit *hit)
{
    const struct cleave__index *index = m->index;
    const struct cleave__posting *postings = hit->line->postings;
    uint32_t pair = hit->second == CLEAVE__NO_TERM ? 0 : CLEAVE__HEAD_PAIR, hits = 0;
    uint32_t head = cleave__table_head(hit->hash, pair);
    for (uint32_t i = 0; i < CLEAVE__LINE_POSTINGS; i++)
        hits |= (uint32_t)(((postings[i].head ^ head) & CLEAVE__HEAD_KEY) == 0) << i;
    if (!hits)
        return;
    uint32_t object = hit->where & 0xffff, level = hit->where >> 16 & 0xff, seen = 0;
    const struct staged *staged = &m->staged[object];
    uint8_t x = cleave__place_within(staged->x, level), y = cleave__place_within(staged->y, level);
    for (; hits; hits &= hits - 1) {
        const struct cleave__posting *p = &postings[__builtin_ctz(hits)];
        uint32_t kind = p->head & CLEAVE__KIND_MASK;
        if (kind == CLEAVE__KIND_POSTING) {
            seen++;
            if ((x >= p->box[0]) & (x <= p->box[2]) & (y >= p->box[1]) & (y <= p->box[3]) &
                !(p->signature & ~staged->signature))
                push_candidate(m, (struct candidate){p->slot, hit->term, hit->second,
                                                     (uint16_t)object, (uint8_t)level,
                                                     (p->head & CLEAVE__HEAD_TWIN) != 0});
        } else if (kind == CLEAVE__KIND_PAIRS) {
            probe_pairs(m, hit, cleave__pairs_bits(p));
        } else if (kind == CLEAVE__KIND_LIST) {
            const struct cleave__list *list = cleave__index_list(index, p->slot);
            if (list->term != hit->term || list->second != hit->second || list->level != level ||
                list->column != cleave__place_cell(staged->x, level) ||
                list->row != cleave__place_cell(staged->y, level))
                continue;
            m->lists[m->list_count++] = (struct list_hit){list, object};
            if (m->list_count == LISTS)
                scan_lists(m);
        }
    }
    count_candidates(m, object, seen);
}

static inline __attribute__((always_inline)) void hash_all(struct probes *p,
                                                           const struct cleave__index *index)
{
    uint32_t mask = index->hash_mask,
             count = (p->count + 7) & ~7u; /* past the end it is harmless */
    uint32_t buckets = index->table.buckets, low = index->table.low, high = index->table.high;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = cleave__key_hash(p->base[i], p->last[i]) & mask;
        uint32_t at = hash & high;
        p->hash[i] = hash;
        p->bucket[i] = at & (low | (0u - (uint32_t)(at < buckets)));
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void hash_avx2(struct probes *p,
                                                      const struct cleave__index *index)
{
    hash_all(p, index);
}
#endif

/* Hashes the probes, and scans those that the filter lets through. */
static void work_off(struct match *m, struct probes *p, bool pairs)
{
    const struct cleave__table *table = &m->index->table;
#if defined(__x86_64__)
    if (m->index->has_avx2)
        hash_avx2(p, m->index);
    else
#endif
        hash_all(p, m->index);
    uint32_t hits = 0, order[PROBES + 1];
    for (uint32_t i = 0; i < p->count; i++) {
        order[hits] = i;
        hits += cleave__table_may(table, p->bucket[i], p->hash[i], p->where[i] >> 24);
    }
    for (uint32_t i = 0; i < hits; i++) {
        uint32_t k = order[i];
        const struct cleave__line *line = cleave__table_line(table, p->bucket[k]);
        __builtin_prefetch(line);
        p->hits[i] = (struct hit){line, p->hash[k], p->term[k],
                                  pairs ? p->last[k] : CLEAVE__NO_TERM, p->where[k]};
    }
    p->count = 0;
    /* The first line of all chains, then the second of all that have one, and so on. */
    while (hits) {
        uint32_t longer = 0;
        for (uint32_t i = 0; i < hits && !m->no_memory; i++) {
            struct hit hit = p->hits[i];
            const struct cleave__line *next = cleave__table_next(table, hit.line);
            scan_line(m, &hit);
            if (next) {
                __builtin_prefetch(next);
                hit.line = next;
                p->hits[longer++] = hit;
            }
        }
        hits = longer;
    }
}

/* The keys of a term and each other term of its object that may be among `bits`. */
static void probe_pairs(struct match *m, const struct hit *hit, uint64_t bits)
{
    const struct cleave__object *object = &m->objects[m->base + (hit->where & 0xffff)];
    struct probes *p = &m->pairs;
    for (uint32_t i = 0; i < object->term_count; i++) {
        uint32_t second = object->terms[i];
        p->base[p->count] = hit->hash;
        p->last[p->count] = second;
        p->term[p->count] = hit->term;
        p->where[p->count] = hit->where;
        p->count += (bits & cleave__term_bit(second)) != 0 && second != hit->term;
        if (p->count == PROBES)
            work_off(m, p, true);
    }
}

/* An object's terms in its cell of a level. */
static void probe(struct match *m, uint32_t where, uint32_t cell_hash, const uint32_t *terms,
                  uint32_t count)
{
    struct probes *p = &m->singles;
    while (count) {
        uint32_t room = PROBES - p->count, some = count < room ? count : room;
        for (uint32_t i = 0; i < some; i++) {
            p->base[p->count + i] = cell_hash;
            p->last[p->count + i] = terms[i];
            p->term[p->count + i] = terms[i];
            p->where[p->count + i] = where;
        }
        p->count += some;
        terms += some;
        count -= some;
        if (p->count == PROBES)
            work_off(m, p, false);
    }
}

static void probe_object(struct match *m, uint32_t i)
{
    const struct cleave__index *index = m->index;
    const struct cleave__object *object = &m->objects[m->base + i];
    struct staged *staged = &m->staged[i];
    static const uint32_t no_term = CLEAVE__NO_TERM;
    uint64_t bits = 0;
    for (uint32_t k = 0; k < object->term_count; k++)
        bits |= cleave__term_bit(object->terms[k]);
    *staged =
        (struct staged){cleave__place_x(&index->pyramid, object->x),
                        cleave__place_y(&index->pyramid, object->y), bits, cleave__fold(bits)};
    uint32_t worded = object->term_count ? index->levels[1].mask : 0;
    uint32_t bare = index->levels[0].mask;
    for (uint32_t levels = worded | bare; levels; levels &= levels - 1) {
        uint32_t level = (uint32_t)__builtin_ctz(levels);
        uint32_t cell = cleave__cell_hash(level, cleave__place_cell(staged->x, level),
                                          cleave__place_cell(staged->y, level));
        uint32_t quarter = cleave__quarter(cleave__place_within(staged->x, level),
                                           cleave__place_within(staged->y, level));
        uint32_t where = i | level << 16 | quarter << 24;
        if (worded >> level & 1)
            probe(m, where, cell, object->terms, object->term_count);
        if (bare >> level & 1)
            probe(m, where, cell, &no_term, 1);
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

static void match_group(struct match *m, uint32_t count)
{
    struct cleave__index *index = m->index;
    m->group_from = m->out->items.count;
    m->last_object = 0;
    m->disorder = m->twins = false;
    for (uint32_t i = 0; i < count; i++)
        probe_object(m, i);
    work_off(m, &m->singles, false);
    work_off(m, &m->pairs, true);
    scan_lists(m);
    verify(m);
    if (m->twins && !m->no_memory)
        drop_twins(m);
    else if (m->disorder && !m->no_memory)
        order(m);
    for (uint32_t i = 0; i < count; i++) {
        if (index->seen++ % CLEAVE__LEARN_EVERY == 0)
            cleave__rarity_see(&index->rarity, &m->objects[m->base + i]);
    }
}

enum cleave_status cleave__index_match(void *self, const struct cleave__object *objects,
                                       uint32_t count, struct cleave__matches *out,
                                       uint32_t *candidates, struct cleave_error *error)
{
    size_t before = out->items.count;
    struct match m; /* large: only what is read before it is written is set */
    m.index = self;
    m.objects = objects;
    m.out = out;
    m.candidate_counts = candidates;
    m.no_memory = false;
    m.singles.count = m.pairs.count = m.candidate_count = m.list_count = 0;
    if (candidates)
        memset(candidates, 0, count * sizeof *candidates);
    for (m.base = 0; m.base < count && !m.no_memory; m.base += GROUP)
        match_group(&m, count - m.base < GROUP ? count - m.base : GROUP);
    if (m.no_memory) {
        out->items.count = before;
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
    }
    return CLEAVE_OK;
}
