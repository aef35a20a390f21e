/* Transactions under construction, and the queue of finished ones.
 *
 * All text of one transaction lies in one growing buffer; statements and parameters hold offsets
 * into it, which become pointers when it is handed out. Used pieces are kept and reused. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_WORK_H
#define CLEAVE_TABLES_SOURCE_TRACE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "tables/source/trace.h"

struct cleave_trace_work {
    struct cleave_trace_work *next;
    CLEAVE_VECTOR(char) bytes;
    CLEAVE_VECTOR(struct cleave_trace_statement) statements; /* text: an offset until finished */
    CLEAVE_VECTOR(struct cleave_parameter) parameters;       /* likewise */
    size_t label;                                            /* offset of the session's name */
    uint32_t file;
    uint64_t dropped; /* statements that did not fit in CLEAVE_TRANSACTION_MAX */
};

struct cleave_trace_works {
    struct cleave_trace_work *free, *ready_first, *ready_last, *given;
    uint32_t free_count;
};

/* An empty one; NULL when memory is out. */
struct cleave_trace_work *cleave__work_take(struct cleave_trace_works *works);
/* Gives one back (NULL is fine). */
void cleave__work_drop(struct cleave_trace_works *works, struct cleave_trace_work *work);
/* Copies a statement in; past the size limit it is counted in `dropped` instead. */
bool cleave__work_add(struct cleave_trace_work *work, const char *text, size_t length,
                      const struct cleave_parameter *parameters, uint32_t count);
/* Names it and puts it at the end of the queue. */
bool cleave__work_finish(struct cleave_trace_works *works, struct cleave_trace_work *work,
                         const char *label, uint32_t file);
/* The first of the queue, valid until the next call; false when the queue is empty. */
bool cleave__work_give(struct cleave_trace_works *works, struct cleave_trace_transaction *out);
void cleave__works_free(struct cleave_trace_works *works);

#endif
