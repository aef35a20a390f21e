/* Shared by the files that evaluate constant expressions: expression.c (the tree), literal.c (what
 * literals say), arithmetic.c, conversion.c. */
#ifndef CLEAVE_TABLES_SQL_SCALAR_H
#define CLEAVE_TABLES_SQL_SCALAR_H

#include "tables/sql/expression.h"

static const struct cleave_scalar cleave_scalar_unknown = {.kind = CLEAVE_SCALAR_UNKNOWN};

static inline struct cleave_value cleave__text_value(const char *text, size_t length)
{
    return (struct cleave_value){.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = text};
}

static inline struct cleave_value cleave__integer_value(int64_t integer)
{
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = integer};
}

/* NULL sets out_of_memory. */
void *cleave__binding_alloc(struct cleave_binding *binding, size_t count, size_t size);
/* Any number, as INTEGER when it is a whole one that fits. */
bool cleave__any_number(struct cleave_binding *binding, const char *text, size_t length,
                        struct cleave_value *out);
struct cleave_scalar cleave__number_scalar(struct cleave_binding *binding, const char *text,
                                           size_t length, bool negate);
struct cleave_scalar cleave__string_scalar(struct cleave_binding *binding,
                                           const struct cleave_token *token);
/* + - * / % of two scalars; NEGATE of one. */
struct cleave_scalar cleave__calculate(struct cleave_binding *binding,
                                       enum cleave_expression_kind kind, struct cleave_scalar x,
                                       struct cleave_scalar y);
struct cleave_scalar cleave__negate(struct cleave_binding *binding, struct cleave_scalar x);
/* Text of an operand of ||; false when it is none. `buffer` holds that of an integer. */
bool cleave__scalar_text(const struct cleave_scalar *scalar, char buffer[24], const char **text,
                         uint32_t *length);
/* The text read as a constant of the family: as a quoted literal (or parameter) would be. */
bool cleave__convert_text(struct cleave_binding *binding, const struct cleave_scalar *scalar,
                          enum cleave_family family, struct cleave_value *out);
/* A cast of a known scalar; `modifier` may be NULL. */
struct cleave_scalar cleave__cast(struct cleave_binding *binding,
                                  const struct cleave_domain_type *type, struct cleave_scalar x,
                                  const struct cleave_scalar *modifier);

#endif
