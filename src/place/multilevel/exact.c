/* Branch and bound for tiny instances: vertices in order of weight and degree, one after another
 * into every block; a branch is left when what is already placed is no better than the best whole
 * answer known. Blocks that are alike and still empty are tried once.
 *
 * Bounds: overload and conflicts only grow as vertices are added, and so does the number of blocks
 * a net touches. `missing` is bounded by the free vertices left. */
#include <string.h>

#include "place/multilevel/search.h"

struct exact {
    const struct cleave__level *level;
    const struct cleave__target *target;
    uint32_t *order;     /* [free], vertices to place */
    uint32_t free_count; /* how many */
    uint32_t *block;     /* CLEAVE__NONE: not placed */
    uint32_t *best;
    int64_t *weight;   /* [blocks * weights] */
    uint32_t *inside;  /* [blocks]: all vertices in it */
    uint32_t *held;    /* [blocks]: free vertices in it */
    uint32_t *pins;    /* [nets * blocks] */
    uint32_t *touched; /* [nets] */
    uint32_t *like;    /* [blocks]: first block with the same limits and duties */
    struct cleave__score record;
    uint64_t nodes;
    const struct cleave__search *search;
};

/* Puts v into b (or takes it out, `sign` -1), with the score of the placed part. */
static void shift(struct exact *x, struct cleave__score *score, uint32_t v, uint32_t b, bool in)
{
    const struct cleave__level *l = x->level;
    uint32_t W = l->weights;
    int64_t sign = in ? 1 : -1;
    for (uint32_t c = 0; c < W; c++) {
        size_t at = (size_t)b * W + c;
        int64_t limit = x->target->limit[at];
        score->overload -= cleave__excess(x->weight[at], limit);
        x->weight[at] += sign * l->weight[(size_t)v * W + c];
        score->overload += cleave__excess(x->weight[at], limit);
    }
    x->inside[b] += in ? 1u : -1u;
    if (l->fixed[v] == CLEAVE_FREE) {
        if (in)
            score->missing -= x->held[b]++ < x->target->least[b];
        else
            score->missing += --x->held[b] < x->target->least[b];
    }
    for (uint32_t i = l->apart_offset ? l->apart_offset[v] : 0;
         l->apart_offset && i < l->apart_offset[v + 1]; i++)
        score->conflicts += l->apart[i] != v && x->block[l->apart[i]] == b ? sign : 0;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        uint32_t e = l->incident[j];
        uint32_t *count = &x->pins[(size_t)e * x->target->blocks + b];
        int64_t price = l->net_weight[e];
        int64_t first = x->target->objective == CLEAVE_SOED ? 2 * price : price;
        int64_t further = x->target->objective == CLEAVE_CUT ? 0 : price;
        if (in && (*count)++ == 0) {
            uint32_t n = ++x->touched[e];
            score->cost += n == 2 ? first : n > 2 ? further : 0;
        } else if (!in && --*count == 0) {
            uint32_t n = x->touched[e]--;
            score->cost -= n == 2 ? first : n > 2 ? further : 0;
        }
    }
    x->block[v] = in ? b : CLEAVE__NONE;
}

/* Want under the floors shrinks as vertices come, so it is no part of the bound: only of the end.
 */
static int64_t want(const struct exact *x)
{
    size_t cells = (size_t)x->target->blocks * x->level->weights;
    int64_t sum = 0;
    for (size_t at = 0; x->target->floor && at < cells; at++)
        sum += cleave__violation(x->target, at, x->weight[at]) -
               cleave__excess(x->weight[at], x->target->limit[at]);
    return sum;
}

/* What v spends of the budget in b. */
static int64_t spend(const struct exact *x, uint32_t v, uint32_t b)
{
    const struct cleave__level *l = x->level;
    return l->home && l->home[v] != b ? l->home_cost[v] : 0;
}

static void branch(struct exact *x, struct cleave__score score, int64_t moved, uint32_t depth)
{
    if (x->nodes == 0)
        return;
    x->nodes--;
    uint32_t left = x->free_count - depth;
    struct cleave__score bound = score;
    bound.missing = score.missing > left ? score.missing - left : 0;
    if (!cleave__score_less(&bound, &x->record))
        return;
    if (left == 0) {
        score.overload += want(x);
        if (!cleave__score_less(&score, &x->record))
            return;
        x->record = score;
        memcpy(x->best, x->block, x->level->vertices * sizeof *x->best);
        return;
    }
    if ((x->nodes & 4095) == 0 && cleave__stopped(x->search)) {
        x->nodes = 0;
        return;
    }
    uint32_t v = x->order[depth], k = x->target->blocks;
    for (uint32_t b = 0; b < k; b++) {
        bool repeat = false;
        int64_t after_moved = moved + spend(x, v, b);
        if (x->level->home && after_moved > x->target->budget)
            continue;
        for (uint32_t a = x->like[b]; a < b && x->inside[b] == 0 && !repeat && !x->level->home; a++)
            repeat = x->like[a] == x->like[b] && x->inside[a] == 0;
        if (repeat)
            continue;
        struct cleave__score after = score;
        shift(x, &after, v, b, true);
        branch(x, after, after_moved, depth + 1);
        shift(x, &after, v, b, false);
    }
}

static bool alike(const struct exact *x, uint32_t a, uint32_t b)
{
    uint32_t W = x->level->weights;
    return !memcmp(x->target->limit + (size_t)a * W, x->target->limit + (size_t)b * W,
                   W * sizeof *x->target->limit) &&
           (!x->target->floor ||
            !memcmp(x->target->floor + (size_t)a * W, x->target->floor + (size_t)b * W,
                    W * sizeof *x->target->floor)) &&
           x->target->least[a] == x->target->least[b];
}

/* Heavy ones first, then those with many nets. */
static bool before(const struct exact *x, uint32_t u, uint32_t v)
{
    const struct cleave__level *l = x->level;
    double a = 0, b = 0;
    for (uint32_t c = 0; c < l->weights; c++) {
        int64_t limit = x->target->limit[c];
        double scale = 1.0 / (double)(limit > 0 ? limit : 1);
        a += (double)l->weight[(size_t)u * l->weights + c] * scale;
        b += (double)l->weight[(size_t)v * l->weights + c] * scale;
    }
    uint64_t p = l->vertex_offset[u + 1] - l->vertex_offset[u];
    uint64_t q = l->vertex_offset[v + 1] - l->vertex_offset[v];
    a += (double)p * 0.05;
    b += (double)q * 0.05;
    return a != b ? a > b : u < v;
}

enum cleave_status cleave__exact(struct cleave__search *search, struct cleave__state *state,
                                 uint64_t nodes, bool *proven)
{
    const struct cleave__level *l = state->level;
    uint32_t n = l->vertices, k = state->target->blocks;
    *proven = false;
    if ((uint64_t)l->nets * k > UINT64_C(1) << 22)
        return CLEAVE_OK;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave_arena *arena = &search->arena;
    struct exact x = {.level = l,
                      .target = state->target,
                      .record = state->score,
                      .nodes = nodes,
                      .search = search};
    x.order = cleave__arena_array(arena, n, sizeof *x.order);
    x.block = cleave__arena_array(arena, n, sizeof *x.block);
    x.best = cleave__arena_array(arena, n, sizeof *x.best);
    x.weight = cleave__arena_zalloc(arena, (size_t)k * l->weights * sizeof *x.weight);
    x.inside = cleave__arena_zalloc(arena, k * sizeof *x.inside);
    x.held = cleave__arena_zalloc(arena, k * sizeof *x.held);
    x.pins = cleave__arena_zalloc(arena, (size_t)l->nets * k * sizeof *x.pins);
    x.touched = cleave__arena_zalloc(arena, l->nets * sizeof *x.touched);
    x.like = cleave__arena_array(arena, k, sizeof *x.like);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!x.order || !x.block || !x.best || !x.weight || !x.inside || !x.held || !x.pins ||
        !x.touched || !x.like)
        goto done;
    status = CLEAVE_OK;
    memcpy(x.best, state->block, n * sizeof *x.best);
    struct cleave__score score = {0};
    int64_t moved = 0;
    for (uint32_t b = 0; b < k; b++) {
        score.missing += state->target->least[b];
        for (x.like[b] = 0; !alike(&x, x.like[b], b); x.like[b]++)
            ;
    }
    for (uint32_t v = 0; v < n; v++)
        x.block[v] = CLEAVE__NONE;
    for (uint32_t v = 0; v < n; v++) {
        if (l->fixed[v] != CLEAVE_FREE) {
            shift(&x, &score, v, (uint32_t)l->fixed[v], true);
            moved += spend(&x, v, (uint32_t)l->fixed[v]);
            continue;
        }
        uint32_t at = x.free_count++;
        for (; at > 0 && before(&x, v, x.order[at - 1]); at--)
            x.order[at] = x.order[at - 1];
        x.order[at] = v;
    }
    branch(&x, score, moved, 0);
    *proven = x.nodes > 0;
    for (uint32_t v = 0; v < n; v++)
        cleave__state_move(state, v, x.best[v], NULL, NULL);
    if (cleave__stopped(search))
        status = CLEAVE_INTERRUPTED;
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
