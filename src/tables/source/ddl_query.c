/* Views, materialized views and CREATE TABLE ... AS: what the query tells of their columns.
 *
 * A view keeps its query as text (deparsed, so comments and options are gone). A materialized view
 * and CREATE TABLE ... AS become tables: their rows are stored apart from where they came from.
 * Output columns are named as PostgreSQL names them; a type is known for casts, counts, constants
 * and plain columns of tables seen before, else it is text. */
#include <pg_query.h>
#include <string.h>

#include "tables/source/ddl.h"

enum { SOURCES_MAX = 64, JOIN_DEPTH_MAX = 64 };

struct source {
    uint32_t table;
    const char *name; /* by which the query calls it */
};

struct outputs {
    struct cleave_ddl *ddl;
    uint32_t table; /* takes the columns */
    size_t count;   /* outputs so far */
    size_t alias_count;
    PgQuery__Node **aliases;
    struct source sources[SOURCES_MAX];
    uint32_t source_count;
    bool complete; /* every output and every source is known */
};

static const struct cleave_build_table *table_at(const struct outputs *o, uint32_t table)
{
    return &o->ddl->build.tables.data[table];
}

static void add_source(struct outputs *o, const PgQuery__Node *node, unsigned depth)
{
    if (depth > JOIN_DEPTH_MAX || !node) {
        o->complete = false;
        return;
    }
    if (node->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR) {
        const PgQuery__JoinExpr *join = node->join_expr;
        add_source(o, join->larg, depth + 1);
        add_source(o, join->rarg, depth + 1);
        return;
    }
    if (node->node_case != PG_QUERY__NODE__NODE_RANGE_VAR || o->source_count == SOURCES_MAX) {
        o->complete = false;
        return;
    }
    const PgQuery__RangeVar *relation = node->range_var;
    uint32_t table = cleave__ddl_find(o->ddl, relation);
    if (table == CLEAVE_ABSENT) {
        o->complete = false;
        return;
    }
    table = cleave__build_top(&o->ddl->build, table);
    o->sources[o->source_count++] =
        (struct source){table, relation->alias ? relation->alias->aliasname : relation->relname};
}

/* The column a reference means, or NULL. */
static const struct cleave_build_column *referred(const struct outputs *o,
                                                  const PgQuery__ColumnRef *reference)
{
    size_t count = reference->n_fields;
    if (count == 0)
        return NULL;
    const char *name = cleave__ddl_string(reference->fields[count - 1]);
    const char *owner = count > 1 ? cleave__ddl_string(reference->fields[count - 2]) : "";
    for (uint32_t i = 0; i < o->source_count; i++) {
        if (owner[0] && strcmp(owner, o->sources[i].name) != 0)
            continue;
        const struct cleave_build_table *table = table_at(o, o->sources[i].table);
        uint32_t column = cleave__build_find_column(table, name);
        if (column != CLEAVE_ABSENT)
            return &table->columns.data[column];
    }
    return NULL;
}

static enum cleave_status put(struct outputs *o, const char *name, const char *type_name,
                              enum cleave_type type)
{
    if (o->count < o->alias_count)
        name = cleave__ddl_string(o->aliases[o->count]);
    o->count++;
    struct cleave_build_column column = {.name = name, .type_name = type_name, .type = type};
    if (cleave__build_find_column(table_at(o, o->table), name) != CLEAVE_ABSENT) {
        o->complete = false;
        return CLEAVE_OK;
    }
    return cleave__build_column(&o->ddl->build, o->table, &column, cleave__ddl_line(o->ddl, -1),
                                o->ddl->error);
}

/* SELECT * or SELECT t.* */
static enum cleave_status put_star(struct outputs *o, const PgQuery__ColumnRef *reference)
{
    const char *owner = reference->n_fields > 1
                            ? cleave__ddl_string(reference->fields[reference->n_fields - 2])
                            : "";
    for (uint32_t i = 0; i < o->source_count; i++) {
        if (owner[0] && strcmp(owner, o->sources[i].name) != 0)
            continue;
        if (table_at(o, o->sources[i].table)->columns.count == 0)
            o->complete = false; /* a view whose columns are not known */
        for (size_t c = 0; c < table_at(o, o->sources[i].table)->columns.count; c++) {
            struct cleave_build_column column = table_at(o, o->sources[i].table)->columns.data[c];
            if (column.dropped)
                continue;
            enum cleave_status status = put(o, column.name, column.type_name, column.type);
            if (status)
                return status;
        }
    }
    return CLEAVE_OK;
}

static enum cleave_status put_target(struct outputs *o, const PgQuery__ResTarget *target)
{
    const PgQuery__Node *value = target->val;
    struct cleave_build_column column = {.name = target->name, .type_name = "text"};
    enum cleave_status status;
    const char *name = "?column?";
    if (!value)
        return CLEAVE_OK;
    if (value->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
        const PgQuery__TypeName *type = value->type_cast->type_name;
        if ((status = cleave__ddl_type(o->ddl, type, &column)))
            return status;
        if (type && type->n_names)
            name = cleave__ddl_string(type->names[type->n_names - 1]);
        const PgQuery__Node *inner = value->type_cast->arg;
        if (inner && (inner->node_case == PG_QUERY__NODE__NODE_COLUMN_REF ||
                      inner->node_case == PG_QUERY__NODE__NODE_FUNC_CALL))
            value = inner; /* gives the name */
    } else if (value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
        const struct cleave_build_column *from = referred(o, value->column_ref);
        if (from) {
            column.type = from->type;
            column.type_name = from->type_name;
        }
    } else if (value->node_case == PG_QUERY__NODE__NODE_A_CONST &&
               value->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
        column.type = CLEAVE_TYPE_INTEGER;
        column.type_name = "integer";
    }
    if (value->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
        const PgQuery__ColumnRef *reference = value->column_ref;
        const PgQuery__Node *last =
            reference->n_fields ? reference->fields[reference->n_fields - 1] : NULL;
        if (last && last->node_case == PG_QUERY__NODE__NODE_A_STAR)
            return put_star(o, reference);
        name = cleave__ddl_string(last);
    } else if (value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL && value->func_call->n_funcname) {
        const PgQuery__FuncCall *call = value->func_call;
        name = cleave__ddl_string(call->funcname[call->n_funcname - 1]);
        if (strcmp(name, "count") == 0 && column.type == CLEAVE_TYPE_TEXT) {
            column.type = CLEAVE_TYPE_INTEGER;
            column.type_name = "bigint";
        }
    } else if (value->node_case == PG_QUERY__NODE__NODE_COALESCE_EXPR) {
        name = "coalesce";
    } else if (value->node_case == PG_QUERY__NODE__NODE_CASE_EXPR) {
        name = "case";
    } else if (value->node_case != PG_QUERY__NODE__NODE_A_CONST &&
               value->node_case != PG_QUERY__NODE__NODE_A_EXPR &&
               value->node_case != PG_QUERY__NODE__NODE_BOOL_EXPR && !column.name[0]) {
        o->complete = false; /* PostgreSQL has names of its own for the rest */
    }
    return put(o, column.name[0] ? column.name : name, column.type_name, column.type);
}

/* Gives `table` the outputs of `query`. *complete: they are all there, in order. */
static enum cleave_status put_outputs(struct cleave_ddl *ddl, uint32_t table,
                                      const PgQuery__Node *query, size_t alias_count,
                                      PgQuery__Node **aliases, bool *complete)
{
    struct outputs o = {.ddl = ddl,
                        .table = table,
                        .alias_count = alias_count,
                        .aliases = aliases,
                        .complete = true};
    enum cleave_status status = CLEAVE_OK;
    const PgQuery__SelectStmt *select =
        query && query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? query->select_stmt : NULL;
    while (select && select->larg) /* UNION and the like: named after the first */
        select = select->larg;
    if (!select || select->with_clause || select->n_values_lists)
        o.complete = false;
    for (size_t i = 0; select && i < select->n_from_clause; i++)
        add_source(&o, select->from_clause[i], 0);
    for (size_t i = 0; select && i < select->n_target_list && !status; i++) {
        const PgQuery__Node *node = select->target_list[i];
        if (node->node_case == PG_QUERY__NODE__NODE_RES_TARGET)
            status = put_target(&o, node->res_target);
    }
    *complete = o.complete;
    return status;
}

struct deparse {
    PgQuery__Node *query;
    PgQueryDeparseResult text;
    bool no_memory;
};

/* Packing and deparsing recurse over the tree: they run on the parser's large stack. */
static void run_deparse(void *context)
{
    struct deparse *deparse = context;
    PgQuery__RawStmt raw;
    PgQuery__RawStmt *statements[] = {&raw};
    PgQuery__ParseResult tree;
    /* The _init functions: the descriptors behind the _INIT macros are hidden in our libpg_query.
     */
    pg_query__raw_stmt__init(&raw);
    pg_query__parse_result__init(&tree);
    raw.stmt = deparse->query;
    tree.n_stmts = 1;
    tree.stmts = statements;
    tree.version = PG_VERSION_NUM;
    size_t size = pg_query__parse_result__get_packed_size(&tree);
    PgQueryProtobuf packed = {.len = size, .data = malloc(size ? size : 1)};
    deparse->no_memory = !packed.data;
    if (deparse->no_memory)
        return;
    pg_query__parse_result__pack(&tree, (uint8_t *)packed.data);
    deparse->text = pg_query_deparse_protobuf(packed);
    free(packed.data);
}

/* The query as text, in the schema's arena. */
static enum cleave_status query_text(struct cleave_ddl *ddl, PgQuery__Node *query, const char **out)
{
    struct deparse deparse = {.query = query};
    cleave__parser_run(ddl->parser, run_deparse, &deparse);
    if (deparse.no_memory)
        return cleave__ddl_no_memory(ddl);
    enum cleave_status status = CLEAVE_OK;
    if (deparse.text.error || !deparse.text.query)
        status =
            cleave__ddl_fail(ddl, -1, CLEAVE_UNSUPPORTED, "cannot write the view's query: %s",
                             deparse.text.error ? deparse.text.error->message : "no reason given");
    else if (!(*out = cleave__build_string(&ddl->build, deparse.text.query)))
        status = cleave__ddl_no_memory(ddl);
    pg_query_free_deparse_result(deparse.text);
    return status;
}

enum cleave_status cleave__ddl_view(struct cleave_ddl *ddl, PgQuery__ViewStmt *view)
{
    if (view->view->relpersistence[0] == 't' || !view->query)
        return CLEAVE_OK;
    const char *name = cleave__ddl_new_name(ddl, view->view->schemaname, view->view->relname);
    const char *text;
    uint32_t table;
    bool complete;
    if (!name)
        return cleave__ddl_no_memory(ddl);
    enum cleave_status status = query_text(ddl, view->query, &text);
    if (status)
        return status;
    uint32_t old = cleave__build_find(&ddl->build, name);
    if (old != CLEAVE_ABSENT && view->replace && ddl->build.tables.data[old].view)
        cleave__build_drop(&ddl->build, old);
    status = cleave__build_table(&ddl->build, name, cleave__ddl_line(ddl, view->view->location),
                                 &table, ddl->error);
    if (status)
        return status;
    ddl->build.tables.data[table].view = text;
    status = put_outputs(ddl, table, view->query, view->n_aliases, view->aliases, &complete);
    if (!status && !complete) {
        ddl->build.column_total -= ddl->build.tables.data[table].columns.count;
        ddl->build.tables.data[table].columns.count = 0;
    }
    return status;
}

enum cleave_status cleave__ddl_create_as(struct cleave_ddl *ddl,
                                         const PgQuery__CreateTableAsStmt *create)
{
    const PgQuery__RangeVar *relation = create->into ? create->into->rel : NULL;
    if (!relation || relation->relpersistence[0] == 't')
        return CLEAVE_OK;
    const char *name = cleave__ddl_new_name(ddl, relation->schemaname, relation->relname);
    uint32_t table;
    bool complete;
    if (!name)
        return cleave__ddl_no_memory(ddl);
    if (create->if_not_exists && cleave__build_find(&ddl->build, name) != CLEAVE_ABSENT)
        return CLEAVE_OK;
    enum cleave_status status = cleave__build_table(
        &ddl->build, name, cleave__ddl_line(ddl, relation->location), &table, ddl->error);
    if (status)
        return status;
    status = put_outputs(ddl, table, create->query, create->into->n_col_names,
                         create->into->col_names, &complete);
    ddl->build.tables.data[table].partial = !complete;
    return status;
}
