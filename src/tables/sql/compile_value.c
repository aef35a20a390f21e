/* Constant expressions of the parse tree -> struct cleave_expression.
 *
 * A literal is found again in later statements by its place among the literals (its slot). The
 * parser folds a minus sign into a number and drops brackets around it: such a constant's location
 * is the sign's. A constant that is no slot is part of the template's text and taken as it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tables/sql/compile.h"

static struct cleave_expression *make(struct cleave_compile *c, enum cleave_expression_kind kind,
                                      uint32_t count)
{
    struct cleave_expression *expression = cleave__compile_keep(c, 1, sizeof *expression);
    expression->kind = kind;
    expression->type.modifier = -1;
    expression->count = count;
    if (count)
        expression->items = cleave__compile_keep(c, count, sizeof *expression->items);
    return expression;
}

static const struct cleave_expression *make_text(struct cleave_compile *c,
                                                 enum cleave_expression_kind kind, const char *text)
{
    struct cleave_expression *expression = make(c, kind, 0);
    size_t length = strlen(text);
    char *copy = cleave__compile_keep(c, length + 1, 1);
    memcpy(copy, text, length);
    expression->text = copy;
    expression->length = (uint32_t)length;
    return expression;
}

/* The slot whose literal starts at `location`, a minus and brackets before it skipped. */
static uint32_t find_slot(const struct cleave_compile *c, int32_t location, bool *negate)
{
    *negate = false;
    if (location < 0 || (size_t)location >= c->length)
        return CLEAVE_NONE;
    struct cleave_lexer lexer = {c->text + location, c->text + c->length};
    struct cleave_token token;
    for (cleave__lex(&lexer, &token);; cleave__lex(&lexer, &token)) {
        if (token.kind == CLEAVE_TOKEN_OPERATOR && token.length == 1 && *token.start == '-')
            *negate = !*negate;
        else if (token.kind != CLEAVE_TOKEN_PUNCTUATION || *token.start != '(')
            break;
    }
    uint32_t low = 0, high = c->slot_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->slots[middle].start < token.start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->slot_count && c->slots[low].start == token.start ? low : CLEAVE_NONE;
}

static const struct cleave_expression *constant(struct cleave_compile *c,
                                                const PgQuery__AConst *value)
{
    char buffer[16];
    if (value->isnull)
        return make(c, CLEAVE_EXPRESSION_NULL, 0);
    if (value->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL) {
        struct cleave_expression *expression = make(c, CLEAVE_EXPRESSION_BOOLEAN, 0);
        expression->index = value->boolval && value->boolval->boolval;
        return expression;
    }
    bool number = value->val_case == PG_QUERY__A__CONST__VAL_IVAL ||
                  value->val_case == PG_QUERY__A__CONST__VAL_FVAL;
    if (!number && value->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return NULL;
    if (c->view_depth == 0) {
        bool negate;
        uint32_t slot = find_slot(c, value->location, &negate);
        if (slot != CLEAVE_NONE) {
            if (number != (c->slots[slot].kind == CLEAVE_TOKEN_NUMBER) || (negate && !number))
                return NULL;
            struct cleave_expression *expression = make(c, CLEAVE_EXPRESSION_SLOT, 0);
            expression->index = slot;
            expression->negate = negate;
            return expression;
        }
    }
    switch (value->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        snprintf(buffer, sizeof buffer, "%" PRId32, value->ival->ival);
        return make_text(c, CLEAVE_EXPRESSION_NUMBER, buffer);
    case PG_QUERY__A__CONST__VAL_FVAL:
        return make_text(c, CLEAVE_EXPRESSION_NUMBER, value->fval->fval);
    default:
        return make_text(c, CLEAVE_EXPRESSION_TEXT, value->sval->sval);
    }
}

struct cleave_domain_type cleave__compile_type(struct cleave_compile *c,
                                               const PgQuery__TypeName *name)
{
    struct cleave_domain_type opaque = {CLEAVE_FAMILY_OPAQUE, NULL, -1};
    if (name->n_array_bounds || name->setof || name->pct_type || name->n_names == 0 ||
        name->n_names > 3)
        return opaque;
    const char *last = cleave__node_string(name->names[name->n_names - 1]);
    if (!last)
        return opaque;
    /* The parser turns type words into the catalog's names: "character varying" is
     * pg_catalog.varchar, "char(3)" pg_catalog.bpchar. A bare "char" can only be the quoted one. */
    const char *first = cleave__node_string(name->names[0]);
    bool catalog = name->n_names > 1 && first && strcmp(first, "pg_catalog") == 0;
    if (strcmp(last, "char") == 0 || (name->n_names > 1 && !catalog)) {
        struct cleave_domain_type other = {CLEAVE_FAMILY_OTHER, NULL, -1};
        char *copy = cleave__compile_keep(c, strlen(last) + 1, 1);
        other.name = strcpy(copy, last);
        return other;
    }
    char *copy = cleave__compile_keep(c, strlen(last) + 1, 1);
    strcpy(copy, last);
    struct cleave_domain_type type = cleave__domain_type(cleave__type_of_name(copy), copy);
    type.modifier = -1;
    return type;
}

static const struct cleave_expression *cast(struct cleave_compile *c, const PgQuery__TypeCast *node)
{
    const struct cleave_expression *inner = cleave__compile_value(c, node->arg);
    if (!inner || !node->type_name)
        return NULL;
    struct cleave_domain_type type = cleave__compile_type(c, node->type_name);
    if (type.family == CLEAVE_FAMILY_OPAQUE)
        return NULL;
    const struct cleave_expression *modifier = NULL;
    size_t modifiers = node->type_name->n_typmods;
    if (modifiers > 2 || (modifiers && type.family == CLEAVE_FAMILY_OTHER))
        return NULL;
    if (modifiers == 1 && type.family == CLEAVE_FAMILY_NUMERIC) {
        modifier = make_text(c, CLEAVE_EXPRESSION_NUMBER, "0"); /* numeric(5) has no fraction */
    } else if (modifiers && type.family != CLEAVE_FAMILY_FLOAT4 &&
               type.family != CLEAVE_FAMILY_FLOAT8) {
        modifier = cleave__compile_value(c, node->type_name->typmods[modifiers - 1]);
        if (!modifier)
            return NULL;
    }
    struct cleave_expression *expression = make(c, CLEAVE_EXPRESSION_CAST, modifier ? 2 : 1);
    expression->type = type;
    expression->items[0] = inner;
    if (modifier)
        expression->items[1] = modifier;
    return expression;
}

static const struct cleave_expression *arithmetic(struct cleave_compile *c,
                                                  const PgQuery__AExpr *node)
{
    static const struct {
        const char *name;
        enum cleave_expression_kind kind;
    } operators[] = {
        {"+", CLEAVE_EXPRESSION_ADD},      {"-", CLEAVE_EXPRESSION_SUBTRACT},
        {"*", CLEAVE_EXPRESSION_MULTIPLY}, {"/", CLEAVE_EXPRESSION_DIVIDE},
        {"%", CLEAVE_EXPRESSION_MODULO},   {"||", CLEAVE_EXPRESSION_CONCATENATE},
    };
    const char *name = node->n_name == 1 ? cleave__node_string(node->name[0]) : NULL;
    if (node->kind != PG_QUERY__A__EXPR__KIND__AEXPR_OP || !name || !node->rexpr)
        return NULL;
    size_t i = 0;
    while (i < sizeof operators / sizeof *operators && strcmp(operators[i].name, name) != 0)
        i++;
    if (i == sizeof operators / sizeof *operators)
        return NULL;
    const struct cleave_expression *right = cleave__compile_value(c, node->rexpr);
    if (!right)
        return NULL;
    if (!node->lexpr) {
        if (*name == '+')
            return right;
        if (*name != '-')
            return NULL;
        struct cleave_expression *negated = make(c, CLEAVE_EXPRESSION_NEGATE, 1);
        negated->items[0] = right;
        return negated;
    }
    const struct cleave_expression *left = cleave__compile_value(c, node->lexpr);
    if (!left)
        return NULL;
    struct cleave_expression *expression = make(c, operators[i].kind, 2);
    expression->items[0] = left;
    expression->items[1] = right;
    return expression;
}

const struct cleave_expression *cleave__compile_value(struct cleave_compile *c,
                                                      const PgQuery__Node *node)
{
    if (!node)
        return NULL;
    c->work++;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return constant(c, node->a_const);
    case PG_QUERY__NODE__NODE_PARAM_REF: {
        if (c->view_depth || node->param_ref->number <= 0)
            return NULL;
        struct cleave_expression *expression = make(c, CLEAVE_EXPRESSION_PARAMETER, 0);
        expression->index = (uint32_t)node->param_ref->number;
        return expression;
    }
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return cast(c, node->type_cast);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return arithmetic(c, node->a_expr);
    default:
        return NULL;
    }
}

const struct cleave_expression *cleave__compile_array(struct cleave_compile *c,
                                                      const PgQuery__Node *node)
{
    struct cleave_domain_type type = {CLEAVE_FAMILY_ANY, NULL, -1};
    if (node && node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && node->type_cast->type_name) {
        PgQuery__TypeName element = *node->type_cast->type_name;
        if (element.n_array_bounds != 1 || element.n_typmods)
            return NULL;
        element.n_array_bounds = 0;
        type = cleave__compile_type(c, &element);
        if (type.family == CLEAVE_FAMILY_OPAQUE)
            return NULL;
        node = node->type_cast->arg;
    }
    if (!node)
        return NULL;
    if (node->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
        const PgQuery__AArrayExpr *array = node->a_array_expr;
        if (array->n_elements > UINT32_MAX)
            return NULL;
        struct cleave_expression *expression =
            make(c, CLEAVE_EXPRESSION_ARRAY, (uint32_t)array->n_elements);
        for (uint32_t i = 0; i < expression->count; i++) {
            const struct cleave_expression *item = cleave__compile_value(c, array->elements[i]);
            if (!item)
                return NULL;
            if (type.family != CLEAVE_FAMILY_ANY) {
                struct cleave_expression *typed = make(c, CLEAVE_EXPRESSION_CAST, 1);
                typed->type = type;
                typed->items[0] = item;
                item = typed;
            }
            expression->items[i] = item;
        }
        return expression;
    }
    bool text =
        node->node_case == PG_QUERY__NODE__NODE_PARAM_REF ||
        (node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
         (node->a_const->isnull || node->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL));
    const struct cleave_expression *inner = text ? cleave__compile_value(c, node) : NULL;
    if (!inner)
        return NULL;
    struct cleave_expression *expression = make(c, CLEAVE_EXPRESSION_ARRAY_TEXT, 1);
    expression->type = type;
    expression->items[0] = inner;
    return expression;
}
