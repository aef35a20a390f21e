/* Which column a name means: the nearest scope that has it, as SQL says. */
#include "tables/oracle/compile.h"

#include <string.h>

/* Room for one more in an arena array. */
static bool grow(struct oracle_program *p, void **items, uint32_t count, uint32_t *capacity,
                 size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void *fresh = cleave__arena_array(p->arena, wanted, size);
    if (!fresh) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return false;
    }
    if (count)
        memcpy(fresh, *items, count * size);
    *items = fresh;
    *capacity = wanted;
    return true;
}

void cleave__oracle_relation_add(struct oracle_program *p, struct oracle_scope *scope,
                                 const struct oracle_relation *relation)
{
    void *items = scope->relations;
    if (grow(p, &items, scope->relation_count, &scope->relation_capacity, sizeof *relation)) {
        scope->relations = items;
        scope->relations[scope->relation_count++] = *relation;
    }
}

void cleave__oracle_merged_add(struct oracle_program *p, struct oracle_scope *scope,
                               const struct oracle_merged *merged)
{
    void *items = scope->merged;
    if (grow(p, &items, scope->merged_count, &scope->merged_capacity, sizeof *merged)) {
        scope->merged = items;
        scope->merged[scope->merged_count++] = *merged;
    }
}

void cleave__oracle_output_add(struct oracle_program *p, struct oracle_outputs *outputs,
                               const char *name, struct oracle_expr expr)
{
    void *items = outputs->items;
    if (grow(p, &items, outputs->count, &outputs->capacity, sizeof *outputs->items)) {
        outputs->items = items;
        outputs->items[outputs->count++] = (struct oracle_output){name, expr};
    }
}

/* A column of one relation. `*known` is false when the relation's columns are not known. */
static bool relation_column(struct oracle_program *p, const struct oracle_scope *scope,
                            const struct oracle_relation *r, const char *name,
                            struct oracle_expr *out)
{
    *out = (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN};
    if (r->kind == ORACLE_RELATION_TABLE) {
        uint32_t table = p->references.data[r->reference].table;
        uint32_t column = cleave__schema_column(&p->schema->tables[table], name, strlen(name));
        if (column == CLEAVE_ABSENT)
            return false;
        uint32_t variable = cleave__oracle_column(p, r->reference, column);
        if (variable != ORACLE_NONE)
            *out = (struct oracle_expr){.kind = ORACLE_EXPR_VARIABLE, .variable = variable};
        return true;
    }
    if (r->kind == ORACLE_RELATION_OUTPUTS) {
        for (uint32_t i = 0; i < r->outputs.count; i++) {
            if (!strcmp(r->outputs.items[i].name, name)) {
                *out = r->outputs.items[i].expr;
                return true;
            }
        }
        return false;
    }
    if (r->kind == ORACLE_RELATION_JOIN)
        return cleave__oracle_resolve_among(p, scope, r->first, r->last, name, out);
    return false;
}

bool cleave__oracle_resolve_among(struct oracle_program *p, const struct oracle_scope *scope,
                                  uint32_t first, uint32_t last, const char *name,
                                  struct oracle_expr *out)
{
    for (uint32_t i = scope->merged_count; i-- > 0;) { /* the outermost join comes last */
        const struct oracle_merged *m = &scope->merged[i];
        if (m->first >= first && m->last <= last && !strcmp(m->name, name)) {
            *out = m->expr;
            return true;
        }
    }
    bool found = false;
    for (uint32_t i = first; i < last && i < scope->relation_count; i++) {
        struct oracle_expr one;
        if (scope->relations[i].kind == ORACLE_RELATION_JOIN ||
            !relation_column(p, scope, &scope->relations[i], name, &one))
            continue;
        *out = found ? (struct oracle_expr){.kind = ORACLE_EXPR_UNKNOWN} : one;
        if (found)
            return true; /* it means two things */
        found = true;
    }
    return found;
}

struct oracle_expr cleave__oracle_resolve(struct oracle_program *p,
                                          const struct oracle_scope *scope, const char *qualifier,
                                          const char *name)
{
    struct oracle_expr out = {.kind = ORACLE_EXPR_UNKNOWN};
    for (; scope; scope = scope->outer) {
        if (!qualifier) {
            if (cleave__oracle_resolve_among(p, scope, 0, scope->relation_count, name, &out))
                return out;
            continue;
        }
        for (uint32_t i = 0; i < scope->relation_count; i++) {
            if (!strcmp(scope->relations[i].name, qualifier)) {
                (void)relation_column(p, scope, &scope->relations[i], name, &out);
                return out;
            }
        }
    }
    return out;
}

static bool is_merged(const struct oracle_scope *scope, uint32_t first, uint32_t last,
                      const char *name)
{
    for (uint32_t i = 0; i < scope->merged_count; i++) {
        const struct oracle_merged *m = &scope->merged[i];
        if (m->first >= first && m->last <= last && !strcmp(m->name, name))
            return true;
    }
    return false;
}

static void relation_star(struct oracle_program *p, const struct oracle_scope *scope,
                          const struct oracle_relation *r, uint32_t first, uint32_t last,
                          bool skip_merged, struct oracle_outputs *out)
{
    if (r->kind == ORACLE_RELATION_TABLE) {
        const struct cleave_table *table =
            &p->schema->tables[p->references.data[r->reference].table];
        for (uint32_t c = 0; c < table->column_count; c++) {
            const char *name = table->columns[c].name;
            if (skip_merged && is_merged(scope, first, last, name))
                continue;
            uint32_t variable = cleave__oracle_column(p, r->reference, c);
            if (variable == ORACLE_NONE)
                return;
            cleave__oracle_output_add(
                p, out, name,
                (struct oracle_expr){.kind = ORACLE_EXPR_VARIABLE, .variable = variable});
        }
    } else if (r->kind == ORACLE_RELATION_OUTPUTS) {
        for (uint32_t i = 0; i < r->outputs.count; i++) {
            const struct oracle_output *o = &r->outputs.items[i];
            if (!skip_merged || !is_merged(scope, first, last, o->name))
                cleave__oracle_output_add(p, out, o->name, o->expr);
        }
    }
}

void cleave__oracle_star(struct oracle_program *p, const struct oracle_scope *scope,
                         const char *qualifier, uint32_t first, uint32_t last,
                         struct oracle_outputs *out)
{
    if (qualifier) {
        for (; scope; scope = scope->outer) {
            for (uint32_t i = 0; i < scope->relation_count; i++) {
                const struct oracle_relation *r = &scope->relations[i];
                if (strcmp(r->name, qualifier) != 0)
                    continue;
                if (r->kind == ORACLE_RELATION_JOIN)
                    cleave__oracle_star(p, scope, NULL, r->first, r->last, out);
                else
                    relation_star(p, scope, r, 0, 0, false, out);
                return;
            }
        }
        return;
    }
    /* Merged columns first, each once; then the rest in order. */
    for (uint32_t i = 0; i < scope->merged_count; i++) {
        const struct oracle_merged *m = &scope->merged[i];
        bool later = false;
        if (m->first < first || m->last > last)
            continue;
        for (uint32_t j = i + 1; j < scope->merged_count && !later; j++)
            later = scope->merged[j].first <= m->first && scope->merged[j].last >= m->last &&
                    scope->merged[j].last <= last && !strcmp(scope->merged[j].name, m->name);
        if (!later)
            cleave__oracle_output_add(p, out, m->name, m->expr);
    }
    for (uint32_t i = first; i < last && i < scope->relation_count; i++)
        relation_star(p, scope, &scope->relations[i], first, last, true, out);
}

struct oracle_cte *cleave__oracle_cte(const struct oracle_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        for (struct oracle_cte *cte = scope->ctes; cte; cte = cte->next) {
            if (!strcmp(cte->name, name))
                return cte;
        }
    }
    return NULL;
}
