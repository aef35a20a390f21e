/* Block by a fixed hash of the vertex number: what a hash-sharded store does. Knows nothing of
 * weights or nets; fixed vertices are honoured. O(n log k). */
#include <stdlib.h>

#include "base/random.h"
#include "place/placer.h"

enum cleave_status cleave__place_hash(const struct cleave__request *request, uint32_t *block,
                                      struct cleave_error *error)
{
    uint32_t k = request->blocks;
    const int32_t *fixed = request->options->fixed;
    double *upto = malloc(k * sizeof *upto); /* cumulated shares */
    if (!upto)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", k);
    double sum = 0;
    for (uint32_t b = 0; b < k; b++)
        upto[b] = sum += cleave__request_share(request, b);
    for (uint32_t v = 0; v < request->hypergraph->vertices; v++) {
        uint64_t h = cleave__mix64(request->options->seed * 0x9e3779b97f4a7c15u + v + 1);
        double at = (double)(h >> 11) * 0x1.0p-53 * sum;
        uint32_t low = 0, high = k - 1;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (at < upto[middle])
                high = middle;
            else
                low = middle + 1;
        }
        block[v] = fixed && fixed[v] != CLEAVE_FREE ? (uint32_t)fixed[v] : low;
    }
    free(upto);
    return CLEAVE_OK;
}
