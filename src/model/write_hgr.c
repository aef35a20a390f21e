/* Writes hMETIS .hgr, with the least format that loses nothing; reading it back gives the same
 * hypergraph. */
#include <inttypes.h>
#include <stdbool.h>

#include "base/output.h"
#include "cleave/hypergraph.h"

static bool all_one(const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 1)
            return false;
    }
    return true;
}

enum cleave_status cleave_hypergraph_write_hgr(const struct cleave_hypergraph *h, const char *path,
                                               struct cleave_error *error)
{
    bool net_weights = !all_one(h->net_weight, h->nets);
    bool vertex_weights =
        h->weights > 1 || !all_one(h->vertex_weight, (size_t)h->vertices * h->weights);
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    FILE *f = output.file;
    fprintf(f, "%" PRIu32 " %" PRIu32, h->nets, h->vertices);
    if (net_weights || vertex_weights)
        fprintf(f, " %s%s", vertex_weights ? "1" : "",
                net_weights      ? "1"
                : vertex_weights ? "0"
                                 : "");
    fputc('\n', f);
    for (uint32_t e = 0; e < h->nets; e++) {
        const char *space = "";
        if (net_weights) {
            fprintf(f, "%" PRId64, h->net_weight[e]);
            space = " ";
        }
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
            fprintf(f, "%s%" PRIu32, space, h->pin[i] + 1);
            space = " ";
        }
        fputc('\n', f);
    }
    for (uint32_t v = 0; v < h->vertices && vertex_weights; v++) {
        for (uint32_t c = 0; c < h->weights; c++)
            fprintf(f, "%s%" PRId64, c ? " " : "", h->vertex_weight[(size_t)v * h->weights + c]);
        fputc('\n', f);
    }
    return cleave__output_commit(&output, error);
}
