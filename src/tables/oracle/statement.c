/* Statements: queries, changes, and the few utility statements that read or write rows. */
#include "tables/oracle/compile.h"

#include <string.h>

/* A table as a whole: COPY, TRUNCATE, LOCK. */
static void whole_table(struct oracle_program *p, struct oracle_scope *scope,
                        const json_t *relation, bool write, bool fresh, struct oracle_list *where)
{
    uint32_t table = cleave__oracle_table(p, relation);
    if (table != CLEAVE_ABSENT && p->schema->tables[table].view) {
        json_t *item = json_pack("[{s:O}]", "RangeVar", (json_t *)relation);
        if (!item)
            cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        cleave__oracle_from(p, scope, item, where);
        json_decref(item);
        return;
    }
    uint32_t row = cleave__oracle_written_table(p, scope, relation, where);
    cleave__oracle_target(p, row, scope->block, write, fresh);
}

static void whole_tables(struct oracle_program *p, struct oracle_scope *scope,
                         const json_t *relations, bool write)
{
    const json_t *item;
    size_t i;
    json_array_foreach(relations, i, item)
    {
        struct oracle_list own = {0};
        struct oracle_scope alone = {.block =
                                         cleave__oracle_block(p, scope->block, ORACLE_FLOW_NONE)};
        if (alone.block == ORACLE_NONE)
            return;
        whole_table(p, &alone, cleave__oracle_is(item, "RangeVar"), write, false, &own);
        p->blocks.data[alone.block].where = cleave__oracle_close(p, &own);
    }
}

static void copy(struct oracle_program *p, const json_t *body, struct oracle_scope *scope,
                 struct oracle_list *where)
{
    const json_t *relation = json_object_get(body, "relation");
    bool from = cleave__oracle_flag(body, "is_from");
    if (relation)
        whole_table(p, scope, relation, from, from, where);
}

/* The statement that a utility statement runs, if any. */
static const json_t *carried(const json_t *node)
{
    const json_t *body, *option;
    size_t i;
    if ((body = cleave__oracle_is(node, "CopyStmt")) ||
        (body = cleave__oracle_is(node, "DeclareCursorStmt")) ||
        (body = cleave__oracle_is(node, "CreateTableAsStmt")))
        return json_object_get(body, "query");
    if (!(body = cleave__oracle_is(node, "ExplainStmt")))
        return NULL;
    json_array_foreach(json_object_get(body, "options"), i, option)
    {
        if (!strcmp(cleave__oracle_text(cleave__oracle_is(option, "DefElem"), "defname"),
                    "analyze"))
            return json_object_get(body, "query");
    }
    return NULL;
}

void cleave__oracle_statement(struct oracle_program *p, const json_t *node,
                              struct oracle_scope *outer, uint32_t block,
                              struct oracle_outputs *outputs)
{
    const json_t *body;
    struct oracle_scope scope = {.outer = outer, .block = block};
    struct oracle_list where = {0};
    for (const json_t *inner; (inner = carried(node));)
        node = inner;
    if ((body = cleave__oracle_is(node, "SelectStmt"))) {
        cleave__oracle_select(p, body, outer, block, outputs);
        return;
    }
    const char *kind;
    json_t *fields;
    if (!cleave__oracle_enter(p))
        return;
    json_object_foreach((json_t *)node, kind, fields)
        cleave__oracle_with(p, json_object_get(fields, "withClause"), fields, &scope);
    if (cleave__oracle_change(p, node, &scope, outputs, &where))
        ;
    else if ((body = cleave__oracle_is(node, "CopyStmt")))
        copy(p, body, &scope, &where);
    else if ((body = cleave__oracle_is(node, "TruncateStmt")))
        whole_tables(p, &scope, json_object_get(body, "relations"), true);
    else if ((body = cleave__oracle_is(node, "LockStmt")))
        whole_tables(p, &scope, json_object_get(body, "relations"), false);
    cleave__oracle_unused(p, &scope);
    p->blocks.data[block].where = cleave__oracle_close(p, &where);
    cleave__oracle_leave(p);
}
