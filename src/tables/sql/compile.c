/* Statement -> template: the kinds of statements, and what all compile_*.c files share. */
#include <stdlib.h>
#include <string.h>

#include "tables/sql/compile.h"

_Noreturn void cleave__compile_fail(struct cleave_compile *c, enum cleave_status status,
                                    const char *message)
{
    c->status = cleave_error_set(c->error, status, "%s", message);
    longjmp(c->give_up, 1);
}

static void *allocate(struct cleave_compile *c, struct cleave_arena *arena, size_t count,
                      size_t size)
{
    void *result = cleave__arena_array(arena, count, size);
    if (!result)
        cleave__compile_fail(c, CLEAVE_NO_MEMORY, "no memory for a statement's template");
    memset(result, 0, count * size);
    return result;
}

void *cleave__compile_alloc(struct cleave_compile *c, size_t count, size_t size)
{
    return allocate(c, &c->temporary, count, size);
}

void *cleave__compile_keep(struct cleave_compile *c, size_t count, size_t size)
{
    return allocate(c, c->keep, count, size);
}

void *cleave__compile_grow(struct cleave_compile *c, void *items, uint32_t count,
                           uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    if (*capacity > UINT32_MAX / 4)
        cleave__compile_fail(c, CLEAVE_LIMIT, "statement is too large");
    uint32_t larger = *capacity ? *capacity * 2 : 8;
    void *grown = cleave__compile_alloc(c, larger, size);
    if (count)
        memcpy(grown, items, count * size);
    *capacity = larger;
    return grown;
}

uint32_t cleave__compile_node(struct cleave_compile *c, uint32_t block)
{
    struct cleave_node node = {.reference = CLEAVE_NONE,
                               .column = CLEAVE_NONE,
                               .block = block,
                               .type = {.family = CLEAVE_FAMILY_OPAQUE, .modifier = -1}};
    CLEAVE_APPEND(c, &c->nodes, node);
    return c->nodes.count - 1;
}

uint32_t cleave__compile_block(struct cleave_compile *c, uint32_t home, enum cleave_flow flow)
{
    struct cleave_block block = {.home = home, .flow = flow, .partner = CLEAVE_NONE};
    CLEAVE_APPEND(c, &c->blocks, block);
    return c->blocks.count - 1;
}

uint32_t cleave__compile_reference(struct cleave_compile *c, uint32_t table, uint32_t block)
{
    const struct cleave_table *t = &c->catalog->schema->tables[table];
    if (c->references.count >= CLEAVE_REFERENCES_MAX ||
        c->nodes.count + t->column_count > CLEAVE_NODES_MAX)
        cleave__compile_fail(c, CLEAVE_LIMIT, "statement refers to too many tables");
    struct cleave_reference reference = {
        .table = table, .block = block, .first_node = c->nodes.count, .like = CLEAVE_NONE};
    CLEAVE_APPEND(c, &c->references, reference);
    for (uint32_t i = 0; i < t->column_count; i++) {
        uint32_t node = cleave__compile_node(c, block);
        c->nodes.items[node].reference = c->references.count - 1;
        c->nodes.items[node].column = i;
        c->nodes.items[node].type = c->catalog->types[table][i];
    }
    return c->references.count - 1;
}

void cleave__compile_condition_add(struct cleave_compile *c, uint32_t block,
                                   const struct cleave_formula *formula)
{
    /* Conjuncts one by one: equalities among them join columns. */
    if (formula->kind == CLEAVE_FORMULA_AND) {
        for (uint32_t i = 0; i < formula->count; i++)
            cleave__compile_condition_add(c, block, formula->children[i]);
    } else if (formula->kind != CLEAVE_FORMULA_TRUE) {
        CLEAVE_APPEND(c, &c->blocks.items[block].conditions, formula);
    }
}

bool cleave__block_within(const struct cleave_compile *c, uint32_t block, uint32_t ancestor)
{
    while (block != CLEAVE_NONE && block != ancestor)
        block = c->blocks.items[block].home;
    return block == ancestor;
}

/* A whole table, as COPY, TRUNCATE and LOCK touch it. */
static void whole_table(struct cleave_compile *c, uint32_t root, const PgQuery__RangeVar *variable,
                        bool write, bool insert, bool locks)
{
    uint32_t table = cleave__compile_table(c, variable);
    if (table == CLEAVE_ABSENT) {
        c->unknown_tables++;
        return;
    }
    struct cleave_scope *scope = cleave__compile_alloc(c, 1, sizeof *scope);
    if (c->catalog->schema->tables[table].view) {
        PgQuery__RangeVar copy = *variable;
        copy.alias = NULL;
        PgQuery__Node node = {.node_case = PG_QUERY__NODE__NODE_RANGE_VAR, .range_var = &copy};
        cleave__compile_from(c, scope, root, &node);
        c->opaque |= write;
        return;
    }
    uint32_t reference = cleave__compile_reference(c, table, root);
    c->references.items[reference].write = write;
    c->references.items[reference].insert = insert;
    c->references.items[reference].locks = locks;
}

static void all_tables(struct cleave_compile *c, uint32_t root, PgQuery__Node *const *nodes,
                       size_t count, bool write, bool locks)
{
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
            uint32_t block = cleave__compile_block(c, root, CLEAVE_FLOW_NONE);
            whole_table(c, block, nodes[i]->range_var, write, false, locks);
        }
    }
}

static enum cleave_statement_kind compile_statement(struct cleave_compile *c, uint32_t root,
                                                    PgQuery__Node *node)
{
    if (!node)
        return CLEAVE_STATEMENT_OTHER;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT: {
        bool into = node->select_stmt->into_clause != NULL;
        cleave__compile_select(c, NULL, root, node->select_stmt);
        return into        ? CLEAVE_STATEMENT_SCHEMA
               : c->writes ? CLEAVE_STATEMENT_DML
                           : CLEAVE_STATEMENT_QUERY;
    }
    case PG_QUERY__NODE__NODE_INSERT_STMT:
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
    case PG_QUERY__NODE__NODE_DELETE_STMT:
    case PG_QUERY__NODE__NODE_MERGE_STMT:
        cleave__compile_change(c, NULL, root, node);
        return CLEAVE_STATEMENT_DML;
    case PG_QUERY__NODE__NODE_COPY_STMT: {
        const PgQuery__CopyStmt *copy = node->copy_stmt;
        if (copy->relation)
            whole_table(c, root, copy->relation, copy->is_from, copy->is_from, false);
        else
            compile_statement(c, root, copy->query);
        return CLEAVE_STATEMENT_COPY;
    }
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
        all_tables(c, root, node->truncate_stmt->relations, node->truncate_stmt->n_relations, true,
                   false);
        return CLEAVE_STATEMENT_SCHEMA;
    case PG_QUERY__NODE__NODE_LOCK_STMT:
        all_tables(c, root, node->lock_stmt->relations, node->lock_stmt->n_relations, false, true);
        return CLEAVE_STATEMENT_OTHER;
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
        return compile_statement(c, root, node->declare_cursor_stmt->query);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
        compile_statement(c, root, node->create_table_as_stmt->query);
        return CLEAVE_STATEMENT_SCHEMA;
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: {
        /* EXPLAIN ANALYZE runs the statement; so may any value of the option, for all we check. */
        const PgQuery__ExplainStmt *explain = node->explain_stmt;
        for (size_t i = 0; i < explain->n_options; i++) {
            const PgQuery__Node *option = explain->options[i];
            if (option->node_case == PG_QUERY__NODE__NODE_DEF_ELEM && option->def_elem->defname &&
                strcmp(option->def_elem->defname, "analyze") == 0) {
                compile_statement(c, root, explain->query);
                break;
            }
        }
        return CLEAVE_STATEMENT_OTHER;
    }
    case PG_QUERY__NODE__NODE_DO_STMT:
    case PG_QUERY__NODE__NODE_CALL_STMT:
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
        c->opaque = 1;
        return CLEAVE_STATEMENT_OTHER;
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
    case PG_QUERY__NODE__NODE_NOTIFY_STMT:
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
    case PG_QUERY__NODE__NODE_FETCH_STMT:
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT:
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
    case PG_QUERY__NODE__NODE_LOAD_STMT:
        return CLEAVE_STATEMENT_OTHER;
    default:
        return CLEAVE_STATEMENT_SCHEMA; /* all that is left creates, alters, drops, grants ... */
    }
}

enum cleave_status cleave__compile(const struct cleave_compile_input *input,
                                   struct cleave_arena *keep, struct cleave_template *out,
                                   struct cleave_error *error)
{
    struct cleave_compile *c = calloc(1, sizeof *c);
    if (!c)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a statement's template");
    c->error = error;
    c->keep = keep;
    c->catalog = input->catalog;
    c->named = input->named;
    c->text = input->text;
    c->length = input->length;
    c->slots = input->slots;
    c->slot_count = input->slot_count;
    if (setjmp(c->give_up) == 0) {
        *out = (struct cleave_template){.kind = CLEAVE_STATEMENT_OTHER};
        if (input->tree->n_stmts > 0) {
            c->statement = input->tree->stmts[0]->stmt;
            uint32_t root = cleave__compile_block(c, CLEAVE_NONE, CLEAVE_FLOW_NONE);
            out->kind = compile_statement(c, root, c->statement);
            cleave__compile_project(c, out);
            out->unknown_tables = c->unknown_tables;
            out->opaque = c->opaque;
        }
    }
    enum cleave_status status = c->status;
    cleave__arena_free(&c->temporary);
    free(c);
    return status;
}
