/* The workload hypergraph: vertices are units of data, nets are what is accessed together.
 *
 * Compressed rows both ways. Invariants (cleave_hypergraph_check tells): offsets rise from 0; pins
 * of a net are distinct and < vertices; `incident` is the exact transpose of `pin`, nets ascending;
 * weights are >= 0. An instance is immutable once built. */
#ifndef CLEAVE_HYPERGRAPH_H
#define CLEAVE_HYPERGRAPH_H

#include <stdint.h>
#include <stdio.h>

#include "cleave/status.h"

enum { CLEAVE_WEIGHTS_MAX = 8, CLEAVE_FREE = -1 };

struct cleave_hypergraph {
    uint32_t vertices;
    uint32_t nets;
    uint32_t weights;        /* W: numbers a vertex carries, 1..CLEAVE_WEIGHTS_MAX */
    uint64_t *net_offset;    /* [nets + 1] */
    uint32_t *pin;           /* [net_offset[nets]] */
    uint64_t *vertex_offset; /* [vertices + 1] */
    uint32_t *incident;      /* [net_offset[nets]] */
    int64_t *vertex_weight;  /* [vertices * W], vertex-major */
    int64_t *net_weight;     /* [nets] */
};

/* Builds from nets in compressed form. `vertex_weight` NULL: all 1 (then weights must be 1);
 * `net_weight` NULL: all 1. Repeated pins within a net are dropped (first kept). Inputs are copied.
 * O(pins). The result is the caller's to free. */
CLEAVE_API enum cleave_status cleave_hypergraph_new(uint32_t vertices, uint32_t nets,
                                                    const uint64_t *net_offset, const uint32_t *pin,
                                                    uint32_t weights, const int64_t *vertex_weight,
                                                    const int64_t *net_weight,
                                                    struct cleave_hypergraph **out,
                                                    struct cleave_error *error);
CLEAVE_API void cleave_hypergraph_free(struct cleave_hypergraph *hypergraph);
/* Tests every invariant; CLEAVE_CORRUPT with the first broken one. O(pins). */
CLEAVE_API enum cleave_status cleave_hypergraph_check(const struct cleave_hypergraph *hypergraph,
                                                      struct cleave_error *error);

/* Reading files. Errors name the file and, where one line is at fault, that line. `path` "-" is
 * standard input; .gz, .bz2, .xz and .zst are unpacked by content. In all of them: lines end with
 * \n or \r\n; numbers stand between spaces or tabs, also at the ends of a line; a line that starts
 * with % is a comment; a UTF-8 byte order mark is passed over. Weights are whole numbers from 0,
 * their sum over vertices at most 2^60, as is the sum of net weights times pins. Vertices are
 * counted from 1 but where PaToH says otherwise, blocks from 0. Memory: that of the result. */

/* hMETIS .hgr: "nets vertices [fmt [weights]]", fmt 0, 1 (nets have weights), 10 (vertices have) or
 * 11; a line a net, a blank line being a net without pins; a line a vertex, with as many weights as
 * the first. */
CLEAVE_API enum cleave_status cleave_hypergraph_read_hgr(const char *path,
                                                         struct cleave_hypergraph **out,
                                                         struct cleave_error *error);
/* METIS .graph: each edge becomes a net of two pins. Several weights a vertex; sizes (fmt 1xx) are
 * passed over: they tell a cost of communication that no objective here has. */
CLEAVE_API enum cleave_status cleave_hypergraph_read_graph(const char *path,
                                                           struct cleave_hypergraph **out,
                                                           struct cleave_error *error);
/* PaToH: "base cells nets pins [scheme [weights]]", scheme 0, 1 (cells have weights), 2 (nets) or 3
 * (both); a line a net, as in .hgr; then cells' weights, cell by cell, on any number of lines. */
CLEAVE_API enum cleave_status cleave_hypergraph_read_patoh(const char *path,
                                                           struct cleave_hypergraph **out,
                                                           struct cleave_error *error);
CLEAVE_API enum cleave_status
cleave_hypergraph_write_hgr(const struct cleave_hypergraph *hypergraph, const char *path,
                            struct cleave_error *error);

/* A fix file, or an earlier answer: a line a vertex, a block (0 .. blocks - 1) or -1 (free). `*out`
 * is malloc'd, [vertices], as below. */
CLEAVE_API enum cleave_status cleave_fix_read(const char *path, uint32_t vertices, uint32_t blocks,
                                              int32_t **out, struct cleave_error *error);
/* Groups: a line a vertex, its group's number, from 1, or 0 (none). */
CLEAVE_API enum cleave_status cleave_together_read(const char *path, uint32_t vertices,
                                                   uint32_t **out, struct cleave_error *error);
/* Pairs to keep apart: a line a pair, two vertices. `*out` is malloc'd, [*count], counted from 0.
 */
CLEAVE_API enum cleave_status cleave_apart_read(const char *path, uint32_t vertices,
                                                uint32_t (**out)[2], uint32_t *count,
                                                struct cleave_error *error);

#endif
