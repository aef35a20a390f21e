/* Tables, columns, keys and sizes of the database that is to be sharded.
 *
 * Names are folded as PostgreSQL does (unquoted to lower case). A table's name is stored without
 * its schema when the schema is "public", else as "schema.table"; lookups accept "public.t", and
 * "t" alone when just one schema has a table of that name. A partition is its parent: its name
 * leads there, and it is no table of its own. A materialized view is a table whose columns are the
 * outputs of its query. A key's columns are in declared order; uniques and foreign keys are sorted
 * and distinct, so that a schema read in two ways is the same. Everything lives in the schema's
 * arena. Immutable once loaded. */
#ifndef CLEAVE_TABLES_SOURCE_SCHEMA_H
#define CLEAVE_TABLES_SOURCE_SCHEMA_H

#include "base/intern.h"
#include "tables/sql/value.h"

struct cleave_key { /* a primary key or a unique constraint */
    uint32_t count;
    uint32_t *columns;
};

struct cleave_foreign_key {
    uint32_t count;
    uint32_t *columns;     /* in the referencing table */
    uint32_t target_table; /* index in the schema */
    uint32_t *target_columns;
};

/* pg_stats, as far as estimates need it. Frequencies are shares of all rows. */
struct cleave_column_stats {
    bool known;
    double null_fraction;
    double distinct; /* number of distinct values; 0: unknown */
    double width;    /* bytes a value */
    uint32_t common_count;
    struct cleave_value *common; /* most common values */
    double *common_frequency;
    uint32_t bound_count; /* equi-depth histogram of the rest: bound_count - 1 buckets */
    struct cleave_value *bounds;
};

struct cleave_column {
    const char *name;
    const char *type_name; /* as declared */
    enum cleave_type type;
    bool not_null;
    bool has_default; /* DEFAULT, serial, identity, generated */
    struct cleave_column_stats stats;
};

enum cleave_size_origin { CLEAVE_SIZE_TRACE, CLEAVE_SIZE_GIVEN, CLEAVE_SIZE_CATALOG };

struct cleave_table {
    const char *name;
    uint32_t column_count;
    struct cleave_column *columns;
    struct cleave_key primary; /* count 0: none */
    uint32_t unique_count;
    struct cleave_key *uniques;
    uint32_t foreign_count;
    struct cleave_foreign_key *foreigns;
    const char *view; /* the view's query, or NULL for a table; a view's columns are either all
                         of its outputs, in order, or empty */
    double rows;      /* row count, or 0 while unknown */
    double row_bytes; /* average bytes a row; 0 while unknown */
    enum cleave_size_origin size_origin;
};

struct cleave_schema {
    struct cleave_arena arena;
    struct cleave_table *tables;
    uint32_t table_count;
    struct cleave_intern names; /* id = table index */
    /* Other names that lead to a table: a partition's to its parent, "b" to the only "a.b". */
    struct cleave_intern aliases;
    uint32_t *alias_tables; /* alias id -> table, or CLEAVE_ABSENT when several share it */
    bool *alias_public;     /* alias id -> it is the name of a partition in schema public */
};

enum { CLEAVE_ABSENT = UINT32_MAX };

/* DDL text (a pg_dump, a .sql file): CREATE TABLE / VIEW, ALTER TABLE ... ADD CONSTRAINT, CREATE
 * UNIQUE INDEX; statements about anything else are passed over; COPY ... FROM stdin blocks of a
 * pg_dump are skipped. Errors give file:line. `*out` is the caller's to free. */
enum cleave_status cleave__schema_read_ddl(const char *path, struct cleave_schema **out,
                                           struct cleave_error *error);
enum cleave_status cleave__schema_parse_ddl(const char *text, size_t length, const char *name,
                                            struct cleave_schema **out, struct cleave_error *error);
/* From a live server, by a libpq connection string; also fills rows and statistics. */
enum cleave_status cleave__schema_read_catalog(const char *connection, struct cleave_schema **out,
                                               struct cleave_error *error);
void cleave__schema_free(struct cleave_schema *schema);

/* Row counts (and bytes) from YAML: `tables: {orders: {rows: 30000, row_bytes: 24}, item: 100000}`.
 */
enum cleave_status cleave__sizes_read_yaml(struct cleave_schema *schema, const char *path,
                                           struct cleave_error *error);
/* A dump of pg_class and pg_stats as JSON lines or CSV (docs/sizes.md says how to make it). */
enum cleave_status cleave__sizes_read_stats(struct cleave_schema *schema, const char *path,
                                            struct cleave_error *error);

uint32_t cleave__schema_table(const struct cleave_schema *schema, const char *name, size_t length);
uint32_t cleave__schema_column(const struct cleave_table *table, const char *name, size_t length);

/* Share of the table's rows in `range` of `column`, 0..1, as an optimizer estimates it: common
 * values, then the histogram with linear interpolation, else 1/distinct or a uniform guess. */
double cleave__selectivity(const struct cleave_table *table, uint32_t column,
                           const struct cleave_range *range);
/* The value that splits the rows of `range` in two halves, for refinement. False when unknown or
 * the range is a point. */
bool cleave__range_median(const struct cleave_table *table, uint32_t column,
                          const struct cleave_range *range, struct cleave_value *out);

#endif
