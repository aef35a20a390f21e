/* Inside the coordinator: a query under way, step by step, and its requests to shards.
 *
 * A query goes level by level: `ask` holds the users to be asked in this wave, in groups that each
 * make a request; when all have been answered the next wave or level begins (search.c). Requests
 * wait in a queue while as many as the window allows are under way (coordinator.c). */
#ifndef CLEAVE_GRAPH_SERVE_COORDINATOR_H
#define CLEAVE_GRAPH_SERVE_COORDINATOR_H

#include "graph/serve/world.h"
#include "move/move.h"

/* A set of user numbers, open addressing; emptied in O(its size). */
struct cleave__marks {
    uint32_t *slot; /* number + 1; 0: free */
    uint32_t mask, count;
};
void cleave__marks_clear(struct cleave__marks *marks);
/* 1: added; 0: was there; -1: memory is out. */
int cleave__marks_add(struct cleave__marks *marks, uint32_t number);

/* A list read: what the check is told. */
struct cleave__read_note {
    uint32_t user;
    uint64_t version, asked_ns, answered_ns;
};

struct cleave__found {
    uint32_t user, degree;
};

struct cleave__search {
    struct cleave_promise client;
    bool busy;
    uint64_t until_ns; /* in an open world: nobody waits for its answer any more */
    uint32_t out;      /* in an open world: its requests that wait or are under way */
    bool lost;         /* given up; ends when none is out */
    uint64_t number;
    struct cleave__query query;
    enum cleave__serving_executor executor;
    uint32_t source, home; /* home: the source's shard when it began */
    uint32_t level;
    uint32_t pending;       /* users of this wave not answered yet */
    uint32_t asked, before; /* early: users of this level asked; answers before it */
    bool looking;           /* asks for degree and label of the last level */
    CLEAVE_VECTOR(uint32_t) frontier, next, ask;
    CLEAVE_VECTOR(struct cleave__found) answer;
    CLEAVE_VECTOR(struct cleave__read_note) notes;
    struct cleave__marks seen;
    uint64_t hops, requests, remote_requests, reads, looks, rounds;
};

/* A request: users of a search's `ask`, all of one shard. */
struct cleave__ask {
    uint32_t search, first, count;
    uint32_t shard;
    bool owners;     /* not from copies: those had none */
    uint32_t tries;  /* in vain */
    uint32_t silent; /* how silent its shard was when this was sent */
    uint64_t sent_ns;
};

/* In an open world, where a shard may be down for long: what a coordinator has with one of them. */
struct cleave__far_shard {
    uint32_t under_way;
    uint32_t silent; /* requests without an answer in a row, those under way at once as one: then
                        there is one at a time */
    CLEAVE_VECTOR(struct cleave__ask) waiting;
};

struct cleave__coordinator {
    const struct cleave__seat *seat;
    uint32_t *owner; /* [vertices] */
    bool *copied;    /* [vertices]: has copies on every shard */
    struct cleave__move_router router;
    CLEAVE_VECTOR(struct cleave__search *) searches;
    CLEAVE_VECTOR(struct cleave__ask) asks; /* under way, by tag */
    CLEAVE_VECTOR(uint32_t) free_asks;
    CLEAVE_VECTOR(struct cleave__ask) queue; /* from `queue_first` on */
    size_t queue_first;
    uint32_t under_way;
    struct cleave__far_shard *far; /* [shards] in an open world, else NULL */
    uint64_t repeated;             /* requests that had no answer */
};

/* Whom to ask: the owner, or the shard of the query's own user where that has a copy. */
static inline uint32_t cleave__coordinator_shard(const struct cleave__coordinator *c,
                                                 const struct cleave__search *search, uint32_t user,
                                                 bool owners)
{
    return c->copied[user] && !owners ? search->home : c->owner[user];
}
/* coordinator.c: users first .. first + count of the search's `ask` are asked for, now or as soon
 * as the window allows; each run of users of one shard is a request. `tries` were in vain. */
void cleave__coordinator_ask(struct cleave__coordinator *c, struct cleave_context *context,
                             uint32_t search, uint32_t first, uint32_t count, bool owners,
                             uint32_t tries);
/* A request, now. False: memory is out. */
bool cleave__coordinator_send(struct cleave__coordinator *c, struct cleave_context *context,
                              struct cleave__ask ask);
/* far.c: the same, once the shard may have one more; what has no answer any more; a shard that is
 * there (again). False: memory is out. */
bool cleave__far_ask(struct cleave__coordinator *c, struct cleave_context *context,
                     struct cleave__ask ask);
/* True: the answer is to be taken. */
bool cleave__far_answered(struct cleave__coordinator *c, struct cleave_context *context,
                          const struct cleave__ask *ask, bool in_time);
bool cleave__far_go_on(struct cleave__coordinator *c, struct cleave_context *context,
                       uint32_t shard);
void cleave__far_heard(struct cleave__coordinator *c, uint32_t shard);
uint64_t cleave__far_pause_ns(const struct cleave__coordinator *c, uint32_t shard);
void cleave__coordinator_answer(struct cleave__coordinator *c, struct cleave_context *context,
                                struct cleave__search *search);
/* search.c. False: memory is out. */
bool cleave__search_begin(struct cleave__coordinator *c, struct cleave_context *context,
                          uint32_t search);
/* A record came: targets as they lie in the message (NULL when brief). */
bool cleave__search_record(struct cleave__coordinator *c, struct cleave__search *search,
                           uint32_t user, uint32_t degree, uint32_t label, const uint8_t *targets);
/* The wave is answered: the next one, or the answer. */
bool cleave__search_go_on(struct cleave__coordinator *c, struct cleave_context *context,
                          uint32_t search);

#endif
