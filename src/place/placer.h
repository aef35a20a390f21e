/* A placer: a request in, a block for every vertex out. One static row each in registry.c. */
#ifndef CLEAVE_PLACE_PLACER_H
#define CLEAVE_PLACE_PLACER_H

#include "cleave/partition.h"

/* The caller's request, checked, with what it implies worked out. */
struct cleave__request {
    const struct cleave_hypergraph *hypergraph;
    const struct cleave_partition_options *options;
    uint32_t blocks;
    uint32_t weights;
    int64_t *quota; /* [blocks * weights]: ceil(share * total) */
    int64_t *limit; /* [blocks * weights]: the most a block may carry */
    int64_t *floor; /* [blocks * weights]: the least; NULL: 0 */
};

struct cleave__placer {
    struct cleave_placer_info info;
    /* Fills block[vertices]; fixed vertices in their blocks. CLEAVE_OK whether or not the answer is
     * balanced: the caller measures. `block` may be written even on error (it is the caller's
     * scratch). */
    enum cleave_status (*place)(const struct cleave__request *request, uint32_t *block,
                                struct cleave_error *error);
};

const struct cleave__placer *cleave__placer_find(const char *name);
/* The names, joined by ", ", for messages. */
void cleave__placer_names(char *buffer, size_t size);

enum cleave_status cleave__place_multilevel(const struct cleave__request *request, uint32_t *block,
                                            struct cleave_error *error);
enum cleave_status cleave__place_hash(const struct cleave__request *request, uint32_t *block,
                                      struct cleave_error *error);
enum cleave_status cleave__place_range(const struct cleave__request *request, uint32_t *block,
                                       struct cleave_error *error);
enum cleave_status cleave__place_round_robin(const struct cleave__request *request, uint32_t *block,
                                             struct cleave_error *error);

/* Streaming and community placers, each in a file of its name. */
enum cleave_status cleave__place_ldg(const struct cleave__request *request, uint32_t *block,
                                     struct cleave_error *error);
enum cleave_status cleave__place_fennel(const struct cleave__request *request, uint32_t *block,
                                        struct cleave_error *error);
enum cleave_status cleave__place_restream(const struct cleave__request *request, uint32_t *block,
                                          struct cleave_error *error);
enum cleave_status cleave__place_community(const struct cleave__request *request, uint32_t *block,
                                           struct cleave_error *error);
enum cleave_status cleave__place_balanced(const struct cleave__request *request, uint32_t *block,
                                          struct cleave_error *error);
enum cleave_status cleave__place_balanced_split(const struct cleave__request *request,
                                                uint32_t *block, struct cleave_error *error);

/* Target share of block b among all, as given or 1. */
double cleave__request_share(const struct cleave__request *request, uint32_t b);
double cleave__request_share_sum(const struct cleave__request *request);

#endif
