#include "tables/replay/fill.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vector.h"
#include "tables/replay/client.h"
#include "tables/sql/split.h"

struct filling {
    const struct cleave_generator *generator;
    const struct cleave_lookup *lookup;
    const struct cleave_progress *progress;
    uint32_t stores;            /* the shards, and the reference */
    struct cleave__port *ports; /* [stores] */
    uint32_t *open;             /* [stores]: the table that is being filled; CLEAVE_ABSENT: none */
    struct cleave_arena row;
    uint64_t rows;
};

static void put(struct cleave_writer *w, const char *text)
{
    cleave__put_bytes(w, text, strlen(text));
}

const char *cleave__fill_table(const struct cleave_table *table, struct cleave_arena *arena)
{
    struct cleave_writer w = {0};
    put(&w, "CREATE TABLE ");
    cleave__put_table(&w, table->name);
    for (uint32_t c = 0; c < table->column_count; c++) {
        put(&w, c ? ", " : " (");
        cleave__put_name(&w, table->columns[c].name);
        put(&w, " ");
        put(&w, table->columns[c].type_name);
        put(&w, table->columns[c].not_null ? " NOT NULL" : "");
    }
    for (uint32_t k = 0; k < table->primary.count; k++) {
        put(&w, k ? ", " : ", PRIMARY KEY (");
        cleave__put_name(&w, table->columns[table->primary.columns[k]].name);
    }
    put(&w, table->primary.count ? "))" : ")");
    char *text = w.failed ? NULL : cleave__arena_copy(arena, (const char *)w.data, w.count);
    free(w.data);
    return text;
}

/* All CREATE TABLE, and the DDL's CREATE INDEX. NULL: memory is out. */
static struct cleave_store_statement *ddl_of(const struct filling *filling,
                                             struct cleave_arena *arena, uint32_t *count)
{
    const struct cleave_schema *schema = cleave__generator_schema(filling->generator);
    const char *ddl = cleave__generator_ddl(filling->generator), *end = ddl + strlen(ddl);
    CLEAVE_VECTOR(const char *) texts = {0};
    bool ok = true;
    for (uint32_t t = 0; t < schema->table_count && ok; t++) {
        const char *text = cleave__fill_table(&schema->tables[t], arena);
        ok = schema->tables[t].view || (text && CLEAVE_PUSH(&texts, text));
    }
    struct cleave_piece piece;
    while (ok && cleave__split_next(&ddl, end, &piece)) {
        if (strncasecmp(piece.text, "CREATE INDEX", 12) != 0)
            continue;
        const char *text = cleave__arena_copy(arena, piece.text, piece.length);
        ok = text && CLEAVE_PUSH(&texts, text);
    }
    struct cleave_store_statement *list =
        ok ? cleave__arena_zalloc(arena, (texts.count + 1) * sizeof *list) : NULL;
    for (size_t i = 0; list && i < texts.count; i++)
        list[i].text = texts.data[i];
    *count = (uint32_t)texts.count;
    CLEAVE_VECTOR_FREE(&texts);
    return list;
}

static enum cleave_status make_tables(struct filling *filling, struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    uint32_t count;
    struct cleave_store_statement *statements = ddl_of(filling, &arena, &count);
    struct cleave_store_answer *answers =
        statements ? cleave__arena_array(&arena, count + 1, sizeof *answers) : NULL;
    enum cleave_status status =
        answers ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for tables");
    for (uint32_t s = 0; s < filling->stores && !status; s++) {
        const struct cleave_store_batch batch = {statements, count, CLEAVE_BATCH_OPEN, NULL};
        status = cleave__port_batch(&filling->ports[s], &batch, &arena, answers, error);
    }
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status put_row(struct filling *filling, uint32_t store,
                                  const struct cleave_generated_row *row,
                                  struct cleave_error *error)
{
    struct cleave__port *port = &filling->ports[store];
    enum cleave_status status = CLEAVE_OK;
    if (filling->open[store] != row->table) {
        if (filling->open[store] != CLEAVE_ABSENT)
            status = port->ops->fill_end(port->session, error);
        if (!status)
            status = port->ops->fill_begin(port->session, row->name, NULL, 0, error);
        filling->open[store] = row->table;
    }
    return status ? status : port->ops->fill_row(port->session, row->values, row->count, error);
}

static enum cleave_status each(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error)
{
    struct filling *filling = context;
    const struct cleave_schema *schema = cleave__lookup_schema(filling->lookup);
    uint32_t shards = cleave__lookup_shards(filling->lookup);
    uint32_t table = cleave__schema_table(schema, row->name, strlen(row->name));
    struct cleave_shardset homes = {{0}};
    uint32_t by_key[2];
    const struct cleave_progress *progress = filling->progress;
    if (table == CLEAVE_ABSENT)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "the lookup table has no table \"%s\": it is of another database",
                                row->name);
    const struct cleave_table *t =
        &cleave__generator_schema(filling->generator)->tables[row->table];
    const char **names = cleave__arena_array(&filling->row, row->count + 1, sizeof *names);
    if (!names)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for rows");
    for (uint32_t c = 0; c < row->count; c++)
        names[c] = t->columns[c].name;
    const struct cleave_store_answer answer = {
        .columns = row->count, .rows = 1, .names = names, .values = row->values};
    enum cleave_status status =
        cleave__row_homes(filling->lookup, table, &answer, 0, 0, &homes, by_key, error);
    for (uint32_t s = 0; s < filling->stores && !status; s++) {
        if (s >= shards || cleave__shardset_has(&homes, s))
            status = put_row(filling, s, row, error);
    }
    cleave__arena_rewind(&filling->row, (struct cleave_arena_mark){0});
    if (++filling->rows % 1000 == 0 && progress) {
        if (progress->report)
            progress->report(progress->context, "loading", filling->rows, 0);
        if (!status && progress->stop && *progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    return status;
}

static enum cleave_status end_all(struct filling *filling, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    struct cleave_arena arena = {0};
    for (uint32_t s = 0; s < filling->stores && !status; s++) {
        struct cleave__port *port = &filling->ports[s];
        const struct cleave_store_batch batch = {NULL, 0, CLEAVE_BATCH_COMMIT, NULL};
        if (filling->open[s] != CLEAVE_ABSENT)
            status = port->ops->fill_end(port->session, error);
        if (!status)
            status = cleave__port_batch(port, &batch, &arena, NULL, error);
    }
    cleave__arena_free(&arena);
    return status;
}

enum cleave_status cleave__replay_fill(const struct cleave_generator *generator,
                                       const struct cleave_lookup *lookup, const char *const *urls,
                                       const char *reference,
                                       const struct cleave_progress *progress,
                                       struct cleave_error *error)
{
    uint32_t shards = cleave__lookup_shards(lookup);
    struct filling filling = {.generator = generator,
                              .lookup = lookup,
                              .progress = progress,
                              .stores = shards + (reference != NULL)};
    filling.ports = calloc(filling.stores, sizeof *filling.ports);
    filling.open = calloc(filling.stores, sizeof *filling.open);
    enum cleave_status status =
        filling.ports && filling.open
            ? CLEAVE_OK
            : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    for (uint32_t s = 0; s < filling.stores && !status; s++) {
        filling.open[s] = CLEAVE_ABSENT;
        cleave__port_init(&filling.ports[s], s < shards ? urls[s] : reference);
    }
    if (!status)
        status = make_tables(&filling, error);
    if (!status)
        status = cleave__generator_rows(generator, each, &filling, error);
    if (!status)
        status = end_all(&filling, error);
    for (uint32_t s = 0; filling.ports && s < filling.stores; s++)
        cleave__port_close(&filling.ports[s]);
    cleave__arena_free(&filling.row);
    free(filling.ports);
    free(filling.open);
    return status;
}
