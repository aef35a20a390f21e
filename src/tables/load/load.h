/* Rows of a whole database onto its shards, by a lookup table.
 *
 * The source is a live database or a generated benchmark. The shards get the tables (columns, NOT
 * NULL, primary and unique keys; from PostgreSQL to PostgreSQL also defaults, checks, indexes), and
 * each row goes where the lookup table sends it: copied tables to all shards, tables with two keys
 * to both places. Foreign keys are kept where a row and the row it refers to are always on one
 * shard. Everything is one distributed transaction: its parts are prepared on all shards, and
 * committed when the counted rows are those that were sent; what fails before leaves nothing. A
 * load that was cut off in between is finished, or undone, by the next one onto the same shards. */
#ifndef CLEAVE_TABLES_LOAD_LOAD_H
#define CLEAVE_TABLES_LOAD_LOAD_H

#include "cleave/progress.h"
#include "tables/route/lookup.h"
#include "tables/source/generate.h"

struct cleave_load_options {
    const char *from;                         /* URL of the source (src/store/store.h), or */
    const struct cleave_generator *generator; /* a benchmark, before its first transaction */
    const char *const *shards;                /* [lookup's shards] URLs */
    uint32_t shard_count;
    const char *reference; /* URL of a database that gets all rows, unsharded; NULL: none */
    bool replace;          /* drop tables of these names first; else they must not exist */
    bool only_schema;      /* tables without rows */
    const struct cleave_progress *progress; /* may be NULL */
};

struct cleave_load_table {
    const char *name;
    bool replicated, twice;
    uint64_t rows;              /* of the source */
    const uint64_t *shard_rows; /* [shards]; as the lookup table says, and as counted there */
};

struct cleave_load_result {
    struct cleave_arena arena;
    struct cleave_load_table *tables;
    uint32_t table_count, shards;
    const char **remarks; /* what was left out, a line each */
    uint32_t remark_count;
    uint32_t recovered; /* parts of an earlier load that were finished or undone first */
};

/* `out` is the caller's to free. Errors name the table, column, shard; CLEAVE_BAD_ARGUMENT when the
 * shards are not as many as the lookup table's, CLEAVE_BAD_INPUT when the source is not the
 * database that the lookup table was made for. O(1) memory a row. */
enum cleave_status cleave__load_run(const struct cleave_lookup *lookup,
                                    const struct cleave_load_options *options,
                                    struct cleave_load_result *out, struct cleave_error *error);
void cleave__load_free(struct cleave_load_result *result);

/* The tables of one PostgreSQL shard onto a new one, without rows, with all that a loaded shard has
 * of the user's: defaults, checks, types, sequences with values of their own, indexes, and the
 * foreign keys that `lookup` keeps on one shard. `number` is the new shard's; none of the tables
 * may be there. */
enum cleave_status cleave__load_copy(const struct cleave_lookup *lookup, const char *from,
                                     const char *to, uint32_t number, struct cleave_error *error);

#endif
