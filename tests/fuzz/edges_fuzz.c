/* Any bytes as an edge list, as labels and as a placement: a graph that is read passes its check,
 * and its own ids are found again. The first byte chooses; a zero byte in the rest parts the files.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/source/read.h"
#include "graph/source/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int hold(const uint8_t *data, size_t size, char *path)
{
    int descriptor = memfd_create("input", 0);
    assert(descriptor >= 0);
    assert(write(descriptor, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

static void use(struct cleave__graph *g, const char *path, uint32_t shards)
{
    struct cleave_error error = {0};
    struct cleave__graph_stats stats;
    uint32_t *owner = malloc(((size_t)g->vertices + 1) * sizeof *owner);
    assert(owner && !cleave__graph_check(g, &error));
    for (uint32_t v = 0; v < g->vertices; v++) {
        char buffer[24];
        size_t length;
        uint32_t found;
        const char *id = cleave__graph_id(g, v, buffer, &length);
        assert(cleave__graph_find(g, id, length, &found) && found == v);
    }
    assert(!cleave__graph_stats(g, &stats, &error) && stats.edges == cleave__graph_edges(g));
    if (cleave__graph_read_labels(g, path, &error))
        assert(error.message[0] && !g->label);
    assert(!cleave__graph_check(g, &error));
    if (!cleave__graph_read_owner(g, path, shards, owner, &error)) {
        for (uint32_t v = 0; v < g->vertices; v++)
            assert(owner[v] < shards);
    }
    free(owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], other[64];
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    if (size == 0)
        return 0;
    const uint8_t *zero = memchr(data + 1, 0, size - 1);
    size_t first = zero ? (size_t)(zero - data - 1) : size - 1;
    int descriptor = hold(data + 1, first, path);
    int second = hold(zero ? zero + 1 : data + 1, zero ? size - first - 2 : size - 1, other);
    if (cleave__graph_read(path, data[0] & 1, NULL, &g, &error))
        assert(!g && error.message[0]);
    else
        use(g, other, 1 + data[0] / 2);
    cleave__graph_free(g);
    close(descriptor);
    close(second);
    return 0;
}
