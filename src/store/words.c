/* SQL in tokens, by PostgreSQL's lexical rules (comments nest, quotes double, $tag$ quotes), and
 * texts for messages. */
#include "store/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_word(char c)
{
    return starts_word(c) || isdigit((unsigned char)c) || c == '$';
}

static const char *after_comment(const char *c)
{
    if (c[1] == '-') {
        while (*c && *c != '\n')
            c++;
        return c;
    }
    for (int depth = 0; *c;) {
        if (c[0] == '/' && c[1] == '*') {
            depth++;
            c += 2;
        } else if (c[0] == '*' && c[1] == '/') {
            c += 2;
            if (--depth == 0)
                return c;
        } else {
            c++;
        }
    }
    return c;
}

/* Past the closing quote; a doubled one is a letter, and with `escapes` so is what follows a
 * backslash. */
static const char *after_quote(const char *c, char quote, bool escapes)
{
    for (c++; *c; c++) {
        if (escapes && *c == '\\' && c[1])
            c++;
        else if (*c == quote && c[1] == quote)
            c++;
        else if (*c == quote)
            return c + 1;
    }
    return c;
}

/* Past $tag$...$tag$; NULL when it does not begin one. */
static const char *after_dollars(const char *c)
{
    const char *end = c + 1;
    if (starts_word(*end)) {
        while (in_word(*end) && *end != '$')
            end++;
    }
    if (*end != '$')
        return NULL;
    size_t length = (size_t)(end + 1 - c);
    for (const char *at = end + 1; *at; at++) {
        if (*at == '$' && strncmp(at, c, length) == 0)
            return at + length;
    }
    return end + strlen(end);
}

struct cleave__sql_token cleave__sql_token(const char **text)
{
    const char *c = *text;
    for (;;) {
        if (isspace((unsigned char)*c))
            c++;
        else if ((c[0] == '-' && c[1] == '-') || (c[0] == '/' && c[1] == '*'))
            c = after_comment(c);
        else
            break;
    }
    struct cleave__sql_token token = {CLEAVE__SQL_SIGN, c, 0};
    const char *end = c + 1;
    if (!*c) {
        token.kind = CLEAVE__SQL_END;
        end = c;
    } else if (*c == '"') {
        token.kind = CLEAVE__SQL_NAME;
        end = after_quote(c, '"', false);
    } else if (*c == '\'' || ((*c == 'e' || *c == 'E') && c[1] == '\'')) {
        token.kind = CLEAVE__SQL_TEXT;
        end = after_quote(*c == '\'' ? c : c + 1, '\'', *c != '\'');
    } else if (*c == '$' && after_dollars(c)) {
        token.kind = CLEAVE__SQL_TEXT;
        end = after_dollars(c);
    } else if (in_word(*c) || *c == '$') { /* numbers and $1 too */
        token.kind = CLEAVE__SQL_WORD;
        while (in_word(*end))
            end++;
    }
    token.length = (size_t)(end - c);
    *text = end;
    return token;
}

bool cleave__sql_is(const struct cleave__sql_token *token, const char *word)
{
    return token->kind == CLEAVE__SQL_WORD && token->length == strlen(word) &&
           strncasecmp(token->at, word, token->length) == 0;
}

static bool next_is(const char **at, const char *word)
{
    const char *ahead = *at;
    struct cleave__sql_token token = cleave__sql_token(&ahead);
    if (!cleave__sql_is(&token, word))
        return false;
    *at = ahead;
    return true;
}

/* Past [OF name [, ...]]; the token after a name without a comma is not touched. */
static const char *after_names(const char *at)
{
    for (;;) {
        struct cleave__sql_token token = cleave__sql_token(&at);
        const char *ahead = at;
        (void)token;
        token = cleave__sql_token(&ahead);
        if (token.kind != CLEAVE__SQL_SIGN || (*token.at != '.' && *token.at != ','))
            return at;
        at = ahead;
    }
}

/* Past a locking clause whose FOR has been read; NULL: it is something else. */
static const char *after_lock(const char *at)
{
    if (next_is(&at, "NO")) {
        if (!next_is(&at, "KEY") || !next_is(&at, "UPDATE"))
            return NULL;
    } else if (next_is(&at, "KEY")) {
        if (!next_is(&at, "SHARE"))
            return NULL;
    } else if (!next_is(&at, "UPDATE") && !next_is(&at, "SHARE")) {
        return NULL;
    }
    if (next_is(&at, "OF"))
        at = after_names(at);
    const char *skip = at;
    if (next_is(&skip, "NOWAIT") || (next_is(&skip, "SKIP") && next_is(&skip, "LOCKED")))
        at = skip;
    return at;
}

/* What left(...) and right(...) are called on SQLite; NULL of anything else. */
static const char *after_call(const struct cleave__sql_token *token, const char *at)
{
    const char *name = cleave__sql_is(token, "LEFT")    ? "lft_"
                       : cleave__sql_is(token, "RIGHT") ? "rght_"
                                                        : NULL;
    struct cleave__sql_token next = {0};
    if (name)
        next = cleave__sql_token(&at);
    return name && next.kind == CLEAVE__SQL_SIGN && *next.at == '(' ? name : NULL;
}

const char *cleave__store_unlocked(const char *text, struct cleave_arena *arena)
{
    char *copy = NULL;
    const char *at = text;
    for (;;) {
        struct cleave__sql_token token = cleave__sql_token(&at);
        const char *end = cleave__sql_is(&token, "FOR") ? after_lock(at) : NULL;
        if (token.kind == CLEAVE__SQL_END)
            return copy ? copy : text;
        /* To SQLite LEFT and RIGHT are words of joins alone: the functions have other names there
         * (sqlite.c), as long as these. */
        const char *called = after_call(&token, at);
        if (!end && !called)
            continue;
        if (!copy && !(copy = cleave__arena_copy(arena, text, strlen(text))))
            return NULL;
        if (called) {
            memcpy(copy + (token.at - text), called, token.length);
            continue;
        }
        memset(copy + (token.at - text), ' ', (size_t)(end - token.at));
        at = end;
    }
}

enum cleave_status cleave__store_name_check(const char *shown, const char *name,
                                            struct cleave_error *error)
{
    size_t length = name ? strlen(name) : 0;
    bool right = length >= 1 && length <= CLEAVE_PREPARED_NAME_MOST;
    for (size_t i = 0; right && i < length; i++)
        right = isalnum((unsigned char)name[i]) || strchr("_-.", name[i]);
    if (right)
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "%.200s: the name of a prepared transaction has 1 to %d letters, "
                            "digits, \"_\", \"-\", \".\"; not \"%.120s\"",
                            shown, CLEAVE_PREPARED_NAME_MOST, name ? name : "");
}

enum cleave_status cleave__store_batch_check(const char *shown,
                                             const struct cleave_store_batch *batch,
                                             struct cleave_error *error)
{
    static const char *const control[] = {"BEGIN",    "START", "COMMIT",    "END",     "ABORT",
                                          "ROLLBACK", "COPY",  "SAVEPOINT", "RELEASE", NULL};
    for (uint32_t i = 0; i < batch->count; i++) {
        const char *at = batch->statements[i].text;
        struct cleave__sql_token token = cleave__sql_token(&at);
        bool refused = cleave__sql_is(&token, "PREPARE") && next_is(&at, "TRANSACTION");
        for (uint32_t w = 0; control[w]; w++)
            refused = refused || cleave__sql_is(&token, control[w]);
        if (refused)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%.200s: %.*s is no work of a transaction; leave it out", shown,
                                    (int)token.length, token.at);
    }
    if (batch->end == CLEAVE_BATCH_PREPARE)
        return cleave__store_name_check(shown, batch->name, error);
    return CLEAVE_OK;
}

void cleave__store_line(const char *message, char *line, size_t size)
{
    size_t used = 0;
    for (; *message && used + 1 < size; message++) {
        char c = (unsigned char)*message <= ' ' ? ' ' : *message;
        if (c != ' ' || (used && line[used - 1] != ' '))
            line[used++] = c;
    }
    while (used && line[used - 1] == ' ')
        used--;
    line[used] = 0;
}

void cleave__store_excerpt(const char *statement, char *line, size_t size)
{
    cleave__store_line(statement, line, size);
    size_t length = strlen(line);
    if (length + 2 < size)
        return;
    length -= 3;
    while (length && ((unsigned char)line[length] & 0xc0) == 0x80) /* not within a letter */
        length--;
    memcpy(line + length, "...", sizeof "...");
}

char *cleave__store_quoted(const char *name, struct cleave_arena *arena)
{
    char *quoted = cleave__arena_alloc(arena, 2 * strlen(name) + 3), *to = quoted;
    if (!quoted)
        return NULL;
    *to++ = '"';
    for (; *name; name++) {
        if (*name == '"')
            *to++ = '"';
        *to++ = *name;
    }
    *to++ = '"';
    *to = 0;
    return quoted;
}
