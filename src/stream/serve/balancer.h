/* The state of the balancer: whose cells are whose, reports, one operation at a time. */
#ifndef CLEAVE_STREAM_SERVE_BALANCER_H
#define CLEAVE_STREAM_SERVE_BALANCER_H

#include "move/move.h"
#include "stream/balance/central.h"
#include "stream/balance/decide.h"
#include "stream/serve/world.h"

enum cleave__balancer_stage {
    CLEAVE__BALANCER_IDLE,
    CLEAVE__BALANCER_LOADING,  /* evaluators report */
    CLEAVE__BALANCER_SHIFTING, /* one finds where to cut */
    CLEAVE__BALANCER_OPENING,  /* routers let objects through to both ends */
    CLEAVE__BALANCER_MOVING,
    CLEAVE__BALANCER_DRAINING, /* routers wait for keywords under way */
    CLEAVE__BALANCER_SHUTTING
};

struct cleave__balancer {
    const struct cleave__stream_seat *seat;
    enum cleave__balancer_stage stage;
    uint32_t waits, round;                  /* answers of this round */
    bool over;                              /* nothing more will come */
    struct cleave__cells *cells;            /* [evaluators] */
    struct cleave__balance_report *reports; /* [evaluators] */
    /* Centralized: sums of what evaluators sent of their cells [evaluators], and the sides where a
     * shift was looked for in vain since costs decayed last, as bits [evaluators]. */
    struct cleave__aggregates **sums;
    uint32_t *refused;
    struct cleave__balance_decision decision;
    uint32_t step; /* of the decision */
    uint64_t began_ns, moved_queries, ticks;
    struct cleave__mover mover;
    CLEAVE_VECTOR(struct cleave__rebalance) rebalances;
    uint64_t operations; /* so far */
    uint32_t forced;     /* kinds tried so far */
};

/* balancer_keep.c: what outlives a crash */
void cleave__balancer_write(const struct cleave__balancer *balancer, struct cleave_writer *writer);
/* If there are faults. */
void cleave__balancer_save(void *balancer, struct cleave_context *context);
/* Into one just made. CLEAVE_CORRUPT, CLEAVE_NO_MEMORY: it can only be freed. */
enum cleave_status cleave__balancer_load(struct cleave__balancer *balancer, const uint8_t *saved,
                                         size_t length, struct cleave_error *error);
/* An operation of a kind at a random place; false: none is possible. */
bool cleave__balancer_force(struct cleave__balancer *b, struct cleave_random *random,
                            enum cleave__balance_kind kind);

#endif
