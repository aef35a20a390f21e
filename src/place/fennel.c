/* Fennel (Tsourakakis et al. 2014): in one pass, each vertex goes where it has most neighbours less
 * the marginal cost a g x^(g-1) of a block of x vertices, with g = 1.5 and a = m k^(g-1) / n^g.
 * With weights, x is the fullest weight's part of its quota, times n / k. */
#include <math.h>

#include "place/stream.h"

static double score(const struct cleave__stream *stream, uint32_t b, double factor)
{
    return stream->affinity[b] -
           factor * sqrt(cleave__stream_fill(stream, b, stream->request->quota));
}

enum cleave_status cleave__place_fennel(const struct cleave__request *request, uint32_t *block,
                                        struct cleave_error *error)
{
    const struct cleave_hypergraph *h = request->hypergraph;
    struct cleave__stream stream;
    enum cleave_status status = cleave__stream_init(&stream, request, block, error);
    if (status)
        return status;
    double m = 0, n = h->vertices ? h->vertices : 1;
    for (uint32_t e = 0; e < h->nets; e++)
        m += (double)h->net_weight[e];
    /* a g sqrt(x) with x = fill * n / k is 1.5 m / n * sqrt(fill). */
    status = cleave__stream_pass(&stream, score, 1.5 * m / n, error);
    cleave__stream_free(&stream);
    return status;
}
