/* The whole set of shards behind a verdict, for tests that compare sets. */
#ifndef CLEAVE_TABLES_ORACLE_TOUCH_H
#define CLEAVE_TABLES_ORACLE_TOUCH_H

#include "base/shardset.h"
#include "tables/oracle/oracle.h"

/* shards[layout_count] is overwritten. Looking stops at `enough` shards (UINT32_MAX: never); then
 * the set may lack some. `*touches`: at least one table of the schema is. */
enum cleave_status cleave__oracle_touch(struct cleave_oracle *oracle,
                                        const struct cleave_trace_transaction *transaction,
                                        const struct cleave_layout *const *layouts,
                                        uint32_t layout_count, uint32_t enough,
                                        struct cleave_shardset *shards, bool *touches, bool *writes,
                                        struct cleave_error *error);

#endif
