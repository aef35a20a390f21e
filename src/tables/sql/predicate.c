/* Evaluation of compiled predicates. See predicate.h. */
#include "tables/sql/predicate.h"

#include <string.h>

static void set_all(struct cleave_binding *b, struct cleave_boxes *out)
{
    out->boxes = cleave__arena_alloc(b->arena, sizeof *out->boxes);
    out->count = out->boxes ? 1 : 0;
    if (out->boxes)
        *out->boxes = (struct cleave_box){0, NULL};
    else
        b->out_of_memory = true;
}

/* 1 true, 0 not true, -1 not known: a comparison without a column. */
static int compare_constants(struct cleave_binding *b, const struct cleave_predicate *p)
{
    struct cleave_scalar x = cleave__scalar(b, p->items[0]);
    enum cleave_operator op = p->op;
    if (op == CLEAVE_OPERATOR_IS_NULL || op == CLEAVE_OPERATOR_NOT_NULL) {
        if (x.kind == CLEAVE_SCALAR_UNKNOWN)
            return -1;
        return (x.kind == CLEAVE_SCALAR_NULL) == (op == CLEAVE_OPERATOR_IS_NULL);
    }
    struct cleave_scalar y = cleave__scalar(b, p->items[1]);
    if (x.kind == CLEAVE_SCALAR_NULL || y.kind == CLEAVE_SCALAR_NULL) {
        bool both = x.kind == CLEAVE_SCALAR_NULL && y.kind == CLEAVE_SCALAR_NULL;
        if (op != CLEAVE_OPERATOR_DISTINCT && op != CLEAVE_OPERATOR_NOT_DISTINCT)
            return 0;
        if (x.kind == CLEAVE_SCALAR_UNKNOWN || y.kind == CLEAVE_SCALAR_UNKNOWN)
            return -1;
        return both == (op == CLEAVE_OPERATOR_NOT_DISTINCT);
    }
    int order;
    bool numbers = x.kind == CLEAVE_SCALAR_NUMBER || y.kind == CLEAVE_SCALAR_NUMBER;
    struct cleave_domain_type type = {.family = CLEAVE_FAMILY_NUMERIC, .modifier = -1};
    struct cleave_value u, v;
    if (x.kind == CLEAVE_SCALAR_TYPED && y.kind == CLEAVE_SCALAR_TYPED && x.family != y.family)
        return -1;
    if (x.kind == CLEAVE_SCALAR_TYPED || y.kind == CLEAVE_SCALAR_TYPED) {
        type.family = x.kind == CLEAVE_SCALAR_TYPED ? x.family : y.family;
        numbers = true;
        if (type.family == CLEAVE_FAMILY_FLOAT4 || type.family == CLEAVE_FAMILY_OTHER ||
            type.family == CLEAVE_FAMILY_OPAQUE)
            return -1;
    }
    if (numbers) {
        if (!cleave__scalar_convert(b, &x, &type, &u) || !cleave__scalar_convert(b, &y, &type, &v))
            return -1;
        order = cleave__value_compare(&u, &v);
    } else {
        if (x.kind != CLEAVE_SCALAR_LITERAL || y.kind != CLEAVE_SCALAR_LITERAL)
            return -1;
        order = cleave__value_compare(&x.value, &y.value);
        /* Of parameters the type is not known: only equal texts are surely equal. */
        if ((x.parameter || y.parameter) && order != 0)
            return -1;
    }
    switch (op) {
    case CLEAVE_OPERATOR_EQ:
    case CLEAVE_OPERATOR_NOT_DISTINCT:
        return order == 0;
    case CLEAVE_OPERATOR_NE:
    case CLEAVE_OPERATOR_DISTINCT:
        return order != 0;
    case CLEAVE_OPERATOR_LT:
        return order < 0;
    case CLEAVE_OPERATOR_LE:
        return order <= 0;
    case CLEAVE_OPERATOR_GT:
        return order > 0;
    case CLEAVE_OPERATOR_GE:
        return order >= 0;
    default:
        return -1;
    }
}

static bool may_hold(struct cleave_binding *b, const struct cleave_predicate *p)
{
    if (p->kind == CLEAVE_PREDICATE_CONSTANT)
        return compare_constants(b, p) != 0;
    struct cleave_scalar x = cleave__scalar(b, p->items[0]);
    static const struct cleave_domain_type boolean = {.family = CLEAVE_FAMILY_BOOLEAN,
                                                      .modifier = -1};
    struct cleave_value value;
    if (x.kind == CLEAVE_SCALAR_NULL)
        return false;
    if (!cleave__scalar_convert(b, &x, &boolean, &value) || value.kind != CLEAVE_INTEGER)
        return true;
    return value.integer == (int64_t)p->index;
}

static void evaluate_and(struct cleave_binding *b, const struct cleave_predicate *p,
                         struct cleave_boxes *out)
{
    uint32_t atoms = 0, others = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        atoms += p->children[i]->kind == CLEAVE_PREDICATE_ATOM;
        others += p->children[i]->kind == CLEAVE_PREDICATE_AND ||
                  p->children[i]->kind == CLEAVE_PREDICATE_OR;
    }
    out->count = 0;
    struct cleave_box *box = cleave__arena_alloc(b->arena, sizeof *box);
    struct cleave_term *terms = cleave__arena_array(b->arena, atoms, sizeof *terms);
    if (!box || !terms) {
        b->out_of_memory = true;
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cleave_predicate *child = p->children[i];
        struct cleave_domain domain;
        switch (child->kind) {
        case CLEAVE_PREDICATE_ATOM:
            cleave__atom_domain(b, child, &domain);
            if (!cleave__terms_add(b, terms, &n, child->column, &domain))
                return;
            break;
        case CLEAVE_PREDICATE_FALSE:
            return;
        case CLEAVE_PREDICATE_CONSTANT:
        case CLEAVE_PREDICATE_TRUTH:
            if (!may_hold(b, child))
                return;
            break;
        default:
            break;
        }
    }
    *box = (struct cleave_box){n, terms};
    struct cleave_boxes result = {1, box};
    for (uint32_t i = 0; others && i < p->count && result.count; i++) {
        const struct cleave_predicate *child = p->children[i];
        struct cleave_boxes part;
        if (child->kind != CLEAVE_PREDICATE_AND && child->kind != CLEAVE_PREDICATE_OR)
            continue;
        cleave__predicate_boxes(b, child, &part);
        if (b->out_of_memory)
            return;
        cleave__boxes_intersect(b, &result, &part, &result);
    }
    *out = result;
}

static void evaluate_or(struct cleave_binding *b, const struct cleave_predicate *p,
                        struct cleave_boxes *out)
{
    struct cleave_boxes result = {0, NULL};
    uint32_t capacity = p->count;
    out->count = 0;
    result.boxes = cleave__arena_array(b->arena, capacity, sizeof *result.boxes);
    if (!result.boxes) {
        b->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        struct cleave_boxes part;
        cleave__predicate_boxes(b, p->children[i], &part);
        if (b->out_of_memory)
            return;
        if (part.count > capacity - result.count) {
            uint32_t larger = 2 * capacity + part.count;
            struct cleave_box *boxes = cleave__arena_array(b->arena, larger, sizeof *boxes);
            if (!boxes) {
                b->out_of_memory = true;
                return;
            }
            memcpy(boxes, result.boxes, result.count * sizeof *boxes);
            result.boxes = boxes;
            capacity = larger;
        }
        if (part.count)
            memcpy(&result.boxes[result.count], part.boxes, part.count * sizeof *part.boxes);
        result.count += part.count;
    }
    cleave__boxes_reduce(b, &result);
    *out = result;
}

void cleave__predicate_boxes(struct cleave_binding *binding,
                             const struct cleave_predicate *predicate, struct cleave_boxes *out)
{
    *out = (struct cleave_boxes){0, NULL};
    switch (predicate->kind) {
    case CLEAVE_PREDICATE_FALSE:
        return;
    case CLEAVE_PREDICATE_AND:
        evaluate_and(binding, predicate, out);
        return;
    case CLEAVE_PREDICATE_OR:
        evaluate_or(binding, predicate, out);
        return;
    case CLEAVE_PREDICATE_ATOM: {
        const struct cleave_predicate *only[] = {predicate};
        struct cleave_predicate one = {.kind = CLEAVE_PREDICATE_AND, .count = 1, .children = only};
        evaluate_and(binding, &one, out);
        return;
    }
    case CLEAVE_PREDICATE_CONSTANT:
    case CLEAVE_PREDICATE_TRUTH:
        if (may_hold(binding, predicate))
            set_all(binding, out);
        return;
    case CLEAVE_PREDICATE_TRUE:
    default:
        set_all(binding, out);
        return;
    }
}
