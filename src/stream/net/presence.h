/* Who of a world is there. Each process that serves answers on the subject NAME.here with its name;
 * the balancer and publishers ask now and then, and say who is waited for.
 *
 * A process that hangs, or is stopped, does not answer; one that answers may still be busy. While
 * this process itself has no server nothing is said. */
#ifndef CLEAVE_STREAM_NET_PRESENCE_H
#define CLEAVE_STREAM_NET_PRESENCE_H

#include "base/metrics.h"
#include "stream/net/process.h"

struct cleave__net_presence;

struct cleave__net_presence_options {
    const struct cleave__net_session *session; /* borrowed */
    const char *name;                          /* "router 1"; NULL: answers nobody */
    /* Optional: on a thread of its own, whenever others have become missing or come back: all that
     * are missing now ("evaluator 0, router 1"; NULL: none). */
    void (*missing)(void *context, const char *names);
    void *context;
    struct cleave_metrics *metrics; /* of those missing; may be NULL */
};

enum cleave_status cleave__net_presence_open(const struct cleave__net_presence_options *options,
                                             struct cleave__net_presence **out,
                                             struct cleave_error *error);
/* NULL is fine. */
void cleave__net_presence_close(struct cleave__net_presence *presence);
/* The server that it is connected to. */
void cleave__net_presence_server(const struct cleave__net_presence *presence, char *out,
                                 size_t size);

#endif
