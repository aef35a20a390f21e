/* Maximum flow through the region's network; see the header.
 *
 * A tree of what the source reaches and one of what reaches the sink grow towards each other; where
 * they meet, flow is sent, and what that cuts off looks for another parent in its tree before it is
 * let go (Boykov and Kolmogorov 2004). Paths are short here and augmentations many, so it pays that
 * nothing is searched twice; and when no path is left, the trees are just the two sides that the
 * cutter asks about, which piercing then changes but little. */
#include "place/multilevel/flow_part.h"

enum { NOT_FOUND = UINT32_MAX, FREE = CLEAVE__FREE };

/* A node's neighbours, one after another: a vertex's are both nodes of each of its nets, a net's
 * node has its other node, then the net's pins. */
struct walk {
    uint32_t node, at, end;
};

static struct walk walk_from(struct cleave__flow *f, uint32_t node)
{
    struct walk w = {.node = node};
    if (node < f->vertices) {
        w.at = 2 * f->vertex_offset[node];
        w.end = 2 * f->vertex_offset[node + 1];
    } else {
        uint32_t e = (node - f->vertices) / 2;
        w.end = f->net_offset[e + 1] - f->net_offset[e] + 1;
    }
    f->work += w.end - w.at;
    return w;
}

static inline bool walk_next(const struct cleave__flow *f, struct walk *w,
                             struct cleave__flow_step *step)
{
    if (w->at == w->end)
        return false;
    uint32_t i = w->at++;
    if (w->node < f->vertices) {
        struct cleave__flow_pin pin = f->pin_of[i / 2];
        *step = (struct cleave__flow_step){f->vertices + 2 * pin.net + i % 2, pin.pin};
    } else if (i == 0) {
        uint32_t twin = (w->node - f->vertices) ^ 1u;
        *step = (struct cleave__flow_step){f->vertices + twin, CLEAVE__NONE};
    } else {
        uint32_t p = f->net_offset[(w->node - f->vertices) / 2] + i - 1;
        *step = (struct cleave__flow_step){f->pin_vertex[p], p};
    }
    return true;
}

/* How much more can go from a node over a step, as seen from `side`. */
static inline int64_t residual(const struct cleave__flow *f, uint32_t side, uint32_t from,
                               struct cleave__flow_step step)
{
    if (from < f->vertices) {
        uint32_t which = (step.node - f->vertices) % 2;
        return which == side ? INT64_MAX : f->pin_flow[which][step.pin];
    }
    uint32_t which = (from - f->vertices) % 2, e = (from - f->vertices) / 2;
    if (step.node < f->vertices)
        return which == side ? f->pin_flow[which][step.pin] : INT64_MAX;
    return which == side ? f->capacity[e] - f->net_flow[e] : f->net_flow[e];
}

/* The same towards the node, over the step taken backwards. */
static inline int64_t residual_back(const struct cleave__flow *f, uint32_t side, uint32_t from,
                                    struct cleave__flow_step step)
{
    return residual(f, 1 - side, from, step);
}

static void push(struct cleave__flow *f, uint32_t side, uint32_t from,
                 struct cleave__flow_step step, int64_t amount)
{
    if (from < f->vertices) {
        uint32_t which = (step.node - f->vertices) % 2;
        f->pin_flow[which][step.pin] += which == side ? amount : -amount;
        return;
    }
    uint32_t which = (from - f->vertices) % 2;
    if (step.node < f->vertices)
        f->pin_flow[which][step.pin] += which == side ? -amount : amount;
    else
        f->net_flow[(from - f->vertices) / 2] += which == side ? amount : -amount;
}

static void activate(struct cleave__flow *f, uint32_t node)
{
    if (f->node[node].active)
        return;
    f->node[node].active = true;
    f->active[f->active_tail++] = node;
    if (f->active_tail == f->vertices + 2 * f->nets)
        f->active_tail = 0;
    f->actives++;
}

static void count_in(struct cleave__flow *f, uint32_t side, uint32_t v)
{
    struct cleave__flow_side *s = &f->side[side];
    if (f->recording)
        s->member[s->members] = v;
    s->members++;
    for (uint32_t c = 0; c < f->weights; c++)
        s->weight[c] += f->weight[(size_t)v * f->weights + c];
}

static void count_out(struct cleave__flow *f, uint32_t side, uint32_t v)
{
    struct cleave__flow_side *s = &f->side[side];
    s->members--;
    for (uint32_t c = 0; c < f->weights; c++)
        s->weight[c] -= f->weight[(size_t)v * f->weights + c];
}

static void cut_off(struct cleave__flow *f, uint32_t node)
{
    f->node[node].parent = CLEAVE__NONE;
    f->orphan[f->orphans++] = node;
}

/* How far a node is from a settled one, over parents; NOT_FOUND if there is an orphan between. */
static uint32_t depth_of(struct cleave__flow *f, uint32_t node)
{
    uint32_t depth = 0, x = node;
    while (!f->node[x].settled && f->node[x].stamp != f->time) {
        if (f->node[x].parent == CLEAVE__NONE)
            return NOT_FOUND;
        x = f->node[x].parent;
        depth++;
    }
    depth += f->node[x].settled ? 0 : f->node[x].depth;
    f->work += depth;
    uint32_t here = depth;
    for (x = node; !f->node[x].settled && f->node[x].stamp != f->time; x = f->node[x].parent) {
        f->node[x].stamp = f->time;
        f->node[x].depth = here--;
    }
    return depth;
}

/* The orphan gets the parent nearest to the root, or leaves the tree and makes its children
 * orphans. */
static void adopt(struct cleave__flow *f, uint32_t x)
{
    struct cleave__flow_node *node = f->node;
    uint32_t side = node[x].tree, least = NOT_FOUND, enough = node[x].depth;
    struct cleave__flow_step step, best = {0, 0};
    for (struct walk w = walk_from(f, x); walk_next(f, &w, &step);) {
        if (node[step.node].tree != side || residual_back(f, side, x, step) == 0)
            continue;
        uint32_t depth = depth_of(f, step.node);
        if (depth < least) {
            least = depth;
            best = step;
            if (depth < enough)
                break; /* no farther than it was */
        }
    }
    if (least != NOT_FOUND) {
        node[x].parent = best.node;
        node[x].pin = best.pin;
        node[x].stamp = f->time;
        node[x].depth = least + 1;
        return;
    }
    for (struct walk w = walk_from(f, x); walk_next(f, &w, &step);) {
        if (node[step.node].tree != side)
            continue;
        if (residual_back(f, side, x, step) > 0)
            activate(f, step.node);
        if (node[step.node].parent == x && !node[step.node].settled)
            cut_off(f, step.node);
    }
    node[x].tree = FREE;
    if (x < f->vertices)
        count_out(f, side, x);
}

static void adopt_all(struct cleave__flow *f)
{
    f->time++;
    for (uint32_t i = 0; i < f->orphans; i++)
        adopt(f, f->orphan[i]);
    f->orphans = 0;
}

/* The least residual from the root to the node, then sends that much. */
static int64_t least_to(const struct cleave__flow *f, uint32_t side, uint32_t x, int64_t least)
{
    while (!f->node[x].settled) {
        uint32_t parent = f->node[x].parent;
        int64_t here = residual(f, side, parent, (struct cleave__flow_step){x, f->node[x].pin});
        least = here < least ? here : least;
        x = parent;
    }
    return least;
}

static void push_to(struct cleave__flow *f, uint32_t side, uint32_t x, int64_t amount)
{
    while (!f->node[x].settled) {
        uint32_t parent = f->node[x].parent;
        struct cleave__flow_step step = {x, f->node[x].pin};
        push(f, side, parent, step, amount);
        f->work++;
        if (residual(f, side, parent, step) == 0)
            cut_off(f, x);
        x = parent;
    }
}

static void augment(struct cleave__flow *f, uint32_t side, uint32_t from,
                    struct cleave__flow_step bridge)
{
    int64_t amount = residual(f, side, from, bridge);
    amount = least_to(f, side, from, amount);
    amount = least_to(f, 1 - side, bridge.node, amount);
    push(f, side, from, bridge, amount);
    push_to(f, side, from, amount);
    push_to(f, 1 - side, bridge.node, amount);
    f->flow += amount;
    adopt_all(f);
}

/* Remembers that a node joined a tree; once there is no room, what has left again is forgotten. */
static void list(struct cleave__flow *f, uint32_t side, uint32_t x)
{
    struct cleave__flow_side *s = &f->side[side];
    if (s->joined == 2 * (f->vertices + 2 * f->nets)) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < s->joined; i++) {
            struct cleave__flow_node *node = &f->node[s->join[i]];
            if (node->tree == side && !node->settled && !node->listed) {
                node->listed = true;
                s->join[kept++] = s->join[i];
            }
        }
        for (uint32_t i = 0; i < kept; i++)
            f->node[s->join[i]].listed = false;
        s->joined = kept;
    }
    s->join[s->joined++] = x;
}

/* Grows the tree at a node, and sends flow wherever it meets the other tree. */
static void grow(struct cleave__flow *f, uint32_t x)
{
    struct cleave__flow_node *node = f->node;
    uint32_t side = node[x].tree;
    struct cleave__flow_step step;
    for (struct walk w = walk_from(f, x); walk_next(f, &w, &step);) {
        struct cleave__flow_node *y = &node[step.node];
        bool nearer = y->tree == side && !y->settled && y->stamp <= node[x].stamp &&
                      y->depth > node[x].depth + 1;
        if ((y->tree == side && !nearer) || residual(f, side, x, step) == 0)
            continue;
        if (y->tree == 1 - side) {
            augment(f, side, x, step);
            if (node[x].tree != side || f->flow > f->enough)
                return;
            w.at--; /* there may be another path */
            continue;
        }
        y->parent = x;
        y->pin = step.pin;
        y->stamp = node[x].stamp;
        y->depth = node[x].depth + 1;
        if (nearer)
            continue;
        y->tree = (uint8_t)side;
        list(f, side, step.node);
        if (step.node < f->vertices)
            count_in(f, side, step.node);
        activate(f, step.node);
    }
}

bool cleave__flow_run(struct cleave__flow *f)
{
    while (f->actives) {
        uint32_t x = f->active[f->active_head++];
        if (f->active_head == f->vertices + 2 * f->nets)
            f->active_head = 0;
        f->actives--;
        f->node[x].active = false;
        if (f->node[x].tree != FREE)
            grow(f, x);
        if (f->flow > f->enough || f->work > f->work_limit || cleave__stopped(f->search))
            return false;
    }
    return true;
}

void cleave__flow_join(struct cleave__flow *f, uint32_t side, uint32_t v)
{
    struct cleave__flow_node *node = f->node;
    struct cleave__flow_step step;
    if (node[v].tree == 1 - side) {
        for (struct walk w = walk_from(f, v); walk_next(f, &w, &step);) {
            if (node[step.node].tree == 1 - side && node[step.node].parent == v)
                cut_off(f, step.node);
        }
        count_out(f, 1 - side, v);
    }
    node[v].tree = (uint8_t)side;
    node[v].settled = true;
    node[v].stamp = node[v].depth = 0;
    count_in(f, side, v);
    activate(f, v);
    adopt_all(f);
}

uint32_t cleave__flow_settle(struct cleave__flow *f, uint32_t side)
{
    struct cleave__flow_side *s = &f->side[side];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->joined; i++) {
        uint32_t x = s->join[i];
        if (f->node[x].tree == side && !f->node[x].settled) {
            f->node[x].settled = true;
            s->join[count++] = x;
        }
    }
    f->work += s->joined;
    s->joined = 0;
    return count;
}

void cleave__flow_reset(struct cleave__flow *f)
{
    uint32_t nodes = f->vertices + 2 * f->nets;
    for (uint32_t i = 0; i < nodes; i++)
        f->node[i] = (struct cleave__flow_node){.tree = FREE};
    f->active_head = f->active_tail = f->actives = f->orphans = 0;
    f->time = 0;
    f->flow = 0;
    f->recording = false;
}
