/* Communities dealt out in turn: number c goes to block c modulo k, however large it is. Graphshard
 * lab's community placement. Knows nothing of weights or shares; fixed vertices are honoured. */
#include "place/community.h"

enum cleave_status cleave__place_community(const struct cleave__request *request, uint32_t *block,
                                           struct cleave_error *error)
{
    uint32_t count;
    const int32_t *fixed = request->options->fixed;
    enum cleave_status status = cleave__community_of(request, block, &count, error);
    for (uint32_t v = 0; v < request->hypergraph->vertices && !status; v++)
        block[v] =
            fixed && fixed[v] != CLEAVE_FREE ? (uint32_t)fixed[v] : block[v] % request->blocks;
    return status;
}
