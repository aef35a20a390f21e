/* Names and types of DDL: the search path as psql scripts set it, and SQL type names spelled the
 * way PostgreSQL's format_type() does, so that a dump and the live catalog read the same. */
#include <stdio.h>
#include <string.h>

#include "tables/source/ddl.h"

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

const char *cleave__ddl_string(const PgQuery__Node *node)
{
    return node && node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}

enum cleave_status cleave__ddl_set_path(struct cleave_ddl *ddl, size_t count, char *const *names)
{
    ddl->path.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (same(names[i], "$user") || same(names[i], "pg_catalog") || !names[i][0])
            continue;
        char *copy = cleave__build_string(&ddl->build, names[i]);
        if (!copy || !CLEAVE_PUSH(&ddl->path, copy))
            return cleave__ddl_no_memory(ddl);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__ddl_set_path_text(struct cleave_ddl *ddl, const char *list)
{
    enum { MOST = 64, LONGEST = 128 };
    char text[MOST][LONGEST];
    char *names[MOST];
    size_t count = 0;
    while (*list && count < MOST) {
        size_t length = 0;
        bool quoted = false;
        for (; *list && (quoted || *list != ','); list++) {
            char c = *list;
            if (c == '"')
                quoted = !quoted;
            else if ((quoted || c != ' ') && length < LONGEST - 1)
                text[count][length++] = (char)(!quoted && c >= 'A' && c <= 'Z' ? c + 32 : c);
        }
        list += *list == ',';
        text[count][length] = 0;
        names[count] = text[count];
        count++;
    }
    return cleave__ddl_set_path(ddl, count, names);
}

static const char *canonical(struct cleave_ddl *ddl, const char *schema, const char *name)
{
    if (same(schema, "public"))
        return cleave__build_string(&ddl->build, name);
    size_t left = strlen(schema), right = strlen(name);
    char *text = cleave__arena_alloc(&ddl->build.schema->arena, left + right + 2);
    if (!text)
        return NULL;
    memcpy(text, schema, left);
    text[left] = '.';
    memcpy(text + left + 1, name, right + 1);
    return text;
}

const char *cleave__ddl_new_name(struct cleave_ddl *ddl, const char *schema, const char *name)
{
    if (!schema[0])
        schema = ddl->inside_schema ? ddl->inside_schema
                 : ddl->path.count  ? ddl->path.data[0]
                                    : "public";
    return canonical(ddl, schema, name);
}

uint32_t cleave__ddl_find_name(struct cleave_ddl *ddl, const char *schema, const char *name)
{
    struct cleave_arena *arena = &ddl->build.schema->arena;
    struct cleave_arena_mark mark = cleave__arena_mark(arena);
    uint32_t table = CLEAVE_ABSENT;
    size_t tries = schema[0] ? 1 : ddl->path.count + 2;
    for (size_t i = 0; i < tries && table == CLEAVE_ABSENT; i++) {
        const char *in = schema[0]              ? schema
                         : i == 0               ? ddl->inside_schema
                         : i <= ddl->path.count ? ddl->path.data[i - 1]
                         : ddl->path.count      ? NULL
                                                : "public";
        const char *full = in ? canonical(ddl, in, name) : NULL;
        if (full)
            table = cleave__build_find(&ddl->build, full);
    }
    cleave__arena_rewind(arena, mark);
    return table;
}

uint32_t cleave__ddl_find(struct cleave_ddl *ddl, const PgQuery__RangeVar *relation)
{
    return cleave__ddl_find_name(ddl, relation->schemaname, relation->relname);
}

bool cleave__ddl_split_name(size_t count, PgQuery__Node **names, const char **schema,
                            const char **name)
{
    if (count == 0)
        return false;
    *name = cleave__ddl_string(names[count - 1]);
    *schema = count > 1 ? cleave__ddl_string(names[count - 2]) : "";
    return (*name)[0] != 0;
}

/* PostgreSQL's internal names -> the spelling of format_type(); `tail` follows the modifier. */
static const struct spelling {
    const char *internal, *head, *tail;
} spellings[] = {
    {"int2", "smallint", ""},
    {"int4", "integer", ""},
    {"int", "integer", ""},
    {"int8", "bigint", ""},
    {"float4", "real", ""},
    {"float8", "double precision", ""},
    {"bool", "boolean", ""},
    {"decimal", "numeric", ""},
    {"varchar", "character varying", ""},
    {"bit", "bit", ""},
    {"varbit", "bit varying", ""},
    {"timestamp", "timestamp", " without time zone"},
    {"timestamptz", "timestamp", " with time zone"},
    {"time", "time", " without time zone"},
    {"timetz", "time", " with time zone"},
};

static const struct serial {
    const char *name, *type;
} serials[] = {
    {"serial", "integer"}, {"serial4", "integer"},      {"bigserial", "bigint"},
    {"serial8", "bigint"}, {"smallserial", "smallint"}, {"serial2", "smallint"},
};

static void print_modifiers(const PgQuery__TypeName *type, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < type->n_typmods; i++) {
        const PgQuery__Node *node = type->typmods[i];
        if (node->node_case != PG_QUERY__NODE__NODE_A_CONST ||
            node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL || used + 24 > size)
            return;
        used += (size_t)snprintf(out + used, size - used, "%s%d", i ? "," : "(",
                                 (int)node->a_const->ival->ival);
    }
    if (used)
        snprintf(out + used, size - used, ")");
}

/* One part of a name, in quotes unless it is of small letters, digits and underscores. */
static size_t print_part(const char *part, size_t length, char *out, size_t size)
{
    size_t used = 0;
    bool plain = length && !(part[0] >= '0' && part[0] <= '9');
    for (size_t i = 0; i < length; i++)
        plain = plain && (part[i] == '_' || (part[i] >= 'a' && part[i] <= 'z') ||
                          (part[i] >= '0' && part[i] <= '9'));
    if (plain)
        return (size_t)snprintf(out, size, "%.*s", (int)length, part);
    for (size_t i = 0; i < length && used + 4 < size; i++) {
        if (!i)
            out[used++] = '"';
        if (part[i] == '"')
            out[used++] = '"';
        out[used++] = part[i];
    }
    return used + (size_t)snprintf(out + used, size - used, "\"");
}

/* A type of the user's as format_type() spells it. `name` has at most two parts of 63 bytes. */
static void print_type_name(const char *name, bool array, char *out, size_t size)
{
    const char *dot = strchr(name, '.');
    size_t used = 0;
    if (dot) {
        used = print_part(name, (size_t)(dot - name), out, size - 4);
        if (used + 8 < size)
            out[used++] = '.';
        name = dot + 1;
    }
    if (used + 8 < size)
        used += print_part(name, strlen(name), out + used, size - used - 4);
    if (used + 4 < size)
        snprintf(out + used, size - used, "%s", array ? "[]" : "");
}

enum cleave_status cleave__ddl_type(struct cleave_ddl *ddl, const PgQuery__TypeName *type,
                                    struct cleave_build_column *out)
{
    const char *schema = "", *name = "";
    char spelled[256], modifiers[64];
    if (!type || !cleave__ddl_split_name(type->n_names, type->names, &schema, &name))
        return cleave__ddl_fail(ddl, type ? type->location : -1, CLEAVE_BAD_INPUT,
                                "a column without a type");
    bool array = type->n_array_bounds > 0 || type->setof;
    bool built_in = !schema[0] || same(schema, "pg_catalog");
    print_modifiers(type, modifiers, sizeof modifiers);
    for (size_t i = 0; built_in && i < sizeof serials / sizeof *serials; i++) {
        if (same(name, serials[i].name)) {
            name = serials[i].type;
            out->fallback = CLEAVE_DEFAULT_VALUE;
            out->not_null = true;
        }
    }
    const struct cleave_ddl_type *defined = NULL;
    const char *full = canonical(ddl, schema[0] ? schema : "public", name);
    if (!full)
        return cleave__ddl_no_memory(ddl);
    uint32_t id = cleave__intern_find(&ddl->type_names, full, strlen(full));
    for (size_t i = 0; id == CLEAVE_INTERN_NONE && !schema[0] && i < ddl->path.count; i++) {
        full = canonical(ddl, ddl->path.data[i], name);
        if (!full)
            return cleave__ddl_no_memory(ddl);
        id = cleave__intern_find(&ddl->type_names, full, strlen(full));
    }
    if (id < ddl->types.count)
        defined = &ddl->types.data[id];
    const struct spelling *spelling = NULL;
    for (size_t i = 0; built_in && !defined && i < sizeof spellings / sizeof *spellings; i++) {
        if (same(name, spellings[i].internal))
            spelling = &spellings[i];
    }
    if (spelling)
        snprintf(spelled, sizeof spelled, "%s%s%s%s", spelling->head, modifiers, spelling->tail,
                 array ? "[]" : "");
    else if (built_in && same(name, "bpchar")) /* without a modifier it is another type */
        snprintf(spelled, sizeof spelled, "%s%s%s", modifiers[0] ? "character" : "bpchar",
                 modifiers, array ? "[]" : "");
    else if (built_in && same(name, "char"))
        snprintf(spelled, sizeof spelled, "\"char\"%s", array ? "[]" : "");
    else if (built_in && same(name, "interval"))
        snprintf(spelled, sizeof spelled, "interval%s", array ? "[]" : "");
    else if (defined || !built_in)
        print_type_name(defined ? full : name, array, spelled, sizeof spelled);
    else
        snprintf(spelled, sizeof spelled, "%.150s%s%s", name, modifiers, array ? "[]" : "");
    out->type_name = cleave__build_string(&ddl->build, spelled);
    if (!out->type_name)
        return cleave__ddl_no_memory(ddl);
    if (array)
        out->type = CLEAVE_TYPE_TEXT;
    else if (defined) {
        out->type = defined->base;
        out->not_null |= defined->not_null;
        if (defined->has_default && out->fallback == CLEAVE_DEFAULT_NONE)
            out->fallback = CLEAVE_DEFAULT_VALUE;
    } else
        out->type = cleave__type_of_name(spelled);
    return CLEAVE_OK;
}

enum cleave_status cleave__ddl_define_type(struct cleave_ddl *ddl, size_t count,
                                           PgQuery__Node **names,
                                           const struct cleave_ddl_type *type)
{
    const char *schema, *name;
    if (!cleave__ddl_split_name(count, names, &schema, &name))
        return CLEAVE_OK;
    const char *full = cleave__ddl_new_name(ddl, schema, name);
    if (!full)
        return cleave__ddl_no_memory(ddl);
    uint32_t id = cleave__intern_add(&ddl->type_names, full, strlen(full));
    if (id == CLEAVE_INTERN_NONE)
        return cleave__ddl_no_memory(ddl);
    if (id < ddl->types.count)
        ddl->types.data[id] = *type;
    else if (!CLEAVE_PUSH(&ddl->types, *type))
        return cleave__ddl_no_memory(ddl);
    return CLEAVE_OK;
}
