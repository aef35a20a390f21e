/* See database.h. */
#include "scheme/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "database: %s\n", what);
        abort();
    }
}

enum { STATEMENTS_MAX = 64 };

/* Cuts the text at each ';'; the pieces live in the case's arena. */
static struct cleave_trace_transaction cut(struct cleave_case *kase, const char *text)
{
    struct cleave_trace_statement *list =
        cleave__arena_zalloc(&kase->arena, STATEMENTS_MAX * sizeof *list);
    need(list, "memory");
    uint32_t count = 0;
    while (*text) {
        size_t length = strcspn(text, ";");
        if (strspn(text, " \n") < length) {
            need(count < STATEMENTS_MAX, "too many statements");
            const char *copy = cleave__arena_copy(&kase->arena, text, length);
            need(copy, "memory");
            list[count++] = (struct cleave_trace_statement){.text = copy, .length = length};
        }
        text += length + (text[length] == ';');
    }
    return (struct cleave_trace_transaction){.statements = list, .statement_count = count};
}

struct cleave_case *database_open(const char *ddl, const char *const *transactions, uint32_t train,
                                  uint32_t held_out)
{
    struct cleave_error error = {.message = ""};
    struct cleave_case *kase = calloc(1, sizeof *kase);
    need(kase, "memory");
    need(!cleave__schema_parse_ddl(ddl, strlen(ddl), "test", &kase->schema, &error), error.message);
    need(!cleave__analyzer_new(kase->schema, &kase->analyzer, &error), error.message);
    cleave__workload_init(&kase->train, kase->schema);
    cleave__workload_init(&kase->held_out, kase->schema);
    for (uint32_t i = 0; i < train + held_out; i++) {
        struct cleave_trace_transaction transaction = cut(kase, transactions[i]);
        struct cleave_workload *workload = i < train ? &kase->train : &kase->held_out;
        struct cleave_kept *kept = i < train ? &kase->kept_train : &kase->kept_held_out;
        bool added;
        need(!cleave__workload_add(workload, kase->analyzer, &transaction, &added, &error),
             error.message);
        if (added)
            need(CLEAVE_PUSH(&kept->list, transaction) &&
                     CLEAVE_PUSH(&kept->index, workload->transactions - 1),
                 "memory");
    }
    need(!cleave__profile_build(&kase->train, &kase->profile, &error), error.message);
    for (uint32_t t = 0; t < kase->schema->table_count; t++) {
        double rows = 1;
        for (size_t b = 0; b < kase->train.boxes.count; b++)
            rows += kase->train.boxes.data[b].table == t;
        if (kase->schema->tables[t].rows <= 0 && kase->profile.tables[t].accesses)
            kase->schema->tables[t].rows = rows;
    }
    return kase;
}

uint32_t database_table(const struct cleave_case *kase, const char *table)
{
    uint32_t t = cleave__schema_table(kase->schema, table, strlen(table));
    need(t != CLEAVE_ABSENT, table);
    return t;
}

uint32_t database_column(const struct cleave_case *kase, const char *table, const char *column)
{
    const struct cleave_table *t = &kase->schema->tables[database_table(kase, table)];
    uint32_t c = cleave__schema_column(t, column, strlen(column));
    need(c != CLEAVE_ABSENT, column);
    return c;
}

uint32_t database_number(const struct cleave_case *kase, const char *table, const char *column)
{
    return kase->profile.base[database_table(kase, table)] + database_column(kase, table, column);
}

struct cleave_scheme_input database_input(const struct cleave_case *kase, uint32_t shards,
                                          uint64_t seed, const struct cleave_steer *steer)
{
    return (struct cleave_scheme_input){.schema = kase->schema,
                                        .workload = &kase->train,
                                        .profile = &kase->profile,
                                        .shards = shards,
                                        .seed = seed,
                                        .steer = steer};
}

uint32_t database_shard(const struct cleave_case *kase, const struct cleave_lookup *lookup,
                        const char *table, const char *column, const char *value)
{
    uint32_t t = database_table(kase, table), c = database_column(kase, table, column);
    const struct cleave_table *of = &kase->schema->tables[t];
    struct cleave_value *row = calloc(of->column_count, sizeof *row);
    struct cleave_arena arena = {0};
    need(row, "memory");
    if (value)
        need(!cleave__value_parse(of->columns[c].type, value, strlen(value), &arena, &row[c]),
             value);
    uint32_t shard = cleave__lookup_row(lookup, t, row, of->column_count);
    free(row);
    cleave__arena_free(&arena);
    return shard;
}

unsigned char *database_bytes(const struct cleave_lookup *lookup, size_t *length)
{
    char path[] = "lookup-XXXXXX";
    int file = mkstemp(path);
    need(file >= 0, "a temporary file");
    close(file);
    struct cleave_error error = {.message = ""};
    need(!cleave__lookup_write(lookup, path, &error), error.message);
    *length = cleave__lookup_bytes(lookup);
    unsigned char *bytes = malloc(*length + 1);
    FILE *in = fopen(path, "rb");
    need(bytes && in && fread(bytes, 1, *length + 1, in) == *length, "the lookup table's file");
    fclose(in);
    remove(path);
    return bytes;
}
