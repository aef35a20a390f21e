/* A schema while it is being read: tables and columns come, change their names and go; keys are
 * held by column index, so that a rename never breaks one. DDL, the catalog and inference from
 * statements all fill this and then finish it into the immutable struct cleave_schema.
 *
 * Names given here are canonical (schema.h): "schema.table", or "table" for schema public. All
 * strings are copied into the schema's arena. Dropped tables, columns and keys stay as marked
 * entries until the finish. Partitions are folded: a partition's name leads to its topmost parent.
 *
 * Bounds: CLEAVE_COLUMNS_MAX a table (PostgreSQL's own), CLEAVE_TABLES_MAX tables and
 * CLEAVE_COLUMNS_TOTAL_MAX columns in all, so that a small hostile file cannot take all memory. */
#ifndef CLEAVE_TABLES_SOURCE_SCHEMA_BUILD_H
#define CLEAVE_TABLES_SOURCE_SCHEMA_BUILD_H

#include "base/vector.h"
#include "tables/source/schema.h"

enum {
    CLEAVE_COLUMNS_MAX = 1600,
    CLEAVE_TABLES_MAX = 1 << 20,
    CLEAVE_COLUMNS_TOTAL_MAX = 4 << 20,
    CLEAVE_KEY_COLUMNS_MAX = 32, /* INDEX_MAX_KEYS */
};

enum cleave_default {
    CLEAVE_DEFAULT_NONE,
    CLEAVE_DEFAULT_VALUE,
    CLEAVE_DEFAULT_IDENTITY,
    CLEAVE_DEFAULT_GENERATED
};

struct cleave_build_column {
    const char *name, *type_name;
    enum cleave_type type;
    enum cleave_default fallback; /* what fills it when an INSERT does not */
    bool not_null, dropped;
};

enum cleave_build_key_kind { CLEAVE_KEY_PRIMARY, CLEAVE_KEY_UNIQUE, CLEAVE_KEY_FOREIGN };

struct cleave_build_key {
    enum cleave_build_key_kind kind;
    const char *name;
    uint32_t count;
    uint32_t *columns;
    uint32_t target_table;     /* FOREIGN; CLEAVE_ABSENT while only its name is known */
    const char *target;        /* its canonical name */
    uint32_t target_count;     /* 0: the target's primary key */
    const char **target_names; /* column names, until target_columns is known */
    uint32_t *target_columns;
    size_t line;
    bool dropped;
};

struct cleave_build_table {
    const char *name;
    const char *view; /* the query of a view */
    CLEAVE_VECTOR(struct cleave_build_column) columns;
    CLEAVE_VECTOR(struct cleave_build_key) keys;
    CLEAVE_VECTOR(uint32_t) children; /* tables that INHERIT from it */
    uint32_t folded_into;             /* parent of a partition, or CLEAVE_ABSENT */
    size_t line;
    uint32_t visit; /* mark of walks over children */
    bool dropped;
    bool parent;  /* some table is or was a partition of it */
    bool partial; /* made by a query that does not tell all of its columns */
    bool ignored; /* temporary tables and composite types: known, but not part of the result */
};

struct cleave_build {
    struct cleave_schema *schema; /* takes the strings; becomes the result */
    const char *origin;           /* file or server, for messages; borrowed */
    CLEAVE_VECTOR(struct cleave_build_table) tables;
    struct cleave_intern names;         /* every name ever used */
    CLEAVE_VECTOR(uint32_t) name_table; /* name id -> table, or CLEAVE_ABSENT */
    size_t column_total;
    uint32_t visit;
};

enum cleave_status cleave__build_init(struct cleave_build *build, const char *origin,
                                      struct cleave_error *error);
void cleave__build_free(struct cleave_build *build);

/* "origin:line: message"; line 0 leaves the line out. */
enum cleave_status cleave__build_fail(const struct cleave_build *build, size_t line,
                                      enum cleave_status status, struct cleave_error *error,
                                      const char *format, ...) CLEAVE_PRINTF(5, 6);

char *cleave__build_string(struct cleave_build *build, const char *text);
/* Live table of that canonical name (ignored ones too), or CLEAVE_ABSENT. */
uint32_t cleave__build_find(const struct cleave_build *build, const char *name);
uint32_t cleave__build_find_column(const struct cleave_build_table *table, const char *name);
/* Where a partition's rows belong: its topmost parent; the table itself otherwise. */
uint32_t cleave__build_top(const struct cleave_build *build, uint32_t table);

/* A new empty table; CLEAVE_BAD_INPUT if the name is taken. */
enum cleave_status cleave__build_table(struct cleave_build *build, const char *name, size_t line,
                                       uint32_t *out, struct cleave_error *error);
enum cleave_status cleave__build_rename(struct cleave_build *build, uint32_t table,
                                        const char *name, size_t line, struct cleave_error *error);
void cleave__build_drop(struct cleave_build *build, uint32_t table);
enum cleave_status cleave__build_column(struct cleave_build *build, uint32_t table,
                                        const struct cleave_build_column *column, size_t line,
                                        struct cleave_error *error);
/* Drops a column and every key, here or elsewhere, that stands on it. */
void cleave__build_drop_column(struct cleave_build *build, uint32_t table, uint32_t column);
/* Adds a key; its arrays are copied. A NULL name becomes PostgreSQL's own choice ("t_a_fkey"). */
enum cleave_status cleave__build_key(struct cleave_build *build, uint32_t table,
                                     const struct cleave_build_key *key,
                                     struct cleave_error *error);

/* Resolves what is still only a name, orders and checks everything, and hands the schema over.
 * The build is spent either way (but still to be freed). */
enum cleave_status cleave__build_finish(struct cleave_build *build, struct cleave_schema **out,
                                        struct cleave_error *error);

#endif
