/* An object's row, as it is shown beside what matches: whole, or the columns that --fields names.
 */
#ifndef CLEAVE_CLI_STREAM_ROW_H
#define CLEAVE_CLI_STREAM_ROW_H

#include "base/bytes.h"
#include "stream/source/rows.h"

enum { CLEAVE_ROW_FIELDS_MAX = 64 };

/* Starts as all zeroes: whole rows. */
struct cleave_row_fields {
    uint32_t count, handles[CLEAVE_ROW_FIELDS_MAX];
    char *names[CLEAVE_ROW_FIELDS_MAX];
    const char *lists[CLEAVE_ROW_FIELDS_MAX][2];
};

/* `list` (NULL: none) is cut at its commas and borrowed. */
enum cleave_status cleave__row_fields_name(struct cleave_row_fields *fields, char *list,
                                           struct cleave_error *error);
/* Finds the columns; not movable after it. */
enum cleave_status cleave__row_fields_bind(struct cleave_row_fields *fields,
                                           struct cleave__rows *rows, struct cleave_error *error);
/* Appends the row at hand: on one line, tab-separated, or as JSON. */
void cleave__row_write(const struct cleave_row_fields *fields, const struct cleave__rows *rows,
                       bool json, struct cleave_writer *writer);

/* Text as a JSON string. */
void cleave__row_put_json(struct cleave_writer *writer, const char *text, size_t length);
/* Text on one line, and in one column unless `tabs` are columns already. */
void cleave__row_put_flat(struct cleave_writer *writer, const char *text, size_t length, bool tabs);
static inline void cleave__row_put(struct cleave_writer *writer, const char *text)
{
    cleave__put_bytes(writer, text, strlen(text));
}

/* Standard output took no more (`reason`: errno). Nobody reads on (head): that is an end like
 * another, and what is left is written to nowhere. Else CLEAVE_IO. */
enum cleave_status cleave__row_output_closed(int reason, struct cleave_error *error);

#endif
