/* Opening lines, nets and weights into growing arrays, and the arrays into a hypergraph. */
#include "model/draft.h"

#include <stdlib.h>

#include "model/hypergraph.h"
#include "model/limits.h"

static enum cleave_status no_memory(const struct cleave__draft *d, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory after %llu bytes",
                            d->in.path, (unsigned long long)d->in.bytes);
}

enum cleave_status cleave__draft_opening(struct cleave__draft *d, const char *form,
                                         const struct cleave__announced *announced, uint32_t least,
                                         uint32_t most, int64_t *out, uint32_t *found,
                                         struct cleave_error *error)
{
    do {
        enum cleave_status status = cleave__numbers_line(&d->in, error);
        if (status == CLEAVE_END)
            return cleave__numbers_fail(&d->in, error, "no header; the first line must be \"%s\"",
                                        form);
        if (status)
            return status;
    } while (cleave__numbers_done(&d->in));
    d->opening_line = cleave__input_line_number(d->in.input);
    uint32_t i = 0;
    for (; i < least || (i < most && !cleave__numbers_done(&d->in)); i++) {
        enum cleave_status status = cleave__numbers_next(
            &d->in, announced[i].name, announced[i].low, announced[i].high, &out[i], error);
        if (status)
            return status;
    }
    if (!cleave__numbers_done(&d->in))
        return cleave__numbers_fail(&d->in, error, "header has more than \"%s\"", form);
    *found = i;
    return CLEAVE_OK;
}

enum cleave_status cleave__draft_ends(const struct cleave__draft *d, const char *what,
                                      uint64_t read, uint64_t announced, struct cleave_error *error)
{
    return cleave__numbers_fail(&d->in, error, "file ends after %llu of the %llu %s announced",
                                (unsigned long long)read, (unsigned long long)announced, what);
}

enum cleave_status cleave__draft_pin(struct cleave__draft *d, uint32_t vertex,
                                     struct cleave_error *error)
{
    return CLEAVE_PUSH(&d->pin, vertex) ? CLEAVE_OK : no_memory(d, error);
}

enum cleave_status cleave__draft_net(struct cleave__draft *d, int64_t weight,
                                     struct cleave_error *error)
{
    uint64_t size = d->pin.count - d->offset.data[d->offset.count - 1];
    if (size && weight > (CLEAVE__WEIGHT_SUM_MAX - d->net_sum) / (int64_t)size)
        return cleave__numbers_fail(&d->in, error,
                                    "net weights times pins sum past 2^60; scale them down");
    d->net_sum += weight * (int64_t)size;
    if (d->has_net_weights && !CLEAVE_PUSH(&d->net_weight, weight))
        return no_memory(d, error);
    return CLEAVE_PUSH(&d->offset, d->pin.count) ? CLEAVE_OK : no_memory(d, error);
}

enum cleave_status cleave__draft_nets(struct cleave__draft *d, int64_t base,
                                      struct cleave_error *error)
{
    for (uint32_t e = 0; e < d->nets; e++) {
        enum cleave_status status = cleave__numbers_line(&d->in, error);
        if (status == CLEAVE_END)
            return cleave__draft_ends(d, "nets", e, d->nets, error);
        int64_t weight = 1, number;
        if (!status && d->has_net_weights)
            status = cleave__numbers_next(&d->in, "net weight", 0, CLEAVE__WEIGHT_SUM_MAX, &weight,
                                          error);
        while (!status && !cleave__numbers_done(&d->in)) {
            status = cleave__numbers_next(&d->in, "vertex", base, d->vertices + base - 1, &number,
                                          error);
            if (!status)
                status = cleave__draft_pin(d, (uint32_t)(number - base), error);
        }
        if (!status)
            status = cleave__draft_net(d, weight, error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__draft_vertex_weight(struct cleave__draft *d, uint32_t c,
                                               struct cleave_error *error)
{
    int64_t weight;
    enum cleave_status status =
        cleave__numbers_next(&d->in, "vertex weight", 0, CLEAVE__WEIGHT_SUM_MAX, &weight, error);
    if (status)
        return status;
    if (weight > CLEAVE__WEIGHT_SUM_MAX - d->vertex_sum[c])
        return cleave__numbers_fail(
            &d->in, error, "vertex weights sum past 2^60 in constraint %u; scale them down", c);
    d->vertex_sum[c] += weight;
    return CLEAVE_PUSH(&d->vertex_weight, weight) ? CLEAVE_OK : no_memory(d, error);
}

/* Gives the arrays away; the draft holds none afterwards. Their spare room is given back; an array
 * that nothing was pushed to is NULL. */
static enum cleave_status build(struct cleave__draft *d, struct cleave_hypergraph **out,
                                struct cleave_error *error)
{
    struct cleave_hypergraph *h = calloc(1, sizeof *h);
    if (!h || !CLEAVE_RESERVE(&d->pin, 1)) {
        free(h);
        return no_memory(d, error);
    }
    *h =
        (struct cleave_hypergraph){.vertices = d->vertices, .nets = d->nets, .weights = d->weights};
#define TAKE(to, from)                                                                             \
    do {                                                                                           \
        void *fitting =                                                                            \
            (from)->count ? realloc((from)->data, (from)->count * sizeof *(from)->data) : NULL;    \
        (to) = fitting ? fitting : (from)->data;                                                   \
        (from)->data = NULL;                                                                       \
    } while (0)
    TAKE(h->net_offset, &d->offset);
    TAKE(h->pin, &d->pin);
    TAKE(h->net_weight, &d->net_weight);
    TAKE(h->vertex_weight, &d->vertex_weight);
#undef TAKE
    struct cleave_error inner = {0};
    enum cleave_status status = cleave__hypergraph_adopt(h, out, &inner);
    if (status)
        cleave_error_set(error, status, "%.180s: %.300s", d->in.path, inner.message);
    return status;
}

/* Vertices without a line of their own are only announced. Files with many that no net names are
 * read, but not ones that announce far more than they could name. */
static enum cleave_status check_announced(const struct cleave__draft *d, struct cleave_error *error)
{
    if (d->has_vertex_weights || d->vertices <= 1000000 + 64 * d->in.bytes)
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_LIMIT,
                            "%.200s:%llu: announces %lu vertices, far more than the file could "
                            "name; correct the header",
                            d->in.path, (unsigned long long)d->opening_line,
                            (unsigned long)d->vertices);
}

enum cleave_status cleave__draft_read(const char *path, cleave__draft_parse *parse,
                                      struct cleave_hypergraph **out, struct cleave_error *error)
{
    struct cleave__draft d = {.weights = 1};
    enum cleave_status status = cleave__numbers_open(&d.in, path, error);
    if (status)
        return status;
    status = CLEAVE_PUSH(&d.offset, 0) ? parse(&d, error) : no_memory(&d, error);
    if (!status)
        status = cleave__numbers_finish(&d.in, "the header announces", error);
    if (!status)
        status = check_announced(&d, error);
    if (!status)
        status = build(&d, out, error);
    CLEAVE_VECTOR_FREE(&d.offset);
    CLEAVE_VECTOR_FREE(&d.pin);
    CLEAVE_VECTOR_FREE(&d.net_weight);
    CLEAVE_VECTOR_FREE(&d.vertex_weight);
    cleave__numbers_close(&d.in);
    return status;
}
