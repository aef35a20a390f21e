/* More blocks than asked for, merged: what coarsening does not see. It rates vertices by their
 * small nets, so that a net with very many pins has no say in who comes together first; and once
 * clusters are few, moving one alone leaves such a net cut either way. But a partition into more
 * blocks yields large clean pieces, and which of them should go together is a question with few
 * answers, where every net counts in full. */
#include <string.h>

#include "place/multilevel/driver.h"

enum { EXACT_NODES = 200000, PIECES_MAX = 64, STRAY = 16 };

bool cleave__merging_pays(const struct cleave__driver *d, const uint32_t *block)
{
    const struct cleave__level *l = cleave__level_of(d);
    if (l->home || l->apart_offset || cleave__blocks_of(d) > PIECES_MAX / 4)
        return false;
    for (uint32_t v = 0; v < l->vertices; v++) {
        if (l->fixed[v] != CLEAVE_FREE)
            return false;
    }
    double unseen = 0, all = 0;
    for (uint32_t e = 0; e < l->nets; e++) {
        const uint32_t *pin = l->pin + l->net_offset[e];
        uint64_t size = l->net_offset[e + 1] - l->net_offset[e], i = 1;
        while (i < size && block[pin[i]] == block[pin[0]])
            i++;
        if (i >= size)
            continue;
        all += (double)l->net_weight[e];
        unseen += size > CLEAVE__RATED_PINS_MAX ? (double)l->net_weight[e] : 0;
    }
    return unseen > all / 8;
}

/* The target for `merge` pieces of each block. False when memory is out. */
static bool divide_target(struct cleave_arena *arena, const struct cleave__target *whole,
                          uint32_t merge, struct cleave__target *fine)
{
    uint32_t W = whole->weights, pieces = whole->blocks * merge;
    int64_t *limit = cleave__arena_array(arena, (size_t)pieces * W, sizeof *limit);
    int64_t *quota = cleave__arena_array(arena, (size_t)pieces * W, sizeof *quota);
    uint32_t *least = cleave__arena_array(arena, pieces, sizeof *least);
    if (!limit || !quota || !least)
        return false;
    for (uint32_t p = 0; p < pieces; p++) {
        least[p] = 1;
        for (uint32_t c = 0; c < W; c++) {
            size_t from = (size_t)(p / merge) * W + c, to = (size_t)p * W + c;
            quota[to] = whole->quota[from] / merge + 1;
            limit[to] = whole->limit[from] / merge;
            limit[to] = limit[to] > quota[to] ? limit[to] : quota[to];
        }
    }
    *fine = (struct cleave__target){.blocks = pieces,
                                    .weights = W,
                                    .objective = whole->objective,
                                    .limit = limit,
                                    .quota = quota,
                                    .least = least,
                                    .budget = INT64_MAX};
    return true;
}

/* Numbers the pieces that hold vertices; returns how many. */
static uint32_t renumber(uint32_t *piece, uint32_t n)
{
    uint32_t number[PIECES_MAX], count = 0;
    memset(number, 0xff, sizeof number);
    for (uint32_t v = 0; v < n; v++) {
        if (number[piece[v]] == CLEAVE__NONE)
            number[piece[v]] = count++;
        piece[v] = number[piece[v]];
    }
    return count;
}

/* Pins of net e by piece; true when it is large, so that a few pins in a piece may be strays. */
static bool count_pins(const struct cleave__level *l, uint32_t e, const uint32_t *piece,
                       uint64_t *count)
{
    if (l->net_offset[e + 1] - l->net_offset[e] <= CLEAVE__RATED_PINS_MAX)
        return false;
    memset(count, 0, PIECES_MAX * sizeof *count);
    for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++)
        count[piece[l->pin[i]]]++;
    return true;
}

/* Few beside an even share: the net can hardly be said to lie there. */
static bool stray(const struct cleave__level *l, uint32_t e, uint64_t count, uint32_t pieces)
{
    return count * STRAY * pieces < l->net_offset[e + 1] - l->net_offset[e];
}

/* The level with pieces for vertices, strays left out. NULL when memory is out. */
static const struct cleave__level *contract(struct cleave_arena *arena,
                                            const struct cleave__level *l, const uint32_t *piece,
                                            uint32_t pieces)
{
    struct cleave__level clean = *l;
    uint64_t count[PIECES_MAX], used = 0;
    uint64_t *offset = cleave__arena_array(arena, (size_t)l->nets + 1, sizeof *offset);
    uint32_t *pin = cleave__arena_array(arena, l->net_offset[l->nets], sizeof *pin);
    if (!offset || !pin)
        return NULL;
    for (uint32_t e = 0; e < l->nets; e++) {
        bool large = count_pins(l, e, piece, count);
        offset[e] = used;
        for (uint64_t i = l->net_offset[e]; i < l->net_offset[e + 1]; i++) {
            if (!large || !stray(l, e, count[piece[l->pin[i]]], pieces))
                pin[used++] = l->pin[i];
        }
    }
    offset[l->nets] = used;
    clean.net_offset = offset;
    clean.pin = pin;
    return cleave__level_contract(arena, arena, &clean, piece, pieces);
}

/* Which pieces go together: by bipartition, then by branch and bound as far as that gets. */
static enum cleave_status join(struct cleave__attempt *a, const struct cleave__level *pieces,
                               uint32_t *home)
{
    const struct cleave__target *target = &a->driver->problem.target;
    struct cleave__search *search = &a->search;
    struct cleave__state state;
    bool proven;
    enum cleave_status status = cleave__bisect(search, pieces, target, home);
    if (!status && !cleave__state_init(&state, &search->arena, pieces, target, home, 0))
        status = CLEAVE_NO_MEMORY;
    return status ? status : cleave__exact(search, &state, EXACT_NODES, &proven);
}

/* Strays of a large net follow it where all else of it is in one block: each of them alone would
 * gain nothing by that. */
static void call_strays(const struct cleave__level *l, const uint32_t *piece, uint32_t pieces,
                        const uint32_t *home, uint32_t *block)
{
    uint64_t count[PIECES_MAX];
    for (uint32_t e = 0; e < l->nets; e++) {
        if (!count_pins(l, e, piece, count))
            continue;
        uint32_t to = CLEAVE__NONE;
        bool torn = false;
        for (uint32_t p = 0; p < pieces; p++) {
            if (count[p] == 0 || stray(l, e, count[p], pieces))
                continue;
            torn = torn || (to != CLEAVE__NONE && to != home[p]);
            to = home[p];
        }
        for (uint64_t i = l->net_offset[e]; !torn && i < l->net_offset[e + 1]; i++)
            block[l->pin[i]] = to;
    }
}

enum cleave_status cleave__attempt_merged(struct cleave__attempt *a)
{
    const struct cleave__driver *d = a->driver;
    const struct cleave__level *level = &d->problem.free_level;
    struct cleave_arena *arena = &a->search.arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t n = level->vertices, pieces = cleave__blocks_of(d) * a->merge;
    struct cleave__target fine;
    uint32_t home[PIECES_MAX] = {0};
    uint32_t *piece = cleave__arena_array(arena, n, sizeof *piece);
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!piece || !divide_target(arena, &d->problem.target, a->merge, &fine))
        goto done;
    const struct cleave__cycle cycle = {
        .coarsest = 160 * pieces, .initial = cleave__bisect, .within = a->within};
    status = cleave__multilevel(&a->search, level, &fine, &cycle, piece);
    if (status)
        goto done;
    pieces = renumber(piece, n);
    const struct cleave__level *contracted = contract(arena, level, piece, pieces);
    status = contracted ? join(a, contracted, home) : CLEAVE_NO_MEMORY;
    for (uint32_t v = 0; v < n && !status; v++)
        a->block[v] = home[piece[v]];
    if (!status)
        call_strays(level, piece, pieces, home, a->block);
done:
    cleave__arena_rewind(arena, mark);
    a->within = NULL; /* communities need not lie within a block */
    return status ? status : cleave__attempt_cycle(a);
}
