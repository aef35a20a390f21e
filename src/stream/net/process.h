/* One process of a stream's world on NATS: a router, an evaluator with its
 * sink, the balancer, the tracker (tracker.h), or a publisher, which feeds the world.
 *
 * All declare the same actors in the same order, so that numbers agree:
 * evaluators, routers, a sink for each evaluator, publishers, the balancer;
 * then the group of all routers, the stream of matches and, where things are tracked, the tracker.
 * The world's bucket
 * (named like the world) has
 *
 *     world          what all agree on (world.h)
 *     map            the evaluators' cells, as the balancer last had them moved
 *     sessions       how many publishers there have been
 *     publisher.N    who has the N-th seat of publishers, and until when
 *     terms.N        words by number (dictionary.h), as fields.N
 *
 * and its streams PREFIX-log-matches what was found, PREFIX-log-queries the
 * standing queries' names. */
#ifndef CLEAVE_STREAM_NET_PROCESS_H
#define CLEAVE_STREAM_NET_PROCESS_H

#include "base/histogram.h"
#include "runtime/nats/options.h"
#include "stream/net/log_sink.h"
#include "stream/net/world.h"

struct cleave__bucket;

enum cleave__net_role {
    CLEAVE__NET_ROUTER,
    CLEAVE__NET_EVALUATOR,
    CLEAVE__NET_BALANCER,
    CLEAVE__NET_TRACKER,
    CLEAVE__NET_PUBLISHER
};

/* A world as a process finds it. */
struct cleave__net_session {
    struct cleave_nats_options nats; /* its prefix is the world's name; borrowed pointers */
    struct cleave__bucket *bucket;
    struct cleave__net_world world;
};

/* Connects and reads the world. Where there is none: makes it as `create` says,
 * or (NULL) waits for it as long as the progress lets it, or gives
 * CLEAVE_NOT_FOUND when there is no progress. A world that is there and differs
 * from `create` is CLEAVE_BAD_ARGUMENT. The caller closes it. */
enum cleave_status cleave__net_session_open(const struct cleave_nats_options *nats,
                                            const struct cleave__net_world *create,
                                            const struct cleave_progress *progress,
                                            struct cleave__net_session **out,
                                            struct cleave_error *error);
/* Bytes of a row that go along with an object at most: a message of matches has
 * room for it. */
size_t cleave__net_note_most(const struct cleave__net_session *session);
void cleave__net_session_close(struct cleave__net_session *session);

/* What a process that serves is. */
struct cleave__net_part {
    enum cleave__net_role role; /* not a publisher */
    uint32_t seat;
    struct cleave_metrics *metrics; /* may be NULL */
    /* Optional: it is at work, by this server. */
    void (*ready)(void *context, const char *name, const char *server);
    /* Optional, of the balancer: presence.h. */
    void (*missing)(void *context, const char *names);
    void *context;
    const struct cleave_progress *progress;
};
/* Serves until the progress says stop, which is CLEAVE_OK here: an orderly end.
 */
enum cleave_status cleave__net_serve(struct cleave__net_session *session,
                                     const struct cleave__net_part *part,
                                     struct cleave_error *error);

/* A publisher's numbers: objects and versions of queries are `base` + 1, + 2,
 * ... */
struct cleave__net_seat {
    uint32_t number;
    uint64_t session, base;
    bool first; /* no earlier session was still at work */
};
/* Takes a seat that is free, or whose holder was not heard of for
 * CLEAVE__NET_SEAT_MS; keeps it by a thread of its own until it is released.
 * Other such holders lose theirs: who takes itself for the first must not be
 * followed by an earlier one. CLEAVE_LIMIT: all are taken. */
enum { CLEAVE__NET_SEAT_MS = 10000 };
struct cleave__net_hold;
enum cleave_status cleave__net_seat_take(struct cleave__net_session *session,
                                         struct cleave__net_hold **out,
                                         struct cleave__net_seat *seat, struct cleave_error *error);
/* Whether the seat is still this process's, which may have been stopped, or its
 * machine asleep: at once as long as that is known, else when the servers have
 * said so. What is answered counts only after it. CLEAVE_CONFLICT: it is not;
 * CLEAVE_INTERRUPTED: told to stop. Any thread. */
enum cleave_status cleave__net_seat_check(struct cleave__net_hold *hold,
                                          const struct cleave_progress *progress,
                                          struct cleave_error *error);
void cleave__net_seat_release(struct cleave__net_hold *hold);

struct cleave__net_published {
    uint64_t objects, queries, removals, repeated;
    double objects_per_s, queries_per_s;
    struct cleave_histogram ack_ns; /* from sending an object to its acknowledgement */
};
/* Feeds until the feed ends and everything is acknowledged. The caller frees
 * the histogram. */
enum cleave_status
cleave__net_publish(struct cleave__net_session *session, const struct cleave__net_seat *seat,
                    const struct cleave__feed_ops *ops, void *feed, struct cleave_metrics *metrics,
                    const struct cleave_progress *progress, struct cleave__net_published *out,
                    struct cleave_error *error);

#endif
