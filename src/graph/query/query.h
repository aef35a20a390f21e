/* A question to the graph: who can be reached from a user in so many hops?
 *
 * The distance of a user is the least number of edges that lead to it from the source; the source
 * itself, at distance 0, is never an answer. `within` asks for distances 1 to `hops`, `exactly` for
 * distance `hops` alone. Predicates then choose among those. With `limit` and without `top`, any
 * `limit` of the users chosen are a right answer (all, when they are fewer); with `top`, those of
 * the highest degree, in that order, the lower number first among equals.
 *
 * "Everyone reachable from user 12 in two hops" is {source 12, hops 2}. */
#ifndef CLEAVE_GRAPH_QUERY_QUERY_H
#define CLEAVE_GRAPH_QUERY_QUERY_H

#include "graph/source/graph.h"

enum { CLEAVE__HOPS_MAX = 64 };

struct cleave__query {
    uint32_t source;
    uint32_t hops;  /* 1..CLEAVE__HOPS_MAX */
    bool exactly;   /* else within */
    bool by_label;  /* only users with `label` */
    bool by_degree; /* only users with degree_low <= degree <= degree_high */
    bool by_id;     /* only users with id_low <= id <= id_high: ids must be numbers */
    uint32_t label, degree_low, degree_high;
    uint64_t id_low, id_high;
    uint64_t limit; /* 0: no limit */
    bool top;       /* with a limit */
};

/* CLEAVE_BAD_ARGUMENT when the graph cannot be asked so. */
enum cleave_status cleave__query_check(const struct cleave__graph *graph,
                                       const struct cleave__query *query,
                                       struct cleave_error *error);

/* Does an answer hang on what only the user's own shard knows: its label or its degree? */
static inline bool cleave__query_needs_user(const struct cleave__query *query)
{
    return query->by_label || query->by_degree || query->top;
}

/* `count` different users to ask about, drawn by the seed and then in rising order; every user when
 * there are no more than that. `*out` is malloc'd, [*drawn]. */
enum cleave_status cleave__query_sources(const struct cleave__graph *graph, uint32_t count,
                                         uint64_t seed, uint32_t **out, uint32_t *drawn,
                                         struct cleave_error *error);

#endif
