/* Gathering a schema from statements: see schema_infer.h. */
#include "tables/source/infer.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL /* for a state on the stack */
#include <xxhash.h>

#include "tables/sql/lexer.h"

enum { SEEN_MAX = 1 << 20 }; /* statements remembered; then it starts afresh */

enum cleave_status cleave__schema_observer_new(const char *origin,
                                               struct cleave_schema_observer **out,
                                               struct cleave_error *error)
{
    struct cleave_schema_observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", origin);
    snprintf(observer->origin, sizeof observer->origin, "%s", origin);
    enum cleave_status status = cleave__build_init(&observer->build, observer->origin, error);
    if (!status)
        status = cleave__parser_new(&observer->parser, error);
    if (status)
        cleave__schema_observer_free(observer);
    else
        *out = observer;
    return status;
}

void cleave__schema_observer_free(struct cleave_schema_observer *observer)
{
    if (!observer)
        return;
    for (size_t i = 0; i < observer->guesses.count; i++) {
        CLEAVE_VECTOR_FREE(&observer->guesses.data[i].columns);
        CLEAVE_VECTOR_FREE(&observer->guesses.data[i].nameless);
    }
    CLEAVE_VECTOR_FREE(&observer->guesses);
    CLEAVE_VECTOR_FREE(&observer->pending);
    CLEAVE_VECTOR_FREE(&observer->equals);
    cleave__intern_free(&observer->pending_keys);
    cleave__intern_free(&observer->equal_keys);
    cleave__intern_free(&observer->seen);
    cleave__arena_free(&observer->scratch);
    cleave__parser_free(observer->parser);
    cleave__build_free(&observer->build);
    free(observer);
}

uint32_t cleave__infer_table(struct cleave_schema_observer *observer, const char *schema,
                             const char *name)
{
    char full[300];
    if (!name[0] || strcmp(schema, "pg_catalog") == 0 ||
        strcmp(schema, "information_schema") == 0 || (!schema[0] && strncmp(name, "pg_", 3) == 0))
        return CLEAVE_ABSENT;
    if (!schema[0] || strcmp(schema, "public") == 0)
        snprintf(full, sizeof full, "%s", name);
    else
        snprintf(full, sizeof full, "%s.%s", schema, name);
    uint32_t table = cleave__build_find(&observer->build, full);
    if (table != CLEAVE_ABSENT)
        return table;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__build_table(&observer->build, full, 0, &table, &error);
    if (!status && !CLEAVE_PUSH(&observer->guesses, (struct cleave_guess_table){0}))
        status = CLEAVE_NO_MEMORY;
    observer->no_memory |= status == CLEAVE_NO_MEMORY;
    return status ? CLEAVE_ABSENT : table;
}

static void merge(uint8_t *into, enum cleave_guess guess)
{
    *into = (uint8_t)cleave__guess_merge((enum cleave_guess) * into, guess);
}

static const struct cleave_infer_ref nowhere = {CLEAVE_ABSENT, 0};

struct cleave_infer_ref cleave__infer_column(struct cleave_schema_observer *observer,
                                             uint32_t table, const char *name,
                                             enum cleave_guess guess)
{
    if (observer->no_memory)
        return nowhere;
    struct cleave_guess_table *guesses = &observer->guesses.data[table];
    uint32_t column = cleave__build_find_column(&observer->build.tables.data[table], name);
    if (column == CLEAVE_ABSENT) {
        struct cleave_build_column fresh = {.name = name, .type_name = ""};
        struct cleave_error error = {0};
        enum cleave_status status =
            cleave__build_column(&observer->build, table, &fresh, 0, &error);
        if (!status && !CLEAVE_PUSH(&guesses->columns, CLEAVE_GUESS_NONE))
            status = CLEAVE_NO_MEMORY;
        observer->no_memory |= status == CLEAVE_NO_MEMORY;
        if (status)
            return nowhere;
        column = (uint32_t)(guesses->columns.count - 1);
    }
    merge(&guesses->columns.data[column], guess);
    return (struct cleave_infer_ref){table, column};
}

void cleave__infer_nameless(struct cleave_schema_observer *observer, uint32_t table,
                            uint32_t position, enum cleave_guess guess)
{
    if (observer->no_memory)
        return;
    struct cleave_guess_table *guesses = &observer->guesses.data[table];
    while (guesses->nameless.count <= position) {
        if (!CLEAVE_PUSH(&guesses->nameless, CLEAVE_GUESS_NONE)) {
            observer->no_memory = true;
            return;
        }
    }
    merge(&guesses->nameless.data[position], guess);
}

struct cleave_infer_ref cleave__infer_pending(struct cleave_schema_observer *observer,
                                              const struct cleave_pending_column *column)
{
    char key[64 + 1 + sizeof column->tables];
    size_t length = strlen(column->name);
    if (observer->no_memory || length > 64)
        return nowhere;
    memcpy(key, column->name, length + 1);
    memcpy(key + length + 1, column->tables, column->count * sizeof *column->tables);
    length += 1 + column->count * sizeof *column->tables;
    uint32_t id = cleave__intern_find(&observer->pending_keys, key, length);
    if (id != CLEAVE_INTERN_NONE) {
        struct cleave_pending_column *earlier = &observer->pending.data[id];
        earlier->guess = cleave__guess_merge(earlier->guess, column->guess);
        earlier->derived &= column->derived;
        return (struct cleave_infer_ref){CLEAVE_REF_PENDING, id};
    }
    if (observer->pending.count >= CLEAVE_PENDING_MAX)
        return nowhere;
    struct cleave_pending_column copy = *column;
    copy.placed = nowhere;
    copy.name = cleave__build_string(&observer->build, column->name);
    if (copy.name && CLEAVE_PUSH(&observer->pending, copy))
        id = cleave__intern_add(&observer->pending_keys, key, length);
    observer->no_memory |= id == CLEAVE_INTERN_NONE;
    return id == CLEAVE_INTERN_NONE ? nowhere : (struct cleave_infer_ref){CLEAVE_REF_PENDING, id};
}

void cleave__infer_equal(struct cleave_schema_observer *observer, struct cleave_infer_ref a,
                         struct cleave_infer_ref b)
{
    struct cleave_infer_equal equal = {a, b};
    if (observer->no_memory || a.table == CLEAVE_ABSENT || b.table == CLEAVE_ABSENT ||
        observer->equals.count >= CLEAVE_PENDING_MAX ||
        cleave__intern_find(&observer->equal_keys, &equal, sizeof equal) != CLEAVE_INTERN_NONE)
        return;
    if (!CLEAVE_PUSH(&observer->equals, equal) ||
        cleave__intern_add(&observer->equal_keys, &equal, sizeof equal) == CLEAVE_INTERN_NONE)
        observer->no_memory = true;
}

/* A hash of the statement with every constant replaced by what it looks like, so that equal hashes
 * teach the same. */
static uint64_t kind_hash(const char *text, size_t length,
                          const struct cleave_parameter *parameters, uint32_t parameter_count)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    struct cleave_lexer lexer = {text, text + length};
    struct cleave_token token;
    for (cleave__lex(&lexer, &token); token.kind != CLEAVE_TOKEN_END; cleave__lex(&lexer, &token)) {
        unsigned char kind[2] = {(unsigned char)token.kind, 0};
        bool constant = true;
        switch (token.kind) {
        case CLEAVE_TOKEN_STRING:
        case CLEAVE_TOKEN_ESCAPE_STRING:
        case CLEAVE_TOKEN_DOLLAR_STRING:
            kind[1] = (unsigned char)cleave__guess_string(token.body, token.body_length);
            break;
        case CLEAVE_TOKEN_NUMBER:
            kind[1] = (unsigned char)cleave__guess_number(token.start, token.length);
            break;
        default:
            constant = false;
        }
        XXH3_64bits_update(&state, kind, sizeof kind);
        if (!constant)
            XXH3_64bits_update(&state, token.start, token.length);
    }
    for (uint32_t i = 0; i < parameter_count; i++) {
        unsigned char kind = CLEAVE_GUESS_NONE;
        if (!parameters[i].is_null && !parameters[i].is_cut && parameters[i].text)
            kind = (unsigned char)cleave__guess_string(parameters[i].text, parameters[i].length);
        XXH3_64bits_update(&state, &kind, 1);
    }
    return XXH3_64bits_digest(&state);
}

struct walk_call {
    struct cleave_schema_observer *observer;
    struct PgQuery__ParseResult *tree;
};

static void run_walk(void *context)
{
    struct walk_call *call = context;
    cleave__infer_walk(call->observer, call->tree);
}

enum cleave_status cleave__schema_observe(struct cleave_schema_observer *observer, const char *text,
                                          size_t length, const struct cleave_parameter *parameters,
                                          uint32_t parameter_count, struct cleave_error *error)
{
    uint64_t hash = kind_hash(text, length, parameters, parameter_count);
    if (cleave__intern_find(&observer->seen, &hash, sizeof hash) != CLEAVE_INTERN_NONE)
        return CLEAVE_OK;
    if (observer->seen.count >= SEEN_MAX)
        cleave__intern_free(&observer->seen);
    struct cleave_arena_mark mark = cleave__arena_mark(&observer->scratch);
    struct walk_call call = {.observer = observer};
    enum cleave_status status = cleave__parse_protobuf(observer->parser, text, length,
                                                       &observer->scratch, &call.tree, error);
    if (status) {
        cleave__arena_rewind(&observer->scratch, mark);
        return status;
    }
    observer->parameters = parameters;
    observer->parameter_count = parameter_count;
    cleave__parser_run(observer->parser, run_walk, &call);
    observer->parameters = NULL;
    observer->parameter_count = 0;
    cleave__arena_rewind(&observer->scratch, mark);
    if (observer->no_memory ||
        cleave__intern_add(&observer->seen, &hash, sizeof hash) == CLEAVE_INTERN_NONE)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", observer->origin);
    return CLEAVE_OK;
}

enum cleave_status cleave__schema_observer_finish(struct cleave_schema_observer *observer,
                                                  struct cleave_schema **out,
                                                  struct cleave_error *error)
{
    if (observer->build.tables.count == 0 || !observer->build.schema)
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "%s: no statement in it names a table; give the schema's DDL",
                                observer->origin);
    enum cleave_status status = cleave__infer_settle(observer, error);
    return status ? status : cleave__build_finish(&observer->build, out, error);
}
