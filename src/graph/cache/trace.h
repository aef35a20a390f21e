/* A trace of requests: which objects were asked for, in order, and how large they are.
 *
 * A line a request: a key, any text, blanks at its ends passed over; or a key, blanks, and its size
 * in bytes. Objects are numbered 0, 1, ... in order of first appearance. An object's size is that
 * of its first request; later ones that say otherwise are counted. Blank lines are passed over. */
#ifndef CLEAVE_GRAPH_CACHE_TRACE_H
#define CLEAVE_GRAPH_CACHE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/progress.h"
#include "cleave/status.h"

enum cleave__cache_trace_format {
    CLEAVE_TRACE_GUESS, /* sized if the first request is two words, the second a whole number */
    CLEAVE_TRACE_KEYS,
    CLEAVE_TRACE_SIZED
};

#define CLEAVE_TRACE_SIZE_MAX (UINT64_C(1) << 48)  /* bytes of one object */
#define CLEAVE_TRACE_BYTES_MAX (UINT64_C(1) << 60) /* of all of them */

struct cleave__cache_trace {
    uint32_t *request; /* [requests], objects */
    uint64_t requests;
    uint64_t *size; /* [objects], bytes, at least 1; NULL: not sized */
    uint32_t objects;
    uint64_t bytes;   /* of all objects; 0: not sized */
    uint64_t resized; /* requests that gave another size than the first */
};

/* `path` "-" is standard input; packed files are unpacked. Bad lines end the reading with file and
 * line. Free with cleave__cache_trace_free. Memory: 4 bytes a request, and the keys. */
enum cleave_status cleave__cache_trace_read(const char *path,
                                            enum cleave__cache_trace_format format,
                                            const struct cleave_progress *progress,
                                            struct cleave__cache_trace *out,
                                            struct cleave_error *error);
void cleave__cache_trace_free(struct cleave__cache_trace *trace);

#endif
