/* Overload of several weights that no single move lessens: a block is over in one weight, and
 * whoever would take from it is full in another. A smooth measure of fullness has no such dead
 * ends: the sum over blocks and weights of (load / limit)^p is convex, and where vertices are small
 * beside blocks, what single moves cannot lessen further is near its least (each vertex then pays
 * the least price, the derivative, where it is). The larger p, the more the fullest counts.
 *
 * Moves go in order of cost per fullness removed, until the limits are kept. (The potential is that
 * of online vector scheduling: Azar, Aspnes et al.; powers of two only, by squaring, so that every
 * machine gets the same.) */
#include <stdlib.h>
#include <string.h>

#include "place/multilevel/rated.h"
#include "place/multilevel/search.h"

enum { ROUNDS_MIN = 3, ROUNDS_MAX = 12, WORK_MAX = 20000000 };

struct smooth {
    struct cleave__state *state;
    struct cleave__rated *candidate; /* [vertices] */
    double *term;                    /* [blocks * weights]: (load / limit)^p */
    uint32_t doublings;              /* p = 2^doublings */
    double total;                    /* of the terms */
};

static double fullness(const struct smooth *x, size_t at, int64_t weight)
{
    int64_t limit = x->state->target->limit[at];
    double full = (double)weight / (double)(limit > 0 ? limit : 1);
    full = full < 16 ? full : 16; /* 16^128 is still a number */
    for (uint32_t i = 0; i < x->doublings; i++)
        full *= full;
    return full;
}

static void measure(struct smooth *x)
{
    size_t cells = (size_t)x->state->target->blocks * x->state->level->weights;
    x->total = 0;
    for (size_t at = 0; at < cells; at++) {
        x->term[at] = fullness(x, at, x->state->weight[at]);
        x->total += x->term[at];
    }
}

/* What moving v to `to` removes. */
static double removed(const struct smooth *x, uint32_t v, uint32_t to)
{
    const struct cleave__state *s = x->state;
    uint32_t W = s->level->weights, own = s->block[v];
    double sum = 0;
    for (uint32_t c = 0; c < W; c++) {
        int64_t w = s->level->weight[(size_t)v * W + c];
        size_t a = (size_t)own * W + c, b = (size_t)to * W + c;
        if (w == 0)
            continue;
        sum += x->term[a] - fullness(x, a, s->weight[a] - w);
        sum += x->term[b] - fullness(x, b, s->weight[b] + w);
    }
    return sum;
}

static bool may_move(const struct cleave__state *s, uint32_t v, uint32_t to)
{
    int64_t spend = cleave__state_moved_delta(s, v, to);
    return cleave__state_conflict_delta(s, v, to) <= 0 &&
           (spend <= 0 || s->moved + spend <= s->target->budget) &&
           s->free_count[s->block[v]] > s->target->least[s->block[v]];
}

/* The best move of v, if there is one. */
static bool consider(struct smooth *x, uint32_t v, struct cleave__rated *best)
{
    struct cleave__state *s = x->state;
    uint32_t own = s->block[v];
    const int64_t *row = NULL;
    best->to = CLEAVE__NONE;
    for (uint32_t b = 0; b < s->target->blocks; b++) {
        double less = b == own ? 0 : removed(x, v, b);
        if (less <= 1e-9 * x->total || !may_move(s, v, b))
            continue;
        if (!row)
            row = cleave__state_affinity(s, v);
        double loss = (double)(row[own] - row[b]);
        double rating = loss > 0 ? (loss + 0.01) / less : loss - 1 + x->total / (less + x->total);
        if (best->to == CLEAVE__NONE || rating < best->rating)
            *best = (struct cleave__rated){rating, v, b};
    }
    return best->to != CLEAVE__NONE;
}

/* One round of moves; true when there were any. */
static bool descend(struct smooth *x)
{
    struct cleave__state *s = x->state;
    uint32_t count = 0, moves = 0, W = s->level->weights;
    measure(x);
    for (uint32_t v = 0; v < s->level->vertices; v++) {
        if (s->level->fixed[v] == CLEAVE_FREE && consider(x, v, &x->candidate[count]))
            count++;
    }
    qsort(x->candidate, count, sizeof *x->candidate, cleave__rated_order);
    double before = x->total;
    for (uint32_t i = 0; i < count && s->score.overload; i++) {
        uint32_t v = x->candidate[i].vertex, from = s->block[v], to = x->candidate[i].to;
        if (removed(x, v, to) <= 0 || !may_move(s, v, to))
            continue;
        cleave__state_move(s, v, to, NULL, NULL);
        for (uint32_t c = 0; c < W; c++) {
            size_t a = (size_t)from * W + c, b = (size_t)to * W + c;
            x->term[a] = fullness(x, a, s->weight[a]);
            x->term[b] = fullness(x, b, s->weight[b]);
        }
        moves++;
    }
    measure(x);
    return moves > 0 && x->total < before * (1 - 1e-6);
}

bool cleave__smooth(struct cleave__search *search, struct cleave__state *state)
{
    static const uint32_t doublings[] = {6, 4, 5, 6, 7};
    const struct cleave__level *l = state->level;
    uint64_t work = (uint64_t)l->vertices * state->target->blocks * l->weights;
    struct smooth x = {.state = state};
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    size_t cells = (size_t)state->target->blocks * l->weights;
    x.candidate = cleave__arena_array(&search->arena, l->vertices, sizeof *x.candidate);
    x.term = cleave__arena_array(&search->arena, cells, sizeof *x.term);
    uint64_t rounds = ROUNDS_MIN + (work ? WORK_MAX / work : 0);
    uint32_t *saved = cleave__arena_array(&search->arena, l->vertices, sizeof *saved);
    struct cleave__score before = state->score;
    bool better = false;
    if (!x.candidate || !x.term || !saved)
        goto done;
    memcpy(saved, state->block, l->vertices * sizeof *saved);
    for (uint32_t i = 0; i < sizeof doublings / sizeof *doublings && state->score.overload; i++) {
        x.doublings = doublings[i];
        for (uint32_t r = 0; r < ROUNDS_MAX && rounds && state->score.overload; r++, rounds--) {
            if (cleave__stopped(search) || !descend(&x))
                break;
        }
    }
    before.cost = state->score.cost;
    better =
        state->score.overload <= before.overload / 2 && cleave__score_less(&state->score, &before);
    for (uint32_t v = 0; v < l->vertices && !better; v++)
        cleave__state_move(state, v, saved[v], NULL, NULL);
done:
    cleave__arena_rewind(&search->arena, mark);
    return better;
}
