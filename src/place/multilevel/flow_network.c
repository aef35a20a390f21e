/* Maximum flow through the region's network; see the header. Phases of shortest augmenting paths
 * (Dinic 1970) on the hypergraph as it is (Pistorius and Minoux 2003): a phase looks at every pin a
 * few times, whatever the size of nets.
 *
 * A pin's flow is one number: a vertex never both sends to a net and receives from it, since what
 * would go round is taken out of the net's flow instead. */
#include <string.h>

#include "place/multilevel/flow_part.h"

/* The network as one side sees it. */
struct view {
    struct cleave__flow *f;
    uint32_t side, vertices;
    uint32_t *reach;
    const uint32_t *opposite;
};

static struct view view_of(struct cleave__flow *flow, uint32_t side)
{
    return (struct view){flow, side, flow->vertices, flow->side[side].reach,
                         flow->side[1 - side].reach};
}

static int64_t sent(const struct view *v, uint32_t pin)
{
    return v->side ? -v->f->pin_flow[pin] : v->f->pin_flow[pin];
}

static void send(const struct view *v, uint32_t pin, int64_t amount)
{
    v->f->pin_flow[pin] += v->side ? -amount : amount;
}

static uint32_t first(const struct view *v, uint32_t net)
{
    return v->vertices + 2 * net + v->side;
}

static uint32_t second(const struct view *v, uint32_t net)
{
    return v->vertices + 2 * net + 1 - v->side;
}

static uint32_t net_of(const struct view *v, uint32_t node)
{
    return (node - v->vertices) / 2;
}

static bool is_first(const struct view *v, uint32_t node)
{
    return ((node - v->vertices) & 1) == v->side;
}

static int64_t left(const struct view *v, uint32_t net)
{
    return v->f->capacity[net] - v->f->net_flow[net];
}

static void enter(const struct view *v, uint32_t node, uint32_t distance)
{
    struct cleave__flow_side *side = &v->f->side[v->side];
    v->reach[node] = distance;
    v->f->cursor[node] =
        node < v->vertices ? v->f->vertex_offset[node] : v->f->net_offset[net_of(v, node)];
    side->queue[side->queued++] = node;
}

static void expand_vertex(const struct view *v, uint32_t node, uint32_t distance)
{
    const struct cleave__flow *f = v->f;
    uint32_t base = f->side[v->side].base;
    for (uint32_t j = f->vertex_offset[node]; j < f->vertex_offset[node + 1]; j++) {
        uint32_t p = f->vertex_pin[j], e = f->pin_net[p];
        if (v->reach[first(v, e)] < base)
            enter(v, first(v, e), distance);
        if (sent(v, p) < 0 && v->reach[second(v, e)] < base)
            enter(v, second(v, e), distance);
    }
}

/* True when the other side was met. */
static bool expand_net(const struct view *v, uint32_t node, uint32_t distance)
{
    const struct cleave__flow *f = v->f;
    uint32_t base = f->side[v->side].base, e = net_of(v, node);
    bool all = !is_first(v, node), met = false;
    uint32_t across = all ? first(v, e) : second(v, e);
    if (v->reach[across] < base && (all ? f->net_flow[e] : left(v, e)) > 0)
        enter(v, across, distance);
    for (uint32_t p = f->net_offset[e]; p < f->net_offset[e + 1]; p++) {
        uint32_t u = f->pin_vertex[p];
        if (v->reach[u] >= base || (!all && sent(v, p) <= 0))
            continue;
        if (v->opposite[u] == CLEAVE__SETTLED)
            met = true;
        else
            enter(v, u, distance);
    }
    return met;
}

bool cleave__flow_search(struct cleave__flow *flow, uint32_t which)
{
    struct cleave__flow_side *side = &flow->side[which];
    struct view view = view_of(flow, which);
    uint32_t nodes = flow->vertices + 2 * flow->nets, W = flow->weights;
    if (side->top > CLEAVE__SETTLED / 2) {
        for (uint32_t i = 0; i < nodes; i++)
            side->reach[i] = side->reach[i] == CLEAVE__SETTLED ? CLEAVE__SETTLED : 0;
        side->top = 0;
    }
    side->base = side->top + 1;
    side->queued = 0;
    side->members = side->settled;
    memcpy(side->weight, side->settled_weight, sizeof side->weight);
    if (side->start == CLEAVE__NONE)
        return false;
    uint32_t last = CLEAVE__SETTLED; /* the distance at which the other side was met */
    flow->cursor[side->start] = flow->vertex_offset[side->start];
    flow->work += flow->vertex_offset[side->start + 1] - flow->vertex_offset[side->start];
    expand_vertex(&view, side->start, side->base + 1);
    for (uint32_t i = 0; i < side->queued; i++) {
        uint32_t node = side->queue[i], distance = view.reach[node] + 1;
        side->top = distance;
        if (distance > last)
            break;
        if (node < flow->vertices) {
            flow->work += flow->vertex_offset[node + 1] - flow->vertex_offset[node];
            expand_vertex(&view, node, distance);
            side->member[side->members++] = node;
        } else {
            uint32_t e = net_of(&view, node);
            flow->work += flow->net_offset[e + 1] - flow->net_offset[e];
            if (expand_net(&view, node, distance))
                last = distance;
        }
    }
    if (side->top < side->base + 1)
        side->top = side->base + 1;
    if (last != CLEAVE__SETTLED)
        return true;
    for (uint32_t i = side->settled; i < side->members; i++) {
        for (uint32_t c = 0; c < W; c++)
            side->weight[c] += flow->weight[(size_t)side->member[i] * W + c];
    }
    return false;
}

/* The next arc from `node` that leads a step on; false when there is none any more. */
static bool next_arc(const struct view *v, uint32_t node, uint32_t distance,
                     struct cleave__flow_step *step)
{
    struct cleave__flow *f = v->f;
    uint32_t *at = &f->cursor[node];
    if (node < v->vertices) {
        for (; *at < f->vertex_offset[node + 1]; ++*at) {
            uint32_t p = f->vertex_pin[*at], e = f->pin_net[p];
            step->pin = p;
            step->node = second(v, e);
            if (v->reach[step->node] == distance && sent(v, p) < 0)
                return true;
            step->node = first(v, e);
            if (v->reach[step->node] == distance)
                return true;
        }
        return false;
    }
    uint32_t e = net_of(v, node);
    bool all = !is_first(v, node);
    *step = (struct cleave__flow_step){all ? first(v, e) : second(v, e), CLEAVE__NONE};
    if (v->reach[step->node] == distance && (all ? f->net_flow[e] : left(v, e)) > 0)
        return true;
    for (; *at < f->net_offset[e + 1]; ++*at) {
        uint32_t u = f->pin_vertex[*at];
        *step = (struct cleave__flow_step){u, *at};
        if ((v->reach[u] == distance || v->opposite[u] == CLEAVE__SETTLED) &&
            (all || sent(v, *at) > 0))
            return true;
    }
    return false;
}

/* What more can go from `from` along a step. */
static int64_t residual(const struct view *v, uint32_t from, const struct cleave__flow_step *step)
{
    if (from < v->vertices)
        return is_first(v, step->node) ? INT64_MAX : -sent(v, step->pin);
    uint32_t e = net_of(v, from);
    bool in = is_first(v, from);
    if (step->node < v->vertices)
        return in ? sent(v, step->pin) : INT64_MAX;
    return in ? left(v, e) : v->f->net_flow[e];
}

static void push(const struct view *v, uint32_t from, const struct cleave__flow_step *step,
                 int64_t amount)
{
    uint32_t e = net_of(v, from < v->vertices ? step->node : from);
    if (from >= v->vertices && step->node >= v->vertices) {
        v->f->net_flow[e] += is_first(v, from) ? amount : -amount;
        return;
    }
    /* Flow that now enters and leaves the net by one pin no longer passes through it. */
    bool leaves = from < v->vertices;
    int64_t round = leaves ? -sent(v, step->pin) : sent(v, step->pin);
    bool unlimited = leaves ? is_first(v, step->node) : !is_first(v, from);
    if (unlimited && round > 0)
        v->f->net_flow[e] -= round < amount ? round : amount;
    send(v, step->pin, leaves ? amount : -amount);
}

/* Sends all it can along the path; how long the path stays usable. */
static uint32_t augment_path(const struct view *v, uint32_t length)
{
    const struct cleave__flow_step *path = v->f->path;
    int64_t amount = INT64_MAX;
    for (uint32_t i = 1; i <= length; i++) {
        int64_t here = residual(v, path[i - 1].node, &path[i]);
        amount = here < amount ? here : amount;
    }
    uint32_t keep = length;
    for (uint32_t i = length; i > 0; i--) {
        bool full = residual(v, path[i - 1].node, &path[i]) == amount;
        push(v, path[i - 1].node, &path[i], amount);
        if (full)
            keep = i - 1;
    }
    v->f->flow += amount;
    return keep;
}

static void block_paths(const struct view *v)
{
    struct cleave__flow *f = v->f;
    const struct cleave__flow_side *side = &f->side[v->side];
    uint32_t depth = 0;
    f->path[0] = (struct cleave__flow_step){side->start, CLEAVE__NONE};
    for (;;) {
        uint32_t node = f->path[depth].node;
        uint32_t distance = depth == 0 ? side->base : v->reach[node];
        f->work++;
        if (next_arc(v, node, distance + 1, &f->path[depth + 1])) {
            depth++;
            if (f->path[depth].node < v->vertices &&
                v->opposite[f->path[depth].node] == CLEAVE__SETTLED)
                depth = augment_path(v, depth);
        } else if (depth == 0) {
            return;
        } else {
            v->reach[node] = 0; /* leads nowhere */
            depth--;
        }
    }
}

bool cleave__flow_augment(struct cleave__flow *flow, uint32_t side)
{
    struct view view = view_of(flow, side);
    while (cleave__flow_search(flow, side)) {
        block_paths(&view);
        if (flow->work > flow->work_limit || cleave__stopped(flow->search))
            return false;
    }
    return true;
}
