#include <stdio.h>
#include <string.h>

#include "model/measures.h"
#include "tables/compare/compare.h"

/* Checks each node's limits; the first one passed goes into words. */
static bool check_nodes(const struct cleave_steer *steer,
                        const struct cleave_evaluation *evaluation, uint32_t shards, char *words,
                        size_t size)
{
    words[0] = 0;
    for (uint32_t s = 0; s < steer->node_count && s < shards; s++) {
        const struct cleave_node *node = &steer->nodes[s];
        double remote = evaluation->train.work[s] - evaluation->train.accesses[s];
        struct {
            const char *what;
            double load, limit;
        } limits[3] = {{"storage", evaluation->sizes[s], node->storage_bytes},
                       {"accesses", evaluation->train.accesses[s], node->accesses},
                       {"network", remote, node->network}};
        for (int i = 0; i < 3; i++) {
            if (limits[i].limit > 0 && limits[i].load > limits[i].limit) {
                snprintf(words, size, "shard %u: %s %.6g is past its limit of %.6g", s,
                         limits[i].what, limits[i].load, limits[i].limit);
                return false;
            }
        }
    }
    return true;
}

enum cleave_status cleave__evaluate(const struct cleave_case *kase,
                                    const struct cleave_steer *steer,
                                    const struct cleave_layout *layout,
                                    const struct cleave_lookup *lookup, struct cleave_arena *arena,
                                    struct cleave_evaluation *out, struct cleave_error *error)
{
    struct cleave_evaluation e = {.infeasible = ""};
    enum cleave_status status =
        cleave__count(lookup, &kase->train, steer->coordination, arena, &e.train, error);
    if (!status)
        status =
            cleave__count(lookup, &kase->held_out, steer->coordination, arena, &e.held_out, error);
    if (!status)
        status = cleave__shard_sizes(layout, &kase->train, arena, &e.sizes, error);
    if (status)
        return status;
    e.skew_factor =
        cleave__skew_factor(layout->shards, e.sizes, e.train.accesses, steer->alpha, steer->beta);
    e.imbalance_size = cleave__imbalance(e.sizes, layout->shards);
    e.imbalance_access = cleave__imbalance(e.train.accesses, layout->shards);
    for (uint32_t s = 0; s < layout->shards; s++) {
        double share = e.train.transactions ? e.train.work[s] / (double)e.train.transactions : 0;
        e.bottleneck = share > e.bottleneck ? share : e.bottleneck;
    }
    char words[160];
    e.feasible = check_nodes(steer, &e, layout->shards, words, sizeof words);
    if (!e.feasible) {
        e.infeasible = cleave__arena_copy(arena, words, strlen(words));
        if (!e.infeasible)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the evaluation");
    }
    e.lookup_bytes = cleave__lookup_bytes(lookup);
    *out = e;
    return CLEAVE_OK;
}
