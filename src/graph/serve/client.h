/* The state of a client: read after the run. */
#ifndef CLEAVE_GRAPH_SERVE_CLIENT_H
#define CLEAVE_GRAPH_SERVE_CLIENT_H

#include "graph/serve/world.h"

struct cleave__graph_client {
    const struct cleave__seat *seat;
    uint64_t next, end;     /* query; the first that is not to be asked yet */
    uint64_t step;          /* to the query after this one */
    uint64_t *began_ns;     /* [outstanding] */
    uint64_t *number;       /* [outstanding]: queries under way */
    uint32_t *tries;        /* [outstanding] */
    uint64_t done, last_ns; /* last_ns: when the last answer came, but for the final queries */
    struct cleave_histogram latency_ns;
    struct cleave_writer log; /* u64 length and the answer, one after another */
};

#endif
