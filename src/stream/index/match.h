/* What the stages of a match share (match.c says what they are). Not for others. */
#ifndef CLEAVE_STREAM_MATCH_H
#define CLEAVE_STREAM_MATCH_H

#include "stream/index/index.h"

enum { GROUP = 32, PROBES = 512, CANDIDATES = 512, LISTS = 256 };

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

/* Candidates against their records; empties the buffer. */
void cleave__match_verify(struct match *m);
/* Boxes and signatures of the lists that were put down; empties the buffer. */
void cleave__match_lists(struct match *m);
/* The group's matches, each once and by object. */
void cleave__match_order(struct match *m);

/* There is room. */
static inline void emit(struct match *m, uint32_t object, uint32_t slot)
{
    m->disorder |= object < m->last_object;
    m->last_object = object;
    m->out->items.data[m->out->items.count++] = (struct cleave__match){m->base + object, slot};
}

static inline void push_candidate(struct match *m, struct candidate c)
{
    __builtin_prefetch(cleave__index_record(m->index, c.slot));
    m->candidates[m->candidate_count++] = c;
    if (m->candidate_count == CANDIDATES)
        cleave__match_verify(m);
}

static inline void count_candidates(struct match *m, uint32_t object, uint32_t count)
{
    if (m->candidate_counts)
        m->candidate_counts[m->base + object] += count;
}

#endif
