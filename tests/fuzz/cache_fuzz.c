/* Any bytes as a trace in each format, replayed through every policy with a check at the end; and
 * any text as the name of a policy. The first byte chooses format and capacity. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/cache/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS_MAX = 2000 };

static void use(const struct cleave__cache_trace *trace, uint64_t capacity)
{
    uint64_t fewest = UINT64_MAX;
    for (uint32_t i = 0; cleave__cache_policy_at(i); i++) {
        const char *name = cleave__cache_policy_name(cleave__cache_policy_at(i));
        struct cleave__cache_choice choice;
        struct cleave__cache_replay got;
        assert(!cleave__cache_choice_parse(name, strlen(name), &choice, NULL));
        if (trace->size) {
            assert(!cleave__cache_replay(trace, &choice, capacity, true, NULL, &got, NULL));
            assert(got.counts.bytes <= capacity && got.missed_bytes <= got.requested_bytes);
        }
        assert(!cleave__cache_replay(trace, &choice, capacity, false, NULL, &got, NULL));
        assert(got.counts.hits + got.counts.misses == trace->requests);
        assert(got.counts.misses >= trace->objects && got.counts.entries <= capacity);
        fewest = got.counts.misses < fewest ? got.counts.misses : fewest;
        if (cleave__cache_policy_needs_future(cleave__cache_policy_at(i)))
            assert(got.counts.misses == fewest);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int descriptor = memfd_create("input", 0);
    assert(descriptor >= 0);
    assert(write(descriptor, data + 1, size - 1) == (ssize_t)(size - 1));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);

    struct cleave__cache_trace trace = {0};
    struct cleave__cache_choice choice = {0};
    struct cleave_error error = {0};
    enum cleave__cache_trace_format format = data[0] % 3;
    if (cleave__cache_trace_read(path, format, NULL, &trace, &error))
        assert(error.message[0] && !trace.request);
    else if (trace.requests <= REQUESTS_MAX)
        use(&trace, 1 + data[0] / 3);
    cleave__cache_trace_free(&trace);
    close(descriptor);
    if (cleave__cache_choice_parse((const char *)data + 1, size - 1, &choice, &error))
        assert(error.message[0] && !choice.policy);
    else
        assert(choice.policy);
    return 0;
}
