/* What a world's evaluators have found, in the order in which JetStream keeps
 * it. */
#ifndef CLEAVE_STREAM_NET_SUBSCRIBE_H
#define CLEAVE_STREAM_NET_SUBSCRIBE_H

#include <stddef.h>

#include "cleave/progress.h"
#include "cleave/status.h"
#include "runtime/nats/options.h"

enum cleave__net_log { CLEAVE__NET_MATCHES, CLEAVE__NET_QUERIES };

struct cleave__net_following {
    const struct cleave_nats_options *nats; /* its prefix is the world's name */
    enum cleave__net_log log;
    uint64_t from;    /* sequence number of the first message wanted; 0: what comes
                         from now on */
    bool until_end;   /* ends with what is there now */
    uint64_t idle_ns; /* ends when nothing has come for so long; 0: never */
    const struct cleave_progress *progress;
    /* Each once, rising; a status other than CLEAVE_OK ends it, CLEAVE_END well.
     * `subject`: the last part. */
    enum cleave_status (*each)(void *context, uint64_t sequence, const char *subject,
                               const char *content, size_t length, struct cleave_error *error);
    /* Optional: nothing is at hand; what was printed may be flushed. False: nobody
     * reads it, which ends it well. */
    bool (*idle)(void *context);
    void *context;
};

/* Rides out servers that die; CLEAVE_INTERRUPTED when told to stop.
 * CLEAVE_NOT_FOUND: no such world. */
enum cleave_status cleave__net_follow(const struct cleave__net_following *following,
                                      struct cleave_error *error);

#endif
