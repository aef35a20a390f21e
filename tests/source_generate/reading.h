/* What the generator tests share: opening by "name=value" words, and finding numbers in SQL. */
#ifndef CLEAVE_TESTS_GENERATE_READING_H
#define CLEAVE_TESTS_GENERATE_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "tables/source/generate.h"

/* `words`: "warehouses=2 items=100", or "". Fails the test when it does not open. */
struct cleave_generator *open_benchmark(const char *benchmark, const char *words, uint64_t seed);
enum cleave_status try_benchmark(const char *benchmark, const char *words, uint64_t seed,
                                 struct cleave_generator **out, struct cleave_error *error);
/* Fails the test when memory runs out. */
struct cleave_trace_transaction next_transaction(struct cleave_generator *generator,
                                                 const char **kind);

bool starts(const char *text, const char *start);
/* The number right after the first `mark` in `text`; -1 when there is none. */
long number_after(const char *text, const char *mark);
/* Numbers of a VALUES list, strings passed over; how many. */
uint32_t values_of(const char *text, long *out, uint32_t most);

/* Pearson's statistic of counts against expected shares (which sum to 1). */
double chi_square(const uint32_t *counts, const double *shares, uint32_t cells);

#endif
