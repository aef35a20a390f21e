/* Random statements over three small tables, each in two texts that differ in constants only.
 *
 * t0, t1 and t2 have columns a, b (integers), s (text), n (numbers), d (dates or timestamps) and
 * ok (boolean). Queries within statements have outputs a, b, s. */
#ifndef CLEAVE_TESTS_SQL_RANDOM_STATEMENT_H
#define CLEAVE_TESTS_SQL_RANDOM_STATEMENT_H

#include "property.h"

enum { STATEMENT_SIZE = 16384, STATEMENT_TABLES = 3, STATEMENT_COLUMNS = 6 };

extern const char *const statement_ddl; /* as the analyzer sees it */
/* A value for a column, as an SQL literal. */
void statement_value(struct property_source *source, int table, int column, char *text);

struct random_statement {
    char text[2][STATEMENT_SIZE];
    bool change; /* INSERT, UPDATE, DELETE, MERGE, or a query with one of them inside */
};

/* False when it grew too long. */
bool statement_draw(struct property_source *source, struct random_statement *out);

#endif
