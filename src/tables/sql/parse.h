/* libpg_query behind a guard: bounded input, a stack of its own, one clear error.
 *
 * The parser and the code that packs its tree recurse as deep as the statement nests; a sum of
 * 5,000 terms or 2,000 nested SELECTs overruns an ordinary stack. So a statement's length and depth
 * are checked first (CLEAVE_LIMIT), and the work runs on one thread with a large stack that a
 * `cleave_parser` keeps for its life. Calls of one parser from several threads take turns. */
#ifndef CLEAVE_TABLES_SQL_PARSE_H
#define CLEAVE_TABLES_SQL_PARSE_H

#include <stddef.h>

#include "base/arena.h"
#include "cleave/status.h"

enum {
    CLEAVE_PARSE_LENGTH_MAX = 64 << 20, /* bytes of text in one call (a whole DDL file) */
    CLEAVE_PARSE_CHAIN_MAX = 2000,      /* operators, joins or set operations in a row */
};

struct cleave_parser;
struct PgQuery__ParseResult; /* <pg_query/pg_query.pb-c.h> */

enum cleave_status cleave__parser_new(struct cleave_parser **out, struct cleave_error *error);
void cleave__parser_free(struct cleave_parser *parser);

/* `text` need not end in NUL and may hold several statements. On success `*out` is the unpacked
 * tree, wholly in `arena` (nothing to free). Locations in it are byte offsets in `text`.
 * CLEAVE_LIMIT: too long, nested past CLEAVE_NESTING_MAX (analyze.h) or CLEAVE_PARSE_CHAIN_MAX.
 * CLEAVE_BAD_INPUT: NUL bytes, or a syntax error: "syntax error at or near "x" (character 12)". */
enum cleave_status cleave__parse_protobuf(struct cleave_parser *parser, const char *text,
                                          size_t length, struct cleave_arena *arena,
                                          struct PgQuery__ParseResult **out,
                                          struct cleave_error *error);
/* The tree as JSON text, malloc'd: the caller frees it with free(). Same guards and errors. */
enum cleave_status cleave__parse_json(struct cleave_parser *parser, const char *text, size_t length,
                                      char **out, struct cleave_error *error);

/* As cleave__parse_protobuf, on the calling thread: for use within cleave__parser_run. */
enum cleave_status cleave__parse_protobuf_here(const char *text, size_t length,
                                               struct cleave_arena *arena,
                                               struct PgQuery__ParseResult **out,
                                               struct cleave_error *error);

/* Runs `work(context)` on the large stack and waits: for recursions over a tree. */
void cleave__parser_run(struct cleave_parser *parser, void (*work)(void *context), void *context);

/* The guard alone: CLEAVE_OK, or CLEAVE_LIMIT with what is too deep. O(length). */
enum cleave_status cleave__nesting_check(const char *text, size_t length,
                                         struct cleave_error *error);

#endif
