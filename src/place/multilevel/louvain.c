/* See the header. A layer is the graph of one level of aggregation; its nodes are sets of nodes of
 * the layer below, connected ones, so that whatever merges along edges stays connected. */
#include "place/multilevel/louvain.h"

#include <string.h>

enum { LAYERS_MAX = 100, STOP_EVERY = 4096, BLOCK = 64 };

/* Of a community, or of a part of one. */
struct slot {
    int64_t total; /* volume of its nodes */
    int64_t tie;   /* weight of the edges between it and a node; 0 outside a call */
};

/* Scratch is sized for the lowest layer and serves all. */
struct louvain {
    struct cleave_arena *arena;
    struct cleave_random *random;
    const struct cleave__louvain_options *options;
    struct cleave__weighted_graph graph; /* the layer */
    int64_t *volume;                     /* [nodes]: weight of a node's edges */
    int64_t whole, resolution;           /* all volumes, times 1000; thousandths */
    uint32_t *community;                 /* [nodes] < nodes */
    struct slot *slot;                   /* by community or part */
    uint32_t *size;                      /* nodes, by community or part */
    uint32_t *part;                      /* [nodes]: what becomes a node of the next layer */
    uint32_t *near;                      /* those with a tie */
    uint32_t *queue;                     /* [nodes]: a ring */
    bool *queued;                        /* [nodes] */
    uint32_t *empty;                     /* communities without a node: a stack */
};

static bool stopped(const struct louvain *x)
{
    return x->options->stop && *x->options->stop;
}

/* Of the edge at place i of v's list. */
static inline int64_t weight_of(const struct cleave__weighted_graph *g, uint32_t v, uint64_t i)
{
    if (g->weight)
        return g->weight[i];
    return g->factor ? (int64_t)(g->factor[v] * g->factor[g->neighbour[i]] + 0.5) : 1;
}

/* What being in a community of volume `total` (without the node) is worth to a node that `tie`
 * binds to it, alone being worth 0: the gain of modularity, scaled. */
static __int128 worth(const struct louvain *x, int64_t tie, int64_t pull, int64_t total)
{
    return (__int128)tie * x->whole - (__int128)pull * total;
}

/* One draw a step by multiplication; its bias (below 2^-32) does no harm to an order. */
static void shuffle(struct cleave_random *random, uint32_t *order, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t draw = cleave__random_next(random) >> 32;
        uint32_t at = (uint32_t)((draw * (i + UINT64_C(1))) >> 32);
        order[i] = order[at];
        order[at] = first + i;
    }
}

/* Blocks of nodes in random order, and nodes of a block: near in memory, and random enough. The
 * order of blocks is `scratch` [nodes / BLOCK + 1]. */
static void order_nodes(struct louvain *x, uint32_t *order, uint32_t *scratch)
{
    uint32_t n = x->graph.nodes, blocks = n / BLOCK + (n % BLOCK != 0), used = 0;
    if (blocks <= BLOCK) {
        shuffle(x->random, order, 0, n);
        return;
    }
    shuffle(x->random, scratch, 0, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t first = scratch[i] * BLOCK, count = n - first < BLOCK ? n - first : BLOCK;
        shuffle(x->random, order + used, first, count);
        used += count;
    }
}

/* Collects the ties of v to the labels of its neighbours; those whose `among` differs are left out.
 * Returns how many labels there are. */
static inline uint32_t collect_ties(struct louvain *x, uint32_t v, const uint32_t *label,
                                    const uint32_t *among)
{
    const uint32_t *neighbour = x->graph.neighbour;
    struct slot *slot = x->slot;
    uint32_t near = 0, *list = x->near;
    for (uint64_t i = x->graph.offset[v], end = x->graph.offset[v + 1]; i < end; i++) {
        uint32_t u = neighbour[i], to = label[u];
        int64_t w = weight_of(&x->graph, v, i);
        if (u == v || w == 0 || (among && among[u] != among[v]))
            continue;
        if (slot[to].tie == 0)
            list[near++] = to;
        slot[to].tie += w;
    }
    return near;
}

/* The best label for v, `own` unless another is better, and its worth; clears the ties. */
static inline uint32_t choose(struct louvain *x, uint32_t v, uint32_t own, uint32_t near,
                              __int128 *most)
{
    int64_t pull = x->volume[v] * x->resolution;
    struct slot *slot = x->slot;
    uint32_t best = own;
    *most = worth(x, slot[own].tie, pull, slot[own].total - x->volume[v]);
    slot[own].tie = 0;
    for (uint32_t i = 0; i < near; i++) {
        uint32_t to = x->near[i];
        __int128 value = worth(x, slot[to].tie, pull, slot[to].total);
        slot[to].tie = 0;
        /* With no tie left, `own` is worth nothing here, and less than it was. */
        if (value > *most) {
            *most = value;
            best = to;
        }
    }
    return best;
}

/* Nodes move to the community that is worth most to them; neighbours of one that moved are looked
 * at again. Every move gains, exactly, so that this ends. */
static enum cleave_status move_nodes(struct louvain *x)
{
    uint32_t n = x->graph.nodes, empties = 0;
    memset(x->slot, 0, n * sizeof *x->slot);
    memset(x->size, 0, n * sizeof *x->size);
    order_nodes(x, x->queue, x->empty);
    for (uint32_t v = 0; v < n; v++) {
        x->slot[x->community[v]].total += x->volume[v];
        x->size[x->community[v]]++;
        x->queued[v] = true;
    }
    for (uint32_t c = n; c-- > 0;) {
        if (x->size[c] == 0)
            x->empty[empties++] = c;
    }
    uint64_t visits = 0, most = x->options->visits ? (uint64_t)n * x->options->visits : UINT64_MAX;
    uint32_t head = 0, waiting = n;
    for (; waiting && visits < most; visits++) {
        if (visits % STOP_EVERY == 0 && stopped(x))
            return CLEAVE_INTERRUPTED;
        uint32_t v = x->queue[head], own = x->community[v];
        head = head + 1 == n ? 0 : head + 1;
        waiting--;
        x->queued[v] = false;
        __int128 value;
        uint32_t to = choose(x, v, own, collect_ties(x, v, x->community, NULL), &value);
        if (value < 0 && x->size[own] > 1)
            to = x->empty[--empties];
        if (to == own)
            continue;
        x->community[v] = to;
        x->slot[own].total -= x->volume[v];
        x->slot[to].total += x->volume[v];
        x->size[to]++;
        if (--x->size[own] == 0)
            x->empty[empties++] = own;
        for (uint64_t i = x->graph.offset[v]; i < x->graph.offset[v + 1]; i++) {
            uint32_t u = x->graph.neighbour[i];
            if (x->queued[u] || x->community[u] == to || weight_of(&x->graph, v, i) == 0)
                continue;
            uint32_t at = n - head > waiting ? head + waiting : waiting - (n - head);
            x->queue[at] = u;
            x->queued[u] = true;
            waiting++;
        }
    }
    return CLEAVE_OK;
}

/* Nodes on their own join the part of their community that is worth most to them. (Traag et al.
 * draw it at random, by exponentials; the best one needs none.) */
static void refine(struct louvain *x)
{
    uint32_t n = x->graph.nodes;
    for (uint32_t v = 0; v < n; v++) {
        x->part[v] = v;
        x->slot[v].total = x->volume[v];
        x->size[v] = 1;
    }
    order_nodes(x, x->queue, x->empty);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = x->queue[i];
        if (x->size[v] != 1)
            continue; /* another joined it */
        __int128 value;
        uint32_t to = choose(x, v, v, collect_ties(x, v, x->part, x->community), &value);
        if (to == v)
            continue;
        x->part[v] = to;
        x->slot[to].total += x->volume[v];
        x->size[to]++;
    }
}

/* Gives the connected pieces of communities numbers of their own, in part[]. O(edges). */
static void split(struct louvain *x)
{
    uint32_t n = x->graph.nodes, pieces = 0;
    memset(x->part, 0xff, n * sizeof *x->part);
    for (uint32_t start = 0; start < n; start++) {
        if (x->part[start] != UINT32_MAX)
            continue;
        uint32_t count = 0;
        x->part[start] = pieces;
        x->queue[count++] = start;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = x->queue[i];
            for (uint64_t j = x->graph.offset[v]; j < x->graph.offset[v + 1]; j++) {
                uint32_t u = x->graph.neighbour[j];
                if (x->part[u] != UINT32_MAX || weight_of(&x->graph, v, j) == 0 ||
                    x->community[u] != x->community[v])
                    continue;
                x->part[u] = pieces;
                x->queue[count++] = u;
            }
        }
        pieces++;
    }
}

/* Numbers labels (below n) by first use; returns their count. `number` [n] is scratch. */
static uint32_t renumber(uint32_t *label, uint32_t n, uint32_t *number)
{
    uint32_t count = 0;
    memset(number, 0xff, n * sizeof *number);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t l = label[v];
        if (number[l] == UINT32_MAX)
            number[l] = count++;
        label[v] = number[l];
    }
    return count;
}

/* The next layer: parts (numbered below `count`) become nodes, edges within them only volume. False
 * when memory is out. */
static bool aggregate(struct louvain *x, uint32_t count)
{
    const struct cleave__weighted_graph *g = &x->graph;
    uint32_t n = g->nodes, *start = x->size, *member = x->queue;
    const uint32_t *part = x->part;
    struct slot *slot = x->slot;
    uint64_t between = 0; /* edges that leave their part: at least as many as are left */
    for (uint32_t v = 0; v < n; v++) {
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
            between += part[g->neighbour[i]] != part[v];
    }
    uint64_t *offset = cleave__arena_array(x->arena, (size_t)count + 1, sizeof *offset);
    uint32_t *neighbour = cleave__arena_array(x->arena, between, sizeof *neighbour);
    int64_t *weight = cleave__arena_array(x->arena, between, sizeof *weight);
    int64_t *volume = cleave__arena_zalloc(x->arena, count * sizeof *volume);
    if (!offset || !neighbour || !weight || !volume)
        return false;
    memset(start, 0, n * sizeof *start);
    for (uint32_t v = 0; v < n; v++)
        start[x->part[v]]++;
    for (uint32_t c = 0, sum = 0; c < count; c++) {
        sum += start[c];
        start[c] = sum;
    }
    for (uint32_t v = n; v-- > 0;)
        member[--start[x->part[v]]] = v;
    uint64_t used = 0;
    for (uint32_t c = 0, i = 0; c < count; c++) {
        uint32_t near = 0;
        offset[c] = used;
        for (; i < n && x->part[member[i]] == c; i++) {
            uint32_t v = member[i];
            volume[c] += x->volume[v];
            for (uint64_t j = g->offset[v]; j < g->offset[v + 1]; j++) {
                uint32_t to = part[g->neighbour[j]];
                int64_t w = weight_of(&x->graph, v, j);
                if (to == c || w == 0)
                    continue;
                if (slot[to].tie == 0)
                    x->near[near++] = to;
                slot[to].tie += w;
            }
        }
        for (uint32_t j = 0; j < near; j++) {
            neighbour[used] = x->near[j];
            weight[used++] = slot[x->near[j]].tie;
            slot[x->near[j]].tie = 0;
        }
    }
    offset[count] = used;
    /* Writing ahead is safe: a part's number is at most that of its first node. */
    for (uint32_t v = 0; v < n; v++)
        x->community[x->part[v]] = x->options->refine ? x->community[v] : x->part[v];
    renumber(x->community, count, x->empty);
    x->graph = (struct cleave__weighted_graph){
        .nodes = count, .offset = offset, .neighbour = neighbour, .weight = weight};
    x->volume = volume;
    return true;
}

/* All layers once, from and to community[] of the lowest, which `home` [nodes] follows upward. */
static enum cleave_status climb(struct louvain *x, uint32_t *home, uint32_t *count)
{
    uint32_t nodes = x->graph.nodes;
    for (uint32_t v = 0; v < nodes; v++)
        home[v] = v;
    for (uint32_t layer = 0;; layer++) {
        uint32_t n = x->graph.nodes;
        enum cleave_status status = move_nodes(x);
        if (status)
            return status;
        bool last = layer + 1 == LAYERS_MAX;
        if (x->options->refine && !last)
            refine(x);
        else
            split(x);
        *count = renumber(x->part, n, x->empty);
        if (*count == n && x->options->refine && !last) {
            split(x);
            *count = renumber(x->part, n, x->empty);
            last = true;
        }
        for (uint32_t v = 0; v < nodes; v++)
            home[v] = x->part[home[v]];
        if (last || *count == n)
            return CLEAVE_OK;
        if (!aggregate(x, *count))
            return CLEAVE_NO_MEMORY;
    }
}

/* Volumes of the nodes and their sum. False when products of them could overflow. */
static bool measure(struct louvain *x)
{
    int64_t sum = 0, most = x->resolution > 1000 ? x->resolution : 1000;
    for (uint32_t v = 0; v < x->graph.nodes; v++) {
        x->volume[v] = 0;
        for (uint64_t i = x->graph.offset[v]; i < x->graph.offset[v + 1]; i++) {
            int64_t w = weight_of(&x->graph, v, i);
            if (w > INT64_MAX / most - sum)
                return false;
            sum += w;
            x->volume[v] += w;
        }
    }
    x->whole = sum * CLEAVE__RESOLUTION_ONE;
    return true;
}

enum cleave_status cleave__louvain(struct cleave_arena *arena, struct cleave_random *random,
                                   const struct cleave__weighted_graph *graph,
                                   const struct cleave__louvain_options *options,
                                   uint32_t *community, uint32_t *count)
{
    uint32_t n = graph->nodes;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    struct louvain x = {.arena = arena, .random = random, .options = options, .graph = *graph};
    x.resolution = options->resolution ? options->resolution : CLEAVE__RESOLUTION_ONE;
    x.volume = cleave__arena_array(arena, n, sizeof *x.volume);
    x.community = cleave__arena_array(arena, n, sizeof *x.community);
    x.slot = cleave__arena_zalloc(arena, n * sizeof *x.slot);
    x.size = cleave__arena_array(arena, n, sizeof *x.size);
    x.part = cleave__arena_array(arena, n, sizeof *x.part);
    x.near = cleave__arena_array(arena, n, sizeof *x.near);
    x.queue = cleave__arena_array(arena, n, sizeof *x.queue);
    x.queued = cleave__arena_array(arena, n, sizeof *x.queued);
    x.empty = cleave__arena_array(arena, n, sizeof *x.empty);
    uint32_t *home = cleave__arena_array(arena, n, sizeof *home);
    uint32_t found = n;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (!x.volume || !x.community || !x.slot || !x.size || !x.part || !x.near || !x.queue ||
        !x.queued || !x.empty || !home)
        goto done;
    status = measure(&x) ? CLEAVE_OK : CLEAVE_LIMIT;
    int64_t *volume = x.volume;
    for (uint32_t v = 0; v < n; v++)
        home[v] = v;
    for (uint32_t round = 0; !status && (round == 0 || round < options->rounds); round++) {
        struct cleave_arena_mark inner = cleave__arena_mark(arena);
        x.graph = *graph;
        x.volume = volume;
        memcpy(x.community, home, n * sizeof *home);
        status = climb(&x, home, &found);
        cleave__arena_rewind(arena, inner);
    }
    if (!status) {
        memcpy(community, home, n * sizeof *home);
        *count = renumber(community, n, x.empty);
    }
done:
    cleave__arena_rewind(arena, mark);
    return status;
}

double cleave__modularity(const struct cleave__weighted_graph *graph, const uint32_t *community,
                          uint32_t count, uint32_t resolution, double *total)
{
    double whole = 0, inside = 0, spread = 0;
    for (uint32_t c = 0; c < count; c++)
        total[c] = 0;
    for (uint32_t v = 0; v < graph->nodes; v++) {
        for (uint64_t i = graph->offset[v]; i < graph->offset[v + 1]; i++) {
            double w = (double)weight_of(graph, v, i);
            whole += w;
            total[community[v]] += w;
            if (community[graph->neighbour[i]] == community[v])
                inside += w;
        }
    }
    if (whole == 0)
        return 0;
    for (uint32_t c = 0; c < count; c++)
        spread += total[c] / whole * (total[c] / whole);
    return inside / whole - (double)resolution / CLEAVE__RESOLUTION_ONE * spread;
}
