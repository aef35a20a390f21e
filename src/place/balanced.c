/* Communities to the least loaded block, the largest first (Graham's LPT rule, 1969).
 *
 * `balanced` keeps every community whole, as graphshard lab does, whatever the balance.
 * `balanced-split` keeps whole what fits within the limits; any other it pours, neighbours
 * together, into one least loaded block after another, each up to its quota. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "place/community.h"
#include "place/stream.h"

enum { COUNTED_PINS_MAX = 1000 };

struct balanced {
    struct cleave__stream stream;
    struct cleave_arena arena;
    uint32_t communities;
    uint32_t *community; /* [vertices] */
    uint32_t *first;     /* [communities + 1]: where its members begin */
    uint32_t *member;    /* [vertices]: free vertices by community */
    int64_t *weight;     /* [communities * W]: of free members */
    uint32_t *order;     /* [communities]: the largest first */
    double *size;        /* [communities]: its largest part of any total weight */
    bool *queued;        /* [vertices] */
    uint32_t *queue;     /* [vertices]: scratch */
};

static bool allocate(struct balanced *x)
{
    const struct cleave__request *r = x->stream.request;
    size_t n = r->hypergraph->vertices, c = x->communities;
    x->first = cleave__arena_zalloc(&x->arena, (c + 2) * sizeof *x->first);
    x->member = cleave__arena_array(&x->arena, n, sizeof *x->member);
    x->weight = cleave__arena_zalloc(&x->arena, c * r->weights * sizeof *x->weight);
    x->order = cleave__arena_array(&x->arena, c, sizeof *x->order);
    x->size = cleave__arena_array(&x->arena, c, sizeof *x->size);
    x->queued = cleave__arena_zalloc(&x->arena, n * sizeof *x->queued);
    x->queue = cleave__arena_array(&x->arena, n, sizeof *x->queue);
    return x->first && x->member && x->weight && x->order && x->size && x->queued && x->queue;
}

static int compare(const void *a, const void *b, void *context)
{
    const double *size = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return size[x] != size[y] ? (size[x] < size[y] ? 1 : -1) : (x > y) - (x < y);
}

/* Members and weights by community; the order of communities. */
static void sort_out(struct balanced *x)
{
    const struct cleave__request *r = x->stream.request;
    const struct cleave_hypergraph *h = r->hypergraph;
    const int32_t *fixed = r->options->fixed;
    double total[CLEAVE_WEIGHTS_MAX] = {0};
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (fixed && fixed[v] != CLEAVE_FREE)
            continue;
        x->first[x->community[v] + 2]++;
        for (uint32_t c = 0; c < r->weights; c++) {
            int64_t w = h->vertex_weight[(size_t)v * r->weights + c];
            x->weight[(size_t)x->community[v] * r->weights + c] += w;
            total[c] += (double)w;
        }
    }
    for (uint32_t i = 0; i < x->communities; i++)
        x->first[i + 2] += x->first[i + 1];
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (!fixed || fixed[v] == CLEAVE_FREE)
            x->member[x->first[x->community[v] + 1]++] = v;
    }
    for (uint32_t i = 0; i < x->communities; i++) {
        x->order[i] = i;
        x->size[i] = 0;
        for (uint32_t c = 0; c < r->weights; c++) {
            double w = (double)x->weight[(size_t)i * r->weights + c];
            double part = total[c] > 0 ? w / total[c] : 0;
            x->size[i] = part > x->size[i] ? part : x->size[i];
        }
    }
    qsort_r(x->order, x->communities, sizeof *x->order, compare, x->size);
}

static uint32_t least_loaded(const struct cleave__stream *stream)
{
    uint32_t least = 0;
    double fill = cleave__stream_fill(stream, 0, stream->request->quota);
    for (uint32_t b = 1; b < stream->request->blocks; b++) {
        double other = cleave__stream_fill(stream, b, stream->request->quota);
        if (other < fill) {
            least = b;
            fill = other;
        }
    }
    return least;
}

/* Puts members neighbour by neighbour from here on: breadth first within the community. */
static void by_neighbours(struct balanced *x, uint32_t c)
{
    const struct cleave_hypergraph *h = x->stream.request->hypergraph;
    uint32_t begin = x->first[c], end = x->first[c + 1], count = 0, from = begin;
    uint32_t *queue = x->queue;
    for (uint32_t at = 0; at < end - begin; at++) {
        for (; at == count; from++) { /* another component */
            if (!x->queued[x->member[from]]) {
                x->queued[x->member[from]] = true;
                queue[count++] = x->member[from];
            }
        }
        uint32_t v = queue[at];
        for (uint64_t i = h->vertex_offset[v]; i < h->vertex_offset[v + 1]; i++) {
            uint32_t e = h->incident[i];
            uint64_t first = h->net_offset[e], last = h->net_offset[e + 1];
            for (uint64_t p = first; last - first <= COUNTED_PINS_MAX && p < last; p++) {
                uint32_t u = h->pin[p];
                bool free_here = x->community[u] == c && x->stream.block[u] == CLEAVE__UNPLACED;
                if (x->queued[u] || !free_here)
                    continue;
                x->queued[u] = true;
                queue[count++] = u;
            }
        }
    }
    memcpy(x->member + begin, queue, count * sizeof *queue);
}

static bool fits_whole(const struct balanced *x, uint32_t c, uint32_t b)
{
    const struct cleave__request *r = x->stream.request;
    for (uint32_t w = 0; w < r->weights; w++) {
        size_t at = (size_t)b * r->weights + w;
        if (x->stream.load[at] + x->weight[(size_t)c * r->weights + w] > r->limit[at])
            return false;
    }
    return true;
}

static void pour(struct balanced *x, uint32_t c)
{
    by_neighbours(x, c);
    uint32_t b = least_loaded(&x->stream);
    for (uint32_t i = x->first[c]; i < x->first[c + 1]; i++) {
        if (cleave__stream_fill(&x->stream, b, x->stream.request->quota) >= 1 ||
            !cleave__stream_fits(&x->stream, x->member[i], b))
            b = least_loaded(&x->stream);
        cleave__stream_put(&x->stream, x->member[i], b);
    }
}

static enum cleave_status place(const struct cleave__request *request, uint32_t *block, bool split,
                                struct cleave_error *error)
{
    struct balanced x = {0};
    uint32_t n = request->hypergraph->vertices;
    enum cleave_status status = cleave__stream_init(&x.stream, request, block, error);
    if (status)
        return status;
    x.community = cleave__arena_array(&x.arena, n, sizeof *x.community);
    if (!x.community)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", n);
    if (!status)
        status = cleave__community_of(request, x.community, &x.communities, error);
    if (!status && !allocate(&x))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u communities",
                                  x.communities);
    if (!status)
        sort_out(&x);
    for (uint32_t i = 0; i < x.communities && !status; i++) {
        uint32_t c = x.order[i], b = least_loaded(&x.stream);
        if (split && !fits_whole(&x, c, b)) {
            pour(&x, c);
            continue;
        }
        for (uint32_t j = x.first[c]; j < x.first[c + 1]; j++)
            cleave__stream_put(&x.stream, x.member[j], b);
    }
    cleave__stream_free(&x.stream);
    cleave__arena_free(&x.arena);
    return status;
}

enum cleave_status cleave__place_balanced(const struct cleave__request *request, uint32_t *block,
                                          struct cleave_error *error)
{
    return place(request, block, false, error);
}

enum cleave_status cleave__place_balanced_split(const struct cleave__request *request,
                                                uint32_t *block, struct cleave_error *error)
{
    return place(request, block, true, error);
}
