/* A trace against a cache: each request is a get, and after a miss a put. */
#ifndef CLEAVE_GRAPH_CACHE_REPLAY_H
#define CLEAVE_GRAPH_CACHE_REPLAY_H

#include "graph/cache/cache.h"
#include "graph/cache/trace.h"

struct cleave__cache_replay {
    struct cleave__cache_counts counts;
    uint64_t requested_bytes, missed_bytes; /* 0: not sized */
    uint64_t memory_bytes;                  /* of the cache itself, at its end */
};

/* After request i, the next one for its object; UINT64_MAX: none. `next` [requests]. O(requests).
 */
enum cleave_status cleave__cache_next_uses(const struct cleave__cache_trace *trace, uint64_t *next,
                                           struct cleave_error *error);

/* From cold. `in_bytes` needs a sized trace. Belady's future is worked out here. */
enum cleave_status cleave__cache_replay(const struct cleave__cache_trace *trace,
                                        const struct cleave__cache_choice *choice,
                                        uint64_t capacity, bool in_bytes,
                                        const struct cleave_progress *progress,
                                        struct cleave__cache_replay *out,
                                        struct cleave_error *error);

#endif
