/* Inside flow refinement: the region of two blocks as a flow network, maximum flow, and the search
 * for the most balanced least cut. Each thread has one, used for one pair after another.
 *
 * The network (Lawler 1973, arcs implicit): a node for each vertex, two for each net. A vertex
 * sends to the in-nodes of its nets without limit, an in-node to its out-node at most the net's
 * capacity, an out-node to the net's pins without limit. Vertex 0 is the source, all of block a
 * that stays; vertex 1 the sink, all of b that stays. Nets that touch both are cut whatever
 * happens, and left out.
 *
 * Node numbers: vertex v is v; a net's in-node is vertices + 2 * net, its out-node one more. */
#ifndef CLEAVE_PLACE_MULTILEVEL_FLOW_PART_H
#define CLEAVE_PLACE_MULTILEVEL_FLOW_PART_H

#include "place/multilevel/flow.h"

enum { CLEAVE__FREE = 2, CLEAVE__RANKS = 32 };

/* In the tree of side 0, the source's, a node is reached along residual arcs; in that of side 1,
 * the sink's, against them. What holds for one side holds for the other with arcs turned round and
 * in- and out-nodes swapped. */
struct cleave__flow_node {
    uint32_t parent;       /* NONE: an orphan, or settled */
    uint32_t pin;          /* that leads to the parent, unless that is the net's other node */
    uint32_t stamp, depth; /* distance to a settled node, as known at the time `stamp` */
    uint8_t tree;          /* side, or FREE */
    bool settled;          /* on its side for good */
    bool active;           /* waits to grow */
    bool listed;           /* scratch */
};

struct cleave__flow_side {
    int64_t weight[CLEAVE_WEIGHTS_MAX]; /* of its tree's vertices, and of what stays in the block */
    uint32_t members;                   /* vertices of the tree */
    uint32_t *member;                   /* they, in order of arrival, while recording */
    uint32_t *next;                  /* [vertices]: chains of candidates; ABSENT: never was one */
    uint32_t head[2][CLEAVE__RANKS]; /* of candidates out of / in the other side's tree */
    uint32_t *join; /* [2 * nodes]: among others, all of the tree that is not settled; also what was
                       settled last */
    uint32_t joined;
};

struct cleave__flow_step {
    uint32_t node, pin; /* `pin` unset between the nodes of one net */
};

/* A pin as its vertex sees it. */
struct cleave__flow_pin {
    uint32_t pin, net;
};

/* What is known about a net of the level while a region grows, each for the pair of that stamp. */
struct cleave__flow_mark {
    uint32_t listed;     /* stamp: has pins in the region */
    uint32_t scanned[2]; /* stamp: looked through for pins in a, in b */
    uint32_t pins[2];    /* in the region, in a and in b */
    uint32_t local;      /* its number in the network, or NONE */
};

struct cleave__flow {
    const struct cleave__search *search; /* set once there is memory for the rest */
    struct cleave_arena arena;
    /* The network. */
    uint32_t vertices, nets, pins, weights;
    uint32_t *vertex;        /* [vertices]: which of the level it is; unset for 0 and 1 */
    uint32_t *vertex_offset; /* [vertices + 1] into pin_of */
    struct cleave__flow_pin *pin_of;
    uint32_t *net_offset;         /* [nets + 1]: pins of a net are consecutive */
    uint32_t *pin_vertex;         /* [pins] */
    int64_t *capacity, *net_flow; /* [nets] */
    int64_t *pin_flow[2];         /* [pins]: vertex to in-node, out-node to vertex */
    int64_t *weight;              /* [vertices * weights] */
    uint8_t *distance;            /* [vertices]: nets between it and the cut */
    uint8_t *where;               /* [vertices]: 0 in block a now, 1 in b */
    int64_t cut;                  /* what these nets cost now */
    uint64_t hash;                /* of the pair and all of the above, but for weights */
    /* Trees and flow. */
    struct cleave__flow_node *node; /* [nodes] */
    struct cleave__flow_side side[2];
    uint32_t *active; /* [nodes]: a ring */
    uint32_t active_head, active_tail, actives;
    uint32_t *orphan; /* [nodes] */
    uint32_t orphans;
    uint32_t time;             /* augmentations, and more */
    int64_t flow, enough;      /* beyond that the cut can be of no use */
    bool recording;            /* members are listed; none may leave any more */
    uint64_t work, work_limit; /* pins looked at for this pair */
    /* The region while it grows; stamps make clearing unnecessary. */
    uint32_t stamp;
    uint32_t *vertex_stamp;         /* [level vertices]: in the region */
    struct cleave__flow_mark *mark; /* [level nets] */
    uint32_t *net_list;             /* [level nets]: those with pins in the region */
    struct cleave_arena_mark base;  /* the network's arrays lie above */
    uint64_t vertices_room, nets_room, pins_room;
};

/* What one pair is asked for; nothing here changes while pairs are cut. */
struct cleave__flow_pair {
    const struct cleave__state *state;
    const struct cleave__flow_options *options; /* defaults filled in */
    uint32_t block[2];
    const uint32_t *seed; /* nets, among them those that touch both blocks */
    uint32_t seeds;
};

/* False when memory is out. Free with cleave__arena_free(&flow->arena), also then, and before a
 * second try. */
bool cleave__flow_init(struct cleave__flow *flow, const struct cleave__search *search,
                       const struct cleave__level *level);

/* flow_region.c: grows the region around the pair's cut and builds its network. False when memory
 * is out. O(pins of nets near the cut). */
bool cleave__flow_region(struct cleave__flow *flow, const struct cleave__flow_pair *pair);

/* flow_network.c. No flow, no trees. */
void cleave__flow_reset(struct cleave__flow *flow);
/* A vertex that is not in the side's tree becomes a settled part of it. */
void cleave__flow_join(struct cleave__flow *flow, uint32_t side, uint32_t v);
/* Raises the flow to the maximum between settled vertices; the trees are then all that the sides
 * reach. False when it is more than enough, or work or time is out. */
bool cleave__flow_run(struct cleave__flow *flow);
/* After that: the side's tree is its own for good. The nodes that were not settled yet are in its
 * join[]; returns their number. */
uint32_t cleave__flow_settle(struct cleave__flow *flow, uint32_t side);

/* flow_cut.c: the best cut: of least cost, then most balanced, among those met that keep every
 * limit and are better than the present one. Writes the vertices that change blocks and their
 * number, 0 if none; returns what they save. `move` has room for all of the region. */
int64_t cleave__flow_cut(struct cleave__flow *flow, const struct cleave__flow_pair *pair,
                         uint32_t *move, uint32_t *moves);

#endif
