/* Decisions as a YAML file: read with every fault named by line, written whole or not at all. */
#ifndef CLEAVE_TABLES_REFINE_CONSTRAINTS_H
#define CLEAVE_TABLES_REFINE_CONSTRAINTS_H

#include "base/arena.h"
#include "cleave/status.h"
#include "tables/scheme/steer.h"
#include "tables/source/schema.h"

/* Fills `steer` over what it holds (keys that the file lacks stay); strings live in `arena`. With a
 * schema, names are checked against it, shards against `shards`. */
enum cleave_status cleave__constraints_read(const char *path, const struct cleave_schema *schema,
                                            uint32_t shards, struct cleave_arena *arena,
                                            struct cleave_steer *steer, struct cleave_error *error);
enum cleave_status cleave__constraints_write(const char *path, const struct cleave_steer *steer,
                                             struct cleave_error *error);
/* CLEAVE_BAD_ARGUMENT with the first decision that makes no sense for the schema. */
enum cleave_status cleave__steer_check(const struct cleave_steer *steer,
                                       const struct cleave_schema *schema, uint32_t shards,
                                       struct cleave_error *error);

#endif
