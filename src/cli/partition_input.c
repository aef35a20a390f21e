/* What `cleave partition` reads: the hypergraph, and files with a line a vertex. */
#include <stdlib.h>
#include <string.h>

#include "cli/partition.h"

const char *const cleave__partition_formats[] = {"auto", "hgr", "graph", "patoh", NULL};
enum { FORMAT_AUTO, FORMAT_HGR, FORMAT_GRAPH, FORMAT_PATOH };

static bool ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && !memcmp(name + length - n, end, n);
}

/* By the name of a file, whatever it is packed with. */
static uint32_t format_of(const struct cleave_partition_arguments *a)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst", NULL};
    if (a->format != FORMAT_AUTO)
        return a->format;
    size_t length = strlen(a->path);
    for (uint32_t i = 0; packed[i]; i++) {
        if (ends_with(a->path, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    }
    if (ends_with(a->path, length, ".graph"))
        return FORMAT_GRAPH;
    if (ends_with(a->path, length, ".u") || ends_with(a->path, length, ".patoh"))
        return FORMAT_PATOH;
    return FORMAT_HGR;
}

static enum cleave_status read_hypergraph(const struct cleave_partition_arguments *a,
                                          struct cleave_hypergraph **out,
                                          struct cleave_error *error)
{
    switch (format_of(a)) {
    case FORMAT_GRAPH:
        return cleave_hypergraph_read_graph(a->path, out, error);
    case FORMAT_PATOH:
        return cleave_hypergraph_read_patoh(a->path, out, error);
    default:
        return cleave_hypergraph_read_hgr(a->path, out, error);
    }
}

/* One number for all weights, or one each. */
static enum cleave_status widen(const char *option, double *list, uint32_t count, uint32_t weights,
                                struct cleave_error *error)
{
    if (count == 1) {
        for (uint32_t c = 1; c < weights; c++)
            list[c] = list[0];
    } else if (count && count != weights) {
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s gives %u numbers, but vertices carry %u weights", option, count,
                                weights);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__partition_read(struct cleave_partition_arguments *a,
                                          struct cleave_partition_input *in,
                                          struct cleave_error *error)
{
    enum cleave_status status = read_hypergraph(a, &in->hypergraph, error);
    if (status)
        return status;
    uint32_t n = in->hypergraph->vertices, weights = in->hypergraph->weights;
    status = widen("-e", a->epsilon, a->epsilons, weights, error);
    if (!status)
        status = widen("--underweight", a->underweight, a->underweights, weights, error);
    if (!status && a->fix)
        status = cleave_fix_read(a->fix, n, a->blocks, &in->fixed, error);
    if (!status && a->warm)
        status = cleave_fix_read(a->warm, n, a->blocks, &in->warm, error);
    if (!status && a->together)
        status = cleave_together_read(a->together, n, &in->together, error);
    if (!status && a->apart)
        status = cleave_apart_read(a->apart, n, &in->apart, &in->apart_count, error);
    for (uint32_t v = 0; !status && in->warm && v < n; v++) {
        if (in->warm[v] < 0)
            status =
                cleave_error_set(error, CLEAVE_BAD_INPUT,
                                 "%s: vertex %u has no block; a start needs all", a->warm, v + 1);
    }
    return status;
}

void cleave__partition_input_free(struct cleave_partition_input *in)
{
    free(in->fixed);
    free(in->warm);
    free(in->together);
    free(in->apart);
    cleave_hypergraph_free(in->hypergraph);
}
