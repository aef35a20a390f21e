/* The actors of a simulated cluster: clients, and the backends that serve them. */
#ifndef CLEAVE_TABLES_SERVE_ACTORS_H
#define CLEAVE_TABLES_SERVE_ACTORS_H

#include "base/histogram.h"
#include "runtime/actor.h"
#include "tables/serve/simulate.h"

/* What all actors know, and none changes. */
struct cleave__cluster {
    const struct cleave_plan *plan;
    const struct cleave_simulation *simulation;
    uint64_t transactions; /* to play in all */
};

/* The backend of a client on a shard, as an actor's number: backends come first. */
static inline uint32_t cleave__backend_of(const struct cleave__cluster *cluster, uint32_t shard,
                                          uint32_t client)
{
    return 1 + shard * cluster->simulation->clients + client;
}

struct cleave__seat { /* the argument of a client or a backend */
    const struct cleave__cluster *cluster;
    uint32_t client;
};

/* The state of a client, read after the run. */
struct cleave__client {
    const struct cleave__seat *seat;
    uint64_t next;     /* transaction, counted over all repetitions */
    uint64_t began_ns; /* the one under way */
    uint64_t done, distributed, accesses;
    struct cleave_histogram latency_ns;
};

extern const struct cleave_actor_ops cleave__client_ops;  /* client.c */
extern const struct cleave_actor_ops cleave__backend_ops; /* backend.c */

enum cleave__serve_kind {
    CLEAVE__SERVE_RUN,    /* client to coordinator: a transaction */
    CLEAVE__SERVE_PART,   /* coordinator to part: read, or write and prepare */
    CLEAVE__SERVE_COMMIT, /* coordinator to part */
    CLEAVE__SERVE_DONE    /* an answer to any of them */
};

/* A body for so many accesses: the transaction's number, the accesses, and room for what
 * statements or rows would take. */
void cleave__serve_body(struct cleave_writer *writer, uint64_t transaction, uint32_t accesses);

#endif
