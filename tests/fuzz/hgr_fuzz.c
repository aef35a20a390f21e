/* Any bytes as a file of every kind: a hypergraph that is read passes its check and can be
 * partitioned. The first byte chooses the format and the number of blocks. */
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
                                               .objective = (enum cleave_objective)(blocks % 3),
                                               .preset = CLEAVE_FAST,
                                               .starts = 1};
    struct cleave_partition_result result, recount;
    struct cleave_error error;
    enum cleave_status status = cleave_partition(h, &options, block, &result, &error);
    assert(status == CLEAVE_OK || status == CLEAVE_UNSATISFIABLE);
    assert(result.balanced == (status == CLEAVE_OK));
    assert(!cleave_partition_measure(h, &options, block, &recount, &error));
    assert(recount.cut == result.cut && recount.km1 == result.km1 && recount.soed == result.soed);
    free(block);
}

/* Each reads or tells, and leaves nothing behind. */
static void read_steering(const char *path, uint32_t vertices, uint32_t blocks)
{
    int32_t *fixed = NULL;
    uint32_t *group = NULL, (*pair)[2] = NULL, count = 0;
    struct cleave_error error = {0};
    enum cleave_status status = cleave_fix_read(path, vertices, blocks, &fixed, &error);
    assert(!status == !!fixed);
    for (uint32_t v = 0; fixed && v < vertices; v++)
        assert(fixed[v] == CLEAVE_FREE || (fixed[v] >= 0 && (uint32_t)fixed[v] < blocks));
    status = cleave_together_read(path, vertices, &group, &error);
    assert(!status == !!group);
    status = cleave_apart_read(path, vertices, &pair, &count, &error);
    assert(!status == !!pair);
    for (uint32_t i = 0; i < count; i++)
        assert(pair[i][0] < vertices && pair[i][1] < vertices && pair[i][0] != pair[i][1]);
    free(fixed);
    free(group);
    free(pair);
}

static enum cleave_status read_hypergraph(uint8_t format, const char *path,
                                          struct cleave_hypergraph **out,
                                          struct cleave_error *error)
{
    if (format & 0x80)
        return cleave_hypergraph_read_graph(path, out, error);
    if (format & 0x40)
        return cleave_hypergraph_read_patoh(path, out, error);
    return cleave_hypergraph_read_hgr(path, out, error);
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
    uint32_t blocks = 1 + (data[0] & 0x0f);
    if (read_hypergraph(data[0], path, &h, &error)) {
        assert(!h && error.message[0]);
    } else {
        assert(!cleave_hypergraph_check(h, &error));
        use(h, blocks);
    }
    cleave_hypergraph_free(h);
    read_steering(path, data[0] / 8, blocks);
    close(descriptor);
    return 0;
}
