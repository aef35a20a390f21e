/* A bounded cache of 64-bit keys under one of several eviction policies (registry.c lists them).
 *
 * A shard keeps adjacency lists in it: `get`, and after a miss, load and `put`. Capacity counts
 * entries or bytes. What a policy remembers beyond its entries (ghosts, a sketch) holds no values.
 * Same calls, same answers, on every machine.
 *
 * Cost: get, put and invalidate are O(1) amortised (belady: O(log entries); w-tiny-lfu with sizes
 * walks the entries that a large one would displace). Memory grows by doubling with the entries
 * and ghosts held; none is asked for once their number stands. Not thread safe: one owner each. */
#ifndef CLEAVE_GRAPH_CACHE_CACHE_H
#define CLEAVE_GRAPH_CACHE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/status.h"

struct cleave__cache;
struct cleave__cache_policy;

enum { CLEAVE_CACHE_PARAMETERS = 4 };
#define CLEAVE_CACHE_CAPACITY_MAX (UINT64_C(1) << 60)

/* A number that a policy's paper leaves open. */
struct cleave__cache_parameter {
    const char *name, *summary;
    double usual, low, high;
};

/* A policy and its parameters, as text "s3-fifo" or "s3-fifo:small=0.2:ghost=1". */
struct cleave__cache_choice {
    const struct cleave__cache_policy *policy; /* static */
    double parameter[CLEAVE_CACHE_PARAMETERS]; /* in the order of the policy's own list */
};

struct cleave__cache_options {
    struct cleave__cache_choice choice;
    uint64_t capacity; /* 1 to CLEAVE_CACHE_CAPACITY_MAX */
    bool in_bytes;     /* capacity counts bytes; else entries */
    /* For belady alone: after the i-th get (from 0), its key is asked for again, before any
     * invalidation of it, in get next_use[i]; UINT64_MAX: never. Borrowed. */
    const uint64_t *next_use;
    uint64_t next_uses; /* how many there are; later gets count as the last of their keys */
    /* Called with each value that leaves the cache, however it leaves; not for values replaced by
     * themselves. NULL: nobody minds. Must not call the cache. */
    void (*release)(void *context, uint64_t key, uint64_t value);
    void *context;
};

struct cleave__cache_entry {
    uint64_t size;    /* bytes; 0 counts as 1 */
    uint64_t value;   /* the caller's: an offset, a pointer, nothing */
    uint64_t version; /* of what the value was made from; see get */
};

struct cleave__cache_counts {
    uint64_t requests, hits, misses; /* requests = hits + misses */
    uint64_t insertions;             /* = evictions + invalidations + entries */
    uint64_t evictions;              /* left for others to stay */
    uint64_t invalidations;          /* left because they were no longer true */
    uint64_t refused;                /* put, not kept: too large, or not worth it */
    uint64_t entries, bytes;         /* held now */
    uint64_t evicted_bytes;
};

/* Rows of the registry, in order; NULL past the last. */
const struct cleave__cache_policy *cleave__cache_policy_at(uint32_t index);
const char *cleave__cache_policy_name(const struct cleave__cache_policy *policy);
const char *cleave__cache_policy_summary(const struct cleave__cache_policy *policy);
/* NULL past the last. */
const struct cleave__cache_parameter *
cleave__cache_policy_parameter(const struct cleave__cache_policy *policy, uint32_t index);
bool cleave__cache_policy_needs_future(const struct cleave__cache_policy *policy);
/* Reads "name" or "name:parameter=number:..."; `length` bytes. CLEAVE_BAD_ARGUMENT says what there
 * is. */
enum cleave_status cleave__cache_choice_parse(const char *text, size_t length,
                                              struct cleave__cache_choice *out,
                                              struct cleave_error *error);

/* Free with cleave__cache_free, which releases what is held; NULL is allowed there. */
enum cleave_status cleave__cache_new(const struct cleave__cache_options *options,
                                     struct cleave__cache **out, struct cleave_error *error);
void cleave__cache_free(struct cleave__cache *cache);

/* Asks for a key: a hit fills `out` (may be NULL) and is true. An entry older than `version` is not
 * served: it is invalidated, and the request is a miss. Version 0 takes any. */
bool cleave__cache_get(struct cleave__cache *cache, uint64_t key, uint64_t version,
                       struct cleave__cache_entry *out);

/* Offers an entry. `*kept` (may be NULL) tells whether the cache took the value over; if not, it is
 * the caller's still. A key that is held gets the new value and version in place; with another
 * size it is taken out first (as by invalidate) and starts anew. CLEAVE_NO_MEMORY: nothing has
 * changed. */
enum cleave_status cleave__cache_put(struct cleave__cache *cache, uint64_t key,
                                     const struct cleave__cache_entry *entry, bool *kept,
                                     struct cleave_error *error);

/* The entry of the key leaves and is not served again; what the policy remembers of the key's
 * popularity stays. True if there was one. */
bool cleave__cache_invalidate(struct cleave__cache *cache, uint64_t key);
/* Cold again: entries (counted as invalidated) and the policy's memory go; counts stay. */
void cleave__cache_clear(struct cleave__cache *cache);

struct cleave__cache_counts cleave__cache_counts(const struct cleave__cache *cache);
/* Whether the key is held; touches nothing, counts nothing. */
bool cleave__cache_holds(const struct cleave__cache *cache, uint64_t key);
/* Bytes of memory that the cache itself takes, values not included. */
uint64_t cleave__cache_memory_bytes(const struct cleave__cache *cache);

/* Every invariant of the cache and its policy, in O(nodes). `*why` is set when false. */
bool cleave__cache_check(const struct cleave__cache *cache, const char **why);

#endif
