/* Any bytes as statements of a trace: a schema with well-formed columns, or none. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/schema_infer.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct cleave_schema_observer *observer;
    struct cleave_schema *schema;
    struct cleave_parameter parameters[] = {{.text = "15", .length = 2}, {.is_null = true}};
    const char *at = (const char *)data, *end = at + size;
    if (cleave__schema_observer_new("fuzz", &observer, NULL))
        abort();
    while (at < end) { /* a statement a line */
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        cleave__schema_observe(observer, at, (size_t)(stop - at), parameters, 2, NULL);
        at = stop + (stop < end);
    }
    if (!cleave__schema_observer_finish(observer, &schema, NULL)) {
        for (uint32_t t = 0; t < schema->table_count; t++) {
            const struct cleave_table *table = &schema->tables[t];
            for (uint32_t c = 0; c < table->column_count; c++) {
                const char *name = table->columns[c].name;
                if (!table->columns[c].type_name[0] ||
                    cleave__schema_column(table, name, strlen(name)) != c)
                    abort();
            }
        }
        cleave__schema_free(schema);
    }
    cleave__schema_observer_free(observer);
    return 0;
}
