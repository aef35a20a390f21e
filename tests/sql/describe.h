/* Accesses as one line of text, for tests: "r t{a=5 b in (2,9]|b is null}, w u{*}, w u{-}" */
#ifndef CLEAVE_TESTS_SQL_DESCRIBE_H
#define CLEAVE_TESTS_SQL_DESCRIBE_H

#include "tables/sql/analyze.h"

/* Writes at most `size` bytes; flags before the table: r read, w write, i insert, l locks. A box
 * without terms is "*", no box at all is "-"; boxes are parted by " | ". */
void describe_statement(const struct cleave_schema *schema,
                        const struct cleave_statement *statement, char *buffer, size_t size);

#endif
