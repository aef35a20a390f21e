/* Walking parts of a parse tree whose meaning does not matter, by the tree's own description of its
 * fields: every subquery in them still reads tables, every function may do more. */
#include <stdlib.h>
#include <string.h>

#include "tables/sql/builtin.h"
#include "tables/sql/compile.h"

static bool is(const ProtobufCMessage *message, const char *name)
{
    return strcmp(message->descriptor->short_name, name) == 0;
}

/* Calls `each` on the messages directly within `message`. */
static void children(const ProtobufCMessage *message,
                     void (*each)(const ProtobufCMessage *child, void *context), void *context)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const char *base = (const char *)message;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t count;
            ProtobufCMessage *const *items;
            memcpy(&count, base + field->quantifier_offset, sizeof count);
            memcpy(&items, base + field->offset, sizeof items);
            for (size_t j = 0; j < count; j++) {
                if (items[j])
                    each(items[j], context);
            }
            continue;
        }
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            uint32_t which;
            memcpy(&which, base + field->quantifier_offset, sizeof which);
            if (which != field->id)
                continue;
        }
        const ProtobufCMessage *child;
        memcpy(&child, base + field->offset, sizeof child);
        if (child)
            each(child, context);
    }
}

/* The last part of a function's name, when it is a name of PostgreSQL's own; else NULL. */
static const char *builtin_name(const PgQuery__FuncCall *call)
{
    if (call->n_funcname == 0 || call->n_funcname > 2)
        return NULL;
    if (call->n_funcname == 2) {
        const char *schema = cleave__node_string(call->funcname[0]);
        if (!schema || strcmp(schema, "pg_catalog") != 0)
            return NULL;
    }
    return cleave__node_string(call->funcname[call->n_funcname - 1]);
}

static enum cleave_function classify(const PgQuery__FuncCall *call)
{
    const char *name = builtin_name(call);
    return name ? cleave__function_class(name) : CLEAVE_FUNCTION_UNKNOWN;
}

struct visitor {
    struct cleave_compile *c;
    struct cleave_scope *scope;
    uint32_t block;
};

static void visit(const ProtobufCMessage *message, void *context)
{
    struct visitor *v = context;
    v->c->work++;
    if (is(message, "SubLink")) {
        const PgQuery__SubLink *link = (const PgQuery__SubLink *)message;
        if (link->testexpr)
            visit(&link->testexpr->base, context);
        PgQuery__Node *query = link->subselect;
        if (query && query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT) {
            uint32_t block = cleave__compile_block(v->c, v->block, CLEAVE_FLOW_ALL);
            cleave__compile_select(v->c, v->scope, block, query->select_stmt);
        }
        return;
    }
    if (is(message, "FuncCall")) {
        /* Some of PostgreSQL's own run as AT TIME ZONE, OVERLAPS and the like do: also known. */
        if (classify((const PgQuery__FuncCall *)message) == CLEAVE_FUNCTION_UNKNOWN)
            v->c->opaque = 1;
    }
    children(message, visit, context);
}

void cleave__compile_visit(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                           const ProtobufCMessage *message)
{
    struct visitor visitor = {c, scope, block};
    if (message)
        visit(message, &visitor);
}

void cleave__compile_visit_all(struct cleave_compile *c, struct cleave_scope *scope, uint32_t block,
                               PgQuery__Node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cleave__compile_visit(c, scope, block, &nodes[i]->base);
}

/* The unqualified table names of a tree, each as often as it stands there. */
struct names {
    struct cleave_compile *c;
    CLEAVE_LIST(const char *) list;
};

static void collect(const ProtobufCMessage *message, void *context)
{
    struct names *names = context;
    if (is(message, "RangeVar")) {
        const PgQuery__RangeVar *variable = (const PgQuery__RangeVar *)message;
        if (variable->relname && (!variable->schemaname || !*variable->schemaname))
            CLEAVE_APPEND(names->c, &names->list, variable->relname);
    }
    children(message, collect, context);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint32_t cleave__count_names(struct cleave_compile *c, const char *name)
{
    if (c->named_statement != c->statement) {
        struct names names = {.c = c};
        collect(&c->statement->base, &names);
        if (names.list.count)
            qsort(names.list.items, names.list.count, sizeof *names.list.items, compare_names);
        c->named_statement = c->statement;
        c->names = names.list.items;
        c->name_count = names.list.count;
    }
    const char **found =
        c->name_count ? bsearch(&name, c->names, c->name_count, sizeof *c->names, compare_names)
                      : NULL;
    if (!found)
        return 0;
    /* Two is as good as more. */
    uint32_t at = (uint32_t)(found - c->names);
    return 1 + ((at > 0 && strcmp(c->names[at - 1], name) == 0) ||
                (at + 1 < c->name_count && strcmp(c->names[at + 1], name) == 0));
}

struct search {
    const char *name;
    bool found;
};

static void search(const ProtobufCMessage *message, void *context)
{
    struct search *wanted = context;
    if (wanted->found)
        return;
    if (is(message, "RangeVar")) {
        const PgQuery__RangeVar *variable = (const PgQuery__RangeVar *)message;
        wanted->found = variable->relname && (!variable->schemaname || !*variable->schemaname) &&
                        strcmp(variable->relname, wanted->name) == 0;
    }
    children(message, search, context);
}

bool cleave__has_name(const ProtobufCMessage *message, const char *name)
{
    struct search wanted = {name, false};
    search(message, &wanted);
    return wanted.found;
}

static void summarize(const ProtobufCMessage *message, void *context)
{
    struct cleave_call_summary *summary = context;
    if (is(message, "SubLink")) {
        const PgQuery__SubLink *link = (const PgQuery__SubLink *)message;
        if (link->testexpr)
            summarize(&link->testexpr->base, context);
        return;
    }
    if (is(message, "GroupingFunc"))
        summary->aggregate = true;
    if (is(message, "FuncCall")) {
        const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
        enum cleave_function class = classify(call);
        if (call->over || class == CLEAVE_FUNCTION_WINDOW)
            summary->window = true;
        else if (call->agg_star || call->agg_within_group || call->agg_distinct ||
                 call->agg_filter || call->n_agg_order || class == CLEAVE_FUNCTION_AGGREGATE)
            summary->aggregate = true;
        else if (class == CLEAVE_FUNCTION_UNKNOWN)
            summary->unknown = true;
    }
    children(message, summarize, context);
}

void cleave__summarize_calls(const ProtobufCMessage *message, struct cleave_call_summary *out)
{
    if (message)
        summarize(message, out);
}
