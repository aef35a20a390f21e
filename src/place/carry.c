#include "place/carry.h"

#include <stdbool.h>
#include <stdlib.h>

enum { VOTER_MAX = 1000, VOTE_SCALE = 5040 }; /* divides evenly among up to 10 */

struct carry {
    const struct cleave_hypergraph *h;
    uint32_t blocks;
    uint32_t *block;
    uint64_t *load;   /* [blocks], first weight */
    double *vote;     /* [blocks], zero between calls */
    uint32_t *voted;  /* [blocks]: with votes */
    uint32_t *queue;  /* [vertices] */
    bool *queued;     /* [vertices] */
    uint32_t in, out; /* of the queue */
};

static uint64_t pins_of(const struct cleave_hypergraph *h, uint32_t net)
{
    return h->net_offset[net + 1] - h->net_offset[net];
}

/* The block with most votes; CLEAVE_NO_BLOCK when nobody votes. Whole numbers in doubles, so that
 * sums are exact up to 2^53. */
static uint32_t elect(struct carry *c, uint32_t v)
{
    const struct cleave_hypergraph *h = c->h;
    uint32_t count = 0, best = CLEAVE_NO_BLOCK;
    for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
        uint32_t e = h->incident[i], placed = 0;
        if (pins_of(h, e) > VOTER_MAX)
            continue;
        for (uint64_t p = h->net_offset[e]; p < h->net_offset[e + 1]; p++)
            placed += c->block[h->pin[p]] != CLEAVE_NO_BLOCK;
        for (uint64_t p = h->net_offset[e]; placed && p < h->net_offset[e + 1]; p++) {
            uint32_t b = c->block[h->pin[p]];
            if (b == CLEAVE_NO_BLOCK)
                continue;
            if (!(c->vote[b] > 0))
                c->voted[count++] = b;
            c->vote[b] += ((double)h->net_weight[e] + 1) * (VOTE_SCALE / placed + 1);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = c->voted[i];
        if (best == CLEAVE_NO_BLOCK || c->vote[b] > c->vote[best] ||
            (!(c->vote[b] < c->vote[best]) && b < best))
            best = b;
    }
    for (uint32_t i = 0; i < count; i++)
        c->vote[c->voted[i]] = 0;
    return best;
}

static void put(struct carry *c, uint32_t v, uint32_t b)
{
    c->block[v] = b;
    c->load[b] += (uint64_t)c->h->vertex_weight[(size_t)v * c->h->weights];
}

/* Queues what is not placed and shares a voting net with v. */
static void wake(struct carry *c, uint32_t v)
{
    const struct cleave_hypergraph *h = c->h;
    for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
        uint32_t e = h->incident[i];
        if (pins_of(h, e) > VOTER_MAX)
            continue;
        for (uint64_t p = h->net_offset[e]; p < h->net_offset[e + 1]; p++) {
            uint32_t u = h->pin[p];
            if (c->block[u] != CLEAVE_NO_BLOCK || c->queued[u])
                continue;
            c->queued[u] = true;
            c->queue[c->in++] = u;
        }
    }
}

static void drain(struct carry *c)
{
    while (c->out < c->in) {
        uint32_t v = c->queue[c->out++], b = elect(c, v);
        if (b == CLEAVE_NO_BLOCK)
            continue; /* cannot be: what is queued has a placed neighbour */
        put(c, v, b);
        wake(c, v);
    }
}

static uint32_t lightest(const struct carry *c)
{
    uint32_t best = 0;
    for (uint32_t b = 1; b < c->blocks; b++) {
        if (c->load[b] < c->load[best])
            best = b;
    }
    return best;
}

static bool has_placed_neighbour(const struct carry *c, uint32_t v)
{
    const struct cleave_hypergraph *h = c->h;
    for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
        uint32_t e = h->incident[i];
        if (pins_of(h, e) > VOTER_MAX)
            continue;
        for (uint64_t p = h->net_offset[e]; p < h->net_offset[e + 1]; p++) {
            if (c->block[h->pin[p]] != CLEAVE_NO_BLOCK)
                return true;
        }
    }
    return false;
}

static void complete(struct carry *c)
{
    const struct cleave_hypergraph *h = c->h;
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (c->block[v] != CLEAVE_NO_BLOCK) {
            c->load[c->block[v]] += (uint64_t)h->vertex_weight[(size_t)v * h->weights];
        } else if (has_placed_neighbour(c, v)) {
            c->queued[v] = true;
            c->queue[c->in++] = v;
        }
    }
    drain(c);
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (c->block[v] != CLEAVE_NO_BLOCK)
            continue;
        c->queued[v] = true;
        put(c, v, lightest(c));
        wake(c, v);
        drain(c);
    }
}

enum cleave_status cleave__carry_complete(const struct cleave_hypergraph *h, uint32_t blocks,
                                          uint32_t *block, struct cleave_error *error)
{
    if (blocks == 0 && h->vertices)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no blocks to carry vertices to");
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (block[v] >= blocks && block[v] != CLEAVE_NO_BLOCK)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "vertex %u is in block %u of only %u", v, block[v], blocks);
    }
    struct carry c = {.h = h, .blocks = blocks, .block = block};
    c.load = calloc((size_t)blocks + 1, sizeof *c.load);
    c.vote = calloc((size_t)blocks + 1, sizeof *c.vote);
    c.voted = calloc((size_t)blocks + 1, sizeof *c.voted);
    c.queue = calloc((size_t)h->vertices + 1, sizeof *c.queue);
    c.queued = calloc((size_t)h->vertices + 1, sizeof *c.queued);
    bool ok = c.load && c.vote && c.voted && c.queue && c.queued;
    if (ok)
        complete(&c);
    free(c.load);
    free(c.vote);
    free(c.voted);
    free(c.queue);
    free(c.queued);
    return ok ? CLEAVE_OK
              : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to carry a placement over");
}
