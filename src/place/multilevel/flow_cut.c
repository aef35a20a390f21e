/* From least cuts to balanced ones (FlowCutter: Hamann and Strasser 2018; on hypergraphs
 * Gottesbueren, Hamann and Wagner 2019): of the part that the source reaches and the part that
 * reaches the sink, the emptier one is settled and then pierced, which is to say that one vertex
 * beyond its cut joins it. The flow is kept, and grows only as long as no cut so far is balanced. A
 * vertex out of the other side's reach is taken first, as it costs nothing; then one far inside its
 * own block. Once a cut is good enough, only vertices that cost nothing are added, which leads to
 * the most balanced of the least cuts. */
#include <string.h>

#include "place/multilevel/flow_part.h"

enum { ABSENT = UINT32_MAX - 1 };

/* A cut met on the way: the first `members` of one side against the rest. */
struct cut {
    int64_t cost;
    double fill; /* of the fullest constraint of both blocks, 1 being its limit */
    uint32_t side, members;
};

struct cutter {
    struct cleave__flow *flow;
    const struct cleave__flow_pair *pair;
    int64_t total[CLEAVE_WEIGHTS_MAX];
    int64_t overload, missing; /* of both blocks now */
    uint32_t free_base[2];     /* free vertices out of the region */
    struct cut best;           /* starts as the present one */
};

static const int64_t *limit_of(const struct cutter *c, uint32_t side)
{
    return c->pair->state->target->limit + (size_t)c->pair->block[side] * c->flow->weights;
}

static double fill_of(const struct cutter *c, uint32_t side, const int64_t *weight)
{
    const int64_t *limit = limit_of(c, side);
    double most = 0;
    for (uint32_t i = 0; i < c->flow->weights; i++) {
        double fill = (double)weight[i] / (double)(limit[i] > 0 ? limit[i] : 1);
        most = fill > most ? fill : most;
    }
    return most;
}

static int64_t overload_of(const struct cutter *c, uint32_t side, const int64_t *weight)
{
    size_t at = (size_t)c->pair->block[side] * c->flow->weights;
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->flow->weights; i++)
        sum += cleave__violation(c->pair->state->target, at + i, weight[i]);
    return sum;
}

static int64_t missing_of(const struct cutter *c, uint32_t side, uint32_t free)
{
    uint32_t least = c->pair->state->target->least[c->pair->block[side]];
    return free < least ? least - free : 0;
}

/* From now on the flow stays and trees only grow: their vertices are listed. */
static void record(struct cleave__flow *f)
{
    f->recording = true;
    f->side[0].members = f->side[1].members = 0;
    for (uint32_t v = 0; v < f->vertices; v++) {
        if (f->node[v].tree != CLEAVE__FREE) {
            struct cleave__flow_side *side = &f->side[f->node[v].tree];
            side->member[side->members++] = v;
        }
    }
}

/* Is the cut around what `which` reaches better than the best so far? Then it is the best. */
static void consider(struct cutter *c, uint32_t which)
{
    struct cleave__flow *f = c->flow;
    const struct cleave__flow_side *side = &f->side[which];
    int64_t rest[CLEAVE_WEIGHTS_MAX];
    if (f->flow > c->best.cost)
        return;
    for (uint32_t i = 0; i < f->weights; i++)
        rest[i] = c->total[i] - side->weight[i];
    double fill = fill_of(c, which, side->weight), other = fill_of(c, 1 - which, rest);
    fill = fill > other ? fill : other;
    if (f->flow == c->best.cost && fill >= c->best.fill)
        return;
    uint32_t joined = side->members - 1; /* but for the terminal */
    uint32_t others = f->vertices - 2 - joined;
    if (overload_of(c, which, side->weight) + overload_of(c, 1 - which, rest) > c->overload ||
        missing_of(c, which, c->free_base[which] + joined) +
                missing_of(c, 1 - which, c->free_base[1 - which] + others) >
            c->missing)
        return;
    c->best = (struct cut){f->flow, fill, which, side->members};
    if (!f->recording)
        record(f);
}

static uint32_t rank_of(const struct cleave__flow *f, uint32_t which, uint32_t v)
{
    uint32_t half = CLEAVE__RANKS / 2, d = f->distance[v] < half ? f->distance[v] : half - 1;
    return f->where[v] == which ? half + d : half - 1 - d;
}

static void add_candidate(struct cleave__flow *f, uint32_t which, uint32_t v)
{
    struct cleave__flow_side *side = &f->side[which];
    if (side->next[v] != ABSENT || f->node[v].settled)
        return;
    uint32_t *head = &side->head[0][rank_of(f, which, v)];
    side->next[v] = *head;
    *head = v;
}

/* What the side reaches is its own for good; pins beyond become candidates. */
static void settle(struct cleave__flow *f, uint32_t which)
{
    uint32_t count = cleave__flow_settle(f, which);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = f->side[which].join[i];
        if (node < f->vertices || (node - f->vertices) % 2 != which)
            continue;
        uint32_t e = (node - f->vertices) / 2;
        if (f->node[f->vertices + 2 * e + 1 - which].tree == which)
            continue;
        f->work += f->net_offset[e + 1] - f->net_offset[e];
        for (uint32_t p = f->net_offset[e]; p < f->net_offset[e + 1]; p++)
            add_candidate(f, which, f->pin_vertex[p]);
    }
}

/* May the side's settled part, and v with it, still become a block? */
static bool fits(const struct cutter *c, uint32_t which, uint32_t v)
{
    const struct cleave__flow *f = c->flow;
    const int64_t *limit = limit_of(c, which);
    int64_t over = 0;
    for (uint32_t i = 0; i < f->weights; i++)
        over += cleave__excess(f->side[which].weight[i] + f->weight[(size_t)v * f->weights + i],
                               limit[i]);
    return over <= c->overload;
}

/* The next vertex to join the side; NONE: no more. `*augments`: may it be in the other's reach, and
 * is it? */
static uint32_t pick(struct cutter *c, uint32_t which, bool *augments)
{
    struct cleave__flow_side *side = &c->flow->side[which];
    const struct cleave__flow_node *node = c->flow->node;
    for (int within = 0; within < 1 + *augments; within++) {
        for (uint32_t rank = CLEAVE__RANKS; rank > 0; rank--) {
            uint32_t *head = &side->head[within][rank - 1];
            while (*head != CLEAVE__NONE) {
                uint32_t v = *head;
                bool reached = node[v].tree == 1 - which;
                *head = side->next[v];
                if (node[v].settled || !fits(c, which, v))
                    continue;
                if (reached && !within) {
                    side->next[v] = side->head[1][rank - 1];
                    side->head[1][rank - 1] = v;
                    continue;
                }
                *augments = reached;
                return v;
            }
        }
    }
    *augments = false;
    return CLEAVE__NONE;
}

/* The flow has changed, and so may what is within reach. */
static void mix_candidates(struct cleave__flow_side *side)
{
    for (uint32_t rank = 0; rank < CLEAVE__RANKS; rank++) {
        uint32_t *tail = &side->head[0][rank];
        if (side->head[1][rank] == CLEAVE__NONE)
            continue;
        while (*tail != CLEAVE__NONE)
            tail = &side->next[*tail];
        *tail = side->head[1][rank];
        side->head[1][rank] = CLEAVE__NONE;
    }
}

/* Settles a side, then lets a vertex join; false when none may. (What is too heavy already stays
 * so with any vertex.) */
static bool pierce(struct cutter *c, uint32_t which, bool *augments)
{
    settle(c->flow, which);
    uint32_t v = pick(c, which, augments);
    if (v == CLEAVE__NONE)
        return false;
    cleave__flow_join(c->flow, which, v);
    return true;
}

/* Pierces until no better cut can come. */
static void advance(struct cutter *c)
{
    struct cleave__flow *f = c->flow;
    f->enough = c->best.cost;
    while (cleave__flow_run(f)) {
        consider(c, 0);
        consider(c, 1);
        bool costs = f->flow < c->best.cost, augments = costs;
        uint32_t side = fill_of(c, 0, f->side[0].weight) > fill_of(c, 1, f->side[1].weight);
        if (!pierce(c, side, &augments)) {
            side = 1 - side;
            augments = costs;
            if (!pierce(c, side, &augments))
                return;
        }
        if (augments) {
            mix_candidates(&f->side[0]);
            mix_candidates(&f->side[1]);
        }
    }
}

static void init_side(struct cutter *c, uint32_t which)
{
    struct cleave__flow *f = c->flow;
    struct cleave__flow_side *side = &f->side[which];
    const struct cleave__state *s = c->pair->state;
    uint32_t own = 0;
    for (uint32_t v = 0; v < f->vertices; v++)
        side->next[v] = ABSENT;
    memset(side->head, 0xff, sizeof side->head); /* NONE */
    side->members = side->joined = 0;
    for (uint32_t i = 0; i < f->weights; i++) {
        side->weight[i] = s->weight[(size_t)c->pair->block[which] * f->weights + i];
        c->total[i] += side->weight[i];
    }
    c->overload += overload_of(c, which, side->weight);
    c->missing += missing_of(c, which, s->free_count[c->pair->block[which]]);
    double fill = fill_of(c, which, side->weight);
    c->best.fill = fill > c->best.fill ? fill : c->best.fill;
    for (uint32_t v = 2; v < f->vertices; v++) {
        if (f->where[v] != which)
            continue;
        own++;
        for (uint32_t i = 0; i < f->weights; i++)
            side->weight[i] -= f->weight[(size_t)v * f->weights + i];
    }
    c->free_base[which] = s->free_count[c->pair->block[which]] - own;
    cleave__flow_join(f, which, which);
}

/* Vertices without a net may be on either side; a side without a net to grow along may begin
 * anywhere in its block. */
static void add_loose(struct cleave__flow *f)
{
    for (uint32_t v = 2; v < f->vertices; v++) {
        bool alone = f->vertex_offset[v] == f->vertex_offset[v + 1];
        for (uint32_t which = 0; which < 2; which++) {
            bool stuck = f->vertex_offset[which] == f->vertex_offset[which + 1];
            if (alone || (stuck && f->where[v] == which))
                add_candidate(f, which, v);
        }
    }
}

int64_t cleave__flow_cut(struct cleave__flow *flow, const struct cleave__flow_pair *pair,
                         uint32_t *move, uint32_t *moves)
{
    struct cutter c = {.flow = flow, .pair = pair, .best = {.cost = flow->cut}};
    *moves = 0;
    if (flow->vertices == 2)
        return 0;
    cleave__flow_reset(flow);
    init_side(&c, 0);
    init_side(&c, 1);
    add_loose(flow);
    advance(&c);
    if (c.best.members == 0)
        return 0;
    const struct cleave__flow_side *side = &flow->side[c.best.side];
    for (uint32_t v = 2; v < flow->vertices; v++)
        flow->orphan[v] = 1 - c.best.side;
    for (uint32_t i = 0; i < c.best.members; i++)
        flow->orphan[side->member[i]] = c.best.side;
    for (uint32_t v = 2; v < flow->vertices; v++) {
        if (flow->orphan[v] != flow->where[v])
            move[(*moves)++] = flow->vertex[v];
    }
    return flow->cut - c.best.cost;
}
