/* A sharded graph at work: shards, coordinators and clients as actors, on any transport.
 *
 * A *shard* has its users' lists and a cache in front of them. A *coordinator* takes queries,
 * knows who owns whom, asks shards as its executor says, and answers. *Clients* are in closed loop:
 * each has so many queries under way and begins the next when one is answered; client c of C plays
 * queries c, c + C, ... Each shard, each coordinator is on a machine of its own, all clients are on
 * one more.
 *
 * A *writer* changes lists meanwhile, a *manager* has users moved (src/move), hubs copied to every
 * shard and a shard split; faults may crash shards and coordinators. Clients, writer and manager
 * are on one machine that never crashes.
 *
 * Every answer is checked after the run against the unsharded graph (src/graph/oracle); how, where
 * lists change, is told in check.h.
 *
 * On sim all figures repeat to the last digit for a seed. Memory: the graph once more, 4 bytes a
 * user and coordinator, the answers until they are checked. */
#ifndef CLEAVE_GRAPH_SERVE_SERVE_H
#define CLEAVE_GRAPH_SERVE_SERVE_H

#include "base/histogram.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cleave/progress.h"
#include "graph/cache/cache.h"
#include "graph/query/query.h"
#include "runtime/distribution.h"
#include "runtime/runtime.h"

enum cleave__serving_executor { CLEAVE__SERVE_DIRECT, CLEAVE__SERVE_BATCHED, CLEAVE__SERVE_EARLY };

/* By the name that graph/route has for it. */
enum cleave__serving_executor cleave__serving_executor_of(const char *name);

/* Which actors of a world are in this process. */
enum cleave__graph_part {
    CLEAVE__PART_ALL,
    CLEAVE__PART_SHARD, /* one of its kind, `seat`: the others are elsewhere; on nats */
    CLEAVE__PART_COORDINATOR,
    CLEAVE__PART_CLIENT
};

/* What a client was answered; `user` [users] is valid during the call. */
struct cleave__graph_answer {
    uint64_t number; /* of the query */
    uint64_t hops, requests, remote_requests, reads, looks, rounds;
    const uint32_t *user;
    uint32_t users;
};

/* All pointers are borrowed. */
struct cleave__serving {
    const struct cleave_transport_ops *transport;
    uint32_t threads;                /* of the threads transport, and of nats */
    struct cleave_nats_options nats; /* of that transport */
    uint64_t seed;
    uint32_t shards, coordinators, clients;
    uint32_t outstanding; /* queries that a client has under way */
    uint32_t mailbox_most;
    const uint32_t *owner; /* [vertices] */
    enum cleave__serving_executor executor;
    struct cleave__query query; /* the source apart */
    const uint32_t *source;     /* [sources]: of query i */
    uint32_t sources;
    uint32_t warm;                     /* the first so many do not count for latencies */
    bool cached;                       /* shards have caches: */
    struct cleave__cache_choice cache; /* with this policy */
    uint64_t capacity;                 /* of each */
    bool capacity_in_bytes;
    bool source_past_cache; /* reads of a query's own user go past it, as graphshard lab's do */
    /* sim: delay of a message between machines; processor time of a message to a shard, of reading
     * a list from the cache or a copy, of reading it from the store. */
    struct cleave_distribution delay, service, hit, miss;
    /* Change while queries run; 0 and NULL: none. */
    uint64_t changes, change_every_ns; /* of lists, by a writer */
    uint64_t moves, manage_every_ns;   /* of users at random, by a manager, who waits so long */
    uint32_t move_most;                /* users in a move */
    uint64_t replicate_bytes;          /* for copies of hubs */
    bool split;                        /* half of the busiest shard goes to the idlest, once */
    uint32_t finals; /* queries once nothing changes any more; from the first sources on */
    const struct cleave_fault *faults; /* sim; [fault_count]. They need retry_ns */
    size_t fault_count;
    bool crashes;      /* some faults are crashes: shards and coordinators save what they have */
    uint64_t retry_ns; /* what is not answered by then is asked again, ever later; 0: never */
    uint64_t retry_most_ns; /* but not later than this; 0: no bound */
    /* A world in many processes. All give the same shards, coordinators, clients, mailbox_most and
     * owner; the client's process brings the queries, and its seat must be its own alone. Shards
     * and coordinators run until they are stopped. Nothing changes in such a world yet. */
    enum cleave__graph_part part;
    uint32_t seat;
    uint64_t patience_ns; /* of a client: after so long without any answer it gives up; 0: never */
    bool unchecked;       /* answers are not held against the unsharded graph */
    void (*told)(void *context, const struct cleave__graph_answer *answer); /* NULL: nobody asks */
    void *told_to;
    struct cleave_log *log;         /* what happens with other processes; NULL: nowhere */
    struct cleave_metrics *metrics; /* counts there while it runs; NULL: nowhere */
    const struct cleave_progress *progress;
};

struct cleave__served {
    uint64_t queries, answers;                                      /* users in all answers */
    uint64_t hops, requests, remote_requests, reads, looks, rounds; /* route/executor.h */
    uint64_t p50_ns, p99_ns, p999_ns;          /* from a client's request to its answer */
    double mean_ns, queries_per_s, elapsed_s;  /* until the last answer, but for final queries */
    uint64_t messages, bytes;                  /* between all actors */
    uint64_t queue_most;                       /* messages waiting at a shard at once */
    uint64_t waiting_p99_ns;                   /* of messages at shards; sim */
    double busiest;                            /* share of time the busiest shard worked; sim */
    uint64_t shard_reads, reads_most;          /* lists read at all shards, at the busiest */
    struct cleave__cache_counts cache;         /* of all shards */
    uint64_t hot_reads, hot, cold_reads, cold; /* reads of the users of highest in-degree */
    uint64_t final_queries, changes, moves, moves_given_up, moved; /* moved: users */
    uint64_t forwarded;             /* requests and reads that went on to a new owner */
    uint64_t copied, copied_bytes;  /* users with copies; bytes of their copies in all */
    uint64_t copy_reads, elsewhere; /* read from copies; not, though asked for */
    uint64_t copy_messages,
        copy_sent;              /* messages and bytes to keep copies: what writes cost more */
    uint64_t piece_messages;    /* contents of users sent by moves */
    uint64_t crashes, repeated; /* that happened; requests asked again by coordinators */
    uint64_t digest;            /* sim: of every event */
    bool verified;
    char wrong[200];
};

/* `out` is written only when the run came to its end. A wrong answer is no error: see `verified`.
 */
enum cleave_status cleave__graph_serve(const struct cleave__graph *graph,
                                       const struct cleave__serving *serving,
                                       struct cleave__served *out, struct cleave_error *error);

#endif
