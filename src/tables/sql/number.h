/* Decimal numbers as canonical text: no exponent, no leading zeros, no trailing zeros after the
 * point, no "-0". Exact: nothing here goes through binary floating point. */
#ifndef CLEAVE_TABLES_SQL_NUMBER_H
#define CLEAVE_TABLES_SQL_NUMBER_H

#include "tables/sql/value.h"

enum { CLEAVE_NUMBER_MAX = 1200 }; /* characters of a canonical number; doubles need 1,100 */

/* Numbers as numeric_in reads them, blanks around allowed; NaN and infinities are refused. `out`
 * borrows `text` when it is canonical already. */
enum cleave_status cleave__number_parse(const char *text, size_t length, struct cleave_arena *arena,
                                        struct cleave_value *out);
/* Order of two canonical numbers. */
int cleave__number_compare(const char *a, uint32_t a_length, const char *b, uint32_t b_length);
/* An integer with an optional sign and blanks around it; false when it is none, or past int64. */
bool cleave__integer_parse(const char *text, size_t length, int64_t *out);
/* True when the canonical number is whole and fits. */
bool cleave__number_to_integer(const char *text, uint32_t length, int64_t *out);
/* The greatest integer at or below; saturates at the ends of int64 and then gives false. */
bool cleave__number_floor(const char *text, uint32_t length, int64_t *out);
/* Digits that carry information: without sign, point, and zeros at either end. */
uint32_t cleave__number_digits(const char *text, uint32_t length);

#endif
