/* A workload read in parts, for what need not hold all of it. */
#ifndef CLEAVE_TABLES_COMPARE_SCAN_H
#define CLEAVE_TABLES_COMPARE_SCAN_H

#include "tables/compare/case.h"

struct cleave_scan;

/* As a case is loaded, held-out traces and fractions aside: every transaction counts. `source` and
 * what it names stay valid until the scan is closed. */
enum cleave_status cleave__scan_open(const struct cleave_case_source *source,
                                     struct cleave_scan **out, struct cleave_error *error);
/* The case without its workload: schema, analyzer, counters and `format` of what was read so far;
 * of `train` only the counts of transactions and of what was left out. */
const struct cleave_case *cleave__scan_case(const struct cleave_scan *scan);
/* Puts the next transactions, at most `most`, into `part` (initialised here, freed by the caller,
 * also after an error). CLEAVE_END when there are no more. */
enum cleave_status cleave__scan_next(struct cleave_scan *scan, uint32_t most,
                                     struct cleave_workload *part, struct cleave_error *error);
void cleave__scan_close(struct cleave_scan *scan);

#endif
