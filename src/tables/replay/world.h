/* What every actor of a replay knows and none changes, and connections to shards that come back. */
#ifndef CLEAVE_TABLES_REPLAY_WORLD_H
#define CLEAVE_TABLES_REPLAY_WORLD_H

#include <signal.h>

#include "store/store.h"
#include "tables/replay/watch.h"
#include "tables/route/lookup.h"

struct cleave__replay_world {
    const struct cleave_lookup *lookup;
    const char *const *urls; /* [shards] */
    const char *reference;   /* URL; NULL: nothing is compared */
    const char *coordinator; /* letters, digits, "_" */
    uint32_t clients;
    uint64_t base_id;                  /* ids of attempts begin here: none was used before */
    const bool *const *generated;      /* [table][column]: no INSERT may give it; NULL: none is */
    uint64_t patience_ns;              /* how long to wait for a shard that is gone */
    const volatile sig_atomic_t *stop; /* may be NULL */
    const struct cleave__replay_watch *watch; /* of a replay */
    /* For tests that kill things at such points; may be NULL. */
    void (*at)(void *context, const char *point);
    void *at_context;
};

/* A session that is opened when needed. */
struct cleave__port {
    const struct cleave_store_ops *ops;
    const char *url;
    struct cleave_store_session *session; /* NULL: closed */
};

void cleave__port_init(struct cleave__port *port, const char *url);
void cleave__port_close(struct cleave__port *port);
/* Opens it if it is closed. */
enum cleave_status cleave__port_open(struct cleave__port *port, struct cleave_error *error);
/* Asks again and again until it opens or the world's patience is over. */
enum cleave_status cleave__port_await(struct cleave__port *port,
                                      const struct cleave__replay_world *world,
                                      struct cleave_error *error);
/* Sends a batch and receives its answers; closes on CLEAVE_IO. `answers` may be NULL when the batch
 * is empty. */
enum cleave_status cleave__port_batch(struct cleave__port *port,
                                      const struct cleave_store_batch *batch,
                                      struct cleave_arena *arena,
                                      struct cleave_store_answer *answers,
                                      struct cleave_error *error);
/* Commits or rolls back by name; that there is none of that name is fine. */
enum cleave_status cleave__port_finish(struct cleave__port *port, const char *name, bool commit,
                                       struct cleave_error *error);
/* The URL without its password, for messages; returns `line`. */
enum { CLEAVE__SHOWN_SIZE = 160 };
const char *cleave__port_shown(const struct cleave__port *port, char line[CLEAVE__SHOWN_SIZE]);
/* A transaction that a store gave up for another's sake is begun anew so often, a little later each
 * time. */
enum { CLEAVE__CONFLICTS = 6 };
void cleave__conflict_nap(int times);

#endif
