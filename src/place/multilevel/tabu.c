/* Tabu search: every step takes the best of all moves, worse ones too, and a vertex may not return
 * to a block it has just left for a while. Overload and conflicts are paid for at a price that
 * rises while the search stays unbalanced and falls while it stays balanced, so that it walks along
 * the border of what is allowed; that is how swaps happen. A search that finds nothing new for long
 * goes back to the best state met and is kicked off course. That state is the answer.
 * (Glover 1989; the price after Gendreau, Hertz and Laporte 1994.)
 *
 * A step costs vertices * blocks * weights, hence for small instances only. */
#include <string.h>

#include "place/multilevel/search.h"

struct tabu {
    struct cleave__state *state;
    uint64_t *until; /* [vertices * blocks]: first step at which the move is allowed again */
    uint32_t *best;  /* [vertices] */
    double *relief;  /* [blocks]: most merit that leaving the block can have beyond its gain */
    double price;    /* cost that one full limit of overload is worth */
};

uint64_t cleave__tabu_iterations(const struct cleave__level *level,
                                 const struct cleave__target *target, uint64_t work)
{
    uint64_t step = (uint64_t)level->vertices * target->blocks * (1 + level->weights);
    return work / (step + 1);
}

/* The best move of the step; false when there is none. */
static bool choose(struct tabu *t, struct cleave_random *random, uint64_t step,
                   const struct cleave__score *record, uint32_t *vertex, uint32_t *block)
{
    struct cleave__state *s = t->state;
    const struct cleave__level *l = s->level;
    uint32_t k = s->target->blocks, W = l->weights, ties = 0;
    double best = 0;
    int64_t want = 0; /* what arriving anywhere may relieve */
    for (uint32_t b = 0; b < k; b++) {
        int64_t over = 0;
        for (uint32_t c = 0; c < W && s->score.overload; c++) {
            size_t at = (size_t)b * W + c;
            over += cleave__excess(s->weight[at], s->target->limit[at]);
            want += cleave__violation(s->target, at, s->weight[at]);
        }
        t->relief[b] = t->price * (double)over * (1.0 / 1048576.0);
    }
    double welcome = s->target->floor ? t->price * (double)want * (1.0 / 1048576.0) : 0;
    for (uint32_t v = 0; v < l->vertices; v++) {
        uint32_t own = s->block[v];
        if (l->fixed[v] != CLEAVE_FREE || s->free_count[own] <= s->target->least[own])
            continue;
        const int64_t *row = cleave__state_affinity(s, v);
        double relief = t->relief[own] + welcome - (double)row[own];
        if (s->score.conflicts)
            relief += t->price * (double)-cleave__state_conflict_delta(s, v, CLEAVE__NONE);
        for (uint32_t b = 0; b < k; b++) {
            /* Most moves cannot be the best one, whatever they do to the balance. */
            if (b == own || (ties && (double)row[b] + relief < best))
                continue;
            if (l->home) {
                int64_t spend = cleave__state_moved_delta(s, v, b);
                if (spend > 0 && s->moved + spend > s->target->budget)
                    continue;
            }
            int64_t gain = row[b] - row[own];
            int64_t overload = cleave__state_overload_delta(s, v, b);
            int64_t conflicts = cleave__state_conflict_delta(s, v, b);
            double merit = (double)gain -
                           t->price * ((double)overload * (1.0 / 1048576.0) + (double)conflicts);
            if (t->until[(size_t)v * k + b] > step) {
                /* Forbidden, unless it leads where no one has been. */
                struct cleave__score after = s->score;
                after.cost -= gain;
                after.overload += overload;
                after.conflicts += conflicts;
                if (!cleave__score_less(&after, record))
                    continue;
            }
            if (ties && merit < best)
                continue;
            if (!ties || merit > best) {
                best = merit;
                ties = 1;
            } else if (cleave__random_below(random, ++ties)) {
                continue;
            }
            *vertex = v;
            *block = b;
        }
    }
    return ties > 0;
}

/* Stuck: back to the best state, and from there a few moves at random. */
static void kick(struct tabu *t, struct cleave_random *random)
{
    struct cleave__state *s = t->state;
    const struct cleave__level *l = s->level;
    uint32_t n = l->vertices, k = s->target->blocks;
    for (uint32_t v = 0; v < n; v++)
        cleave__state_move(s, v, t->best[v], NULL, NULL);
    uint64_t moves = 2 + cleave__random_below(random, n / 4 + 1);
    for (uint64_t i = 0; i < moves; i++) {
        uint32_t v = (uint32_t)cleave__random_below(random, n);
        uint32_t b = (uint32_t)cleave__random_below(random, k), own = s->block[v];
        int64_t spend = cleave__state_moved_delta(s, v, b);
        if (l->fixed[v] == CLEAVE_FREE && s->free_count[own] > s->target->least[own] &&
            (spend <= 0 || s->moved + spend <= s->target->budget))
            cleave__state_move(s, v, b, NULL, NULL);
    }
}

enum cleave_status cleave__refine_tabu(struct cleave__search *search, struct cleave__state *state,
                                       uint64_t iterations)
{
    const struct cleave__level *l = state->level;
    uint32_t n = l->vertices, k = state->target->blocks;
    if (n == 0 || k < 2)
        return CLEAVE_OK;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct tabu t = {.state = state};
    enum cleave_status status = CLEAVE_NO_MEMORY;
    t.until = cleave__arena_zalloc(&search->arena, (size_t)n * k * sizeof *t.until);
    t.best = cleave__arena_array(&search->arena, n, sizeof *t.best);
    t.relief = cleave__arena_array(&search->arena, k, sizeof *t.relief);
    if (!t.until || !t.best || !t.relief)
        goto done;
    status = CLEAVE_OK;
    struct cleave__score record = state->score;
    memcpy(t.best, state->block, n * sizeof *t.best);
    double total = 1;
    for (uint32_t e = 0; e < l->nets; e++)
        total += (double)l->net_weight[e];
    double floor_price = total * 1e-6 + 1e-3, ceiling_price = total * 1e6;
    t.price = (double)record.cost > 1 ? (double)record.cost : 1;
    uint32_t unbalanced = 0, tenure = 4 + (n < 400 ? n / 10 : 40);
    uint64_t patience = 60 + 3 * (uint64_t)n, since = 0;
    for (uint64_t step = 1; step <= iterations; step++) {
        uint32_t v, to;
        if (choose(&t, &search->random, step, &record, &v, &to)) {
            uint32_t from = state->block[v];
            cleave__state_move(state, v, to, NULL, NULL);
            t.until[(size_t)v * k + from] =
                step + 2 + cleave__random_below(&search->random, tenure);
        }
        if (cleave__score_less(&state->score, &record)) {
            record = state->score;
            memcpy(t.best, state->block, n * sizeof *t.best);
            since = 0;
        } else if (++since >= patience) {
            kick(&t, &search->random);
            since = 0;
        }
        unbalanced += state->score.overload > 0 || state->score.conflicts > 0;
        if (step % 8 == 0) {
            if (unbalanced == 8 && t.price < ceiling_price)
                t.price *= 2;
            else if (unbalanced == 0 && t.price > floor_price)
                t.price *= 0.5;
            unbalanced = 0;
            if (cleave__stopped(search)) {
                status = CLEAVE_INTERRUPTED;
                goto done;
            }
        }
        if (record.cost == 0 && cleave__score_sound(&record))
            break;
    }
    for (uint32_t v = 0; v < n; v++)
        cleave__state_move(state, v, t.best[v], NULL, NULL);
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
