/* Any bytes as a hypergraph file: what is read passes its check and can be partitioned. The first
 * byte chooses the format and the number of blocks. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleave/partition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct cleave_hypergraph *h, uint32_t blocks)
{
    if (h->vertices > 2000 || h->net_offset[h->nets] > 20000)
        return;
    uint32_t *block = malloc(((size_t)h->vertices + 1) * sizeof *block);
    assert(block);
    struct cleave_partition_options options = {.blocks = blocks,
                                               .epsilon = 0.03,
                                               .objective = blocks % 2 ? CLEAVE_CUT : CLEAVE_KM1,
                                               .starts = 1};
    struct cleave_partition_result result, recount;
    struct cleave_error error;
    enum cleave_status status = cleave_partition(h, &options, block, &result, &error);
    assert(status == CLEAVE_OK || status == CLEAVE_UNSATISFIABLE);
    assert(result.balanced == (status == CLEAVE_OK));
    assert(!cleave_partition_measure(h, &options, block, &recount, &error));
    assert(recount.cut == result.cut && recount.km1 == result.km1);
    free(block);
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

    struct cleave_hypergraph *h = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = data[0] & 0x80 ? cleave_hypergraph_read_graph(path, &h, &error)
                                               : cleave_hypergraph_read_hgr(path, &h, &error);
    if (status) {
        assert(!h && error.message[0]);
    } else {
        assert(!cleave_hypergraph_check(h, &error));
        use(h, 1 + (data[0] & 0x0f));
    }
    cleave_hypergraph_free(h);
    int32_t *fixed = NULL;
    if (!cleave_fix_read(path, data[0], 1 + data[0] % 4, &fixed, &error))
        free(fixed);
    close(descriptor);
    return 0;
}
