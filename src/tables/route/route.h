/* SQL text -> the shards it must go to, by a lookup table.
 *
 * A router holds what analysing SQL remembers between calls, so one thread uses it at a time; any
 * number of routers may share a lookup table, which must outlive them. */
#ifndef CLEAVE_TABLES_ROUTE_ROUTE_H
#define CLEAVE_TABLES_ROUTE_ROUTE_H

#include "tables/route/lookup.h"
#include "tables/sql/parameter.h"

struct cleave_router;

struct cleave_sql_route {
    struct cleave_touch touch; /* shards empty: any one shard will do */
    bool certain; /* false: it may touch more than the schema tells (functions, unknown tables) */
    uint32_t statements; /* transaction control apart */
    char why[480];       /* a line of words; ends in "..." when cut */
};

enum cleave_status cleave__router_new(const struct cleave_lookup *lookup,
                                      struct cleave_router **out, struct cleave_error *error);
void cleave__router_free(struct cleave_router *router);

/* Several statements in one text are one transaction; they share the parameters. Schema changes go
 * to every shard. CLEAVE_BAD_INPUT: a statement could not be parsed. */
enum cleave_status cleave__route_sql(struct cleave_router *router, const char *text, size_t length,
                                     const struct cleave_parameter *parameters,
                                     uint32_t parameter_count, struct cleave_sql_route *out,
                                     struct cleave_error *error);

/* Fills `why` for accesses that were counted already. */
void cleave__route_explain(const struct cleave_lookup *lookup, const struct cleave_access *accesses,
                           uint32_t access_count, struct cleave_sql_route *route);

/* "shard 3", "shards 0-2, 7", "every shard", "any one shard" into `buffer`, like snprintf. */
int cleave__shards_print(const struct cleave_shardset *set, uint32_t shards, char *buffer,
                         size_t size);

#endif
