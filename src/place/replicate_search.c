/* Choosing copies: greedy with lazily updated savings (Minoux's accelerated greedy), then moves of
 * several copies at a time that free a net of a block, then dropping what saves nothing. */
#include <string.h>

#include "place/multilevel/heap.h"
#include "place/replicate_state.h"

enum { ROUNDS = 4, EVICTED_MAX = 8, GATHERED_MAX = 32, POLL = 1024 };

struct search {
    struct cleave__copies *c;
    struct cleave__heap heap; /* chosen vertices by what their best copy saves */
    double *share;            /* [W]: 1 / all that copies may weigh; 0: no limit */
    bool by_weight;
    uint32_t polls;
    uint32_t *order; /* [nets]: heaviest first */
};

static bool is_stopped(struct search *s)
{
    const struct cleave_progress *progress = s->c->o->progress;
    return ++s->polls % POLL == 0 && progress && progress->stop && *progress->stop;
}

/* The block where a further copy saves most within the budgets; _NONE when none saves anything. */
static uint32_t best_block(struct cleave__copies *c, uint32_t slot, int64_t *saving)
{
    uint32_t best = CLEAVE_COPIES_NONE;
    *saving = 0;
    cleave__copies_gains(c, slot);
    int64_t write = c->o->write_cost ? c->o->write_cost[slot] : 0;
    for (uint32_t b = 0; b < c->blocks; b++) {
        if (c->gain[b] - write <= *saving || cleave__copies_has(c, slot, b) ||
            !cleave__copies_fits(c, slot, b))
            continue;
        *saving = c->gain[b] - write;
        best = b;
    }
    return best;
}

static int64_t key_of(const struct search *s, uint32_t slot, int64_t saving)
{
    const struct cleave__copies *c = s->c;
    const int64_t *weight = c->h->vertex_weight + (size_t)c->o->vertices[slot] * c->h->weights;
    if (!s->by_weight)
        return saving;
    double size = 1e-9;
    for (uint32_t i = 0; i < c->h->weights; i++)
        size += (double)weight[i] * s->share[i];
    double key = (double)saving / size;
    return key < 9e18 ? (int64_t)key : (int64_t)9e18;
}

static void consider(struct search *s, uint32_t slot)
{
    int64_t saving;
    if (best_block(s->c, slot, &saving) != CLEAVE_COPIES_NONE)
        cleave__heap_set(&s->heap, slot, key_of(s, slot, saving));
}

/* The vertex left its own block's nets to others: where just one pin is left there, that one could
 * now free the net of the block. */
static void wake(struct search *s, uint32_t slot)
{
    struct cleave__copies *c = s->c;
    const struct cleave_hypergraph *h = c->h;
    uint32_t v = c->o->vertices[slot], home = c->block[v];
    for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
        uint32_t e = h->incident[i];
        const struct cleave__forced *list = c->forced + c->forced_offset[e];
        bool lonely = false;
        for (uint32_t f = 0; f < c->forced_count[e]; f++)
            lonely |= list[f].block == home && list[f].pins == 1;
        for (uint64_t p = h->net_offset[e]; lonely && p < h->net_offset[e + 1]; p++) {
            uint32_t u = h->pin[p], other = c->slot[u];
            c->work++;
            if (c->block[u] != home || (other != CLEAVE_COPIES_NONE && c->held[other] > 1))
                continue;
            if (other != CLEAVE_COPIES_NONE)
                consider(s, other);
            lonely = false;
        }
    }
}

static enum cleave_status greedy(struct search *s, bool *changed)
{
    struct cleave__copies *c = s->c;
    for (uint32_t slot = 0; slot < c->o->count; slot++) {
        if (is_stopped(s))
            return CLEAVE_INTERRUPTED;
        consider(s, slot);
    }
    while (s->heap.count) {
        if (is_stopped(s))
            return CLEAVE_INTERRUPTED;
        uint32_t slot = cleave__heap_pop(&s->heap);
        int64_t known = s->heap.key[slot], saving;
        uint32_t b = best_block(c, slot, &saving);
        if (b == CLEAVE_COPIES_NONE)
            continue;
        int64_t key = key_of(s, slot, saving);
        if (key < known && s->heap.count && key < s->heap.key[s->heap.item[0]]) {
            cleave__heap_set(&s->heap, slot, key);
            continue;
        }
        if (cleave__copies_add(c, slot, b) <= 0) {
            cleave__copies_drop(c, slot, b);
            continue;
        }
        *changed = true;
        consider(s, slot);
        if (c->held[slot] == 2)
            wake(s, slot);
    }
    return CLEAVE_OK;
}

/* Copies of all `count` vertices to b, if that saves. */
static bool add_together(struct cleave__copies *c, const uint32_t *slots, uint32_t count,
                         uint32_t b)
{
    int64_t saved = 0;
    uint32_t done = 0;
    while (done < count && cleave__copies_fits(c, slots[done], b))
        saved += cleave__copies_add(c, slots[done++], b);
    if (done == count && saved > 0)
        return true;
    while (done)
        cleave__copies_drop(c, slots[--done], b);
    return false;
}

/* Of the net's forced blocks, is `from` the only one with a copy? */
static bool relies_on(const struct cleave__copies *c, uint32_t e, uint32_t slot, uint32_t from)
{
    const struct cleave__forced *list = c->forced + c->forced_offset[e];
    bool relies = false;
    for (uint32_t i = 0; i < c->forced_count[e]; i++) {
        if (!cleave__copies_has(c, slot, list[i].block))
            continue;
        if (list[i].block != from)
            return false;
        relies = true;
    }
    return relies;
}

/* Pins of the net that keep it in `from` (_NONE: that have no copy in `b`), all of them chosen and
 * at most `most`; 0 when that is not so. */
static uint32_t pins_to_copy(struct cleave__copies *c, uint32_t e, uint32_t from, uint32_t b,
                             uint32_t most, uint32_t *slots)
{
    const struct cleave_hypergraph *h = c->h;
    uint32_t count = 0;
    for (uint64_t p = h->net_offset[e]; p < h->net_offset[e + 1]; p++) {
        uint32_t v = h->pin[p], slot = c->slot[v];
        bool chosen = slot != CLEAVE_COPIES_NONE, asks;
        c->work++;
        if (from == CLEAVE_COPIES_NONE)
            asks = chosen ? !cleave__copies_has(c, slot, b) : c->block[v] != b;
        else if (chosen && c->held[slot] > 1)
            asks = relies_on(c, e, slot, from);
        else
            asks = c->block[v] == from;
        if (!asks)
            continue;
        if (!chosen || count == most)
            return 0;
        slots[count++] = slot;
    }
    return count;
}

/* The forced block with most pins, `but` one; the lowest of equals. */
static uint32_t main_block(const struct cleave__copies *c, uint32_t e, uint32_t but)
{
    const struct cleave__forced *list = c->forced + c->forced_offset[e];
    uint32_t best = CLEAVE_COPIES_NONE, pins = 0;
    for (uint32_t i = 0; i < c->forced_count[e]; i++) {
        if (list[i].block != but &&
            (list[i].pins > pins || (list[i].pins == pins && list[i].block < best))) {
            best = list[i].block;
            pins = list[i].pins;
        }
    }
    return best;
}

/* Pins of several copies, none of them in a forced block; 0 when there are more than `most`. */
static uint32_t pins_unserved(struct cleave__copies *c, uint32_t e, uint32_t most, uint32_t *slots)
{
    uint32_t count = 0;
    for (uint32_t n = c->loose[e]; n != CLEAVE_COPIES_NONE; n = c->next[n]) {
        c->work++;
        if (cleave__copies_is_served(c, e, c->node_slot[n]))
            continue;
        if (count == most)
            return 0;
        slots[count++] = c->node_slot[n];
    }
    return count;
}

/* Gathers all of the net in one block; or frees it of the blocks that only pins of several copies
 * keep it in, or of one that few chosen pins do. */
static bool improve_net(struct cleave__copies *c, uint32_t e)
{
    uint32_t slots[GATHERED_MAX], lone[EVICTED_MAX + 1], lones = 0;
    uint32_t b = main_block(c, e, CLEAVE_COPIES_NONE);
    if (b == CLEAVE_COPIES_NONE)
        return false;
    uint32_t count = pins_to_copy(c, e, CLEAVE_COPIES_NONE, b, GATHERED_MAX, slots);
    if (count > 1 && add_together(c, slots, count, b))
        return true;
    count = pins_unserved(c, e, GATHERED_MAX, slots);
    bool any = count > 1 && add_together(c, slots, count, b);
    const struct cleave__forced *list = c->forced + c->forced_offset[e];
    for (uint32_t i = 0; i < c->forced_count[e] && lones < EVICTED_MAX; i++) {
        if (list[i].pins <= EVICTED_MAX)
            lone[lones++] = list[i].block;
    }
    for (uint32_t i = 0; i < lones && c->cover[e] > 1; i++) {
        uint32_t to = main_block(c, e, lone[i]);
        count = to == CLEAVE_COPIES_NONE ? 0 : pins_to_copy(c, e, lone[i], to, EVICTED_MAX, slots);
        any |= count > 1 && add_together(c, slots, count, to);
    }
    return any;
}

static enum cleave_status improve_nets(struct search *s, bool *changed)
{
    struct cleave__copies *c = s->c;
    uint64_t all = c->h->net_offset[c->h->nets], most = c->work + 40 * all + 1000000;
    for (uint32_t i = 0; i < c->h->nets && c->work < most; i++) {
        uint32_t e = s->order[i];
        if (is_stopped(s))
            return CLEAVE_INTERRUPTED;
        if (c->cover[e] > 1 && c->h->net_weight[e] > 0)
            *changed |= improve_net(c, e);
    }
    return CLEAVE_OK;
}

/* Drops copies whose loss costs nothing more. */
static enum cleave_status drop_idle(struct search *s, bool *changed)
{
    struct cleave__copies *c = s->c;
    for (uint32_t slot = 0; slot < c->o->count; slot++) {
        uint32_t home = c->block[c->o->vertices[slot]];
        if (is_stopped(s))
            return CLEAVE_INTERRUPTED;
        for (uint32_t b = 0; b < c->blocks && c->held[slot] > 1; b++) {
            if (b == home || !cleave__copies_has(c, slot, b))
                continue;
            int64_t fell = cleave__copies_drop(c, slot, b);
            if (fell < 0)
                cleave__copies_add(c, slot, b);
            *changed |= fell > 0;
        }
    }
    return CLEAVE_OK;
}

struct weighed {
    int64_t weight;
    uint32_t net;
};

static int compare(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->net > b->net) - (a->net < b->net);
}

static bool start(struct search *s)
{
    struct cleave__copies *c = s->c;
    const struct cleave_hypergraph *h = c->h;
    struct weighed *weighed = malloc(((size_t)h->nets + 1) * sizeof *weighed);
    s->share = cleave__arena_zalloc(&c->arena, h->weights * sizeof *s->share);
    s->order = cleave__arena_array(&c->arena, h->nets, sizeof *s->order);
    if (!weighed || !s->share || !s->order ||
        !cleave__heap_init(&s->heap, &c->arena, c->o->count)) {
        free(weighed);
        return false;
    }
    for (uint32_t e = 0; e < h->nets; e++)
        weighed[e] = (struct weighed){h->net_weight[e], e};
    if (h->nets)
        qsort(weighed, h->nets, sizeof *weighed, compare);
    for (uint32_t i = 0; i < h->nets; i++)
        s->order[i] = weighed[i].net;
    free(weighed);
    for (uint32_t i = 0; i < h->weights; i++) {
        double all = 0;
        for (uint32_t b = 0; c->o->block_budget && b < c->blocks; b++)
            all += (double)c->o->block_budget[(size_t)b * h->weights + i];
        if (c->o->budget && (!c->o->block_budget || (double)c->o->budget[i] < all))
            all = (double)c->o->budget[i];
        s->share[i] = all > 0 ? 1 / all : 0;
    }
    return true;
}

enum cleave_status cleave__copies_search(struct cleave__copies *c, bool by_weight,
                                         struct cleave_error *error)
{
    struct search s = {.c = c, .by_weight = by_weight};
    if (!start(&s))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies of %u vertices",
                                c->o->count);
    enum cleave_status status = CLEAVE_OK;
    bool changed = true;
    for (int round = 0; !status && changed && round < ROUNDS; round++) {
        changed = false;
        status = greedy(&s, &changed);
        if (!status)
            status = improve_nets(&s, &changed);
        if (!status)
            status = drop_idle(&s, &changed);
    }
    return status ? cleave_error_set(error, status, "stopped") : CLEAVE_OK;
}
