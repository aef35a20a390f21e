/* A strict reader of Prometheus' text format 0.0.4, written from its description, for tests: what
 * it takes, Prometheus takes. It wants more than a scraper does: HELP and TYPE before samples, each
 * family in one piece, no series twice, buckets that rise and end in +Inf, equal to the count. */
#ifndef CLEAVE_TESTS_EXPOSITION_H
#define CLEAVE_TESTS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

/* False: `*why` says what is wrong with line `*line` (from 1). */
bool exposition_check(const char *text, size_t length, size_t *line, const char **why);
/* The value of the series as it is written ("a_total{x=\"1\"}"); NAN: there is none. */
double exposition_value(const char *text, const char *series);

#endif
