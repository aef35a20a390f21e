/* Reading DDL: a script is cut into statements, those that may say something about tables are
 * parsed by libpg_query and applied in order, all others are passed over unparsed. A statement that
 * begins with no word PostgreSQL knows is an error: better than to read half of another dialect. */
#include "tables/source/ddl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"

size_t cleave__ddl_line(const struct cleave_ddl *ddl, int location)
{
    const struct cleave_script_statement *statement = ddl->statement;
    if (!statement)
        return 0;
    size_t line = statement->line;
    for (size_t i = 0; location > 0 && i < (size_t)location && i < statement->length; i++)
        line += statement->text[i] == '\n';
    return line;
}

enum cleave_status cleave__ddl_fail(const struct cleave_ddl *ddl, int location,
                                    enum cleave_status status, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return cleave__build_fail(&ddl->build, cleave__ddl_line(ddl, location), status, ddl->error,
                              "%s", text);
}

enum cleave_status cleave__ddl_no_memory(const struct cleave_ddl *ddl)
{
    return cleave__ddl_fail(ddl, -1, CLEAVE_NO_MEMORY, "out of memory");
}

/* Words that begin a PostgreSQL statement which says nothing about tables. */
static const char *const passed_over[] = {
    "abort",   "alter",   "analyze", "analyse", "begin",    "call",      "checkpoint",
    "close",   "cluster", "comment", "commit",  "copy",     "create",    "deallocate",
    "declare", "delete",  "discard", "do",      "drop",     "end",       "execute",
    "explain", "fetch",   "grant",   "import",  "insert",   "listen",    "load",
    "lock",    "merge",   "move",    "notify",  "prepare",  "reassign",  "refresh",
    "reindex", "release", "reset",   "revoke",  "rollback", "savepoint", "security",
    "select",  "set",     "show",    "start",   "table",    "truncate",  "unlisten",
    "update",  "vacuum",  "values",  "with",
};

static bool in_list(const char *word, size_t count, const char *const *list)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, list[i]) == 0)
            return true;
    }
    return false;
}

#define IN(word, ...)                                                                              \
    in_list(word, sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *),                       \
            (const char *const[]){__VA_ARGS__})

/* May the statement say something about tables? Decided from its first words. */
static bool matters(const struct cleave_script_statement *statement)
{
    uint32_t at = 1, count = statement->word_count;
    const char(*words)[CLEAVE_SCRIPT_WORD_MAX] = statement->words;
    const char *first = words[0];
    if (IN(first, "set", "reset"))
        return strstr(statement->text, "search_path") || strstr(statement->text, "SEARCH_PATH") ||
               IN(count > 1 ? words[1] : "", "schema");
    if (strcmp(first, "select") == 0)
        return strstr(statement->text, "set_config") != NULL;
    if (!IN(first, "create", "alter", "drop"))
        return false;
    while (at < count && IN(words[at], "or", "replace", "global", "local", "temp", "temporary",
                            "unlogged", "unique", "materialized", "recursive"))
        at++;
    const char *kind = at < count ? words[at] : "";
    if (strcmp(kind, "foreign") == 0)
        return at + 1 < count && strcmp(words[at + 1], "table") == 0;
    if (strcmp(first, "create") == 0 && strcmp(kind, "index") == 0)
        return strcmp(words[1], "unique") == 0;
    if (strcmp(first, "alter") == 0)
        return IN(kind, "table", "view");
    return IN(kind, "table", "view", "index", "domain", "type", "schema");
}

static enum cleave_status apply_set(struct cleave_ddl *ddl, const PgQuery__VariableSetStmt *set)
{
    char *names[64];
    size_t count = 0;
    if (set->is_local && set->kind != PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE)
        return CLEAVE_OK;
    if (set->kind != PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL &&
        strcmp(set->name, "search_path") != 0)
        return CLEAVE_OK;
    for (size_t i = 0; set->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE && i < set->n_args &&
                       count < sizeof names / sizeof *names;
         i++) {
        const PgQuery__Node *node = set->args[i];
        if (node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
            node->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL)
            names[count++] = node->a_const->sval->sval;
    }
    return cleave__ddl_set_path(ddl, count, names);
}

static const char *string_argument(const PgQuery__FuncCall *call, size_t at)
{
    const PgQuery__Node *node = at < call->n_args ? call->args[at] : NULL;
    if (node && node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
        node->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL)
        return node->a_const->sval->sval;
    return NULL;
}

/* SELECT pg_catalog.set_config('search_path', '...', false), as pg_dump writes it. */
static enum cleave_status apply_select(struct cleave_ddl *ddl, const PgQuery__SelectStmt *select)
{
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__Node *node = select->target_list[i];
        const char *schema, *name;
        if (node->node_case != PG_QUERY__NODE__NODE_RES_TARGET || !node->res_target->val ||
            node->res_target->val->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
            continue;
        const PgQuery__FuncCall *call = node->res_target->val->func_call;
        if (!cleave__ddl_split_name(call->n_funcname, call->funcname, &schema, &name) ||
            strcmp(name, "set_config") != 0)
            continue;
        const char *variable = string_argument(call, 0), *value = string_argument(call, 1);
        if (variable && value && strcmp(variable, "search_path") == 0)
            return cleave__ddl_set_path_text(ddl, value);
    }
    return CLEAVE_OK;
}

static enum cleave_status apply_domain(struct cleave_ddl *ddl,
                                       const PgQuery__CreateDomainStmt *domain)
{
    struct cleave_build_column column = {0};
    enum cleave_status status = cleave__ddl_type(ddl, domain->type_name, &column);
    if (status)
        return status;
    struct cleave_ddl_type type = {.base_name = column.type_name,
                                   .base = column.type,
                                   .not_null = column.not_null,
                                   .has_default = column.fallback != CLEAVE_DEFAULT_NONE};
    for (size_t i = 0; i < domain->n_constraints; i++) {
        const PgQuery__Node *node = domain->constraints[i];
        if (node->node_case != PG_QUERY__NODE__NODE_CONSTRAINT)
            continue;
        type.not_null |= node->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL;
        type.has_default |= node->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT;
    }
    return cleave__ddl_define_type(ddl, domain->n_domainname, domain->domainname, &type);
}

static enum cleave_status apply(struct cleave_ddl *ddl, PgQuery__Node *node);

static enum cleave_status apply_schema(struct cleave_ddl *ddl,
                                       const PgQuery__CreateSchemaStmt *schema)
{
    enum cleave_status status = CLEAVE_OK;
    if (!schema->schemaname[0])
        return CLEAVE_OK;
    ddl->inside_schema = schema->schemaname;
    for (size_t i = 0; i < schema->n_schema_elts && !status; i++)
        status = apply(ddl, schema->schema_elts[i]);
    ddl->inside_schema = NULL;
    return status;
}

static enum cleave_status apply(struct cleave_ddl *ddl, PgQuery__Node *node)
{
    static const struct cleave_ddl_type text = {.base_name = "text", .base = CLEAVE_TYPE_TEXT};
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_CREATE_STMT:
        return cleave__ddl_create(ddl, node->create_stmt);
    case PG_QUERY__NODE__NODE_CREATE_FOREIGN_TABLE_STMT:
        return node->create_foreign_table_stmt->base_stmt
                   ? cleave__ddl_create(ddl, node->create_foreign_table_stmt->base_stmt)
                   : CLEAVE_OK;
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
        return cleave__ddl_alter(ddl, node->alter_table_stmt);
    case PG_QUERY__NODE__NODE_RENAME_STMT:
        return cleave__ddl_rename(ddl, node->rename_stmt);
    case PG_QUERY__NODE__NODE_ALTER_OBJECT_SCHEMA_STMT:
        return cleave__ddl_move(ddl, node->alter_object_schema_stmt);
    case PG_QUERY__NODE__NODE_DROP_STMT:
        return cleave__ddl_drop(ddl, node->drop_stmt);
    case PG_QUERY__NODE__NODE_INDEX_STMT:
        return cleave__ddl_unique_index(ddl, node->index_stmt);
    case PG_QUERY__NODE__NODE_VIEW_STMT:
        return cleave__ddl_view(ddl, node->view_stmt);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
        return cleave__ddl_create_as(ddl, node->create_table_as_stmt);
    case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
        return apply_domain(ddl, node->create_domain_stmt);
    case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
        return cleave__ddl_define_type(ddl, node->create_enum_stmt->n_type_name,
                                       node->create_enum_stmt->type_name, &text);
    case PG_QUERY__NODE__NODE_CREATE_RANGE_STMT:
        return cleave__ddl_define_type(ddl, node->create_range_stmt->n_type_name,
                                       node->create_range_stmt->type_name, &text);
    case PG_QUERY__NODE__NODE_COMPOSITE_TYPE_STMT:
        return cleave__ddl_composite(ddl, node->composite_type_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
        return apply_schema(ddl, node->create_schema_stmt);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
        return apply_set(ddl, node->variable_set_stmt);
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        return apply_select(ddl, node->select_stmt);
    default:
        return CLEAVE_OK;
    }
}

/* The statement's first bytes, for a message. */
static const char *start_of(const struct cleave_script_statement *statement, char *out, size_t size)
{
    size_t used = 0;
    bool blank = false;
    for (size_t i = 0; i < statement->length; i++) {
        char c = statement->text[i];
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            blank = used > 0;
            continue;
        }
        if (used + 5 >= size) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (blank)
            out[used++] = ' ';
        blank = false;
        out[used++] = c;
    }
    out[used] = 0;
    return out;
}

/* A syntax error's message ends in "(character 12)": turned into the line it stands on. */
static enum cleave_status parse_failed(const struct cleave_ddl *ddl, enum cleave_status status,
                                       struct cleave_error *fault)
{
    const struct cleave_script_statement *statement = ddl->statement;
    char start[60];
    int at = -1;
    unsigned characters;
    char *mark = strrchr(fault->message, '(');
    if (mark && sscanf(mark, "(character %u)", &characters) == 1) {
        while (mark > fault->message && mark[-1] == ' ')
            mark--;
        *mark = 0;
        for (at = 0; statement->text[at] && characters > 1; at++)
            characters -= (statement->text[at + 1] & 0xc0) != 0x80;
    }
    return cleave__ddl_fail(ddl, at, status, "%.200s, in: %s", fault->message,
                            start_of(statement, start, sizeof start));
}

static enum cleave_status parse_and_apply(struct cleave_ddl *ddl)
{
    const struct cleave_script_statement *statement = ddl->statement;
    struct cleave_arena_mark mark = cleave__arena_mark(&ddl->scratch);
    struct cleave_error fault = {0};
    PgQuery__ParseResult *tree;
    enum cleave_status status = cleave__parse_protobuf(
        ddl->parser, statement->text, statement->length, &ddl->scratch, &tree, &fault);
    if (status)
        return parse_failed(ddl, status, &fault);
    for (size_t i = 0; i < tree->n_stmts && !status; i++) {
        if (tree->stmts[i]->stmt)
            status = apply(ddl, tree->stmts[i]->stmt);
    }
    cleave__arena_rewind(&ddl->scratch, mark);
    return status;
}

static enum cleave_status take(void *context, const struct cleave_script_statement *statement,
                               struct cleave_error *error)
{
    struct cleave_ddl *ddl = context;
    char start[60];
    ddl->statement = statement;
    ddl->error = error;
    enum cleave_status status = CLEAVE_OK;
    if (statement->word_count == 0 ||
        !in_list(statement->words[0], sizeof passed_over / sizeof *passed_over, passed_over))
        status = cleave__ddl_fail(ddl, -1, CLEAVE_BAD_INPUT,
                                  "not a PostgreSQL statement: %s (DDL must be PostgreSQL's, as "
                                  "pg_dump writes it)",
                                  start_of(statement, start, sizeof start));
    else if (matters(statement) && statement->cut)
        status =
            cleave__ddl_fail(ddl, -1, CLEAVE_LIMIT, "a statement longer than %d bytes: %s",
                             CLEAVE_SCRIPT_STATEMENT_MAX, start_of(statement, start, sizeof start));
    else if (matters(statement))
        status = parse_and_apply(ddl);
    ddl->statement = NULL;
    return status;
}

/* Pulls text from `input`, or from `text` when `input` is NULL. */
static enum cleave_status read_all(struct cleave_script *script, struct cleave_input *input,
                                   const char *text, size_t length, struct cleave_error *error)
{
    enum cleave_status status;
    if (!input) {
        status = cleave__script_feed(script, text, length, error);
    } else {
        char buffer[1 << 16];
        do {
            status = cleave__input_read(input, buffer, sizeof buffer, &length, error);
            if (!status)
                status = cleave__script_feed(script, buffer, length, error);
        } while (!status && length);
    }
    return status ? status : cleave__script_end(script, error);
}

static enum cleave_status read_script(const char *name, struct cleave_input *input,
                                      const char *text, size_t length, struct cleave_schema **out,
                                      struct cleave_error *error)
{
    struct cleave_ddl ddl = {0};
    struct cleave_script script;
    enum cleave_status status = cleave__build_init(&ddl.build, name, error);
    if (status)
        return status;
    cleave__script_init(&script, name, take, &ddl);
    status = cleave__parser_new(&ddl.parser, error);
    if (!status)
        status = read_all(&script, input, text, length, error);
    if (!status && ddl.build.tables.count == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "%s: no CREATE TABLE in it; give the schema's DDL", name);
    if (!status)
        status = cleave__build_finish(&ddl.build, out, error);
    cleave__script_free(&script);
    cleave__intern_free(&ddl.type_names);
    cleave__intern_free(&ddl.index_names);
    CLEAVE_VECTOR_FREE(&ddl.types);
    CLEAVE_VECTOR_FREE(&ddl.indexes);
    CLEAVE_VECTOR_FREE(&ddl.path);
    cleave__arena_free(&ddl.scratch);
    cleave__parser_free(ddl.parser);
    cleave__build_free(&ddl.build);
    return status;
}

enum cleave_status cleave__schema_parse_ddl(const char *text, size_t length, const char *name,
                                            struct cleave_schema **out, struct cleave_error *error)
{
    return read_script(name, NULL, text, length, out, error);
}

enum cleave_status cleave__schema_read_ddl(const char *path, struct cleave_schema **out,
                                           struct cleave_error *error)
{
    struct cleave_input *input;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    enum cleave_status status = cleave__input_open(path, &input, error);
    if (status)
        return status;
    status = read_script(name, input, NULL, 0, out, error);
    cleave__input_close(input);
    return status;
}
