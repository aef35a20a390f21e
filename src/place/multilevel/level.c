/* Merging and cutting out: see the header. Duplicate nets are found by an order-free hash of their
 * pins and then compared pin by pin. */
#include "place/multilevel/level.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* Nets under construction: compressed rows with room for all pins of the level they come from, on
 * memory of their own; what comes of them is copied to its size. */
struct nets {
    uint64_t *offset;
    uint32_t *pin;
    int64_t *weight;
    uint32_t count;
    uint32_t *mark; /* [vertices]: net number + 1 of the last net that met the vertex */
    uint32_t *slot; /* net + 1 by hash of its pins */
    uint64_t *hash; /* [count] */
    uint32_t slot_mask;
};

static bool nets_init(struct nets *nets, uint32_t vertices, uint32_t most, uint64_t pins)
{
    uint32_t slots = 16;
    while (slots < 2 * (uint64_t)most && slots < 1u << 31)
        slots *= 2;
    nets->count = 0;
    nets->slot_mask = slots - 1;
    nets->offset = malloc(((size_t)most + 1) * sizeof *nets->offset);
    nets->pin = malloc((size_t)(pins + 1) * sizeof *nets->pin);
    nets->weight = malloc(((size_t)most + 1) * sizeof *nets->weight);
    nets->mark = calloc((size_t)vertices + 1, sizeof *nets->mark);
    nets->slot = calloc(slots, sizeof *nets->slot);
    nets->hash = malloc(((size_t)most + 1) * sizeof *nets->hash);
    if (nets->offset)
        nets->offset[0] = 0;
    return nets->offset && nets->pin && nets->weight && nets->mark && nets->slot && nets->hash;
}

/* What only the making needs. */
static void nets_made(struct nets *nets)
{
    free(nets->mark);
    free(nets->slot);
    free(nets->hash);
    nets->mark = nets->slot = NULL;
    nets->hash = NULL;
}

static void nets_done(struct nets *nets)
{
    nets_made(nets);
    free(nets->offset);
    free(nets->pin);
    free(nets->weight);
}

static bool same_pins(const struct nets *nets, uint32_t a, uint32_t b)
{
    /* The pins of b carry its mark, for it was just written. */
    if (nets->offset[a + 1] - nets->offset[a] != nets->offset[b + 1] - nets->offset[b])
        return false;
    for (uint64_t i = nets->offset[a]; i < nets->offset[a + 1]; i++) {
        if (nets->mark[nets->pin[i]] != b + 1)
            return false;
    }
    return true;
}

/* A net's pins are offered one by one, then closed; until then net `count` is open. A dropped net
 * leaves stale marks of its number, which its successor would take for its own: hence `clear`. */
static void offer_pin(struct nets *nets, uint32_t v, uint64_t *end, uint64_t *hash)
{
    if (nets->mark[v] == nets->count + 1)
        return;
    nets->mark[v] = nets->count + 1;
    nets->pin[(*end)++] = v;
    *hash += cleave__mix64((uint64_t)v + 0x9e3779b97f4a7c15u);
}

static void close_net(struct nets *nets, uint64_t end, uint64_t hash, int64_t weight)
{
    uint32_t e = nets->count;
    uint64_t start = nets->offset[e];
    nets->offset[e + 1] = end;
    bool keep = end - start >= 2;
    if (keep) {
        uint32_t at = (uint32_t)cleave__mix64(hash) & nets->slot_mask;
        for (; nets->slot[at]; at = (at + 1) & nets->slot_mask) {
            uint32_t other = nets->slot[at] - 1;
            if (nets->hash[other] == hash && same_pins(nets, other, e)) {
                nets->weight[other] += weight;
                keep = false;
                break;
            }
        }
        if (keep)
            nets->slot[at] = e + 1;
    }
    if (keep) {
        nets->hash[e] = hash;
        nets->weight[e] = weight;
        nets->count++;
    } else {
        for (uint64_t i = start; i < end; i++)
            nets->mark[nets->pin[i]] = 0;
    }
}

bool cleave__level_transpose(struct cleave__level *level, struct cleave_arena *arena)
{
    uint64_t pins = level->net_offset[level->nets];
    uint64_t *offset = cleave__arena_zalloc(arena, ((size_t)level->vertices + 2) * sizeof *offset);
    uint32_t *incident = cleave__arena_array(arena, pins, sizeof *incident);
    if (!offset || !incident)
        return false;
    /* Counts go two ahead, starts one ahead, so that filling leaves the offsets right. */
    for (uint64_t i = 0; i < pins; i++)
        offset[level->pin[i] + 2]++;
    for (uint32_t v = 0; v < level->vertices; v++)
        offset[v + 2] += offset[v + 1];
    for (uint32_t e = 0; e < level->nets; e++) {
        for (uint64_t i = level->net_offset[e]; i < level->net_offset[e + 1]; i++)
            incident[offset[level->pin[i] + 1]++] = e;
    }
    level->vertex_offset = offset;
    level->incident = incident;
    return true;
}

/* Gives `level` the nets. */
static bool adopt_nets(struct cleave__level *level, struct cleave_arena *arena, struct nets *nets)
{
    uint64_t pins = nets->offset[nets->count];
    nets_made(nets);
    uint64_t *offset = cleave__arena_array(arena, (size_t)nets->count + 1, sizeof *offset);
    uint32_t *pin = cleave__arena_array(arena, pins, sizeof *pin);
    int64_t *weight = cleave__arena_array(arena, nets->count, sizeof *weight);
    if (!offset || !pin || !weight)
        return false;
    memcpy(offset, nets->offset, ((size_t)nets->count + 1) * sizeof *offset);
    memcpy(pin, nets->pin, (size_t)pins * sizeof *pin);
    memcpy(weight, nets->weight, nets->count * sizeof *weight);
    level->nets = nets->count;
    level->net_offset = offset;
    level->pin = pin;
    level->net_weight = weight;
    return true;
}

/* map[v]: new number, or CLEAVE__NONE for a vertex left out. */
static bool adopt_apart(struct cleave__level *level, struct cleave_arena *arena,
                        const struct cleave__level *from, const uint32_t *map)
{
    if (!from->apart_offset)
        return true;
    uint32_t pairs = from->apart_offset[from->vertices];
    uint32_t *offset = cleave__arena_zalloc(arena, ((size_t)level->vertices + 2) * sizeof *offset);
    uint32_t *apart = cleave__arena_array(arena, pairs, sizeof *apart);
    if (!offset || !apart)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t v = 0; v < from->vertices; v++) {
            for (uint32_t i = from->apart_offset[v]; i < from->apart_offset[v + 1]; i++) {
                uint32_t a = map[v], b = map[from->apart[i]];
                if (a == CLEAVE__NONE || b == CLEAVE__NONE || a == b)
                    continue;
                if (pass == 0)
                    offset[a + 2]++;
                else
                    apart[offset[a + 1]++] = b;
            }
        }
        for (uint32_t v = 0; v < level->vertices && pass == 0; v++)
            offset[v + 2] += offset[v + 1];
    }
    level->apart_offset = offset;
    level->apart = apart;
    return true;
}

/* Vertex data of a merge or a cut-out; several old vertices may share a number. */
static bool adopt_vertices(struct cleave__level *level, struct cleave_arena *arena,
                           const struct cleave__level *from, const uint32_t *map)
{
    uint32_t n = level->vertices, W = from->weights;
    int64_t *weight = cleave__arena_zalloc(arena, (size_t)n * W * sizeof *weight);
    int32_t *fixed = cleave__arena_array(arena, n, sizeof *fixed);
    uint32_t *home = NULL;
    int64_t *home_cost = NULL;
    if (from->home) {
        home = cleave__arena_array(arena, n, sizeof *home);
        home_cost = cleave__arena_zalloc(arena, (size_t)n * sizeof *home_cost);
        if (!home || !home_cost)
            return false;
    }
    if (!weight || !fixed)
        return false;
    for (uint32_t v = 0; v < n; v++)
        fixed[v] = CLEAVE_FREE;
    for (uint32_t v = 0; v < from->vertices; v++) {
        uint32_t to = map[v];
        if (to == CLEAVE__NONE)
            continue;
        for (uint32_t c = 0; c < W; c++)
            weight[(size_t)to * W + c] += from->weight[(size_t)v * W + c];
        if (from->fixed[v] != CLEAVE_FREE)
            fixed[to] = from->fixed[v];
        if (home) {
            home[to] = from->home[v];
            home_cost[to] += from->home_cost[v];
        }
    }
    level->weights = W;
    level->weight = weight;
    level->fixed = fixed;
    level->home = home;
    level->home_cost = home_cost;
    return adopt_apart(level, arena, from, map);
}

struct cleave__level *cleave__level_contract(struct cleave_arena *arena,
                                             struct cleave_arena *transpose,
                                             const struct cleave__level *fine,
                                             const uint32_t *cluster, uint32_t clusters)
{
    struct cleave__level *level = cleave__arena_zalloc(arena, sizeof *level);
    struct nets nets;
    bool ok = nets_init(&nets, clusters, fine->nets, fine->net_offset[fine->nets]);
    if (ok && level) {
        for (uint32_t e = 0; e < fine->nets; e++) {
            uint64_t end = nets.offset[nets.count], hash = 0;
            for (uint64_t i = fine->net_offset[e]; i < fine->net_offset[e + 1]; i++)
                offer_pin(&nets, cluster[fine->pin[i]], &end, &hash);
            close_net(&nets, end, hash, fine->net_weight[e]);
        }
        level->vertices = clusters;
        ok = adopt_nets(level, arena, &nets) && adopt_vertices(level, arena, fine, cluster);
    }
    nets_done(&nets);
    return ok && level && cleave__level_transpose(level, transpose) ? level : NULL;
}

const struct cleave__level *cleave__level_extract(struct cleave_arena *arena,
                                                  const struct cleave__level *whole,
                                                  const uint32_t *side, uint32_t which, bool split,
                                                  uint32_t **vertex)
{
    uint32_t n = 0, most = 0;
    uint64_t pins = 0;
    for (uint32_t v = 0; v < whole->vertices; v++) {
        if (side[v] == which) {
            n++;
            pins += whole->vertex_offset[v + 1] - whole->vertex_offset[v];
        }
    }
    struct cleave__level *level = cleave__arena_zalloc(arena, sizeof *level);
    uint32_t *map = malloc(((size_t)whole->vertices + 1) * sizeof *map);
    uint32_t *back = cleave__arena_array(arena, n, sizeof *back);
    bool ok = level && map && back;
    if (ok) {
        n = 0;
        for (uint32_t v = 0; v < whole->vertices; v++) {
            map[v] = side[v] == which ? n : CLEAVE__NONE;
            if (side[v] == which)
                back[n++] = v;
        }
        most = whole->nets < pins / 2 ? whole->nets : (uint32_t)(pins / 2);
        /* An open net may hold one pin more than is ever kept. */
        struct nets nets;
        ok = nets_init(&nets, n, most + 1, pins + 1);
        for (uint32_t e = 0; e < whole->nets && ok; e++) {
            uint64_t end = nets.offset[nets.count], hash = 0;
            bool leaves = false;
            for (uint64_t i = whole->net_offset[e]; i < whole->net_offset[e + 1]; i++) {
                uint32_t v = map[whole->pin[i]];
                leaves |= v == CLEAVE__NONE;
                if (v != CLEAVE__NONE)
                    offer_pin(&nets, v, &end, &hash);
            }
            if (leaves && !split) {
                for (uint64_t i = nets.offset[nets.count]; i < end; i++)
                    nets.mark[nets.pin[i]] = 0;
                continue;
            }
            close_net(&nets, end, hash, whole->net_weight[e]);
        }
        level->vertices = n;
        ok = ok && adopt_nets(level, arena, &nets) && adopt_vertices(level, arena, whole, map);
        nets_done(&nets);
        ok = ok && cleave__level_transpose(level, arena);
    }
    free(map);
    if (ok)
        *vertex = back;
    return ok ? level : NULL;
}

bool cleave__level_check(const struct cleave__level *level, const char **why)
{
    *why = "out of memory";
    uint64_t *next = calloc((size_t)level->vertices + 1, sizeof *next);
    if (!next)
        return false;
    *why = NULL;
    if (level->net_offset[0] || level->vertex_offset[0] ||
        level->net_offset[level->nets] != level->vertex_offset[level->vertices])
        *why = "offsets";
    for (uint32_t e = 0; e < level->nets && !*why; e++) {
        if (level->net_offset[e + 1] < level->net_offset[e] + 2)
            *why = "a net with fewer than two pins";
        for (uint64_t i = level->net_offset[e]; i < level->net_offset[e + 1] && !*why; i++) {
            uint32_t v = level->pin[i];
            uint64_t at = v < level->vertices ? level->vertex_offset[v] + next[v]++ : 0;
            if (v >= level->vertices)
                *why = "pin out of range";
            else if (at >= level->vertex_offset[v + 1] || level->incident[at] != e)
                *why = "not the transpose, or a repeated pin";
        }
    }
    for (size_t i = 0; i < (size_t)level->vertices * level->weights && !*why; i++) {
        if (level->weight[i] < 0)
            *why = "negative weight";
    }
    free(next);
    return !*why;
}
