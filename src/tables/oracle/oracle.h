/* The slow, obviously right recount: is a transaction distributed under a layout?
 *
 * Shares nothing with analyze.c, lookup.c and shape/: statements are parsed afresh (pg_query_parse,
 * the JSON tree), conditions are evaluated by a small three-valued interpreter at representative
 * points of each table (every constant that a layout or the statement names, and one between each
 * two), and a point's shard is found by reading the layout's definition literally. */
#ifndef CLEAVE_TABLES_ORACLE_ORACLE_H
#define CLEAVE_TABLES_ORACLE_ORACLE_H

#include "tables/route/layout.h"
#include "tables/source/trace.h"

struct cleave_oracle_count {
    uint64_t transactions; /* that touch at least one table of the schema */
    uint64_t distributed, read_only_distributed, write_distributed;
};

struct cleave_oracle;

enum cleave_status cleave__oracle_new(const struct cleave_schema *schema,
                                      struct cleave_oracle **out, struct cleave_error *error);
void cleave__oracle_free(struct cleave_oracle *oracle);
/* Counts one transaction under each of `layout_count` layouts. `counts` accumulate. `verdicts`
 * (may be NULL) receives, per layout, 0 local, 1 distributed, 2 touches no table. */
enum cleave_status cleave__oracle_count(struct cleave_oracle *oracle,
                                        const struct cleave_trace_transaction *transaction,
                                        const struct cleave_layout *const *layouts,
                                        uint32_t layout_count, struct cleave_oracle_count *counts,
                                        unsigned char *verdicts, struct cleave_error *error);

#endif
