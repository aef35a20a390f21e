/* hMETIS .hgr: a line "nets vertices [fmt [weights]]", a line a net (its weight first if fmt is 1
 * or 11), a line a vertex if fmt is 10 or 11. Several weights a vertex are accepted when every line
 * has as many; hMETIS knows one, and other tools announce their number after fmt. */
#include "model/draft.h"
#include "model/limits.h"

static enum cleave_status read_opening(struct cleave__draft *d, struct cleave_error *error)
{
    static const struct cleave__announced announced[] = {
        {"number of nets", 0, CLEAVE__VERTICES_MAX},
        {"number of vertices", 0, CLEAVE__VERTICES_MAX},
        {"format", 0, 11},
        {"number of weights a vertex", 1, CLEAVE_WEIGHTS_MAX},
    };
    int64_t number[4];
    uint32_t found;
    enum cleave_status status = cleave__draft_opening(d, "nets vertices [fmt [weights]]", announced,
                                                      2, 4, number, &found, error);
    if (status)
        return status;
    int64_t format = found > 2 ? number[2] : 0;
    if (format != 0 && format != 1 && format != 10 && format != 11)
        return cleave__numbers_fail(&d->in, error, "format is %lld: must be 0, 1, 10 or 11",
                                    (long long)format);
    if (found > 3 && format < 10)
        return cleave__numbers_fail(&d->in, error,
                                    "weights a vertex are announced, but format %lld has none",
                                    (long long)format);
    d->nets = (uint32_t)number[0];
    d->vertices = (uint32_t)number[1];
    d->has_net_weights = format % 10;
    d->has_vertex_weights = format >= 10;
    d->weights = found > 3 ? (uint32_t)number[3] : 0; /* as many as the first line has */
    return CLEAVE_OK;
}

static enum cleave_status read_vertex(struct cleave__draft *d, struct cleave_error *error)
{
    uint32_t found = 0;
    do {
        if (found == CLEAVE_WEIGHTS_MAX)
            return cleave__numbers_fail(&d->in, error, "more than %d weights a vertex",
                                        CLEAVE_WEIGHTS_MAX);
        enum cleave_status status = cleave__draft_vertex_weight(d, found, error);
        if (status)
            return status;
        found++;
    } while (!cleave__numbers_done(&d->in));
    if (d->weights == 0)
        d->weights = found;
    if (found != d->weights)
        return cleave__numbers_fail(&d->in, error, "%u weights for this vertex, not %u", found,
                                    d->weights);
    return CLEAVE_OK;
}

static enum cleave_status parse(struct cleave__draft *d, struct cleave_error *error)
{
    enum cleave_status status = read_opening(d, error);
    if (!status)
        status = cleave__draft_nets(d, 1, error);
    for (uint32_t v = 0; !status && d->has_vertex_weights && v < d->vertices; v++) {
        status = cleave__numbers_line(&d->in, error);
        if (status == CLEAVE_END)
            return cleave__draft_ends(d, "vertex weights", v, d->vertices, error);
        if (!status)
            status = read_vertex(d, error);
    }
    if (d->weights == 0) /* no vertex, or none with weights */
        d->weights = 1;
    return status;
}

enum cleave_status cleave_hypergraph_read_hgr(const char *path, struct cleave_hypergraph **out,
                                              struct cleave_error *error)
{
    return cleave__draft_read(path, parse, out, error);
}
