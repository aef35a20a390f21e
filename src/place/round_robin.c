/* Vertices dealt out in turn. With unequal shares each vertex goes to the block that is furthest
 * behind its share (a heap would do; k is small and this is a baseline). Fixed vertices are
 * honoured and do not take a turn. O(n k) with shares, else O(n). */
#include <stdlib.h>

#include "place/placer.h"

enum cleave_status cleave__place_round_robin(const struct cleave__request *request, uint32_t *block,
                                             struct cleave_error *error)
{
    uint32_t k = request->blocks, turn = 0;
    const int32_t *fixed = request->options->fixed;
    uint32_t *dealt = calloc(k, sizeof *dealt);
    if (!dealt)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u blocks", k);
    for (uint32_t v = 0; v < request->hypergraph->vertices; v++) {
        if (fixed && fixed[v] != CLEAVE_FREE) {
            block[v] = (uint32_t)fixed[v];
            continue;
        }
        uint32_t b = turn++ % k;
        if (request->options->target_share) {
            double least = 0;
            for (uint32_t i = 0; i < k; i++) {
                double after = (dealt[i] + 1) / cleave__request_share(request, i);
                if (i == 0 || after < least) {
                    least = after;
                    b = i;
                }
            }
        }
        dealt[b]++;
        block[v] = b;
    }
    free(dealt);
    return CLEAVE_OK;
}
