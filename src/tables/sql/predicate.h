/* A compiled condition on one table's rows, and its boxes once constants are bound.
 *
 * What a template keeps of WHERE and ON for one table: a tree of AND and OR over atoms "column
 * operator constant". NOT is pushed into the operators and unknown parts are gone (they say
 * nothing), so the rows that make the statement's condition true all lie in the result. */
#ifndef CLEAVE_TABLES_SQL_PREDICATE_H
#define CLEAVE_TABLES_SQL_PREDICATE_H

#include "tables/sql/boxes.h"

enum cleave_operator {
    CLEAVE_OPERATOR_EQ,
    CLEAVE_OPERATOR_NE,
    CLEAVE_OPERATOR_LT,
    CLEAVE_OPERATOR_LE,
    CLEAVE_OPERATOR_GT,
    CLEAVE_OPERATOR_GE,
    CLEAVE_OPERATOR_IN,       /* any of the items */
    CLEAVE_OPERATOR_NOT_IN,   /* none of the items */
    CLEAVE_OPERATOR_LIKE,     /* items[0] pattern, items[1] escape if given */
    CLEAVE_OPERATOR_IS_NULL,  /* no item */
    CLEAVE_OPERATOR_NOT_NULL, /* no item */
    CLEAVE_OPERATOR_DISTINCT, /* IS DISTINCT FROM */
    CLEAVE_OPERATOR_NOT_DISTINCT,
};

enum cleave_predicate_kind {
    CLEAVE_PREDICATE_TRUE,
    CLEAVE_PREDICATE_FALSE,
    CLEAVE_PREDICATE_AND,
    CLEAVE_PREDICATE_OR,
    CLEAVE_PREDICATE_ATOM,
    CLEAVE_PREDICATE_CONSTANT, /* items[0] op items[1]: no column in it */
    CLEAVE_PREDICATE_TRUTH,    /* items[0] is true (index 1) or false (index 0) */
};

struct cleave_predicate {
    enum cleave_predicate_kind kind;
    enum cleave_operator op;
    uint32_t column;                  /* ATOM */
    uint32_t index;                   /* TRUTH */
    struct cleave_domain_type reads;  /* ATOM: how constants are read: the compared column's type */
    struct cleave_domain_type target; /* ATOM: the type of `column` */
    uint32_t count;
    union {
        const struct cleave_expression **items;
        const struct cleave_predicate **children;
    };
};

/* `out->count` 0: no row. On out of memory (binding->out_of_memory) the result is worthless. */
void cleave__predicate_boxes(struct cleave_binding *binding,
                             const struct cleave_predicate *predicate, struct cleave_boxes *out);
/* The values of one atom. */
void cleave__atom_domain(struct cleave_binding *binding, const struct cleave_predicate *atom,
                         struct cleave_domain *out);

#endif
