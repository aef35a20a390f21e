/* A graph that processes behind NATS serve, as a command of one of them sees it: what they agree
 * on, kept in a bucket, and a client's seat. */
#ifndef CLEAVE_CLI_GRAPH_FAR_H
#define CLEAVE_CLI_GRAPH_FAR_H

#include "cli/graph.h"
#include "cli/nats_options.h"
#include "graph/serve/agreement.h"
#include "runtime/nats/bucket.h"

struct cleave_graph_far {
    struct cleave_nats_options nats; /* its prefix is `prefix` */
    char prefix[100];
    struct cleave__agreement agreement;
    /* Inside. */
    struct cleave_nats_options keeping; /* of the bucket, whose prefix is the world's name */
    struct cleave__bucket *bucket;
    uint64_t seat_revision;
    uint32_t seat;
    bool seated;
};

/* How to make the agreement if there is none: fills all but the fingerprint and the vertices. */
typedef enum cleave_status cleave__agreement_maker(void *context, const struct cleave__graph *graph,
                                                   struct cleave__agreement *out,
                                                   struct cleave_error *error);

/* `make` NULL: that there is none is an error. `*made` (may be NULL): it was made here. On an error
 * nothing is open. */
enum cleave_status cleave__graph_far_open(struct cleave_graph_far *far,
                                          const struct cleave_nats_arguments *arguments,
                                          const struct cleave__graph *graph,
                                          cleave__agreement_maker *make, void *context, bool *made,
                                          struct cleave_error *error);
/* A client's seat that nobody has (`far->seat`), for CLEAVE_SEAT_KEPT_S; again, for as long from
 * now on. One that was left by a crash is free when that time is over, by the clock of whoever
 * comes. */
enum { CLEAVE_SEAT_KEPT_S = 120 };
enum cleave_status cleave__graph_far_sit(struct cleave_graph_far *far, struct cleave_error *error);
/* Gives the seat back. Harmless after an error of _open. */
void cleave__graph_far_close(struct cleave_graph_far *far);

#endif
