/* Prints a schema: from DDL or from a live database, and what is known of its sizes. For the tests
 * that compare the two. usage: print ddl|catalog WHAT [--stats FILE] [--values] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

static void put_values(const struct cleave_column *column, const char *label, uint32_t count,
                       const struct cleave_value *values, const double *shares)
{
    printf(" %s", label);
    for (uint32_t i = 0; i < count; i++) {
        char text[200];
        cleave__value_print(&values[i], column->type, text, sizeof text);
        printf(" %s", text);
        if (shares)
            printf("*%g", shares[i]);
    }
}

/* What constants of each column are read as; a view's columns are not always known from DDL. */
static void print_types(const struct cleave_schema *schema)
{
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        for (uint32_t c = 0; c < table->column_count && !table->view; c++)
            printf("%s.%s is %s\n", table->name, table->columns[c].name,
                   cleave__type_name(table->columns[c].type));
    }
}

static void print_sizes(const struct cleave_schema *schema)
{
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        printf("%s: rows %g of %g bytes, origin %d\n", table->name, table->rows, table->row_bytes,
               (int)table->size_origin);
        for (uint32_t c = 0; c < table->column_count; c++) {
            const struct cleave_column *column = &table->columns[c];
            const struct cleave_column_stats *stats = &column->stats;
            if (!stats->known)
                continue;
            printf("%s.%s: null %g distinct %g width %g", table->name, column->name,
                   stats->null_fraction, stats->distinct, stats->width);
            put_values(column, "common", stats->common_count, stats->common,
                       stats->common_frequency);
            put_values(column, "bounds", stats->bound_count, stats->bounds, NULL);
            putchar('\n');
        }
    }
}

int main(int count, char **arguments)
{
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = CLEAVE_BAD_ARGUMENT;
    bool values = false;
    if (count >= 3 && strcmp(arguments[1], "ddl") == 0)
        status = cleave__schema_read_ddl(arguments[2], &schema, &error);
    else if (count >= 3 && strcmp(arguments[1], "catalog") == 0)
        status = cleave__schema_read_catalog(arguments[2], &schema, &error);
    for (int i = 3; i < count && !status; i++) {
        if (strcmp(arguments[i], "--values") == 0)
            values = true;
        else if (strcmp(arguments[i], "--stats") == 0 && i + 1 < count)
            status = cleave__sizes_read_stats(schema, arguments[++i], &error);
    }
    if (status || !schema_check(schema)) {
        fprintf(stderr, "%s: %s\n", cleave_status_name(status), error.message);
        cleave__schema_free(schema);
        return 1;
    }
    char *text = schema_describe(schema, false);
    fputs(text, stdout);
    free(text);
    print_types(schema);
    if (values)
        print_sizes(schema);
    cleave__schema_free(schema);
    return 0;
}
