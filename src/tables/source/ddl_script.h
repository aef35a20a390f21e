/* A psql script (a pg_dump, a hand-written .sql file) cut into its statements, as bytes arrive.
 *
 * Knows what psql knows: strings (E'' with backslashes, dollar quotes), comments (nested), quoted
 * identifiers, backslash commands (passed over to the end of their line), COPY ... FROM stdin data
 * (passed over to "\."), semicolons inside CREATE RULE parentheses and BEGIN ATOMIC bodies. Does
 * not know what the statements mean, but keeps the first words of each so that the taker can tell.
 *
 * tables/sql/split.h cuts statements that come a line at a time; this one takes bytes, so that a
 * dump's 100 MB INSERT on one line is passed over without being held.
 *
 * Memory: one statement of at most CLEAVE_SCRIPT_STATEMENT_MAX bytes. Of a longer one the text past
 * that is dropped and `cut` is set. */
#ifndef CLEAVE_TABLES_SOURCE_DDL_SCRIPT_H
#define CLEAVE_TABLES_SOURCE_DDL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "cleave/status.h"

enum {
    CLEAVE_SCRIPT_STATEMENT_MAX = 1 << 20,
    CLEAVE_SCRIPT_WORDS = 8,
    CLEAVE_SCRIPT_WORD_MAX = 32,
};

struct cleave_script_statement {
    const char *text; /* NUL-terminated, without the semicolon; starts at its first word */
    size_t length;
    size_t line; /* where it starts */
    bool cut;    /* longer than the bound: `text` is only its start */
    /* The first words outside quotes and parentheses, lower case; what is not a word ends the
     * list. */
    uint32_t word_count;
    const char (*words)[CLEAVE_SCRIPT_WORD_MAX];
};

typedef enum cleave_status (*cleave_script_take)(void *context,
                                                 const struct cleave_script_statement *statement,
                                                 struct cleave_error *error);

struct cleave_script {
    const char *name; /* of the file, for messages; borrowed */
    cleave_script_take take;
    void *context;
    /* Private from here on. */
    CLEAVE_VECTOR(char) text;
    unsigned state, depth; /* depth: of comments */
    size_t line, start_line, open_line;
    unsigned parentheses, begins;
    unsigned order_mark; /* bytes at the start compared with UTF-8's byte order mark */
    char words[CLEAVE_SCRIPT_WORDS][CLEAVE_SCRIPT_WORD_MAX];
    uint32_t word_count;
    bool words_closed, cut, in_word, ended;
    char word[CLEAVE_SCRIPT_WORD_MAX]; /* the word being read */
    uint32_t word_length;
    char previous;
    bool escapes; /* the string being read is E'' */
    char tag[72]; /* "$tag$" of the dollar quote being read */
    uint32_t tag_length, tag_match;
    unsigned copy;      /* how much of COPY ... FROM STDIN was seen */
    char data_start[4]; /* first bytes of a line of COPY data */
    uint32_t data_length;
    size_t bad_byte_line; /* line of the first NUL, or 0 */
};

void cleave__script_init(struct cleave_script *script, const char *name, cleave_script_take take,
                         void *context);
void cleave__script_free(struct cleave_script *script);
/* Errors: the taker's, no memory, a NUL byte. */
enum cleave_status cleave__script_feed(struct cleave_script *script, const char *bytes,
                                       size_t length, struct cleave_error *error);
/* The end of the input: the last statement may lack its semicolon; an open quote or comment is
 * CLEAVE_BAD_INPUT with the line it opened on. */
enum cleave_status cleave__script_end(struct cleave_script *script, struct cleave_error *error);

#endif
