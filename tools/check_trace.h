/* Runs a generated transaction on a real PostgreSQL and compares the server's answers with what
 * the transaction's later statements took for granted. */
#ifndef CLEAVE_TOOLS_CHECK_TRACE_H
#define CLEAVE_TOOLS_CHECK_TRACE_H

#include <libpq-fe.h>

#include "tables/source/trace.h"

/* Commits it. Prints each difference to stderr and yields how many there were. */
unsigned check_transaction(PGconn *connection, const struct cleave_trace_transaction *transaction);

#endif
