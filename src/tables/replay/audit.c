#include "tables/replay/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tables/replay/client.h"
#include "tables/route/image.h"

/* A table being read from one store. */
struct reading {
    const struct cleave_lookup *lookup;
    const char **names;    /* of its columns */
    uint32_t table, shard; /* CLEAVE_SHARDS_MAX: the reference */
    struct cleave__digest by_key[2], all;
    uint64_t misplaced;
};

static enum cleave_status take(void *context, uint32_t columns, const char *const *values,
                               struct cleave_error *error)
{
    struct reading *reading = context;
    cleave__digest_row(&reading->all, values, columns, NULL, 0);
    if (reading->shard == CLEAVE_SHARDS_MAX ||
        cleave__lookup_replicated(reading->lookup, reading->table))
        return CLEAVE_OK;
    const struct cleave_store_answer answer = {
        .columns = columns, .rows = 1, .names = reading->names, .values = values};
    struct cleave_shardset homes = {{0}};
    uint32_t by_key[2];
    enum cleave_status status =
        cleave__row_homes(reading->lookup, reading->table, &answer, 0, 0, &homes, by_key, error);
    reading->misplaced += !status && !cleave__shardset_has(&homes, reading->shard);
    for (uint32_t k = 0; k < 2; k++) {
        if (!status && by_key[k] == reading->shard)
            cleave__digest_row(&reading->by_key[k], values, columns, NULL, 0);
    }
    return status;
}

static const char *query_of(const struct cleave_table *table, struct cleave_arena *arena,
                            const char **names)
{
    struct cleave_writer w = {0};
    for (uint32_t c = 0; c < table->column_count; c++) {
        names[c] = table->columns[c].name;
        cleave__put_bytes(&w, c ? ", " : "SELECT ", c ? 2 : 7);
        cleave__put_name(&w, names[c]);
    }
    cleave__put_bytes(&w, " FROM ", 6);
    cleave__put_table(&w, table->name);
    char *text = w.failed ? NULL : cleave__arena_copy(arena, (const char *)w.data, w.count);
    free(w.data);
    return text;
}

static enum cleave_status read_table(const char *url, const char *query, struct reading *reading,
                                     struct cleave_error *error)
{
    struct cleave__port port;
    cleave__port_init(&port, url);
    enum cleave_status status = cleave__port_open(&port, error);
    if (!status)
        status = port.ops->scan(port.session, query, take, reading, error);
    cleave__port_close(&port);
    return status;
}

static void note(struct cleave_audit *audit, const char *table, const char *what)
{
    if (!*audit->first)
        snprintf(audit->first, sizeof audit->first, "table %.150s: %s", table, what);
}

static bool same(const struct cleave__digest *a, const struct cleave__digest *b)
{
    return a->rows == b->rows && a->multiset == b->multiset;
}

static void add(struct cleave__digest *sum, const struct cleave__digest *part)
{
    sum->rows += part->rows;
    sum->multiset += part->multiset;
}

static enum cleave_status audit_table(const struct cleave_lookup *lookup, const char *const *urls,
                                      const char *reference, uint32_t t, struct cleave_audit *audit,
                                      struct cleave_error *error)
{
    const struct cleave_table *table = &lookup->schema.tables[t];
    struct cleave_arena arena = {0};
    struct reading whole = {.lookup = lookup, .table = t, .shard = CLEAVE_SHARDS_MAX};
    struct cleave__digest sums[2] = {{0}, {0}};
    const char **names = cleave__arena_array(&arena, table->column_count + 1, sizeof *names);
    const char *query = names ? query_of(table, &arena, names) : NULL;
    bool replicated = cleave__lookup_replicated(lookup, t), differ = false;
    uint64_t misplaced = 0;
    enum cleave_status status =
        query ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a table");
    whole.names = names;
    if (!status && reference)
        status = read_table(reference, query, &whole, error);
    for (uint32_t s = 0; s < cleave__lookup_shards(lookup) && !status; s++) {
        struct reading part = {.lookup = lookup, .names = names, .table = t, .shard = s};
        status = read_table(urls[s], query, &part, error);
        misplaced += part.misplaced;
        if (replicated && s > 0)
            differ = differ || !same(&part.all, &sums[0]);
        else
            add(&sums[0], replicated ? &part.all : &part.by_key[0]);
        if (!replicated)
            add(&sums[1], &part.by_key[1]);
    }
    cleave__arena_free(&arena);
    if (status)
        return status;
    differ = differ || (!replicated && !same(&sums[0], &sums[1])) ||
             (reference && !same(&sums[0], &whole.all));
    audit->tables++;
    audit->rows += sums[0].rows;
    audit->misplaced += misplaced;
    audit->different += differ;
    if (misplaced)
        note(audit, table->name, "rows on shards that are not theirs");
    if (differ)
        note(audit, table->name, "the shards' rows are not the unsharded database's");
    return CLEAVE_OK;
}

enum cleave_status cleave__replay_audit(const struct cleave_lookup *lookup, const char *const *urls,
                                        const char *reference, struct cleave_audit *out,
                                        struct cleave_error *error)
{
    struct cleave_audit audit = {0};
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < lookup->schema.table_count && !status; t++) {
        if (!lookup->schema.tables[t].view)
            status = audit_table(lookup, urls, reference, t, &audit, error);
    }
    for (uint32_t s = 0; s < cleave__lookup_shards(lookup) && !status; s++) {
        struct cleave__port port;
        struct cleave_arena arena = {0};
        const char *const *names;
        uint32_t count = 0;
        cleave__port_init(&port, urls[s]);
        status = cleave__port_open(&port, error);
        if (!status)
            status = port.ops->prepared(port.session, "", &arena, &names, &count, error);
        audit.prepared += count;
        cleave__port_close(&port);
        cleave__arena_free(&arena);
    }
    if (!status)
        *out = audit;
    return status;
}

bool cleave__audit_right(const struct cleave_audit *audit)
{
    return audit->misplaced == 0 && audit->different == 0 && audit->prepared == 0;
}
