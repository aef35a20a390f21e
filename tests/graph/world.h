/* Small random graphs, placements and queries for property tests. */
#ifndef CLEAVE_TESTS_GRAPH_WORLD_H
#define CLEAVE_TESTS_GRAPH_WORLD_H

#include "graph/query/query.h"
#include "support/property.h"

/* Up to 30 users, with labels or without; never NULL. Free it. */
struct cleave__graph *world_graph(struct property_source *source);
struct cleave__query world_query(struct property_source *source, const struct cleave__graph *graph);
void world_print(const struct cleave__graph *graph, const struct cleave__query *query);

#endif
