/* METIS .graph: a line "vertices edges [fmt [ncon]]", then a line a vertex: its size (fmt 1xx), its
 * ncon weights (x1x), and neighbours with edge weights (xx1). Every edge stands in both its ends'
 * lines and becomes one net of two pins. Sizes are read and ignored: no objective here uses them.
 *
 * Symmetry is tested by sums of mixed (edge, weight) from either side, O(1) memory. */
#include <stdlib.h>

#include "base/random.h"
#include "base/vector.h"
#include "cleave/hypergraph.h"
#include "model/limits.h"
#include "model/numbers.h"

struct draft {
    struct cleave__numbers in;
    int64_t vertices, edges, constraints;
    bool has_sizes, has_vertex_weights, has_edge_weights;
    uint64_t below, above;         /* edges met from their larger, smaller end */
    uint64_t below_sum, above_sum; /* their mixed identities */
    CLEAVE_VECTOR(uint64_t) offset;
    CLEAVE_VECTOR(uint32_t) pin;
    CLEAVE_VECTOR(int64_t) net_weight;
    CLEAVE_VECTOR(int64_t) vertex_weight;
};

static enum cleave_status no_memory(const struct draft *d, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory after %llu bytes", d->in.path,
                            (unsigned long long)d->in.bytes);
}

static enum cleave_status read_header(struct draft *d, struct cleave_error *error)
{
    enum cleave_status status;
    do {
        status = cleave__numbers_line(&d->in, error);
        if (status == CLEAVE_END)
            return cleave__numbers_fail(
                &d->in, error, "no header; the first line must be \"vertices edges [fmt [ncon]]\"");
        if (status)
            return status;
    } while (cleave__numbers_done(&d->in));
    int64_t format = 0;
    status = cleave__numbers_next(&d->in, "number of vertices", 0, CLEAVE__VERTICES_MAX,
                                  &d->vertices, error);
    if (!status)
        status = cleave__numbers_next(&d->in, "number of edges", 0, CLEAVE__VERTICES_MAX, &d->edges,
                                      error);
    if (!status && !cleave__numbers_done(&d->in))
        status = cleave__numbers_next(&d->in, "format", 0, 111, &format, error);
    if (status)
        return status;
    if (format % 10 > 1 || format / 10 % 10 > 1)
        return cleave__numbers_fail(&d->in, error, "format is %lld: its digits must be 0 or 1",
                                    (long long)format);
    d->has_edge_weights = format % 10;
    d->has_vertex_weights = format / 10 % 10;
    d->has_sizes = format / 100;
    d->constraints = d->has_vertex_weights ? 1 : 0;
    if (!cleave__numbers_done(&d->in)) {
        int64_t constraints;
        status = cleave__numbers_next(&d->in, "number of weights a vertex", 1, CLEAVE_WEIGHTS_MAX,
                                      &constraints, error);
        if (status)
            return status;
        if (d->has_vertex_weights)
            d->constraints = constraints;
    }
    if (!cleave__numbers_done(&d->in))
        return cleave__numbers_fail(&d->in, error,
                                    "header has more than \"vertices edges [fmt [ncon]]\"");
    return CLEAVE_OK;
}

static enum cleave_status add_edge(struct draft *d, int64_t from, int64_t to, int64_t weight,
                                   struct cleave_error *error)
{
    if (from == to)
        return cleave__numbers_fail(&d->in, error, "vertex %lld is its own neighbour",
                                    (long long)from + 1);
    int64_t low = from < to ? from : to, high = from < to ? to : from;
    uint64_t identity =
        cleave__mix64(cleave__mix64((uint64_t)low << 32 | (uint64_t)high) + (uint64_t)weight);
    if (from > to) {
        d->below++;
        d->below_sum += identity;
        return CLEAVE_OK;
    }
    d->above++;
    d->above_sum += identity;
    if (!CLEAVE_PUSH(&d->pin, (uint32_t)low) || !CLEAVE_PUSH(&d->pin, (uint32_t)high) ||
        !CLEAVE_PUSH(&d->offset, d->pin.count) || !CLEAVE_PUSH(&d->net_weight, weight))
        return no_memory(d, error);
    return CLEAVE_OK;
}

static enum cleave_status read_vertex(struct draft *d, int64_t v, struct cleave_error *error)
{
    enum cleave_status status = cleave__numbers_line(&d->in, error);
    if (status == CLEAVE_END)
        return cleave__numbers_fail(&d->in, error,
                                    "file ends after %lld of the %lld vertices announced",
                                    (long long)v, (long long)d->vertices);
    if (status)
        return status;
    int64_t number;
    if (d->has_sizes) {
        status =
            cleave__numbers_next(&d->in, "vertex size", 0, CLEAVE__WEIGHT_SUM_MAX, &number, error);
        if (status)
            return status;
    }
    for (int64_t c = 0; c < d->constraints; c++) {
        status = cleave__numbers_next(&d->in, "vertex weight", 0, CLEAVE__WEIGHT_SUM_MAX, &number,
                                      error);
        if (status)
            return status;
        if (!CLEAVE_PUSH(&d->vertex_weight, number))
            return no_memory(d, error);
    }
    while (!cleave__numbers_done(&d->in)) {
        int64_t weight = 1;
        status = cleave__numbers_next(&d->in, "neighbour", 1, d->vertices, &number, error);
        if (!status && d->has_edge_weights)
            status = cleave__numbers_next(&d->in, "edge weight", 0, CLEAVE__WEIGHT_SUM_MAX, &weight,
                                          error);
        if (!status)
            status = add_edge(d, v, number - 1, weight, error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

static enum cleave_status read_all(struct draft *d, struct cleave_hypergraph **out,
                                   struct cleave_error *error)
{
    enum cleave_status status = read_header(d, error);
    if (status)
        return status;
    if (!CLEAVE_PUSH(&d->offset, 0))
        return no_memory(d, error);
    for (int64_t v = 0; v < d->vertices; v++) {
        status = read_vertex(d, v, error);
        if (status)
            return status;
    }
    status = cleave__numbers_finish(&d->in, "the header announces", error);
    if (status)
        return status;
    if (d->below != d->above || d->below_sum != d->above_sum)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "%.200s: some edge stands in only one of its two lines, or with "
                                "another weight there",
                                d->in.path);
    if (d->above != (uint64_t)d->edges)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "%.200s:1: announces %lld edges, but the lines hold %llu",
                                d->in.path, (long long)d->edges, (unsigned long long)d->above);
    struct cleave_error inner = {0};
    status = cleave_hypergraph_new((uint32_t)d->vertices, (uint32_t)d->edges, d->offset.data,
                                   d->pin.data, d->constraints ? (uint32_t)d->constraints : 1,
                                   d->constraints && d->vertices ? d->vertex_weight.data : NULL,
                                   d->has_edge_weights && d->edges ? d->net_weight.data : NULL, out,
                                   &inner);
    if (status)
        status = cleave_error_set(error, status == CLEAVE_BAD_ARGUMENT ? CLEAVE_BAD_INPUT : status,
                                  "%.180s: %.300s", d->in.path, inner.message);
    return status;
}

enum cleave_status cleave_hypergraph_read_graph(const char *path, struct cleave_hypergraph **out,
                                                struct cleave_error *error)
{
    struct draft d = {0};
    enum cleave_status status = cleave__numbers_open(&d.in, path, error);
    if (status)
        return status;
    status = read_all(&d, out, error);
    CLEAVE_VECTOR_FREE(&d.offset);
    CLEAVE_VECTOR_FREE(&d.pin);
    CLEAVE_VECTOR_FREE(&d.net_weight);
    CLEAVE_VECTOR_FREE(&d.vertex_weight);
    cleave__numbers_close(&d.in);
    return status;
}
