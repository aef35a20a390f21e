/* Which users leave a shard that is split: one side of its own graph cut in two by the partitioner.
 */
#include <stdlib.h>

#include "graph/place/place.h"
#include "graph/serve/change.h"

uint64_t *cleave__split_choose(const struct cleave__graph *graph, const uint32_t *owner,
                               uint32_t shard, uint64_t seed, size_t *count)
{
    struct cleave__edges edges = {0};
    struct cleave__graph *inside = NULL;
    struct cleave_error error;
    uint32_t n = graph->vertices, members = 0;
    uint32_t *number = malloc(((size_t)n + 1) * sizeof *number);
    uint32_t *side = malloc(((size_t)n + 1) * sizeof *side);
    uint64_t *users = malloc(((size_t)n + 1) * sizeof *users);
    bool ok = number && side && users;
    *count = 0;
    for (uint32_t v = 0; v < n && ok; v++)
        number[v] = owner[v] == shard ? members++ : UINT32_MAX;
    for (uint32_t v = 0; v < n && ok; v++) {
        for (uint64_t i = graph->offset[v]; i < graph->offset[v + 1] && ok; i++) {
            uint32_t to = number[graph->target[i]];
            if (number[v] != UINT32_MAX && to != UINT32_MAX)
                ok = CLEAVE_PUSH(&edges.end, number[v]) && CLEAVE_PUSH(&edges.end, to);
        }
    }
    ok = ok && (members < 2 || !cleave__graph_build(members, &edges, false, &inside, &error));
    if (ok && inside)
        ok = !cleave__graph_place(
            &(struct cleave__graph_place_request){
                .graph = inside, .shards = 2, .epsilon = 0.03, .threads = 1, .seed = seed},
            "multilevel", side, NULL, &error);
    for (uint32_t v = 0; v < n && ok && inside; v++) {
        if (number[v] != UINT32_MAX && side[number[v]] == 1)
            users[(*count)++] = v;
    }
    CLEAVE_VECTOR_FREE(&edges.end);
    cleave__graph_free(inside);
    free(number);
    free(side);
    if (!ok) {
        free(users);
        return NULL;
    }
    return users;
}
