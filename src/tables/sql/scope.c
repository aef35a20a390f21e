/* Names of tables, columns and WITH queries. Follows PostgreSQL's rules: the innermost level that
 * has the name decides; a name that means two things there means nothing to us. */
#include <string.h>

#include "tables/sql/compile.h"

const char *cleave__node_string(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_STRING || !node->string)
        return NULL;
    return node->string->sval;
}

void cleave__columns_add(struct cleave_compile *c, struct cleave_columns *columns, const char *name,
                         uint32_t node)
{
    if (++c->work > CLEAVE_COMPILE_WORK_MAX)
        cleave__compile_fail(c, CLEAVE_LIMIT, "statement joins too many columns");
    CLEAVE_APPEND(c, &columns->names, name);
    CLEAVE_APPEND(c, &columns->nodes, node);
}

void cleave__columns_append(struct cleave_compile *c, struct cleave_columns *to,
                            const struct cleave_columns *from)
{
    for (uint32_t i = 0; i < from->names.count; i++)
        cleave__columns_add(c, to, from->names.items[i], from->nodes.items[i]);
    to->open |= from->open;
}

uint32_t cleave__columns_find(const struct cleave_columns *columns, const char *name,
                              uint32_t *matches)
{
    uint32_t found = CLEAVE_NONE;
    *matches = 0;
    for (uint32_t i = 0; i < columns->names.count; i++) {
        const char *candidate = columns->names.items[i];
        if (candidate && strcmp(candidate, name) == 0) {
            found = i;
            ++*matches;
        }
    }
    return *matches == 1 ? found : CLEAVE_NONE;
}

const struct cleave_item *cleave__scope_item(const struct cleave_scope *scope, const char *schema,
                                             const char *alias)
{
    for (; scope; scope = scope->outer) {
        for (uint32_t i = 0; i < scope->items.count; i++) {
            const struct cleave_item *item = &scope->items.items[i];
            if (item->alias && strcmp(item->alias, alias) == 0 &&
                (!schema || (item->schema && strcmp(item->schema, schema) == 0)))
                return item;
        }
    }
    return NULL;
}

uint32_t cleave__scope_column(struct cleave_compile *c, const struct cleave_scope *scope,
                              const PgQuery__ColumnRef *reference)
{
    const char *parts[4];
    size_t count = reference->n_fields;
    if (count == 0 || count > 4)
        return CLEAVE_NONE;
    for (size_t i = 0; i < count; i++) {
        parts[i] = cleave__node_string(reference->fields[i]);
        if (!parts[i])
            return CLEAVE_NONE; /* a star */
    }
    uint32_t matches, found;
    c->work++;
    if (count > 1) {
        const char *schema = count > 2 ? parts[count - 3] : NULL;
        const struct cleave_item *item = cleave__scope_item(scope, schema, parts[count - 2]);
        if (!item)
            return CLEAVE_NONE;
        found = cleave__columns_find(&item->columns, parts[count - 1], &matches);
        return found == CLEAVE_NONE ? CLEAVE_NONE : item->columns.nodes.items[found];
    }
    for (; scope; scope = scope->outer) {
        found = cleave__columns_find(&scope->columns, parts[0], &matches);
        if (found != CLEAVE_NONE)
            return scope->columns.nodes.items[found];
        if (matches > 1 || scope->columns.open)
            return CLEAVE_NONE; /* ambiguous, or perhaps of a table that is not known */
    }
    return CLEAVE_NONE;
}

struct cleave_cte *cleave__scope_cte(const struct cleave_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        for (struct cleave_cte *cte = scope->ctes; cte; cte = cte->next) {
            if (strcmp(cte->name, name) == 0)
                return cte;
        }
    }
    return NULL;
}

uint32_t cleave__compile_table(struct cleave_compile *c, const PgQuery__RangeVar *variable)
{
    const struct cleave_schema *schema = c->catalog->schema;
    const char *name = variable->relname ? variable->relname : "";
    if (!variable->schemaname || !*variable->schemaname)
        return cleave__schema_table(schema, name, strlen(name));
    size_t first = strlen(variable->schemaname), second = strlen(name);
    char *whole = cleave__compile_alloc(c, 1, first + second + 2);
    memcpy(whole, variable->schemaname, first);
    whole[first] = '.';
    memcpy(whole + first + 1, name, second);
    return cleave__schema_table(schema, whole, first + 1 + second);
}
