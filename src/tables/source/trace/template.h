/* Where transactions begin in a trace that does not say: learned from the trace itself. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_TEMPLATE_H
#define CLEAVE_TABLES_SOURCE_TRACE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"

enum { CLEAVE_TEMPLATE_NONE = UINT32_MAX };

struct cleave_template_pair {
    uint32_t count;    /* times the second followed the first within a run */
    uint32_t runs;     /* runs that the second begins, and in which it follows the first */
    uint32_t last_run; /* the last such run */
    bool inside;       /* decided: no transaction ends between the two */
};

struct cleave_boundaries {
    struct cleave_intern templates;   /* by hash of the masked text */
    struct cleave_intern pairs;       /* by (first, second) */
    CLEAVE_VECTOR(uint32_t) starts;   /* by template: runs that it begins */
    CLEAVE_VECTOR(uint32_t) followed; /* by template: times a starting template followed it */
    CLEAVE_VECTOR(struct cleave_template_pair) pair;
    uint64_t runs;
    uint32_t run_start, previous; /* while learning */
};

/* Hash of the statement with constants masked, lists of them as one, blanks and case folded. */
uint64_t cleave__template_hash(const char *text, size_t length);
/* Number of the statement's template; `add` makes a new one. CLEAVE_TEMPLATE_NONE: not known, or
 * memory is out when adding, or too many. */
uint32_t cleave__template_of(struct cleave_boundaries *b, const char *text, size_t length,
                             bool add);
/* Two passes over the sample, in order: first note_start of every run's first template, then
 * note_step of every template (`begins`: it is a run's first); then decide. */
bool cleave__boundaries_note_start(struct cleave_boundaries *b, uint32_t first);
bool cleave__boundaries_note_step(struct cleave_boundaries *b, uint32_t next, bool begins);
void cleave__boundaries_decide(struct cleave_boundaries *b);
/* Within a run: does a transaction end between `before` and `next`? */
bool cleave__boundary_between(const struct cleave_boundaries *b, uint32_t before, uint32_t next);
void cleave__boundaries_free(struct cleave_boundaries *b);

#endif
