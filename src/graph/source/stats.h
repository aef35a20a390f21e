/* What a graph looks like: counts, degrees, components. */
#ifndef CLEAVE_GRAPH_SOURCE_STATS_H
#define CLEAVE_GRAPH_SOURCE_STATS_H

#include "graph/source/graph.h"

struct cleave__graph_stats {
    uint64_t edges;
    uint64_t mutual;            /* edges whose opposite is there too */
    uint32_t out_most, in_most; /* degrees */
    uint32_t out_median, in_median;
    uint32_t without_out, without_in; /* users without an edge out, in */
    uint32_t components, largest;     /* edges taken both ways; users of the largest */
    uint64_t label_inside;            /* edges between users of one label, if there are labels */
};

/* O(vertices + edges log degree). */
enum cleave_status cleave__graph_stats(const struct cleave__graph *graph,
                                       struct cleave__graph_stats *out, struct cleave_error *error);

#endif
