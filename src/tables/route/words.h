/* Words into a buffer of fixed size (it keeps a NUL; what does not fit is counted), or into a
 * growing text. */
#ifndef CLEAVE_TABLES_ROUTE_WORDS_H
#define CLEAVE_TABLES_ROUTE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cleave/status.h"
#include "tables/source/schema.h"

struct cleave_words {
    char *data;
    size_t length; /* needed so far, the NUL apart */
    size_t size;
    bool grows;    /* data is malloc'd, the owner frees */
    bool one_line; /* control characters in values become blanks */
    bool failed;   /* memory is out */
};

void cleave__words_add(struct cleave_words *words, const char *format, ...) CLEAVE_PRINTF(2, 3);
void cleave__words_bytes(struct cleave_words *words, const char *bytes, size_t length);
/* The text with its control characters made blanks. */
void cleave__words_plain(struct cleave_words *words, const char *text);
/* A value as SQL writes it; long texts are shortened to `most` bytes (0: whole). */
void cleave__words_value(struct cleave_words *words, const struct cleave_value *value,
                         enum cleave_type type, size_t most);
/* Any text as SQL writes it. */
void cleave__words_literal(struct cleave_words *words, const char *text, size_t length);
/* "= 3", "in (1, 2)", "between 3 and 5", "< 7", "is null": what a range says of a column. */
void cleave__words_range(struct cleave_words *words, const struct cleave_range *range,
                         enum cleave_type type);
/* An identifier, quoted when SQL needs it; "schema.table" in its parts. */
void cleave__words_name_part(struct cleave_words *words, const char *name); /* dots are letters */
void cleave__words_name(struct cleave_words *words, const char *name);
/* The declared type, when it is one that DDL can repeat; serial types lose their sequence. */
void cleave__words_type(struct cleave_words *words, const char *type);

#endif
