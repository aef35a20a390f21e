/* How a query is carried out on shards: one executor a file, and what each costs.
 *
 * The coordinator sits on the source's shard. To read a user is to ask its shard for its list,
 * degree and label; a label or degree that no list has brought by the end is asked for by itself.
 * What is counted, for each query:
 *
 * - hops: edges read whose ends lie on different shards, those to users seen before included;
 * - requests: messages to a shard, those to the coordinator's own included;
 * - remote_requests: of these, to other shards;
 * - reads: users whose lists were read; looks: users asked for label or degree alone;
 * - rounds: times that the coordinator waits for answers. */
#ifndef CLEAVE_GRAPH_ROUTE_EXECUTOR_H
#define CLEAVE_GRAPH_ROUTE_EXECUTOR_H

#include "graph/query/query.h"
#include "graph/route/sharded.h"

struct cleave__graph_cost {
    uint64_t hops, requests, remote_requests, reads, looks, rounds;
};

/* Who carries out queries on one sharded graph, one at a time; reused from query to query. */
struct cleave__execution {
    const struct cleave__graph *graph; /* for ids alone */
    const struct cleave__sharded *sharded;
    const struct cleave__query *query;
    uint32_t level;     /* of the users in `frontier`: their distance */
    uint32_t *frontier; /* [vertices] */
    uint32_t frontier_count;
    uint32_t *next; /* [vertices]: found one hop farther */
    uint32_t next_count;
    uint32_t *answer; /* [vertices], in the order found */
    uint32_t answer_count;
    uint32_t *degree; /* [vertices]: of users in `answer`, for top */
    uint32_t *seen;   /* [vertices]: number of the query that saw it last */
    uint32_t *asked;  /* [shards]: number of the round that asked it last */
    uint64_t *bucket; /* [2 * shards]: scratch */
    uint32_t *sorted; /* [vertices]: a frontier by shard */
    uint32_t queries, round;
    struct cleave__graph_cost cost; /* of the last query */
    /* Called for each read, NULL or set by the caller: who was read, at which distance. */
    void (*on_read)(void *context, uint32_t user, uint32_t distance);
    void *context;
};

struct cleave__executor {
    const char *name, *summary;
    void (*run)(struct cleave__execution *execution);
};

const struct cleave__executor *cleave__executor_at(uint32_t index); /* NULL past the last */
const struct cleave__executor *cleave__executor_find(const char *name);

/* Borrows both for the execution's life. O(vertices) memory; free with _free. */
enum cleave_status cleave__execution_new(const struct cleave__graph *graph,
                                         const struct cleave__sharded *sharded,
                                         struct cleave__execution **out,
                                         struct cleave_error *error);
void cleave__execution_free(struct cleave__execution *execution);

/* Answers `query`, which passed cleave__query_check: `answer` and `cost`. O(edges read), sorting a
 * top apart. */
void cleave__execute(struct cleave__execution *execution, const struct cleave__executor *executor,
                     const struct cleave__query *query);

/* For executors. */
void cleave__run_direct(struct cleave__execution *execution);
void cleave__run_batched(struct cleave__execution *execution);
void cleave__run_early(struct cleave__execution *execution);
/* A round begins: the coordinator will wait for what is asked from now on. */
void cleave__execution_round(struct cleave__execution *execution);
/* One message to a shard; `_once` none when this round has asked it already. */
void cleave__execution_request(struct cleave__execution *execution, uint32_t shard);
void cleave__execution_request_once(struct cleave__execution *execution, uint32_t shard);
/* The list of a user of the frontier comes back: what it finds goes to `next`, and who is an answer
 * by now to `answer`. */
void cleave__execution_read(struct cleave__execution *execution, uint32_t user);
/* Label and degree of a user of the last level come back. */
void cleave__execution_look(struct cleave__execution *execution, uint32_t user);
/* `next` becomes the frontier. */
void cleave__execution_step(struct cleave__execution *execution);
/* Are there answers enough, so that nobody need be asked further? */
bool cleave__execution_satisfied(const struct cleave__execution *execution);

#endif
