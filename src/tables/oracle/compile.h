/* From libpg_query's JSON tree to a program: what the compiling files know of one another. */
#ifndef CLEAVE_TABLES_ORACLE_COMPILE_H
#define CLEAVE_TABLES_ORACLE_COMPILE_H

#include "tables/oracle/program.h"

enum oracle_expr_kind {
    ORACLE_EXPR_UNKNOWN, /* could be any value */
    ORACLE_EXPR_VARIABLE,
    ORACLE_EXPR_NULL,
    ORACLE_EXPR_NUMBER,  /* value is INTEGER or NUMBER */
    ORACLE_EXPR_LITERAL, /* value is TEXT, whose type is that of what it meets */
    ORACLE_EXPR_TYPED,   /* value is of `sort` */
};

struct oracle_expr {
    enum oracle_expr_kind kind;
    uint32_t variable;
    struct cleave_value value;
    enum oracle_sort sort; /* TYPED */
    const char *type_name; /* TYPED of sort LABEL */
    bool parameter;        /* LITERAL: the client knew its type, we do not */
    bool sure;             /* NUMBER: surely of an integer type, when it is INTEGER */
};

struct oracle_output { /* a column that a query or a FROM item yields */
    const char *name;
    struct oracle_expr expr;
};

struct oracle_outputs {
    struct oracle_output *items; /* arena */
    uint32_t count, capacity;
};

enum oracle_relation_kind {
    ORACLE_RELATION_TABLE,
    ORACLE_RELATION_OUTPUTS,
    ORACLE_RELATION_OPAQUE, /* columns not known */
    ORACLE_RELATION_JOIN,   /* an alias for the relations first..last */
};

struct oracle_relation {
    const char *name;
    enum oracle_relation_kind kind;
    uint32_t reference;
    struct oracle_outputs outputs;
    uint32_t first, last;
};

struct oracle_merged { /* a column that USING or NATURAL made of two */
    const char *name;
    struct oracle_expr expr;
    uint32_t first, last; /* relations of the join */
};

struct oracle_cte {
    const char *name;
    const json_t *query; /* the statement node */
    const json_t *aliases;
    struct oracle_scope *scope; /* where its query is compiled */
    uint32_t uses; /* names like it in the statement: a single one takes the query's place */
    bool writes, alone, recursive, active, compiled;
    struct oracle_cte *next; /* the one before it in the same WITH */
};

struct oracle_scope {
    struct oracle_scope *outer;
    struct oracle_cte *ctes;
    uint32_t block;
    struct oracle_relation *relations; /* arena */
    uint32_t relation_count, relation_capacity;
    struct oracle_merged *merged; /* arena */
    uint32_t merged_count, merged_capacity;
};

/* json.c: reading the tree. Names are "" when absent. */
const json_t *cleave__oracle_is(const json_t *node, const char *kind); /* {"Kind": body} -> body */
const char *cleave__oracle_text(const json_t *body, const char *field);
const char *cleave__oracle_string(const json_t *node); /* {"String": {"sval": s}} -> s */
bool cleave__oracle_flag(const json_t *body, const char *field);
/* Last name of a list of String nodes: an operator, a function. */
const char *cleave__oracle_last(const json_t *list);
struct oracle_calls {
    bool aggregate, window, unknown;
};
/* Which kinds of functions are called below, nested queries aside. */
void cleave__oracle_calls(const json_t *node, struct oracle_calls *out);
uint32_t cleave__oracle_count_table(const json_t *node, const char *name);

/* expression.c */
struct oracle_expr cleave__oracle_expr(struct oracle_program *p, const struct oracle_scope *scope,
                                       const json_t *node);
bool cleave__oracle_is_constant(const struct oracle_expr *expr); /* known, and not NULL */

/* convert.c: constants as values of a type. False when that is not surely it. */
/* `a` as compared with something of the sort. INTEGER may keep a fraction (kind NUMBER). */
bool cleave__oracle_convert(struct oracle_program *p, const struct oracle_expr *a,
                            enum oracle_sort sort, const char *type_name, struct cleave_value *out);
/* `a` as stored in a column. */
bool cleave__oracle_store(struct oracle_program *p, const struct oracle_expr *a,
                          enum oracle_sort sort, const char *type_name, struct cleave_value *out);
/* CAST (a AS type). */
struct oracle_expr cleave__oracle_cast(struct oracle_program *p, const struct oracle_expr *a,
                                       const json_t *type);
enum oracle_sort cleave__oracle_cast_sort(const json_t *type);
/* a op b for + - * / % || */
struct oracle_expr cleave__oracle_calculate(struct oracle_program *p, const char *op,
                                            struct oracle_expr a, struct oracle_expr b);
bool cleave__oracle_number(struct oracle_program *p, const char *text, size_t length,
                           struct cleave_value *out);
/* The elements of an array's text, "{1,2}", of `type` (may be NULL) each. */
bool cleave__oracle_elements(struct oracle_program *p, const struct oracle_expr *array,
                             const json_t *type, struct oracle_expr **out, uint32_t *count);

/* compare.c: comparisons as conditions */
enum oracle_comparison {
    ORACLE_LESS,
    ORACLE_LESS_EQUAL,
    ORACLE_EQUALS,
    ORACLE_NOT_EQUAL,
    ORACLE_GREATER_EQUAL,
    ORACLE_GREATER,
    ORACLE_OTHER /* not understood */
};
enum oracle_comparison cleave__oracle_comparison(const char *name);
enum oracle_comparison cleave__oracle_complement(enum oracle_comparison c); /* NOT */
struct oracle_node *cleave__oracle_compare(struct oracle_program *p, enum oracle_comparison c,
                                           const struct oracle_expr *a,
                                           const struct oracle_expr *b);
/* a IS [NOT] DISTINCT FROM b; `same` when they are to be alike. */
struct oracle_node *cleave__oracle_distinct(struct oracle_program *p, const struct oracle_expr *a,
                                            const struct oracle_expr *b, bool same);
/* a [NOT] IN (items) */
struct oracle_node *cleave__oracle_in(struct oracle_program *p, const struct oracle_expr *a,
                                      const struct oracle_expr *items, uint32_t count,
                                      bool negated);
/* a LIKE pattern ESCAPE escape (may be NULL). */
struct oracle_node *cleave__oracle_like(struct oracle_program *p, const struct oracle_expr *a,
                                        const struct oracle_expr *pattern,
                                        const struct oracle_expr *escape);
/* `variable` = `expr` as a condition; TRUE when nothing is known of it. */
struct oracle_node *cleave__oracle_bind(struct oracle_program *p, uint32_t variable,
                                        const struct oracle_expr *expr);
/* `variable` holds what `expr` gives, NULL included. */
struct oracle_node *cleave__oracle_holds(struct oracle_program *p, uint32_t variable,
                                         const struct oracle_expr *expr);

/* condition.c */
/* A condition; `positive` when it must hold for the whole to hold, as WHERE must. */
struct oracle_node *cleave__oracle_condition(struct oracle_program *p, struct oracle_scope *scope,
                                             const json_t *node, bool positive);
/* a = ANY (array) or a <> ALL (array); NULL when the array is not known. */
struct oracle_node *cleave__oracle_any(struct oracle_program *p, struct oracle_scope *scope,
                                       const struct oracle_expr *a, const json_t *array,
                                       enum oracle_comparison c);
/* Compiles the queries nested in an expression that says nothing itself. */
void cleave__oracle_nested(struct oracle_program *p, struct oracle_scope *scope,
                           const json_t *node);

/* scope.c: names. */
void cleave__oracle_relation_add(struct oracle_program *p, struct oracle_scope *scope,
                                 const struct oracle_relation *relation);
void cleave__oracle_merged_add(struct oracle_program *p, struct oracle_scope *scope,
                               const struct oracle_merged *merged);
void cleave__oracle_output_add(struct oracle_program *p, struct oracle_outputs *outputs,
                               const char *name, struct oracle_expr expr);
/* A column by name, in this scope or one outside it. */
struct oracle_expr cleave__oracle_resolve(struct oracle_program *p,
                                          const struct oracle_scope *scope, const char *qualifier,
                                          const char *name);
/* ... among the relations first..last-1 of this scope only; false when there is none. */
bool cleave__oracle_resolve_among(struct oracle_program *p, const struct oracle_scope *scope,
                                  uint32_t first, uint32_t last, const char *name,
                                  struct oracle_expr *out);
/* Columns that `*` or `q.*` stands for. */
void cleave__oracle_star(struct oracle_program *p, const struct oracle_scope *scope,
                         const char *qualifier, uint32_t first, uint32_t last,
                         struct oracle_outputs *out);
struct oracle_cte *cleave__oracle_cte(const struct oracle_scope *scope, const char *name);

/* from.c */
void cleave__oracle_from(struct oracle_program *p, struct oracle_scope *scope, const json_t *items,
                         struct oracle_list *where);
uint32_t cleave__oracle_table(const struct oracle_program *p, const json_t *range_var);

/* select.c: `body` is a SelectStmt's; `outputs` may be NULL. */
void cleave__oracle_select(struct oracle_program *p, const json_t *body, struct oracle_scope *outer,
                           uint32_t block, struct oracle_outputs *outputs);
void cleave__oracle_with(struct oracle_program *p, const json_t *clause, const json_t *body,
                         struct oracle_scope *scope);
/* CTEs of this scope that nothing used: their rows count all the same. */
void cleave__oracle_unused(struct oracle_program *p, struct oracle_scope *scope);
void cleave__oracle_targets_list(struct oracle_program *p, struct oracle_scope *scope,
                                 const json_t *list, struct oracle_outputs *outputs);
/* What lies between the rows of a query and those it is made of. */
struct oracle_shape {
    enum oracle_flow flow; /* of conditions from outside */
    bool proves;           /* a row outside proves the conditions inside */
};
/* `exists`: only whether there is a row matters. */
struct oracle_shape cleave__oracle_shape(const json_t *body, bool exists);
/* A query in a block of its own within `scope`; `outer` is where its names are looked up. The node
 * (never NULL) says that its conditions hold, if they must. */
struct oracle_node *cleave__oracle_subquery(struct oracle_program *p, struct oracle_scope *scope,
                                            struct oracle_scope *outer, const json_t *body,
                                            struct oracle_shape shape,
                                            struct oracle_outputs *outputs);

/* change.c: INSERT, UPDATE, DELETE, MERGE; false when the node is none of them. */
bool cleave__oracle_change(struct oracle_program *p, const json_t *node, struct oracle_scope *scope,
                           struct oracle_outputs *outputs, struct oracle_list *where);
/* The table that is written, as a relation of the scope; ORACLE_NONE when the schema lacks it, or
 * it is a view: a view over one table passes the change on, so that its rows count as written. */
uint32_t cleave__oracle_written_table(struct oracle_program *p, struct oracle_scope *scope,
                                      const json_t *relation, struct oracle_list *where);

/* statement.c: any statement node, {"InsertStmt": ...}. */
void cleave__oracle_statement(struct oracle_program *p, const json_t *node,
                              struct oracle_scope *outer, uint32_t block,
                              struct oracle_outputs *outputs);

/* Nesting guard: false (and the program fails) when too deep. */
static inline bool cleave__oracle_enter(struct oracle_program *p)
{
    if (p->status != CLEAVE_OK)
        return false;
    if (p->depth >= 4200) { /* twice what jansson lets a tree nest */
        cleave__oracle_fail(p, CLEAVE_LIMIT);
        return false;
    }
    p->depth++;
    return true;
}
static inline void cleave__oracle_leave(struct oracle_program *p)
{
    p->depth--;
}

#endif
