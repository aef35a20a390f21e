/* PostgreSQL's tokens, as far as masking literals and bounding nesting need them.
 *
 * Follows the server's lexical rules (standard_conforming_strings on): nested comments, E'' and
 * dollar quotes, operators that end before a comment or a sign. Never reads past `end`; any bytes
 * are accepted. A token that does not end (an open quote) is CLEAVE_TOKEN_BAD. */
#ifndef CLEAVE_TABLES_SQL_LEXER_H
#define CLEAVE_TABLES_SQL_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum cleave_token_kind {
    CLEAVE_TOKEN_END,
    CLEAVE_TOKEN_WORD,          /* keyword or unquoted name */
    CLEAVE_TOKEN_QUOTED,        /* "name", U&"name" */
    CLEAVE_TOKEN_STRING,        /* 'text' */
    CLEAVE_TOKEN_ESCAPE_STRING, /* E'text' */
    CLEAVE_TOKEN_DOLLAR_STRING, /* $tag$text$tag$ */
    CLEAVE_TOKEN_OTHER_STRING,  /* B'', X'', N'', U&'', and strings continued on another line */
    CLEAVE_TOKEN_NUMBER,
    CLEAVE_TOKEN_PARAMETER, /* $1 */
    CLEAVE_TOKEN_OPERATOR,
    CLEAVE_TOKEN_PUNCTUATION, /* one of ( ) [ ] , ; : . and "::" ":=" */
    CLEAVE_TOKEN_BAD,
};

struct cleave_token {
    enum cleave_token_kind kind;
    const char *start;
    size_t length;
    const char *body; /* of strings: what is between the quotes, escapes untouched */
    size_t body_length;
};

struct cleave_lexer {
    const char *at, *end;
};

void cleave__lex(struct cleave_lexer *lexer, struct cleave_token *token);
/* Is the token this keyword (given in lower case)? */
bool cleave__token_is(const struct cleave_token *token, const char *keyword);

#endif
