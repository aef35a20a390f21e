/* From conditions over all tables of a statement to one predicate a table reference.
 *
 * For the reference's block, the view of facts is gathered once (compile.h says which blocks'
 * conditions it holds) and its equalities make classes of nodes. Each condition is then projected
 * onto the reference: an atom stays when its node is, or equals, one of the reference's columns;
 * all else becomes TRUE. Projection only ever widens a condition. */
#include <string.h>

#include "tables/sql/compile.h"

struct fact {
    const struct cleave_formula *formula;
    uint32_t block;
    uint32_t masks; /* how many masked borders lie between the reference and this block */
};

struct union_step {
    uint32_t root; /* was put below another */
    bool higher;   /* whose rank grew by it */
};

/* One for all blocks in turn: memory does not grow with their number. */
struct view {
    struct cleave_compile *c;
    uint32_t block;
    /* Classes of equal nodes: union-find by rank, without path compression, so that the equalities
     * of a part of a condition can be taken back. */
    uint32_t *parent;                      /* [nodes] */
    uint8_t *rank;                         /* [nodes] */
    CLEAVE_LIST(struct union_step) united; /* what was done, in order */
    uint32_t loose;                        /* equalities that also hold for NULLs */
    uint32_t *mask; /* [blocks]: 1 + its number among the masked borders, or 0 */
    bool *seen;     /* [blocks] */
    CLEAVE_LIST(struct fact) facts;
};

static const struct cleave_predicate predicate_true = {.kind = CLEAVE_PREDICATE_TRUE};
static const struct cleave_predicate predicate_false = {.kind = CLEAVE_PREDICATE_FALSE};

static uint32_t find(const struct view *v, uint32_t node)
{
    while (v->parent[node] != node)
        node = v->parent[node];
    return node;
}

static void add_block(struct view *v, uint32_t block, uint32_t masks)
{
    struct cleave_compile *c = v->c;
    if (v->seen[block])
        return;
    v->seen[block] = true;
    c->work++;
    const struct cleave_block *b = &c->blocks.items[block];
    for (uint32_t i = 0; i < b->conditions.count; i++)
        CLEAVE_APPEND(c, &v->facts, (struct fact){b->conditions.items[i], block, masks});
    for (uint32_t i = 0; i < b->downs.count; i++)
        add_block(v, b->downs.items[i], masks);
}

/* May this fact speak of the node? Not from outside of an outer join or of a masked border. */
static bool node_is_sure(const struct view *v, const struct fact *fact, uint32_t node)
{
    const struct cleave_compile *c = v->c;
    bool nullable = false;
    for (uint32_t block = c->nodes.items[node].block; block != CLEAVE_NONE;
         block = c->blocks.items[block].home) {
        if (cleave__block_within(c, fact->block, block)) /* common to both */
            return !nullable;
        if (v->mask[block] && v->mask[block] <= fact->masks)
            return false;
        nullable |= c->blocks.items[block].nullable;
    }
    return true;
}

/* Do constants compared with `from` say the same of a column of type `to` that equals it? */
static bool is_transferable(const struct cleave_domain_type *from,
                            const struct cleave_domain_type *to)
{
    if (from->family == CLEAVE_FAMILY_ANY)
        return to->family != CLEAVE_FAMILY_OPAQUE;
    if (from->family == to->family)
        return from->family != CLEAVE_FAMILY_OPAQUE &&
               (from->family != CLEAVE_FAMILY_OTHER ||
                (from->name && to->name && strcmp(from->name, to->name) == 0));
    return (from->family == CLEAVE_FAMILY_INTEGER && to->family == CLEAVE_FAMILY_NUMERIC) ||
           (from->family == CLEAVE_FAMILY_NUMERIC && to->family == CLEAVE_FAMILY_INTEGER);
}

static void unite(struct view *v, const struct fact *fact, const struct cleave_formula *f)
{
    const struct cleave_node *nodes = v->c->nodes.items;
    if (nodes[f->node].type.family == CLEAVE_FAMILY_OPAQUE ||
        nodes[f->other].type.family == CLEAVE_FAMILY_OPAQUE || !node_is_sure(v, fact, f->node) ||
        !node_is_sure(v, fact, f->other))
        return;
    v->loose += !f->strict;
    uint32_t a = find(v, f->node), b = find(v, f->other);
    if (a == b)
        return;
    if (v->rank[a] < v->rank[b]) {
        uint32_t low = a;
        a = b;
        b = low;
    }
    bool higher = v->rank[a] == v->rank[b];
    v->rank[a] = (uint8_t)(v->rank[a] + higher);
    v->parent[b] = a;
    CLEAVE_APPEND(v->c, &v->united, (struct union_step){b, higher});
}

static void take_back(struct view *v, uint32_t count, uint32_t loose)
{
    while (v->united.count > count) {
        struct union_step step = v->united.items[--v->united.count];
        uint32_t above = v->parent[step.root];
        v->rank[above] = (uint8_t)(v->rank[above] - step.higher);
        v->parent[step.root] = step.root;
    }
    v->loose = loose;
}

static struct view *new_view(struct cleave_compile *c)
{
    struct view *v = cleave__compile_alloc(c, 1, sizeof *v);
    v->c = c;
    v->block = CLEAVE_NONE;
    v->parent = cleave__compile_alloc(c, (size_t)c->nodes.count + 1, sizeof *v->parent);
    v->rank = cleave__compile_alloc(c, (size_t)c->nodes.count + 1, sizeof *v->rank);
    v->mask = cleave__compile_alloc(c, (size_t)c->blocks.count + 1, sizeof *v->mask);
    v->seen = cleave__compile_alloc(c, (size_t)c->blocks.count + 1, sizeof *v->seen);
    return v;
}

/* Gathers what is known in a block. */
static void look_from(struct view *v, uint32_t block)
{
    struct cleave_compile *c = v->c;
    c->work += c->nodes.count / 16 + c->blocks.count / 16;
    v->block = block;
    v->facts.count = v->united.count = v->loose = 0;
    memset(v->rank, 0, c->nodes.count * sizeof *v->rank);
    memset(v->mask, 0, c->blocks.count * sizeof *v->mask);
    memset(v->seen, 0, c->blocks.count * sizeof *v->seen);
    for (uint32_t i = 0; i < c->nodes.count; i++)
        v->parent[i] = i;
    uint32_t masks = 0;
    for (;;) {
        add_block(v, block, masks);
        const struct cleave_block *b = &c->blocks.items[block];
        if (b->flow == CLEAVE_FLOW_NONE || b->home == CLEAVE_NONE)
            break;
        if (b->flow == CLEAVE_FLOW_MASKED)
            v->mask[block] = ++masks;
        block = b->home;
    }
    for (uint32_t i = 0; i < v->facts.count; i++) {
        const struct fact *fact = &v->facts.items[i];
        if (fact->formula->kind == CLEAVE_FORMULA_EQUAL)
            unite(v, fact, fact->formula);
    }
}

/* ---- projection ---- */

static const struct cleave_predicate *join(struct cleave_compile *c,
                                           enum cleave_predicate_kind kind,
                                           const struct cleave_predicate **children, uint32_t count)
{
    bool is_and = kind == CLEAVE_PREDICATE_AND;
    enum cleave_predicate_kind neutral = is_and ? CLEAVE_PREDICATE_TRUE : CLEAVE_PREDICATE_FALSE;
    enum cleave_predicate_kind decisive = is_and ? CLEAVE_PREDICATE_FALSE : CLEAVE_PREDICATE_TRUE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (children[i]->kind == decisive)
            return children[i];
        if (children[i]->kind != neutral)
            children[n++] = children[i];
    }
    if (n == 0)
        return is_and ? &predicate_true : &predicate_false;
    if (n == 1)
        return children[0];
    struct cleave_predicate *made = cleave__compile_keep(c, 1, sizeof *made);
    const struct cleave_predicate **kept = cleave__compile_keep(c, n, sizeof *kept);
    memcpy(kept, children, n * sizeof *kept);
    made->kind = kind;
    made->count = n;
    made->children = kept;
    return made;
}

static const struct cleave_predicate *project_atom(struct view *v, const struct fact *fact,
                                                   const struct cleave_formula *f,
                                                   const struct cleave_reference *r)
{
    struct cleave_compile *c = v->c;
    uint32_t columns = c->catalog->schema->tables[r->table].column_count;
    const struct cleave_node *node = &c->nodes.items[f->node];
    bool null_test = f->op == CLEAVE_OPERATOR_IS_NULL || f->op == CLEAVE_OPERATOR_NOT_NULL;
    if (!node_is_sure(v, fact, f->node) ||
        (node->type.family == CLEAVE_FAMILY_OPAQUE && !null_test))
        return &predicate_true;
    uint32_t root = find(v, f->node);
    const struct cleave_predicate **parts = NULL;
    uint32_t count = 0;
    c->work += columns / 8 + 1;
    for (uint32_t i = 0; i < columns; i++) {
        uint32_t own = r->first_node + i;
        const struct cleave_domain_type *type = &c->nodes.items[own].type;
        if (own != f->node) {
            if (find(v, own) != root || !is_transferable(&node->type, type))
                continue;
            /* Equal columns are not NULL. */
            if (f->op == CLEAVE_OPERATOR_IS_NULL && !v->loose)
                return &predicate_false;
        }
        if (!r->insert)
            c->named[r->table][i] = 1;
        struct cleave_predicate *atom = cleave__compile_keep(c, 1, sizeof *atom);
        *atom = (struct cleave_predicate){
            .kind = CLEAVE_PREDICATE_ATOM,
            .op = f->op,
            .column = i,
            .reads = node->type,
            .target = *type,
            .count = f->count,
            .items = f->items,
        };
        if (!parts)
            parts = cleave__compile_alloc(c, columns, sizeof *parts);
        parts[count++] = atom;
    }
    return count ? join(c, CLEAVE_PREDICATE_AND, parts, count) : &predicate_true;
}

static const struct cleave_predicate *project(struct view *v, const struct fact *fact,
                                              const struct cleave_formula *f,
                                              const struct cleave_reference *r)
{
    struct cleave_compile *c = v->c;
    if (++c->work > CLEAVE_COMPILE_WORK_MAX)
        return &predicate_true;
    switch (f->kind) {
    case CLEAVE_FORMULA_FALSE:
        return &predicate_false;
    case CLEAVE_FORMULA_CONSTANT:
        return f->constant;
    case CLEAVE_FORMULA_ATOM:
        return project_atom(v, fact, f, r);
    case CLEAVE_FORMULA_AND:
    case CLEAVE_FORMULA_OR: {
        bool is_and = f->kind == CLEAVE_FORMULA_AND;
        uint32_t united = v->united.count, loose = v->loose;
        for (uint32_t i = 0; is_and && i < f->count; i++) {
            /* Equalities of a conjunction hold for its other parts. */
            if (f->children[i]->kind == CLEAVE_FORMULA_EQUAL)
                unite(v, fact, f->children[i]);
        }
        const struct cleave_predicate **children =
            cleave__compile_alloc(c, (size_t)f->count + 1, sizeof *children);
        for (uint32_t i = 0; i < f->count; i++)
            children[i] = project(v, fact, f->children[i], r);
        take_back(v, united, loose);
        return join(c, is_and ? CLEAVE_PREDICATE_AND : CLEAVE_PREDICATE_OR, children, f->count);
    }
    default:
        return &predicate_true;
    }
}

static const struct cleave_predicate *predicate_of(struct view *v, const struct cleave_reference *r)
{
    struct cleave_compile *c = v->c;
    const struct cleave_predicate **parts =
        cleave__compile_alloc(c, (size_t)v->facts.count + 1, sizeof *parts);
    for (uint32_t i = 0; i < v->facts.count; i++) {
        const struct fact *fact = &v->facts.items[i];
        parts[i] = project(v, fact, fact->formula, r);
    }
    return join(c, CLEAVE_PREDICATE_AND, parts, v->facts.count);
}

void cleave__compile_project(struct cleave_compile *c, struct cleave_template *out)
{
    uint32_t count = c->references.count;
    struct view *view = new_view(c);
    const struct cleave_predicate **predicates =
        cleave__compile_alloc(c, (size_t)count + 1, sizeof *predicates);
    out->programs = cleave__compile_keep(c, (size_t)count + 1, sizeof *out->programs);
    out->program_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct cleave_reference *r = &c->references.items[i];
        struct cleave_program *program = &out->programs[i];
        *program = (struct cleave_program){
            .table = r->table,
            .write = r->write,
            .locks = r->locks,
            .insert = r->insert,
            .conflict = r->conflict,
            .key_count = r->key_count,
            .keys = r->keys,
            .assigned_count = r->assigned_count,
            .assigned = r->assigned,
        };
        if (r->rows) {
            program->row_count = r->rows->row_count;
            program->column_count = r->rows->column_count;
            program->columns = r->rows->columns;
            program->values = r->rows->values;
            continue;
        }
        if (r->like != CLEAVE_NONE) { /* always an earlier one */
            predicates[i] = predicates[r->like];
        } else if (c->work > CLEAVE_COMPILE_WORK_MAX) {
            predicates[i] = &predicate_true;
        } else {
            if (view->block != r->block)
                look_from(view, r->block);
            predicates[i] = predicate_of(view, r);
        }
        program->predicate = predicates[i];
    }
}
