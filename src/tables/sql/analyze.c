/* The analyzer: fingerprint, look the template up or compile it, bind. See analyze.h.
 *
 * Memory is bounded: compiled templates take at most TEMPLATE_BYTES_MAX (when that is reached all
 * are dropped and those in use are compiled again as they come), and TEMPLATE_IDS_MAX distinct
 * fingerprints get an id; statements past that many share the last id and are parsed each time. */
#include "tables/sql/analyze.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pg_query/pg_query.pb-c.h>

#include "tables/sql/compile.h"
#include "tables/sql/fingerprint.h"
#include "tables/sql/parse.h"

enum { TEMPLATE_BYTES_MAX = 64 << 20, TEMPLATE_IDS_MAX = 1 << 18, KEYLESS_COLUMNS = 8 };

struct entry {
    struct cleave_template *compiled; /* NULL: dropped */
    const char *key;
    size_t length;
};

struct cleave_analyzer {
    struct cleave_catalog catalog;
    struct cleave_arena catalog_arena;
    struct cleave_parser *parser;
    struct cleave_fingerprint fingerprint;
    struct cleave_intern ids; /* 128-bit hashes of keys; id = template id */
    CLEAVE_VECTOR(struct entry) entries;
    struct cleave_arena templates;
    struct cleave_analyzer_stats stats;
};

static void keep_key(uint8_t *keep, uint32_t count, const uint32_t *columns)
{
    for (uint32_t i = 0; i < count; i++)
        keep[columns[i]] = 1;
}

static bool fill_catalog(struct cleave_catalog *catalog, struct cleave_arena *arena,
                         const struct cleave_schema *schema)
{
    catalog->schema = schema;
    catalog->types = cleave__arena_array(arena, schema->table_count, sizeof *catalog->types);
    catalog->keep = cleave__arena_array(arena, schema->table_count, sizeof *catalog->keep);
    catalog->places = cleave__arena_array(arena, schema->table_count, sizeof *catalog->places);
    if (!catalog->types || !catalog->keep || !catalog->places)
        return false;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        catalog->types[t] =
            cleave__arena_array(arena, table->column_count, sizeof **catalog->types);
        catalog->keep[t] = cleave__arena_zalloc(arena, table->column_count);
        catalog->places[t] = cleave__arena_zalloc(arena, table->column_count);
        if (!catalog->types[t] || !catalog->keep[t] || !catalog->places[t])
            return false;
        for (uint32_t i = 0; i < table->column_count; i++)
            catalog->types[t][i] =
                cleave__domain_type(table->columns[i].type, table->columns[i].type_name);
        uint8_t *keep = catalog->keep[t];
        keep_key(keep, table->primary.count, table->primary.columns);
        for (uint32_t i = 0; i < table->unique_count; i++)
            keep_key(keep, table->uniques[i].count, table->uniques[i].columns);
        for (uint32_t i = 0; i < table->foreign_count; i++)
            keep_key(keep, table->foreigns[i].count, table->foreigns[i].columns);
        if (!table->primary.count && !table->unique_count && !table->foreign_count) {
            for (uint32_t i = 0; i < table->column_count && i < KEYLESS_COLUMNS; i++)
                keep[i] = 1;
        } else {
            memcpy(catalog->places[t], keep, table->column_count);
        }
    }
    return true;
}

enum cleave_status cleave__analyzer_new(const struct cleave_schema *schema,
                                        struct cleave_analyzer **out, struct cleave_error *error)
{
    struct cleave_analyzer *analyzer = calloc(1, sizeof *analyzer);
    if (!analyzer || !fill_catalog(&analyzer->catalog, &analyzer->catalog_arena, schema)) {
        cleave__analyzer_free(analyzer);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the SQL analyzer");
    }
    enum cleave_status status = cleave__parser_new(&analyzer->parser, error);
    if (status) {
        cleave__analyzer_free(analyzer);
        return status;
    }
    *out = analyzer;
    return CLEAVE_OK;
}

void cleave__analyzer_free(struct cleave_analyzer *analyzer)
{
    if (!analyzer)
        return;
    cleave__parser_free(analyzer->parser);
    cleave__fingerprint_free(&analyzer->fingerprint);
    cleave__intern_free(&analyzer->ids);
    CLEAVE_VECTOR_FREE(&analyzer->entries);
    cleave__arena_free(&analyzer->templates);
    cleave__arena_free(&analyzer->catalog_arena);
    free(analyzer);
}

void cleave__analyzer_place(struct cleave_analyzer *analyzer, uint32_t table, uint32_t column)
{
    assert(analyzer->stats.statements == 0);
    analyzer->catalog.keep[table][column] = analyzer->catalog.places[table][column] = 1;
}

/* ---- compiling ---- */

struct job {
    struct cleave_analyzer *analyzer;
    const char *text;
    size_t length;
    struct cleave_template *out;
    enum cleave_status status;
    struct cleave_error *error;
};

/* Parse and compile, on the parser's stack. */
static void compile(void *context)
{
    struct job *job = context;
    struct cleave_analyzer *a = job->analyzer;
    struct cleave_arena tree_arena = {0};
    PgQuery__ParseResult *tree = NULL;
    job->status =
        cleave__parse_protobuf_here(job->text, job->length, &tree_arena, &tree, job->error);
    if (!job->status && tree->n_stmts > 1)
        job->status =
            cleave_error_set(job->error, CLEAVE_BAD_INPUT, "more than one statement in one text");
    if (!job->status) {
        struct cleave_compile_input input = {
            .catalog = &a->catalog,
            .named = a->catalog.keep,
            .text = job->text,
            .length = job->length,
            .slots = a->fingerprint.slots.data,
            .slot_count = (uint32_t)a->fingerprint.slots.count,
            .tree = tree,
        };
        job->status = cleave__compile(&input, &a->templates, job->out, job->error);
    }
    cleave__arena_free(&tree_arena);
}

static void drop_templates(struct cleave_analyzer *a)
{
    cleave__arena_free(&a->templates);
    for (size_t i = 0; i < a->entries.count; i++)
        a->entries.data[i].compiled = NULL;
}

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a statement");
}

static enum cleave_status compile_template(struct cleave_analyzer *a, const char *text,
                                           size_t length, struct cleave_template **out,
                                           struct cleave_error *error)
{
    if (a->templates.reserved > TEMPLATE_BYTES_MAX)
        drop_templates(a);
    struct cleave_arena_mark mark = cleave__arena_mark(&a->templates);
    struct job job = {.analyzer = a, .text = text, .length = length, .error = error};
    job.out = cleave__arena_alloc(&a->templates, sizeof *job.out);
    if (!job.out)
        return no_memory(error);
    a->stats.parsed++;
    cleave__parser_run(a->parser, compile, &job);
    if (job.status) {
        cleave__arena_rewind(&a->templates, mark);
        return job.status;
    }
    *out = job.out;
    return CLEAVE_OK;
}

/* Remembers a template under the current fingerprint. Out of memory here is not an error. */
static uint32_t remember(struct cleave_analyzer *a, const void *digest,
                         struct cleave_template *compiled)
{
    if (a->ids.count >= TEMPLATE_IDS_MAX)
        return TEMPLATE_IDS_MAX;
    if (!CLEAVE_RESERVE(&a->entries, a->entries.count + 1))
        return TEMPLATE_IDS_MAX;
    uint32_t id = cleave__intern_add(&a->ids, digest, sizeof(XXH128_canonical_t));
    if (id == CLEAVE_INTERN_NONE)
        return TEMPLATE_IDS_MAX;
    if (id == a->entries.count)
        a->entries.data[a->entries.count++] = (struct entry){NULL, NULL, 0};
    const char *key =
        cleave__arena_copy(&a->templates, a->fingerprint.key.data, a->fingerprint.key.count);
    if (key)
        a->entries.data[id] = (struct entry){compiled, key, a->fingerprint.key.count};
    return id;
}

enum cleave_status cleave__analyze(struct cleave_analyzer *analyzer, const char *text,
                                   size_t length, const struct cleave_parameter *parameters,
                                   uint32_t parameter_count, struct cleave_arena *arena,
                                   struct cleave_statement *out, struct cleave_error *error)
{
    struct cleave_analyzer *a = analyzer;
    a->stats.statements++;
    if (length > CLEAVE_STATEMENT_MAX)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "statement of %zu bytes; at most %d are analysed", length,
                                CLEAVE_STATEMENT_MAX);
    if (cleave__fingerprint_take(&a->fingerprint, text, length))
        return no_memory(error);
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest,
                             XXH3_128bits(a->fingerprint.key.data, a->fingerprint.key.count));
    uint32_t id = cleave__intern_find(&a->ids, &digest, sizeof digest);
    struct cleave_template *compiled = NULL;
    if (id != CLEAVE_INTERN_NONE && id < a->entries.count) {
        const struct entry *entry = &a->entries.data[id];
        if (entry->compiled && entry->length == a->fingerprint.key.count &&
            memcmp(entry->key, a->fingerprint.key.data, entry->length) == 0)
            compiled = entry->compiled;
    }
    if (!compiled) {
        enum cleave_status status = compile_template(a, text, length, &compiled, error);
        if (status)
            return status;
        id = remember(a, &digest, compiled);
    }
    struct cleave_binding binding = {
        .slots = a->fingerprint.slots.data,
        .slot_count = (uint32_t)a->fingerprint.slots.count,
        .parameters = parameters,
        .parameter_count = parameter_count,
        .arena = arena,
    };
    struct cleave_statement statement = {.template_id = id};
    if (cleave__template_bind(compiled, &a->catalog, &binding, &statement))
        return no_memory(error);
    *out = statement;
    return CLEAVE_OK;
}

void cleave__analyzer_stats(const struct cleave_analyzer *analyzer,
                            struct cleave_analyzer_stats *out)
{
    *out = analyzer->stats;
    out->templates = analyzer->ids.count;
    out->template_bytes = analyzer->templates.reserved;
}
