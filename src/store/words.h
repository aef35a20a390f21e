/* What the stores share: SQL text cut into tokens, and texts for messages. */
#ifndef CLEAVE_STORE_WORDS_H
#define CLEAVE_STORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "store/store.h"

enum cleave__sql_kind {
    CLEAVE__SQL_END,
    CLEAVE__SQL_WORD,
    CLEAVE__SQL_NAME, /* "quoted" */
    CLEAVE__SQL_TEXT, /* 'text', E'text', $tag$text$tag$ */
    CLEAVE__SQL_SIGN  /* one byte of anything else */
};

struct cleave__sql_token {
    enum cleave__sql_kind kind;
    const char *at; /* in the text */
    size_t length;
};

/* The token at `*text`, blanks and comments skipped, which moves past it. What is not closed ends
 * with the text. */
struct cleave__sql_token cleave__sql_token(const char **text);
/* Whether it is this word, which is given in capitals. */
bool cleave__sql_is(const struct cleave__sql_token *token, const char *word);

/* The statement without FOR UPDATE and its like, which a store with one writer at a time needs not
 * and has not; `text` itself when there is none. NULL: memory is out. */
const char *cleave__store_unlocked(const char *text, struct cleave_arena *arena);

/* A batch holds work alone: CLEAVE_BAD_ARGUMENT for transaction control, COPY, a wrong name. */
enum cleave_status cleave__store_batch_check(const char *shown,
                                             const struct cleave_store_batch *batch,
                                             struct cleave_error *error);
enum cleave_status cleave__store_name_check(const char *shown, const char *name,
                                            struct cleave_error *error);

/* Whether a password in a URL has no sign that makes it seem a part of the host. */
bool cleave__store_escaped(const char *url);

enum { CLEAVE__LINE_SIZE = 320, CLEAVE__EXCERPT_SIZE = 128 };

/* A message on one line, single blanks, none at its ends; shortened to fit. */
void cleave__store_line(const char *message, char *line, size_t size);
/* The beginning of a statement, likewise, with "..." when it is cut. */
void cleave__store_excerpt(const char *statement, char *line, size_t size);

/* An identifier in quotes, in `arena`; NULL: memory is out. */
char *cleave__store_quoted(const char *name, struct cleave_arena *arena);

#endif
