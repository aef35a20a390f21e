/* A statement without its constants: the key that equal templates share.
 *
 * The key is the statement's text with each plain literal replaced by a mark, and blanks and
 * comments between tokens by one blank. Literals of rare kinds (bit strings, U&'', strings that
 * continue on another line) stay in the key. */
#ifndef CLEAVE_TABLES_SQL_FINGERPRINT_H
#define CLEAVE_TABLES_SQL_FINGERPRINT_H

#include "base/vector.h"
#include "cleave/status.h"
#include "tables/sql/lexer.h"

struct cleave_fingerprint { /* starts as all zeroes; reused from call to call */
    CLEAVE_VECTOR(char) key;
    CLEAVE_VECTOR(struct cleave_token) slots; /* the literals, in order; they point into the text */
};

void cleave__fingerprint_free(struct cleave_fingerprint *fingerprint);
/* Replaces the contents. O(length). Only CLEAVE_NO_MEMORY is possible. */
enum cleave_status cleave__fingerprint_take(struct cleave_fingerprint *fingerprint,
                                            const char *text, size_t length);

#endif
