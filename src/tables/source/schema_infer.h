/* A schema without DDL: tables and columns as the statements of a trace use them.
 *
 * Tables and columns are those that SELECT, INSERT, UPDATE, DELETE and COPY name; a column's type
 * comes from the constants it is compared with, set to or inserted as: integer, numeric, boolean,
 * date, timestamp, uuid, else text. Keys are unknown. A column named without its table, where
 * several tables could be meant, goes to the one that is known to have it, or whose columns share
 * its prefix ("ol_number"), else to none. An INSERT without a column list does not tell names: its
 * values become "column1", "column2", ... in front of the named columns, so that no constant is
 * ever taken for another column's.
 *
 * Cost: statements that differ in constants only are parsed once for each mix of constant kinds
 * (whole number, date, ...); others cost one pass over their tokens. */
#ifndef CLEAVE_TABLES_SOURCE_SCHEMA_INFER_H
#define CLEAVE_TABLES_SOURCE_SCHEMA_INFER_H

#include "tables/source/schema.h"
#include "tables/sql/parameter.h"

struct cleave_schema_observer;

/* `origin` names the trace in messages; copied. */
enum cleave_status cleave__schema_observer_new(const char *origin,
                                               struct cleave_schema_observer **out,
                                               struct cleave_error *error);
void cleave__schema_observer_free(struct cleave_schema_observer *observer);
/* One statement, or several in one text. CLEAVE_BAD_INPUT, CLEAVE_LIMIT: it could not be parsed,
 * and the observer is as before; the caller may go on. */
enum cleave_status cleave__schema_observe(struct cleave_schema_observer *observer, const char *text,
                                          size_t length, const struct cleave_parameter *parameters,
                                          uint32_t parameter_count, struct cleave_error *error);
/* CLEAVE_NOT_FOUND: no statement named a table. The observer is spent, but still to be freed. */
enum cleave_status cleave__schema_observer_finish(struct cleave_schema_observer *observer,
                                                  struct cleave_schema **out,
                                                  struct cleave_error *error);

#endif
