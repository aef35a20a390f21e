/* What the parse tree of a statement shows, as far as running it on several shards needs it.
 *
 * Nothing here depends on constants, so it is kept for all statements of a template. It says what
 * is surely simple: whatever is not understood is not. */
#ifndef CLEAVE_TABLES_REPLAY_SHAPE_H
#define CLEAVE_TABLES_REPLAY_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "tables/sql/parse.h"

enum cleave__shape_kind {
    CLEAVE__SHAPE_QUERY,
    CLEAVE__SHAPE_INSERT,
    CLEAVE__SHAPE_UPDATE,
    CLEAVE__SHAPE_DELETE,
    CLEAVE__SHAPE_OTHER
};

struct cleave__shape {
    enum cleave__shape_kind kind;
    bool rowwise;   /* a query of one table, whose rows are each computed from one of its rows */
    bool nested;    /* subqueries, WITH, FROM or USING of a change */
    bool qualified; /* a table's name has a schema before it */
    bool values, conflict; /* INSERT: of a list of rows; ON CONFLICT */
    bool returning;        /* of a change */
    uint32_t row_count;    /* of that list */
    const char *target;    /* of a change */
    uint32_t set_count;    /* columns that anything in it sets: UPDATE, ON CONFLICT, MERGE */
    const char **set;
    uint32_t relation_count; /* names of tables and views, as often as they stand there; those that
                                WITH defines are left out */
    const char **relations;
    bool sorted;        /* ORDER BY */
    uint32_t key_count; /* the first of its keys that are columns of the answer, by name */
    const char **keys;
};

/* `out` lives in `arena`. Errors as of parsing. */
enum cleave_status cleave__shape_read(struct cleave_parser *parser, const char *text, size_t length,
                                      struct cleave_arena *arena, struct cleave__shape *out,
                                      struct cleave_error *error);

#endif
