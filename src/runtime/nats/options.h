/* The NATS transport: actors of one world in many processes, on a NATS JetStream cluster.
 *
 * Every process makes the same actors in the same order, so that numbers agree: its own with
 * cleave__runtime_spawn, the others' with cleave__runtime_remote. Subjects: PREFIX.a.N is the
 * mailbox of actor N, PREFIX.g.NAME is whoever of a group takes it (a queue group).
 *
 * Promised as on any transport: one message at a time; messages of a channel in order and at most
 * once, mailboxes bounded by credit. But a server or process that dies loses messages: what is lost
 * is counted (`lost`), and whoever asks must ask with a timeout and again. A process that is
 * started again is its actors restarted: they start with what they had saved and appended, which is
 * in JetStream streams (PREFIX-saved-N); what a turn sends leaves once what it
 * saved is acknowledged there. Of two processes that are the same actor the one that began first
 * ends, with CLEAVE_CONFLICT.
 *
 * A sender that has filled the mailbox of a peer that is gone has no turn until that is back, as
 * for any full mailbox: who must go on has fewer questions than that under way to each. */
#ifndef CLEAVE_RUNTIME_NATS_OPTIONS_H
#define CLEAVE_RUNTIME_NATS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* All pointers are borrowed until the runtime is freed. */
struct cleave_nats_options {
    const char *const *urls; /* [url_count] of one cluster's servers: nats://, tls:// */
    uint32_t url_count;
    const char *credentials; /* a file: a .creds file (JWT and NKey), or lines `user NAME`,
                              * `password WORD`, `nkey SEED`, `ca FILE`, `cert FILE`, `key FILE`;
                              * NULL: none */
    const char *prefix;      /* of subjects; of streams too, with "." as "-" */
    bool loop;               /* messages between actors of this process go through the server too */
    bool serve;              /* a run does not end when nothing is left to do */
    bool durable;            /* what is saved outlives the process */
    uint32_t replicas;       /* of streams: 1 or 3; 0: 1 */
    uint64_t log_window_ns;  /* how long a log's stream knows ids; 0: 10 minutes */
    uint64_t patience_ns;    /* how long to try to reach a server before giving up; 0: 5 s at the
                              * start, for ever later */
    uint64_t probe_ns; /* how long an actor waits for room in another's mailbox before it asks;
                        * 0: 100 ms */
};

#endif
