/* The recount: every net from scratch, sharing nothing with what chose the copies. The fewest
 * blocks are found by trying subsets in order of size. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/shardset.h"
#include "place/replicate_check.h"

enum { EXACT = 16 };

struct recount {
    const struct cleave_hypergraph *h;
    const struct cleave_replicate_options *o;
    const uint32_t *block;
    const struct cleave_copies *copies;
    uint32_t *row;  /* [vertices]: 1 + place among the chosen, 0: not chosen */
    uint32_t *open; /* [most pins]: rows of the net's pins that are not served yet */
};

static enum cleave_status check_copies(const struct recount *r, struct cleave_error *error)
{
    const struct cleave_copies *copies = r->copies;
    if (copies->count != r->o->count || (copies->count && copies->offset[0] != 0))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "copies of %u vertices, %u are chosen",
                                copies->count, r->o->count);
    for (uint32_t i = 0; i < copies->count; i++) {
        uint32_t v = r->o->vertices[i];
        bool own = false;
        if (copies->offset[i + 1] < copies->offset[i])
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "copies of vertex %u end before "
                                    "they start",
                                    v);
        for (uint64_t j = copies->offset[i]; j < copies->offset[i + 1]; j++) {
            uint32_t b = copies->block[j];
            if (b >= r->o->blocks || (j > copies->offset[i] && copies->block[j - 1] >= b))
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "copies of vertex %u: blocks must rise, up to %u", v,
                                        r->o->blocks - 1);
            own |= b == r->block[v];
        }
        if (!own)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "vertex %u has no copy in its own block %u", v, r->block[v]);
    }
    return CLEAVE_OK;
}

static const uint32_t *blocks_of(const struct recount *r, uint32_t row, uint32_t *count)
{
    *count = (uint32_t)(r->copies->offset[row + 1] - r->copies->offset[row]);
    return r->copies->block + r->copies->offset[row];
}

static bool touches(const struct recount *r, uint32_t row, const struct cleave_shardset *set)
{
    uint32_t count;
    const uint32_t *blocks = blocks_of(r, row, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (cleave__shardset_has(set, blocks[i]))
            return true;
    }
    return false;
}

/* Fewest of the numbered blocks that serve all open pins. */
static uint32_t fewest(const struct recount *r, uint32_t open, const uint32_t *asked,
                       uint32_t count)
{
    for (uint32_t size = 1; size < count; size++) {
        for (uint32_t set = (1u << size) - 1; set < 1u << count;) {
            struct cleave_shardset chosen;
            cleave__shardset_clear(&chosen);
            for (uint32_t i = 0; i < count; i++) {
                if (set >> i & 1)
                    cleave__shardset_add(&chosen, asked[i]);
            }
            uint32_t i = 0;
            while (i < open && touches(r, r->open[i], &chosen))
                i++;
            if (i == open)
                return size;
            uint32_t low = set & -set, up = set + low; /* the next of this size (Gosper) */
            set = up | ((set ^ up) / low) >> 2;
        }
    }
    return count;
}

static uint32_t greedily(struct recount *r, uint32_t open)
{
    uint32_t taken = 0;
    for (; open; taken++) {
        uint32_t best = 0, best_pins = 0, kept = 0;
        for (uint32_t b = 0; b < r->o->blocks; b++) {
            struct cleave_shardset one;
            cleave__shardset_clear(&one);
            cleave__shardset_add(&one, b);
            uint32_t pins = 0;
            for (uint32_t i = 0; i < open; i++)
                pins += touches(r, r->open[i], &one);
            if (pins > best_pins) {
                best = b;
                best_pins = pins;
            }
        }
        struct cleave_shardset one;
        cleave__shardset_clear(&one);
        cleave__shardset_add(&one, best);
        for (uint32_t i = 0; i < open; i++) {
            if (!touches(r, r->open[i], &one))
                r->open[kept++] = r->open[i];
        }
        open = kept;
    }
    return taken;
}

static uint32_t blocks_needed(struct recount *r, uint32_t e)
{
    const struct cleave_hypergraph *h = r->h;
    struct cleave_shardset forced;
    uint32_t open = 0, count, asked[EXACT], in_question = 0;
    cleave__shardset_clear(&forced);
    for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
        uint32_t v = h->pin[i];
        if (r->row[v])
            blocks_of(r, r->row[v] - 1, &count);
        if (!r->row[v] || count == 1)
            cleave__shardset_add(&forced, r->block[v]);
        else
            r->open[open++] = r->row[v] - 1;
    }
    uint32_t left = 0, most = open;
    for (uint32_t i = 0; i < most; i++) {
        if (!touches(r, r->open[i], &forced))
            r->open[left++] = r->open[i];
    }
    open = left;
    struct cleave_shardset any;
    cleave__shardset_clear(&any);
    for (uint32_t i = 0; i < open; i++) {
        const uint32_t *blocks = blocks_of(r, r->open[i], &count);
        for (uint32_t j = 0; j < count; j++)
            cleave__shardset_add(&any, blocks[j]);
    }
    uint32_t base = cleave__shardset_count(&forced);
    if (open == 0)
        return base;
    if (cleave__shardset_count(&any) > EXACT)
        return base + greedily(r, open);
    for (uint32_t b = 0; b < r->o->blocks; b++) {
        if (cleave__shardset_has(&any, b))
            asked[in_question++] = b;
    }
    return base + fewest(r, open, asked, in_question);
}

static int64_t cost_of(const struct recount *r, uint32_t e, uint32_t blocks)
{
    int64_t weight = r->h->net_weight[e];
    if (blocks < 2)
        return 0;
    switch (r->o->objective) {
    case CLEAVE_CUT:
        return weight;
    case CLEAVE_KM1:
        return weight * (blocks - 1);
    case CLEAVE_SOED:
    default:
        return weight * blocks;
    }
}

static uint32_t blocks_without_copies(struct recount *r, uint32_t e)
{
    struct cleave_shardset set;
    cleave__shardset_clear(&set);
    for (uint64_t i = r->h->net_offset[e]; i < r->h->net_offset[e + 1]; i++)
        cleave__shardset_add(&set, r->block[r->h->pin[i]]);
    return cleave__shardset_count(&set);
}

static void measure(struct recount *r, struct cleave_replicate_result *out)
{
    uint32_t W = r->h->weights, count;
    for (uint32_t i = 0; i < r->o->count; i++)
        r->row[r->o->vertices[i]] = i + 1;
    for (uint32_t e = 0; e < r->h->nets; e++) {
        out->before += cost_of(r, e, blocks_without_copies(r, e));
        out->nets += cost_of(r, e, blocks_needed(r, e));
    }
    for (uint32_t i = 0; i < r->o->count; i++) {
        blocks_of(r, i, &count);
        out->copies += count - 1;
        if (r->o->write_cost)
            out->writes += r->o->write_cost[i] * (count - 1);
        for (uint32_t c = 0; c < W; c++)
            out->added[c] += r->h->vertex_weight[(size_t)r->o->vertices[i] * W + c] * (count - 1);
    }
    out->saved = out->before - out->nets - out->writes;
}

enum cleave_status cleave_replicate_measure(const struct cleave_hypergraph *h,
                                            const struct cleave_replicate_options *o,
                                            const uint32_t *block,
                                            const struct cleave_copies *copies,
                                            struct cleave_replicate_result *result,
                                            struct cleave_error *error)
{
    struct recount r = {.h = h, .o = o, .block = block, .copies = copies};
    enum cleave_status status = cleave__replicate_check(h, o, block, error);
    if (!status)
        status = check_copies(&r, error);
    if (status)
        return status;
    uint64_t widest = 0;
    for (uint32_t e = 0; e < h->nets; e++) {
        uint64_t pins = h->net_offset[e + 1] - h->net_offset[e];
        widest = pins > widest ? pins : widest;
    }
    r.row = calloc((size_t)h->vertices + 1, sizeof *r.row);
    r.open = malloc((widest + 1) * sizeof *r.open);
    struct cleave_replicate_result made = {0};
    if (r.row && r.open)
        measure(&r, &made);
    else
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a recount");
    free(r.row);
    free(r.open);
    if (!status)
        *result = made;
    return status;
}
