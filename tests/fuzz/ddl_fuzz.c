/* Any bytes as DDL: a schema that keeps its invariants, or one line of error. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/schema.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_columns(const struct cleave_table *table, uint32_t count, const uint32_t *columns)
{
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] >= table->column_count)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct cleave_schema *schema;
    struct cleave_error error = {0};
    if (cleave__schema_parse_ddl((const char *)data, size, "fuzz", &schema, &error)) {
        if (!error.message[0] || strchr(error.message, '\n'))
            abort();
        return 0;
    }
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        if (cleave__schema_table(schema, table->name, strlen(table->name)) != t)
            abort();
        check_columns(table, table->primary.count, table->primary.columns);
        for (uint32_t i = 0; i < table->unique_count; i++)
            check_columns(table, table->uniques[i].count, table->uniques[i].columns);
        for (uint32_t i = 0; i < table->foreign_count; i++) {
            const struct cleave_foreign_key *foreign = &table->foreigns[i];
            if (foreign->target_table >= schema->table_count)
                abort();
            check_columns(table, foreign->count, foreign->columns);
            check_columns(&schema->tables[foreign->target_table], foreign->count,
                          foreign->target_columns);
        }
    }
    cleave__schema_free(schema);
    return 0;
}
