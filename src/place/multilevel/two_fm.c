/* Fiduccia-Mattheyses on two sides, localised as in fm.c: small searches grown from a few border
 * vertices, the best admissible move of either side each time, losses included, rolled back to the
 * best prefix. Gains are exact, so a queued vertex needs no second look. */
#include <string.h>

#include "place/multilevel/patience.h"
#include "place/multilevel/two.h"

struct fm {
    struct cleave__two *two;
    uint32_t *log;
    uint32_t moves;
};

/* The vertex to move next, taken from its heap; CLEAVE__NONE when none may move. A vertex that may
 * not move while the other side's best may stays queued: room can come. */
static uint32_t next_move(struct cleave__two *t)
{
    for (;;) {
        uint32_t count = (t->heap[0].count > 0) + (t->heap[1].count > 0);
        if (count == 0)
            return CLEAVE__NONE;
        uint32_t side = 0;
        if (count == 1) {
            side = t->heap[1].count > 0;
        } else {
            uint32_t a = t->heap[0].item[0], b = t->heap[1].item[0];
            int64_t x = t->heap[0].key[a], y = t->heap[1].key[b];
            side = x != y ? y > x : cleave__two_fuller(t) == 1;
        }
        for (uint32_t i = 0; i < count; i++, side = 1 - side) {
            uint32_t v = t->heap[side].item[0];
            if (cleave__two_admissible(t, v)) {
                cleave__heap_pop(&t->heap[side]);
                return v;
            }
        }
        /* After the loop `side` is the first one again, or the other one if there is only one. */
        cleave__heap_pop(&t->heap[count == 2 ? side : 1 - side]);
    }
}

static void local_search(struct fm *fm, const uint32_t *seed, uint32_t seeds,
                         struct cleave__patience *patience)
{
    struct cleave__two *t = fm->two;
    for (uint32_t i = 0; i < seeds; i++) {
        if (!t->locked[seed[i]])
            cleave__heap_set(&t->heap[t->side[seed[i]]], seed[i], t->gain[seed[i]]);
    }
    uint32_t best = fm->moves;
    struct cleave__score best_score = t->score;
    cleave__patience_reset(patience);
    for (uint32_t v; (v = next_move(t)) != CLEAVE__NONE;) {
        int64_t gain = t->gain[v];
        t->locked[v] = true;
        fm->log[fm->moves++] = v;
        cleave__two_move(t, v, true);
        if (cleave__score_less(&t->score, &best_score)) {
            best = fm->moves;
            best_score = t->score;
            cleave__patience_reset(patience);
        } else if (cleave__patience_over(patience, (double)gain)) {
            break;
        }
    }
    cleave__heap_clear(&t->heap[0]);
    cleave__heap_clear(&t->heap[1]);
    while (fm->moves > best) {
        uint32_t v = fm->log[--fm->moves];
        cleave__two_move(t, v, false);
        t->locked[v] = false;
    }
}

static bool on_border(const struct cleave__two *t, uint32_t v)
{
    const struct cleave__level *l = t->level;
    for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
        const uint32_t *pins = t->pins + 2 * (size_t)l->incident[j];
        if (pins[0] && pins[1])
            return true;
    }
    return false;
}

enum cleave_status cleave__two_refine(struct cleave__search *search, struct cleave__two *two,
                                      uint32_t rounds)
{
    const struct cleave__level *level = two->level;
    uint32_t n = level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct fm fm = {.two = two};
    enum cleave_status status = CLEAVE_NO_MEMORY;
    fm.log = cleave__arena_array(&search->arena, n, sizeof *fm.log);
    uint32_t *seed = cleave__arena_array(&search->arena, n, sizeof *seed);
    if (!fm.log || !seed)
        goto done;
    status = CLEAVE_OK;
    struct cleave__patience patience = cleave__patience_for(n);
    for (uint32_t round = 0; round < rounds; round++) {
        struct cleave__score before = two->score;
        uint32_t seeds = 0;
        fm.moves = 0;
        for (uint32_t v = 0; v < n; v++) {
            if (level->fixed[v] == CLEAVE_FREE && on_border(two, v))
                seed[seeds++] = v;
        }
        cleave__random_shuffle(&search->random, seed, seeds);
        /* Small levels are searched as a whole first, then locally. */
        uint32_t step = round == 0 && n <= CLEAVE__FM_WHOLE_MAX ? seeds : CLEAVE__FM_SEEDS;
        for (uint32_t i = 0; i < seeds && !status; i += step) {
            local_search(&fm, seed + i, seeds - i < step ? seeds - i : step, &patience);
            if (cleave__stopped(search))
                status = CLEAVE_INTERRUPTED;
        }
        memset(two->locked, 0, n * sizeof *two->locked);
        if (status || (!cleave__round_paid(&before, &two->score) && (round > 0 || step != seeds)))
            break;
    }
done:
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
