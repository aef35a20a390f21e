/* See fingerprint.h. */
#include "tables/sql/fingerprint.h"

#include <string.h>

void cleave__fingerprint_free(struct cleave_fingerprint *fingerprint)
{
    CLEAVE_VECTOR_FREE(&fingerprint->key);
    CLEAVE_VECTOR_FREE(&fingerprint->slots);
}

enum cleave_status cleave__fingerprint_take(struct cleave_fingerprint *fingerprint,
                                            const char *text, size_t length)
{
    fingerprint->key.count = fingerprint->slots.count = 0;
    /* A token adds at most its own bytes, a blank and a mark of two bytes for a literal. */
    if (!CLEAVE_RESERVE(&fingerprint->key, 3 * length + 4))
        return CLEAVE_NO_MEMORY;
    char *key = fingerprint->key.data;
    size_t n = 0;
    struct cleave_lexer lexer = {text, text + length};
    const char *before = text;
    for (;;) {
        struct cleave_token token;
        cleave__lex(&lexer, &token);
        if (token.kind == CLEAVE_TOKEN_END)
            break;
        if (token.start != before && n > 0)
            key[n++] = ' ';
        before = token.start + token.length;
        char mark = 0;
        switch (token.kind) {
        case CLEAVE_TOKEN_NUMBER:
            mark = 'n';
            break;
        case CLEAVE_TOKEN_STRING:
        case CLEAVE_TOKEN_DOLLAR_STRING:
            mark = 's';
            break;
        case CLEAVE_TOKEN_ESCAPE_STRING:
            mark = 'e';
            break;
        default:
            memcpy(key + n, token.start, token.length);
            n += token.length;
            continue;
        }
        /* 1 cannot stand in a statement that parses, but within quotes, and those stay whole. */
        key[n++] = 1;
        key[n++] = mark;
        if (!CLEAVE_PUSH(&fingerprint->slots, token))
            return CLEAVE_NO_MEMORY;
    }
    fingerprint->key.count = n;
    return CLEAVE_OK;
}
