/* What a template compiles to: for every table reference of the statement, how to compute its boxes
 * from the statement's constants. */
#ifndef CLEAVE_TABLES_SQL_PROGRAM_H
#define CLEAVE_TABLES_SQL_PROGRAM_H

#include "tables/source/schema.h"
#include "tables/sql/predicate.h"

struct cleave_assignment {
    uint32_t column;
    const struct cleave_expression *value; /* NULL: not a constant */
};

/* One access. Rows come from a predicate, or (VALUES) from a list; then each step that is there
 * applies: `keys` keeps the columns of one key at a time (rows that an insert may conflict with),
 * `assigned` replaces columns (where an UPDATE moves rows to). */
struct cleave_program {
    uint32_t table;
    bool write, locks, insert;
    const struct cleave_predicate *predicate; /* NULL: rows */
    uint32_t row_count, column_count;
    const uint32_t *columns;                 /* [column_count], ascending */
    const struct cleave_expression **values; /* [row_count * column_count]; NULL: not known */
    bool conflict;
    uint32_t key_count;
    const struct cleave_key *keys;
    uint32_t assigned_count;
    const struct cleave_assignment *assigned; /* columns ascending */
};

struct cleave_template {
    enum cleave_statement_kind kind;
    uint32_t unknown_tables, opaque;
    uint32_t program_count;
    struct cleave_program *programs;
};

/* The schema as the analyzer sees it. */
struct cleave_catalog {
    const struct cleave_schema *schema;
    struct cleave_domain_type **types; /* [table][column] */
    uint8_t **keep;                    /* [table][column]: new rows are described by this column */
    uint8_t **places; /* [table][column]: a change of it moves rows, as one of a key does */
};

/* Computes the accesses of one statement. */
enum cleave_status cleave__template_bind(const struct cleave_template *template_,
                                         const struct cleave_catalog *catalog,
                                         struct cleave_binding *binding,
                                         struct cleave_statement *out);

#endif
