/* How deep will the parse tree of this text be, at most? Answered from tokens alone.
 *
 * Brackets and CASE ... END nest (CLEAVE_NESTING_MAX). Beside them a tree grows a level for every
 * operator of a chain (a + b + c ...), every prefix (NOT, -), cast, join and set operation; commas,
 * AND and OR end a chain of operators (PostgreSQL's parser flattens AND and OR). The bound is the
 * sum of the chains of all open brackets: CLEAVE_PARSE_CHAIN_MAX. */
#include <stdint.h>

#include "tables/sql/analyze.h"
#include "tables/sql/lexer.h"
#include "tables/sql/parse.h"

struct level {
    bool is_case;
    uint32_t operators; /* since the last comma, AND or OR */
    uint32_t joins;     /* joins and set operations */
};

/* Words that add a level as an operator does. */
static bool is_operator_word(const struct cleave_token *token)
{
    static const char *const words[] = {"not",     "is",      "at", "collate", "like",    "ilike",
                                        "similar", "between", "in", "escape",  "operator"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (cleave__token_is(token, words[i]))
            return true;
    }
    return false;
}

static bool is_join_word(const struct cleave_token *token)
{
    return cleave__token_is(token, "join") || cleave__token_is(token, "union") ||
           cleave__token_is(token, "intersect") || cleave__token_is(token, "except");
}

static bool is_operator(const struct cleave_token *token)
{
    if (token->kind == CLEAVE_TOKEN_OPERATOR)
        return true;
    if (token->kind == CLEAVE_TOKEN_PUNCTUATION)
        return token->length == 2;
    return is_operator_word(token);
}

enum cleave_status cleave__nesting_check(const char *text, size_t length,
                                         struct cleave_error *error)
{
    struct level levels[CLEAVE_NESTING_MAX + 1] = {{0}};
    uint32_t depth = 0;
    uint64_t chain = 0; /* sum over levels[0..depth] */
    struct cleave_lexer lexer = {text, text + length};
    struct cleave_token token;
    for (cleave__lex(&lexer, &token); token.kind != CLEAVE_TOKEN_END; cleave__lex(&lexer, &token)) {
        struct level *level = &levels[depth];
        char mark = token.kind == CLEAVE_TOKEN_PUNCTUATION && token.length == 1 ? *token.start : 0;
        bool opens_case = cleave__token_is(&token, "case");
        if (mark == '(' || mark == '[' || opens_case) {
            if (depth == CLEAVE_NESTING_MAX)
                return cleave_error_set(error, CLEAVE_LIMIT,
                                        "statement nests deeper than %d levels (byte %zu)",
                                        CLEAVE_NESTING_MAX, (size_t)(token.start - text));
            levels[++depth] = (struct level){.is_case = opens_case};
        } else if (mark == ')' || mark == ']') {
            /* A CASE that lacks its END is a syntax error; the bracket closes it here. */
            while (depth > 0 && levels[depth].is_case) {
                chain -= levels[depth].operators + levels[depth].joins;
                depth--;
            }
            if (depth > 0) {
                chain -= levels[depth].operators + levels[depth].joins;
                depth--;
            }
        } else if (cleave__token_is(&token, "end")) {
            if (level->is_case) {
                chain -= level->operators + level->joins;
                depth--;
            }
        } else if (mark == ';' && depth == 0) {
            chain = 0;
            *level = (struct level){0};
        } else if (mark == ',' || cleave__token_is(&token, "and") ||
                   cleave__token_is(&token, "or")) {
            chain -= level->operators;
            level->operators = 0;
        } else if (is_join_word(&token)) {
            level->joins++;
            chain++;
        } else if (is_operator(&token)) {
            level->operators++;
            chain++;
        }
        if (chain > CLEAVE_PARSE_CHAIN_MAX)
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "statement chains more than %d operators or joins (byte %zu)",
                                    CLEAVE_PARSE_CHAIN_MAX, (size_t)(token.start - text));
    }
    return CLEAVE_OK;
}
