/* Any bytes as sizes: as YAML, JSON or CSV, and the estimates made from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/source/sizes.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char ddl[] =
    "CREATE TABLE t (a int PRIMARY KEY, b text, c numeric, d timestamp, e boolean, f uuid);";

static void estimate(const struct cleave_table *table, uint32_t column,
                     const struct cleave_range *range)
{
    double share = cleave__selectivity(table, column, range);
    if (!(share >= 0 && share <= 1))
        abort();
    struct cleave_value median;
    if (cleave__range_median(table, column, range, &median) &&
        !cleave__range_contains(range, &median))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    /* One schema for all runs would grow; making one by DDL each time is slow. */
    static struct cleave_schema *schema;
    static unsigned uses;
    if (schema && ++uses % 4096 == 0) {
        cleave__schema_free(schema);
        schema = NULL;
    }
    if (!schema && cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, NULL))
        abort();
    const char *text = (const char *)data;
    enum cleave_status status;
    if (size && *data == 'y')
        status = cleave__sizes_parse_yaml(schema, text + 1, size - 1, "fuzz", NULL);
    else
        status = cleave__sizes_parse_stats(schema, text, size, "fuzz", NULL);
    if (status)
        return 0;
    struct cleave_table *table = &schema->tables[0];
    if (!(table->rows >= 0) || !isfinite(table->rows) || !(table->row_bytes >= 0))
        abort();
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct cleave_column_stats *stats = &table->columns[c].stats;
        struct cleave_range range = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED};
        estimate(table, c, &range);
        for (uint32_t i = 0; i < stats->bound_count && i < 4; i++) {
            range = (struct cleave_range){stats->bounds[i],
                                          stats->bounds[stats->bound_count - 1 - i], 0};
            estimate(table, c, &range);
            range.high = range.low;
            estimate(table, c, &range);
            range.flags = CLEAVE_HIGH_UNBOUNDED;
            estimate(table, c, &range);
        }
        /* The next run starts afresh. */
        table->columns[c].stats = (struct cleave_column_stats){0};
    }
    table->rows = table->row_bytes = 0;
    return 0;
}
