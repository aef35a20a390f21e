/* Which pairs of blocks are cut anew, when, and what becomes of it; see the header.
 *
 * A round looks at every pair of adjacent blocks of which at least one changed in the round before,
 * heaviest cut first. Pairs without a block in common are proposals made at the same time from the
 * same state; since what two such pairs save does not depend on each other, all are then applied,
 * in order. */
#include "place/multilevel/flow.h"

#include <stdlib.h>
#include <string.h>

#include "place/multilevel/flow_part.h"

/* Nets in more blocks than this do not make blocks adjacent: they would make too many pairs. */
enum { SPREAD_MAX = 256, FAILED_MAX = 1 << 16 };

struct pair {
    int64_t cut;
    uint32_t block[2];
};

struct proposal {
    struct cleave__flow_pair pair;
    uint32_t *move; /* room for all free vertices of both blocks */
    uint32_t moves;
    int64_t gain;
    uint64_t work, hash;
    enum cleave_status status;
};

struct rounds {
    struct cleave__search *search;
    struct cleave__state *state;
    struct cleave__flow_options options;
    struct cleave__flow *flow; /* [threads] */
    bool *changed, *changes;   /* [blocks]: in the round before, in this one */
    uint32_t *busy;            /* [blocks]: matching that has it */
    int64_t *shared;           /* [blocks]: scratch */
    uint32_t *neighbour;       /* [blocks]: scratch */
    uint64_t *net_offset;      /* [blocks + 1] into net, that has each block's cut nets */
    uint32_t *net;
    uint32_t *move;            /* [vertices] */
    struct proposal *proposal; /* [blocks / 2] */
    struct pair *pair;
    size_t pairs, room;
    uint64_t *failed; /* hashes of regions that gave nothing, each where its low bits say */
    uint64_t failed_mask;
};

static bool relevant(const struct cleave__state *s, uint32_t e)
{
    return s->used[e] > 1 && s->used[e] <= SPREAD_MAX && s->level->net_weight[e] > 0 &&
           (s->target->objective != CLEAVE_CUT || s->used[e] == 2);
}

/* Lists each block's cut nets. False when memory is out. O(nets + slots). */
static bool list_nets(struct rounds *r)
{
    const struct cleave__state *s = r->state;
    uint32_t k = s->target->blocks;
    memset(r->net_offset, 0, (k + (size_t)1) * sizeof *r->net_offset);
    for (uint32_t e = 0; e < s->level->nets; e++) {
        const struct cleave__slot *slot = s->slot + s->level->net_offset[e];
        for (uint32_t i = 0; i < s->used[e] && relevant(s, e); i++)
            r->net_offset[slot[i].block]++;
    }
    for (uint32_t b = 0; b < k; b++)
        r->net_offset[b + 1] += r->net_offset[b];
    r->net = cleave__arena_array(&r->search->arena, r->net_offset[k], sizeof *r->net);
    if (!r->net)
        return false;
    for (uint32_t e = s->level->nets; e > 0; e--) {
        const struct cleave__slot *slot = s->slot + s->level->net_offset[e - 1];
        for (uint32_t i = 0; i < s->used[e - 1] && relevant(s, e - 1); i++)
            r->net[--r->net_offset[slot[i].block]] = e - 1;
    }
    return true;
}

static bool add_pair(struct rounds *r, uint32_t a, uint32_t b, int64_t cut)
{
    if (r->pairs == r->room) {
        size_t room = 2 * r->room + 64;
        struct pair *pair = cleave__arena_array(&r->search->arena, room, sizeof *pair);
        if (!pair)
            return false;
        if (r->pairs)
            memcpy(pair, r->pair, r->pairs * sizeof *pair);
        r->pair = pair;
        r->room = room;
    }
    r->pair[r->pairs++] = (struct pair){cut, {a, b}};
    return true;
}

static int by_cut(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    if (a->cut != b->cut)
        return a->cut > b->cut ? -1 : 1;
    for (int i = 0; i < 2; i++) {
        if (a->block[i] != b->block[i])
            return a->block[i] < b->block[i] ? -1 : 1;
    }
    return 0;
}

/* Lists the pairs to look at. False when memory is out. */
static bool list_pairs(struct rounds *r)
{
    const struct cleave__state *s = r->state;
    r->pairs = r->room = 0;
    for (uint32_t a = 0; a < s->target->blocks; a++) {
        uint32_t neighbours = 0;
        for (uint64_t i = r->net_offset[a]; i < r->net_offset[a + 1]; i++) {
            uint32_t e = r->net[i];
            const struct cleave__slot *slot = s->slot + s->level->net_offset[e];
            for (uint32_t j = 0; j < s->used[e]; j++) {
                uint32_t b = slot[j].block;
                if (b <= a || !(r->changed[a] || r->changed[b]))
                    continue;
                if (!r->shared[b])
                    r->neighbour[neighbours++] = b;
                r->shared[b] += s->level->net_weight[e];
            }
        }
        for (uint32_t i = 0; i < neighbours; i++) {
            uint32_t b = r->neighbour[i];
            if (!add_pair(r, a, b, r->shared[b]))
                return false;
            r->shared[b] = 0;
        }
    }
    if (r->pairs)
        qsort(r->pair, r->pairs, sizeof *r->pair, by_cut);
    return true;
}

/* Reads the state, writes nothing but the proposal and the worker's own. */
static void propose(void *context, uint32_t task, uint32_t worker)
{
    struct rounds *r = context;
    struct proposal *p = &r->proposal[task];
    struct cleave__flow *flow = &r->flow[worker];
    p->status = CLEAVE_NO_MEMORY;
    p->moves = 0;
    if (!flow->search) {
        cleave__arena_free(&flow->arena); /* of an earlier try */
        if (!cleave__flow_init(flow, r->search, r->state->level))
            return;
    }
    flow->work = 0;
    flow->work_limit = p->work;
    if (!cleave__flow_region(flow, &p->pair))
        return;
    p->hash = flow->hash;
    p->gain = 0;
    if (r->failed[p->hash & r->failed_mask] != p->hash)
        p->gain = cleave__flow_cut(flow, &p->pair, p->move, &p->moves);
    p->work = flow->work;
    p->status = CLEAVE_OK;
}

static void flip(struct cleave__state *s, const struct proposal *p)
{
    const uint32_t *block = p->pair.block;
    for (uint32_t i = 0; i < p->moves; i++)
        cleave__state_move(s, p->move[i], block[s->block[p->move[i]] == block[0]], NULL, NULL);
}

static double fullest(const struct cleave__state *s, const struct proposal *p)
{
    double a = cleave__state_fill(s, p->pair.block[0]), b = cleave__state_fill(s, p->pair.block[1]);
    return a > b ? a : b;
}

static void apply(struct rounds *r, const struct proposal *p)
{
    struct cleave__state *s = r->state;
    struct cleave__score before = s->score;
    int64_t moved = s->moved;
    if (p->gain == 0)
        r->failed[p->hash & r->failed_mask] = p->hash;
    if (p->moves == 0)
        return;
    double fill = fullest(s, p);
    flip(s, p);
    bool better = cleave__score_less(&s->score, &before);
    bool flatter = !better && !cleave__score_less(&before, &s->score) && fullest(s, p) < fill;
    if ((!better && !flatter) || (s->moved > s->target->budget && s->moved > moved)) {
        flip(s, p);
        return;
    }
    /* Only what lowers the cost makes it worth looking again, so that it ends. */
    if (better)
        r->changes[p->pair.block[0]] = r->changes[p->pair.block[1]] = true;
}

/* Takes pairs without a block in common from the list, as many as go together; their number. */
static uint32_t match(struct rounds *r, uint32_t stamp)
{
    const struct cleave__state *s = r->state;
    uint32_t count = 0;
    uint32_t *move = r->move;
    size_t left = 0;
    for (size_t i = 0; i < r->pairs; i++) {
        const struct pair pair = r->pair[i];
        uint32_t a = pair.block[0], b = pair.block[1];
        if (r->busy[a] == stamp || r->busy[b] == stamp) {
            r->pair[left++] = pair;
            continue;
        }
        r->busy[a] = r->busy[b] = stamp;
        uint64_t at_a = r->net_offset[a + 1] - r->net_offset[a];
        uint64_t at_b = r->net_offset[b + 1] - r->net_offset[b];
        uint32_t fewer = at_a <= at_b ? a : b;
        r->proposal[count++] = (struct proposal){
            .pair = {.state = s,
                     .options = &r->options,
                     .block = {a, b},
                     .seed = r->net + r->net_offset[fewer],
                     .seeds = (uint32_t)(at_a <= at_b ? at_a : at_b)},
            .move = move,
            .work = r->options.effort,
        };
        move += s->free_count[a] + s->free_count[b];
    }
    r->pairs = left;
    return count;
}

static enum cleave_status run_round(struct rounds *r)
{
    if (!list_nets(r) || !list_pairs(r))
        return CLEAVE_NO_MEMORY;
    memset(r->busy, 0, r->state->target->blocks * sizeof *r->busy);
    for (uint32_t stamp = 1; r->pairs && r->options.effort; stamp++) {
        uint32_t count = match(r, stamp);
        cleave__pool_run(r->options.pool, count, propose, r);
        for (uint32_t i = 0; i < count; i++) {
            if (r->proposal[i].status)
                return r->proposal[i].status;
        }
        if (cleave__stopped(r->search))
            return CLEAVE_INTERRUPTED;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t work = r->proposal[i].work;
            apply(r, &r->proposal[i]);
            r->options.effort -= work < r->options.effort ? work : r->options.effort;
        }
    }
    return CLEAVE_OK;
}

static bool any(const bool *flag, uint32_t count)
{
    return memchr(flag, true, count) != NULL;
}

static bool init(struct rounds *r)
{
    struct cleave_arena *arena = &r->search->arena;
    uint32_t k = r->state->target->blocks, threads = cleave__pool_threads(r->options.pool);
    struct cleave__flow_options *o = &r->options;
    o->rounds = o->rounds ? o->rounds : 10;
    o->alpha = o->alpha ? o->alpha : 16;
    o->distance = o->distance ? o->distance : 4;
    o->pins = o->pins ? o->pins : 1 << 18;
    o->pins = o->pins < UINT32_MAX / 8 ? o->pins : UINT32_MAX / 8;
    o->effort = o->effort ? o->effort : UINT64_MAX;
    uint64_t failed = 64;
    while (failed < (uint64_t)k * k && failed < FAILED_MAX)
        failed *= 2;
    r->failed_mask = failed - 1;
    r->failed = cleave__arena_zalloc(arena, failed * sizeof *r->failed);
    r->flow = cleave__arena_zalloc(arena, threads * sizeof *r->flow);
    r->changed = cleave__arena_array(arena, k, sizeof *r->changed);
    r->changes = cleave__arena_zalloc(arena, k * sizeof *r->changes);
    r->busy = cleave__arena_array(arena, k, sizeof *r->busy);
    r->shared = cleave__arena_zalloc(arena, k * sizeof *r->shared);
    r->neighbour = cleave__arena_array(arena, k, sizeof *r->neighbour);
    r->net_offset = cleave__arena_array(arena, k + (size_t)1, sizeof *r->net_offset);
    r->move = cleave__arena_array(arena, r->state->level->vertices, sizeof *r->move);
    r->proposal = cleave__arena_array(arena, k / 2, sizeof *r->proposal);
    return r->failed && r->flow && r->changed && r->changes && r->busy && r->shared &&
           r->neighbour && r->net_offset && r->move && r->proposal;
}

enum cleave_status cleave__refine_flow(struct cleave__search *search, struct cleave__state *state,
                                       const struct cleave__flow_options *options)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&search->arena);
    struct rounds r = {.search = search, .state = state, .options = *options};
    uint32_t k = state->target->blocks;
    enum cleave_status status = init(&r) ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    if (!status)
        memset(r.changed, true, k * sizeof *r.changed);
    for (uint32_t round = 0; round < r.options.rounds && !status; round++) {
        int64_t before = state->score.cost;
        struct cleave_arena_mark inner = cleave__arena_mark(&search->arena);
        status = run_round(&r);
        cleave__arena_rewind(&search->arena, inner);
        memcpy(r.changed, r.changes, k * sizeof *r.changed);
        memset(r.changes, false, k * sizeof *r.changes);
        if (!any(r.changed, k) || before - state->score.cost < before / 1000)
            break;
    }
    for (uint32_t i = 0; r.flow && i < cleave__pool_threads(r.options.pool); i++)
        cleave__arena_free(&r.flow[i].arena);
    cleave__arena_rewind(&search->arena, mark);
    return status;
}
