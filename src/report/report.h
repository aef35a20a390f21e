/* A result table: described once, printed as aligned text, CSV or JSON.
 *
 *     static const struct cleave_report_column columns[] = {
 *         {.key = "scheme", .title = "scheme"},
 *         {.key = "train.distributed", .title = "train", .unit = "%",
 *          .type = CLEAVE_REPORT_REAL, .scale = 100, .decimals = 2},
 *     };
 *     struct cleave_report report;
 *     cleave__report_init(&report, columns, 2);
 *     if (!cleave__report_row(&report) || !cleave__report_text(&report, 0, "HGP") || ...
 *
 * Invariant: cells are row-major, `column_count` a row; a cell never set is absent (empty in text
 * and CSV, null in JSON). A column holds one type. Texts are copied. */
#ifndef CLEAVE_REPORT_REPORT_H
#define CLEAVE_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/vector.h"
#include "cleave/status.h"

struct json_t;

enum cleave_report_type {
    CLEAVE_REPORT_TEXT,
    CLEAVE_REPORT_INTEGER,
    CLEAVE_REPORT_REAL,
    CLEAVE_REPORT_BOOLEAN
};

struct cleave_report_column {
    const char *key;   /* name in JSON and CSV; dots nest in JSON: "train.distributed" */
    const char *title; /* heading in text; NULL: not shown in text */
    const char *unit;  /* shown after the title; NULL: none */
    enum cleave_report_type type;
    int decimals; /* of a REAL in text */
    double scale; /* text shows value * scale (a share as "%"); 0 means 1 */
};

struct cleave_report_cell {
    bool present;
    union {
        const char *text;
        int64_t integer;
        double real;
        bool boolean;
    };
};

struct cleave_report {
    const struct cleave_report_column *columns; /* borrowed */
    uint32_t column_count;
    CLEAVE_VECTOR(struct cleave_report_cell) cells;
    struct cleave_arena arena; /* texts */
};

/* `columns` must outlive the report. */
void cleave__report_init(struct cleave_report *report, const struct cleave_report_column *columns,
                         uint32_t column_count);
void cleave__report_free(struct cleave_report *report);

/* Starts a row of absent cells; the setters fill the last row. False: memory is out. A value that
 * is not finite leaves its cell absent. */
bool cleave__report_row(struct cleave_report *report);
bool cleave__report_text(struct cleave_report *report, uint32_t column, const char *text);
void cleave__report_integer(struct cleave_report *report, uint32_t column, int64_t value);
void cleave__report_real(struct cleave_report *report, uint32_t column, double value);
void cleave__report_boolean(struct cleave_report *report, uint32_t column, bool value);

uint32_t cleave__report_rows(const struct cleave_report *report);

/* Aligned text, numbers to the right. `width`: columns of the terminal, long texts wrap to fit;
 * 0: as wide as it gets (a file, a pipe). */
enum cleave_status cleave__report_print(const struct cleave_report *report, FILE *out,
                                        uint32_t width, struct cleave_error *error);
/* RFC 4180, with a heading line of keys; lines end in "\n". */
enum cleave_status cleave__report_print_csv(const struct cleave_report *report, FILE *out,
                                            struct cleave_error *error);
/* An array of one object a row, to be placed in a document (json.h writes it); NULL: out of memory.
 * The caller's reference. */
struct json_t *cleave__report_json(const struct cleave_report *report);

#endif
