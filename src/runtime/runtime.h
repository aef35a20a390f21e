/* Actors on a transport, from outside: make a runtime, spawn actors, post first messages, run.
 *
 *     struct cleave_runtime *runtime;
 *     cleave__runtime_new(&(struct cleave_runtime_options){.transport = &cleave__sim, .seed = 42},
 *                         &runtime, &error);
 *     cleave__runtime_spawn(runtime, &shard_ops, &argument, NULL, &shard, &error);
 *     cleave__runtime_post(runtime, shard, KIND_LOAD, bytes, length, &error);
 *     cleave__runtime_run(runtime, 0, NULL, &error);
 *
 * A run ends when nothing is left to do: no message under way, no timer set. It may then be
 * continued by posting and running again. Before it says that all is well, the runtime checks
 * itself, and ends with CLEAVE_CORRUPT and names when
 * - a message is missing in a channel, came twice or out of order, or is not what was sent;
 * - a mailbox holds more than its capacity;
 * - actors wait for room in each other's mailboxes in a cycle, so that none can go on;
 * - a request was never answered, or answered twice.
 * On sim the error's line ends with the time and the seed: the same program with this seed stops
 * there again. After an error the runtime can only be asked for statistics and freed.
 *
 * Thread rule: one thread owns a runtime and calls these; actors run inside cleave__runtime_run, on
 * the threads of the transport. */
#ifndef CLEAVE_RUNTIME_RUNTIME_H
#define CLEAVE_RUNTIME_RUNTIME_H

#include "base/histogram.h"
#include "cleave/progress.h"
#include "runtime/actor.h"
#include "runtime/distribution.h"
#include "runtime/nats/options.h"
#include "runtime/sim/options.h"

struct cleave_metrics;
struct cleave_runtime;
struct cleave_transport_ops;

extern const struct cleave_transport_ops cleave__sim;     /* virtual time, one thread */
extern const struct cleave_transport_ops cleave__threads; /* real time, a few threads */
extern const struct cleave_transport_ops cleave__nats;    /* that, and others through a server */

/* A bug on purpose, so that the checks can be shown to see it (for tests). */
enum cleave_plant {
    CLEAVE_PLANT_NOTHING,
    CLEAVE_PLANT_LOSE,     /* a message is not delivered */
    CLEAVE_PLANT_TWICE,    /* a message is delivered twice */
    CLEAVE_PLANT_OVERFILL, /* from here on, full mailboxes take messages */
    CLEAVE_PLANT_FLIP      /* a bit of a message's header changes on the way */
};

/* All zeroes is a good start, but for `transport`. Borrowed until the runtime is freed. */
struct cleave_runtime_options {
    const struct cleave_transport_ops *transport;
    uint64_t seed;
    uint32_t mailbox_most;  /* messages a mailbox holds; 0: 1024 */
    uint32_t requests_most; /* unanswered requests an actor may have; 0: 65536. More is an error */
    bool checksums;         /* on messages inside the process too */
    bool measure;           /* threads: waiting times, busy time (two clock readings a message) */
    struct cleave_metrics *metrics; /* actors publish their counts there; NULL: nowhere */
    bool lean;        /* no histograms, on any transport: some kilobytes an actor less */
    uint32_t threads; /* threads: how many, the caller counted; 0: 1 */
    uint32_t batch;   /* threads: messages an actor takes in a turn; 0: 64 */
    struct cleave_sim_options sim;
    struct cleave_nats_options nats;
    enum cleave_plant plant;
    uint64_t plant_at; /* which message, counted over all from 1; exact on sim */
};

/* All zeroes is a good start. Copied; the distribution's samples are borrowed. */
struct cleave_spawn_options {
    const char *name;                   /* for messages and statistics; NULL: kind and number */
    uint32_t node;                      /* which of the machines; sim */
    uint32_t mailbox_most;              /* 0: the runtime's */
    struct cleave_distribution service; /* sim: time that taking one message costs */
    uint64_t service_per_byte_ps;       /* sim: and each byte of its body, picoseconds */
};

/* Of one actor, or summed (and `queue_most` the greatest). */
struct cleave_actor_stats {
    uint64_t received, sent, bytes_received, bytes_sent; /* messages; bytes of bodies */
    uint64_t timers;                                     /* that came */
    uint64_t parkings;                                   /* messages that met a full mailbox */
    uint64_t lost; /* messages to it lost by faults on demand; nats: on the way */
    uint64_t late; /* answers that came after their timeout or a crash */
    uint64_t crashes;
    uint64_t busy_ns;                   /* sim: virtual; threads: if measured */
    uint64_t queue_most;                /* messages waiting at once, answers and timers included */
    struct cleave_histogram waiting_ns; /* from sending to being taken up; threads: if measured */
    struct cleave_histogram answering_ns; /* from asking to the answer; threads: if measured */
};

enum cleave_status cleave__runtime_new(const struct cleave_runtime_options *options,
                                       struct cleave_runtime **out, struct cleave_error *error);
void cleave__runtime_free(struct cleave_runtime *runtime);

/* A new actor; numbers go up from 1 in order of spawning. `argument` goes to its `create` now and
 * after every crash, so must live as long as the runtime. Not while it runs. */
enum cleave_status cleave__runtime_spawn(struct cleave_runtime *runtime,
                                         const struct cleave_actor_ops *ops, const void *argument,
                                         const struct cleave_spawn_options *options, uint32_t *out,
                                         struct cleave_error *error);
/* Stands for an actor of another process, which takes the next number; on `nats` alone. A `group`
 * is whoever of it takes a message: actors join with cleave__runtime_join, and only requests with a
 * timeout should go there, for nothing keeps their order. */
enum cleave_status cleave__runtime_remote(struct cleave_runtime *runtime, const char *name,
                                          uint32_t *out, struct cleave_error *error);
enum cleave_status cleave__runtime_group(struct cleave_runtime *runtime, const char *name,
                                         uint32_t *out, struct cleave_error *error);
enum cleave_status cleave__runtime_join(struct cleave_runtime *runtime, uint32_t actor,
                                        uint32_t group, struct cleave_error *error);
/* Stands for a JetStream stream of the subjects PREFIX.l.NAME.> : a request to it (body: u8 length,
 * a message id; u8 length, the subject's last part; the content) is a message there, once whatever
 * its id has been there before in the stream's window, and answered when it is acknowledged (kind
 * CLEAVE_LOGGED, body: u64 sequence number, u8 1 if the id was known). */
enum { CLEAVE_LOGGED = 0x6c67 };
enum cleave_status cleave__runtime_log(struct cleave_runtime *runtime, const char *name,
                                       uint32_t *out, struct cleave_error *error);
/* A message from outside (sender 0). Not while it runs. When the mailbox is full, it waits outside
 * in order. */
enum cleave_status cleave__runtime_post(struct cleave_runtime *runtime, uint32_t receiver,
                                        uint32_t kind, const void *body, size_t length,
                                        struct cleave_error *error);
/* Runs until nothing is left to do, an actor ends the run, the clock reaches `until_ns` (0: no
 * bound), or `progress` (may be NULL) says stop: CLEAVE_INTERRUPTED. */
enum cleave_status cleave__runtime_run(struct cleave_runtime *runtime, uint64_t until_ns,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error);

/* Between runs. The state that `create` made; NULL while it is crashed. */
void *cleave__runtime_state(const struct cleave_runtime *runtime, uint32_t actor);
const char *cleave__runtime_name(const struct cleave_runtime *runtime, uint32_t actor);
uint64_t cleave__runtime_now_ns(struct cleave_runtime *runtime);
const struct cleave_actor_stats *cleave__runtime_stats(const struct cleave_runtime *runtime,
                                                       uint32_t actor);
/* Adds all actors' up into `sum` (all zeroes); the caller frees its histograms. */
enum cleave_status cleave__runtime_sum(const struct cleave_runtime *runtime,
                                       struct cleave_actor_stats *sum, struct cleave_error *error);
/* sim: a digest of every event so far, the same for the same seed on every machine. */
uint64_t cleave__runtime_digest(const struct cleave_runtime *runtime);
/* Whether every structure inside obeys its invariants. */
bool cleave__runtime_check(const struct cleave_runtime *runtime);

#endif
