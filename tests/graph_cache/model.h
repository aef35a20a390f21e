/* The slow, obviously right cache: every policy by its definition, on arrays that are searched from
 * end to end. */
#ifndef CLEAVE_TESTS_GRAPH_CACHE_MODEL_H
#define CLEAVE_TESTS_GRAPH_CACHE_MODEL_H

#include "graph/cache/cache.h"
#include "graph/cache/sketch.h"

enum { MODEL_ITEMS = 600 };

struct item {
    uint64_t key, size, version;
    uint64_t when; /* lfu: of the last use; belady: of the next */
    unsigned uses;
    char kind; /* lirs: 'L'IR, 'H'IR, 'G'host */
};

struct shelf { /* oldest first */
    struct item item[MODEL_ITEMS];
    unsigned count;
};

struct model {
    char policy[20];
    struct cleave__cache_options options;
    struct shelf a, b, c, d; /* what they are: each policy in model/ */
    double target;           /* arc */
    int hand;                /* sieve: place in a; -1: none */
    uint64_t now, peak, sampled;
    uint64_t pool; /* w-tiny-lfu: nodes that the cache's pool has room for */
    struct cleave__sketch sketch;
    struct cleave__cache_counts counts;
};

void model_start(struct model *m, const char *policy, const struct cleave__cache_options *options);
void model_stop(struct model *m);
bool model_get(struct model *m, uint64_t key, uint64_t version);
bool model_put(struct model *m, uint64_t key, uint64_t size, uint64_t version);
bool model_invalidate(struct model *m, uint64_t key);
void model_clear(struct model *m);
bool model_holds(const struct model *m, uint64_t key);

#endif
