/* Graphs and labels from files; plain or packed (base/input.h), "-" is standard input.
 *
 * An edge list has a line an edge: source and target between spaces, tabs, commas or semicolons;
 * further fields are passed over. Ids are any text without these (or between double quotes), 1 to
 * 1000 bytes; if all are whole numbers below 2^64, they are numbers. Lines that start with # or %
 * are comments. A first line of two words above nothing but numbers names columns. Repeated edges
 * and loops are dropped and counted. A name that ends in .graph (before .gz and the like) is a
 * METIS file (cleave/hypergraph.h), its weights passed over: each edge goes both ways. */
#ifndef CLEAVE_GRAPH_SOURCE_READ_H
#define CLEAVE_GRAPH_SOURCE_READ_H

#include "cleave/progress.h"
#include "graph/source/graph.h"

/* `both`: each line is an edge both ways. Errors name file and line. `progress` may be NULL.
 * O(bytes + edges). The caller frees. */
enum cleave_status cleave__graph_read(const char *path, bool both,
                                      const struct cleave_progress *progress,
                                      struct cleave__graph **out, struct cleave_error *error);

/* A line a user: id and label, any words. Labels get numbers in the order of their first user;
 * users without one share a label called "-". Labels of ids that the graph lacks are counted and
 * passed over; an id with two different labels is an error. On error the graph is as it was. */
enum cleave_status cleave__graph_read_labels(struct cleave__graph *graph, const char *path,
                                             struct cleave_error *error);

/* A line a user: id and shard below `shards`, for every user of the graph; other ids are an error.
 * `owner` is [vertices]; written only when all is well. */
enum cleave_status cleave__graph_read_owner(const struct cleave__graph *graph, const char *path,
                                            uint32_t shards, uint32_t *owner,
                                            struct cleave_error *error);

#endif
