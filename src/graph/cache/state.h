/* What the policies share: nodes of one pool, lists threaded through them, the hash index, and the
 * table of operations that a policy is.
 *
 * A node is an entry (`resident`) or a ghost: a key that a policy remembers. Node 0 is nobody, so
 * that zeroed lists and links are empty; its fields are zero. Every node is in the index exactly
 * once, and in the lists that its policy's `queue` number implies. Nodes move when the pool grows:
 * keep numbers, not pointers, across a `put`. */
#ifndef CLEAVE_GRAPH_CACHE_STATE_H
#define CLEAVE_GRAPH_CACHE_STATE_H

#include "graph/cache/cache.h"

struct cleave__cache_link {
    uint32_t newer, older; /* nodes; 0: none */
};

struct cleave__cache_node {
    uint64_t key, value, version, size;
    struct cleave__cache_link link[2]; /* a node may be in two lists at once */
    uint32_t mark;                     /* the policy's: a visited bit, a count, a place */
    uint8_t queue;                     /* the policy's, from 1; 0: the node is free */
    bool resident;
    uint64_t unused; /* so that a node is one line of the processor's cache */
};

struct cleave__cache_list {
    uint32_t newest, oldest, count;
    uint64_t cost;
};

/* Open addressing, linear probing, deletion by shifting back; at most half full. */
struct cleave__cache_slot {
    uint64_t key;
    uint32_t node; /* 0: empty */
};

enum cleave__cache_verdict {
    CLEAVE_CACHE_KEPT,
    CLEAVE_CACHE_REFUSED,   /* and not linked */
    CLEAVE_CACHE_REMEMBERED /* not kept; the node was linked as a ghost (and may have gone since) */
};

struct cleave__cache_policy {
    const char *name, *summary;
    const struct cleave__cache_parameter *parameters; /* ends with a row of zeroes; NULL: none */
    size_t state_bytes;
    bool needs_future;

    /* Required. */
    /* Makes room for `node`, which is in the index but in no list and not counted, and links it.
     * `recalled` is what `recall` said of it when it was a ghost; else 0. The node's cost is at
     * most the capacity. Allocates nothing. */
    enum cleave__cache_verdict (*admit)(struct cleave__cache *cache, uint32_t node,
                                        uint32_t recalled);
    /* Unlinks an entry that is invalidated. */
    void (*forget)(struct cleave__cache *cache, uint32_t node);
    bool (*check)(const struct cleave__cache *cache, const char **why);

    /* Optional: NULL where there is nothing to do. */
    void (*hit)(struct cleave__cache *cache, uint32_t node);
    void (*start)(struct cleave__cache *cache); /* state is zeroed (after `clear`: as it says) */
    void (*stop)(struct cleave__cache *cache);
    void (*miss)(struct cleave__cache *cache, uint64_t key);
    uint32_t (*recall)(struct cleave__cache *cache, uint32_t node); /* unlinks a ghost; not 0 */
    /* The pool will hold `nodes` nodes (number 0 included). False: no memory, nothing lost. */
    bool (*reserve)(struct cleave__cache *cache, uint32_t nodes);
    /* Empties the state but for its memory; `start` follows. NULL: the state is zeroed. */
    void (*clear)(struct cleave__cache *cache);
    uint64_t (*memory_bytes)(const struct cleave__cache *cache);
};

struct cleave__cache {
    const struct cleave__cache_policy *policy;
    struct cleave__cache_node *nodes; /* [node_capacity], on lines of the processor's cache */
    struct cleave__cache_slot *slots; /* [slot_mask + 1] */
    uint64_t slot_mask;
    uint64_t capacity, used; /* in cost: entries or bytes */
    uint32_t free_node;      /* of a list through link[0].older */
    uint32_t node_top;       /* nodes from here on were never used */
    uint32_t node_capacity;
    uint32_t node_count;                /* entries and ghosts */
    struct cleave__cache_counts counts; /* all but requests, which are hits and misses */
    uint64_t entries_peak;
    struct cleave__cache_options options;
    void *state; /* the policy's, behind this struct */
};

static inline uint64_t cleave__cache_cost(const struct cleave__cache *cache, uint32_t node)
{
    return cache->options.in_bytes ? cache->nodes[node].size : 1;
}

/* Share of the capacity in whole units, at least `least`. */
static inline uint64_t cleave__cache_share(const struct cleave__cache *cache, double share,
                                           uint64_t least)
{
    double part = share * (double)cache->capacity;
    uint64_t whole = part >= 0x1p63 ? UINT64_MAX / 2 : (uint64_t)part;
    return whole < least ? least : whole;
}

static inline void cleave__cache_push_newest(struct cleave__cache *cache,
                                             struct cleave__cache_list *list, unsigned which,
                                             uint32_t node)
{
    struct cleave__cache_node *nodes = cache->nodes;
    nodes[node].link[which] = (struct cleave__cache_link){0, list->newest};
    if (list->newest)
        nodes[list->newest].link[which].newer = node;
    else
        list->oldest = node;
    list->newest = node;
    list->count++;
    list->cost += cleave__cache_cost(cache, node);
}

static inline void cleave__cache_unlink(struct cleave__cache *cache,
                                        struct cleave__cache_list *list, unsigned which,
                                        uint32_t node)
{
    struct cleave__cache_node *nodes = cache->nodes;
    struct cleave__cache_link link = nodes[node].link[which];
    if (link.newer)
        nodes[link.newer].link[which].older = link.older;
    else
        list->newest = link.older;
    if (link.older)
        nodes[link.older].link[which].newer = link.newer;
    else
        list->oldest = link.newer;
    list->count--;
    list->cost -= cleave__cache_cost(cache, node);
}

static inline void cleave__cache_make_newest(struct cleave__cache *cache,
                                             struct cleave__cache_list *list, unsigned which,
                                             uint32_t node)
{
    struct cleave__cache_node *nodes = cache->nodes;
    struct cleave__cache_link link = nodes[node].link[which];
    if (!link.newer)
        return;
    nodes[link.newer].link[which].older = link.older;
    if (link.older)
        nodes[link.older].link[which].newer = link.newer;
    else
        list->oldest = link.newer;
    nodes[node].link[which] = (struct cleave__cache_link){0, list->newest};
    nodes[list->newest].link[which].newer = node;
    list->newest = node;
}

/* An entry, already unlinked, leaves for others to stay: its node goes too. */
void cleave__cache_evict(struct cleave__cache *cache, uint32_t node);
/* Likewise, but its node stays as a ghost, to be linked by the policy. */
void cleave__cache_evict_to_ghost(struct cleave__cache *cache, uint32_t node);
/* A ghost, already unlinked, is remembered no longer. */
void cleave__cache_drop_ghost(struct cleave__cache *cache, uint32_t node);

/* Links both ways, count and cost; every node in queue `queue` (0: any). */
bool cleave__cache_list_check(const struct cleave__cache *cache,
                              const struct cleave__cache_list *list, unsigned which, uint8_t queue,
                              const char **why);
/* `why` from a condition: `return cleave__cache_true(a <= b, "a is past b", why);` */
static inline bool cleave__cache_true(bool holds, const char *text, const char **why)
{
    if (!holds)
        *why = text;
    return holds;
}

extern const struct cleave__cache_policy cleave__cache_fifo, cleave__cache_lru, cleave__cache_clock,
    cleave__cache_lfu, cleave__cache_sieve, cleave__cache_s3_fifo, cleave__cache_arc,
    cleave__cache_w_tiny_lfu, cleave__cache_lirs, cleave__cache_belady;

#endif
