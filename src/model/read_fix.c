/* Fix files: one number a vertex, its block or -1. The range of blocks is the partitioner's to
 * check; here it is 0 .. 2^31-1. */
#include <stdlib.h>

#include "base/vector.h"
#include "cleave/hypergraph.h"
#include "model/numbers.h"

enum cleave_status cleave_fix_read(const char *path, uint32_t vertices, int32_t **out,
                                   struct cleave_error *error)
{
    struct cleave__numbers in;
    CLEAVE_VECTOR(int32_t) fix = {0};
    enum cleave_status status = cleave__numbers_open(&in, path, error);
    if (status)
        return status;
    while (fix.count < vertices) {
        status = cleave__numbers_line(&in, error);
        if (status == CLEAVE_END)
            status = cleave__numbers_fail(&in, error, "file ends after %zu of %u vertices",
                                          fix.count, vertices);
        int64_t block = 0;
        if (!status)
            status = cleave__numbers_next(&in, "block", CLEAVE_FREE, INT32_MAX, &block, error);
        if (!status && !cleave__numbers_done(&in))
            status = cleave__numbers_fail(&in, error, "more than one number on the line");
        if (!status && !CLEAVE_PUSH(&fix, (int32_t)block))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory", path);
        if (status)
            goto done;
    }
    status = cleave__numbers_finish(&in, "the hypergraph has vertices", error);
    if (!status && !CLEAVE_RESERVE(&fix, 1)) /* no vertices: still an array to free */
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: no memory", path);
done:
    cleave__numbers_close(&in);
    if (status)
        CLEAVE_VECTOR_FREE(&fix);
    else
        *out = fix.data;
    return status;
}
