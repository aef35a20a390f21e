/* One statement as the oracle understands it: row variables and a tree of conditions.
 *
 * A *reference* is one mention of a table; its columns are *variables*, made when first named. A
 * *block* is one query level, with the conditions its rows must meet; blocks form a tree. A
 * *target* is a reference whose rows the statement reads or writes. Conditions are in negation
 * normal form: NOT has been pushed down to the atoms, where three-valued logic makes `NOT x = 5`
 * the same as `x <> 5` (NULL satisfies neither). What is not understood is TRUE: it may hold.
 *
 * Everything lives in the program's arena and vectors, and is reused from statement to statement.
 * `status` is sticky: builders return something harmless after a failure, the caller looks once. */
#ifndef CLEAVE_TABLES_ORACLE_PROGRAM_H
#define CLEAVE_TABLES_ORACLE_PROGRAM_H

#include <jansson.h>

#include "base/arena.h"
#include "base/vector.h"
#include "tables/oracle/sort.h"
#include "tables/source/schema.h"
#include "tables/sql/parameter.h"
#include "tables/sql/value.h"

enum { ORACLE_NONE = UINT32_MAX };

enum oracle_op {
    ORACLE_TRUE,
    ORACLE_FALSE,
    ORACLE_AND,
    ORACLE_OR,
    ORACLE_RANGE,    /* variable lies in range (never NULL) */
    ORACLE_SET,      /* variable is one of values (sorted, distinct, none NULL) */
    ORACLE_EQUAL,    /* variable = other, both not NULL */
    ORACLE_SAME,     /* variable and other are one value, or both NULL */
    ORACLE_NULL,     /* variable is NULL */
    ORACLE_NOT_NULL, /* variable is not NULL */
    ORACLE_NOTHING,  /* TRUE, of a node that was something else */
    ORACLE_STRICT,   /* not understood, but not true when variable (or other) is NULL */
    ORACLE_OUTER,    /* child 0 holds, or every variable of side[0] is NULL */
    ORACLE_FULL,     /* children 0 (ON), 1 (left) and 2 (right) hold; or 1, and side[1] is NULL;
                        or 2, and side[0] is NULL */
    ORACLE_BLOCK,    /* the conditions of the block hold */
    ORACLE_LATE,     /* a condition on a column whose type is not known yet; see _finish */
};

struct oracle_node {
    enum oracle_op op;
    uint32_t variable, other;
    bool lax; /* RANGE: made by IS NOT DISTINCT FROM; does not rule out padding by a join */
    uint32_t side[2];
    uint32_t block;
    uint32_t inside[2]; /* OUTER: blocks of queries nested in it, from and to */
    uint32_t count;     /* of children or values */
    struct oracle_node **children;
    struct cleave_value *values;
    struct cleave_range range;
};

struct oracle_list { /* a conjunction under construction */
    CLEAVE_VECTOR(struct oracle_node *) items;
};

struct oracle_variable {
    enum oracle_sort sort;
    uint32_t block;        /* whose rows it belongs to */
    const char *type_name; /* as declared; may be NULL */
    bool null_named;       /* some condition asks whether it is NULL */
    uint32_t side;         /* innermost nullable side it belongs to, or ORACLE_NONE */
    uint32_t pool;         /* union-find parent: variables that some equality ties together */
};

struct oracle_slot { /* column of a reference -> variable */
    uint32_t column, variable;
    struct oracle_slot *next;
};

struct oracle_reference {
    uint32_t table;
    uint32_t block;
    uint32_t side;
    uint32_t old; /* the row this one is made of by UPDATE, or ORACLE_NONE */
    struct oracle_slot *slots;
};

/* How far conditions around a block reach its rows. MASKED: what they say of its own columns does
 * not count, as filtering outside is not filtering inside (LIMIT, windows). */
enum oracle_flow { ORACLE_FLOW_ALL, ORACLE_FLOW_MASKED, ORACLE_FLOW_NONE };

struct oracle_block {
    uint32_t parent;
    enum oracle_flow flow;
    struct oracle_node *where; /* filled when the block is complete; NULL is TRUE */
};

struct oracle_side { /* the side of an outer join that may be padded with NULLs */
    uint32_t parent;
    uint32_t block;
};

struct oracle_target {
    uint32_t reference, block;
    bool write;
    bool fresh; /* a row that is not there yet */
};

struct oracle_constant { /* every constant a variable is compared with */
    uint32_t variable;   /* after _finish: the root of its pool */
    struct cleave_value value;
};

struct oracle_program;

struct oracle_late {
    struct oracle_node *node;
    uint32_t variable;
    struct oracle_node *(*make)(struct oracle_program *p, void *context);
    void *context;
};

struct oracle_program {
    const struct cleave_schema *schema;
    struct cleave_arena *arena;
    const char *text; /* of the statement; NULL while a view is compiled */
    size_t length;
    const struct cleave_parameter *parameters;
    uint32_t parameter_count;
    /* The tree of a view's query, borrowed; NULL when it cannot be had. */
    const json_t *(*view)(void *context, uint32_t table);
    void *view_context;

    const json_t *statement; /* the whole, or a view's query: where names of CTEs are counted */
    enum cleave_status status;
    uint32_t depth;      /* of nested expressions and queries being compiled */
    uint32_t expansions; /* views and CTEs expanded so far */
    uint32_t shadow;     /* > 0: a second reading of a CTE that writes; makes no targets */
    uint32_t side;       /* nullable side being compiled */
    bool loose;          /* some columns are the same, NULLs included */

    CLEAVE_VECTOR(struct oracle_variable) variables;
    CLEAVE_VECTOR(struct oracle_reference) references;
    CLEAVE_VECTOR(struct oracle_block) blocks;
    CLEAVE_VECTOR(struct oracle_side) sides;
    CLEAVE_VECTOR(struct oracle_target) targets;
    CLEAVE_VECTOR(struct oracle_constant) constants;
    CLEAVE_VECTOR(struct oracle_late) late;
    CLEAVE_VECTOR(struct oracle_node *) equals; /* EQUAL and SAME nodes; pools come of them */
};

/* program.c */
void cleave__oracle_program_reset(struct oracle_program *p);
void cleave__oracle_program_free(struct oracle_program *p);
void cleave__oracle_fail(struct oracle_program *p, enum cleave_status status);
uint32_t cleave__oracle_block(struct oracle_program *p, uint32_t parent, enum oracle_flow flow);
uint32_t cleave__oracle_side(struct oracle_program *p, uint32_t block);
uint32_t cleave__oracle_reference(struct oracle_program *p, uint32_t table, uint32_t block);
void cleave__oracle_target(struct oracle_program *p, uint32_t reference, uint32_t block, bool write,
                           bool fresh);
/* Once the statement is compiled: types late conditions, sorts the constants by pool. */
void cleave__oracle_program_finish(struct oracle_program *p);
/* A condition on a column without a type, to be made when its pool has one. `make` gets `context`
 * back, and may leave the variable as it is. */
struct oracle_node *cleave__oracle_late(struct oracle_program *p, uint32_t variable,
                                        struct oracle_node *(*make)(struct oracle_program *p,
                                                                    void *context),
                                        void *context);
/* The constants of a variable's pool; valid after _finish. */
const struct oracle_constant *cleave__oracle_constants(const struct oracle_program *p,
                                                       uint32_t variable, size_t *count);
uint32_t cleave__oracle_variable(struct oracle_program *p, enum oracle_sort sort,
                                 const char *type_name, uint32_t block);
/* The variable of a column, made when there is none. */
uint32_t cleave__oracle_column(struct oracle_program *p, uint32_t reference, uint32_t column);
/* The variable of a column, or ORACLE_NONE while the statement has not named it. */
uint32_t cleave__oracle_column_find(const struct oracle_program *p, uint32_t reference,
                                    uint32_t column);
/* Makes `column` of `reference` the same thing as `variable`. */
void cleave__oracle_alias(struct oracle_program *p, uint32_t reference, uint32_t column,
                          uint32_t variable);
uint32_t cleave__oracle_pool(const struct oracle_program *p, uint32_t variable);
/* A nullable side and all that is nested in it. */
bool cleave__oracle_side_within(const struct oracle_program *p, uint32_t side, uint32_t outer);

struct oracle_node *cleave__oracle_truth(struct oracle_program *p, bool truth);
/* AND or OR of two; either may be a constant. */
struct oracle_node *cleave__oracle_join(struct oracle_program *p, enum oracle_op op,
                                        struct oracle_node *a, struct oracle_node *b);
struct oracle_node *cleave__oracle_many(struct oracle_program *p, enum oracle_op op,
                                        struct oracle_node *const *items, size_t count);
/* `op` is EQUAL or SAME. */
struct oracle_node *cleave__oracle_equal(struct oracle_program *p, enum oracle_op op, uint32_t a,
                                         uint32_t b);
/* `b` may be ORACLE_NONE. */
struct oracle_node *cleave__oracle_strict(struct oracle_program *p, uint32_t a, uint32_t b);
struct oracle_node *cleave__oracle_null(struct oracle_program *p, uint32_t variable, bool is_null);
struct oracle_node *cleave__oracle_range(struct oracle_program *p, uint32_t variable,
                                         const struct cleave_range *range);
/* `values` is sorted and freed of doubles in place. */
struct oracle_node *cleave__oracle_set(struct oracle_program *p, uint32_t variable,
                                       struct cleave_value *values, uint32_t count);
struct oracle_node *cleave__oracle_node(struct oracle_program *p, enum oracle_op op);

void cleave__oracle_push(struct oracle_program *p, struct oracle_list *list,
                         struct oracle_node *node);
/* The conjunction of the list, which is freed. */
struct oracle_node *cleave__oracle_close(struct oracle_program *p, struct oracle_list *list);

#endif
