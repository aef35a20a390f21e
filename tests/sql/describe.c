#include "describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
    char *buffer;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = line->size - line->length;
    int n = vsnprintf(line->buffer + line->length, left, format, arguments);
    va_end(arguments);
    if (n > 0)
        line->length += (size_t)n < left ? (size_t)n : left - 1;
}

static void put_value(struct line *line, const struct cleave_value *value, enum cleave_type type)
{
    char text[256];
    cleave__value_print(value, type, text, sizeof text);
    put(line, "%s", text);
}

static void put_range(struct line *line, const struct cleave_range *range, enum cleave_type type)
{
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED),
         high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    if (cleave__range_is_point(range)) {
        put_value(line, &range->low, type);
        return;
    }
    put(line, "%s", range->flags & CLEAVE_LOW_OPEN ? "(" : "[");
    if (low)
        put_value(line, &range->low, type);
    put(line, "..");
    if (high)
        put_value(line, &range->high, type);
    put(line, "%s", range->flags & CLEAVE_HIGH_OPEN ? ")" : "]");
}

void describe_statement(const struct cleave_schema *schema,
                        const struct cleave_statement *statement, char *buffer, size_t size)
{
    struct line line = {buffer, size, 0};
    *buffer = 0;
    for (uint32_t i = 0; i < statement->access_count; i++) {
        const struct cleave_access *access = &statement->accesses[i];
        const struct cleave_table *table = &schema->tables[access->table];
        put(&line, "%s%s%s%s %s{", i ? ", " : "",
            access->insert  ? "i"
            : access->write ? "w"
                            : "r",
            access->insert && !access->write ? "?" : "", access->locks ? "l" : "", table->name);
        if (access->box_count == 0)
            put(&line, "-");
        for (uint32_t b = 0; b < access->box_count; b++) {
            const struct cleave_box *box = &access->boxes[b];
            put(&line, "%s%s", b ? " | " : "", box->term_count ? "" : "*");
            for (uint32_t t = 0; t < box->term_count; t++) {
                const struct cleave_term *term = &box->terms[t];
                const struct cleave_column *column = &table->columns[term->column];
                put(&line, "%s%s=", t ? " " : "", column->name);
                for (uint32_t r = 0; r < term->range_count; r++) {
                    put(&line, "%s", r ? "," : "");
                    put_range(&line, &term->ranges[r], column->type);
                }
            }
        }
        put(&line, "}");
    }
    if (statement->unknown_tables)
        put(&line, "%s+%u unknown", line.length ? " " : "", statement->unknown_tables);
    if (statement->opaque)
        put(&line, "%sopaque", line.length ? " " : "");
}
