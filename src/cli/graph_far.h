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
    uint64_t hash; /* of the agreement */
    struct cleave__agreement agreement;
    /* Inside. */
    struct cleave_nats_options keeping; /* of the bucket, whose prefix is the world's name */
    struct cleave__bucket *bucket;
    uint32_t seat;
    struct cleave_graph_seat *sits; /* NULL: on no seat */
};

/* How to make the agreement if there is none: fills all but the fingerprint and the vertices. */
typedef enum cleave_status cleave__agreement_maker(void *context, const struct cleave__graph *graph,
                                                   struct cleave__agreement *out,
                                                   struct cleave_error *error);

/* `make` NULL: that there is none is an error; else `placement` is written down as what it placed
 * by.
 * `*made` (may be NULL): it was made here. On an error nothing is open. */
enum cleave_status cleave__graph_far_open(struct cleave_graph_far *far,
                                          const struct cleave_nats_arguments *arguments,
                                          const struct cleave__graph *graph, const char *placement,
                                          cleave__agreement_maker *make, void *context, bool *made,
                                          struct cleave_error *error);
/* CLEAVE_BAD_ARGUMENT: the world `name` was placed by something else. */
enum cleave_status cleave__graph_far_placed(struct cleave_graph_far *far, const char *name,
                                            const char *placement, struct cleave_error *error);
/* A client's seat that nobody has (`far->seat`), kept until _leave by a thread of its own, which
 * uses the bucket; nothing where there is one already. Where all are taken it waits for so long.
 * One that was left by a crash is free CLEAVE_SEAT_KEPT_S later, by the clock of whoever comes:
 * more than a cluster needs to find a new leader. graph_seat.c. */
enum { CLEAVE_SEAT_KEPT_S = 15, CLEAVE_SEAT_PATIENCE_S = 30 };
enum cleave_status cleave__graph_far_sit(struct cleave_graph_far *far, uint32_t patience_s,
                                         const struct cleave_progress *progress,
                                         struct cleave_error *error);
void cleave__graph_far_leave(struct cleave_graph_far *far);
/* Gives the seat back, too. Harmless after an error of _open. */
void cleave__graph_far_close(struct cleave_graph_far *far);

#endif
