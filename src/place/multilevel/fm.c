/* k-way Fiduccia-Mattheyses refinement, localised: many small searches, each grown from a few
 * border vertices, moving the vertex that gains most, losses included, each vertex at most once a
 * round; every search is then rolled back to its best prefix. (Fiduccia and Mattheyses 1982; the
 * localised form after Sanders and Schulz 2011; the adaptive end of a search after Osipov and
 * Sanders 2010.)
 *
 * Invariant: a queued key is never below the vertex's best gain over admissible moves, so it is
 * enough to look again when the vertex reaches the top.
 *
 * Bounded: with many blocks a row costs what its nets touch, and one move into an empty block makes
 * every pin of a giant net ask for its own. Usual refinements take up to some 100 looks a pin; past
 * CLEAVE__FM_LOOKS_A_PIN (small levels have some free) it ends with what it has. */
#include <string.h>

#include "place/multilevel/heap.h"
#include "place/multilevel/patience.h"
#include "place/multilevel/search.h"

struct move {
    uint32_t vertex, from;
};

struct fm {
    struct cleave__state *state;
    struct cleave__heap heap;
    bool *locked;
    struct move *log;
    uint32_t moves;
    uint32_t *waiting; /* [vertices]: touched by the move under way, not queued yet */
    bool *waits;
    uint32_t wait;
    uint64_t enough; /* looks of the state at which it ends */
};

static void touch(void *context, uint32_t u, uint32_t b, int64_t delta)
{
    struct fm *fm = context;
    struct cleave__state *s = fm->state;
    if (fm->locked[u] || s->level->fixed[u] != CLEAVE_FREE)
        return;
    if (!cleave__heap_has(&fm->heap, u)) {
        /* Its gain is asked for when the move is over and all counts agree. */
        if (!fm->waits[u])
            fm->waiting[fm->wait++] = u;
        fm->waits[u] = true;
        return;
    }
    const int64_t *row = cleave__state_held(s, u);
    uint32_t own = s->block[u];
    if (b == own) {
        if (delta < 0)
            cleave__heap_set(&fm->heap, u, fm->heap.key[u] - delta);
    } else if (delta > 0) {
        int64_t key = row ? row[b] - row[own] : fm->heap.key[u] + delta;
        if (key > fm->heap.key[u])
            cleave__heap_set(&fm->heap, u, key);
    }
}

static void local_search(struct fm *fm, const uint32_t *seed, uint32_t seeds,
                         struct cleave__patience *patience)
{
    struct cleave__state *s = fm->state;
    for (uint32_t i = 0; i < seeds; i++) {
        if (!fm->locked[seed[i]])
            cleave__heap_set(&fm->heap, seed[i], cleave__state_most_gain(s, seed[i]));
    }
    uint32_t best = fm->moves;
    struct cleave__score best_score = s->score;
    cleave__patience_reset(patience);
    while (fm->heap.count && s->looks < fm->enough) {
        uint32_t v = fm->heap.item[0];
        int64_t gain = 0;
        uint32_t to = cleave__state_best(s, v, &gain);
        if (to == CLEAVE__NONE) {
            cleave__heap_pop(&fm->heap);
            continue;
        }
        if (gain < fm->heap.key[v]) {
            cleave__heap_set(&fm->heap, v, gain);
            if (fm->heap.item[0] != v)
                continue;
        }
        cleave__heap_pop(&fm->heap);
        fm->locked[v] = true;
        fm->log[fm->moves++] = (struct move){v, s->block[v]};
        cleave__state_move(s, v, to, touch, fm);
        for (; fm->wait; fm->waits[fm->waiting[fm->wait]] = false) {
            uint32_t u = fm->waiting[--fm->wait];
            cleave__heap_set(&fm->heap, u, cleave__state_most_gain(s, u));
        }
        if (cleave__score_less(&s->score, &best_score)) {
            best = fm->moves;
            best_score = s->score;
            cleave__patience_reset(patience);
        } else if (cleave__patience_over(patience, (double)gain)) {
            break;
        }
    }
    cleave__heap_clear(&fm->heap);
    while (fm->moves > best) {
        struct move m = fm->log[--fm->moves];
        cleave__state_move(s, m.vertex, m.from, NULL, NULL);
        fm->locked[m.vertex] = false;
    }
}

enum cleave_status cleave__refine_fm(struct cleave__search *search, struct cleave__state *state,
                                     uint32_t rounds)
{
    const struct cleave__level *level = state->level;
    uint32_t n = level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct fm fm = {.state = state,
                    .enough = state->looks + CLEAVE__FM_LOOKS_FREE +
                              CLEAVE__FM_LOOKS_A_PIN * (uint64_t)level->net_offset[level->nets]};
    enum cleave_status status = CLEAVE_NO_MEMORY;
    fm.locked = cleave__arena_array(&search->arena, n, sizeof *fm.locked);
    fm.log = cleave__arena_array(&search->arena, n, sizeof *fm.log);
    uint32_t *seed = cleave__arena_array(&search->arena, n, sizeof *seed);
    fm.waiting = cleave__arena_array(&search->arena, n, sizeof *fm.waiting);
    fm.waits = cleave__arena_zalloc(&search->arena, n * sizeof *fm.waits);
    if (!fm.locked || !fm.log || !seed || !fm.waiting || !fm.waits ||
        !cleave__heap_init(&fm.heap, &search->arena, n))
        goto done;
    status = CLEAVE_OK;
    struct cleave__patience patience = cleave__patience_for(n);
    for (uint32_t round = 0; round < rounds && state->looks < fm.enough; round++) {
        struct cleave__score before = state->score;
        memset(fm.locked, 0, n * sizeof *fm.locked);
        fm.moves = 0;
        uint32_t seeds = 0;
        for (uint32_t v = 0; v < n; v++) {
            if (level->fixed[v] == CLEAVE_FREE && cleave__state_on_border(state, v))
                seed[seeds++] = v;
        }
        cleave__random_shuffle(&search->random, seed, seeds);
        /* Small levels are searched as a whole first, then locally. */
        uint32_t step = round == 0 && n <= CLEAVE__FM_WHOLE_MAX ? seeds : CLEAVE__FM_SEEDS;
        for (uint32_t i = 0; i < seeds && state->looks < fm.enough; i += step) {
            local_search(&fm, seed + i, seeds - i < step ? seeds - i : step, &patience);
            if (cleave__stopped(search)) {
                status = CLEAVE_INTERRUPTED;
                goto done;
            }
        }
        if (!cleave__round_paid(&before, &state->score) && (round > 0 || step != seeds))
            break;
    }
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
