/* Constant expressions of a template, and their values once a statement's literals are bound.
 *
 * A template keeps the tree; each statement evaluates it against its own literals ("slots", in
 * order of appearance) and parameters. Whatever is not surely known is CLEAVE_SCALAR_UNKNOWN. */
#ifndef CLEAVE_TABLES_SQL_EXPRESSION_H
#define CLEAVE_TABLES_SQL_EXPRESSION_H

#include "tables/sql/family.h"
#include "tables/sql/lexer.h"
#include "tables/sql/parameter.h"

enum cleave_expression_kind {
    CLEAVE_EXPRESSION_SLOT,      /* literal `index`; `negate`: a minus folded into it */
    CLEAVE_EXPRESSION_PARAMETER, /* $index, from 1 */
    CLEAVE_EXPRESSION_TEXT,      /* a string that is part of the template */
    CLEAVE_EXPRESSION_NUMBER,    /* a number that is part of the template, in `text` */
    CLEAVE_EXPRESSION_BOOLEAN,   /* index 0 or 1 */
    CLEAVE_EXPRESSION_NULL,
    CLEAVE_EXPRESSION_CAST,       /* items[0] as `type`; items[1], if any: the modifier */
    CLEAVE_EXPRESSION_ARRAY,      /* items, each cast to `type` unless its family is ANY */
    CLEAVE_EXPRESSION_ARRAY_TEXT, /* items[0] is the text of an array, '{1,2}' */
    CLEAVE_EXPRESSION_NEGATE,
    CLEAVE_EXPRESSION_ADD,
    CLEAVE_EXPRESSION_SUBTRACT,
    CLEAVE_EXPRESSION_MULTIPLY,
    CLEAVE_EXPRESSION_DIVIDE,
    CLEAVE_EXPRESSION_MODULO,
    CLEAVE_EXPRESSION_CONCATENATE,
};

struct cleave_expression {
    enum cleave_expression_kind kind;
    uint32_t index;
    bool negate;
    struct cleave_domain_type type;
    const char *text;
    uint32_t length;
    uint32_t count;
    const struct cleave_expression **items;
};

enum cleave_scalar_kind {
    CLEAVE_SCALAR_UNKNOWN,
    CLEAVE_SCALAR_NULL,
    CLEAVE_SCALAR_NUMBER,  /* `value` is INTEGER or NUMBER */
    CLEAVE_SCALAR_LITERAL, /* text whose type the context decides; `value` is TEXT */
    CLEAVE_SCALAR_TYPED,   /* `value` is in the form of `family` */
};

struct cleave_scalar {
    enum cleave_scalar_kind kind;
    enum cleave_family family; /* TYPED */
    const char *type_name;     /* TYPED of family OTHER */
    bool parameter;            /* LITERAL: a bound parameter, whose type the client knew */
    bool sure;                 /* NUMBER: surely an integer type when `value` is INTEGER */
    struct cleave_value value;
};

/* One statement being bound. */
struct cleave_binding {
    const struct cleave_token *slots;
    uint32_t slot_count;
    const struct cleave_parameter *parameters;
    uint32_t parameter_count;
    struct cleave_arena *arena;
    bool out_of_memory; /* set once; results are then worthless */
    uint64_t work;      /* ranges handled; past a bound, predicates say nothing */
};

struct cleave_scalar cleave__scalar(struct cleave_binding *binding,
                                    const struct cleave_expression *expression);

struct cleave_scalars {
    uint32_t count;
    struct cleave_scalar *items;
};
/* The elements of an ARRAY or ARRAY_TEXT expression. False when they are not known. */
bool cleave__scalar_elements(struct cleave_binding *binding,
                             const struct cleave_expression *expression,
                             struct cleave_scalars *out);
/* The scalar as a value in the form of `family`. False when that is not surely it. */
bool cleave__scalar_convert(struct cleave_binding *binding, const struct cleave_scalar *scalar,
                            const struct cleave_domain_type *type, struct cleave_value *out);

#endif
