/* METIS .graph: a line "vertices edges [fmt [weights]]", then a line a vertex: its size (fmt 1xx),
 * its weights (x1x), and neighbours with edge weights (xx1). Every edge stands in both its ends'
 * lines and becomes one net of two pins. Sizes are read and ignored: no objective here uses them.
 *
 * Symmetry is tested by sums of mixed (edge, weight) from either side. Edges as their larger end
 * tells them are kept too, to name one that is told by one end only; that takes the memory that
 * the transpose will. */
#include <stdlib.h>

#include "base/random.h"
#include "model/draft.h"
#include "model/limits.h"

/* An edge, told by the line of one of its ends. */
struct told {
    uint32_t low, high;
    int64_t weight;
};

struct graph {
    uint64_t edges; /* announced */
    bool has_sizes;
    uint64_t below_sum, above_sum; /* mixed identities of edges told by larger, smaller ends */
    CLEAVE_VECTOR(uint32_t) below; /* (low, high) in turn */
    CLEAVE_VECTOR(int64_t) below_weight;
};

static enum cleave_status no_memory(const struct cleave__draft *d, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory for edges", d->in.path);
}

static enum cleave_status read_opening(struct cleave__draft *d, struct graph *g,
                                       struct cleave_error *error)
{
    static const struct cleave__announced announced[] = {
        {"number of vertices", 0, CLEAVE__VERTICES_MAX},
        {"number of edges", 0, CLEAVE__VERTICES_MAX},
        {"format", 0, 111},
        {"number of weights a vertex", 0, CLEAVE_WEIGHTS_MAX},
    };
    int64_t number[4];
    uint32_t found;
    enum cleave_status status = cleave__draft_opening(d, "vertices edges [fmt [weights]]",
                                                      announced, 2, 4, number, &found, error);
    if (status)
        return status;
    int64_t format = found > 2 ? number[2] : 0;
    if (format % 10 > 1 || format / 10 % 10 > 1)
        return cleave__numbers_fail(&d->in, error, "format is %lld: its digits must be 0 or 1",
                                    (long long)format);
    d->has_net_weights = format % 10;
    d->has_vertex_weights = format / 10 % 10;
    g->has_sizes = format / 100;
    if (found > 3 && (number[3] > 0) != d->has_vertex_weights)
        return cleave__numbers_fail(&d->in, error,
                                    "format %03lld says that vertices have %s, but %lld are "
                                    "announced",
                                    (long long)format,
                                    d->has_vertex_weights ? "weights" : "no weights",
                                    (long long)number[3]);
    if (found > 3 && number[3] > 0)
        d->weights = (uint32_t)number[3];
    d->vertices = (uint32_t)number[0];
    g->edges = (uint64_t)number[1];
    return CLEAVE_OK;
}

static enum cleave_status add_edge(struct cleave__draft *d, struct graph *g, uint32_t from,
                                   uint32_t to, int64_t weight, struct cleave_error *error)
{
    if (from == to)
        return cleave__numbers_fail(&d->in, error, "vertex %llu is its own neighbour",
                                    (unsigned long long)from + 1);
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    uint64_t identity = cleave__mix64(cleave__mix64((uint64_t)low << 32 | high) + (uint64_t)weight);
    if (from > to) {
        g->below_sum += identity;
        if (!CLEAVE_PUSH(&g->below, low) || !CLEAVE_PUSH(&g->below, high) ||
            (d->has_net_weights && !CLEAVE_PUSH(&g->below_weight, weight)))
            return no_memory(d, error);
        return CLEAVE_OK;
    }
    g->above_sum += identity;
    if (d->nets == CLEAVE__VERTICES_MAX)
        return cleave__numbers_fail(&d->in, error, "more than %u edges", CLEAVE__VERTICES_MAX);
    enum cleave_status status = cleave__draft_pin(d, low, error);
    if (!status)
        status = cleave__draft_pin(d, high, error);
    if (!status)
        status = cleave__draft_net(d, weight, error);
    d->nets += !status;
    return status;
}

static enum cleave_status read_vertex(struct cleave__draft *d, struct graph *g, uint32_t v,
                                      struct cleave_error *error)
{
    enum cleave_status status = cleave__numbers_line(&d->in, error);
    if (status == CLEAVE_END)
        return cleave__draft_ends(d, "vertices", v, d->vertices, error);
    int64_t number;
    if (!status && g->has_sizes)
        status =
            cleave__numbers_next(&d->in, "vertex size", 0, CLEAVE__WEIGHT_SUM_MAX, &number, error);
    for (uint32_t c = 0; !status && d->has_vertex_weights && c < d->weights; c++)
        status = cleave__draft_vertex_weight(d, c, error);
    while (!status && !cleave__numbers_done(&d->in)) {
        int64_t weight = 1;
        status = cleave__numbers_next(&d->in, "neighbour", 1, d->vertices, &number, error);
        if (!status && d->has_net_weights)
            status = cleave__numbers_next(&d->in, "edge weight", 0, CLEAVE__WEIGHT_SUM_MAX, &weight,
                                          error);
        if (!status)
            status = add_edge(d, g, v, (uint32_t)(number - 1), weight, error);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static struct told *sorted(const uint32_t *ends, const int64_t *weight, size_t count)
{
    struct told *told = malloc((count ? count : 1) * sizeof *told);
    for (size_t i = 0; told && i < count; i++)
        told[i] = (struct told){ends[2 * i], ends[2 * i + 1], weight ? weight[i] : 1};
    if (told)
        qsort(told, count, sizeof *told, compare);
    return told;
}

/* Names an edge that both ends do not tell alike. O(edges log edges), once something is wrong. */
static enum cleave_status name_lonely(struct cleave__draft *d, struct graph *g,
                                      struct cleave_error *error)
{
    size_t downs = g->below.count / 2, ups = d->nets, i = 0;
    struct told *down = sorted(g->below.data, g->below_weight.data, downs);
    struct told *up = sorted(d->pin.data, d->net_weight.data, ups);
    enum cleave_status status = CLEAVE_BAD_INPUT;
    if (!down || !up) {
        status = no_memory(d, error);
    } else {
        while (i < downs && i < ups && !compare(&down[i], &up[i]))
            i++;
        bool from_low = i == downs || (i < ups && compare(&up[i], &down[i]) < 0);
        struct told edge = from_low ? up[i] : down[i];
        unsigned long from = (from_low ? edge.low : edge.high) + 1ul;
        unsigned long to = (from_low ? edge.high : edge.low) + 1ul;
        cleave_error_set(error, status,
                         "%.200s: vertex %lu has neighbour %lu, but the line of vertex %lu does "
                         "not say so, or with another weight",
                         d->in.path, from, to, to);
    }
    free(down);
    free(up);
    return status;
}

static enum cleave_status read_all(struct cleave__draft *d, struct graph *g,
                                   struct cleave_error *error)
{
    enum cleave_status status = read_opening(d, g, error);
    for (uint32_t v = 0; !status && v < d->vertices; v++)
        status = read_vertex(d, g, v, error);
    if (status)
        return status;
    if (g->below.count / 2 != d->nets || g->below_sum != g->above_sum)
        return name_lonely(d, g, error);
    if (d->nets != g->edges)
        return cleave_error_set(
            error, CLEAVE_BAD_INPUT, "%.200s:%llu: announces %llu edges, but the lines hold %u",
            d->in.path, (unsigned long long)d->opening_line, (unsigned long long)g->edges, d->nets);
    return CLEAVE_OK;
}

static enum cleave_status parse(struct cleave__draft *d, struct cleave_error *error)
{
    struct graph g = {0};
    enum cleave_status status = read_all(d, &g, error);
    CLEAVE_VECTOR_FREE(&g.below);
    CLEAVE_VECTOR_FREE(&g.below_weight);
    return status;
}

enum cleave_status cleave_hypergraph_read_graph(const char *path, struct cleave_hypergraph **out,
                                                struct cleave_error *error)
{
    return cleave__draft_read(path, parse, out, error);
}
