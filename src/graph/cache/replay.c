/* Replaying a trace; see the header. */
#include "graph/cache/replay.h"

#include <stdlib.h>

enum { REPORT_EVERY = 1 << 14 };

enum cleave_status cleave__cache_next_uses(const struct cleave__cache_trace *trace, uint64_t *next,
                                           struct cleave_error *error)
{
    uint64_t *seen = malloc(((size_t)trace->objects + 1) * sizeof *seen);
    if (!seen)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u objects",
                                trace->objects);
    for (uint32_t i = 0; i < trace->objects; i++)
        seen[i] = UINT64_MAX;
    for (uint64_t i = trace->requests; i-- > 0;) {
        next[i] = seen[trace->request[i]];
        seen[trace->request[i]] = i;
    }
    free(seen);
    return CLEAVE_OK;
}

static enum cleave_status run(const struct cleave__cache_trace *trace, struct cleave__cache *cache,
                              const struct cleave_progress *progress,
                              struct cleave__cache_replay *out, struct cleave_error *error)
{
    for (uint64_t i = 0; i < trace->requests; i++) {
        uint32_t object = trace->request[i];
        uint64_t size = trace->size ? trace->size[object] : 0;
        out->requested_bytes += size;
        if (!cleave__cache_get(cache, object, 0, NULL)) {
            struct cleave__cache_entry entry = {.size = size};
            out->missed_bytes += size;
            enum cleave_status status = cleave__cache_put(cache, object, &entry, NULL, error);
            if (status)
                return status;
        }
        if (progress && i % REPORT_EVERY == 0) {
            if (progress->stop && *progress->stop)
                return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
            if (progress->report)
                progress->report(progress->context, "requests replayed", i, trace->requests);
        }
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__cache_replay(const struct cleave__cache_trace *trace,
                                        const struct cleave__cache_choice *choice,
                                        uint64_t capacity, bool in_bytes,
                                        const struct cleave_progress *progress,
                                        struct cleave__cache_replay *out,
                                        struct cleave_error *error)
{
    if (in_bytes && !trace->size)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a capacity in bytes needs a trace with sizes");
    struct cleave__cache_options options = {
        .choice = *choice, .capacity = capacity, .in_bytes = in_bytes};
    struct cleave__cache_replay result = {0};
    struct cleave__cache *cache = NULL;
    uint64_t *next = NULL;
    enum cleave_status status = CLEAVE_OK;
    if (cleave__cache_policy_needs_future(choice->policy)) {
        next = malloc(((size_t)trace->requests + 1) * sizeof *next);
        status = next ? cleave__cache_next_uses(trace, next, error)
                      : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the future");
        options.next_use = next;
        options.next_uses = trace->requests;
    }
    if (!status)
        status = cleave__cache_new(&options, &cache, error);
    if (!status)
        status = run(trace, cache, progress, &result, error);
    if (!status) {
        result.counts = cleave__cache_counts(cache);
        result.memory_bytes = cleave__cache_memory_bytes(cache);
        *out = result;
    }
    cleave__cache_free(cache);
    free(next);
    return status;
}
