/* Limits that cannot be kept, or hardly: the search aims at looser ones, lest it give up every net
 * for the last bit of balance, and the limits proper are tried again at its end. */
#include <string.h>

#include "place/multilevel/driver.h"

enum { LOOSE = 50 };

/* Can the heaviest vertices make balance hard? */
bool cleave__limits_doubtful(const struct cleave__driver *d)
{
    const struct cleave__level *level = cleave__level_of(d);
    const struct cleave__target *t = &d->problem.target;
    uint32_t W = level->weights;
    for (uint32_t c = 0; c < W; c++) {
        int64_t slack = INT64_MAX, heaviest = 0;
        for (uint32_t b = 0; b < t->blocks; b++) {
            size_t at = (size_t)b * W + c;
            int64_t here = t->limit[at] - t->quota[at];
            slack = here < slack ? here : slack;
        }
        for (uint32_t v = 0; v < level->vertices; v++) {
            int64_t w = level->weight[(size_t)v * W + c];
            heaviest = w > heaviest ? w : heaviest;
        }
        if (heaviest > slack / (W > 1 ? 8 : 1))
            return true;
    }
    return false;
}

/* Where even packing keeps no limits, or a vertex is too heavy for any block: how far does it come?
 */
enum cleave_status cleave__limits_relax(struct cleave__driver *d, struct cleave__attempt *a)
{
    enum cleave_status status = cleave__attempt_one(d, a, cleave__attempt_probe, 3, NULL);
    if (status || (!a->score.overload && !d->problem.giants))
        return status;
    const struct cleave__target *t = &d->problem.target;
    uint32_t W = t->weights;
    size_t cells = (size_t)t->blocks * W;
    int64_t *limit = cleave__arena_array(&d->search.arena, cells, sizeof *limit);
    int64_t *weight = cleave__arena_zalloc(&d->search.arena, cells * sizeof *weight);
    int64_t *floor = NULL;
    if (t->floor)
        floor = cleave__arena_array(&d->search.arena, cells, sizeof *floor);
    if (!limit || !weight || (t->floor && !floor))
        return CLEAVE_NO_MEMORY;
    for (uint32_t v = 0; v < cleave__level_of(d)->vertices; v++) {
        for (uint32_t c = 0; c < W; c++)
            weight[(size_t)a->block[v] * W + c] += cleave__level_of(d)->weight[(size_t)v * W + c];
    }
    /* A block that a giant fills leaves its share of the other weights to the others. */
    double spread = (double)t->blocks / (double)(t->blocks - d->problem.giants);
    for (uint32_t c = 0; c < W; c++) {
        double most = spread, least = 1;
        for (size_t at = c; at < cells; at += W) {
            if (t->floor && weight[at] < t->floor[at]) {
                double under = (double)weight[at] / (double)t->floor[at];
                least = under < least ? under : least;
            }
            double over = (double)weight[at] / (double)(t->limit[at] > 0 ? t->limit[at] : 1);
            most = over > most ? over : most;
        }
        most = most > 1 ? most * 1.005 : 1;
        for (size_t at = c; at < cells; at += W) {
            double wide = (double)t->limit[at] * most;
            int64_t room = wide < 0x1p62 ? (int64_t)wide + 1 : INT64_C(1) << 62;
            limit[at] = most > 1 ? room : t->limit[at];
            if (floor)
                floor[at] =
                    least < 1 ? (int64_t)((double)t->floor[at] * least * 0.995) : t->floor[at];
        }
    }
    d->strict = t->limit;
    d->strict_floor = t->floor;
    d->problem.target.limit = limit;
    d->problem.target.floor = floor;
    d->pooled = 0;
    return CLEAVE_OK;
}

/* The limits proper once more: repaired, does the best keep them? If not, it stays as it is. */
enum cleave_status cleave__limits_tighten(struct cleave__driver *d, struct cleave__attempt *a)
{
    d->problem.target.limit = d->strict;
    d->problem.target.floor = d->strict_floor;
    d->strict = NULL;
    if (!cleave__attempt_ready(d, a, 700))
        return CLEAVE_NO_MEMORY;
    memcpy(a->block, d->pool[0].block, cleave__block_bytes(d));
    a->run = cleave__attempt_repair;
    cleave__attempt_alone(d, a);
    if (!a->status && a->affordable && cleave__score_sound(&a->score))
        memcpy(d->pool[0].block, a->block, cleave__block_bytes(d));
    return a->status;
}

/* Searches with limits widened by LOOSE (1/1000), then repairs to the limits proper: where
 * heavy vertices make coarse levels hard to balance, repair there spoils more than it does here. */
enum cleave_status cleave__attempt_loose(struct cleave__attempt *a)
{
    const struct cleave__target *strict = &a->driver->problem.target;
    size_t cells = (size_t)strict->blocks * strict->weights;
    struct cleave__target loose = *strict;
    struct cleave_arena_mark mark = cleave__arena_mark(&a->search.arena);
    int64_t *limit = cleave__arena_array(&a->search.arena, cells, sizeof *limit);
    if (!limit)
        return CLEAVE_NO_MEMORY;
    for (size_t at = 0; at < cells; at++) {
        double wide = (double)strict->limit[at] * (1 + LOOSE / 1000.0);
        limit[at] = wide < 0x1p62 ? (int64_t)wide : INT64_C(1) << 62;
    }
    loose.limit = limit;
    enum cleave_status status = cleave__attempt_toward(a, &loose);
    cleave__arena_rewind(&a->search.arena, mark);
    if (!status)
        status = cleave__attempt_repair(a);
    a->within = NULL;
    return status ? status : cleave__attempt_cycle(a);
}
