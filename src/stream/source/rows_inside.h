/* What the files of rows share: the reader's state and its formats. */
#ifndef CLEAVE_STREAM_ROWS_INSIDE_H
#define CLEAVE_STREAM_ROWS_INSIDE_H

#include <jansson.h>

#include "base/arena.h"
#include "stream/source/chunk.h"
#include "stream/source/outline.h"
#include "stream/source/rows.h"

enum { CLEAVE__LINE_MOST = 16 << 20, CLEAVE__FEATURE_MOST = 64 << 20 };

struct cleave__slice {
    const char *text;
    size_t length;
};

struct cleave__binding {
    uint32_t column;          /* of text formats */
    const char *const *names; /* of JSON */
};

/* Where a scan of GeoJSON is. */
enum cleave__scan_place { CLEAVE__SCAN_TOP, CLEAVE__SCAN_FEATURES, CLEAVE__SCAN_TAIL };

struct cleave__rows {
    struct cleave__chunk chunk;
    enum cleave__format format;
    const char *path;
    const char *layer;
    char separator;
    size_t next;        /* in the chunk: where the next row begins */
    uint64_t next_line; /* and on which line */
    uint64_t line;      /* of the row at hand */
    struct cleave__slice raw;
    struct cleave__binding bindings[CLEAVE__COLUMNS_MOST];
    uint32_t binding_count;
    /* Text: */
    struct cleave_arena names;
    CLEAVE_VECTOR(char *) columns;
    CLEAVE_VECTOR(struct cleave__slice) fields;
    struct cleave_arena unquoted; /* fields that had quotes within */
    bool first_is_row;            /* the first row was read to guess, and is data */
    /* JSON: */
    json_t *document; /* the row; of TopoJSON the whole file */
    json_t *item;     /* the row: the document, or a shape of it */
    json_t *properties;
    struct cleave__geometry geometry;
    struct cleave__outline outline;
    char (*numbers)[40]; /* [COLUMNS_MOST], of numbers as text */
    char *dumped;        /* raw, where the format does not keep it on a line */
    enum cleave__scan_place place;
    bool by_line; /* of GeoJSON: each feature is on a line of its own */
    bool known;   /* whether it is */
    /* TopoJSON: */
    CLEAVE_VECTOR(json_t *) shapes; /* borrowed from document */
    size_t shape;                   /* the next */
    uint64_t work;                  /* positions of the shape at hand */
};

enum cleave_status cleave__rows_text_open(struct cleave__rows *rows, enum cleave__header header,
                                          struct cleave_error *error);
enum cleave_status cleave__rows_text_next(struct cleave__rows *rows, struct cleave_error *error);

enum cleave_status cleave__rows_json_next(struct cleave__rows *rows, struct cleave_error *error);
/* The document is at hand: its properties and geometry. */
enum cleave_status cleave__rows_json_take(struct cleave__rows *rows, struct cleave_error *error);
struct cleave__value cleave__rows_json_value(const struct cleave__rows *rows, uint32_t handle);
enum cleave_status cleave__rows_json_parse(struct cleave__rows *rows, const char *text,
                                           size_t length, struct cleave_error *error);

enum cleave_status cleave__features_next(struct cleave__rows *rows, struct cleave_error *error);

enum cleave_status cleave__topology_open(struct cleave__rows *rows, struct cleave_error *error);
enum cleave_status cleave__topology_next(struct cleave__rows *rows, struct cleave_error *error);

/* The next line, at rows->chunk.at; the caller counts it (next_line) unless it is too long: then it
 * is passed over, and counted. (rows.c) */
enum cleave_status cleave__rows_next_line(struct cleave__rows *rows, size_t *length,
                                          struct cleave_error *error);

#endif
