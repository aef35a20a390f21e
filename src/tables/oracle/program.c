/* Building blocks of a program: variables, references, blocks and condition nodes.
 *
 * Invariant: every index handed out is valid even after a failure, or ORACLE_NONE; nodes are never
 * NULL (a failure yields the static TRUE, which is never written to). */
#include "tables/oracle/program.h"

#include <stdlib.h>
#include <string.h>

/* Shared by every program, and never written to: writing would trap. */
static const struct oracle_node always = {.op = ORACLE_TRUE};
static const struct oracle_node never = {.op = ORACLE_FALSE};

void cleave__oracle_fail(struct oracle_program *p, enum cleave_status status)
{
    if (p->status == CLEAVE_OK)
        p->status = status;
}

void cleave__oracle_program_reset(struct oracle_program *p)
{
    p->status = CLEAVE_OK;
    p->depth = p->expansions = p->shadow = 0;
    p->side = ORACLE_NONE;
    p->loose = false;
    p->variables.count = p->references.count = p->blocks.count = 0;
    p->sides.count = p->targets.count = p->constants.count = p->late.count = p->equals.count = 0;
}

void cleave__oracle_program_free(struct oracle_program *p)
{
    CLEAVE_VECTOR_FREE(&p->variables);
    CLEAVE_VECTOR_FREE(&p->references);
    CLEAVE_VECTOR_FREE(&p->blocks);
    CLEAVE_VECTOR_FREE(&p->sides);
    CLEAVE_VECTOR_FREE(&p->targets);
    CLEAVE_VECTOR_FREE(&p->constants);
    CLEAVE_VECTOR_FREE(&p->late);
    CLEAVE_VECTOR_FREE(&p->equals);
}

/* Pushes or fails; the value is the new element's index. */
#define ADD(p, vector, ...)                                                                        \
    (CLEAVE_PUSH(&(p)->vector, __VA_ARGS__)                                                        \
         ? (uint32_t)((p)->vector.count - 1)                                                       \
         : (cleave__oracle_fail((p), CLEAVE_NO_MEMORY), (uint32_t)ORACLE_NONE))

uint32_t cleave__oracle_block(struct oracle_program *p, uint32_t parent, enum oracle_flow flow)
{
    return ADD(p, blocks, (struct oracle_block){.parent = parent, .flow = flow});
}

uint32_t cleave__oracle_side(struct oracle_program *p, uint32_t block)
{
    return ADD(p, sides, (struct oracle_side){.parent = p->side, .block = block});
}

uint32_t cleave__oracle_reference(struct oracle_program *p, uint32_t table, uint32_t block)
{
    return ADD(p, references,
               (struct oracle_reference){
                   .table = table, .block = block, .side = p->side, .old = ORACLE_NONE});
}

void cleave__oracle_target(struct oracle_program *p, uint32_t reference, uint32_t block, bool write,
                           bool fresh)
{
    if (p->shadow == 0 && reference != ORACLE_NONE)
        (void)ADD(p, targets, (struct oracle_target){reference, block, write, fresh});
}

static uint32_t add_variable(struct oracle_program *p, enum oracle_sort sort, const char *type_name,
                             uint32_t block, uint32_t side)
{
    uint32_t self = (uint32_t)p->variables.count;
    return ADD(
        p, variables,
        (struct oracle_variable){
            .sort = sort, .block = block, .type_name = type_name, .side = side, .pool = self});
}

uint32_t cleave__oracle_variable(struct oracle_program *p, enum oracle_sort sort,
                                 const char *type_name, uint32_t block)
{
    return add_variable(p, sort, type_name, block, p->side);
}

uint32_t cleave__oracle_column_find(const struct oracle_program *p, uint32_t reference,
                                    uint32_t column)
{
    if (reference == ORACLE_NONE)
        return ORACLE_NONE;
    for (const struct oracle_slot *s = p->references.data[reference].slots; s; s = s->next) {
        if (s->column == column)
            return s->variable;
    }
    return ORACLE_NONE;
}

void cleave__oracle_alias(struct oracle_program *p, uint32_t reference, uint32_t column,
                          uint32_t variable)
{
    struct oracle_slot *slot = cleave__arena_alloc(p->arena, sizeof *slot);
    if (!slot || reference == ORACLE_NONE || variable == ORACLE_NONE) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    struct oracle_reference *r = &p->references.data[reference];
    *slot = (struct oracle_slot){column, variable, r->slots};
    r->slots = slot;
}

uint32_t cleave__oracle_column(struct oracle_program *p, uint32_t reference, uint32_t column)
{
    uint32_t found = cleave__oracle_column_find(p, reference, column);
    if (found != ORACLE_NONE || reference == ORACLE_NONE)
        return found;
    const struct oracle_reference *r = &p->references.data[reference];
    const struct cleave_column *c = &p->schema->tables[r->table].columns[column];
    found = add_variable(p, cleave__oracle_sort(c->type, c->type_name), c->type_name, r->block,
                         r->side);
    if (found != ORACLE_NONE)
        cleave__oracle_alias(p, reference, column, found);
    return found;
}

uint32_t cleave__oracle_pool(const struct oracle_program *p, uint32_t variable)
{
    while (p->variables.data[variable].pool != variable)
        variable = p->variables.data[variable].pool;
    return variable;
}

bool cleave__oracle_side_within(const struct oracle_program *p, uint32_t side, uint32_t outer)
{
    for (; side != ORACLE_NONE; side = p->sides.data[side].parent) {
        if (side == outer)
            return true;
    }
    return false;
}

struct oracle_node *cleave__oracle_truth(struct oracle_program *p, bool truth)
{
    (void)p;
    return (struct oracle_node *)(truth ? &always : &never);
}

struct oracle_node *cleave__oracle_node(struct oracle_program *p, enum oracle_op op)
{
    struct oracle_node *node = cleave__arena_zalloc(p->arena, sizeof *node);
    if (!node) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return NULL;
    }
    node->op = op;
    node->variable = node->other = node->side[0] = node->side[1] = node->block = ORACLE_NONE;
    return node;
}

/* An equality that is one of several alternatives ties nothing together. */
static void loosen(struct oracle_node *node)
{
    if (node->op == ORACLE_EQUAL)
        node->op = ORACLE_STRICT;
    else if (node->op == ORACLE_SAME)
        node->op = ORACLE_NOTHING;
}

struct oracle_node *cleave__oracle_many(struct oracle_program *p, enum oracle_op op,
                                        struct oracle_node *const *items, size_t count)
{
    enum oracle_op neutral = op == ORACLE_AND ? ORACLE_TRUE : ORACLE_FALSE;
    enum oracle_op absorbing = op == ORACLE_AND ? ORACLE_FALSE : ORACLE_TRUE;
    size_t kept = 0;
    struct oracle_node *only = NULL;
    for (size_t i = 0; i < count; i++) {
        if (items[i]->op == absorbing)
            return cleave__oracle_truth(p, op == ORACLE_OR);
        if (items[i]->op != neutral) {
            only = items[i];
            kept++;
        }
    }
    if (kept == 0)
        return cleave__oracle_truth(p, op == ORACLE_AND);
    if (kept == 1)
        return only;
    for (size_t i = 0; op == ORACLE_OR && i < count; i++)
        loosen(items[i]);
    struct oracle_node *node = cleave__oracle_node(p, op);
    if (!node)
        return (struct oracle_node *)&always;
    node->children = cleave__arena_array(p->arena, kept, sizeof *node->children);
    if (!node->children) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return (struct oracle_node *)&always;
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i]->op != neutral)
            node->children[node->count++] = items[i];
    }
    return node;
}

struct oracle_node *cleave__oracle_join(struct oracle_program *p, enum oracle_op op,
                                        struct oracle_node *a, struct oracle_node *b)
{
    struct oracle_node *both[2] = {a, b};
    return cleave__oracle_many(p, op, both, 2);
}

/* cleave__oracle_pool, halving the path on the way. */
static uint32_t pool_shorten(struct oracle_program *p, uint32_t v)
{
    struct oracle_variable *all = p->variables.data;
    while (all[v].pool != v) {
        all[v].pool = all[all[v].pool].pool;
        v = all[v].pool;
    }
    return v;
}

struct oracle_node *cleave__oracle_equal(struct oracle_program *p, enum oracle_op op, uint32_t a,
                                         uint32_t b)
{
    struct oracle_node *node = cleave__oracle_node(p, op);
    if (!node || a == ORACLE_NONE || b == ORACLE_NONE)
        return (struct oracle_node *)&always;
    node->variable = a;
    node->other = b;
    if (!CLEAVE_PUSH(&p->equals, node))
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
    return node;
}

struct oracle_node *cleave__oracle_strict(struct oracle_program *p, uint32_t a, uint32_t b)
{
    struct oracle_node *node = cleave__oracle_node(p, ORACLE_STRICT);
    if (!node || a == ORACLE_NONE)
        return (struct oracle_node *)&always;
    node->variable = a;
    node->other = b;
    return node;
}

struct oracle_node *cleave__oracle_null(struct oracle_program *p, uint32_t variable, bool is_null)
{
    struct oracle_node *node = cleave__oracle_node(p, is_null ? ORACLE_NULL : ORACLE_NOT_NULL);
    if (!node || variable == ORACLE_NONE)
        return (struct oracle_node *)&always;
    node->variable = variable;
    p->variables.data[variable].null_named |= is_null;
    return node;
}

static void remember(struct oracle_program *p, uint32_t variable, const struct cleave_value *value)
{
    (void)ADD(p, constants, (struct oracle_constant){variable, *value});
}

struct oracle_node *cleave__oracle_range(struct oracle_program *p, uint32_t variable,
                                         const struct cleave_range *range)
{
    struct oracle_node *node = cleave__oracle_node(p, ORACLE_RANGE);
    if (!node || variable == ORACLE_NONE)
        return (struct oracle_node *)&always;
    node->variable = variable;
    node->range = *range;
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED))
        remember(p, variable, &range->low);
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED))
        remember(p, variable, &range->high);
    return node;
}

static int value_order(const void *a, const void *b)
{
    return cleave__value_compare(a, b);
}

struct oracle_node *cleave__oracle_set(struct oracle_program *p, uint32_t variable,
                                       struct cleave_value *values, uint32_t count)
{
    struct oracle_node *node = cleave__oracle_node(p, ORACLE_SET);
    if (!node || variable == ORACLE_NONE)
        return (struct oracle_node *)&always;
    if (count)
        qsort(values, count, sizeof *values, value_order);
    uint32_t kept = count > 0;
    for (uint32_t i = 1; i < count; i++) {
        if (cleave__value_compare(&values[kept - 1], &values[i]) != 0)
            values[kept++] = values[i];
    }
    node->variable = variable;
    node->values = values;
    node->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        remember(p, variable, &values[i]);
    return node;
}

void cleave__oracle_push(struct oracle_program *p, struct oracle_list *list,
                         struct oracle_node *node)
{
    if (node->op != ORACLE_TRUE && !CLEAVE_PUSH(&list->items, node))
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
}

struct oracle_node *cleave__oracle_close(struct oracle_program *p, struct oracle_list *list)
{
    struct oracle_node *node =
        cleave__oracle_many(p, ORACLE_AND, list->items.data, list->items.count);
    CLEAVE_VECTOR_FREE(&list->items);
    return node;
}

static int constant_order(const void *a, const void *b)
{
    const struct oracle_constant *x = a, *y = b;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    return cleave__value_compare(&x->value, &y->value);
}

struct oracle_node *cleave__oracle_late(struct oracle_program *p, uint32_t variable,
                                        struct oracle_node *(*make)(struct oracle_program *p,
                                                                    void *context),
                                        void *context)
{
    struct oracle_node *node = cleave__oracle_node(p, ORACLE_LATE);
    if (!node)
        return (struct oracle_node *)&always;
    (void)ADD(p, late, (struct oracle_late){node, variable, make, context});
    return node;
}

/* Columns without a type take that of a column they equal; their conditions are made then. */
static void type_late(struct oracle_program *p)
{
    size_t count = p->variables.count;
    uint32_t *typed = p->late.count ? malloc(count * sizeof *typed) : NULL;
    if (!p->late.count)
        return;
    if (!typed) {
        cleave__oracle_fail(p, CLEAVE_NO_MEMORY);
        return;
    }
    for (size_t v = 0; v < count; v++)
        typed[v] = ORACLE_NONE;
    for (size_t v = 0; v < count; v++) {
        uint32_t pool = pool_shorten(p, (uint32_t)v);
        if (p->variables.data[v].sort != ORACLE_SORT_ANY && typed[pool] == ORACLE_NONE)
            typed[pool] = (uint32_t)v;
    }
    for (size_t v = 0; v < count; v++) {
        uint32_t like = typed[pool_shorten(p, (uint32_t)v)];
        struct oracle_variable *variable = &p->variables.data[v];
        if (variable->sort == ORACLE_SORT_ANY && like != ORACLE_NONE) {
            variable->sort = p->variables.data[like].sort;
            variable->type_name = p->variables.data[like].type_name;
        }
    }
    free(typed);
    for (size_t i = 0; i < p->late.count && p->status == CLEAVE_OK; i++) {
        const struct oracle_late late = p->late.data[i];
        *late.node = p->variables.data[late.variable].sort == ORACLE_SORT_ANY
                         ? always
                         : *late.make(p, late.context);
    }
}

/* Ties variables that `equals` from `first` on make equal into pools. */
static void tie(struct oracle_program *p, size_t first)
{
    for (size_t i = first; i < p->equals.count; i++) {
        const struct oracle_node *node = p->equals.data[i];
        if (node->op != ORACLE_EQUAL && node->op != ORACLE_SAME)
            continue;
        p->loose |= node->op == ORACLE_SAME;
        uint32_t a = pool_shorten(p, node->variable), b = pool_shorten(p, node->other);
        if (a < b)
            p->variables.data[b].pool = a;
        else
            p->variables.data[a].pool = b;
    }
}

void cleave__oracle_program_finish(struct oracle_program *p)
{
    tie(p, 0);
    size_t tied = p->equals.count;
    type_late(p);
    tie(p, tied);
    for (size_t i = 0; i < p->constants.count; i++)
        p->constants.data[i].variable = pool_shorten(p, p->constants.data[i].variable);
    if (p->constants.count)
        qsort(p->constants.data, p->constants.count, sizeof *p->constants.data, constant_order);
}

const struct oracle_constant *cleave__oracle_constants(const struct oracle_program *p,
                                                       uint32_t variable, size_t *count)
{
    uint32_t pool = cleave__oracle_pool(p, variable);
    size_t low = 0, high = p->constants.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->constants.data[middle].variable < pool)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < p->constants.count && p->constants.data[end].variable == pool)
        end++;
    *count = end - low;
    return p->constants.data ? p->constants.data + low : NULL;
}
