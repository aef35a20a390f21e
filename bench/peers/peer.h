/* What every peer program shares: bench/peers/NAME F.hgr K EPSILON SEED OBJECTIVE OUT
 * reads a hypergraph, has another partitioner divide it, writes one block a line into OUT and
 * prints "startup SECONDS" and "call SECONDS" (user CPU: of the peer's own startup, of its
 * partition call). bench/partition runs these and counts their blocks itself. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/hypergraph.h"

struct peer_job {
    struct cleave_hypergraph *hypergraph; /* freed by peer_finish */
    int blocks;
    double epsilon;
    int seed;
    bool connectivity; /* objective km1, else cut */
    const char *out;
    double startup, call; /* for the program to fill */
};

/* Ends the process, with a line on standard error, when the arguments or the file are bad. */
void peer_start(struct peer_job *job, int argc, char **argv);
/* User CPU seconds of this process so far. */
double peer_cpu(void);
/* Never NULL; ends the process when there is no memory. */
void *peer_allocate(size_t count, size_t size);
_Noreturn void peer_fail(const char *format, ...) CLEAVE_PRINTF(1, 2);
/* Writes block[vertices] and the times, frees the hypergraph. */
void peer_finish(struct peer_job *job, const int *block);

#endif
