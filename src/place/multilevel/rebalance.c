/* Repairs what a partition violates: blocks that lack vertices, pairs that must be apart, then
 * overload. Overload goes by single moves in order of cost per overload removed, then by swaps
 * where no single move helps (several constraints often deadlock). Every step lessens the
 * violation, so it ends. */
#include <stdlib.h>

#include "place/multilevel/search.h"

struct candidate {
    double rating; /* cost per overload removed; less is better */
    uint32_t vertex;
};

static int by_rating(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rating != y->rating)
        return x->rating < y->rating ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
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
static uint32_t cheapest(const struct cleave__state *s, uint32_t v, double *rating)
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

static uint32_t gather(const struct cleave__state *s, struct candidate *candidate)
{
    const struct cleave__level *l = s->level;
    uint32_t count = 0;
    for (uint32_t v = 0; v < l->vertices; v++) {
        double rating;
        if (l->fixed[v] == CLEAVE_FREE && overloaded(s, s->block[v]) &&
            cheapest(s, v, &rating) != CLEAVE__NONE)
            candidate[count++] = (struct candidate){rating, v};
    }
    qsort(candidate, count, sizeof *candidate, by_rating);
    return count;
}

static bool move_out(struct cleave__state *s, struct candidate *candidate)
{
    uint32_t count = gather(s, candidate);
    bool moved = false;
    for (uint32_t i = 0; i < count && s->score.overload; i++) {
        uint32_t v = candidate[i].vertex;
        double rating;
        if (!overloaded(s, s->block[v]))
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

/* One swap of u in an overloaded block with v elsewhere that lessens the violation. At most `tries`
 * pairs are looked at, over all calls. */
static bool swap_one(struct cleave__search *search, struct cleave__state *s, uint32_t *order,
                     uint64_t *tries)
{
    const struct cleave__level *l = s->level;
    uint32_t n = l->vertices;
    uint32_t heavy = 0;
    for (uint32_t v = 0; v < n; v++) {
        if (l->fixed[v] == CLEAVE_FREE && overloaded(s, s->block[v]))
            order[heavy++] = v;
    }
    cleave__random_shuffle(&search->random, order, heavy);
    for (uint32_t i = 0; i < heavy; i++) {
        uint32_t u = order[i], from = s->block[u];
        uint32_t start = (uint32_t)cleave__random_below(&search->random, n);
        for (uint32_t j = 0; j < n; j++) {
            uint32_t v = start + j < n ? start + j : start + j - n, to = s->block[v];
            if (to == from || l->fixed[v] != CLEAVE_FREE)
                continue;
            if (!*tries)
                return false;
            --*tries;
            if (!l->home && !l->apart_offset && s->target->least[from] == 0) {
                /* Quick refusal: u must be heavier where its block is over. */
                bool helps = false;
                for (uint32_t c = 0; c < l->weights; c++)
                    helps |= s->weight[(size_t)from * l->weights + c] >
                                 s->target->limit[(size_t)from * l->weights + c] &&
                             l->weight[(size_t)u * l->weights + c] >
                                 l->weight[(size_t)v * l->weights + c];
                if (!helps)
                    continue;
            }
            struct cleave__score before = s->score;
            int64_t budget = s->target->budget;
            cleave__state_move(s, u, to, NULL, NULL);
            cleave__state_move(s, v, from, NULL, NULL);
            before.cost = s->score.cost; /* only the violation counts here */
            if (cleave__score_less(&s->score, &before) && s->moved <= budget)
                return true;
            cleave__state_move(s, v, to, NULL, NULL);
            cleave__state_move(s, u, from, NULL, NULL);
        }
        if (cleave__stopped(search))
            return false;
    }
    return false;
}

enum cleave_status cleave__rebalance(struct cleave__search *search, struct cleave__state *state)
{
    if (cleave__score_sound(&state->score))
        return CLEAVE_OK;
    uint32_t n = state->level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct candidate *candidate = cleave__arena_array(&search->arena, n, sizeof *candidate);
    uint32_t *order = cleave__arena_array(&search->arena, n, sizeof *order);
    enum cleave_status status = candidate && order ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (!status) {
        fill_missing(state);
        if (state->score.conflicts)
            separate(state);
        uint64_t tries = 200000;
        while (state->score.overload && !cleave__stopped(search)) {
            if (!move_out(state, candidate) && !swap_one(search, state, order, &tries))
                break;
        }
    }
    cleave__arena_rewind(&search->arena, mark);
    return cleave__stopped(search) ? CLEAVE_INTERRUPTED : status;
}
