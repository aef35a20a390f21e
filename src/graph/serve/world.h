/* What the actors that serve a graph have in common: who is who, what is asked, and the messages.
 *
 * Actors are numbered in the order of spawning: shards, coordinators, clients, and if anything
 * changes the writer and the manager. All of it is set before the run and changed by nobody. */
#ifndef CLEAVE_GRAPH_SERVE_WORLD_H
#define CLEAVE_GRAPH_SERVE_WORLD_H

#include "base/histogram.h"
#include "graph/cache/cache.h"
#include "graph/serve/serve.h"
#include "graph/serve/users.h"
#include "move/move.h"
#include "runtime/actor.h"

/* Counts for others to read while it runs: all NULL where nobody does. */
struct cleave__graph_watch {
    struct cleave_counter *asked, *answered, *asked_again; /* queries, by clients */
    struct cleave_gauge *under_way;
    struct cleave_timing *answering;                    /* ns, as clients see it */
    struct cleave_counter *requested, *requested_again; /* of shards, by coordinators */
    struct cleave_counter *refused; /* messages that nobody of this world sends */
    struct cleave_counter *reads, *cache_hits, *cache_misses, *uncached; /* lists, at shards */
};

struct cleave__world {
    const struct cleave__graph *graph;
    const struct cleave__serving *serving;
    /* Shards send each other messages, so that full mailboxes could wait for each other: these see
     * to it that there is always room. Of a mailbox, half is for coordinators' reads, a sixteenth
     * for changes, an eighth for what each of these sends to copies, a sixteenth for what follows
     * users that move, the rest for moves themselves and for copies being made. */
    uint32_t window;       /* requests that a coordinator has under way at most */
    uint32_t write_window; /* changes that the writer has under way at most */
    bool tracked;          /* lists change: answers tell which version of each was read */
    struct cleave__graph_watch *watch;
    bool open; /* in many processes: a query brings its question along */
};

enum { CLEAVE__TRACKED_MAILBOX_LEAST = 128, CLEAVE__COPIES_AT_ONCE = 4 };

/* The argument of an actor: the how many-th of its kind. */
struct cleave__seat {
    const struct cleave__world *world;
    uint32_t index;
};

static inline uint32_t cleave__shard_actor(uint32_t shard)
{
    return 1 + shard;
}
static inline uint32_t cleave__coordinator_actor(const struct cleave__world *world, uint32_t index)
{
    return 1 + world->serving->shards + index;
}
static inline uint32_t cleave__writer_actor(const struct cleave__world *world)
{
    return 1 + world->serving->shards + world->serving->coordinators + world->serving->clients;
}
static inline uint32_t cleave__client_actor(const struct cleave__world *world, uint32_t index)
{
    return cleave__coordinator_actor(world, world->serving->coordinators) + index;
}

/* Who takes queries that go to any coordinator; in an open world. */
static inline uint32_t cleave__coordinators_group(const struct cleave__world *world)
{
    return cleave__client_actor(world, world->serving->clients);
}

/* How long to wait for an answer after so many tries in vain. */
static inline uint64_t cleave__graph_pause_ns(const struct cleave__serving *serving, uint32_t tries)
{
    uint64_t pause_ns = cleave__pause_ns(serving->retry_ns, tries);
    return serving->retry_most_ns && pause_ns > serving->retry_most_ns ? serving->retry_most_ns
                                                                       : pause_ns;
}

/* Of query `number`: those past the first `sources` are asked when nothing changes any more. */
static inline uint32_t cleave__source_of(const struct cleave__serving *serving, uint64_t number)
{
    return serving->source[number % serving->sources];
}

enum cleave__graph_kind {
    CLEAVE__GRAPH_QUERY = 1,      /* client to coordinator: u64 number, u32 source; in an open world
                                   * u64 how long it waits, a question (question.c) */
    CLEAVE__GRAPH_ANSWER,         /* and back: see coordinator.c */
    CLEAVE__GRAPH_READ,           /* coordinator to shard: u32 flags, u32 users each */
    CLEAVE__GRAPH_LISTS,          /* and back: records as cleave__user_write has them */
    CLEAVE__GRAPH_FORWARD_READ,   /* shard to shard: whom to answer, what is found, a read's rest */
    CLEAVE__GRAPH_CHANGE,         /* writer to shard: a struct cleave__change */
    CLEAVE__GRAPH_CHANGED,        /* and back */
    CLEAVE__GRAPH_FORWARD_CHANGE, /* shard to shard: whom to answer, a change */
    CLEAVE__GRAPH_INVALIDATE,     /* owner to others: u32 user, u64 version that comes */
    CLEAVE__GRAPH_INVALID,        /* and back: u64 life */
    CLEAVE__GRAPH_UPDATE,         /* owner to others: u64 life, a record */
    CLEAVE__GRAPH_REPLICATE,      /* manager to owner: u32 user */
    CLEAVE__GRAPH_REPLICAS,       /* manager to coordinators: u32 users each, that have copies */
    CLEAVE__GRAPH_LOAD,           /* manager to shard */
    CLEAVE__GRAPH_LOADS, /* and back: u64 reads, u32 users, of those read most u32, u64, u64 */
    CLEAVE__GRAPH_DONE,  /* an answer without words */
    CLEAVE__GRAPH_AGAIN, /* from outside to clients: queries when nothing changes any more */
    CLEAVE__GRAPH_BACK   /* shard to coordinators, in an open world: it has begun */
};

enum cleave__change_op {
    CLEAVE__CHANGE_NOTHING,
    CLEAVE__CHANGE_ADD,    /* the edge to `other` */
    CLEAVE__CHANGE_REMOVE, /* the edge to `other` */
    CLEAVE__CHANGE_CLEAR,  /* all edges */
    CLEAVE__CHANGE_COPY    /* no change: copies are made */
};

/* Flags of a read. */
enum {
    CLEAVE__READ_BRIEF = 1, /* degree and label alone */
    CLEAVE__READ_COPY = 2,  /* of some that others own, from copies */
    CLEAVE__READ_SOURCE = 4 /* a query's own user */
};
/* Instead of a degree: ask the owner. */
#define CLEAVE__ELSEWHERE UINT32_MAX

/* question.c: what a query asks, its source apart, and how; False: none that this graph can be
 * asked. */
void cleave__question_write(const struct cleave__query *query,
                            enum cleave__serving_executor executor, struct cleave_writer *writer);
bool cleave__question_read(struct cleave_reader *reader, const struct cleave__graph *graph,
                           struct cleave__query *query, enum cleave__serving_executor *executor);

/* watch.c */
enum cleave_status cleave__graph_watch_make(struct cleave__graph_watch *watch,
                                            struct cleave_metrics *metrics,
                                            struct cleave_error *error);

extern const struct cleave_actor_ops cleave__shard_ops, cleave__coordinator_ops,
    cleave__graph_client_ops, cleave__graph_writer_ops, cleave__graph_manager_ops;

#endif
