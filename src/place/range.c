/* Consecutive vertices: what a range-sharded store does. A block ends where the first weight so far
 * comes closest to its cumulated share. Fixed vertices are honoured. O(n). */
#include "place/placer.h"

enum cleave_status cleave__place_range(const struct cleave__request *request, uint32_t *block,
                                       struct cleave_error *error)
{
    (void)error;
    const struct cleave_hypergraph *h = request->hypergraph;
    const int32_t *fixed = request->options->fixed;
    double total = 0, whole = cleave__request_share_sum(request);
    for (uint32_t v = 0; v < h->vertices; v++)
        total += (double)h->vertex_weight[(size_t)v * h->weights];
    bool weightless = total == 0;
    if (weightless)
        total = h->vertices;
    double filled = 0, share = cleave__request_share(request, 0);
    uint32_t b = 0;
    for (uint32_t v = 0; v < h->vertices; v++) {
        double w = weightless ? 1 : (double)h->vertex_weight[(size_t)v * h->weights];
        while (b + 1 < request->blocks && (filled + w / 2) * whole > share * total)
            share += cleave__request_share(request, ++b);
        filled += w;
        block[v] = fixed && fixed[v] != CLEAVE_FREE ? (uint32_t)fixed[v] : b;
    }
    return CLEAVE_OK;
}
