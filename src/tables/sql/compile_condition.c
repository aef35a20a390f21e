/* Boolean expressions -> formulas: NOT pushed into the operators, subqueries that must hold merged
 * into their block, everything that is not understood replaced by TRUE after a visit.
 *
 * SQL's third truth value needs no care here: only rows for which the whole is TRUE count, and
 * pushing NOT down (De Morgan, negated comparison) keeps exactly those. */
#include <string.h>

#include "tables/sql/compile.h"

static const struct cleave_formula formula_true = {.kind = CLEAVE_FORMULA_TRUE};
static const struct cleave_formula formula_false = {.kind = CLEAVE_FORMULA_FALSE};

/* Where a condition stands. */
struct place {
    struct cleave_compile *c;
    struct cleave_scope *scope;
    uint32_t block;
};

static struct cleave_formula *make(struct cleave_compile *c, enum cleave_formula_kind kind)
{
    struct cleave_formula *formula = cleave__compile_alloc(c, 1, sizeof *formula);
    formula->kind = kind;
    formula->node = formula->other = CLEAVE_NONE;
    return formula;
}

static const struct cleave_formula *visit(const struct place *at, const PgQuery__Node *node)
{
    if (node)
        cleave__compile_visit(at->c, at->scope, at->block, &node->base);
    return &formula_true;
}

const struct cleave_formula *cleave__formula_join(struct cleave_compile *c,
                                                  enum cleave_formula_kind kind,
                                                  const struct cleave_formula **children,
                                                  uint32_t count)
{
    bool is_and = kind == CLEAVE_FORMULA_AND;
    enum cleave_formula_kind neutral = is_and ? CLEAVE_FORMULA_TRUE : CLEAVE_FORMULA_FALSE;
    enum cleave_formula_kind decisive = is_and ? CLEAVE_FORMULA_FALSE : CLEAVE_FORMULA_TRUE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (children[i]->kind == decisive)
            return children[i];
        if (children[i]->kind != neutral)
            children[n++] = children[i];
    }
    if (n == 0)
        return is_and ? &formula_true : &formula_false;
    if (n == 1)
        return children[0];
    struct cleave_formula *formula = make(c, kind);
    formula->count = n;
    formula->children = children;
    return formula;
}

static const struct cleave_formula *join_two(const struct place *at, enum cleave_formula_kind kind,
                                             const struct cleave_formula *a,
                                             const struct cleave_formula *b)
{
    const struct cleave_formula **children = cleave__compile_alloc(at->c, 2, sizeof *children);
    children[0] = a;
    children[1] = b;
    return cleave__formula_join(at->c, kind, children, 2);
}

const struct cleave_formula *cleave__formula_equal(struct cleave_compile *c, uint32_t node,
                                                   uint32_t other)
{
    struct cleave_formula *formula = make(c, CLEAVE_FORMULA_EQUAL);
    formula->strict = true;
    formula->node = node;
    formula->other = other;
    return formula;
}

const struct cleave_formula *cleave__formula_atom(struct cleave_compile *c, uint32_t node,
                                                  enum cleave_operator op,
                                                  const struct cleave_expression *value)
{
    struct cleave_formula *formula = make(c, CLEAVE_FORMULA_ATOM);
    formula->node = node;
    formula->op = op;
    if (value) {
        formula->items = cleave__compile_keep(c, 1, sizeof *formula->items);
        formula->items[0] = value;
        formula->count = 1;
    }
    return formula;
}

static const struct cleave_formula *constant(const struct place *at, enum cleave_operator op,
                                             const struct cleave_expression *x,
                                             const struct cleave_expression *y)
{
    struct cleave_predicate *predicate = cleave__compile_keep(at->c, 1, sizeof *predicate);
    predicate->kind = CLEAVE_PREDICATE_CONSTANT;
    predicate->op = op;
    predicate->count = y ? 2 : 1;
    predicate->items = cleave__compile_keep(at->c, 2, sizeof *predicate->items);
    predicate->items[0] = x;
    predicate->items[1] = y;
    struct cleave_formula *formula = make(at->c, CLEAVE_FORMULA_CONSTANT);
    formula->constant = predicate;
    return formula;
}

static const struct cleave_formula *truth(const struct place *at,
                                          const struct cleave_expression *value, bool wanted)
{
    struct cleave_predicate *predicate = cleave__compile_keep(at->c, 1, sizeof *predicate);
    predicate->kind = CLEAVE_PREDICATE_TRUTH;
    predicate->index = wanted;
    predicate->count = 1;
    predicate->items = cleave__compile_keep(at->c, 1, sizeof *predicate->items);
    predicate->items[0] = value;
    struct cleave_formula *formula = make(at->c, CLEAVE_FORMULA_CONSTANT);
    formula->constant = predicate;
    return formula;
}

/* The node an expression stands for: a column, or one under a cast that changes nothing. */
static uint32_t column_of(const struct place *at, const PgQuery__Node *node)
{
    if (!node)
        return CLEAVE_NONE;
    if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF)
        return cleave__scope_column(at->c, at->scope, node->column_ref);
    if (node->node_case != PG_QUERY__NODE__NODE_TYPE_CAST || !node->type_cast->type_name ||
        node->type_cast->type_name->n_typmods)
        return CLEAVE_NONE;
    uint32_t inner = column_of(at, node->type_cast->arg);
    if (inner == CLEAVE_NONE)
        return CLEAVE_NONE;
    enum cleave_family from = at->c->nodes.items[inner].type.family;
    enum cleave_family to = cleave__compile_type(at->c, node->type_cast->type_name).family;
    bool same = from == to && from != CLEAVE_FAMILY_OTHER && from != CLEAVE_FAMILY_OPAQUE;
    return same || (from == CLEAVE_FAMILY_INTEGER && to == CLEAVE_FAMILY_NUMERIC) ? inner
                                                                                  : CLEAVE_NONE;
}

static enum cleave_operator invert(enum cleave_operator op)
{
    static const enum cleave_operator inverse[] = {
        [CLEAVE_OPERATOR_EQ] = CLEAVE_OPERATOR_NE,
        [CLEAVE_OPERATOR_NE] = CLEAVE_OPERATOR_EQ,
        [CLEAVE_OPERATOR_LT] = CLEAVE_OPERATOR_GE,
        [CLEAVE_OPERATOR_LE] = CLEAVE_OPERATOR_GT,
        [CLEAVE_OPERATOR_GT] = CLEAVE_OPERATOR_LE,
        [CLEAVE_OPERATOR_GE] = CLEAVE_OPERATOR_LT,
        [CLEAVE_OPERATOR_IN] = CLEAVE_OPERATOR_NOT_IN,
        [CLEAVE_OPERATOR_NOT_IN] = CLEAVE_OPERATOR_IN,
        [CLEAVE_OPERATOR_LIKE] = CLEAVE_OPERATOR_LIKE, /* never asked for */
        [CLEAVE_OPERATOR_IS_NULL] = CLEAVE_OPERATOR_NOT_NULL,
        [CLEAVE_OPERATOR_NOT_NULL] = CLEAVE_OPERATOR_IS_NULL,
        [CLEAVE_OPERATOR_DISTINCT] = CLEAVE_OPERATOR_NOT_DISTINCT,
        [CLEAVE_OPERATOR_NOT_DISTINCT] = CLEAVE_OPERATOR_DISTINCT,
    };
    return inverse[op];
}

/* The operator with its sides exchanged. */
static enum cleave_operator mirror(enum cleave_operator op)
{
    switch (op) {
    case CLEAVE_OPERATOR_LT:
        return CLEAVE_OPERATOR_GT;
    case CLEAVE_OPERATOR_LE:
        return CLEAVE_OPERATOR_GE;
    case CLEAVE_OPERATOR_GT:
        return CLEAVE_OPERATOR_LT;
    case CLEAVE_OPERATOR_GE:
        return CLEAVE_OPERATOR_LE;
    default:
        return op;
    }
}

static bool operator_of(PgQuery__Node *const *name, size_t count, enum cleave_operator *out)
{
    static const struct {
        const char *name;
        enum cleave_operator op;
    } operators[] = {{"=", CLEAVE_OPERATOR_EQ},  {"<>", CLEAVE_OPERATOR_NE},
                     {"!=", CLEAVE_OPERATOR_NE}, {"<", CLEAVE_OPERATOR_LT},
                     {"<=", CLEAVE_OPERATOR_LE}, {">", CLEAVE_OPERATOR_GT},
                     {">=", CLEAVE_OPERATOR_GE}};
    if (count == 2) {
        const char *schema = cleave__node_string(name[0]);
        if (!schema || strcmp(schema, "pg_catalog") != 0)
            return false;
        name++;
    } else if (count != 1) {
        return false;
    }
    const char *text = cleave__node_string(name[0]);
    for (size_t i = 0; text && i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].name, text) == 0) {
            *out = operators[i].op;
            return true;
        }
    }
    return false;
}

/* "left op right" for two scalar expressions. */
static const struct cleave_formula *compare(const struct place *at, enum cleave_operator op,
                                            const PgQuery__Node *left, const PgQuery__Node *right);

/* Rows compared column by column; < and its kin by the first columns that differ. */
static const struct cleave_formula *compare_rows(const struct place *at, enum cleave_operator op,
                                                 const PgQuery__RowExpr *left,
                                                 const PgQuery__RowExpr *right)
{
    size_t count = left->n_args;
    if (count == 0 || count != right->n_args || count > 64)
        return NULL;
    const struct cleave_formula **children = cleave__compile_alloc(at->c, count, sizeof *children);
    if (op == CLEAVE_OPERATOR_EQ || op == CLEAVE_OPERATOR_NE) {
        for (size_t i = 0; i < count; i++)
            children[i] = compare(at, op, left->args[i], right->args[i]);
        return cleave__formula_join(
            at->c, op == CLEAVE_OPERATOR_EQ ? CLEAVE_FORMULA_AND : CLEAVE_FORMULA_OR, children,
            (uint32_t)count);
    }
    enum cleave_operator loose = op == CLEAVE_OPERATOR_LT || op == CLEAVE_OPERATOR_LE
                                     ? CLEAVE_OPERATOR_LE
                                     : CLEAVE_OPERATOR_GE;
    enum cleave_operator tight =
        loose == CLEAVE_OPERATOR_LE ? CLEAVE_OPERATOR_LT : CLEAVE_OPERATOR_GT;
    if (count > 8) /* what the first columns say */
        return compare(at, loose, left->args[0], right->args[0]);
    for (size_t i = 0; i < count; i++) { /* equal before i, then less */
        const struct cleave_formula **part = cleave__compile_alloc(at->c, i + 1, sizeof *part);
        for (size_t j = 0; j < i; j++)
            part[j] = compare(at, CLEAVE_OPERATOR_EQ, left->args[j], right->args[j]);
        part[i] = compare(at, i + 1 == count ? op : tight, left->args[i], right->args[i]);
        children[i] = cleave__formula_join(at->c, CLEAVE_FORMULA_AND, part, (uint32_t)i + 1);
    }
    return cleave__formula_join(at->c, CLEAVE_FORMULA_OR, children, (uint32_t)count);
}

static const PgQuery__RowExpr *row_of(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_ROW_EXPR ? node->row_expr : NULL;
}

static const struct cleave_formula *compare_nodes(const struct place *at, enum cleave_operator op,
                                                  uint32_t x, uint32_t y)
{
    if (op == CLEAVE_OPERATOR_EQ)
        return cleave__formula_equal(at->c, x, y);
    if (op == CLEAVE_OPERATOR_DISTINCT)
        return &formula_true;
    struct cleave_formula *formula = make(
        at->c, op == CLEAVE_OPERATOR_NOT_DISTINCT ? CLEAVE_FORMULA_EQUAL : CLEAVE_FORMULA_STRICT);
    formula->node = x;
    formula->other = y;
    return formula;
}

static const struct cleave_formula *compare(const struct place *at, enum cleave_operator op,
                                            const PgQuery__Node *left, const PgQuery__Node *right)
{
    const PgQuery__RowExpr *left_row = row_of(left), *right_row = row_of(right);
    if (left_row && right_row) {
        const struct cleave_formula *rows = compare_rows(at, op, left_row, right_row);
        if (rows)
            return rows;
    }
    uint32_t x = column_of(at, left), y = column_of(at, right);
    if (x != CLEAVE_NONE && y != CLEAVE_NONE)
        return compare_nodes(at, op, x, y);
    const struct cleave_expression *u =
        x == CLEAVE_NONE ? cleave__compile_value(at->c, left) : NULL;
    const struct cleave_expression *v =
        y == CLEAVE_NONE ? cleave__compile_value(at->c, right) : NULL;
    if (x != CLEAVE_NONE && v)
        return cleave__formula_atom(at->c, x, op, v);
    if (y != CLEAVE_NONE && u)
        return cleave__formula_atom(at->c, y, mirror(op), u);
    if (u && v)
        return constant(at, op, u, v);
    visit(at, left);
    visit(at, right);
    uint32_t known = x != CLEAVE_NONE ? x : y;
    if (known == CLEAVE_NONE || op == CLEAVE_OPERATOR_DISTINCT ||
        op == CLEAVE_OPERATOR_NOT_DISTINCT)
        return &formula_true;
    struct cleave_formula *formula = make(at->c, CLEAVE_FORMULA_STRICT);
    formula->node = known;
    return formula;
}

static const struct cleave_formula *list_atom(const struct place *at, uint32_t node,
                                              enum cleave_operator op,
                                              const struct cleave_expression **items,
                                              uint32_t count)
{
    struct cleave_formula *formula = make(at->c, CLEAVE_FORMULA_ATOM);
    formula->node = node;
    formula->op = op;
    formula->items = items;
    formula->count = count;
    return formula;
}

/* x IN (a, b, ...) */
static const struct cleave_formula *in_list(const struct place *at, const PgQuery__AExpr *node,
                                            bool negated)
{
    enum cleave_operator op;
    if (!node->rexpr || node->rexpr->node_case != PG_QUERY__NODE__NODE_LIST ||
        !operator_of(node->name, node->n_name, &op)) {
        visit(at, node->lexpr);
        return visit(at, node->rexpr);
    }
    const PgQuery__List *list = node->rexpr->list;
    negated ^= op == CLEAVE_OPERATOR_NE;
    uint32_t x = column_of(at, node->lexpr);
    uint32_t count = (uint32_t)list->n_items;
    if (x != CLEAVE_NONE) {
        const struct cleave_expression **items =
            cleave__compile_keep(at->c, count ? count : 1, sizeof *items);
        uint32_t known = 0;
        while (known < count && (items[known] = cleave__compile_value(at->c, list->items[known])))
            known++;
        if (known == count)
            return list_atom(at, x, negated ? CLEAVE_OPERATOR_NOT_IN : CLEAVE_OPERATOR_IN, items,
                             count);
    }
    /* Rows, columns on the right, or something unknown among them: one comparison each. */
    const struct cleave_formula **children =
        cleave__compile_alloc(at->c, count ? count : 1, sizeof *children);
    for (uint32_t i = 0; i < count; i++)
        children[i] = compare(at, negated ? CLEAVE_OPERATOR_NE : CLEAVE_OPERATOR_EQ, node->lexpr,
                              list->items[i]);
    return cleave__formula_join(at->c, negated ? CLEAVE_FORMULA_AND : CLEAVE_FORMULA_OR, children,
                                count);
}

static const struct cleave_formula *any_array(const struct place *at, const PgQuery__AExpr *node,
                                              bool all, bool negated)
{
    enum cleave_operator op;
    uint32_t x = column_of(at, node->lexpr);
    if (x != CLEAVE_NONE && operator_of(node->name, node->n_name, &op)) {
        bool in = !all && op == CLEAVE_OPERATOR_EQ, not_in = all && op == CLEAVE_OPERATOR_NE;
        const struct cleave_expression *array =
            in || not_in ? cleave__compile_array(at->c, node->rexpr) : NULL;
        if (array) {
            const struct cleave_expression **items = cleave__compile_keep(at->c, 1, sizeof *items);
            items[0] = array;
            return list_atom(at, x, in != negated ? CLEAVE_OPERATOR_IN : CLEAVE_OPERATOR_NOT_IN,
                             items, 1);
        }
    }
    visit(at, node->lexpr);
    return visit(at, node->rexpr);
}

static const struct cleave_formula *between(const struct place *at, const PgQuery__AExpr *node,
                                            bool symmetric, bool negated)
{
    if (!node->rexpr || node->rexpr->node_case != PG_QUERY__NODE__NODE_LIST ||
        node->rexpr->list->n_items != 2) {
        visit(at, node->lexpr);
        return visit(at, node->rexpr);
    }
    const PgQuery__Node *low = node->rexpr->list->items[0], *high = node->rexpr->list->items[1];
    enum cleave_operator above = negated ? CLEAVE_OPERATOR_LT : CLEAVE_OPERATOR_GE;
    enum cleave_operator below = negated ? CLEAVE_OPERATOR_GT : CLEAVE_OPERATOR_LE;
    enum cleave_formula_kind inner = negated ? CLEAVE_FORMULA_OR : CLEAVE_FORMULA_AND;
    enum cleave_formula_kind outer = negated ? CLEAVE_FORMULA_AND : CLEAVE_FORMULA_OR;
    const struct cleave_formula *straight = join_two(
        at, inner, compare(at, above, node->lexpr, low), compare(at, below, node->lexpr, high));
    if (!symmetric)
        return straight;
    const struct cleave_formula *crossed = join_two(
        at, inner, compare(at, above, node->lexpr, high), compare(at, below, node->lexpr, low));
    return join_two(at, outer, straight, crossed);
}

static const struct cleave_formula *like(const struct place *at, const PgQuery__AExpr *node,
                                         bool negated)
{
    const char *name = node->n_name == 1 ? cleave__node_string(node->name[0]) : NULL;
    uint32_t x = column_of(at, node->lexpr);
    if (x != CLEAVE_NONE && name && strcmp(name, negated ? "!~~" : "~~") == 0) {
        const PgQuery__Node *pattern = node->rexpr, *escape = NULL;
        if (pattern && pattern->node_case == PG_QUERY__NODE__NODE_FUNC_CALL &&
            pattern->func_call->n_args == 2 && pattern->func_call->n_funcname) {
            const PgQuery__FuncCall *call = pattern->func_call;
            const char *last = cleave__node_string(call->funcname[call->n_funcname - 1]);
            if (last && strcmp(last, "like_escape") == 0) {
                pattern = call->args[0];
                escape = call->args[1];
            }
        }
        const struct cleave_expression *text = cleave__compile_value(at->c, pattern);
        const struct cleave_expression *mark = escape ? cleave__compile_value(at->c, escape) : NULL;
        if (text && (!escape || mark)) {
            const struct cleave_expression **items = cleave__compile_keep(at->c, 2, sizeof *items);
            items[0] = text;
            items[1] = mark;
            return list_atom(at, x, CLEAVE_OPERATOR_LIKE, items, mark ? 2 : 1);
        }
    }
    visit(at, node->lexpr);
    visit(at, node->rexpr);
    if (x == CLEAVE_NONE)
        return &formula_true;
    struct cleave_formula *formula = make(at->c, CLEAVE_FORMULA_STRICT);
    formula->node = x;
    return formula;
}

static const struct cleave_formula *expression(const struct place *at, const PgQuery__AExpr *node,
                                               bool negated, bool positive);

/* ---- subqueries ---- */

static PgQuery__SelectStmt *select_of(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? node->select_stmt : NULL;
}

/* Equates the outputs of a subquery with what they are compared with. */
static const struct cleave_formula *equate(const struct place *at, const PgQuery__Node *left,
                                           const struct cleave_columns *columns)
{
    const PgQuery__RowExpr *row = row_of(left);
    size_t count = row ? row->n_args : 1;
    const struct cleave_formula **children = cleave__compile_alloc(at->c, count, sizeof *children);
    for (size_t i = 0; i < count; i++) {
        const PgQuery__Node *side = row ? row->args[i] : left;
        children[i] = &formula_true;
        if (i >= columns->nodes.count) {
            visit(at, side);
            continue;
        }
        uint32_t output = columns->nodes.items[i];
        uint32_t x = column_of(at, side);
        const struct cleave_expression *value =
            x == CLEAVE_NONE ? cleave__compile_value(at->c, side) : NULL;
        if (x != CLEAVE_NONE)
            children[i] = cleave__formula_equal(at->c, x, output);
        else if (value)
            children[i] = cleave__formula_atom(at->c, output, CLEAVE_OPERATOR_EQ, value);
        else
            visit(at, side);
    }
    return cleave__formula_join(at->c, CLEAVE_FORMULA_AND, children, (uint32_t)count);
}

static const struct cleave_formula *sublink(const struct place *at, const PgQuery__Node *node,
                                            bool negated, bool positive)
{
    const PgQuery__SubLink *link = node->sub_link;
    PgQuery__SelectStmt *select = select_of(link->subselect);
    enum cleave_operator op = CLEAVE_OPERATOR_EQ;
    bool equality =
        link->n_oper_name == 0 ||
        (operator_of(link->oper_name, link->n_oper_name, &op) && op == CLEAVE_OPERATOR_EQ);
    if (negated || !positive || !select)
        return visit(at, node);
    if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK) {
        cleave__compile_subquery(at->c, at->scope, at->block, select, true);
        return &formula_true;
    }
    if (link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK && equality) {
        struct cleave_columns columns =
            cleave__compile_subquery(at->c, at->scope, at->block, select, false);
        return equate(at, link->testexpr, &columns);
    }
    return visit(at, node);
}

/* column = (SELECT ...): the one row must be there and equal. */
static const struct cleave_formula *
scalar_subquery(const struct place *at, const PgQuery__Node *left, const PgQuery__Node *right)
{
    if (!right || right->node_case != PG_QUERY__NODE__NODE_SUB_LINK ||
        right->sub_link->sub_link_type != PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK)
        return NULL;
    PgQuery__SelectStmt *select = select_of(right->sub_link->subselect);
    if (!select || column_of(at, left) == CLEAVE_NONE)
        return NULL;
    struct cleave_columns columns =
        cleave__compile_subquery(at->c, at->scope, at->block, select, false);
    return equate(at, left, &columns);
}

/* ---- the rest ---- */

static const struct cleave_formula *expression(const struct place *at, const PgQuery__AExpr *node,
                                               bool negated, bool positive)
{
    enum cleave_operator op;
    switch (node->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        if (!node->lexpr || !node->rexpr || !operator_of(node->name, node->n_name, &op))
            break;
        if (negated)
            op = invert(op);
        if (op == CLEAVE_OPERATOR_EQ && positive) {
            const struct cleave_formula *formula = scalar_subquery(at, node->lexpr, node->rexpr);
            if (!formula)
                formula = scalar_subquery(at, node->rexpr, node->lexpr);
            if (formula)
                return formula;
        }
        return compare(at, op, node->lexpr, node->rexpr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
        return any_array(at, node, false, negated);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
        return any_array(at, node, true, negated);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
        if (row_of(node->lexpr) || row_of(node->rexpr))
            break;
        return compare(at,
                       (node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT) != negated
                           ? CLEAVE_OPERATOR_DISTINCT
                           : CLEAVE_OPERATOR_NOT_DISTINCT,
                       node->lexpr, node->rexpr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return in_list(at, node, negated);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
        return like(at, node, negated);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM: {
        bool is_not = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN ||
                      node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
        bool symmetric = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM ||
                         node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
        return between(at, node, symmetric, is_not != negated);
    }
    default:
        break;
    }
    visit(at, node->lexpr);
    return visit(at, node->rexpr);
}

static const struct cleave_formula *null_test(const struct place *at, const PgQuery__Node *node,
                                              bool negated)
{
    const PgQuery__NullTest *test = node->null_test;
    bool is_null = test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL;
    const PgQuery__RowExpr *row = row_of(test->arg);
    if (row) { /* every column is NULL, or every column is not; the negation says neither */
        if (negated)
            return visit(at, node);
        const struct cleave_formula **children =
            cleave__compile_alloc(at->c, row->n_args ? row->n_args : 1, sizeof *children);
        for (size_t i = 0; i < row->n_args; i++) {
            uint32_t x = column_of(at, row->args[i]);
            children[i] = x != CLEAVE_NONE
                              ? cleave__formula_atom(at->c, x,
                                                     is_null ? CLEAVE_OPERATOR_IS_NULL
                                                             : CLEAVE_OPERATOR_NOT_NULL,
                                                     NULL)
                              : visit(at, row->args[i]);
        }
        return cleave__formula_join(at->c, CLEAVE_FORMULA_AND, children, (uint32_t)row->n_args);
    }
    enum cleave_operator op =
        is_null != negated ? CLEAVE_OPERATOR_IS_NULL : CLEAVE_OPERATOR_NOT_NULL;
    uint32_t x = column_of(at, test->arg);
    if (x != CLEAVE_NONE)
        return cleave__formula_atom(at->c, x, op, NULL);
    const struct cleave_expression *value = cleave__compile_value(at->c, test->arg);
    return value ? constant(at, op, value, NULL) : visit(at, test->arg);
}

static const struct cleave_expression *boolean(const struct place *at, bool value)
{
    struct cleave_expression *made = cleave__compile_keep(at->c, 1, sizeof *made);
    made->kind = CLEAVE_EXPRESSION_BOOLEAN;
    made->index = value;
    return made;
}

/* A boolean column that must be `value`. */
static const struct cleave_formula *boolean_column(const struct place *at, uint32_t node,
                                                   bool value)
{
    return cleave__formula_atom(at->c, node, CLEAVE_OPERATOR_EQ, boolean(at, value));
}

static const struct cleave_formula *boolean_test(const struct place *at, const PgQuery__Node *node,
                                                 bool negated, bool positive)
{
    const PgQuery__BooleanTest *test = node->boolean_test;
    PgQuery__BoolTestType type = test->booltesttype;
    bool is_not = type == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE ||
                  type == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE ||
                  type == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN;
    bool unknown = type == PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN ||
                   type == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN;
    bool wanted =
        type == PG_QUERY__BOOL_TEST_TYPE__IS_TRUE || type == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE;
    negated ^= is_not;
    uint32_t x = column_of(at, test->arg);
    if (x != CLEAVE_NONE) {
        if (unknown)
            return cleave__formula_atom(
                at->c, x, negated ? CLEAVE_OPERATOR_NOT_NULL : CLEAVE_OPERATOR_IS_NULL, NULL);
        return cleave__formula_atom(
            at->c, x, negated ? CLEAVE_OPERATOR_DISTINCT : CLEAVE_OPERATOR_NOT_DISTINCT,
            boolean(at, wanted));
    }
    if (!unknown && !negated)
        return cleave__compile_formula(at->c, at->scope, at->block, test->arg, !wanted, positive);
    return visit(at, test->arg);
}

const struct cleave_formula *cleave__compile_formula(struct cleave_compile *c,
                                                     struct cleave_scope *scope, uint32_t block,
                                                     const PgQuery__Node *node, bool negated,
                                                     bool positive)
{
    const struct place at = {c, scope, block};
    c->work++;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_BOOL_EXPR: {
        const PgQuery__BoolExpr *expr = node->bool_expr;
        if (expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR)
            return expr->n_args
                       ? cleave__compile_formula(c, scope, block, expr->args[0], !negated, positive)
                       : &formula_true;
        bool is_and = (expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR) != negated;
        const struct cleave_formula **children =
            cleave__compile_alloc(c, expr->n_args ? expr->n_args : 1, sizeof *children);
        for (size_t i = 0; i < expr->n_args; i++)
            children[i] = cleave__compile_formula(c, scope, block, expr->args[i], negated,
                                                  positive && is_and);
        return cleave__formula_join(c, is_and ? CLEAVE_FORMULA_AND : CLEAVE_FORMULA_OR, children,
                                    (uint32_t)expr->n_args);
    }
    case PG_QUERY__NODE__NODE_A_EXPR:
        return expression(&at, node->a_expr, negated, positive);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return sublink(&at, node, negated, positive);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return null_test(&at, node, negated);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return boolean_test(&at, node, negated, positive);
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
        uint32_t x = column_of(&at, node);
        return x == CLEAVE_NONE ? &formula_true : boolean_column(&at, x, !negated);
    }
    default: {
        const struct cleave_expression *value = cleave__compile_value(c, node);
        return value ? truth(&at, value, !negated) : visit(&at, node);
    }
    }
}

void cleave__compile_where(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                           const PgQuery__Node *node)
{
    if (node)
        cleave__compile_condition_add(c, block,
                                      cleave__compile_formula(c, scope, block, node, false, true));
}
