/* The hypergraph's life: built from compressed nets, checked, freed.
 *
 * Invariants are those of the public header; cleave_hypergraph_check tests each. Sums are bounded
 * here once (CLEAVE__WEIGHT_SUM_MAX), so that no later room needs to think of overflow. Cost of
 * every call: O(pins). */
#include <stdlib.h>
#include <string.h>

#include "model/hypergraph.h"
#include "model/limits.h"

void cleave_hypergraph_free(struct cleave_hypergraph *hypergraph)
{
    if (!hypergraph)
        return;
    free(hypergraph->net_offset);
    free(hypergraph->pin);
    free(hypergraph->vertex_offset);
    free(hypergraph->incident);
    free(hypergraph->vertex_weight);
    free(hypergraph->net_weight);
    free(hypergraph);
}

/* malloc of an array that is never NULL for being empty. */
static void *array(uint64_t count, size_t size)
{
    if (count > SIZE_MAX / 4 / size)
        return NULL;
    return malloc(count ? (size_t)count * size : 1);
}

/* Drops repeated pins in place. `seen` [vertices] holds net + 1 of the last net that met a vertex.
 */
static enum cleave_status drop_repeated(struct cleave_hypergraph *h, uint64_t *seen,
                                        struct cleave_error *error)
{
    memset(seen, 0, (size_t)h->vertices * sizeof *seen);
    uint64_t used = 0, begin = 0, pins = h->net_offset[h->nets];
    for (uint32_t e = 0; e < h->nets; e++) {
        uint64_t end = h->net_offset[e + 1];
        if (end < begin || end > pins)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "net %u of %u: its offset runs backwards", e, h->nets);
        for (uint64_t i = begin; i < end; i++) {
            uint32_t v = h->pin[i];
            if (v >= h->vertices)
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "net %u names vertex %u, but there are only %u vertices", e,
                                        v, h->vertices);
            if (seen[v] == (uint64_t)e + 1)
                continue;
            seen[v] = (uint64_t)e + 1;
            h->pin[used++] = v;
        }
        begin = end;
        h->net_offset[e + 1] = used;
    }
    return CLEAVE_OK;
}

static void transpose(struct cleave_hypergraph *h)
{
    uint64_t pins = h->net_offset[h->nets];
    memset(h->vertex_offset, 0, ((size_t)h->vertices + 1) * sizeof *h->vertex_offset);
    for (uint64_t i = 0; i < pins; i++)
        h->vertex_offset[h->pin[i] + 1]++;
    for (uint32_t v = 0; v < h->vertices; v++)
        h->vertex_offset[v + 1] += h->vertex_offset[v];
    for (uint32_t e = 0; e < h->nets; e++) {
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++)
            h->incident[h->vertex_offset[h->pin[i]]++] = e;
    }
    for (uint32_t v = h->vertices; v > 0; v--)
        h->vertex_offset[v] = h->vertex_offset[v - 1];
    h->vertex_offset[0] = 0;
}

static enum cleave_status check_weights(const struct cleave_hypergraph *h,
                                        enum cleave_status failure, struct cleave_error *error)
{
    for (uint32_t c = 0; c < h->weights; c++) {
        int64_t sum = 0;
        for (uint32_t v = 0; v < h->vertices; v++) {
            int64_t w = h->vertex_weight[(size_t)v * h->weights + c];
            if (w < 0)
                return cleave_error_set(error, failure, "vertex %u: weight %lld is negative", v,
                                        (long long)w);
            if (w > CLEAVE__WEIGHT_SUM_MAX - sum)
                return cleave_error_set(error, failure,
                                        "vertex weights sum past 2^60 in constraint %u; scale them "
                                        "down",
                                        c);
            sum += w;
        }
    }
    int64_t sum = 0;
    for (uint32_t e = 0; e < h->nets; e++) {
        int64_t w = h->net_weight[e];
        uint64_t size = h->net_offset[e + 1] - h->net_offset[e];
        if (w < 0)
            return cleave_error_set(error, failure, "net %u: weight %lld is negative", e,
                                    (long long)w);
        if (size && w > (CLEAVE__WEIGHT_SUM_MAX - sum) / (int64_t)size)
            return cleave_error_set(error, failure,
                                    "net weights times pins sum past 2^60; scale them down");
        sum += w * (int64_t)size;
    }
    return CLEAVE_OK;
}

/* Ones where no weights were given. */
static int64_t *ones(uint64_t count)
{
    int64_t *values = array(count, sizeof *values);
    for (uint64_t i = 0; values && i < count; i++)
        values[i] = 1;
    return values;
}

enum cleave_status cleave__hypergraph_adopt(struct cleave_hypergraph *h,
                                            struct cleave_hypergraph **out,
                                            struct cleave_error *error)
{
    uint64_t given = h->net_offset[h->nets];
    enum cleave_status status = CLEAVE_NO_MEMORY;
    h->vertex_offset = array((uint64_t)h->vertices + 1, sizeof *h->vertex_offset);
    if (!h->vertex_offset)
        goto fail;
    status = drop_repeated(h, h->vertex_offset, error); /* lends its memory before its own use */
    if (status)
        goto fail;
    uint64_t pins = h->net_offset[h->nets];
    if (pins < given) { /* shorter: where it cannot be, it stays as long as it was */
        uint32_t *shorter = realloc(h->pin, (size_t)(pins ? pins : 1) * sizeof *shorter);
        h->pin = shorter ? shorter : h->pin;
    }
    h->incident = array(pins, sizeof *h->incident);
    if (!h->vertex_weight)
        h->vertex_weight = ones((uint64_t)h->vertices * h->weights);
    if (!h->net_weight)
        h->net_weight = ones(h->nets);
    if (!h->incident || !h->vertex_weight || !h->net_weight) {
        status = CLEAVE_NO_MEMORY;
        goto fail;
    }
    transpose(h);
    status = check_weights(h, CLEAVE_BAD_ARGUMENT, error);
    if (status)
        goto fail;
    *out = h;
    return CLEAVE_OK;

fail:
    if (status == CLEAVE_NO_MEMORY)
        cleave_error_set(error, status, "no memory for a hypergraph of %u vertices and %llu pins",
                         h->vertices, (unsigned long long)given);
    cleave_hypergraph_free(h);
    return status;
}

/* A copy that is never NULL for being empty; NULL when memory is out. */
static void *copy(const void *from, uint64_t count, size_t size)
{
    void *to = array(count, size);
    if (to && count)
        memcpy(to, from, (size_t)count * size);
    return to;
}

enum cleave_status cleave_hypergraph_new(uint32_t vertices, uint32_t nets,
                                         const uint64_t *net_offset, const uint32_t *pin,
                                         uint32_t weights, const int64_t *vertex_weight,
                                         const int64_t *net_weight, struct cleave_hypergraph **out,
                                         struct cleave_error *error)
{
    if (weights < 1 || weights > CLEAVE_WEIGHTS_MAX || (!vertex_weight && weights != 1))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a vertex carries 1 to %d weights (1 when none are given), not %u",
                                CLEAVE_WEIGHTS_MAX, weights);
    if (vertices > CLEAVE__VERTICES_MAX || nets > CLEAVE__VERTICES_MAX)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "%u vertices and %u nets: at most %u of each are supported",
                                vertices, nets, CLEAVE__VERTICES_MAX);
    if (nets && (!net_offset || net_offset[0] != 0 || (!pin && net_offset[nets])))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "the first net must start at pin 0");

    static const uint64_t none[] = {0};
    uint64_t pins = nets ? net_offset[nets] : 0;
    struct cleave_hypergraph *h = calloc(1, sizeof *h);
    if (h) {
        *h = (struct cleave_hypergraph){.vertices = vertices, .nets = nets, .weights = weights};
        h->net_offset = copy(nets ? net_offset : none, (uint64_t)nets + 1, sizeof *net_offset);
        h->pin = copy(pin, pins, sizeof *pin);
        if (vertex_weight)
            h->vertex_weight =
                copy(vertex_weight, (uint64_t)vertices * weights, sizeof *vertex_weight);
        if (net_weight)
            h->net_weight = copy(net_weight, nets, sizeof *net_weight);
    }
    if (!h || !h->net_offset || !h->pin || (vertex_weight && !h->vertex_weight) ||
        (net_weight && !h->net_weight)) {
        cleave_hypergraph_free(h);
        return cleave_error_set(error, CLEAVE_NO_MEMORY,
                                "no memory for a hypergraph of %u vertices and %llu pins", vertices,
                                (unsigned long long)pins);
    }
    return cleave__hypergraph_adopt(h, out, error);
}

enum cleave_status cleave_hypergraph_check(const struct cleave_hypergraph *h,
                                           struct cleave_error *error)
{
    if (h->weights < 1 || h->weights > CLEAVE_WEIGHTS_MAX)
        return cleave_error_set(error, CLEAVE_CORRUPT, "%u weights a vertex", h->weights);
    if (h->net_offset[0] != 0 || h->vertex_offset[0] != 0)
        return cleave_error_set(error, CLEAVE_CORRUPT, "offsets do not start at 0");
    for (uint32_t e = 0; e < h->nets; e++) {
        if (h->net_offset[e + 1] < h->net_offset[e])
            return cleave_error_set(error, CLEAVE_CORRUPT, "net %u: offset runs backwards", e);
    }
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (h->vertex_offset[v + 1] < h->vertex_offset[v])
            return cleave_error_set(error, CLEAVE_CORRUPT, "vertex %u: offset runs backwards", v);
    }
    if (h->net_offset[h->nets] != h->vertex_offset[h->vertices])
        return cleave_error_set(error, CLEAVE_CORRUPT, "pins differ between the two directions");

    /* Walking nets in order must meet each vertex's incident list in order: that is both the
     * transpose and, since incident lists then rise strictly, the absence of repeated pins. */
    uint64_t *next = calloc((size_t)h->vertices + 1, sizeof *next);
    if (!next)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to check a hypergraph");
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t e = 0; e < h->nets && !status; e++) {
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1] && !status; i++) {
            uint32_t v = h->pin[i];
            if (v >= h->vertices) {
                status =
                    cleave_error_set(error, CLEAVE_CORRUPT, "net %u: pin %u out of range", e, v);
                break;
            }
            uint64_t at = h->vertex_offset[v] + next[v]++;
            if (at >= h->vertex_offset[v + 1] || h->incident[at] != e)
                status =
                    cleave_error_set(error, CLEAVE_CORRUPT,
                                     "vertex %u: its nets are not the transpose at net %u", v, e);
            else if (at > h->vertex_offset[v] && h->incident[at - 1] >= e)
                status =
                    cleave_error_set(error, CLEAVE_CORRUPT, "net %u: pin %u is repeated", e, v);
        }
    }
    free(next);
    return status ? status : check_weights(h, CLEAVE_CORRUPT, error);
}
