/* Rows with named fields, from any of the formats that streams come in: one interface, one format a
 * file. Memory is one row (16 MiB at most, of an outline 64), but for TopoJSON, which is read
 * whole.
 *
 *   csv       RFC 4180: fields in quotes may hold commas and line ends; the separator may be ; or |
 *   tsv       nothing is quoted
 *   ndjson    an object a line
 *   geojson   a FeatureCollection, or Features one after the other (GeoJSONSeq)
 *   topojson  one layer of outlines
 *
 * A fault in a row refuses that row alone: CLEAVE_BAD_INPUT or CLEAVE_LIMIT, with "path:line: ..."
 * in the error; the next call gives the next row. Any other status ends the reading. */
#ifndef CLEAVE_STREAM_ROWS_H
#define CLEAVE_STREAM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/progress.h"
#include "cleave/status.h"
#include "stream/query/space.h"

enum cleave__format {
    CLEAVE__FORMAT_GUESS,
    CLEAVE__FORMAT_CSV,
    CLEAVE__FORMAT_TSV,
    CLEAVE__FORMAT_NDJSON,
    CLEAVE__FORMAT_GEOJSON,
    CLEAVE__FORMAT_TOPOJSON
};
extern const char *const cleave__format_names[]; /* "guess", ...; NULL at the end */

enum cleave__header { CLEAVE__HEADER_GUESS, CLEAVE__HEADER_YES, CLEAVE__HEADER_NO };

struct cleave__rows_options {
    const char *path; /* "-": standard input */
    enum cleave__format format;
    enum cleave__header header;
    const char *layer;                  /* of TopoJSON; NULL: the first */
    const struct cleave_progress *stop; /* may be NULL; borrowed */
};

enum { CLEAVE__COLUMNS_MOST = 192 };

enum cleave__value_kind { CLEAVE__VALUE_ABSENT, CLEAVE__VALUE_TEXT, CLEAVE__VALUE_JSON };

/* Valid until the next row. */
struct cleave__value {
    enum cleave__value_kind kind;
    const char *text; /* not NUL-terminated */
    size_t length;
    const void *json; /* const json_t *: an array or an object */
};

/* Of a GeoJSON or TopoJSON row. `at` is the point of a Point. The box holds the outline, on the
 * globe the short way round (outline.h). */
struct cleave__geometry {
    bool is_there, is_point;
    double x, y;
    struct cleave__box box; /* x0 > x1: across the antimeridian */
};

struct cleave__rows;

/* Reads as far as the names of columns. */
enum cleave_status cleave__rows_open(const struct cleave__rows_options *options,
                                     struct cleave__rows **out, struct cleave_error *error);
void cleave__rows_close(struct cleave__rows *rows);
/* Where the first of the given names is: a handle for _value. Names end with NULL, and are
 * borrowed. `must`: CLEAVE_NOT_FOUND, with the names that there are, if the columns are known and
 * it is none of them. Without must *out is UINT32_MAX then. A number from 1 names a column too; in
 * JSON a dotted path goes into objects and arrays. */
enum cleave_status cleave__rows_bind(struct cleave__rows *rows, const char *const *names, bool must,
                                     uint32_t *out, struct cleave_error *error);
enum cleave_status cleave__rows_next(struct cleave__rows *rows, struct cleave_error *error);
/* True if a whole line is at hand, or the end: _next will hardly wait (a row may go on behind its
 * first line). The row before is no longer valid. */
bool cleave__rows_ready(struct cleave__rows *rows);
/* CLEAVE__VALUE_ABSENT for handle UINT32_MAX. */
struct cleave__value cleave__rows_value(const struct cleave__rows *rows, uint32_t handle);
const struct cleave__geometry *cleave__rows_geometry(const struct cleave__rows *rows);
/* The row as it came, without its line end; of TopoJSON its properties. */
const char *cleave__rows_raw(const struct cleave__rows *rows, size_t *length);
enum cleave__format cleave__rows_format(const struct cleave__rows *rows);
uint64_t cleave__rows_line(const struct cleave__rows *rows); /* where the row began, from 1 */
const char *cleave__rows_path(const struct cleave__rows *rows);
/* Names of the columns, [*count]; 0 when they differ from row to row. */
uint32_t cleave__rows_columns(const struct cleave__rows *rows);
const char *cleave__rows_column(const struct cleave__rows *rows, uint32_t column);
struct cleave__value cleave__rows_field(const struct cleave__rows *rows, uint32_t column);
uint64_t cleave__rows_bytes(const struct cleave__rows *rows); /* unpacked, read so far */

/* "path:line: " and the text. */
enum cleave_status cleave__rows_fail(const struct cleave__rows *rows, struct cleave_error *error,
                                     const char *format, ...) CLEAVE_PRINTF(3, 4);

#endif
