/* Rows of pg_class and pg_stats -> sizes and column statistics of a schema.
 *
 * Bounds and common values are read as constants of the column's type. PostgreSQL sorts text bounds
 * by the column's collation, we compare bytes: bounds are sorted again, which keeps them what they
 * are, evenly drawn points of the distribution. A column whose values cannot be read keeps its null
 * fraction, width and number of distinct values. */
#include <stdio.h>
#include <string.h>

#include "tables/source/sizes.h"

enum { VALUES_MAX = 10001 }; /* PostgreSQL's statistics target ends at 10,000 */

static const double rows_most = 1e15, bytes_most = 1e9;
static const double row_overhead = 28; /* tuple header and line pointer */
static const double page_bytes = 8192;

static enum cleave_status bad(const struct cleave_stats_batch *batch, size_t line,
                              const struct cleave_stats_row *row, const char *what,
                              const struct cleave_text *value, struct cleave_error *error)
{
    int shown = value->length > 40 ? 40 : (int)value->length;
    int table = row->table.length > 64 ? 64 : (int)row->table.length;
    char place[32] = "";
    if (line)
        snprintf(place, sizeof place, "%zu:", line);
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%s %s of \"%.*s\" cannot be \"%.*s\"",
                            batch->origin, place, what, table, row->table.bytes, shown,
                            value->bytes ? value->bytes : "");
}

/* Absent leaves *out alone. */
static enum cleave_status number(const struct cleave_stats_batch *batch, size_t line,
                                 const struct cleave_stats_row *row, const char *what,
                                 const struct cleave_text *value, double least, double most,
                                 double *out, struct cleave_error *error)
{
    double read;
    if (!value->bytes || value->length == 0)
        return CLEAVE_OK;
    if (!cleave__sizes_number(value->bytes, value->length, &read) || read < least || read > most)
        return bad(batch, line, row, what, value, error);
    *out = read;
    return CLEAVE_OK;
}

static uint32_t find_table(const struct cleave_schema *schema, const struct cleave_stats_row *row)
{
    char name[600];
    if (row->schema.length + row->table.length + 1 > sizeof name)
        return CLEAVE_ABSENT;
    if (row->schema.length == 0)
        return cleave__schema_table(schema, row->table.bytes, row->table.length);
    memcpy(name, row->schema.bytes, row->schema.length);
    name[row->schema.length] = '.';
    memcpy(name + row->schema.length + 1, row->table.bytes, row->table.length);
    return cleave__schema_table(schema, name, row->schema.length + 1 + row->table.length);
}

static int compare_values(const void *a, const void *b)
{
    return cleave__value_compare(a, b);
}

/* Elements as values of the type; false when one is not. */
static bool read_values(struct cleave_stats_batch *batch, enum cleave_type type,
                        const struct cleave_text *elements, size_t count, struct cleave_value **out)
{
    struct cleave_arena *arena = &batch->schema->arena;
    struct cleave_value *values = cleave__arena_array(arena, count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!elements[i].bytes)
            return false;
        char *copy = cleave__arena_copy(arena, elements[i].bytes, elements[i].length);
        if (!copy ||
            cleave__value_parse(type, copy, elements[i].length, arena, &values[i]) != CLEAVE_OK ||
            values[i].kind == CLEAVE_NULL)
            return false;
    }
    *out = values;
    return true;
}

static enum cleave_status read_common(struct cleave_stats_batch *batch, size_t line,
                                      const struct cleave_stats_row *row, enum cleave_type type,
                                      struct cleave_column_stats *stats, struct cleave_error *error)
{
    struct cleave_text *values, *shares;
    size_t count, share_count;
    double total = 0;
    if (!row->most_common_vals.bytes || row->most_common_vals.length == 0)
        return CLEAVE_OK;
    if (!cleave__sizes_array(row->most_common_vals.bytes, row->most_common_vals.length,
                             &batch->scratch, &values, &count))
        return bad(batch, line, row, "most_common_vals", &row->most_common_vals, error);
    const struct cleave_text *freqs = &row->most_common_freqs;
    if (!freqs->bytes ||
        !cleave__sizes_array(freqs->bytes, freqs->length, &batch->scratch, &shares, &share_count) ||
        share_count != count || count > VALUES_MAX)
        return bad(batch, line, row, "most_common_freqs", freqs, error);
    double *frequency = cleave__arena_array(&batch->schema->arena, count, sizeof *frequency);
    if (!frequency)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", batch->origin);
    for (size_t i = 0; i < count; i++) {
        if (!shares[i].bytes ||
            !cleave__sizes_number(shares[i].bytes, shares[i].length, &frequency[i]) ||
            frequency[i] < 0 || frequency[i] > 1)
            return bad(batch, line, row, "most_common_freqs", freqs, error);
        total += frequency[i];
    }
    if (total > 1.01)
        return bad(batch, line, row, "the sum of most_common_freqs", freqs, error);
    if (read_values(batch, type, values, count, &stats->common)) {
        stats->common_frequency = frequency;
        stats->common_count = (uint32_t)count;
    }
    return CLEAVE_OK;
}

static enum cleave_status read_bounds(struct cleave_stats_batch *batch, size_t line,
                                      const struct cleave_stats_row *row, enum cleave_type type,
                                      struct cleave_column_stats *stats, struct cleave_error *error)
{
    struct cleave_text *values;
    size_t count;
    const struct cleave_text *bounds = &row->histogram_bounds;
    if (!bounds->bytes || bounds->length == 0)
        return CLEAVE_OK;
    if (!cleave__sizes_array(bounds->bytes, bounds->length, &batch->scratch, &values, &count) ||
        count > VALUES_MAX)
        return bad(batch, line, row, "histogram_bounds", bounds, error);
    if (count < 2 || !read_values(batch, type, values, count, &stats->bounds))
        return CLEAVE_OK;
    qsort(stats->bounds, count, sizeof *stats->bounds, compare_values);
    stats->bound_count = (uint32_t)count;
    return CLEAVE_OK;
}

static enum cleave_status add_table(struct cleave_stats_batch *batch, size_t line,
                                    const struct cleave_stats_row *row, uint32_t table,
                                    struct cleave_error *error)
{
    struct cleave_pending_rows pending = {.table = table};
    enum cleave_status status;
    if ((status = number(batch, line, row, "reltuples", &row->reltuples, -1, rows_most,
                         &pending.rows, error)) ||
        (status = number(batch, line, row, "relpages", &row->relpages, -1, rows_most,
                         &pending.pages, error)) ||
        (status = number(batch, line, row, "row_bytes", &row->row_bytes, 0, bytes_most,
                         &pending.row_bytes, error)))
        return status;
    if (pending.rows < 0) { /* -1: never analysed */
        if (pending.rows > -1)
            return bad(batch, line, row, "reltuples", &row->reltuples, error);
        pending.rows = 0;
    }
    if (pending.pages < 0)
        pending.pages = 0;
    if (!CLEAVE_PUSH(&batch->tables, pending))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", batch->origin);
    return CLEAVE_OK;
}

static bool is_true(const struct cleave_text *text)
{
    return text->bytes && text->length > 0 && (*text->bytes == 't' || *text->bytes == 'T');
}

enum cleave_status cleave__stats_add(struct cleave_stats_batch *batch, size_t line,
                                     const struct cleave_stats_row *row, struct cleave_error *error)
{
    enum cleave_status status;
    if (!row->table.bytes)
        return CLEAVE_OK;
    uint32_t table = find_table(batch->schema, row);
    if (table == CLEAVE_ABSENT)
        return CLEAVE_OK;
    if ((status = add_table(batch, line, row, table, error)))
        return status;
    if (!row->column.bytes || row->column.length == 0)
        return CLEAVE_OK;
    const struct cleave_table *it = &batch->schema->tables[table];
    uint32_t column = cleave__schema_column(it, row->column.bytes, row->column.length);
    if (column == CLEAVE_ABSENT)
        return CLEAVE_OK;
    enum cleave_type type = it->columns[column].type;
    struct cleave_pending_stats pending = {
        .table = table, .column = column, .inherited = is_true(&row->inherited)};
    pending.stats.known = true;
    struct cleave_arena_mark mark = cleave__arena_mark(&batch->scratch);
    if ((status = number(batch, line, row, "null_frac", &row->null_frac, 0, 1,
                         &pending.stats.null_fraction, error)) ||
        (status = number(batch, line, row, "avg_width", &row->avg_width, 0, bytes_most,
                         &pending.stats.width, error)) ||
        (status = number(batch, line, row, "n_distinct", &row->n_distinct, -1, rows_most,
                         &pending.n_distinct, error)) ||
        (status = read_common(batch, line, row, type, &pending.stats, error)) ||
        (status = read_bounds(batch, line, row, type, &pending.stats, error)))
        return status;
    cleave__arena_rewind(&batch->scratch, mark);
    if (!CLEAVE_PUSH(&batch->columns, pending))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", batch->origin);
    return CLEAVE_OK;
}

/* Bytes a row from the widths of its columns, or 0 when one is unknown. */
static double width_of(const struct cleave_table *table)
{
    double sum = row_overhead;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct cleave_column_stats *stats = &table->columns[i].stats;
        if (!stats->known || (stats->width <= 0 && stats->null_fraction < 1))
            return 0;
        sum += stats->width * (1 - stats->null_fraction);
    }
    return table->column_count ? sum : 0;
}

void cleave__stats_apply(struct cleave_stats_batch *batch)
{
    struct cleave_schema *schema = batch->schema;
    for (size_t i = 0; i < batch->tables.count; i++) {
        const struct cleave_pending_rows *pending = &batch->tables.data[i];
        struct cleave_table *table = &schema->tables[pending->table];
        if (pending->rows > 0) {
            table->rows = pending->rows;
            table->size_origin = CLEAVE_SIZE_CATALOG;
        }
    }
    for (size_t i = 0; i < batch->columns.count; i++) {
        const struct cleave_pending_stats *pending = &batch->columns.data[i];
        struct cleave_table *table = &schema->tables[pending->table];
        struct cleave_column_stats *stats = &table->columns[pending->column].stats;
        if (pending->inherited && stats->known)
            continue; /* of a table with children: its own rows come first */
        *stats = pending->stats;
        stats->distinct =
            pending->n_distinct >= 0 ? pending->n_distinct : -pending->n_distinct * table->rows;
        if (stats->distinct > 0 && stats->distinct < 1)
            stats->distinct = 1;
    }
    for (size_t i = 0; i < batch->tables.count; i++) {
        const struct cleave_pending_rows *pending = &batch->tables.data[i];
        struct cleave_table *table = &schema->tables[pending->table];
        double width = pending->row_bytes > 0 ? pending->row_bytes : width_of(table);
        if (width <= 0 && pending->rows > 0 && pending->pages > 0)
            width = pending->pages * page_bytes / pending->rows;
        if (width > 0)
            table->row_bytes = width < bytes_most ? width : bytes_most;
    }
}

void cleave__stats_free(struct cleave_stats_batch *batch)
{
    CLEAVE_VECTOR_FREE(&batch->tables);
    CLEAVE_VECTOR_FREE(&batch->columns);
    cleave__arena_free(&batch->scratch);
}
