/* Vector bin packing: vertices by falling size (their largest share of any constraint's total),
 * each to the block where it leaves the least overload, then the lowest fullest constraint, then
 * the strongest ties. The last resort when repair fails; nets are followed only on ties. */
#include <stdlib.h>

#include "place/multilevel/search.h"

struct item {
    double size;
    uint32_t vertex;
};

static int by_size(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Overload and fullest constraint of block b if v came. */
static void consider(const struct cleave__state *s, const int64_t *weight, uint32_t v, uint32_t b,
                     int64_t *overload, double *fill)
{
    uint32_t W = s->level->weights;
    *overload = 0;
    *fill = 0;
    for (uint32_t c = 0; c < W; c++) {
        size_t at = (size_t)b * W + c;
        int64_t limit = s->target->limit[at], before = weight[at];
        int64_t after = before + s->level->weight[(size_t)v * W + c];
        *overload +=
            cleave__violation(s->target, at, after) - cleave__violation(s->target, at, before);
        double full = (double)after / (double)(limit > 0 ? limit : 1);
        if (full > *fill)
            *fill = full;
    }
}

static bool clashes(const struct cleave__state *s, const uint32_t *block, uint32_t v, uint32_t b)
{
    const struct cleave__level *l = s->level;
    for (uint32_t i = l->apart_offset ? l->apart_offset[v] : 0;
         l->apart_offset && i < l->apart_offset[v + 1]; i++) {
        if (block[l->apart[i]] == b)
            return true;
    }
    return false;
}

enum cleave_status cleave__pack(struct cleave__search *search, struct cleave__state *s)
{
    const struct cleave__level *l = s->level;
    uint32_t n = l->vertices, W = l->weights, k = s->target->blocks;
    if (l->home || (uint64_t)n * k > UINT64_C(1) << 28)
        return CLEAVE_OK; /* packing anew would spend any budget */
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct item *item = cleave__arena_array(&search->arena, n, sizeof *item);
    uint32_t *block = cleave__arena_array(&search->arena, n, sizeof *block);
    int64_t *weight = cleave__arena_zalloc(&search->arena, (size_t)k * W * sizeof *weight);
    double *total = cleave__arena_zalloc(&search->arena, W * sizeof *total);
    enum cleave_status status = item && block && weight && total ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (status)
        goto done;
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t c = 0; c < W; c++)
            total[c] += (double)l->weight[(size_t)v * W + c];
    }
    uint32_t items = 0;
    for (uint32_t v = 0; v < n; v++) {
        block[v] = CLEAVE__NONE;
        if (l->fixed[v] != CLEAVE_FREE) {
            block[v] = (uint32_t)l->fixed[v];
            for (uint32_t c = 0; c < W; c++)
                weight[(size_t)block[v] * W + c] += l->weight[(size_t)v * W + c];
            continue;
        }
        double size = 0;
        for (uint32_t c = 0; c < W; c++) {
            double share = total[c] > 0 ? (double)l->weight[(size_t)v * W + c] / total[c] : 0;
            size = share > size ? share : size;
        }
        item[items++] = (struct item){size, v};
    }
    qsort(item, items, sizeof *item, by_size);
    for (uint32_t i = 0; i < items; i++) {
        uint32_t v = item[i].vertex, best = 0;
        int64_t least = 0;
        double lowest = 0;
        bool any = false, clean = false;
        for (uint32_t b = 0; b < k; b++) {
            int64_t overload;
            double fill;
            bool clash = clashes(s, block, v, b);
            consider(s, weight, v, b, &overload, &fill);
            bool better = overload < least || (overload == least && fill < lowest);
            if (clash == clean) /* one of the two clashes, the other does not */
                better = !clash;
            if (!any || better) {
                best = b;
                least = overload;
                lowest = fill;
                clean = !clash;
            }
            any = true;
        }
        block[v] = best;
        for (uint32_t c = 0; c < W; c++)
            weight[(size_t)best * W + c] += l->weight[(size_t)v * W + c];
    }
    /* Adopt it only if it violates less once blocks have their vertices. */
    struct cleave__score before = s->score;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t old = s->block[v];
        s->block[v] = block[v];
        block[v] = old;
    }
    cleave__state_recount(s);
    status = cleave__rebalance(search, s);
    before.cost = s->score.cost;
    if (!status && !cleave__score_less(&s->score, &before)) {
        for (uint32_t v = 0; v < n; v++)
            s->block[v] = block[v];
        cleave__state_recount(s);
    }
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
