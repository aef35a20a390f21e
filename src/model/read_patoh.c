/* PaToH: a line "base cells nets pins [scheme [weights]]", a line a net (its cost first if the
 * scheme is 2 or 3), and if it is 1 or 3 the cells' weights, cell by cell, on any number of lines.
 * Cells are vertices, counted from the base, 0 or 1. (Catalyurek and Aykanat, PaToH's manual.) */
#include "model/draft.h"
#include "model/limits.h"

static enum cleave_status read_opening(struct cleave__draft *d, int64_t *base, int64_t *pins,
                                       struct cleave_error *error)
{
    static const struct cleave__announced announced[] = {
        {"base", 0, 1},
        {"number of cells", 0, CLEAVE__VERTICES_MAX},
        {"number of nets", 0, CLEAVE__VERTICES_MAX},
        {"number of pins", 0, INT64_MAX},
        {"weighting scheme", 0, 3},
        {"number of weights a cell", 1, CLEAVE_WEIGHTS_MAX},
    };
    int64_t number[6] = {0};
    uint32_t found;
    enum cleave_status status = cleave__draft_opening(d, "base cells nets pins [scheme [weights]]",
                                                      announced, 4, 6, number, &found, error);
    if (status)
        return status;
    int64_t scheme = found > 4 ? number[4] : 0;
    *base = number[0];
    *pins = number[3];
    d->vertices = (uint32_t)number[1];
    d->nets = (uint32_t)number[2];
    d->has_vertex_weights = scheme == 1 || scheme == 3;
    d->has_net_weights = scheme >= 2;
    if (found > 5 && d->has_vertex_weights)
        d->weights = (uint32_t)number[5];
    return CLEAVE_OK;
}

/* The next line that holds anything, once this one is used up. */
static enum cleave_status more(struct cleave__draft *d, uint64_t weight, struct cleave_error *error)
{
    while (cleave__numbers_done(&d->in)) {
        enum cleave_status status = cleave__numbers_line(&d->in, error);
        if (status == CLEAVE_END)
            return cleave__draft_ends(d, "cell weights", weight, (uint64_t)d->vertices * d->weights,
                                      error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

static enum cleave_status read_weights(struct cleave__draft *d, struct cleave_error *error)
{
    for (uint64_t i = 0; i < (uint64_t)d->vertices * d->weights; i++) {
        enum cleave_status status = more(d, i, error);
        if (!status)
            status = cleave__draft_vertex_weight(d, (uint32_t)(i % d->weights), error);
        if (status)
            return status;
    }
    if (!cleave__numbers_done(&d->in))
        return cleave__numbers_fail(&d->in, error, "more than the %llu cell weights announced",
                                    (unsigned long long)d->vertices * d->weights);
    return CLEAVE_OK;
}

static enum cleave_status parse(struct cleave__draft *d, struct cleave_error *error)
{
    int64_t base, pins;
    enum cleave_status status = read_opening(d, &base, &pins, error);
    if (!status)
        status = cleave__draft_nets(d, base, error);
    if (!status && d->pin.count != (uint64_t)pins)
        status = cleave_error_set(
            error, CLEAVE_BAD_INPUT, "%.200s:%llu: announces %lld pins, but the nets hold %zu",
            d->in.path, (unsigned long long)d->opening_line, (long long)pins, d->pin.count);
    if (!status && d->has_vertex_weights)
        status = read_weights(d, error);
    return status;
}

enum cleave_status cleave_hypergraph_read_patoh(const char *path, struct cleave_hypergraph **out,
                                                struct cleave_error *error)
{
    return cleave__draft_read(path, parse, out, error);
}
