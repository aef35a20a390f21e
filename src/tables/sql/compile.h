/* Parse tree -> programs: the shared state of the compile_*.c files.
 *
 * A statement is a set of *blocks*. A block is a place where conditions hold together: a query
 * level with its inner joins, the nullable side of an outer join, a subquery that cannot be merged
 * into its parent. Conditions (formulas in negation normal form over *nodes*) are attached to
 * blocks; project.c then asks for each table reference which conditions restrict it: those of its
 * own block and of the blocks whose facts reach it.
 *
 * A node is one column of one reference, or an output without a stored column behind it. The
 * equality of nodes is what carries constants from table to table.
 *
 * Facts flow: up the chain of `home` blocks while `flow` allows; and from the `downs` of every
 * block on that chain (subqueries each of whose rows satisfies their conditions). A condition says
 * nothing about a node that its own block sees through an outer join (the node may be NULL there),
 * nor, across a `masked` border, about the nodes inside it (LIMIT, window functions: filtering
 * outside is not filtering inside).
 *
 * Everything lives in two arenas, and running out of memory jumps back to cleave__compile, so no
 * step has to check. Runs on the parser's large stack. */
#ifndef CLEAVE_TABLES_SQL_COMPILE_H
#define CLEAVE_TABLES_SQL_COMPILE_H

#include <setjmp.h>

#include <pg_query/pg_query.pb-c.h>

#include "base/vector.h"
#include "tables/sql/program.h"

enum {
    CLEAVE_NONE = UINT32_MAX,
    CLEAVE_VIEW_DEPTH_MAX = 16,
    CLEAVE_REFERENCES_MAX = 4096,       /* table references in a statement, views expanded */
    CLEAVE_NODES_MAX = 1 << 20,         /* their columns */
    CLEAVE_COMPILE_WORK_MAX = 20000000, /* steps; past it conditions say nothing, wide joins fail */
};

/* A growing array in the temporary arena. */
#define CLEAVE_LIST(type)                                                                          \
    struct {                                                                                       \
        type *items;                                                                               \
        uint32_t count, capacity;                                                                  \
    }
#define CLEAVE_APPEND(c, list, ...)                                                                \
    ((list)->items = cleave__compile_grow((c), (list)->items, (list)->count, &(list)->capacity,    \
                                          sizeof *(list)->items),                                  \
     (list)->items[(list)->count++] = (__VA_ARGS__))

struct cleave_node {
    uint32_t reference; /* or CLEAVE_NONE */
    uint32_t column;
    uint32_t block;
    struct cleave_domain_type type;
};

enum cleave_formula_kind {
    CLEAVE_FORMULA_TRUE, /* also: not understood */
    CLEAVE_FORMULA_FALSE,
    CLEAVE_FORMULA_AND,
    CLEAVE_FORMULA_OR,
    CLEAVE_FORMULA_ATOM,     /* node op items */
    CLEAVE_FORMULA_EQUAL,    /* node = other */
    CLEAVE_FORMULA_STRICT,   /* not true when node (or other, if any) is NULL; else unknown */
    CLEAVE_FORMULA_CONSTANT, /* a predicate without columns */
};

struct cleave_formula {
    enum cleave_formula_kind kind;
    enum cleave_operator op;
    bool strict; /* EQUAL: not true for NULLs */
    uint32_t node, other;
    uint32_t count;
    const struct cleave_expression **items;
    const struct cleave_formula **children;
    const struct cleave_predicate *constant;
};

enum cleave_flow { CLEAVE_FLOW_ALL, CLEAVE_FLOW_MASKED, CLEAVE_FLOW_NONE };

struct cleave_block {
    uint32_t home; /* CLEAVE_NONE for the outermost */
    enum cleave_flow flow;
    bool nullable;    /* the far side of an outer join */
    uint32_t partner; /* FULL JOIN: the other side, or CLEAVE_NONE */
    const struct cleave_formula *partner_on;
    CLEAVE_LIST(const struct cleave_formula *) conditions;
    CLEAVE_LIST(uint32_t) downs;
};

struct cleave_reference {
    uint32_t table;
    uint32_t first_node; /* its columns' nodes, in order */
    uint32_t block;
    bool write, locks, insert;
    /* What the program adds to the predicate; see struct cleave_program. */
    uint32_t assigned_count;
    const struct cleave_assignment *assigned;
    bool conflict;
    uint32_t key_count;
    const struct cleave_key *keys;
    const struct cleave_program *rows; /* INSERT ... VALUES: its row list */
    uint32_t like;                     /* reuse this reference's predicate, or CLEAVE_NONE */
};

/* Named outputs, in order. `open`: there may be more that are not known. */
struct cleave_columns {
    CLEAVE_LIST(const char *) names;
    CLEAVE_LIST(uint32_t) nodes;
    bool open;
};

/* Something a FROM clause names. */
struct cleave_item {
    const char *alias, *schema; /* schema: of a plain table, else NULL */
    struct cleave_columns columns;
    uint32_t first_reference, reference_count; /* what FOR UPDATE OF locks */
};

struct cleave_cte {
    struct cleave_cte *next;
    const char *name;
    struct cleave_scope *scope; /* where its query's names are looked up */
    PgQuery__CommonTableExpr *tree;
    uint32_t uses;    /* names like it in the statement: 1 lets it be merged into its only use */
    bool compiled;    /* its accesses are there already */
    bool in_progress; /* recursive: a reference to itself */
    uint32_t block;   /* of the compiled body, or CLEAVE_NONE when facts may not leave it */
    struct cleave_columns columns;
};

/* One query level while names are looked up. */
struct cleave_scope {
    struct cleave_scope *outer;
    uint32_t block;
    struct cleave_cte *ctes;
    CLEAVE_LIST(struct cleave_item) items;
    struct cleave_columns columns; /* what an unqualified name may mean */
};

struct cleave_compile {
    jmp_buf give_up;
    enum cleave_status status;
    struct cleave_error *error;
    struct cleave_arena *keep;     /* lives as long as the template */
    struct cleave_arena temporary; /* until compiled */
    const struct cleave_catalog *catalog;
    uint8_t **named; /* [table][column]: set when a predicate names the column */
    const char *text;
    size_t length;
    const struct cleave_token *slots;
    uint32_t slot_count;
    uint32_t view_depth; /* > 0: constants are the view's own */
    uint64_t work;
    CLEAVE_LIST(struct cleave_node) nodes;
    CLEAVE_LIST(struct cleave_reference) references;
    CLEAVE_LIST(struct cleave_block) blocks;
    PgQuery__Node *statement;
    const PgQuery__Node *named_statement; /* whose table names these are, sorted */
    const char **names;
    uint32_t name_count;
    bool writes; /* some part is DML */
    uint32_t unknown_tables, opaque;
};

struct cleave_compile_input {
    const struct cleave_catalog *catalog;
    uint8_t **named;
    const char *text; /* the statement, with `slots` the literals in it */
    size_t length;
    const struct cleave_token *slots;
    uint32_t slot_count;
    PgQuery__ParseResult *tree;
};

/* compile.c: the entry, and what all share */
enum cleave_status cleave__compile(const struct cleave_compile_input *input,
                                   struct cleave_arena *keep, struct cleave_template *out,
                                   struct cleave_error *error);
_Noreturn void cleave__compile_fail(struct cleave_compile *c, enum cleave_status status,
                                    const char *message);
void *cleave__compile_alloc(struct cleave_compile *c, size_t count, size_t size); /* zeroed */
void *cleave__compile_keep(struct cleave_compile *c, size_t count, size_t size);  /* zeroed */
void *cleave__compile_grow(struct cleave_compile *c, void *items, uint32_t count,
                           uint32_t *capacity, size_t size);
uint32_t cleave__compile_node(struct cleave_compile *c, uint32_t block); /* without a column */
uint32_t cleave__compile_block(struct cleave_compile *c, uint32_t home, enum cleave_flow flow);
uint32_t cleave__compile_reference(struct cleave_compile *c, uint32_t table, uint32_t block);
void cleave__compile_condition_add(struct cleave_compile *c, uint32_t block,
                                   const struct cleave_formula *formula);
bool cleave__block_within(const struct cleave_compile *c, uint32_t block, uint32_t ancestor);

/* scope.c: names */
void cleave__columns_add(struct cleave_compile *c, struct cleave_columns *columns, const char *name,
                         uint32_t node);
void cleave__columns_append(struct cleave_compile *c, struct cleave_columns *to,
                            const struct cleave_columns *from);
/* Index of the only column of that name; CLEAVE_NONE when there is none or more than one. */
uint32_t cleave__columns_find(const struct cleave_columns *columns, const char *name,
                              uint32_t *matches);
const struct cleave_item *cleave__scope_item(const struct cleave_scope *scope, const char *schema,
                                             const char *alias);
/* The node of a column reference; CLEAVE_NONE when it is not known. */
uint32_t cleave__scope_column(struct cleave_compile *c, const struct cleave_scope *scope,
                              const PgQuery__ColumnRef *reference);
struct cleave_cte *cleave__scope_cte(const struct cleave_scope *scope, const char *name);
uint32_t cleave__compile_table(struct cleave_compile *c, const PgQuery__RangeVar *variable);
const char *cleave__node_string(const PgQuery__Node *node); /* of a String node, else NULL */

/* compile_value.c: constants */
/* NULL when the expression is not constant (or not understood). */
const struct cleave_expression *cleave__compile_value(struct cleave_compile *c,
                                                      const PgQuery__Node *node);
/* A right side of = ANY(...). */
const struct cleave_expression *cleave__compile_array(struct cleave_compile *c,
                                                      const PgQuery__Node *node);
struct cleave_domain_type cleave__compile_type(struct cleave_compile *c,
                                               const PgQuery__TypeName *name);

/* compile_condition.c: conditions */
/* `positive`: the condition must be true for a row to count, so EXISTS and IN may be merged into
 * the block. `negated`: NOT of it. Never NULL. */
const struct cleave_formula *cleave__compile_formula(struct cleave_compile *c,
                                                     struct cleave_scope *scope, uint32_t block,
                                                     const PgQuery__Node *node, bool negated,
                                                     bool positive);
/* Adds the conjuncts of `node` (may be NULL) to the block's conditions. */
void cleave__compile_where(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                           const PgQuery__Node *node);
const struct cleave_formula *cleave__formula_equal(struct cleave_compile *c, uint32_t node,
                                                   uint32_t other);
const struct cleave_formula *cleave__formula_atom(struct cleave_compile *c, uint32_t node,
                                                  enum cleave_operator op,
                                                  const struct cleave_expression *value);
const struct cleave_formula *cleave__formula_join(struct cleave_compile *c,
                                                  enum cleave_formula_kind kind,
                                                  const struct cleave_formula **children,
                                                  uint32_t count);

/* visit.c: subqueries and functions within expressions that say nothing themselves */
void cleave__compile_visit(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                           const ProtobufCMessage *message);
void cleave__compile_visit_all(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                               PgQuery__Node *const *nodes, size_t count);
/* How often the statement (or the view's query) being compiled names a table so, without a schema:
 * 0, 1 or 2 for more. */
uint32_t cleave__count_names(struct cleave_compile *c, const char *name);
/* Does a part of it? */
bool cleave__has_name(const ProtobufCMessage *message, const char *name);
struct cleave_call_summary {
    bool aggregate, window, unknown;
};
/* Which kinds of functions an expression calls, subqueries aside. */
void cleave__summarize_calls(const ProtobufCMessage *message, struct cleave_call_summary *out);

/* compile_from.c */
struct cleave_columns cleave__compile_from(struct cleave_compile *c, struct cleave_scope *scope,
                                           uint32_t block, PgQuery__Node *node);
/* Turns outer joins whose far side cannot be NULL into inner ones; blocks from `first` on. */
void cleave__reduce_joins(struct cleave_compile *c, uint32_t first);
/* The table a change writes to: its reference, or CLEAVE_NONE when it is not known (then whatever
 * a view reads is compiled, and the statement is opaque). Adds its item to the scope. */
uint32_t cleave__compile_target(struct cleave_compile *c, struct cleave_scope *scope,
                                uint32_t block, const PgQuery__RangeVar *variable,
                                struct cleave_columns *columns);

/* compile_query.c */
void cleave__compile_with(struct cleave_compile *c, struct cleave_scope *scope,
                          PgQuery__WithClause *with);
/* After all references: CTEs that nothing used. */
void cleave__compile_unused(struct cleave_compile *c, struct cleave_cte *from,
                            struct cleave_cte *to);
/* The body of a query, its conditions going to `block`. */
struct cleave_columns cleave__compile_select(struct cleave_compile *c, struct cleave_scope *outer,
                                             uint32_t block, PgQuery__SelectStmt *select);
/* A query used as a table or by a positive EXISTS or IN within `block`: merged into it when its
 * rows are those of its joins, else given a block of its own. `exists`: only whether there is a row
 * matters. */
struct cleave_columns cleave__compile_subquery(struct cleave_compile *c, struct cleave_scope *outer,
                                               uint32_t block, PgQuery__SelectStmt *select,
                                               bool exists);
/* A use of a CTE in FROM. */
struct cleave_columns cleave__compile_cte_use(struct cleave_compile *c, struct cleave_cte *cte,
                                              uint32_t block);
/* Constant rows: unions per column of what the lists hold. */
struct cleave_columns cleave__compile_values(struct cleave_compile *c, struct cleave_scope *scope,
                                             uint32_t block, PgQuery__Node *const *lists,
                                             size_t count);

/* compile_change.c: INSERT, UPDATE, DELETE, MERGE. Outputs are those of RETURNING. */
struct cleave_columns cleave__compile_change(struct cleave_compile *c, struct cleave_scope *outer,
                                             uint32_t block, PgQuery__Node *node);
bool cleave__is_change(const PgQuery__Node *node);
/* Select-list or RETURNING items as columns; visits what they compute. */
struct cleave_columns cleave__compile_outputs(struct cleave_compile *c, struct cleave_scope *scope,
                                              uint32_t block, PgQuery__Node *const *targets,
                                              size_t count);

/* project.c: the programs of all references, once every condition is known */
void cleave__compile_project(struct cleave_compile *c, struct cleave_template *out);

#endif
