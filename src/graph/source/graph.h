/* A directed graph of users: who follows whom, kept with the follower.
 *
 * Compressed rows. Invariants (cleave__graph_check tells): offsets rise from 0; the targets of a
 * user rise, so that none is repeated, and none is the user; ids are distinct; a label is below
 * `labels`. An instance does not change once built and may be read by many threads.
 *
 * Users are numbered from 0: in the order of their ids where all ids are numbers, else in the order
 * in which the file names them. */
#ifndef CLEAVE_GRAPH_SOURCE_GRAPH_H
#define CLEAVE_GRAPH_SOURCE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"
#include "cleave/status.h"

/* A target is a uint32, two numbers are kept free for "none" and the like. */
enum { CLEAVE__ID_BYTES_MAX = 1000 };
#define CLEAVE__USERS_MAX 2147483646u

/* What was left out or put right while the graph was made. */
struct cleave__graph_remarks {
    uint64_t lines;          /* that named an edge */
    uint64_t duplicates;     /* edges told again */
    uint64_t loops;          /* edges from a user to itself */
    uint64_t stray_labels;   /* labels of ids that no edge names */
    uint64_t unlabelled;     /* users without a label where others have one */
    uint64_t further_fields; /* lines with fields after the second, which are passed over */
    bool header;             /* the first line named columns */
};

struct cleave__graph {
    uint32_t vertices;
    uint64_t *offset;          /* [vertices + 1] */
    uint32_t *target;          /* [offset[vertices]] */
    uint64_t *number;          /* [vertices], rising: the ids; NULL when they are text */
    struct cleave_intern text; /* the ids by user, where `number` is NULL */
    uint32_t *label;           /* [vertices], or NULL */
    uint32_t labels;
    struct cleave_intern label_text; /* what labels are called, by number */
    struct cleave__graph_remarks remarks;
};

/* Edges as they come: source and target in turn. */
struct cleave__edges {
    CLEAVE_VECTOR(uint32_t) end;
};

/* Sorts the edges into a graph of `vertices` users, dropping loops and repeated ones, which it
 * counts; `both` adds each edge's opposite, which counts as repeated only if its own line is told
 * twice or from both ends. Ids are 1, 2, ... until the caller sets others. Every end is below
 * `vertices` (the caller's duty). O(vertices + edges) time and memory. The caller frees. */
enum cleave_status cleave__graph_build(uint32_t vertices, const struct cleave__edges *edges,
                                       bool both, struct cleave__graph **out,
                                       struct cleave_error *error);
void cleave__graph_free(struct cleave__graph *graph);
/* Tests every invariant; CLEAVE_CORRUPT with the first broken one. O(vertices + edges). */
enum cleave_status cleave__graph_check(const struct cleave__graph *graph,
                                       struct cleave_error *error);

static inline uint64_t cleave__graph_edges(const struct cleave__graph *graph)
{
    return graph->offset[graph->vertices];
}
static inline uint32_t cleave__graph_degree(const struct cleave__graph *graph, uint32_t v)
{
    return (uint32_t)(graph->offset[v + 1] - graph->offset[v]);
}

/* The user with this id; false when there is none. O(log vertices) or O(length). */
bool cleave__graph_find(const struct cleave__graph *graph, const char *id, size_t length,
                        uint32_t *out);
/* The id of user v: its bytes and their number. `buffer` [24] is where a number is written. */
const char *cleave__graph_id(const struct cleave__graph *graph, uint32_t v, char *buffer,
                             size_t *length);
/* A whole number without sign, leading zeros or anything after it, below 2^64. */
bool cleave__graph_number(const char *text, size_t length, uint64_t *out);

#endif
