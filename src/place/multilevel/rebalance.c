/* Repairs what a partition violates: blocks that lack vertices, pairs that must be apart, then
 * overload. Overload goes by single moves in order of cost per overload removed, then by swaps
 * where no single move helps (several constraints often deadlock). Every step lessens the
 * violation, so it ends. */
#include <stdlib.h>

#include "place/multilevel/rated.h"
#include "place/multilevel/search.h"

enum { SWAPS_TRIED_MAX = 100000, EJECTED_MAX = 6, RECEIVERS_MAX = 4, EJECT_WORK = 200000 };
enum { GATHERS_MIN = 50, GATHER_WORK = 2000000, SWAPS_MIN = 100, SWAP_WORK = 10000000 };

struct repair {
    struct cleave__state *state;
    struct cleave__rated *candidate; /* [vertices] */
    uint32_t *order;                 /* [vertices] */
    uint64_t gathers, swaps;         /* left: where little helps, repair must end */
    uint32_t locked;                 /* a vertex that stays where it is, or CLEAVE__NONE */
};

static bool movable(const struct repair *r, uint32_t v)
{
    return r->state->level->fixed[v] == CLEAVE_FREE && v != r->locked;
}

static bool affordable(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    int64_t spend = cleave__state_moved_delta(s, v, to);
    return spend <= 0 || s->moved + spend <= s->target->budget;
}

static bool overloaded(const struct cleave__state *s, uint32_t b)
{
    uint32_t W = s->level->weights;
    for (uint32_t c = 0; c < W; c++) {
        if (s->weight[(size_t)b * W + c] > s->target->limit[(size_t)b * W + c])
            return true;
    }
    return false;
}

/* Is a block under its floor? */
static bool wanting(const struct cleave__state *s)
{
    size_t cells = (size_t)s->target->blocks * s->level->weights;
    for (size_t at = 0; at < cells && s->target->floor; at++) {
        if (s->weight[at] < s->target->floor[at])
            return true;
    }
    return false;
}

/* A block with too few vertices takes, each time, the one that costs least. */
static void fill_missing(struct cleave__state *s)
{
    const struct cleave__level *l = s->level;
    for (uint32_t b = 0; b < s->target->blocks && s->score.missing; b++) {
        while (s->free_count[b] < s->target->least[b]) {
            uint32_t best = CLEAVE__NONE;
            struct cleave__score least = {0};
            for (uint32_t v = 0; v < l->vertices; v++) {
                uint32_t own = s->block[v];
                if (own == b || l->fixed[v] != CLEAVE_FREE ||
                    s->free_count[own] <= s->target->least[own])
                    continue;
                const int64_t *row = cleave__state_affinity(s, v);
                struct cleave__score after = {
                    !affordable(s, v, b), cleave__state_conflict_delta(s, v, b),
                    cleave__state_overload_delta(s, v, b), row[own] - row[b]};
                if (best == CLEAVE__NONE || cleave__score_less(&after, &least)) {
                    best = v;
                    least = after;
                }
            }
            if (best == CLEAVE__NONE || (l->home && least.missing))
                break;
            cleave__state_move(s, best, b, NULL, NULL);
        }
    }
}

/* Each vertex in conflict goes where it has fewest, then least overload, then least cost. */
static void separate(struct cleave__state *s)
{
    const struct cleave__level *l = s->level;
    for (int round = 0; round < 8 && s->score.conflicts; round++) {
        int64_t before = s->score.conflicts;
        for (uint32_t v = 0; v < l->vertices && s->score.conflicts; v++) {
            uint32_t own = s->block[v], best = CLEAVE__NONE;
            if (l->fixed[v] != CLEAVE_FREE || s->free_count[own] <= s->target->least[own] ||
                l->apart_offset[v] == l->apart_offset[v + 1])
                continue;
            const int64_t *row = cleave__state_affinity(s, v);
            struct cleave__score least = {0};
            for (uint32_t b = 0; b < s->target->blocks; b++) {
                struct cleave__score after = {0, cleave__state_conflict_delta(s, v, b),
                                              cleave__state_overload_delta(s, v, b),
                                              row[own] - row[b]};
                if (b == own || after.conflicts >= 0 || !affordable(s, v, b))
                    continue;
                if (best == CLEAVE__NONE || cleave__score_less(&after, &least)) {
                    best = b;
                    least = after;
                }
            }
            if (best != CLEAVE__NONE)
                cleave__state_move(s, v, best, NULL, NULL);
        }
        if (s->score.conflicts >= before)
            break;
    }
}

/* The move of v that removes overload most cheaply; CLEAVE__NONE when none removes any. */
static uint32_t cheapest(struct cleave__state *s, uint32_t v, double *rating)
{
    uint32_t best = CLEAVE__NONE, own = s->block[v];
    if (s->free_count[own] <= s->target->least[own])
        return best;
    const int64_t *row = cleave__state_affinity(s, v);
    for (uint32_t b = 0; b < s->target->blocks; b++) {
        if (b == own)
            continue;
        int64_t removed = -cleave__state_overload_delta(s, v, b);
        if (removed <= 0 || cleave__state_conflict_delta(s, v, b) > 0 || !affordable(s, v, b))
            continue;
        double loss = (double)(row[own] - row[b]);
        double here =
            loss > 0 ? (loss + 0.01) / (double)removed : loss - 1.0 + 1.0 / (double)removed;
        if (best == CLEAVE__NONE || here < *rating) {
            best = b;
            *rating = here;
        }
    }
    return best;
}

static uint32_t gather(struct repair *r)
{
    struct cleave__state *s = r->state;
    uint32_t count = 0;
    bool wanted = wanting(s);
    if (r->gathers == 0)
        return 0;
    r->gathers--;
    for (uint32_t v = 0; v < s->level->vertices; v++) {
        double rating;
        if (movable(r, v) && (wanted || overloaded(s, s->block[v])) &&
            cheapest(s, v, &rating) != CLEAVE__NONE)
            r->candidate[count++] = (struct cleave__rated){.rating = rating, .vertex = v};
    }
    qsort(r->candidate, count, sizeof *r->candidate, cleave__rated_order);
    return count;
}

static bool move_out(struct repair *r)
{
    struct cleave__state *s = r->state;
    uint32_t count = gather(r);
    bool moved = false;
    for (uint32_t i = 0; i < count && s->score.overload; i++) {
        uint32_t v = r->candidate[i].vertex;
        double rating;
        if (!overloaded(s, s->block[v]) && !wanting(s))
            continue;
        uint32_t to = cheapest(s, v, &rating);
        if (to == CLEAVE__NONE)
            continue;
        cleave__state_move(s, v, to, NULL, NULL);
        moved = true;
        /* What is left is judged anew once the ratings have gone stale. */
        if (count > 64 && i > count / 2)
            break;
    }
    return moved;
}

/* What swapping u and v would do to the overload; weights only. */
static int64_t swap_delta(const struct cleave__state *s, uint32_t u, uint32_t v)
{
    uint32_t W = s->level->weights, from = s->block[u], to = s->block[v];
    int64_t delta = 0;
    for (uint32_t c = 0; c < W; c++) {
        size_t a = (size_t)from * W + c, b = (size_t)to * W + c;
        int64_t d = s->level->weight[(size_t)v * W + c] - s->level->weight[(size_t)u * W + c];
        const struct cleave__target *t = s->target;
        delta += cleave__violation(t, a, s->weight[a] + d) - cleave__violation(t, a, s->weight[a]);
        delta += cleave__violation(t, b, s->weight[b] - d) - cleave__violation(t, b, s->weight[b]);
    }
    return delta;
}

/* One swap of u in an overloaded block with v elsewhere that lessens the overload and breaks
 * nothing else. At most `tries` pairs are looked at, over all calls. */
static bool swap_one(struct cleave__search *search, struct repair *r, uint64_t *tries)
{
    struct cleave__state *s = r->state;
    const struct cleave__level *l = s->level;
    uint32_t n = l->vertices, heavy = 0;
    bool wanted = wanting(s);
    if (r->swaps == 0)
        return false;
    r->swaps--;
    for (uint32_t v = 0; v < n; v++) {
        if (movable(r, v) && (wanted || overloaded(s, s->block[v])))
            r->order[heavy++] = v;
    }
    cleave__random_shuffle(&search->random, r->order, heavy);
    for (uint32_t i = 0; i < heavy; i++) {
        uint32_t u = r->order[i], from = s->block[u];
        uint32_t start = (uint32_t)cleave__random_below(&search->random, n);
        for (uint32_t j = 0; j < n; j++) {
            uint32_t v = start + j < n ? start + j : start + j - n, to = s->block[v];
            if (to == from || !movable(r, v))
                continue;
            if (!*tries)
                return false;
            --*tries;
            if (swap_delta(s, u, v) >= 0)
                continue;
            struct cleave__score before = s->score;
            cleave__state_move(s, u, to, NULL, NULL);
            cleave__state_move(s, v, from, NULL, NULL);
            before.cost = s->score.cost; /* only the violation counts here */
            if (cleave__score_less(&s->score, &before) && s->moved <= s->target->budget)
                return true;
            cleave__state_move(s, v, to, NULL, NULL);
            cleave__state_move(s, u, from, NULL, NULL);
        }
    }
    return false;
}

/* Vertices of the worst block, those first that alone relieve it, the lightest of them first. */
static uint32_t ejectable(struct repair *r, struct cleave__rated *out)
{
    const struct cleave__state *s = r->state;
    uint32_t W = s->level->weights, worst = 0, in = 0, count = 0;
    double most = 0;
    for (uint32_t b = 0; b < s->target->blocks; b++) {
        for (uint32_t c = 0; c < W; c++) {
            size_t at = (size_t)b * W + c;
            double over = (double)cleave__excess(s->weight[at], s->target->limit[at]);
            if (over > most) {
                most = over;
                worst = b;
                in = c;
            }
        }
    }
    double excess =
        (double)(s->weight[(size_t)worst * W + in] - s->target->limit[(size_t)worst * W + in]);
    for (uint32_t v = 0; v < s->level->vertices; v++) {
        double w = (double)s->level->weight[(size_t)v * W + in];
        if (s->block[v] == worst && movable(r, v) && w > 0)
            out[count++] =
                (struct cleave__rated){.rating = w >= excess ? w / excess : 2e18 / w, .vertex = v};
    }
    qsort(out, count, sizeof *out, cleave__rated_order);
    return count;
}

/* Blocks that v may go to, those first whose fullest constraint it leaves lowest. */
static uint32_t receivers(const struct cleave__state *s, uint32_t v, struct cleave__rated *out)
{
    uint32_t W = s->level->weights, count = 0;
    for (uint32_t b = 0; b < s->target->blocks; b++) {
        double fill = 0;
        for (uint32_t c = 0; c < W; c++) {
            int64_t limit = s->target->limit[(size_t)b * W + c];
            double here =
                (double)(s->weight[(size_t)b * W + c] + s->level->weight[(size_t)v * W + c]) /
                (double)(limit > 0 ? limit : 1);
            fill = here > fill ? here : fill;
        }
        if (b != s->block[v] && affordable(s, v, b) && cleave__state_conflict_delta(s, v, b) <= 0)
            out[count++] = (struct cleave__rated){.rating = fill, .vertex = b};
    }
    qsort(out, count, sizeof *out, cleave__rated_order);
    return count;
}

/* Sends v to block `to` and lets what overflows move on; undone unless that is an improvement. */
static bool eject_to(struct repair *r, uint32_t v, uint32_t to, uint32_t *saved)
{
    struct cleave__state *s = r->state;
    uint32_t n = s->level->vertices;
    struct cleave__score before = s->score;
    for (uint32_t u = 0; u < n; u++)
        saved[u] = s->block[u];
    r->locked = v;
    cleave__state_move(s, v, to, NULL, NULL);
    while (s->score.overload && move_out(r))
        ;
    r->locked = CLEAVE__NONE;
    before.cost = s->score.cost;
    if (cleave__score_less(&s->score, &before))
        return true;
    for (uint32_t u = 0; u < n; u++)
        cleave__state_move(s, u, saved[u], NULL, NULL);
    return false;
}

/* A heavy vertex goes to another block and what overflows there moves on: light vertices make way
 * for a heavy one, which neither moves nor swaps can do. */
static bool eject(struct cleave__search *search, struct repair *r)
{
    struct cleave__state *s = r->state;
    uint32_t n = s->level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct cleave__rated *heavy = cleave__arena_array(&search->arena, n, sizeof *heavy);
    struct cleave__rated *block =
        cleave__arena_array(&search->arena, s->target->blocks, sizeof *block);
    uint32_t *saved = cleave__arena_array(&search->arena, n, sizeof *saved);
    bool better = false;
    uint32_t count = heavy && block && saved ? ejectable(r, heavy) : 0;
    uint32_t tries = EJECT_WORK / (n + 1) + 1;
    for (uint32_t i = 0; i < count && i < EJECTED_MAX && !better && !cleave__stopped(search); i++) {
        uint32_t v = heavy[i].vertex, blocks = receivers(s, v, block);
        if (s->free_count[s->block[v]] <= s->target->least[s->block[v]])
            continue;
        for (uint32_t j = 0; j < blocks && j < RECEIVERS_MAX && !better && tries; j++, tries--)
            better = eject_to(r, v, block[j].vertex, saved);
    }
    cleave__arena_rewind(&search->arena, mark);
    return better;
}

enum cleave_status cleave__rebalance(struct cleave__search *search, struct cleave__state *state)
{
    if (cleave__score_sound(&state->score))
        return CLEAVE_OK;
    uint32_t n = state->level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct repair r = {.state = state, .locked = CLEAVE__NONE};
    r.gathers = GATHERS_MIN + GATHER_WORK / (n + 1);
    r.swaps = SWAPS_MIN + SWAP_WORK / (n + 1);
    r.candidate = cleave__arena_array(&search->arena, n, sizeof *r.candidate);
    r.order = cleave__arena_array(&search->arena, n, sizeof *r.order);
    enum cleave_status status = r.candidate && r.order ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (!status) {
        fill_missing(state);
        if (state->score.conflicts)
            separate(state);
        uint64_t tries = SWAPS_TRIED_MAX;
        while (state->score.overload && !cleave__stopped(search)) {
            if (!move_out(&r) && !swap_one(search, &r, &tries) &&
                !(state->level->weights > 1 && cleave__smooth(search, state)) && !eject(search, &r))
                break;
        }
    }
    cleave__arena_rewind(&search->arena, mark);
    return cleave__stopped(search) ? CLEAVE_INTERRUPTED : status;
}
