/* SQL text -> statements, without parsing them: where each ends, and what its first words say.
 *
 * Knows '' strings, E'' escapes, U&'' B'' X'' N'', "identifiers", $tag$ bodies $tag$, -- and nested
 * comments, the parentheses of CREATE RULE, and BEGIN ATOMIC ... END bodies of CREATE FUNCTION and
 * PROCEDURE. Strings follow standard_conforming_strings = on. O(length), no memory. */
#ifndef CLEAVE_TABLES_SQL_SPLIT_H
#define CLEAVE_TABLES_SQL_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cleave_verb {
    CLEAVE_VERB_OTHER,
    CLEAVE_VERB_BEGIN,    /* BEGIN, START TRANSACTION */
    CLEAVE_VERB_COMMIT,   /* COMMIT, END */
    CLEAVE_VERB_ROLLBACK, /* ROLLBACK, ABORT */
    CLEAVE_VERB_ROLLBACK_TO,
    CLEAVE_VERB_SAVEPOINT,
    CLEAVE_VERB_RELEASE,
    CLEAVE_VERB_PREPARE, /* PREPARE name AS ... */
    CLEAVE_VERB_EXECUTE,
    CLEAVE_VERB_DEALLOCATE,
    CLEAVE_VERB_DISCARD,
    CLEAVE_VERB_PREPARE_TRANSACTION,
    CLEAVE_VERB_COMMIT_PREPARED,
    CLEAVE_VERB_ROLLBACK_PREPARED,
    CLEAVE_VERB_COPY,
    CLEAVE_VERB_SELECT, /* SELECT, VALUES, TABLE, WITH */
    CLEAVE_VERB_DML,    /* INSERT, UPDATE, DELETE, MERGE */
    CLEAVE_VERB_KNOWN,  /* any other word that begins a PostgreSQL statement */
};

/* One statement. `text` has no blanks around it and no semicolon; comments stay. */
struct cleave_piece {
    const char *text;
    size_t length;
    enum cleave_verb verb;
    bool chain; /* COMMIT or ROLLBACK ... AND CHAIN */
    /* The word or string after PREPARE, EXECUTE, DEALLOCATE, SAVEPOINT-like verbs and
     * ... PREPARED 'id': as written, quotes included. NULL when there is none. */
    const char *name;
    size_t name_length;
    const char *rest; /* what follows the name, up to the end of the statement */
    size_t rest_length;
};

/* The next statement of [*at, end); false when only blanks, comments and semicolons are left. */
bool cleave__split_next(const char **at, const char *end, struct cleave_piece *out);
/* Fills verb, chain, name and rest of a single statement's text (trims it first). */
void cleave__split_classify(const char *text, size_t length, struct cleave_piece *out);

/* The same for text that comes line by line. Starts as all zeroes; again so after each end. */
struct cleave_splitter {
    uint8_t mode;     /* enum in split.c */
    bool escaped;     /* a backslash ended the last piece of an E'' string */
    bool some;        /* a token was seen */
    bool create;      /* the first word is CREATE */
    bool routine;     /* ... FUNCTION or PROCEDURE */
    uint8_t words;    /* words seen, up to 4 */
    uint8_t tag_size; /* of `tag`, dollars included */
    uint32_t depth;   /* of nested comments */
    uint32_t parens;  /* open, within CREATE */
    uint32_t begins;  /* open BEGIN and CASE within a routine */
    char tag[65];
};

/* Reads `length` bytes (whole lines: no token but strings and comments may span two calls). True
 * when a semicolon ended the statement; *used is then the position behind it. False: all was read
 * and the statement goes on. */
bool cleave__split_feed(struct cleave_splitter *splitter, const char *text, size_t length,
                        size_t *used);
/* Within a string, an identifier, a comment or a dollar body. */
bool cleave__split_is_open(const struct cleave_splitter *splitter);
/* Position behind the blanks and comments at `text`; `length` when there is nothing else. */
size_t cleave__split_skip_blank(const char *text, size_t length);

#endif
