/* The tokens of PostgreSQL's scanner (its documentation, "Lexical Structure"). One pass, no
 * allocation. */
#include "tables/sql/lexer.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { SPACE = 1, NAME_START = 2, DIGIT = 4, OPERATOR = 8, NAME = 16 };

static const uint8_t classes[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\n'] = SPACE,
    ['\r'] = SPACE,
    ['\f'] = SPACE,
    ['\v'] = SPACE,
    ['0' ... '9'] = DIGIT | NAME,
    ['a' ... 'z'] = NAME_START | NAME,
    ['A' ... 'Z'] = NAME_START | NAME,
    ['_'] = NAME_START | NAME,
    [128 ... 255] = NAME_START | NAME,
    ['$'] = NAME,
    ['~'] = OPERATOR,
    ['!'] = OPERATOR,
    ['@'] = OPERATOR,
    ['#'] = OPERATOR,
    ['^'] = OPERATOR,
    ['&'] = OPERATOR,
    ['|'] = OPERATOR,
    ['`'] = OPERATOR,
    ['?'] = OPERATOR,
    ['+'] = OPERATOR,
    ['-'] = OPERATOR,
    ['*'] = OPERATOR,
    ['/'] = OPERATOR,
    ['%'] = OPERATOR,
    ['<'] = OPERATOR,
    ['>'] = OPERATOR,
    ['='] = OPERATOR,
};

static bool is(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

/* Past a block comment that starts at `p`; NULL when it does not end. */
static const char *skip_block_comment(const char *p, const char *end)
{
    size_t depth = 0;
    while (end - p >= 2) {
        if (p[0] == '/' && p[1] == '*') {
            depth++;
            p += 2;
        } else if (p[0] == '*' && p[1] == '/') {
            p += 2;
            if (--depth == 0)
                return p;
        } else {
            p++;
        }
    }
    return NULL;
}

/* Past spaces and comments. `*newline` tells whether a line ended on the way. Stops at a block
 * comment that does not end. */
static const char *skip_blank(const char *p, const char *end, bool *newline)
{
    while (p < end) {
        if (is(*p, SPACE)) {
            *newline |= *p == '\n' || *p == '\r';
            p++;
        } else if (*p == '-' && end - p >= 2 && p[1] == '-') {
            while (p < end && *p != '\n' && *p != '\r')
                p++;
        } else if (*p == '/' && end - p >= 2 && p[1] == '*') {
            const char *past = skip_block_comment(p, end);
            if (!past)
                return p;
            p = past;
        } else {
            break;
        }
    }
    return p;
}

/* `p` is past the opening quote. Returns past the closing one, or NULL. */
static const char *skip_quoted(const char *p, const char *end, char quote, bool backslash)
{
    while (p < end) {
        if (*p == quote) {
            if (end - p >= 2 && p[1] == quote) {
                p += 2;
                continue;
            }
            return p + 1;
        }
        if (*p == '\\' && backslash) {
            p++;
            if (p == end)
                return NULL;
        }
        p++;
    }
    return NULL;
}

static void bad(struct cleave_lexer *lexer, struct cleave_token *token)
{
    token->kind = CLEAVE_TOKEN_BAD;
    token->length = (size_t)(lexer->end - token->start);
    lexer->at = lexer->end;
}

/* A string whose opening quote is at `quote`; also takes in its continuations on later lines. */
static void lex_string(struct cleave_lexer *lexer, struct cleave_token *token, const char *quote,
                       enum cleave_token_kind kind)
{
    const char *end = lexer->end;
    bool backslash = kind == CLEAVE_TOKEN_ESCAPE_STRING;
    const char *past = skip_quoted(quote + 1, end, '\'', backslash);
    if (!past) {
        bad(lexer, token);
        return;
    }
    token->kind = kind;
    token->body = quote + 1;
    token->body_length = (size_t)(past - quote) - 2;
    for (;;) {
        bool newline = false;
        const char *next = skip_blank(past, end, &newline);
        if (!newline || next == end || *next != '\'')
            break;
        past = skip_quoted(next + 1, end, '\'', backslash);
        if (!past) {
            bad(lexer, token);
            return;
        }
        token->kind = CLEAVE_TOKEN_OTHER_STRING;
    }
    token->length = (size_t)(past - token->start);
    lexer->at = past;
}

/* Past "$tag$" that starts at `p`, or NULL when it is no dollar quote. */
static const char *dollar_tag(const char *p, const char *end)
{
    const char *q = p + 1;
    if (q < end && is(*q, NAME_START)) {
        while (q < end && is(*q, NAME) && *q != '$')
            q++;
    }
    return q < end && *q == '$' ? q + 1 : NULL;
}

static void lex_dollar(struct cleave_lexer *lexer, struct cleave_token *token)
{
    const char *p = token->start, *end = lexer->end;
    if (end - p >= 2 && is(p[1], DIGIT)) {
        p++;
        while (p < end && is(*p, DIGIT))
            p++;
        token->kind = CLEAVE_TOKEN_PARAMETER;
    } else {
        const char *body = dollar_tag(p, end);
        if (body) {
            size_t tag = (size_t)(body - p);
            const char *close = memmem(body, (size_t)(end - body), p, tag);
            if (!close) {
                bad(lexer, token);
                return;
            }
            token->kind = CLEAVE_TOKEN_DOLLAR_STRING;
            token->body = body;
            token->body_length = (size_t)(close - body);
            p = close + tag;
        } else {
            token->kind = CLEAVE_TOKEN_OPERATOR; /* the parser will refuse it */
            p++;
        }
    }
    token->length = (size_t)(p - token->start);
    lexer->at = p;
}

static void lex_number(struct cleave_lexer *lexer, struct cleave_token *token)
{
    const char *p = token->start, *end = lexer->end;
    while (p < end && is(*p, DIGIT))
        p++;
    /* "1..2" is 1, "..", 2 */
    if (p < end && *p == '.' && !(end - p >= 2 && p[1] == '.')) {
        p++;
        while (p < end && is(*p, DIGIT))
            p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < end && (*q == '+' || *q == '-'))
            q++;
        if (q < end && is(*q, DIGIT)) {
            p = q;
            while (p < end && is(*p, DIGIT))
                p++;
        }
    }
    token->kind = CLEAVE_TOKEN_NUMBER;
    token->length = (size_t)(p - token->start);
    lexer->at = p;
}

static void lex_operator(struct cleave_lexer *lexer, struct cleave_token *token)
{
    const char *p = token->start, *end = lexer->end;
    bool special = false;
    while (p < end && is(*p, OPERATOR)) {
        if (end - p >= 2 && ((p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*')))
            break;
        special |= strchr("~!@#^&|`?%", *p) != NULL;
        p++;
    }
    if (!special) {
        while (p - token->start > 1 && (p[-1] == '+' || p[-1] == '-'))
            p--;
    }
    if (p == token->start) { /* a block comment that does not end */
        bad(lexer, token);
        return;
    }
    token->kind = CLEAVE_TOKEN_OPERATOR;
    token->length = (size_t)(p - token->start);
    lexer->at = p;
}

static void lex_word(struct cleave_lexer *lexer, struct cleave_token *token)
{
    const char *p = token->start, *end = lexer->end;
    size_t left = (size_t)(end - p);
    if (left >= 2 && p[1] == '\'') {
        switch (*p) {
        case 'e':
        case 'E':
            lex_string(lexer, token, p + 1, CLEAVE_TOKEN_ESCAPE_STRING);
            return;
        case 'b':
        case 'B':
        case 'x':
        case 'X':
        case 'n':
        case 'N':
            lex_string(lexer, token, p + 1, CLEAVE_TOKEN_OTHER_STRING);
            return;
        }
    }
    if (left >= 3 && (*p == 'u' || *p == 'U') && p[1] == '&') {
        if (p[2] == '\'') {
            lex_string(lexer, token, p + 2, CLEAVE_TOKEN_OTHER_STRING);
            return;
        }
        if (p[2] == '"') {
            p = skip_quoted(p + 3, end, '"', false);
            if (!p) {
                bad(lexer, token);
                return;
            }
            token->kind = CLEAVE_TOKEN_QUOTED;
            token->length = (size_t)(p - token->start);
            lexer->at = p;
            return;
        }
    }
    while (p < end && is(*p, NAME))
        p++;
    token->kind = CLEAVE_TOKEN_WORD;
    token->length = (size_t)(p - token->start);
    lexer->at = p;
}

void cleave__lex(struct cleave_lexer *lexer, struct cleave_token *token)
{
    bool newline = false;
    const char *end = lexer->end;
    const char *p = skip_blank(lexer->at, end, &newline);
    *token = (struct cleave_token){.kind = CLEAVE_TOKEN_END, .start = p};
    lexer->at = p;
    if (p == end)
        return;
    if (is(*p, NAME_START)) {
        lex_word(lexer, token);
    } else if (is(*p, DIGIT) || (*p == '.' && end - p >= 2 && is(p[1], DIGIT))) {
        lex_number(lexer, token);
    } else if (*p == '\'') {
        lex_string(lexer, token, p, CLEAVE_TOKEN_STRING);
    } else if (*p == '"') {
        const char *past = skip_quoted(p + 1, end, '"', false);
        if (!past) {
            bad(lexer, token);
            return;
        }
        token->kind = CLEAVE_TOKEN_QUOTED;
        token->length = (size_t)(past - p);
        lexer->at = past;
    } else if (*p == '$') {
        lex_dollar(lexer, token);
    } else if (is(*p, OPERATOR)) {
        lex_operator(lexer, token);
    } else {
        bool twin = *p == ':' && end - p >= 2 && (p[1] == ':' || p[1] == '=');
        token->kind = CLEAVE_TOKEN_PUNCTUATION;
        token->length = twin ? 2 : 1;
        lexer->at = p + token->length;
    }
}

bool cleave__token_is(const struct cleave_token *token, const char *keyword)
{
    return token->kind == CLEAVE_TOKEN_WORD && strlen(keyword) == token->length &&
           strncasecmp(token->start, keyword, token->length) == 0;
}
