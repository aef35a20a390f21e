/* Where a key map sends a piece of its key's domain. */
#ifndef CLEAVE_TABLES_ORACLE_MAP_H
#define CLEAVE_TABLES_ORACLE_MAP_H

#include "base/shardset.h"
#include "tables/oracle/cells.h"
#include "tables/route/layout.h"

enum { ORACLE_KEY_VALUES_MAX = 4096 };

/* Adds every shard that a value of the cell may get; may stop once `out` has `enough`. */
void cleave__oracle_map(const struct cleave_key_map *map, uint32_t shards,
                        const struct oracle_cell *cell, uint32_t enough,
                        struct cleave_shardset *out);

#endif
