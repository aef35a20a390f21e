/* A connection to a NATS cluster, by options; and one clear line when there is none. */
#ifndef CLEAVE_RUNTIME_NATS_DIAL_H
#define CLEAVE_RUNTIME_NATS_DIAL_H

#include <nats/nats.h>

#include "cleave/status.h"
#include "runtime/nats/options.h"

enum { CLEAVE__PREFIX_BYTES = 100, CLEAVE__SEED_BYTES = 100 };

struct cleave__dial {
    const struct cleave_nats_options *options;
    natsOptions *connecting;
    natsConnection *connection;
    size_t payload_most;               /* bytes of a message that the server takes, at most 1 MiB */
    char prefix[CLEAVE__PREFIX_BYTES]; /* of subjects */
    char seed[CLEAVE__SEED_BYTES];     /* of an NKey; wiped at the end */
};

/* Told by the library, on threads of its own. */
struct cleave__dial_calls {
    void *context;
    natsConnectionHandler disconnected, reconnected, closed;
    natsErrHandler error;
};

/* `calls` may be NULL. `options` are borrowed until closed; `dial` is not to be moved, and
 * to be closed whatever is returned. */
enum cleave_status cleave__dial_open(struct cleave__dial *dial,
                                     const struct cleave_nats_options *options,
                                     const struct cleave__dial_calls *calls,
                                     struct cleave_error *error);
void cleave__dial_close(struct cleave__dial *dial);

/* Whether what failed may be over by waiting: nobody is there, or not any more, or has no leader.
 */
bool cleave__dial_passes(natsStatus status);
/* Waits until the server has taken all that was asked of it so far, subscriptions too; over
 * connections that are lost and come back, for the options' patience. */
natsStatus cleave__dial_sync(const struct cleave__dial *dial);
/* Ends and frees a subscription, if it is one, of an open connection. libnats before 3.6 (its issue
 * 637) crashes when one is freed while a message for it is read; so whatever was on its way is read
 * before. */
void cleave__dial_unsubscribe(const struct cleave__dial *dial, natsSubscription *subscription);

/* Fills `error` for what the library says about `what`. */
enum cleave_status cleave__dial_error(struct cleave_error *error, natsStatus status,
                                      const char *what);
/* A URL without its password, at most `size` bytes. */
void cleave__dial_url(const char *url, char *out, size_t size);
/* The challenge of the server is signed with an NKey, of which this is the seed. */
enum cleave_status cleave__dial_use_nkey(struct cleave__dial *dial, const char *seed,
                                         struct cleave_error *error);

#endif
