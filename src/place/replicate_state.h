/* Copies while they are being chosen: what every net costs, kept up to date.
 *
 * Of each net: its forced blocks (those that hold the only copy of some pin, with how many such
 * pins), its loose pins (several copies) as a list, and its cover (the fewest blocks). Invariant:
 * cover[e] is what cleave_replicate_measure counts. Not for other rooms. */
#ifndef CLEAVE_PLACE_REPLICATE_STATE_H
#define CLEAVE_PLACE_REPLICATE_STATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vector.h"
#include "cleave/replicate.h"

enum { CLEAVE_COPIES_NONE = UINT32_MAX, CLEAVE_COPIES_EXACT = 16, CLEAVE_COPIES_WORDS = 16 };

struct cleave__forced {
    uint32_t block, pins;
};

struct cleave__copies {
    const struct cleave_hypergraph *h;
    const struct cleave_replicate_options *o;
    const uint32_t *block;
    struct cleave_arena arena; /* everything below */
    uint32_t blocks, words;    /* of a set of blocks */
    uint32_t *slot;            /* [vertices]: place among the chosen, or _NONE */
    uint64_t *sets;            /* [count * words] */
    uint32_t *held;            /* [count]: blocks in its set */
    uint64_t *forced_offset;   /* [nets + 1] */
    uint32_t *forced_count;    /* [nets] */
    struct cleave__forced *forced;
    uint32_t *cover;                   /* [nets] */
    uint64_t *node_offset;             /* [count + 1]: a node is a chosen vertex's place in a net;
                                          nodes in the order of its incident nets */
    uint32_t *node_slot;               /* [nodes] */
    uint32_t *loose;                   /* [nets]: first node of its loose pins, or _NONE */
    uint32_t *next, *previous;         /* [nodes] */
    int64_t nets, writes;              /* cost */
    int64_t added[CLEAVE_WEIGHTS_MAX]; /* weight of further copies */
    int64_t *block_added;              /* [blocks * W] */
    uint64_t copies, work;             /* further copies; pins and pairs looked at */
    /* Scratch. */
    uint64_t *forced_set, *asked_set, *extra_set; /* [words] */
    const uint64_t **unserved;                    /* [most pins of a net + 1] */
    uint16_t *masks;                              /* likewise */
    uint32_t *tally;                              /* [blocks] */
    int64_t *gain;                                /* [blocks], by _gains */
};

enum cleave_status cleave__copies_init(struct cleave__copies *copies,
                                       const struct cleave_hypergraph *hypergraph,
                                       const struct cleave_replicate_options *options,
                                       const uint32_t *block, struct cleave_error *error);
void cleave__copies_free(struct cleave__copies *copies);

static inline const uint64_t *cleave__copies_set(const struct cleave__copies *c, uint32_t slot)
{
    return c->sets + (size_t)slot * c->words;
}
static inline bool cleave__copies_has(const struct cleave__copies *c, uint32_t slot, uint32_t b)
{
    return cleave__copies_set(c, slot)[b / 64] >> (b % 64) & 1;
}

/* What net e costs when it needs `cover` blocks. */
int64_t cleave__copies_cost(const struct cleave__copies *copies, uint32_t net, uint32_t cover);

/* Is there a copy in a block that the net needs anyway, for a pin's only copy? */
bool cleave__copies_is_served(const struct cleave__copies *copies, uint32_t net, uint32_t slot);

/* gain[b] for every block without a copy of the vertex: by how much a copy there lowers the cost of
 * nets (the write cost not taken off). O(sum over its nets of forced blocks and loose pins). */
void cleave__copies_gains(struct cleave__copies *copies, uint32_t slot);

/* Would one more copy there stay within every budget? */
bool cleave__copies_fits(const struct cleave__copies *copies, uint32_t slot, uint32_t b);
/* Adds a copy, or drops one that is not the first. How much nets + writes fell. */
int64_t cleave__copies_add(struct cleave__copies *copies, uint32_t slot, uint32_t b);
int64_t cleave__copies_drop(struct cleave__copies *copies, uint32_t slot, uint32_t b);

/* replicate_cover.c: fewest blocks that meet each of the `count` sets in `unserved`. */
uint32_t cleave__copies_hit(struct cleave__copies *copies, uint32_t count);

/* replicate_search.c: improves until nothing changes; `by_weight`: saving for the weight taken. */
enum cleave_status cleave__copies_search(struct cleave__copies *copies, bool by_weight,
                                         struct cleave_error *error);

#endif
