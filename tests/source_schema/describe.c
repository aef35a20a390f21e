/* See describe.h. */
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct cleave_table *const *)a)->name,
                  (*(const struct cleave_table *const *)b)->name);
}

static void put_columns(FILE *out, const struct cleave_table *table, uint32_t count,
                        const uint32_t *columns)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, " %s", table->columns[columns[i]].name);
}

static void put_table(FILE *out, const struct cleave_schema *schema,
                      const struct cleave_table *table, bool views)
{
    fprintf(out, "%s%s (", table->name, table->view ? " view" : "");
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct cleave_column *column = &table->columns[i];
        fprintf(out, "%s%s %s%s%s", i ? ", " : "", column->name, column->type_name,
                column->not_null ? "!" : "", column->has_default ? "=" : "");
    }
    fputc(')', out);
    if (table->primary.count) {
        fputs(" key", out);
        put_columns(out, table, table->primary.count, table->primary.columns);
    }
    for (uint32_t i = 0; i < table->unique_count; i++) {
        fputs(" unique", out);
        put_columns(out, table, table->uniques[i].count, table->uniques[i].columns);
    }
    for (uint32_t i = 0; i < table->foreign_count; i++) {
        const struct cleave_foreign_key *foreign = &table->foreigns[i];
        const struct cleave_table *target = &schema->tables[foreign->target_table];
        fputs(" foreign", out);
        put_columns(out, table, foreign->count, foreign->columns);
        fprintf(out, " -> %s", target->name);
        put_columns(out, target, foreign->count, foreign->target_columns);
    }
    if (views && table->view)
        fprintf(out, " as %s", table->view);
    fputc('\n', out);
}

char *schema_describe(const struct cleave_schema *schema, bool views)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    const struct cleave_table **sorted = calloc(schema->table_count + (size_t)1, sizeof *sorted);
    if (!out || !sorted)
        abort();
    for (uint32_t i = 0; i < schema->table_count; i++)
        sorted[i] = &schema->tables[i];
    qsort(sorted, schema->table_count, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < schema->table_count; i++)
        put_table(out, schema, sorted[i], views);
    free(sorted);
    fclose(out);
    return text;
}

static bool broken(const struct cleave_table *table, const char *what)
{
    fprintf(stderr, "table \"%s\": %s\n", table->name, what);
    return false;
}

static bool columns_fit(const struct cleave_table *table, uint32_t count, const uint32_t *columns)
{
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] >= table->column_count)
            return false;
        for (uint32_t j = 0; j < i; j++) {
            if (columns[i] == columns[j])
                return false;
        }
    }
    return count > 0;
}

bool schema_check(const struct cleave_schema *schema)
{
    if (schema->names.count != schema->table_count) {
        fprintf(stderr, "names and tables differ in number\n");
        return false;
    }
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        if (cleave__schema_table(schema, table->name, strlen(table->name)) != t)
            return broken(table, "its name leads elsewhere");
        for (uint32_t i = 0; i < table->column_count; i++) {
            const struct cleave_column *column = &table->columns[i];
            if (!column->name || !column->type_name ||
                cleave__schema_column(table, column->name, strlen(column->name)) != i)
                return broken(table, "a column's name leads elsewhere");
        }
        if (table->primary.count &&
            !columns_fit(table, table->primary.count, table->primary.columns))
            return broken(table, "its primary key is no set of columns");
        for (uint32_t i = 0; i < table->primary.count; i++) {
            if (!table->columns[table->primary.columns[i]].not_null)
                return broken(table, "its primary key may be NULL");
        }
        for (uint32_t i = 0; i < table->unique_count; i++) {
            if (!columns_fit(table, table->uniques[i].count, table->uniques[i].columns))
                return broken(table, "a unique key is no set of columns");
        }
        for (uint32_t i = 0; i < table->foreign_count; i++) {
            const struct cleave_foreign_key *foreign = &table->foreigns[i];
            if (!columns_fit(table, foreign->count, foreign->columns) ||
                foreign->target_table >= schema->table_count ||
                !columns_fit(&schema->tables[foreign->target_table], foreign->count,
                             foreign->target_columns))
                return broken(table, "a foreign key is no pair of sets of columns");
        }
    }
    for (uint32_t i = 0; i < schema->aliases.count; i++) {
        uint32_t target = schema->alias_tables[i];
        if (target != CLEAVE_ABSENT && target >= schema->table_count) {
            fprintf(stderr, "alias \"%s\" leads nowhere\n", schema->aliases.entries[i].bytes);
            return false;
        }
    }
    return true;
}
