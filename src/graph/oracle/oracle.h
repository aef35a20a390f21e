/* The slow, obviously right answer: the query on the whole graph, unsharded. It shares no code with
 * src/graph/route, which it is there to check. */
#ifndef CLEAVE_GRAPH_ORACLE_ORACLE_H
#define CLEAVE_GRAPH_ORACLE_ORACLE_H

#include "graph/query/query.h"

struct cleave__graph_oracle;

/* The graph is borrowed for the oracle's life. One thread at a time. O(vertices) memory. */
enum cleave_status cleave__graph_oracle_new(const struct cleave__graph *graph,
                                            struct cleave__graph_oracle **out,
                                            struct cleave_error *error);
void cleave__graph_oracle_free(struct cleave__graph_oracle *oracle);

/* Works out a query; `_users` and `_accepts` speak of the last one. O(vertices + edges read). */
void cleave__graph_oracle_ask(struct cleave__graph_oracle *oracle,
                              const struct cleave__query *query);
/* Everyone who satisfies it, limit and top left aside, in rising order; valid until the next. */
const uint32_t *cleave__graph_oracle_users(const struct cleave__graph_oracle *oracle,
                                           uint32_t *count);
/* Is this a right answer (query.h)? If not, `error` (may be NULL) says why: CLEAVE_CORRUPT. Order
 * counts only for `top`. O(count). */
enum cleave_status cleave__graph_oracle_accepts(struct cleave__graph_oracle *oracle,
                                                const uint32_t *user, uint32_t count,
                                                struct cleave_error *error);

#endif
