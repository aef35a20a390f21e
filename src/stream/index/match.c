/* Objects against the index, in stages, so that no look into memory is waited for: every stage does
 * its work for all of a group of objects, and asks for the lines that the next one reads.
 *
 * - Probe: hashes of all terms of all objects in their cells; what the filter lets through is a
 *   *hit*.
 * - Scan: the chain of a hit. A posting whose tag, box and signature agree is a *candidate*; a list
 *   is put down for later; a PAIRS posting has the term's pairs with the other terms probed.
 * - Lists: boxes and signatures by sixteens; most are decided here.
 * - Verify: candidates against their records.
 *
 * The stages work off buffers of fixed size, one that is full at once; so matches of a group may
 * come in any order, and at its end they are put into that of the objects. What the stages decide:
 * index.h. Group prefetching as in databases' hash joins (Chen et al. 2007). */
#include <string.h>

#include "stream/index/match.h"

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
                cleave__match_lists(m);
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
    cleave__match_lists(m);
    cleave__match_verify(m);
    cleave__match_order(m);
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
