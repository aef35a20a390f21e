/* What executors share: the search level by level, on what shards say. */
#include "graph/route/executor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct cleave__executor executors[] = {
    {"direct", "a request a user", cleave__run_direct},
    {"batched", "a request a shard and hop", cleave__run_batched},
    {"early", "batched, and no more than a limit needs", cleave__run_early},
};

enum { EXECUTORS = sizeof executors / sizeof *executors };

const struct cleave__executor *cleave__executor_at(uint32_t index)
{
    return index < EXECUTORS ? &executors[index] : NULL;
}

const struct cleave__executor *cleave__executor_find(const char *name)
{
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        if (!strcmp(executors[i].name, name))
            return &executors[i];
    }
    return NULL;
}

enum cleave_status cleave__execution_new(const struct cleave__graph *graph,
                                         const struct cleave__sharded *sharded,
                                         struct cleave__execution **out, struct cleave_error *error)
{
    struct cleave__execution *x = calloc(1, sizeof *x);
    size_t n = (size_t)graph->vertices + 1;
    if (x) {
        x->graph = graph;
        x->sharded = sharded;
        x->frontier = malloc(n * sizeof *x->frontier);
        x->next = malloc(n * sizeof *x->next);
        x->answer = malloc(n * sizeof *x->answer);
        x->degree = malloc(n * sizeof *x->degree);
        x->sorted = malloc(n * sizeof *x->sorted);
        x->seen = calloc(n, sizeof *x->seen);
        x->asked = calloc(sharded->shards, sizeof *x->asked);
        x->bucket = calloc((size_t)sharded->shards * 2, sizeof *x->bucket);
    }
    if (!x || !x->frontier || !x->next || !x->answer || !x->degree || !x->sorted || !x->seen ||
        !x->asked || !x->bucket) {
        cleave__execution_free(x);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to carry out queries");
    }
    *out = x;
    return CLEAVE_OK;
}

void cleave__execution_free(struct cleave__execution *execution)
{
    if (!execution)
        return;
    free(execution->frontier);
    free(execution->next);
    free(execution->answer);
    free(execution->degree);
    free(execution->sorted);
    free(execution->seen);
    free(execution->asked);
    free(execution->bucket);
    free(execution);
}

void cleave__execution_round(struct cleave__execution *x)
{
    if (++x->round == 0) { /* wrapped: old marks could be taken for new ones */
        memset(x->asked, 0, x->sharded->shards * sizeof *x->asked);
        x->round = 1;
    }
    x->cost.rounds++;
}

void cleave__execution_request(struct cleave__execution *x, uint32_t shard)
{
    x->asked[shard] = x->round;
    x->cost.requests++;
    x->cost.remote_requests += shard != x->sharded->owner[x->query->source];
}

void cleave__execution_request_once(struct cleave__execution *x, uint32_t shard)
{
    if (x->asked[shard] != x->round)
        cleave__execution_request(x, shard);
}

/* Is the user, found at this distance and known by its shard's word, an answer? */
static bool belongs(const struct cleave__execution *x, uint32_t user, uint32_t distance)
{
    const struct cleave__query *q = x->query;
    if (distance == 0 || (q->exactly && distance < q->hops))
        return false;
    if (q->by_id && (x->graph->number[user] < q->id_low || x->graph->number[user] > q->id_high))
        return false;
    if (!q->by_label && !q->by_degree)
        return true;
    const struct cleave__graph_shard *shard = &x->sharded->shard[x->sharded->owner[user]];
    uint32_t at = x->sharded->place[user];
    uint64_t degree = shard->offset[at + 1] - shard->offset[at];
    return (!q->by_label || shard->label[at] == q->label) &&
           (!q->by_degree || (degree >= q->degree_low && degree <= q->degree_high));
}

/* The user's shard has said what it knows of it, or nothing need be known. */
static void settle(struct cleave__execution *x, uint32_t user, uint32_t distance)
{
    if (!belongs(x, user, distance))
        return;
    const struct cleave__graph_shard *shard = &x->sharded->shard[x->sharded->owner[user]];
    uint32_t at = x->sharded->place[user];
    if (x->query->top)
        x->degree[user] = (uint32_t)(shard->offset[at + 1] - shard->offset[at]);
    x->answer[x->answer_count++] = user;
}

void cleave__execution_read(struct cleave__execution *x, uint32_t user)
{
    uint32_t owner = x->sharded->owner[user];
    const struct cleave__graph_shard *shard = &x->sharded->shard[owner];
    uint32_t at = x->sharded->place[user];
    bool needs = cleave__query_needs_user(x->query);
    assert(x->asked[owner] == x->round && shard->user[at] == user);
    x->cost.reads++;
    if (x->on_read)
        x->on_read(x->context, user, x->level);
    if (needs)
        settle(x, user, x->level);
    for (uint64_t i = shard->offset[at]; i < shard->offset[at + 1]; i++) {
        uint32_t to = shard->target[i];
        x->cost.hops += x->sharded->owner[to] != owner;
        if (x->seen[to] == x->queries)
            continue;
        x->seen[to] = x->queries;
        x->next[x->next_count++] = to;
        if (!needs)
            settle(x, to, x->level + 1);
    }
}

void cleave__execution_look(struct cleave__execution *x, uint32_t user)
{
    assert(x->asked[x->sharded->owner[user]] == x->round);
    x->cost.looks++;
    settle(x, user, x->level);
}

void cleave__execution_step(struct cleave__execution *x)
{
    uint32_t *held = x->frontier;
    x->frontier = x->next;
    x->frontier_count = x->next_count;
    x->next = held;
    x->next_count = 0;
    x->level++;
}

bool cleave__execution_satisfied(const struct cleave__execution *x)
{
    return x->query->limit && !x->query->top && x->answer_count >= x->query->limit;
}

static int compare_by_degree(const void *a, const void *b, void *context)
{
    const uint32_t *degree = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return degree[x] != degree[y] ? (degree[x] < degree[y]) - (degree[x] > degree[y])
                                  : (x > y) - (x < y);
}

void cleave__execute(struct cleave__execution *x, const struct cleave__executor *executor,
                     const struct cleave__query *query)
{
    if (++x->queries == 0) {
        memset(x->seen, 0, ((size_t)x->sharded->vertices + 1) * sizeof *x->seen);
        x->queries = 1;
    }
    x->query = query;
    x->cost = (struct cleave__graph_cost){0};
    x->answer_count = x->next_count = x->level = 0;
    x->frontier[0] = query->source;
    x->frontier_count = 1;
    x->seen[query->source] = x->queries;
    executor->run(x);
    if (query->top)
        qsort_r(x->answer, x->answer_count, sizeof *x->answer, compare_by_degree, x->degree);
    if (query->limit && x->answer_count > query->limit)
        x->answer_count = (uint32_t)query->limit;
}
