/* Size-constrained label propagation: border vertices, in random order, go to the block they gain
 * most from. Cheap in time, and in memory when the table of affinities would be too large. (After
 * Meyerhenke, Sanders and Schulz 2014.) */
#include "place/multilevel/search.h"

enum cleave_status cleave__refine_labels(struct cleave__search *search, struct cleave__state *state,
                                         uint32_t rounds)
{
    const struct cleave__level *level = state->level;
    uint32_t n = level->vertices;
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    uint32_t *order = cleave__arena_array(&search->arena, n, sizeof *order);
    if (!order)
        return CLEAVE_NO_MEMORY;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t round = 0; round < rounds && !status; round++) {
        uint32_t count = 0, moves = 0;
        for (uint32_t v = 0; v < n; v++) {
            if (level->fixed[v] == CLEAVE_FREE && cleave__state_on_border(state, v))
                order[count++] = v;
        }
        cleave__random_shuffle(&search->random, order, count);
        for (uint32_t i = 0; i < count; i++) {
            int64_t gain;
            uint32_t to = cleave__state_best(state, order[i], &gain);
            if (to != CLEAVE__NONE && gain > 0) {
                cleave__state_move(state, order[i], to, NULL, NULL);
                moves++;
            }
            if (i % 1024 == 0 && cleave__stopped(search)) {
                status = CLEAVE_INTERRUPTED;
                break;
            }
        }
        if (moves <= count / 200)
            break;
    }
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
