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

/* Readers name the line at fault. `path` "-" is standard input; .gz, .bz2, .xz and .zst are
 * unpacked by content. Formats: hMETIS .hgr (fmt 0, 1, 10, 11; several vertex weights a line when
 * all lines agree), METIS .graph (each edge becomes a net of two pins). */
CLEAVE_API enum cleave_status cleave_hypergraph_read_hgr(const char *path,
                                                         struct cleave_hypergraph **out,
                                                         struct cleave_error *error);
CLEAVE_API enum cleave_status cleave_hypergraph_read_graph(const char *path,
                                                           struct cleave_hypergraph **out,
                                                           struct cleave_error *error);
CLEAVE_API enum cleave_status
cleave_hypergraph_write_hgr(const struct cleave_hypergraph *hypergraph, const char *path,
                            struct cleave_error *error);
/* A fix file: one number a vertex, a block or -1 (free). `*out` is malloc'd, [vertices]. */
CLEAVE_API enum cleave_status cleave_fix_read(const char *path, uint32_t vertices, int32_t **out,
                                              struct cleave_error *error);

#endif
