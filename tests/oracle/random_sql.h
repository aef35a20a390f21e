/* Random statements over two small tables, as SQL text and as something that can be run on rows.
 *
 * a (x, y, z) and b (x, y, z) hold small integers and NULLs. A statement has up to three row
 * sources: r0, r1 and, in a nested query, s. */
#ifndef CLEAVE_TESTS_ORACLE_RANDOM_SQL_H
#define CLEAVE_TESTS_ORACLE_RANDOM_SQL_H

#include <stdbool.h>
#include <stddef.h>

#include "support/property.h"

enum { SQL_COLUMNS = 3, SQL_ROWS_MAX = 6, SQL_DOMAIN = 5, SQL_NODES_MAX = 200, SQL_NULL = -1 };

#define SQL_DDL                                                                                    \
    "CREATE TABLE a (x int, y int, z int, UNIQUE (x, y));"                                         \
    "CREATE TABLE b (x int, y int, z int, UNIQUE (x));"                                            \
    "CREATE VIEW va AS SELECT x, y, z FROM a WHERE y <> 2;"

enum sql_op {
    SQL_COMPARE, /* column op constant */
    SQL_COLUMNS_EQUAL,
    SQL_IN,
    SQL_BETWEEN,
    SQL_IS_NULL,
    SQL_ROW,      /* (c0, c1) op (k0, k1) */
    SQL_DISTINCT, /* column IS NOT DISTINCT FROM constant */
    SQL_AND,
    SQL_OR,
    SQL_NOT,
    SQL_IN_QUERY, /* column IN (SELECT s.column FROM t s WHERE child) */
    SQL_EXISTS,
};

struct sql_node {
    enum sql_op op;
    int comparison; /* < <= = <> >= > */
    int source[2], column[2];
    int constant[4], constant_count;
    int table; /* of a nested query */
    struct sql_node *child[2];
};

enum sql_kind {
    SQL_SELECT,
    SQL_JOIN,
    SQL_LEFT,
    SQL_RIGHT,
    SQL_FULL,
    SQL_UNION,
    SQL_DELETE,
    SQL_DELETE_USING,
    SQL_UPDATE,
    SQL_INSERT,
    SQL_INSERT_SELECT,
    SQL_KINDS
};

enum sql_wrap { SQL_PLAIN, SQL_NESTED, SQL_WITH, SQL_VIEW, SQL_WRAPS };

struct sql_statement {
    enum sql_kind kind;
    enum sql_wrap wrap;                  /* how r0 is written */
    struct sql_node *inner;              /* condition inside the wrap, or NULL */
    struct sql_node *on, *where;         /* or NULL */
    struct sql_node *second;             /* WHERE of the second arm of a UNION */
    int set_column, set_value, set_from; /* UPDATE: value, or another column when set_from >= 0 */
    int inserted[2][SQL_COLUMNS], insert_count;
    bool plain;
    struct sql_node nodes[SQL_NODES_MAX];
    int node_count;
    char text[8192];
    size_t length;
};

struct sql_table {
    int rows[SQL_ROWS_MAX][SQL_COLUMNS];
    int count;
};

/* `plain`: without IS NOT DISTINCT FROM, and columns are compared with each other only where that
 * must hold. */
void sql_random(struct property_source *source, struct sql_statement *statement, bool plain);
/* A number that stands for the result: a sum over its rows. */
unsigned long long sql_run(const struct sql_statement *statement, const struct sql_table tables[2]);
/* Rows that the statement adds or makes; `table` is where they go. */
int sql_new_rows(const struct sql_statement *statement, const struct sql_table tables[2],
                 int (*out)[SQL_COLUMNS], int most, int *table);

#endif
