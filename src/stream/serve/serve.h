/* A spatial-keyword stream at work: routers, evaluators, a balancer as actors, on any transport.
 *
 * A *feeder* brings objects and changes of queries, in order, with so many under way at once. A
 * *router* sends an object to the evaluator whose cells have it, unless the textual summary says
 * that no query there can have it, and a query to all evaluators that its boxes meet. *Evaluators*
 * match and tell the *sink*. The *balancer* asks evaluators for sums and has cells moved
 * (src/move), one operation at a time. Each router and evaluator is on a machine of its own;
 * feeder, sinks and balancer are on one more. All but sinks may crash.
 *
 * What holds: an object and a query that match are reported exactly once if the query was
 * acknowledged before the object was sent, and its removal (if any) was sent after the object was
 * acknowledged; never if the query was sent after the object was acknowledged, or the object after
 * the removal was; else at most once. An object is acknowledged when the sink has its matches. With
 * faults objects are sent again, and the sink passes over those that it has already. What a feeder
 * that crashed had under way has come to pass or not.
 *
 * On sim all figures repeat to the last digit for a seed. */
#ifndef CLEAVE_STREAM_SERVE_H
#define CLEAVE_STREAM_SERVE_H

#include "base/metrics.h"
#include "cleave/progress.h"
#include "model/grid.h"
#include "runtime/runtime.h"
#include "stream/balance/decide.h"
#include "stream/index/matcher.h"
#include "stream/serve/feed.h"

enum cleave__streaming_summary {
    CLEAVE__SUMMARY_FORWARD,   /* new keywords go to the other routers */
    CLEAVE__SUMMARY_BROADCAST, /* every query's keywords do */
    CLEAVE__SUMMARY_NONE       /* objects go by place alone */
};

/* Where objects and queries go. But for the first, to compare with: nothing is pruned, nothing
 * moves. */
enum cleave__streaming_routing {
    CLEAVE__ROUTING_AGRID,    /* by place, with summaries */
    CLEAVE__ROUTING_TEXT,     /* by the hash of keywords */
    CLEAVE__ROUTING_BROADCAST /* queries everywhere, objects anywhere */
};

enum cleave__streaming_balance {
    CLEAVE__BALANCE_STATIC,
    CLEAVE__BALANCE_ADAPTIVE,
    CLEAVE__BALANCE_FORCED /* an operation of each kind in turn, at random places */
};

/* sim: processor time. */
struct cleave__streaming_service {
    uint64_t route_object_ns, route_query_ns, keyword_ns; /* at a router; of another's keyword */
    uint64_t match_object_ns, match_candidate_ns, store_query_ns; /* at an evaluator */
    uint64_t message_ns;                                          /* of any message, at both */
};

/* All pointers are borrowed. */
struct cleave__streaming {
    const struct cleave_transport_ops *transport;
    uint32_t threads;                /* of the threads transport, and of nats */
    struct cleave_nats_options nats; /* of that transport */
    uint64_t seed;
    const struct cleave__space *space;
    struct cleave__grid grid;
    uint32_t evaluators, routers;
    enum cleave__streaming_routing routing;
    const struct cleave__cells *partitions; /* [evaluators]: tile the grid; some may be empty. Of
                                             * AGRID */
    const struct cleave__matcher_ops *matcher;
    enum cleave__streaming_summary summary;
    enum cleave__streaming_balance balance;
    bool centralized; /* evaluators send figures of every cell; the balancer makes the sums */
    uint64_t balance_every_ns;
    double beta;              /* cost of moving a query, in units of an object's */
    uint32_t operations_most; /* 0: no bound */
    uint32_t batch;           /* objects, or changes, in a message of the feeder; 0: 256 */
    uint32_t window;          /* messages under way to a router; 0: 8 */
    /* 0 or 1: one sink. As many as evaluators: each has its own, which knows nothing of the others;
     * with faults what several have of one object is sorted out after the run: the first to take it
     * counts, whole. Not to track with. */
    uint32_t sinks;
    const struct cleave__feed_ops *feed_ops;
    void *feed;
    bool keep_matches; /* for the check: 16 bytes each */
    bool track; /* the sink works out who enters and leaves which query (stream/track). Of AGRID */
    struct cleave_distribution delay; /* sim: between machines */
    struct cleave__streaming_service service;
    void (*trace)(void *context,
                  const struct cleave_trace_event *event); /* sim: told every event */
    const struct cleave_fault *faults; /* sim; [fault_count]; those that lose need retry_ns */
    size_t fault_count;
    uint64_t retry_ns;              /* what is not answered by then is asked again; 0: never */
    struct cleave_metrics *metrics; /* counts there while it runs; NULL: nowhere */
    /* Each actor in a process of its own (stream/net): every evaluator has a sink, which is told
     * objects' notes too; several feeders come and go, and end their runs themselves. */
    bool apart;
    size_t whole_most;      /* bytes of a body that whichever router lives can be sent */
    uint32_t feeders;       /* 0: 1 */
    uint64_t first_version; /* versions of a feeder's changes are above it */
    bool others;            /* feeders that began earlier may have changes under way */
    /* Optional: the balancer's map, when cells have moved and when it begins. */
    enum cleave_status (*moved)(void *context, const struct cleave__cells *cells,
                                struct cleave_error *error);
    void *moved_context;
    const struct cleave_progress *progress;
};

/* The actors that faults may name. */
enum cleave__stream_role {
    CLEAVE__ROLE_EVALUATOR,
    CLEAVE__ROLE_ROUTER,
    CLEAVE__ROLE_FEEDER,
    CLEAVE__ROLE_BALANCER
};
/* Of evaluator or router `index`; of the others 0. */
uint32_t cleave__stream_actor(const struct cleave__streaming *streaming,
                              enum cleave__stream_role role, uint32_t index);

struct cleave__rebalance {
    enum cleave__balance_kind kind;
    uint32_t from, to; /* evaluators */
    double gain, cost;
    uint64_t moved_queries; /* as expected */
    uint64_t moved_cells, at_ns, took_ns;
    bool done; /* not given up */
};

struct cleave__matched_pair {
    uint64_t object, query; /* number, id */
};

/* For the check: when, in the feeder's own count of steps, each thing was sent and acknowledged. */
struct cleave__streamed {
    uint64_t objects, queries, removals; /* fed and acknowledged */
    uint64_t matches;                    /* told to the sink, each once */
    uint64_t duplicates;                 /* told twice; known if matches are kept */
    uint64_t redelivered;   /* told again of objects sent again after a fault, and passed over */
    uint64_t entered, left; /* if tracked: pairs of thing and query; not what ends with a query */
    uint64_t event_digest;  /* of these, whatever their order */
    uint64_t digest;        /* of all matches, whatever their order: sum of hashes of pairs */
    double elapsed_s, objects_per_s, queries_per_s; /* objects: from the first until all are done */
    uint64_t p50_ns, p99_ns, p999_ns, most_ns; /* from the feeder's sending to the sink's taking */
    uint64_t pruned;                     /* objects that a summary kept from their evaluator */
    uint64_t forwarded;                  /* objects sent on by evaluators in a move */
    uint64_t keyword_messages, keywords; /* between routers */
    uint64_t summary_terms;              /* in all routers, at the end */
    uint64_t shed;                       /* keywords that lazy cleaning took from summaries */
    uint64_t expired;                    /* queries removed by cleaning */
    uint64_t load_messages, load_bytes;  /* from evaluators to the balancer */
    uint64_t messages, bytes;            /* between all actors */
    uint64_t crashes, repeated;
    uint64_t candidates, moved_queries;
    uint64_t step_most_ns; /* the longest that an evaluator was at one message of a move; threads */
    struct cleave__rebalance *rebalances; /* [rebalance_count] */
    size_t rebalance_count;
    uint64_t *load;              /* [evaluators]: objects matched plus candidates looked at */
    uint64_t *busy_ns;           /* [evaluators]; sim */
    uint64_t *held;              /* [evaluators]: queries at the end */
    struct cleave__cells *cells; /* [evaluators]: at the end */
    size_t matcher_bytes;        /* of all evaluators' matchers, at the end */
    uint64_t digest_of_events;   /* sim */
    struct cleave__matched_pair *pairs; /* [pair_count] if kept, sorted, each once */
    size_t pair_count;
};

/* `out` is written only when the run came to its end; the caller frees it. */
enum cleave_status cleave__stream_serve(const struct cleave__streaming *streaming,
                                        struct cleave__streamed *out, struct cleave_error *error);
void cleave__streamed_free(struct cleave__streamed *streamed);

#endif
