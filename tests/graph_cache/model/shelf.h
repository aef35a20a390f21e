/* What the policies of the model share: shelves of items, searched from end to end; and what each
 * policy offers to model.c. */
#ifndef CLEAVE_TESTS_GRAPH_CACHE_MODEL_SHELF_H
#define CLEAVE_TESTS_GRAPH_CACHE_MODEL_SHELF_H

#include <assert.h>
#include <string.h>

#include "graph_cache/model.h"

static inline bool is(const struct model *m, const char *policy)
{
    return strcmp(m->policy, policy) == 0;
}

static inline int find(const struct shelf *s, uint64_t key)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->item[i].key == key)
            return (int)i;
    }
    return -1;
}

static inline struct item take(struct shelf *s, int at)
{
    assert(at >= 0 && (unsigned)at < s->count);
    struct item item = s->item[at];
    memmove(&s->item[at], &s->item[at + 1], (s->count - (unsigned)at - 1) * sizeof item);
    s->count--;
    return item;
}

static inline void append(struct shelf *s, struct item item)
{
    assert(s->count < MODEL_ITEMS);
    s->item[s->count++] = item;
}

static inline uint64_t cost(const struct model *m, const struct item *item)
{
    return m->options.in_bytes ? item->size : 1;
}

static inline uint64_t total(const struct model *m, const struct shelf *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->count; i++)
        sum += cost(m, &s->item[i]);
    return sum;
}

static inline double parameter(const struct model *m, unsigned i)
{
    return m->options.choice.parameter[i];
}

static inline uint64_t share(const struct model *m, double part, uint64_t least)
{
    uint64_t whole = (uint64_t)(part * (double)m->options.capacity);
    return whole < least ? least : whole;
}

/* Cost of all entries. */
uint64_t model__used(const struct model *m);
/* The item leaves; as evicted. */
void model__left(struct model *m, const struct item *item);
void model__evicted(struct model *m, const struct item *item);

/* A policy: a hit; an item that enters (false: refused); where taking one out is more than that. */
void model__simple_hit(struct model *m, uint64_t key);
bool model__simple_admit(struct model *m, struct item item);
struct item model__simple_take(struct model *m, int at);
void model__s3_hit(struct model *m, uint64_t key);
bool model__s3_admit(struct model *m, struct item item);
void model__arc_hit(struct model *m, uint64_t key);
bool model__arc_admit(struct model *m, struct item item);
void model__lirs_hit(struct model *m, uint64_t key);
bool model__lirs_admit(struct model *m, struct item item);
void model__lirs_prune(struct model *m);
uint64_t model__lir_cost(const struct model *m);
void model__tiny_hit(struct model *m, uint64_t key);
bool model__tiny_admit(struct model *m, struct item item);
void model__tiny_count(struct model *m, uint64_t key);

#endif
