#include "place/replicate_state.h"

#include <string.h>

int64_t cleave__copies_cost(const struct cleave__copies *c, uint32_t net, uint32_t cover)
{
    int64_t weight = c->h->net_weight[net];
    if (cover <= 1)
        return 0;
    return c->o->objective == CLEAVE_CUT   ? weight
           : c->o->objective == CLEAVE_KM1 ? weight * (cover - 1)
                                           : weight * cover;
}

static int64_t write_cost(const struct cleave__copies *c, uint32_t slot)
{
    return c->o->write_cost ? c->o->write_cost[slot] : 0;
}

/* ---- one net ---- */

static struct cleave__forced *find_forced(const struct cleave__copies *c, uint32_t net, uint32_t b)
{
    struct cleave__forced *list = c->forced + c->forced_offset[net];
    for (uint32_t i = 0; i < c->forced_count[net]; i++) {
        if (list[i].block == b)
            return &list[i];
    }
    return NULL;
}

/* One more pin, or one less, whose only copy is in b. */
static void force(struct cleave__copies *c, uint32_t net, uint32_t b)
{
    struct cleave__forced *it = find_forced(c, net, b);
    if (it)
        it->pins++;
    else
        c->forced[c->forced_offset[net] + c->forced_count[net]++] = (struct cleave__forced){b, 1};
}

static void unforce(struct cleave__copies *c, uint32_t net, uint32_t b)
{
    struct cleave__forced *it = find_forced(c, net, b);
    if (--it->pins == 0)
        *it = c->forced[c->forced_offset[net] + --c->forced_count[net]];
}

/* Does a forced block of the net hold a copy? */
static bool is_served(const struct cleave__copies *c, uint32_t net, const uint64_t *set)
{
    const struct cleave__forced *list = c->forced + c->forced_offset[net];
    for (uint32_t i = 0; i < c->forced_count[net]; i++) {
        if (set[list[i].block / 64] >> (list[i].block % 64) & 1)
            return true;
    }
    return false;
}

bool cleave__copies_is_served(const struct cleave__copies *c, uint32_t net, uint32_t slot)
{
    return is_served(c, net, cleave__copies_set(c, slot));
}

static bool meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint64_t both = 0;
    for (uint32_t w = 0; w < words; w++)
        both |= a[w] & b[w];
    return both != 0;
}

/* The net's forced blocks, all but `without` (_NONE: all), into forced_set; how many. */
static uint32_t gather_forced(struct cleave__copies *c, uint32_t net, uint32_t without)
{
    const struct cleave__forced *list = c->forced + c->forced_offset[net];
    uint32_t count = 0;
    memset(c->forced_set, 0, c->words * sizeof *c->forced_set);
    for (uint32_t i = 0; i < c->forced_count[net]; i++) {
        if (list[i].block == without)
            continue;
        c->forced_set[list[i].block / 64] |= UINT64_C(1) << (list[i].block % 64);
        count++;
    }
    c->work += c->forced_count[net] + 1;
    return count;
}

/* Sets of the net's loose pins, but for `skip` and those that forced_set serves, into `unserved`,
 * with `extra` (may be NULL) if that is unserved; how many. */
static uint32_t gather_unserved(struct cleave__copies *c, uint32_t net, uint32_t skip,
                                const uint64_t *extra)
{
    uint32_t count = 0;
    for (uint32_t n = c->loose[net]; n != CLEAVE_COPIES_NONE; n = c->next[n]) {
        const uint64_t *set = cleave__copies_set(c, c->node_slot[n]);
        c->work++;
        if (c->node_slot[n] != skip && !meet(set, c->forced_set, c->words))
            c->unserved[count++] = set;
    }
    if (extra && !meet(extra, c->forced_set, c->words))
        c->unserved[count++] = extra;
    return count;
}

static uint32_t count_cover(struct cleave__copies *c, uint32_t net)
{
    uint32_t forced = gather_forced(c, net, CLEAVE_COPIES_NONE);
    return forced + cleave__copies_hit(c, gather_unserved(c, net, CLEAVE_COPIES_NONE, NULL));
}

static int64_t refresh_cover(struct cleave__copies *c, uint32_t net)
{
    uint32_t cover = count_cover(c, net);
    int64_t fell = cleave__copies_cost(c, net, c->cover[net]) - cleave__copies_cost(c, net, cover);
    c->cover[net] = cover;
    c->nets -= fell;
    return fell;
}

static void link_node(struct cleave__copies *c, uint32_t net, uint32_t n)
{
    c->previous[n] = CLEAVE_COPIES_NONE;
    c->next[n] = c->loose[net];
    if (c->next[n] != CLEAVE_COPIES_NONE)
        c->previous[c->next[n]] = n;
    c->loose[net] = n;
}

static void unlink_node(struct cleave__copies *c, uint32_t net, uint32_t n)
{
    if (c->next[n] != CLEAVE_COPIES_NONE)
        c->previous[c->next[n]] = c->previous[n];
    if (c->previous[n] != CLEAVE_COPIES_NONE)
        c->next[c->previous[n]] = c->next[n];
    else
        c->loose[net] = c->next[n];
}

/* ---- gains ---- */

/* The vertex is unserved but for itself in this net: adds what each block would save. */
static void net_gains(struct cleave__copies *c, uint32_t slot, uint32_t net, uint32_t without)
{
    int64_t cost = cleave__copies_cost(c, net, c->cover[net]);
    uint32_t forced = gather_forced(c, net, without);
    uint32_t rest = gather_unserved(c, net, slot, NULL);
    const uint64_t *set = cleave__copies_set(c, slot);
    memset(c->extra_set, 0, c->words * sizeof *c->extra_set);
    for (uint32_t i = 0; i < rest; i++) {
        for (uint32_t w = 0; w < c->words; w++)
            c->extra_set[w] |= c->unserved[i][w];
    }
    /* Beside a forced block the vertex asks for nothing. */
    int64_t fell = cost - cleave__copies_cost(c, net, forced + cleave__copies_hit(c, rest));
    const struct cleave__forced *list = c->forced + c->forced_offset[net];
    for (uint32_t i = 0; i < c->forced_count[net]; i++) {
        if (list[i].block != without)
            c->gain[list[i].block] += fell;
    }
    if (rest == 0)
        return;
    /* Beside other loose pins: each block that one of them has. */
    uint64_t trial[CLEAVE_COPIES_WORDS], others[CLEAVE_COPIES_WORDS];
    memcpy(others, c->extra_set, c->words * sizeof *others);
    for (uint32_t w = 0; w < c->words; w++) {
        for (uint64_t left = others[w] & ~set[w]; left; left &= left - 1) {
            memcpy(trial, set, c->words * sizeof *trial);
            trial[w] |= left & -left;
            uint32_t count = gather_unserved(c, net, slot, trial);
            uint32_t cover = forced + cleave__copies_hit(c, count);
            c->gain[w * 64 + (uint32_t)__builtin_ctzll(left)] +=
                cost - cleave__copies_cost(c, net, cover);
        }
    }
}

void cleave__copies_gains(struct cleave__copies *c, uint32_t slot)
{
    uint32_t v = c->o->vertices[slot], home = c->block[v];
    memset(c->gain, 0, c->blocks * sizeof *c->gain);
    for (uint64_t i = c->h->vertex_offset[v]; i < c->h->vertex_offset[v + 1]; i++) {
        uint32_t e = c->h->incident[i];
        c->work += c->forced_count[e] + 1;
        if (c->cover[e] <= 1)
            continue;
        if (c->held[slot] == 1) {
            if (find_forced(c, e, home)->pins == 1)
                net_gains(c, slot, e, home);
        } else if (!is_served(c, e, cleave__copies_set(c, slot))) {
            net_gains(c, slot, e, CLEAVE_COPIES_NONE);
        }
    }
}

/* ---- changes ---- */

bool cleave__copies_fits(const struct cleave__copies *c, uint32_t slot, uint32_t b)
{
    uint32_t W = c->h->weights;
    const int64_t *weight = c->h->vertex_weight + (size_t)c->o->vertices[slot] * W;
    for (uint32_t i = 0; i < W; i++) {
        size_t at = (size_t)b * W + i;
        if (c->o->budget && weight[i] > c->o->budget[i] - c->added[i])
            return false;
        if (c->o->block_budget && weight[i] > c->o->block_budget[at] - c->block_added[at])
            return false;
    }
    return true;
}

static void weigh(struct cleave__copies *c, uint32_t slot, uint32_t b, int sign)
{
    uint32_t W = c->h->weights;
    const int64_t *weight = c->h->vertex_weight + (size_t)c->o->vertices[slot] * W;
    for (uint32_t i = 0; i < W; i++) {
        c->added[i] += sign * weight[i];
        c->block_added[(size_t)b * W + i] += sign * weight[i];
    }
    c->copies += (uint64_t)(int64_t)sign;
    c->writes += sign * write_cost(c, slot);
}

int64_t cleave__copies_add(struct cleave__copies *c, uint32_t slot, uint32_t b)
{
    uint32_t v = c->o->vertices[slot], home = c->block[v];
    uint64_t *set = c->sets + (size_t)slot * c->words;
    uint64_t first = c->h->vertex_offset[v], end = c->h->vertex_offset[v + 1];
    int64_t fell = -write_cost(c, slot);
    bool alone = c->held[slot] == 1;
    uint64_t before[CLEAVE_COPIES_WORDS];
    memcpy(before, set, c->words * sizeof *before);
    set[b / 64] |= UINT64_C(1) << (b % 64);
    c->held[slot]++;
    for (uint64_t i = first; i < end; i++) {
        uint32_t e = c->h->incident[i];
        bool changes;
        if (alone) {
            changes = find_forced(c, e, home)->pins == 1;
            unforce(c, e, home);
            link_node(c, e, (uint32_t)(c->node_offset[slot] + (i - first)));
        } else {
            changes = !is_served(c, e, before);
        }
        c->work += c->forced_count[e] + 1;
        if (changes)
            fell += refresh_cover(c, e);
    }
    weigh(c, slot, b, 1);
    return fell;
}

int64_t cleave__copies_drop(struct cleave__copies *c, uint32_t slot, uint32_t b)
{
    uint32_t v = c->o->vertices[slot], home = c->block[v];
    uint64_t *set = c->sets + (size_t)slot * c->words;
    uint64_t first = c->h->vertex_offset[v], end = c->h->vertex_offset[v + 1];
    int64_t fell = write_cost(c, slot);
    set[b / 64] &= ~(UINT64_C(1) << (b % 64));
    bool alone = --c->held[slot] == 1;
    for (uint64_t i = first; i < end; i++) {
        uint32_t e = c->h->incident[i];
        bool changes;
        if (alone) {
            changes = find_forced(c, e, home) == NULL;
            force(c, e, home);
            unlink_node(c, e, (uint32_t)(c->node_offset[slot] + (i - first)));
        } else {
            changes = !is_served(c, e, set);
        }
        c->work += c->forced_count[e] + 1;
        if (changes)
            fell += refresh_cover(c, e);
    }
    weigh(c, slot, b, -1);
    return fell;
}

/* ---- setting up ---- */

void cleave__copies_free(struct cleave__copies *c)
{
    cleave__arena_free(&c->arena);
    *c = (struct cleave__copies){0};
}

static bool allocate(struct cleave__copies *c, uint64_t nodes, uint64_t forced, uint64_t widest)
{
    struct cleave_arena *arena = &c->arena;
    const struct cleave_hypergraph *h = c->h;
    size_t count = c->o->count, words = c->words, k = c->blocks;
#define ARRAY(field, n)                                                                            \
    if (!(c->field = cleave__arena_array(arena, (size_t)(n), sizeof *c->field)))                   \
    return false
    ARRAY(slot, h->vertices);
    ARRAY(held, count);
    ARRAY(forced_offset, (size_t)h->nets + 1);
    ARRAY(forced_count, h->nets);
    ARRAY(forced, forced);
    ARRAY(cover, h->nets);
    ARRAY(node_offset, count + 1);
    ARRAY(node_slot, nodes);
    ARRAY(loose, h->nets);
    ARRAY(next, nodes);
    ARRAY(previous, nodes);
    ARRAY(forced_set, words);
    ARRAY(asked_set, words);
    ARRAY(extra_set, words);
    ARRAY(unserved, widest + 1);
    ARRAY(masks, widest + 1);
    ARRAY(tally, k);
    ARRAY(gain, k);
#undef ARRAY
    c->sets = cleave__arena_zalloc(arena, count * words * sizeof *c->sets);
    c->block_added = cleave__arena_zalloc(arena, k * h->weights * sizeof *c->block_added);
    return c->sets && c->block_added;
}

static void fill(struct cleave__copies *c)
{
    const struct cleave_hypergraph *h = c->h;
    uint64_t forced = 0, node = 0;
    memset(c->tally, 0, c->blocks * sizeof *c->tally);
    for (uint32_t v = 0; v < h->vertices; v++)
        c->slot[v] = CLEAVE_COPIES_NONE;
    for (uint32_t e = 0; e < h->nets; e++) {
        uint64_t pins = h->net_offset[e + 1] - h->net_offset[e];
        c->forced_offset[e] = forced;
        c->forced_count[e] = 0;
        c->loose[e] = CLEAVE_COPIES_NONE;
        forced += pins < c->blocks ? pins : c->blocks;
        struct cleave__forced *list = c->forced + c->forced_offset[e];
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
            uint32_t b = c->block[h->pin[i]];
            if (!c->tally[b]) {
                list[c->forced_count[e]++] = (struct cleave__forced){b, 0};
                c->tally[b] = c->forced_count[e];
            }
            list[c->tally[b] - 1].pins++;
        }
        for (uint32_t i = 0; i < c->forced_count[e]; i++)
            c->tally[list[i].block] = 0;
        c->cover[e] = c->forced_count[e];
        c->nets += cleave__copies_cost(c, e, c->cover[e]);
    }
    c->forced_offset[h->nets] = forced;
    for (uint32_t s = 0; s < c->o->count; s++) {
        uint32_t v = c->o->vertices[s], b = c->block[v];
        c->node_offset[s] = node;
        for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++)
            c->node_slot[node++] = s;
        c->sets[(size_t)s * c->words + b / 64] |= UINT64_C(1) << (b % 64);
        c->held[s] = 1;
        c->slot[v] = s;
    }
    c->node_offset[c->o->count] = node;
}

enum cleave_status cleave__copies_init(struct cleave__copies *c, const struct cleave_hypergraph *h,
                                       const struct cleave_replicate_options *o,
                                       const uint32_t *block, struct cleave_error *error)
{
    *c = (struct cleave__copies){
        .h = h, .o = o, .block = block, .blocks = o->blocks, .words = (o->blocks + 63) / 64};
    uint64_t nodes = 0, forced = 0, widest = 0;
    for (uint32_t s = 0; s < o->count; s++)
        nodes += h->vertex_offset[o->vertices[s] + 1] - h->vertex_offset[o->vertices[s]];
    for (uint32_t e = 0; e < h->nets; e++) {
        uint64_t pins = h->net_offset[e + 1] - h->net_offset[e];
        forced += pins < o->blocks ? pins : o->blocks;
        widest = pins > widest ? pins : widest;
    }
    if (nodes >= CLEAVE_COPIES_NONE)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the chosen vertices have more than %u pins: choose fewer",
                                CLEAVE_COPIES_NONE - 1);
    if (!allocate(c, nodes, forced, widest)) {
        cleave__copies_free(c);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies of %u vertices",
                                o->count);
    }
    fill(c);
    return CLEAVE_OK;
}
