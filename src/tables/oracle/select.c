/* SELECT, VALUES, set operations and WITH. */
#include "tables/oracle/compile.h"

#include <string.h>

bool cleave__oracle_select_barrier(const json_t *body)
{
    const json_t *distinct = json_object_get(body, "distinctClause");
    if (json_object_get(body, "limitCount") || json_object_get(body, "limitOffset"))
        return true;
    /* Plain DISTINCT is a list of one empty node; DISTINCT ON has expressions. */
    if (json_array_size(distinct) > 0 && json_object_size(json_array_get(distinct, 0)) > 0)
        return true;
    return cleave__oracle_mentions(json_object_get(body, "targetList"), "FuncCall", "over") ||
           cleave__oracle_mentions(json_object_get(body, "groupClause"), "GroupingSet", NULL);
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

static void values(struct oracle_program *p, struct oracle_scope *scope, const json_t *lists,
                   struct oracle_outputs *outputs)
{
    static const char *const names[] = {"column1", "column2", "column3", "column4",
                                        "column5", "column6", "column7", "column8"};
    const json_t *first =
        json_object_get(json_object_get(json_array_get(lists, 0), "List"), "items");
    cleave__oracle_nested(p, scope, lists);
    for (size_t c = 0; outputs && c < json_array_size(first); c++) {
        struct oracle_expr expr = {.kind = ORACLE_EXPR_UNKNOWN};
        if (json_array_size(lists) == 1)
            expr = cleave__oracle_expr(p, scope, json_array_get(first, c));
        cleave__oracle_output_add(p, outputs, c < 8 ? names[c] : "", expr);
    }
}

/* An arm of a set operation, in a block of its own. */
static void arm(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                struct oracle_node *choice, uint32_t which, struct oracle_outputs *outputs)
{
    uint32_t block = cleave__oracle_block(p, scope->block, cleave__oracle_select_barrier(body));
    if (block == ORACLE_NONE || !cleave__oracle_enter(p))
        return;
    choice->blocks[which] = block;
    choice->count = which + 1;
    cleave__oracle_select(p, body, scope, block, outputs);
    cleave__oracle_leave(p);
}

static void set_operation(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                          struct oracle_list *where, struct oracle_outputs *outputs)
{
    struct oracle_outputs side[2] = {{0}, {0}};
    struct oracle_node *choice = cleave__oracle_node(p, ORACLE_CHOICE);
    if (!choice || !(choice->blocks = cleave__arena_array(p->arena, 2, sizeof *choice->blocks))) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    arm(p, json_object_get(body, "larg"), scope, choice, 0, &side[0]);
    if (choice->count == 1)
        arm(p, json_object_get(body, "rarg"), scope, choice, 1, &side[1]);
    if (choice->count != 2 || p->status != CLEAVE_OK)
        return;
    for (uint32_t i = 0; outputs && i < side[0].count; i++) {
        struct oracle_expr *l = &side[0].items[i].expr;
        struct oracle_expr *r = i < side[1].count ? &side[1].items[i].expr : l;
        struct oracle_expr out = {.kind = ORACLE_EXPR_UNKNOWN};
        const struct oracle_expr *typed = l->kind == ORACLE_EXPR_VARIABLE   ? l
                                          : r->kind == ORACLE_EXPR_VARIABLE ? r
                                                                            : NULL;
        if (typed && l->kind != ORACLE_EXPR_UNKNOWN && r->kind != ORACLE_EXPR_UNKNOWN) {
            const struct oracle_variable *like = &p->variables.data[typed->variable];
            uint32_t variable = cleave__oracle_variable(p, like->sort, like->type_name, p->side);
            const struct oracle_expr *given[2] = {l, r};
            for (uint32_t s = 0; s < 2; s++) {
                struct oracle_node *link = cleave__oracle_holds(p, variable, given[s]);
                struct oracle_block *b = &p->blocks.data[choice->blocks[s]];
                b->where = b->where ? cleave__oracle_join(p, ORACLE_AND, b->where, link) : link;
            }
            if (variable != ORACLE_NONE)
                out = (struct oracle_expr){.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
        }
        cleave__oracle_output_add(p, outputs, side[0].items[i].name, out);
    }
    cleave__oracle_push(p, where, choice);
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
        struct oracle_scope *view = cleave__arena_zalloc(p->arena, sizeof *view);
        if (!cte || !view) {
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
            return;
        }
        cte->name = cleave__oracle_text(definition, "ctename");
        cte->query = json_object_get(definition, "ctequery");
        cte->aliases = json_object_get(definition, "aliascolnames");
        cte->writes = !cleave__oracle_is(cte->query, "SelectStmt");
        cte->materialized =
            !strcmp(cleave__oracle_text(definition, "ctematerialized"), "CTEMaterializeAlways");
        uint32_t own = cleave__oracle_count_table(cte->query, cte->name);
        cte->recursive = recursive && own > 0;
        uint32_t uses = cleave__oracle_count_table(body, cte->name);
        cte->shared =
            uses - (recursive ? own : 0) > 1 &&
            strcmp(cleave__oracle_text(definition, "ctematerialized"), "CTEMaterializeNever") != 0;
        *view = (struct oracle_scope){
            .outer = scope->outer, .ctes = scope->ctes, .block = scope->block};
        cte->scope = view;
        cte->next = scope->ctes;
        if (recursive)
            view->ctes = cte;
        scope->ctes = cte;
        if (cte->writes && p->shadow == 0 && cleave__oracle_enter(p)) {
            uint32_t block = cleave__oracle_block(p, scope->block, true);
            cte->active = true;
            if (block != ORACLE_NONE)
                cleave__oracle_statement(p, cte->query, view, block, NULL);
            cte->active = false;
            cleave__oracle_leave(p);
        }
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
        set_operation(p, body, &scope, &where, outputs);
    } else if (lists) {
        values(p, &scope, lists, outputs);
    } else {
        cleave__oracle_from(p, &scope, json_object_get(body, "fromClause"), &where);
        cleave__oracle_push(
            p, &where, cleave__oracle_condition(p, &scope, json_object_get(body, "whereClause")));
        cleave__oracle_targets_list(p, &scope, json_object_get(body, "targetList"), outputs);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cleave__oracle_nested(p, &scope, json_object_get(body, others[i]));
    p->blocks.data[block].where = cleave__oracle_close(p, &where);
    cleave__oracle_leave(p);
}
