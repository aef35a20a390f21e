/* SQL text -> accesses. Each distinct statement (up to constants) is parsed once by libpg_query;
 * later ones re-bind their literals to the compiled template.
 *
 * Every error is on the side of more: a row that the statement's answer or effect depends on lies
 * in a box of its table (tests/sql/touch_test.c holds it to that against a server). What is not
 * seen: triggers, rules, foreign key checks and cascades, row security; user-defined functions set
 * `opaque`. Text is compared bytewise, timestamps without a zone are UTC. A new row is described by
 * its key columns and the columns that predicates have named so far (without any key: by the first
 * eight columns); a change of a key column adds an access for where the row goes. Whoever knows
 * which columns decide where rows live names those too (cleave__analyzer_place).
 *
 * Memory: compiled templates take some 64 MB at most (all are dropped when they do), the ids of
 * 262,144 of them 12 MB; a statement beyond those is parsed each time and has the last id.
 *
 * Bounds: a statement past `CLEAVE_STATEMENT_MAX` bytes or nested past `CLEAVE_NESTING_MAX` gives
 * CLEAVE_LIMIT before it reaches the parser. An analyzer is used by one thread at a time. */
#ifndef CLEAVE_TABLES_SQL_ANALYZE_H
#define CLEAVE_TABLES_SQL_ANALYZE_H

#include "tables/source/schema.h"
#include "tables/sql/access.h"
#include "tables/sql/parameter.h"

enum { CLEAVE_STATEMENT_MAX = 1 << 20, CLEAVE_NESTING_MAX = 200 };

struct cleave_analyzer;

/* `schema` is borrowed for the analyzer's life. */
enum cleave_status cleave__analyzer_new(const struct cleave_schema *schema,
                                        struct cleave_analyzer **out, struct cleave_error *error);
void cleave__analyzer_free(struct cleave_analyzer *analyzer);
/* This column decides where rows live: it is treated as one of a key. Before the first statement.
 */
void cleave__analyzer_place(struct cleave_analyzer *analyzer, uint32_t table, uint32_t column);

/* One statement (text without its terminating semicolon is fine; two statements in one text are
 * CLEAVE_BAD_INPUT: the caller splits them, see split.h). Results live in `arena` and may borrow
 * `text` and `parameters`. CLEAVE_BAD_INPUT: a syntax error, with its position. */
enum cleave_status cleave__analyze(struct cleave_analyzer *analyzer, const char *text,
                                   size_t length, const struct cleave_parameter *parameters,
                                   uint32_t parameter_count, struct cleave_arena *arena,
                                   struct cleave_statement *out, struct cleave_error *error);

struct cleave_analyzer_stats {
    uint64_t statements, parsed; /* analysed; sent to libpg_query */
    uint32_t templates;
    size_t template_bytes;
};
void cleave__analyzer_stats(const struct cleave_analyzer *analyzer,
                            struct cleave_analyzer_stats *out);

#endif
