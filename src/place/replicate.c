/* The public call: checks the request, searches, hands out the sets. */
#include <stdlib.h>
#include <string.h>

#include "base/shardset.h"
#include "model/limits.h"
#include "place/replicate_check.h"
#include "place/replicate_state.h"

_Static_assert(CLEAVE_COPIES_WORDS * 64 == CLEAVE_SHARDS_MAX, "a set holds every block");

enum cleave_status cleave__replicate_check_budgets(const struct cleave_hypergraph *h,
                                                   const struct cleave_replicate_options *o,
                                                   struct cleave_error *error)
{
    for (uint32_t i = 0; i < h->weights; i++) {
        if (o->budget && o->budget[i] < 0)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "budget of weight %u is negative",
                                    i);
        for (uint32_t b = 0; o->block_budget && b < o->blocks; b++) {
            if (o->block_budget[(size_t)b * h->weights + i] < 0)
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "budget of block %u, weight %u is negative", b, i);
        }
    }
    return CLEAVE_OK;
}

/* Copies everywhere must not weigh more than a number can say. */
static enum cleave_status check_weights(const struct cleave_hypergraph *h,
                                        const struct cleave_replicate_options *o,
                                        struct cleave_error *error)
{
    for (uint32_t c = 0; c < h->weights; c++) {
        int64_t left = INT64_MAX / o->blocks;
        for (uint32_t i = 0; i < o->count; i++) {
            int64_t weight = h->vertex_weight[(size_t)o->vertices[i] * h->weights + c];
            if (weight > left)
                return cleave_error_set(error, CLEAVE_LIMIT,
                                        "weights of copies in %u blocks sum to too much",
                                        o->blocks);
            left -= weight;
        }
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__replicate_check(const struct cleave_hypergraph *h,
                                           const struct cleave_replicate_options *o,
                                           const uint32_t *block, struct cleave_error *error)
{
    const enum cleave_status bad = CLEAVE_BAD_ARGUMENT;
    int64_t most = CLEAVE__WEIGHT_SUM_MAX, sum = 0;
    if (o->blocks < 1 || o->blocks > CLEAVE_SHARDS_MAX)
        return cleave_error_set(error, bad, "%u blocks: must be 1 to %d", o->blocks,
                                CLEAVE_SHARDS_MAX);
    if ((unsigned)o->objective > CLEAVE_SOED)
        return cleave_error_set(error, bad, "unknown objective %d", (int)o->objective);
    if (o->count > h->vertices || (o->count && !o->vertices))
        return cleave_error_set(error, bad, "%u chosen vertices of %u", o->count, h->vertices);
    for (uint32_t v = 0; block && v < h->vertices; v++) {
        if (block[v] >= o->blocks)
            return cleave_error_set(error, bad, "vertex %u is in block %u, but blocks are 0 to %u",
                                    v, block[v], o->blocks - 1);
    }
    unsigned char *seen = calloc((size_t)h->vertices + 1, 1);
    if (!seen)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < o->count; i++) {
        uint32_t v = o->vertices[i];
        int64_t cost = o->write_cost ? o->write_cost[i] : 0;
        if (v >= h->vertices || seen[v])
            status = cleave_error_set(error, bad, "chosen vertex %u %s", v,
                                      v >= h->vertices ? "does not exist" : "is chosen twice");
        else if (cost < 0)
            status = cleave_error_set(error, bad, "write cost of vertex %u is negative", v);
        else if (cost > most / o->blocks || sum > most - cost * o->blocks)
            status = cleave_error_set(error, CLEAVE_LIMIT, "write costs sum to too much");
        if (status)
            break;
        seen[v] = 1;
        sum += cost * o->blocks;
    }
    free(seen);
    return status ? status : check_weights(h, o, error);
}

static int64_t saved_by(const struct cleave__copies *c, int64_t before)
{
    return before - c->nets - c->writes;
}

static enum cleave_status hand_out(const struct cleave__copies *c, int64_t before,
                                   struct cleave_copies *out,
                                   struct cleave_replicate_result *result,
                                   struct cleave_error *error)
{
    uint32_t count = c->o->count;
    struct cleave_copies made = {.count = count};
    made.offset = malloc(((size_t)count + 1) * sizeof *made.offset);
    made.block = malloc((count + c->copies + 1) * sizeof *made.block);
    if (!made.offset || !made.block) {
        cleave_copies_free(&made);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies of %u vertices",
                                count);
    }
    uint64_t used = 0;
    for (uint32_t s = 0; s < count; s++) {
        const uint64_t *set = cleave__copies_set(c, s);
        made.offset[s] = used;
        for (uint32_t w = 0; w < c->words; w++) {
            for (uint64_t left = set[w]; left; left &= left - 1)
                made.block[used++] = w * 64 + (uint32_t)__builtin_ctzll(left);
        }
    }
    made.offset[count] = used;
    *out = made;
    if (result) {
        *result = (struct cleave_replicate_result){.before = before,
                                                   .nets = c->nets,
                                                   .writes = c->writes,
                                                   .saved = saved_by(c, before),
                                                   .copies = c->copies};
        memcpy(result->added, c->added, sizeof result->added);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave_replicate(const struct cleave_hypergraph *h,
                                    const struct cleave_replicate_options *o, const uint32_t *block,
                                    struct cleave_copies *out,
                                    struct cleave_replicate_result *result,
                                    struct cleave_error *error)
{
    enum cleave_status status = cleave__replicate_check(h, o, block, error);
    if (!status)
        status = cleave__replicate_check_budgets(h, o, error);
    if (status)
        return status;
    bool budgets = o->budget || o->block_budget;
    struct cleave__copies best, other;
    status = cleave__copies_init(&best, h, o, block, error);
    if (status)
        return status;
    int64_t before = best.nets;
    status = cleave__copies_search(&best, budgets, error);
    /* With budgets neither order is always the better one. */
    if (!status && budgets && !(status = cleave__copies_init(&other, h, o, block, error))) {
        status = cleave__copies_search(&other, false, error);
        if (!status && saved_by(&other, before) > saved_by(&best, before)) {
            struct cleave__copies swap = best;
            best = other;
            other = swap;
        }
        cleave__copies_free(&other);
    }
    if (!status)
        status = hand_out(&best, before, out, result, error);
    cleave__copies_free(&best);
    return status;
}

void cleave_copies_free(struct cleave_copies *copies)
{
    if (!copies)
        return;
    free(copies->offset);
    free(copies->block);
    *copies = (struct cleave_copies){0};
}
