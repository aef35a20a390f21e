/* The region of two blocks that flow refinement may divide anew, and its network; see the header.
 *
 * The region grows in breadth from the nets that touch both blocks. Either side is bounded so that
 * the other block could take all of it and weigh its quota and `alpha` times its slack (Sanders and
 * Schulz 2011), in pins, and in distance: a least cut seldom runs far from a refined one. */
#include <string.h>

#include "place/multilevel/flow_part.h"

enum { SCANNED_MAX = 1000 }; /* pins of a net that leads on to further vertices */

struct growth {
    struct cleave__flow *flow;
    const struct cleave__flow_pair *pair;
    int64_t room[2][CLEAVE_WEIGHTS_MAX]; /* weight that the sides may still get */
    uint64_t pins[2];
    int64_t budget; /* what may still be spent, if all of the region moved */
};

bool cleave__flow_init(struct cleave__flow *flow, const struct cleave__search *search,
                       const struct cleave__level *level)
{
    size_t n = level->vertices, nets = level->nets;
    *flow = (struct cleave__flow){.weights = level->weights};
    struct cleave_arena *arena = &flow->arena;
    flow->vertex = cleave__arena_array(arena, n + 2, sizeof *flow->vertex);
    flow->distance = cleave__arena_array(arena, n + 2, sizeof *flow->distance);
    flow->where = cleave__arena_array(arena, n + 2, sizeof *flow->where);
    flow->vertex_stamp = cleave__arena_zalloc(arena, n * sizeof *flow->vertex_stamp);
    flow->mark = cleave__arena_zalloc(arena, nets * sizeof *flow->mark);
    flow->net_list = cleave__arena_array(arena, nets, sizeof *flow->net_list);
    flow->base = cleave__arena_mark(arena);
    if (!flow->vertex || !flow->distance || !flow->where || !flow->vertex_stamp || !flow->mark ||
        !flow->net_list)
        return false;
    flow->search = search;
    return true;
}

/* Pins of a net in each of the pair's blocks, and what it costs when both have some. */
static int64_t net_counts(const struct cleave__flow_pair *pair, uint32_t e, uint32_t count[2])
{
    const struct cleave__state *s = pair->state;
    const struct cleave__slot *slot = s->slot + s->level->net_offset[e];
    uint64_t size = s->level->net_offset[e + 1] - s->level->net_offset[e];
    count[0] = count[1] = 0;
    for (uint32_t i = 0; i < s->used[e]; i++) {
        for (int side = 0; side < 2; side++)
            count[side] = slot[i].block == pair->block[side] ? slot[i].count : count[side];
    }
    int64_t inside = count[0] + (uint64_t)count[1] == size ? s->level->net_weight[e] : 0;
    return s->target->objective == CLEAVE_CUT   ? inside
           : s->target->objective == CLEAVE_KM1 ? s->level->net_weight[e]
                                                : s->level->net_weight[e] + inside;
}

static void set_bounds(struct growth *g)
{
    const struct cleave__state *s = g->pair->state;
    uint32_t W = s->level->weights;
    for (int side = 0; side < 2; side++) {
        for (uint32_t c = 0; c < W; c++) {
            size_t other = (size_t)g->pair->block[1 - side] * W + c;
            int64_t quota = s->target->quota[other], slack = s->target->limit[other] - quota;
            int64_t most = INT64_MAX / 2 / g->pair->options->alpha;
            /* Cuts that keep even tight limits are met on the way through a wider region. */
            slack = slack < quota / 64 ? quota / 64 : slack > most ? most : slack;
            slack *= g->pair->options->alpha;
            g->room[side][c] = quota + (slack < quota / 2 ? slack : quota / 2) - s->weight[other];
        }
        g->pins[side] = g->pair->options->pins;
    }
    g->budget = s->target->budget == INT64_MAX ? INT64_MAX : s->target->budget - s->moved;
}

static void try_add(struct growth *g, uint32_t v, uint32_t distance)
{
    struct cleave__flow *flow = g->flow;
    const struct cleave__state *s = g->pair->state;
    const struct cleave__level *l = s->level;
    uint32_t side = s->block[v] == g->pair->block[1];
    uint64_t degree = l->vertex_offset[v + 1] - l->vertex_offset[v];
    if (flow->vertex_stamp[v] == flow->stamp || (!side && s->block[v] != g->pair->block[0]) ||
        l->fixed[v] != CLEAVE_FREE || degree > g->pins[side] ||
        (l->apart_offset && l->apart_offset[v] != l->apart_offset[v + 1]))
        return;
    for (uint32_t c = 0; c < l->weights; c++) {
        int64_t w = l->weight[(size_t)v * l->weights + c];
        if (w > 0 && w > g->room[side][c])
            return;
    }
    if (l->home) {
        int64_t spend = cleave__state_moved_delta(s, v, g->pair->block[1 - side]);
        if (spend > 0 && spend > g->budget)
            return;
        g->budget -= spend > 0 ? spend : 0;
    }
    for (uint32_t c = 0; c < l->weights; c++)
        g->room[side][c] -= l->weight[(size_t)v * l->weights + c];
    g->pins[side] -= degree;
    flow->vertex_stamp[v] = flow->stamp;
    flow->distance[flow->vertices] = distance < UINT8_MAX ? (uint8_t)distance : UINT8_MAX;
    flow->where[flow->vertices] = (uint8_t)side;
    flow->vertex[flow->vertices++] = v;
    flow->hash += cleave__mix64(2 * (uint64_t)v + side);
}

static void grow(struct growth *g)
{
    struct cleave__flow *flow = g->flow;
    const struct cleave__level *l = g->pair->state->level;
    uint32_t count[2];
    for (uint32_t i = 0; i < g->pair->seeds; i++) {
        uint32_t e = g->pair->seed[i];
        if (!net_counts(g->pair, e, count) || !count[0] || !count[1])
            continue;
        flow->mark[e].scanned[0] = flow->mark[e].scanned[1] = flow->stamp;
        flow->work += l->net_offset[e + 1] - l->net_offset[e];
        for (uint64_t j = l->net_offset[e]; j < l->net_offset[e + 1]; j++)
            try_add(g, l->pin[j], 0);
    }
    for (uint32_t i = 2; i < flow->vertices; i++) {
        uint32_t v = flow->vertex[i], side = flow->where[i];
        if (flow->distance[i] >= g->pair->options->distance)
            break;
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            uint32_t e = l->incident[j];
            if (flow->mark[e].scanned[side] == flow->stamp)
                continue;
            flow->mark[e].scanned[side] = flow->stamp;
            uint64_t size = l->net_offset[e + 1] - l->net_offset[e];
            if (size > SCANNED_MAX || !net_counts(g->pair, e, count) || count[side] < 2)
                continue;
            flow->work += size;
            for (uint64_t p = l->net_offset[e]; p < l->net_offset[e + 1]; p++) {
                if (g->pair->state->block[l->pin[p]] == g->pair->block[side])
                    try_add(g, l->pin[p], flow->distance[i] + 1u);
            }
        }
    }
}

/* Room for a network of this size; what was there is lost. */
static bool reserve(struct cleave__flow *flow, uint64_t vertices, uint64_t nets, uint64_t pins)
{
    struct cleave_arena *arena = &flow->arena;
    if (vertices <= flow->vertices_room && nets <= flow->nets_room && pins <= flow->pins_room)
        return true;
    cleave__arena_rewind(arena, flow->base);
    vertices = vertices + vertices / 2 > flow->vertices_room ? vertices + vertices / 2
                                                             : flow->vertices_room;
    nets = nets + nets / 2 > flow->nets_room ? nets + nets / 2 : flow->nets_room;
    pins = pins + pins / 2 > flow->pins_room ? pins + pins / 2 : flow->pins_room;
    flow->vertices_room = flow->nets_room = flow->pins_room = 0;
    uint64_t nodes = vertices + 2 * nets;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        struct cleave__flow_side *side = &flow->side[i];
        side->member = cleave__arena_array(arena, vertices, sizeof *side->member);
        side->next = cleave__arena_array(arena, vertices, sizeof *side->next);
        side->join = cleave__arena_array(arena, 2 * nodes, sizeof *side->join);
        flow->pin_flow[i] = cleave__arena_array(arena, pins, sizeof *flow->pin_flow[i]);
        ok &= side->member && side->next && side->join && flow->pin_flow[i];
    }
    flow->vertex_offset = cleave__arena_array(arena, vertices + 1, sizeof *flow->vertex_offset);
    flow->pin_of = cleave__arena_array(arena, pins, sizeof *flow->pin_of);
    flow->net_offset = cleave__arena_array(arena, nets + 1, sizeof *flow->net_offset);
    flow->pin_vertex = cleave__arena_array(arena, pins, sizeof *flow->pin_vertex);
    flow->capacity = cleave__arena_array(arena, nets, sizeof *flow->capacity);
    flow->net_flow = cleave__arena_array(arena, nets, sizeof *flow->net_flow);
    flow->weight = cleave__arena_array(arena, vertices * flow->weights, sizeof *flow->weight);
    flow->node = cleave__arena_array(arena, nodes, sizeof *flow->node);
    flow->active = cleave__arena_array(arena, nodes, sizeof *flow->active);
    flow->orphan = cleave__arena_array(arena, nodes, sizeof *flow->orphan);
    if (!ok || !flow->vertex_offset || !flow->pin_of || !flow->net_offset || !flow->pin_vertex ||
        !flow->capacity || !flow->net_flow || !flow->weight || !flow->node || !flow->active ||
        !flow->orphan)
        return false;
    flow->vertices_room = vertices;
    flow->nets_room = nets;
    flow->pins_room = pins;
    return true;
}

/* Counts the region's pins in each net, and lists the nets; the number of pins. */
static uint64_t count_pins(struct cleave__flow *flow, const struct cleave__level *l,
                           uint32_t *listed)
{
    uint64_t pins = 0;
    *listed = 0;
    for (uint32_t i = 2; i < flow->vertices; i++) {
        uint32_t v = flow->vertex[i];
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            uint32_t e = l->incident[j];
            struct cleave__flow_mark *mark = &flow->mark[e];
            if (mark->listed != flow->stamp) {
                mark->listed = flow->stamp;
                mark->pins[0] = mark->pins[1] = 0;
                flow->net_list[(*listed)++] = e;
            }
            mark->pins[flow->where[i]]++;
        }
        pins += l->vertex_offset[v + 1] - l->vertex_offset[v];
    }
    return pins;
}

/* Numbers the nets that the cut of the region can touch. Their terminals come first among their
 * pins; the mark's pins[0] becomes the number of the next pin to write. */
static void number_nets(struct cleave__flow *flow, const struct cleave__flow_pair *pair,
                        uint32_t listed, uint32_t terminal_pins[2])
{
    flow->nets = flow->pins = 0;
    flow->cut = 0;
    terminal_pins[0] = terminal_pins[1] = 0;
    for (uint32_t i = 0; i < listed; i++) {
        uint32_t e = flow->net_list[i], count[2];
        int64_t capacity = net_counts(pair, e, count);
        struct cleave__flow_mark *mark = &flow->mark[e];
        bool source = count[0] > mark->pins[0], sink = count[1] > mark->pins[1];
        uint32_t inside = mark->pins[0] + mark->pins[1];
        mark->local = CLEAVE__NONE;
        if (capacity == 0 || (source && sink) || inside + source + sink < 2)
            continue;
        uint32_t net = flow->nets++;
        mark->local = net;
        flow->capacity[net] = capacity;
        flow->net_flow[net] = 0;
        flow->net_offset[net] = flow->pins;
        flow->cut += count[0] && count[1] ? capacity : 0;
        flow->hash += cleave__mix64(((uint64_t)e << 2 | (uint64_t)source << 1 | sink) ^
                                    (uint64_t)capacity << 34);
        mark->pins[0] = flow->pins + (source || sink);
        if (source || sink) {
            flow->pin_vertex[flow->pins] = sink;
            terminal_pins[sink]++;
        }
        flow->pins += inside + source + sink;
    }
    flow->net_offset[flow->nets] = flow->pins;
}

static void build(struct cleave__flow *flow, const struct cleave__flow_pair *pair,
                  const uint32_t terminal_pins[2])
{
    const struct cleave__level *l = pair->state->level;
    uint32_t at[2] = {0, terminal_pins[0]}, end = terminal_pins[0] + terminal_pins[1],
             W = l->weights;
    flow->vertex_offset[0] = 0;
    flow->vertex_offset[1] = at[1];
    flow->vertex_offset[2] = end;
    memset(flow->pin_flow[0], 0, flow->pins * sizeof *flow->pin_flow[0]);
    memset(flow->pin_flow[1], 0, flow->pins * sizeof *flow->pin_flow[1]);
    for (uint32_t i = 2; i < flow->vertices; i++) {
        uint32_t v = flow->vertex[i];
        for (uint64_t j = l->vertex_offset[v]; j < l->vertex_offset[v + 1]; j++) {
            struct cleave__flow_mark *mark = &flow->mark[l->incident[j]];
            if (mark->local == CLEAVE__NONE)
                continue;
            uint32_t p = mark->pins[0]++;
            flow->pin_vertex[p] = i;
            flow->pin_of[end++] = (struct cleave__flow_pin){p, mark->local};
        }
        flow->vertex_offset[i + 1] = end;
        memcpy(flow->weight + (size_t)i * W, l->weight + (size_t)v * W, W * sizeof *flow->weight);
    }
    for (uint32_t net = 0; net < flow->nets; net++) {
        uint32_t p = flow->net_offset[net];
        if (flow->pin_vertex[p] < 2)
            flow->pin_of[at[flow->pin_vertex[p]]++] = (struct cleave__flow_pin){p, net};
    }
    memset(flow->weight, 0, 2 * W * sizeof *flow->weight);
}

bool cleave__flow_region(struct cleave__flow *flow, const struct cleave__flow_pair *pair)
{
    struct growth g = {.flow = flow, .pair = pair};
    uint32_t listed, terminal_pins[2];
    flow->stamp++;
    flow->vertices = 2;
    flow->hash = cleave__mix64((uint64_t)pair->block[0] << 32 | pair->block[1]);
    set_bounds(&g);
    grow(&g);
    uint64_t pins = count_pins(flow, pair->state->level, &listed);
    if (!reserve(flow, flow->vertices, listed, pins + listed))
        return false;
    number_nets(flow, pair, listed, terminal_pins);
    build(flow, pair, terminal_pins);
    flow->work += 2 * pins;
    return true;
}
