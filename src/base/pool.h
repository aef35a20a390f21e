/* A few threads that share the tasks of one piece of work after another.
 *
 * A task is a number; what it may write must belong to it alone, so that the outcome does not
 * depend on which thread runs it or when. Not reentrant: tasks do not start work on their own
 * pool. A pool of one thread runs everything in the caller. */
#ifndef CLEAVE_BASE_POOL_H
#define CLEAVE_BASE_POOL_H

#include <stdint.h>

struct cleave__pool;

/* `threads` counts the caller; 0 and 1 mean the caller alone. Fewer are started when the system
 * gives no more. NULL when memory is out. Free with cleave__pool_free; NULL is allowed there. */
struct cleave__pool *cleave__pool_new(uint32_t threads);
void cleave__pool_free(struct cleave__pool *pool);

/* How many threads there are, the caller included; `worker` below is less than that. */
uint32_t cleave__pool_threads(const struct cleave__pool *pool);

/* Runs task 0 .. count - 1, each once, in rising order of their start, and returns when all have
 * ended. `worker` tells which thread runs it, for scratch memory. `pool` NULL: in the caller. */
typedef void cleave__task(void *context, uint32_t task, uint32_t worker);
void cleave__pool_run(struct cleave__pool *pool, uint32_t count, cleave__task *task, void *context);

#endif
