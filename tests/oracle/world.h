/* A small world for the recount's tests: a schema given as DDL, layouts over it, and the shards a
 * statement touches as text ("3 5", "all", "free", "nothing"). */
#ifndef CLEAVE_TESTS_ORACLE_WORLD_H
#define CLEAVE_TESTS_ORACLE_WORLD_H

#include "tables/oracle/oracle.h"
#include "tables/oracle/touch.h"

struct world {
    struct cleave_schema *schema;
    struct cleave_arena arena;
    struct cleave_layout layout;
    struct cleave_oracle *oracle;
};

/* Every table by its first column, value mod `shards`; tables named r... are replicated. Aborts on
 * any failure. */
void world_open(struct world *world, const char *ddl, uint32_t shards);
void world_close(struct world *world);
uint32_t world_table(const struct world *world, const char *name);
uint32_t world_column(const struct world *world, const char *table, const char *column);
/* A new map in the layout, with a default and no entries. */
uint32_t world_map(struct world *world, enum cleave_map_default otherwise);
void world_entry(struct world *world, uint32_t map, int64_t value, uint32_t shard);
void world_bound(struct world *world, uint32_t map, int64_t value);
void world_exception(struct world *world, const char *table, const char *column0,
                     struct cleave_range range0, const char *column1, struct cleave_range range1,
                     uint32_t shard);
struct cleave_range world_range(int64_t low, int64_t high);

/* What `sql` (one statement, or several parted by ';') touches. */
const char *world_touch(struct world *world, const char *sql, char *buffer, size_t size);
const char *world_touch_bound(struct world *world, const char *sql,
                              const struct cleave_parameter *parameters, uint32_t count,
                              char *buffer, size_t size);

#endif
