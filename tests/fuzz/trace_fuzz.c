/* Traces of every format: no bytes crash the readers, and the counts always add up. The first byte
 * chooses the format (0: detected). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tables/source/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    int file = memfd_create("trace", 0);
    char path[64];
    if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *paths[2] = {path, path};
    struct cleave_trace_options options = {
        .format = (enum cleave_trace_format)(data[0] % 6),
        .line_prefix = data[0] & 64 ? "%m [%p] %q%u@%d " : NULL,
        .database = data[0] & 32 ? "d" : NULL,
    };
    struct cleave_trace *trace = NULL;
    struct cleave_trace_transaction x;
    struct cleave_error error = {0};
    enum cleave_status status =
        cleave__trace_open(paths, data[0] & 128 ? 2 : 1, &options, &trace, &error);
    size_t read = 0;
    while (!status && !(status = cleave__trace_next(trace, &x, &error))) {
        if (!x.statement_count || !x.session)
            abort();
        for (uint32_t i = 0; i < x.statement_count; i++) {
            read += strnlen(x.statements[i].text, x.statements[i].length + 1);
            if (x.statements[i].text[x.statements[i].length])
                abort();
            for (uint32_t p = 0; p < x.statements[i].parameter_count; p++)
                read += strlen(x.statements[i].parameters[p].text);
        }
    }
    if (status == CLEAVE_END && trace &&
        cleave__trace_counters_check(cleave__trace_counters(trace), &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    if (status != CLEAVE_OK && !error.message[0])
        abort();
    cleave__trace_close(trace);
    close(file);
    return read == SIZE_MAX;
}
