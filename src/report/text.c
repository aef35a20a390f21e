/* Result tables as aligned text, laid out by libsmartcols (it knows wide characters and escapes
 * control characters). Numbers are never cut; on a narrow terminal long texts wrap. */
#include <errno.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>

#include "report/report.h"

static void format_cell(const struct cleave_report_column *column,
                        const struct cleave_report_cell *cell, char *buffer, size_t size)
{
    double scale = column->scale != 0 ? column->scale : 1;
    switch (column->type) {
    case CLEAVE_REPORT_INTEGER:
        if (scale == 1)
            snprintf(buffer, size, "%" PRId64, cell->integer);
        else
            snprintf(buffer, size, "%.*f", column->decimals, (double)cell->integer * scale);
        break;
    case CLEAVE_REPORT_REAL:
        snprintf(buffer, size, "%.*f", column->decimals, cell->real * scale);
        break;
    case CLEAVE_REPORT_BOOLEAN:
        snprintf(buffer, size, "%s", cell->boolean ? "yes" : "no");
        break;
    case CLEAVE_REPORT_TEXT:
        break;
    }
}

static int add_columns(struct libscols_table *table, const struct cleave_report *report)
{
    for (uint32_t c = 0; c < report->column_count; c++) {
        const struct cleave_report_column *column = &report->columns[c];
        if (!column->title)
            continue;
        char heading[100];
        snprintf(heading, sizeof heading, "%s%s%s", column->title, column->unit ? " " : "",
                 column->unit ? column->unit : "");
        int flags = column->type == CLEAVE_REPORT_TEXT ? SCOLS_FL_WRAP : SCOLS_FL_RIGHT;
        if (!scols_table_new_column(table, heading, 0, flags))
            return -ENOMEM;
    }
    return 0;
}

static int add_rows(struct libscols_table *table, const struct cleave_report *report)
{
    const struct cleave_report_cell *cell = report->cells.data;
    for (uint32_t r = 0; r < cleave__report_rows(report); r++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        if (!line)
            return -ENOMEM;
        size_t shown = 0;
        for (uint32_t c = 0; c < report->column_count; c++, cell++) {
            const struct cleave_report_column *column = &report->columns[c];
            if (!column->title)
                continue;
            char number[400]; /* the longest double has 309 digits before its point */
            const char *text = "";
            if (cell->present && column->type == CLEAVE_REPORT_TEXT) {
                text = cell->text;
            } else if (cell->present) {
                format_cell(column, cell, number, sizeof number);
                text = number;
            }
            int failed = scols_line_set_data(line, shown++, text);
            if (failed)
                return failed;
        }
    }
    return 0;
}

enum cleave_status cleave__report_print(const struct cleave_report *report, FILE *out,
                                        uint32_t width, struct cleave_error *error)
{
    struct libscols_table *table = scols_new_table();
    if (!table)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory for a table");
    int failed = scols_table_set_stream(table, out);
    if (!failed)
        failed = scols_table_set_termforce(table,
                                           width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    if (!failed && width)
        failed = scols_table_set_termwidth(table, width);
    if (!failed)
        failed = scols_table_set_column_separator(table, "  ");
    if (!failed)
        failed = add_columns(table, report);
    if (!failed)
        failed = add_rows(table, report);
    errno = 0;
    if (!failed && cleave__report_rows(report))
        failed = scols_print_table(table);
    scols_unref_table(table);
    if (failed == -ENOMEM)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory for a table");
    if (failed || ferror(out))
        return cleave_error_set(error, CLEAVE_IO, "cannot write the table: %s",
                                errno ? strerror(errno) : "a write failed");
    return CLEAVE_OK;
}
