/* Inside of reading sizes: what the readers of YAML, of statistics dumps and of the live catalog
 * share. Not for other rooms. */
#ifndef CLEAVE_TABLES_SOURCE_SIZES_H
#define CLEAVE_TABLES_SOURCE_SIZES_H

#include "base/vector.h"
#include "tables/source/schema.h"

struct cleave_text { /* borrowed; bytes NULL: SQL NULL or absent */
    const char *bytes;
    size_t length;
};

/* A plain decimal number ("12", "-0.5", "3e6"; no hex, infinity or NaN), in any locale. */
bool cleave__sizes_number(const char *text, size_t length, double *out);

/* A PostgreSQL array literal ({a,"b c",NULL}) of one dimension into its elements; those that were
 * quoted are unescaped into `arena`. False if it is none, or memory is out. */
bool cleave__sizes_array(const char *text, size_t length, struct cleave_arena *arena,
                         struct cleave_text **out, size_t *count);

/* One row of statistics: about a table, and if `column` is there about that column too. Names are
 * pg_stats'. */
struct cleave_stats_row {
    struct cleave_text schema, table, reltuples, relpages, row_bytes;
    struct cleave_text column, inherited, null_frac, avg_width, n_distinct;
    struct cleave_text most_common_vals, most_common_freqs, histogram_bounds;
};

struct cleave_pending_rows {
    uint32_t table;
    double rows, pages, row_bytes; /* 0: unknown */
};

struct cleave_pending_stats {
    uint32_t table, column;
    bool inherited;
    double n_distinct; /* as in pg_stats: negative is a share of the rows */
    struct cleave_column_stats stats;
};

/* Gathers rows, and changes the schema only at the end, so that an error leaves it as it was. */
struct cleave_stats_batch {
    struct cleave_schema *schema;
    const char *origin; /* for messages */
    CLEAVE_VECTOR(struct cleave_pending_rows) tables;
    CLEAVE_VECTOR(struct cleave_pending_stats) columns;
    struct cleave_arena scratch;
};

/* Rows about tables or columns that the schema lacks are passed over (a dump of pg_stats also holds
 * catalogs and indexes); values that make no sense are CLEAVE_BAD_INPUT. */
enum cleave_status cleave__stats_add(struct cleave_stats_batch *batch, size_t line,
                                     const struct cleave_stats_row *row,
                                     struct cleave_error *error);
void cleave__stats_apply(struct cleave_stats_batch *batch);
void cleave__stats_free(struct cleave_stats_batch *batch);

/* The readers on text in memory; `name` is for messages. */
enum cleave_status cleave__sizes_parse_yaml(struct cleave_schema *schema, const char *text,
                                            size_t length, const char *name,
                                            struct cleave_error *error);
enum cleave_status cleave__sizes_parse_stats(struct cleave_schema *schema, const char *text,
                                             size_t length, const char *name,
                                             struct cleave_error *error);

#endif
