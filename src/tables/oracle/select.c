/* SELECT, VALUES, set operations and WITH. */
#include "tables/oracle/compile.h"

#include <stdio.h>
#include <string.h>

struct oracle_shape cleave__oracle_shape(const json_t *body, bool exists)
{
    struct oracle_shape shape = {ORACLE_FLOW_ALL, true};
    struct oracle_calls calls = {false, false, false};
    const json_t *distinct = json_object_get(body, "distinctClause");
    const json_t *groups = json_object_get(body, "groupClause"), *group;
    bool limit =
        (json_object_get(body, "limitCount") || json_object_get(body, "limitOffset")) && !exists;
    bool sets = false;
    size_t i;
    if (json_object_get(body, "larg")) { /* a row may be of either side */
        shape.proves = false;
        shape.flow = limit ? ORACLE_FLOW_MASKED : ORACLE_FLOW_ALL;
        return shape;
    }
    cleave__oracle_calls(json_object_get(body, "targetList"), &calls);
    cleave__oracle_calls(json_object_get(body, "sortClause"), &calls);
    json_array_foreach(groups, i, group) sets |= cleave__oracle_is(group, "GroupingSet") != NULL;
    /* Without GROUP BY an aggregate gives a row even of nothing. */
    bool one_row = json_array_size(groups) == 0 &&
                   (calls.aggregate || calls.unknown || json_object_get(body, "havingClause"));
    /* Plain DISTINCT is a list of one empty node; DISTINCT ON has expressions. */
    bool distinct_on =
        json_array_size(distinct) > 0 && json_object_size(json_array_get(distinct, 0)) > 0;
    if (one_row || sets) {
        shape.flow = ORACLE_FLOW_MASKED;
        shape.proves = false;
    } else if (limit || distinct_on || calls.window || json_object_get(body, "windowClause")) {
        shape.flow = ORACLE_FLOW_MASKED;
    }
    return shape;
}

struct oracle_node *cleave__oracle_subquery(struct oracle_program *p, struct oracle_scope *scope,
                                            struct oracle_scope *outer, const json_t *body,
                                            struct oracle_shape shape,
                                            struct oracle_outputs *outputs)
{
    uint32_t block = cleave__oracle_block(p, scope->block, shape.flow);
    struct oracle_node *node = NULL;
    if (block == ORACLE_NONE || !cleave__oracle_enter(p))
        return cleave__oracle_truth(p, true);
    if (json_object_get(body, "op")) /* a SelectStmt's fields */
        cleave__oracle_select(p, body, outer, block, outputs);
    else
        cleave__oracle_statement(p, body, outer, block, outputs);
    cleave__oracle_leave(p);
    if (shape.proves)
        node = cleave__oracle_node(p, ORACLE_BLOCK);
    if (!node)
        return cleave__oracle_truth(p, true);
    node->block = block;
    return node;
}

static const char *output_name(const json_t *target)
{
    const char *name = cleave__oracle_text(target, "name");
    const json_t *value = json_object_get(target, "val"), *body;
    if (*name)
        return name;
    while ((body = cleave__oracle_is(value, "TypeCast")))
        value = json_object_get(body, "arg");
    if ((body = cleave__oracle_is(value, "ColumnRef")))
        return cleave__oracle_last(json_object_get(body, "fields"));
    if ((body = cleave__oracle_is(value, "FuncCall")))
        return cleave__oracle_last(json_object_get(body, "funcname"));
    return "?column?";
}

void cleave__oracle_targets_list(struct oracle_program *p, struct oracle_scope *scope,
                                 const json_t *list, struct oracle_outputs *outputs)
{
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const json_t *target = cleave__oracle_is(item, "ResTarget");
        const json_t *value = json_object_get(target, "val");
        const json_t *fields = json_object_get(cleave__oracle_is(value, "ColumnRef"), "fields");
        size_t count = json_array_size(fields);
        cleave__oracle_nested(p, scope, value);
        if (count && cleave__oracle_is(json_array_get(fields, count - 1), "A_Star")) {
            const char *qualifier =
                count > 1 ? cleave__oracle_string(json_array_get(fields, count - 2)) : NULL;
            if (outputs)
                cleave__oracle_star(p, scope, qualifier, 0, scope->relation_count, outputs);
        } else if (outputs) {
            cleave__oracle_output_add(p, outputs, output_name(target),
                                      cleave__oracle_expr(p, scope, value));
        }
    }
}

/* Rows of constants: one of the rows holds, column by column. */
static void values(struct oracle_program *p, struct oracle_scope *scope, const json_t *lists,
                   struct oracle_list *where, struct oracle_outputs *outputs)
{
    size_t rows = json_array_size(lists), width = SIZE_MAX, r;
    const json_t *row;
    cleave__oracle_nested(p, scope, lists);
    json_array_foreach(lists, r, row)
    {
        size_t count = json_array_size(json_object_get(cleave__oracle_is(row, "List"), "items"));
        width = count < width ? count : width;
    }
    if (rows == 0 || width > rows * 4096 + 4096)
        return;
    struct oracle_expr *cells = cleave__arena_array(p->arena, rows * width, sizeof *cells);
    uint32_t *columns = cleave__arena_array(p->arena, width, sizeof *columns);
    bool *known = cleave__arena_array(p->arena, width, sizeof *known);
    if (!cells || !columns || !known) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    for (size_t c = 0; c < width; c++) {
        char name[32];
        int length = snprintf(name, sizeof name, "column%zu", c + 1);
        char *kept = cleave__arena_copy(p->arena, name, (size_t)length);
        columns[c] = cleave__oracle_variable(p, ORACLE_SORT_ANY, NULL, scope->block);
        if (!kept || columns[c] == ORACLE_NONE) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return;
        }
        known[c] = true;
        for (r = 0; r < rows; r++) {
            const json_t *items =
                json_object_get(cleave__oracle_is(json_array_get(lists, r), "List"), "items");
            cells[r * width + c] = cleave__oracle_expr(p, NULL, json_array_get(items, c));
            known[c] = known[c] && cells[r * width + c].kind != ORACLE_EXPR_UNKNOWN;
        }
        if (outputs)
            cleave__oracle_output_add(
                p, outputs, kept,
                (struct oracle_expr){.kind = ORACLE_EXPR_VARIABLE, .variable = columns[c]});
    }
    struct oracle_list either = {0};
    for (r = 0; r < rows && p->status == CLEAVE_OK; r++) {
        struct oracle_node *all = cleave__oracle_truth(p, true);
        for (size_t c = 0; c < width; c++) {
            struct oracle_expr self = {.kind = ORACLE_EXPR_VARIABLE, .variable = columns[c]};
            if (known[c])
                all = cleave__oracle_join(
                    p, ORACLE_AND, all,
                    cleave__oracle_distinct(p, &self, &cells[r * width + c], true));
        }
        if (!CLEAVE_PUSH(&either.items, all))
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    }
    cleave__oracle_push(p, where,
                        cleave__oracle_many(p, ORACLE_OR, either.items.data, either.items.count));
    CLEAVE_VECTOR_FREE(&either.items);
}

/* Each side sees what is asked of the result's columns; the result knows nothing of its sides. */
static void set_operation(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                          struct oracle_outputs *outputs)
{
    static const char *const sides[] = {"larg", "rarg"};
    struct oracle_outputs side[2] = {{0}, {0}};
    uint32_t blocks[2];
    for (int s = 0; s < 2; s++) {
        blocks[s] = cleave__oracle_block(p, scope->block, ORACLE_FLOW_ALL);
        if (blocks[s] == ORACLE_NONE || !cleave__oracle_enter(p))
            return;
        cleave__oracle_select(p, json_object_get(body, sides[s]), scope, blocks[s], &side[s]);
        cleave__oracle_leave(p);
    }
    p->loose = true; /* an output is the same as either side's, NULL or not */
    for (uint32_t i = 0; outputs && i < side[0].count && p->status == CLEAVE_OK; i++) {
        struct oracle_expr out = {.kind = ORACLE_EXPR_UNKNOWN}, given[2] = {out, out};
        given[0] = side[0].items[i].expr;
        if (i < side[1].count)
            given[1] = side[1].items[i].expr;
        if (given[0].kind == ORACLE_EXPR_VARIABLE && given[1].kind == ORACLE_EXPR_VARIABLE) {
            const struct oracle_variable l = p->variables.data[given[0].variable];
            const struct oracle_variable r = p->variables.data[given[1].variable];
            bool alike = l.sort == r.sort &&
                         (l.sort != ORACLE_SORT_LABEL ||
                          (l.type_name && r.type_name && !strcmp(l.type_name, r.type_name)));
            uint32_t variable =
                alike ? cleave__oracle_variable(p, l.sort, l.type_name, scope->block) : ORACLE_NONE;
            for (int s = 0; s < 2 && variable != ORACLE_NONE; s++) {
                struct oracle_block *b = &p->blocks.data[blocks[s]];
                struct oracle_node *link =
                    cleave__oracle_equal(p, ORACLE_SAME, variable, given[s].variable);
                b->where = b->where ? cleave__oracle_join(p, ORACLE_AND, b->where, link) : link;
                out = (struct oracle_expr){.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
            }
        }
        cleave__oracle_output_add(p, outputs, side[0].items[i].name, out);
    }
}

/* A CTE's query on its own: what uses it asks nothing of it. */
static void compile_alone(struct oracle_program *p, struct oracle_cte *cte)
{
    cte->compiled = true;
    if (p->shadow || !cleave__oracle_enter(p))
        return;
    uint32_t block = cleave__oracle_block(p, cte->scope->block, ORACLE_FLOW_NONE);
    uint32_t side = p->side;
    p->side = ORACLE_NONE;
    cte->active = true;
    if (block != ORACLE_NONE)
        cleave__oracle_statement(p, cte->query, cte->scope, block, NULL);
    cte->active = false;
    p->side = side;
    cleave__oracle_leave(p);
}

void cleave__oracle_with(struct oracle_program *p, const json_t *clause, const json_t *body,
                         struct oracle_scope *scope)
{
    const json_t *item;
    size_t i;
    bool recursive = cleave__oracle_flag(clause, "recursive");
    json_array_foreach(json_object_get(clause, "ctes"), i, item)
    {
        const json_t *definition = cleave__oracle_is(item, "CommonTableExpr");
        struct oracle_cte *cte = cleave__arena_zalloc(p->arena, sizeof *cte);
        struct oracle_scope *seen = cleave__arena_zalloc(p->arena, sizeof *seen);
        if (!cte || !seen) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return;
        }
        cte->name = cleave__oracle_text(definition, "ctename");
        cte->query = json_object_get(definition, "ctequery");
        cte->aliases = json_object_get(definition, "aliascolnames");
        cte->writes = !cleave__oracle_is(cte->query, "SelectStmt");
        cte->uses = cleave__oracle_count_table(p->statement ? p->statement : body, cte->name);
        uint32_t own = cleave__oracle_count_table(cte->query, cte->name);
        cte->recursive = recursive && own > 0;
        cte->alone =
            cte->writes || cte->uses != 1 || own > 0 ||
            !strcmp(cleave__oracle_text(definition, "ctematerialized"), "CTEMaterializeAlways");
        *seen = (struct oracle_scope){
            .outer = scope->outer, .ctes = scope->ctes, .block = scope->block};
        cte->scope = seen;
        cte->next = scope->ctes;
        scope->ctes = cte;
        if (recursive)
            seen->ctes = cte;
    }
    /* In order: changes always run, what is used more than once stands alone. */
    json_array_foreach(json_object_get(clause, "ctes"), i, item)
    {
        size_t later = json_array_size(json_object_get(clause, "ctes")) - 1 - i;
        struct oracle_cte *cte = scope->ctes;
        while (later-- > 0 && cte)
            cte = cte->next;
        if (cte && recursive)
            cte->scope->ctes = scope->ctes; /* it may look ahead */
        if (cte && cte->alone)
            compile_alone(p, cte);
    }
}

void cleave__oracle_unused(struct oracle_program *p, struct oracle_scope *scope)
{
    for (struct oracle_cte *cte = scope->ctes; cte; cte = cte->next) {
        if (!cte->compiled && p->status == CLEAVE_OK)
            compile_alone(p, cte);
    }
}

void cleave__oracle_select(struct oracle_program *p, const json_t *body, struct oracle_scope *outer,
                           uint32_t block, struct oracle_outputs *outputs)
{
    static const char *const others[] = {"distinctClause", "groupClause", "havingClause",
                                         "windowClause",   "sortClause",  "limitCount",
                                         "limitOffset"};
    struct oracle_list where = {0};
    /* Conditions point into no scope, but CTEs and nested blocks compiled here do while it lasts.
     */
    struct oracle_scope scope = {.outer = outer, .block = block};
    if (!body || !cleave__oracle_enter(p))
        return;
    cleave__oracle_with(p, json_object_get(body, "withClause"), body, &scope);
    const json_t *lists = json_object_get(body, "valuesLists");
    if (json_object_get(body, "larg")) {
        set_operation(p, body, &scope, outputs);
    } else if (lists) {
        values(p, &scope, lists, &where, outputs);
    } else {
        cleave__oracle_from(p, &scope, json_object_get(body, "fromClause"), &where);
        cleave__oracle_push(
            p, &where,
            cleave__oracle_condition(p, &scope, json_object_get(body, "whereClause"), true));
        cleave__oracle_targets_list(p, &scope, json_object_get(body, "targetList"), outputs);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cleave__oracle_nested(p, &scope, json_object_get(body, others[i]));
    cleave__oracle_unused(p, &scope);
    p->blocks.data[block].where = cleave__oracle_close(p, &where);
    cleave__oracle_leave(p);
}
