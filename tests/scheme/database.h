/* A case made of text: DDL, and transactions whose statements are parted by ';'. */
#ifndef CLEAVE_TESTS_SCHEME_DATABASE_H
#define CLEAVE_TESTS_SCHEME_DATABASE_H

#include "tables/compare/compare.h"

/* The first `train` transactions are placed by, the other `held_out` only judge; all are kept for
 * the recount. Aborts with a line on standard error when the DDL is wrong or memory is out; free
 * with cleave__case_free. Tables without rows count as many as the workload tells apart. */
struct cleave_case *database_open(const char *ddl, const char *const *transactions, uint32_t train,
                                  uint32_t held_out);

uint32_t database_table(const struct cleave_case *kase, const char *table);
/* The column's place in its table. */
uint32_t database_column(const struct cleave_case *kase, const char *table, const char *column);
/* Its number among the columns of all tables, as profiles count. */
uint32_t database_number(const struct cleave_case *kase, const char *table, const char *column);

/* What a scheme starts from. */
struct cleave_scheme_input database_input(const struct cleave_case *kase, uint32_t shards,
                                          uint64_t seed, const struct cleave_steer *steer);

/* Shard of a row of which one column is known, given as SQL text (NULL: SQL NULL). */
uint32_t database_shard(const struct cleave_case *kase, const struct cleave_lookup *lookup,
                        const char *table, const char *column, const char *value);

/* The lookup table's file, in malloc'd memory. */
unsigned char *database_bytes(const struct cleave_lookup *lookup, size_t *length);

#endif
