/* INSERT ... VALUES (..), (..), whose rows have homes apart, as one INSERT a row. */
#include <string.h>

#include "tables/replay/plan.h"
#include "tables/sql/lexer.h"

/* Behind VALUES of the INSERT itself. NULL: not there. */
static const char *find_values(const char *text, const char *end)
{
    struct cleave_lexer lexer = {text, end};
    struct cleave_token token;
    int depth = 0;
    do {
        cleave__lex(&lexer, &token);
        if (token.kind == CLEAVE_TOKEN_PUNCTUATION && token.length == 1)
            depth += (*token.start == '(') - (*token.start == ')');
        if (depth == 0 && cleave__token_is(&token, "values"))
            return lexer.at;
    } while (token.kind != CLEAVE_TOKEN_END && token.kind != CLEAVE_TOKEN_BAD);
    return NULL;
}

bool cleave__insert_split(const char *text, size_t length, uint32_t row_count,
                          struct cleave_arena *arena, const char **texts)
{
    const char *end = text + length, *values = find_values(text, end);
    struct {
        const char *from, *to;
    } *rows = cleave__arena_array(arena, row_count, sizeof *rows);
    if (!values || !rows)
        return false;
    struct cleave_lexer lexer = {values, end};
    struct cleave_token token;
    uint32_t row = 0;
    int depth = 0;
    while (row < row_count) {
        cleave__lex(&lexer, &token);
        if (token.kind == CLEAVE_TOKEN_END || token.kind == CLEAVE_TOKEN_BAD)
            return false;
        if (token.kind != CLEAVE_TOKEN_PUNCTUATION || token.length != 1)
            continue;
        if (*token.start == '(' && depth++ == 0)
            rows[row].from = token.start;
        if (*token.start == ')' && --depth == 0)
            rows[row++].to = lexer.at;
    }
    size_t head = (size_t)(values - text), tail = (size_t)(end - lexer.at);
    for (uint32_t r = 0; r < row_count; r++) {
        size_t middle = (size_t)(rows[r].to - rows[r].from);
        char *one = cleave__arena_alloc(arena, head + 1 + middle + tail + 1);
        if (!one)
            return false;
        memcpy(one, text, head);
        one[head] = ' ';
        memcpy(one + head + 1, rows[r].from, middle);
        memcpy(one + head + 1 + middle, lexer.at, tail);
        one[head + 1 + middle + tail] = 0;
        texts[r] = one;
    }
    return true;
}
