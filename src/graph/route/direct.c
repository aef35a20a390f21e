/* A request a user: what a program does that follows one edge after another. Requests of one hop
 * are sent at once and awaited together. */
#include "graph/route/executor.h"

void cleave__run_direct(struct cleave__execution *x)
{
    const struct cleave__query *q = x->query;
    while (x->level < q->hops && x->frontier_count) {
        cleave__execution_round(x);
        for (uint32_t i = 0; i < x->frontier_count; i++) {
            cleave__execution_request(x, x->sharded->owner[x->frontier[i]]);
            cleave__execution_read(x, x->frontier[i]);
        }
        cleave__execution_step(x);
    }
    if (!cleave__query_needs_user(q) || x->level < q->hops || !x->frontier_count)
        return;
    cleave__execution_round(x);
    for (uint32_t i = 0; i < x->frontier_count; i++) {
        cleave__execution_request(x, x->sharded->owner[x->frontier[i]]);
        cleave__execution_look(x, x->frontier[i]);
    }
}
