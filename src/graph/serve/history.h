/* Every list that every user has had: what answers given while lists change are held against.
 *
 * A change is made at some moment between its sending by the writer and its acknowledgement; it has
 * one moment, the same for all. A read sees the list as it was at some moment between its request
 * and its answer. Whether there are such moments is decided exactly, user by user: version v began
 * no earlier than it was sent, and than any read was asked for that saw an older one; and no later
 * than it was acknowledged, and than any read was answered that saw it or a newer one. (Which is
 * linearizability of a register with one writer whose values differ.) */
#ifndef CLEAVE_GRAPH_SERVE_HISTORY_H
#define CLEAVE_GRAPH_SERVE_HISTORY_H

#include "base/vector.h"
#include "graph/serve/users.h"
#include "graph/source/graph.h"

struct cleave__version {
    struct cleave__user *list;
    uint64_t sent_ns, acknowledged_ns; /* UINT64_MAX: not yet */
    uint64_t asked_last_ns;            /* of the reads that saw it */
    uint64_t answered_first_ns;        /* UINT64_MAX: none */
};

struct cleave__history {
    uint32_t vertices;
    struct {
        CLEAVE_VECTOR(struct cleave__version) version; /* 1, 2, ... */
    } * user;                                          /* [vertices] */
};

/* Version 1 of each user is the graph's. The caller frees. */
bool cleave__history_open(struct cleave__history *history, const struct cleave__graph *graph);
void cleave__history_free(struct cleave__history *history);
static inline const struct cleave__user *cleave__history_now(const struct cleave__history *history,
                                                             uint32_t user)
{
    return history->user[user].version.data[history->user[user].version.count - 1].list;
}
/* Takes `list` over as the user's next version. False: memory is out. */
bool cleave__history_add(struct cleave__history *history, struct cleave__user *list,
                         uint64_t sent_ns);
void cleave__history_acknowledge(struct cleave__history *history, uint32_t user, uint64_t now_ns);
/* The list, or NULL if there is no such version. */
const struct cleave__user *cleave__history_at(const struct cleave__history *history, uint32_t user,
                                              uint64_t version);
/* A read saw this version, which there is. */
void cleave__history_saw(struct cleave__history *history, uint32_t user, uint64_t version,
                         uint64_t asked_ns, uint64_t answered_ns);
/* After all reads were told: whether every change has its moment; if not, `user` and `version` say
 * which has none. */
bool cleave__history_consistent(const struct cleave__history *history, uint32_t *user,
                                uint64_t *version);

#endif
