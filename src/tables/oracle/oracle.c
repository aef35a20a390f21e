/* See oracle.h. Parses a statement, compiles it, and asks for each table it touches which shards
 * its rows may live on.
 *
 * What counts, beside the one rule (a read of a replicated table is free, a write of it touches
 * every shard, all else touches the shards of the rows):
 *   - a row counts when the conditions of its query, and of the queries around it, are not
 *     certainly false: equality with a constant spreads through joins, IN and EXISTS that must
 * hold, nested queries, CTEs used once and views; an equality that is one of several alternatives
 *     ties nothing together, and columns that no equality ties to the row do not rule it out;
 *   - a query with LIMIT, DISTINCT ON or a window takes no condition on its own columns from
 *     outside, but shows its own; a CTE that is used twice, writes or recurs stands alone; a set
 *     operation shows nothing, but its sides see what is asked of the result;
 *   - rows that ON CONFLICT may meet, in each key that is named or could be, count as written;
 *   - an UPDATE that sets a key column also counts where the row goes;
 *   - statements that cannot be parsed, and those that read or write no rows of a table, are passed
 *     over; a transaction of nothing else counts for nothing. */
#include "tables/oracle/oracle.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "tables/oracle/compile.h"
#include "tables/oracle/place.h"
#include "tables/oracle/touch.h"
#include "tables/sql/parse.h"

enum { CACHE_SLOTS = 1024, CACHED_LENGTH_MAX = 4096 };

struct cached {
    char *text;
    size_t length;
    json_t *tree;
};

struct cleave_oracle {
    const struct cleave_schema *schema;
    struct cleave_parser *parser;
    struct oracle_solver *solver;
    struct oracle_program program;
    struct cleave_arena arena;
    json_t **views; /* [schema->table_count], parsed when first needed */
    struct cached cache[CACHE_SLOTS];
};

enum cleave_status cleave__oracle_new(const struct cleave_schema *schema,
                                      struct cleave_oracle **out, struct cleave_error *error)
{
    struct cleave_oracle *oracle = calloc(1, sizeof *oracle);
    if (!oracle)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the recount");
    oracle->schema = schema;
    oracle->solver = cleave__oracle_solver_new();
    oracle->views = calloc((size_t)schema->table_count + 1, sizeof *oracle->views);
    enum cleave_status status =
        oracle->solver && oracle->views
            ? cleave__parser_new(&oracle->parser, error)
            : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the recount");
    if (status != CLEAVE_OK) {
        cleave__oracle_free(oracle);
        return status;
    }
    *out = oracle;
    return CLEAVE_OK;
}

void cleave__oracle_free(struct cleave_oracle *oracle)
{
    if (!oracle)
        return;
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        free(oracle->cache[i].text);
        json_decref(oracle->cache[i].tree);
    }
    for (uint32_t i = 0; oracle->views && i < oracle->schema->table_count; i++)
        json_decref(oracle->views[i]);
    free(oracle->views);
    cleave__parser_free(oracle->parser);
    cleave__oracle_solver_free(oracle->solver);
    cleave__oracle_program_free(&oracle->program);
    cleave__arena_free(&oracle->arena);
    free(oracle);
}

/* Every byte of `text` as the character of that number, in UTF-8; for the caller to free. */
static char *widen(const char *text)
{
    size_t length = strlen(text), used = 0;
    char *wide = length < SIZE_MAX / 2 ? malloc(2 * length + 1) : NULL;
    for (size_t i = 0; wide && i <= length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80)
            wide[used++] = (char)(0xc0 | c >> 6);
        wide[used++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    return wide;
}

/* Undoes _widen in every string of a tree. False: no memory. */
static bool narrow(json_t *node)
{
    const char *key;
    json_t *child;
    size_t index, used = 0;
    if (json_is_object(node)) {
        json_object_foreach(node, key, child)
        {
            if (!narrow(child))
                return false;
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, index, child)
        {
            if (!narrow(child))
                return false;
        }
    } else if (json_is_string(node)) {
        const char *wide = json_string_value(node);
        size_t length = json_string_length(node);
        char *bytes = malloc(length + 1);
        if (!bytes)
            return false;
        for (size_t i = 0; i < length; i++) {
            unsigned char c = (unsigned char)wide[i];
            if (c >= 0x80)
                c = (unsigned char)(c << 6 | ((unsigned char)wide[++i] & 0x3f));
            bytes[used++] = (char)c;
        }
        bool done = json_string_setn_nocheck(node, bytes, used) == 0;
        free(bytes);
        return done;
    }
    return true;
}

/* libpg_query's JSON; NULL (and CLEAVE_OK) when it is too deep. PostgreSQL takes text in any
 * encoding, JSON only in UTF-8: where the statement is not, by way of one character a byte. */
static enum cleave_status load(const char *json, json_t **tree)
{
    json_error_t fault;
    *tree = json_loads(json, JSON_ALLOW_NUL, &fault);
    if (*tree)
        return CLEAVE_OK;
    if (json_error_code(&fault) == json_error_invalid_utf8) {
        char *wide = widen(json);
        if (!wide)
            return CLEAVE_NO_MEMORY;
        *tree = json_loads(wide, JSON_ALLOW_NUL, &fault);
        free(wide);
        if (*tree && narrow(*tree))
            return CLEAVE_OK;
        if (*tree) {
            json_decref(*tree);
            *tree = NULL;
            return CLEAVE_NO_MEMORY;
        }
    }
    return json_error_code(&fault) == json_error_out_of_memory ? CLEAVE_NO_MEMORY : CLEAVE_OK;
}

/* The one statement in `text` as a new reference; NULL (and CLEAVE_OK) when it is not one. */
static enum cleave_status parse(struct cleave_oracle *oracle, const char *text, size_t length,
                                json_t **out)
{
    char *json;
    *out = NULL;
    enum cleave_status status = cleave__parse_json(oracle->parser, text, length, &json, NULL);
    if (status != CLEAVE_OK)
        return status == CLEAVE_NO_MEMORY ? status : CLEAVE_OK;
    json_t *tree;
    status = load(json, &tree);
    free(json);
    if (status)
        return status;
    const json_t *statements = json_object_get(tree, "stmts");
    if (json_array_size(statements) == 1)
        *out = json_incref(json_object_get(json_array_get(statements, 0), "stmt"));
    json_decref(tree);
    return CLEAVE_OK;
}

/* As _parse, through the cache. */
static enum cleave_status parse_cached(struct cleave_oracle *oracle, const char *text,
                                       size_t length, json_t **out)
{
    if (length > CACHED_LENGTH_MAX)
        return parse(oracle, text, length, out);
    struct cached *slot = &oracle->cache[XXH3_64bits(text, length) % CACHE_SLOTS];
    if (slot->text && slot->length == length && !memcmp(slot->text, text, length)) {
        *out = json_incref(slot->tree);
        return CLEAVE_OK;
    }
    enum cleave_status status = parse(oracle, text, length, out);
    char *copy = status == CLEAVE_OK ? malloc(length + 1) : NULL;
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
        free(slot->text);
        json_decref(slot->tree);
        *slot = (struct cached){copy, length, json_incref(*out)};
    }
    return status;
}

static const json_t *view_tree(void *context, uint32_t table)
{
    struct cleave_oracle *oracle = context;
    return oracle->views[table];
}

/* Views cannot be parsed on the big stack while a statement is compiled there: parse all before. */
static enum cleave_status parse_views(struct cleave_oracle *oracle)
{
    for (uint32_t t = 0; t < oracle->schema->table_count; t++) {
        const char *view = oracle->schema->tables[t].view;
        if (!view || oracle->views[t])
            continue;
        enum cleave_status status = parse(oracle, view, strlen(view), &oracle->views[t]);
        if (status != CLEAVE_OK)
            return status;
        if (!oracle->views[t] && !(oracle->views[t] = json_object())) /* tried, in vain */
            return CLEAVE_NO_MEMORY;
    }
    return CLEAVE_OK;
}

struct recount {
    struct cleave_oracle *oracle;
    const struct cleave_trace_statement *statement;
    const json_t *tree;
    const struct cleave_layout *const *layouts;
    uint32_t layout_count;
    uint32_t enough;
    struct cleave_shardset *shards; /* [layout_count] */
    bool touches, writes;
    enum cleave_status status;
};

static void place_targets(struct recount *r)
{
    struct cleave_oracle *oracle = r->oracle;
    struct oracle_program *program = &oracle->program;
    for (size_t i = 0; i < program->targets.count && r->status == CLEAVE_OK; i++) {
        const struct oracle_target *target = &program->targets.data[i];
        uint32_t table = program->references.data[target->reference].table;
        r->status = cleave__oracle_solver_start(oracle->solver, program, target);
        if (r->status != CLEAVE_OK)
            return;
        if (!cleave__oracle_solver_ask(oracle->solver, NULL, NULL, 0, &r->status))
            continue; /* its conditions contradict each other: no row */
        r->writes = r->writes || target->write;
        r->touches = true;
        for (uint32_t l = 0; l < r->layout_count && r->status == CLEAVE_OK; l++) {
            struct cleave_arena_mark mark = cleave__arena_mark(&oracle->arena);
            if (cleave__shardset_count(&r->shards[l]) >= r->enough)
                continue;
            if (!r->layouts[l]->tables[table].replicated)
                r->status = cleave__oracle_place(oracle->solver, program, target, r->layouts[l],
                                                 r->enough, &r->shards[l]);
            else if (target->write)
                cleave__shardset_fill(&r->shards[l], r->layouts[l]->shards);
            cleave__arena_rewind(&oracle->arena, mark);
        }
    }
}

/* Runs on the parser's large stack. */
static void recount_statement(void *context)
{
    struct recount *r = context;
    struct oracle_program *program = &r->oracle->program;
    cleave__oracle_program_reset(program);
    program->schema = r->oracle->schema;
    program->arena = &r->oracle->arena;
    program->text = r->statement->text;
    program->length = r->statement->length;
    program->parameters = r->statement->parameters;
    program->parameter_count = r->statement->parameter_count;
    program->statement = r->tree;
    program->view = view_tree;
    program->view_context = r->oracle;
    uint32_t block = cleave__oracle_block(program, ORACLE_NONE, ORACLE_FLOW_NONE);
    if (block != ORACLE_NONE)
        cleave__oracle_statement(program, r->tree, NULL, block, NULL);
    cleave__oracle_program_finish(program);
    if (program->status == CLEAVE_NO_MEMORY)
        r->status = CLEAVE_NO_MEMORY;
    else if (program->status == CLEAVE_OK)
        place_targets(r);
}

enum cleave_status cleave__oracle_touch(struct cleave_oracle *oracle,
                                        const struct cleave_trace_transaction *transaction,
                                        const struct cleave_layout *const *layouts,
                                        uint32_t layout_count, uint32_t enough,
                                        struct cleave_shardset *shards, bool *touches, bool *writes,
                                        struct cleave_error *error)
{
    enum cleave_status status = parse_views(oracle);
    struct recount r = {.oracle = oracle,
                        .layouts = layouts,
                        .layout_count = layout_count,
                        .enough = enough,
                        .shards = shards,
                        .status = CLEAVE_OK};
    struct cleave_arena_mark mark = cleave__arena_mark(&oracle->arena);
    memset(shards, 0, layout_count * sizeof *shards);
    for (uint32_t i = 0; i < transaction->statement_count && status == CLEAVE_OK; i++) {
        json_t *tree = NULL;
        r.statement = &transaction->statements[i];
        status = parse_cached(oracle, r.statement->text, r.statement->length, &tree);
        if (status == CLEAVE_OK && tree) {
            r.tree = tree;
            cleave__parser_run(oracle->parser, recount_statement, &r);
            status = r.status;
        }
        json_decref(tree);
        cleave__arena_rewind(&oracle->arena, mark);
    }
    if (status != CLEAVE_OK)
        return cleave_error_set(error, status, "no memory to recount a transaction");
    *touches = r.touches;
    *writes = r.writes;
    return CLEAVE_OK;
}

enum cleave_status cleave__oracle_count(struct cleave_oracle *oracle,
                                        const struct cleave_trace_transaction *transaction,
                                        const struct cleave_layout *const *layouts,
                                        uint32_t layout_count, struct cleave_oracle_count *counts,
                                        unsigned char *verdicts, struct cleave_error *error)
{
    struct cleave_shardset *shards = calloc((size_t)layout_count + 1, sizeof *shards);
    bool touches, writes;
    if (!shards)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to recount a transaction");
    enum cleave_status status = cleave__oracle_touch(oracle, transaction, layouts, layout_count, 2,
                                                     shards, &touches, &writes, error);
    for (uint32_t l = 0; l < layout_count && status == CLEAVE_OK; l++) {
        bool distributed = cleave__shardset_count(&shards[l]) > 1;
        if (verdicts)
            verdicts[l] = !touches ? 2 : distributed;
        if (!touches)
            continue;
        counts[l].transactions++;
        counts[l].distributed += distributed;
        counts[l].read_only_distributed += distributed && !writes;
        counts[l].write_distributed += distributed && writes;
    }
    free(shards);
    return status;
}
