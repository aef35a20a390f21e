/* Makes the Nth allocation fail, for every N. Link with `failalloc_args` (--wrap of malloc, calloc,
 * realloc, strdup); libraries' own allocations inside our calls are counted only if wrapped. */
#ifndef CLEAVE_TESTS_FAILALLOC_H
#define CLEAVE_TESTS_FAILALLOC_H

#include <stdbool.h>

/* Calls `attempt(context)` with the 1st, 2nd, ... allocation failing until an attempt made no
 * failing allocation. `attempt` must release everything, and return false only if it saw something
 * wrong (a crash or leak is found by the sanitizers; success despite a failed allocation is fine).
 * `every` > 1 tries each every-th N only. */
bool failalloc_run(const char *name, bool (*attempt)(void *context), void *context, unsigned every);
/* The same, but only allocations of the calling thread count: for code that runs libpg_query, which
 * works on a thread of its own and ends the process when its first allocation fails. */
bool failalloc_run_thread(const char *name, bool (*attempt)(void *context), void *context,
                          unsigned every);

#endif
