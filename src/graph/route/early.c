/* Batching that stops: under a limit it asks for no more than is likely to fill it, in waves.
 *
 * Batching alone makes a limit dear: all of a hop is asked for where a few users would do
 * (JanusGraph's issues 2514 and 3733). Here a hop's users are asked in an order that costs little:
 * those on the coordinator's own shard, then shard by shard, the one with most of them first. A
 * wave takes as many as should bring what is missing, by what users have brought so far in this
 * hop, and asks each shard once. As soon as the limit is reached nobody is asked further. Without a
 * limit, or for a top, which must see everyone, it is `batched`. */
#include "graph/route/executor.h"

#include <string.h>

/* `frontier` in the order to ask: own shard first, the others by falling number of users, the lower
 * shard first among equals. O(frontier + shards * shards that hold some of it). */
static void order_frontier(struct cleave__execution *x)
{
    uint32_t shards = x->sharded->shards, at = x->sharded->owner[x->query->source];
    const uint32_t *owner = x->sharded->owner;
    uint64_t *count = x->bucket, *start = x->bucket + shards, used = 0;
    memset(count, 0, shards * sizeof *count);
    for (uint32_t i = 0; i < x->frontier_count; i++)
        count[owner[x->frontier[i]]]++;
    while (used < x->frontier_count) {
        start[at] = used;
        used += count[at];
        count[at] = 0;
        for (uint32_t s = 0; s < shards; s++)
            at = count[s] > count[at] ? s : at;
    }
    for (uint32_t i = 0; i < x->frontier_count; i++)
        x->sorted[start[owner[x->frontier[i]]]++] = x->frontier[i];
    uint32_t *held = x->frontier;
    x->frontier = x->sorted;
    x->sorted = held;
}

typedef void ask(struct cleave__execution *execution, uint32_t user);

/* Asks about the frontier, wave by wave; `yield`: answers that a user is expected to bring. */
static void waves(struct cleave__execution *x, ask *about, double yield)
{
    uint32_t asked = 0, before = x->answer_count;
    order_frontier(x);
    while (asked < x->frontier_count && !cleave__execution_satisfied(x)) {
        double missing = (double)(x->query->limit - x->answer_count);
        if (asked > 0)
            yield = ((double)(x->answer_count - before) + 0.5) / asked;
        double wanted = missing / yield;
        uint32_t left = x->frontier_count - asked;
        uint32_t wave = wanted >= left ? left : wanted < 1 ? 1 : (uint32_t)wanted;
        if (wave < asked / 2) /* few found: do not wait long for many small waves */
            wave = asked / 2 < left ? asked / 2 : left;
        cleave__execution_round(x);
        for (uint32_t i = 0; i < wave; i++) {
            uint32_t user = x->frontier[asked++];
            cleave__execution_request_once(x, x->sharded->owner[user]);
            about(x, user);
        }
    }
}

void cleave__run_early(struct cleave__execution *x)
{
    const struct cleave__query *q = x->query;
    if (!q->limit || q->top) {
        cleave__run_batched(x);
        return;
    }
    while (x->level < q->hops && x->frontier_count && !cleave__execution_satisfied(x)) {
        bool last = x->level + 1 == q->hops, needs = cleave__query_needs_user(q);
        bool brings = needs ? !q->exactly && x->level > 0 : last || !q->exactly;
        /* Lists that bring no answer yet are needed all the same: one wave. */
        waves(x, cleave__execution_read, !brings ? 1e-9 : needs ? 1 : 4);
        cleave__execution_step(x);
    }
    if (cleave__query_needs_user(q) && x->level == q->hops && !cleave__execution_satisfied(x))
        waves(x, cleave__execution_look, 1);
}
