/* What one statement touches, table by table: the meeting point of parsing, shaping and routing.
 *
 * A box is a conjunction: for each column it names, the row's value lies in one of the term's
 * ranges (sorted, disjoint); columns it does not name may be anything. An access is a union of
 * boxes over one table. Everything errs on the side of more: a predicate that is not understood
 * says nothing. An access with no box touches nothing (its predicates contradict each other). */
#ifndef CLEAVE_TABLES_SQL_ACCESS_H
#define CLEAVE_TABLES_SQL_ACCESS_H

#include "tables/sql/value.h"

struct cleave_term {
    uint32_t column; /* index in the table */
    uint32_t range_count;
    struct cleave_range *ranges;
};

struct cleave_box {
    uint32_t term_count;
    struct cleave_term *terms; /* columns ascending, distinct */
};

struct cleave_access {
    uint32_t table; /* index in the schema; never a view */
    bool write;     /* INSERT, UPDATE, DELETE; a SELECT ... FOR UPDATE or FOR SHARE is a read */
    bool locks;     /* SELECT ... FOR UPDATE and the like: a read that takes row locks */
    bool insert;    /* the box is a new row: columns it does not name are unknown, not "any" */
    uint32_t box_count;
    struct cleave_box *boxes;
};

enum cleave_statement_kind {
    CLEAVE_STATEMENT_QUERY, /* SELECT, VALUES, TABLE */
    CLEAVE_STATEMENT_DML,   /* INSERT, UPDATE, DELETE, MERGE, or a query with DML in a CTE */
    CLEAVE_STATEMENT_COPY,
    CLEAVE_STATEMENT_SCHEMA, /* CREATE, ALTER, DROP, TRUNCATE, VACUUM, ... */
    CLEAVE_STATEMENT_OTHER,  /* SET, SHOW, LISTEN, EXPLAIN, DO, CALL, transaction control, ... */
};

struct cleave_statement {
    enum cleave_statement_kind kind;
    uint32_t access_count;
    struct cleave_access *accesses;
    uint32_t unknown_tables; /* references to relations that the schema lacks (catalogs included) */
    uint32_t opaque;         /* 1 when it may touch more than the accesses say (DO, functions) */
    uint32_t template_id; /* dense, per analyzer; equal for statements that differ in constants */
};

#endif
