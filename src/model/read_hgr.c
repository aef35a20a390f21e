/* hMETIS .hgr: a line "nets vertices [fmt]", a line a net (its weight first if fmt is 1 or 11), a
 * line a vertex if fmt is 10 or 11. '%' starts a comment line; an empty line among the nets is a
 * net without pins. Several weights a vertex are accepted when every line has as many.
 *
 * Memory follows the bytes read, not the numbers announced: a header that lies costs nothing. */
#include <stdlib.h>

#include "base/vector.h"
#include "cleave/hypergraph.h"
#include "model/limits.h"
#include "model/numbers.h"

struct draft {
    struct cleave__numbers in;
    int64_t nets, vertices;
    bool has_net_weights, has_vertex_weights;
    uint32_t weights;
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
                &d->in, error, "no header; the first line must be \"nets vertices [fmt]\"");
        if (status)
            return status;
    } while (cleave__numbers_done(&d->in));
    int64_t format = 0;
    status =
        cleave__numbers_next(&d->in, "number of nets", 0, CLEAVE__VERTICES_MAX, &d->nets, error);
    if (!status)
        status = cleave__numbers_next(&d->in, "number of vertices", 0, CLEAVE__VERTICES_MAX,
                                      &d->vertices, error);
    if (!status && !cleave__numbers_done(&d->in))
        status = cleave__numbers_next(&d->in, "format", 0, 11, &format, error);
    if (status)
        return status;
    if (format != 0 && format != 1 && format != 10 && format != 11)
        return cleave__numbers_fail(&d->in, error, "format is %lld: must be 0, 1, 10 or 11",
                                    (long long)format);
    if (!cleave__numbers_done(&d->in))
        return cleave__numbers_fail(&d->in, error, "header has more than \"nets vertices [fmt]\"");
    d->has_net_weights = format == 1 || format == 11;
    d->has_vertex_weights = format >= 10;
    return CLEAVE_OK;
}

static enum cleave_status read_net(struct draft *d, int64_t net, struct cleave_error *error)
{
    enum cleave_status status = cleave__numbers_line(&d->in, error);
    if (status == CLEAVE_END)
        return cleave__numbers_fail(&d->in, error,
                                    "file ends after %lld of the %lld nets announced",
                                    (long long)net, (long long)d->nets);
    if (status)
        return status;
    int64_t number;
    if (d->has_net_weights) {
        status =
            cleave__numbers_next(&d->in, "net weight", 0, CLEAVE__WEIGHT_SUM_MAX, &number, error);
        if (status)
            return status;
        if (!CLEAVE_PUSH(&d->net_weight, number))
            return no_memory(d, error);
    }
    while (!cleave__numbers_done(&d->in)) {
        status = cleave__numbers_next(&d->in, "vertex", 1, d->vertices, &number, error);
        if (status)
            return status;
        if (!CLEAVE_PUSH(&d->pin, (uint32_t)(number - 1)))
            return no_memory(d, error);
    }
    return CLEAVE_PUSH(&d->offset, d->pin.count) ? CLEAVE_OK : no_memory(d, error);
}

static enum cleave_status read_vertex(struct draft *d, int64_t vertex, struct cleave_error *error)
{
    enum cleave_status status = cleave__numbers_line(&d->in, error);
    if (status == CLEAVE_END)
        return cleave__numbers_fail(&d->in, error,
                                    "file ends after the weights of %lld of %lld vertices",
                                    (long long)vertex, (long long)d->vertices);
    if (status)
        return status;
    uint32_t found = 0;
    do {
        int64_t number;
        status = cleave__numbers_next(&d->in, "vertex weight", 0, CLEAVE__WEIGHT_SUM_MAX, &number,
                                      error);
        if (status)
            return status;
        if (++found > CLEAVE_WEIGHTS_MAX)
            return cleave__numbers_fail(&d->in, error, "more than %d weights a vertex",
                                        CLEAVE_WEIGHTS_MAX);
        if (!CLEAVE_PUSH(&d->vertex_weight, number))
            return no_memory(d, error);
    } while (!cleave__numbers_done(&d->in));
    if (vertex == 0)
        d->weights = found;
    if (found != d->weights)
        return cleave__numbers_fail(
            &d->in, error, "%u weights for this vertex, but %u for the first", found, d->weights);
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
    for (int64_t e = 0; e < d->nets; e++) {
        status = read_net(d, e, error);
        if (status)
            return status;
    }
    d->weights = 1;
    for (int64_t v = 0; v < d->vertices && d->has_vertex_weights; v++) {
        status = read_vertex(d, v, error);
        if (status)
            return status;
    }
    status = cleave__numbers_finish(&d->in, "the header announces", error);
    if (status)
        return status;
    if (!d->has_vertex_weights && (uint64_t)d->vertices > 1000000 + 64 * d->in.bytes)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "%.200s:1: announces %lld vertices, far more than the file could "
                                "name; correct the header",
                                d->in.path, (long long)d->vertices);
    struct cleave_error inner = {0};
    status = cleave_hypergraph_new(
        (uint32_t)d->vertices, (uint32_t)d->nets, d->offset.data, d->pin.data, d->weights,
        d->has_vertex_weights && d->vertices ? d->vertex_weight.data : NULL,
        d->has_net_weights ? d->net_weight.data : NULL, out, &inner);
    if (status)
        status = cleave_error_set(error, status == CLEAVE_BAD_ARGUMENT ? CLEAVE_BAD_INPUT : status,
                                  "%.180s: %.300s", d->in.path, inner.message);
    return status;
}

enum cleave_status cleave_hypergraph_read_hgr(const char *path, struct cleave_hypergraph **out,
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
