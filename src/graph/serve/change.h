/* The states of the writer and the manager, read after the run. */
#ifndef CLEAVE_GRAPH_SERVE_CHANGE_H
#define CLEAVE_GRAPH_SERVE_CHANGE_H

#include "graph/serve/history.h"
#include "graph/serve/shard.h"
#include "move/move.h"

/* Draws changes, sends each to the owner of its user, and keeps the history. Of a user one change
 * is under way at a time. It never crashes. */
struct cleave__graph_writer {
    const struct cleave__seat *seat;
    uint32_t *owner;               /* [vertices] */
    bool *busy;                    /* [vertices] */
    uint8_t *tries;                /* [vertices]: of that change, in vain */
    struct cleave__change *change; /* [vertices]: the one under way */
    struct cleave__move_router router;
    struct cleave__history history;
    CLEAVE_VECTOR(struct cleave__change)
    plan; /* of a user who goes or comes; the last comes next */
    uint64_t sent, acknowledged, repeated;
};

struct cleave__hot {
    uint32_t user;
    uint64_t reads, bytes;
};

/* Has users moved, hubs copied, a shard split. It never crashes. */
struct cleave__graph_manager {
    const struct cleave__seat *seat;
    uint32_t *owner; /* [vertices] */
    struct cleave__mover mover;
    uint64_t moves, given_up, moved; /* moved: users */
    uint32_t waiting;                /* for so many answers of the step under way */
    uint64_t *load;                  /* [shards]: reads */
    CLEAVE_VECTOR(struct cleave__hot) hot;
    uint32_t copied;        /* users that have copies */
    uint32_t asked;         /* of these, those whose copies are made or being made */
    uint64_t copied_bytes;  /* of all copies */
    bool replicated, split; /* done, or not wanted */
};

/* manager_split.c: users of a shard that shall leave it, so that few edges are cut: about half.
 * malloc'd; NULL when memory is out. */
uint64_t *cleave__split_choose(const struct cleave__graph *graph, const uint32_t *owner,
                               uint32_t shard, uint64_t seed, size_t *count);

#endif
