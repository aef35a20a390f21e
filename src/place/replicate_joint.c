/* Partition and copies at once: see the header. Vertices that are cheap to copy are left out, the
 * others divided, and then each cheap one is put where its nets want it. The partition of the
 * others costs no more than any answer with copies could (but for what the partitioner misses), so
 * an answer near it need not be bettered. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cleave/replicate.h"
#include "place/carry.h"
#include "place/replicate_check.h"

struct joint {
    const struct cleave_hypergraph *h;
    struct cleave_partition_options partition;
    struct cleave_replicate_options copying;
    uint32_t *number; /* [vertices]: among those that are not cheap, or CLEAVE_NO_BLOCK */
    uint32_t others;  /* vertices that are not cheap */
};

/* One answer. `status`: of the partition, OK or UNSATISFIABLE. */
struct answer {
    uint32_t *block; /* [vertices] */
    enum cleave_status status;
    struct cleave_error error;
    struct cleave_partition_result result;
    struct cleave_copies copies;
    struct cleave_replicate_result copied;
};

/* The vertices that are not cheap, as a problem of their own. */
struct bare {
    struct cleave_hypergraph *h;
    struct cleave_partition_options o;
    int32_t *fixed;
    uint32_t *warm, *together;
    CLEAVE_VECTOR(uint32_t) apart; /* two a pair */
};

static void answer_free(struct answer *a)
{
    free(a->block);
    cleave_copies_free(&a->copies);
}

static void find_cheap(struct joint *j)
{
    const struct cleave_hypergraph *h = j->h;
    for (uint32_t v = 0; v < h->vertices; v++)
        j->number[v] = 0;
    for (uint32_t i = 0; i < j->copying.count; i++) {
        uint32_t v = j->copying.vertices[i];
        int64_t cost = j->copying.write_cost ? j->copying.write_cost[i] : 0, reads = 0;
        for (uint64_t p = h->vertex_offset[v]; p < h->vertex_offset[v + 1]; p++)
            reads += h->net_weight[h->incident[p]];
        if (cost <= reads / j->partition.blocks)
            j->number[v] = CLEAVE_NO_BLOCK;
    }
    for (uint32_t v = 0; v < h->vertices; v++)
        j->number[v] = j->number[v] == CLEAVE_NO_BLOCK ? CLEAVE_NO_BLOCK : j->others++;
}

static bool is_cheap(const struct joint *j, uint32_t v)
{
    return j->number[v] == CLEAVE_NO_BLOCK;
}

static void bare_free(struct bare *bare)
{
    cleave_hypergraph_free(bare->h);
    free(bare->fixed);
    free(bare->warm);
    free(bare->together);
    CLEAVE_VECTOR_FREE(&bare->apart);
}

/* Nets that lose all their pins are left out. */
static enum cleave_status make_nets(const struct joint *j, struct bare *bare,
                                    struct cleave_error *error)
{
    const struct cleave_hypergraph *h = j->h;
    uint32_t W = h->weights, nets = 0;
    uint64_t *offset = malloc(((size_t)h->nets + 1) * sizeof *offset), used = 0;
    uint32_t *pin = malloc((h->net_offset[h->nets] + 1) * sizeof *pin);
    int64_t *net_weight = malloc(((size_t)h->nets + 1) * sizeof *net_weight);
    int64_t *weight = malloc(((size_t)j->others * W + 1) * sizeof *weight);
    enum cleave_status status = CLEAVE_OK;
    if (!offset || !pin || !net_weight || !weight)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies");
    for (uint32_t e = 0; !status && e < h->nets; e++) {
        offset[nets] = used;
        net_weight[nets] = h->net_weight[e];
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
            if (!is_cheap(j, h->pin[i]))
                pin[used++] = j->number[h->pin[i]];
        }
        nets += used > offset[nets];
    }
    for (uint32_t v = 0; !status && v < h->vertices; v++) {
        if (!is_cheap(j, v))
            memcpy(weight + (size_t)j->number[v] * W, h->vertex_weight + (size_t)v * W,
                   W * sizeof *weight);
    }
    if (!status) {
        offset[nets] = used;
        status = cleave_hypergraph_new(j->others, nets, offset, pin, W, weight, net_weight,
                                       &bare->h, error);
    }
    free(offset);
    free(pin);
    free(net_weight);
    free(weight);
    return status;
}

/* What is asked of each vertex; pairs with a cheap one are seen to later. */
static enum cleave_status make_options(const struct joint *j, struct bare *bare,
                                       struct cleave_error *error)
{
    const struct cleave_partition_options *all = &j->partition;
    size_t bytes = ((size_t)j->others + 1) * sizeof(uint32_t);
    bool ok = true;
    bare->o = *all;
    if (all->fixed)
        ok = (bare->fixed = malloc(bytes)) != NULL;
    if (all->warm_start)
        ok = (bare->warm = malloc(bytes)) != NULL && ok;
    if (all->together)
        ok = (bare->together = malloc(bytes)) != NULL && ok;
    for (uint32_t v = 0; ok && v < j->h->vertices; v++) {
        uint32_t n = j->number[v];
        if (is_cheap(j, v))
            continue;
        if (all->fixed)
            bare->fixed[n] = all->fixed[v];
        if (all->warm_start)
            bare->warm[n] = all->warm_start[v];
        if (all->together)
            bare->together[n] = all->together[v];
    }
    for (uint32_t i = 0; ok && i < all->apart_count; i++) {
        uint32_t a = all->apart[i][0], b = all->apart[i][1];
        if (a < j->h->vertices && b < j->h->vertices && !is_cheap(j, a) && !is_cheap(j, b))
            ok = CLEAVE_PUSH(&bare->apart, j->number[a]) && CLEAVE_PUSH(&bare->apart, j->number[b]);
    }
    bare->o.fixed = bare->fixed;
    bare->o.warm_start = bare->warm;
    bare->o.together = bare->together;
    bare->o.apart = (const uint32_t(*)[2])bare->apart.data;
    bare->o.apart_count = (uint32_t)(bare->apart.count / 2);
    return ok ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies");
}

static enum cleave_status divide(const struct cleave_hypergraph *h,
                                 const struct cleave_partition_options *o, struct answer *a)
{
    a->block = malloc(((size_t)h->vertices + 1) * sizeof *a->block);
    if (!a->block)
        return cleave_error_set(&a->error, CLEAVE_NO_MEMORY, "no memory for %u vertices",
                                h->vertices);
    a->status = cleave_partition(h, o, a->block, &a->result, &a->error);
    return a->status == CLEAVE_UNSATISFIABLE ? CLEAVE_OK : a->status;
}

static enum cleave_status copy(const struct joint *j, struct answer *a, struct cleave_error *error)
{
    enum cleave_status status =
        cleave_replicate(j->h, &j->copying, a->block, &a->copies, &a->copied, error);
    double seconds = a->result.seconds;
    if (!status)
        status = cleave_partition_measure(j->h, &j->partition, a->block, &a->result, error);
    a->result.seconds = seconds;
    return status;
}

/* Weight of the others that left where they started. */
static int64_t moved_weight(const struct joint *j, const uint32_t *block)
{
    int64_t moved = 0;
    for (uint32_t v = 0; v < j->h->vertices; v++) {
        if (!is_cheap(j, v) && block[v] != j->partition.warm_start[v])
            moved += j->h->vertex_weight[(size_t)v * j->h->weights];
    }
    return moved;
}

/* One run over the whole hypergraph from the answer so far; `hold`: the others stay. */
static enum cleave_status settle_once(const struct joint *j, struct answer *a, bool hold,
                                      struct cleave_error *error)
{
    const struct cleave_hypergraph *h = j->h;
    struct cleave_partition_options o = j->partition;
    struct answer moved = {0};
    int64_t left = o.migration_budget ? o.migration_budget - moved_weight(j, a->block) : 0;
    int32_t *fixed = malloc(((size_t)h->vertices + 1) * sizeof *fixed);
    if (!fixed)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    bool spent = o.migration_budget && left <= 0;
    for (uint32_t v = 0; v < h->vertices; v++)
        fixed[v] = spent || (hold && !is_cheap(j, v)) ? (int32_t)a->block[v]
                   : o.fixed                          ? o.fixed[v]
                                                      : CLEAVE_FREE;
    o.fixed = fixed;
    o.warm_start = a->block;
    o.warm_refine_only = true;
    o.preset = hold ? CLEAVE_FAST : o.preset; /* little is free to move */
    o.migration_budget = spent ? 0 : left;
    enum cleave_status status = divide(h, &o, &moved);
    free(fixed);
    if (status) {
        if (error)
            *error = moved.error;
        answer_free(&moved);
        return status;
    }
    moved.result.seconds += a->result.seconds;
    answer_free(a);
    *a = moved;
    return CLEAVE_OK;
}

/* From blocks of the others to blocks of all: a cheap vertex where it was fixed or started, else
 * where its nets are; then to the blocks that want it most, the others staying if that can be. */
static enum cleave_status settle_cheap(const struct joint *j, struct answer *a,
                                       struct cleave_error *error)
{
    const struct cleave_hypergraph *h = j->h;
    uint32_t *block = malloc(((size_t)h->vertices + 1) * sizeof *block);
    if (!block)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    for (uint32_t v = 0; v < h->vertices; v++)
        block[v] = !is_cheap(j, v) ? a->block[j->number[v]]
                   : j->partition.fixed && j->partition.fixed[v] != CLEAVE_FREE
                       ? (uint32_t)j->partition.fixed[v]
                   : j->partition.warm_start ? j->partition.warm_start[v]
                                             : CLEAVE_NO_BLOCK;
    free(a->block);
    a->block = block;
    enum cleave_status status = cleave__carry_complete(h, j->partition.blocks, block, error);
    if (!status)
        status = settle_once(j, a, true, error);
    if (!status && a->status)
        status = settle_once(j, a, false, error);
    return status;
}

/* Cheap vertices left out; `*floor` gets what that partition costs. */
static enum cleave_status answer_bare(const struct joint *j, struct answer *a, int64_t *floor,
                                      struct cleave_error *error)
{
    struct bare bare = {0};
    enum cleave_status status = make_nets(j, &bare, error);
    if (!status)
        status = make_options(j, &bare, error);
    if (!status) {
        status = divide(bare.h, &bare.o, a);
        if (status && error)
            *error = a->error;
    }
    bare_free(&bare);
    if (status)
        return status;
    *floor = j->partition.objective == CLEAVE_CUT   ? a->result.cut
             : j->partition.objective == CLEAVE_KM1 ? a->result.km1
                                                    : a->result.soed;
    status = settle_cheap(j, a, error);
    return status ? status : copy(j, a, error);
}

static enum cleave_status answer_whole(const struct joint *j, struct answer *a,
                                       struct cleave_error *error)
{
    enum cleave_status status = divide(j->h, &j->partition, a);
    if (status && error)
        *error = a->error;
    return status ? status : copy(j, a, error);
}

static int64_t cost_of(const struct answer *a)
{
    return a->copied.nets + a->copied.writes;
}

/* The better of two: satisfied first, then cheaper; the first of equals. */
static bool is_better(const struct answer *a, const struct answer *b)
{
    if (!a->status != !b->status)
        return !a->status;
    return cost_of(a) < cost_of(b);
}

static enum cleave_status search(struct joint *j, struct answer *best, struct cleave_error *error)
{
    struct answer other = {0};
    int64_t floor = 0;
    find_cheap(j);
    if (j->others == j->h->vertices || j->others < j->partition.blocks)
        return answer_whole(j, best, error);
    enum cleave_status status = answer_bare(j, best, &floor, error);
    if (status || (!best->status && cost_of(best) - floor <= floor / 20))
        return status;
    status = answer_whole(j, &other, error);
    if (!status && is_better(&other, best)) {
        struct answer swap = *best;
        *best = other;
        other = swap;
    }
    answer_free(&other);
    return status;
}

enum cleave_status
cleave_replicate_partition(const struct cleave_hypergraph *h,
                           const struct cleave_partition_options *partition,
                           const struct cleave_replicate_options *copying, uint32_t *block,
                           struct cleave_partition_result *result, struct cleave_copies *out,
                           struct cleave_replicate_result *copied, struct cleave_error *error)
{
    struct joint j = {.h = h, .partition = *partition, .copying = *copying};
    struct answer best = {0};
    j.copying.blocks = partition->blocks;
    j.copying.objective = partition->objective;
    j.copying.progress = partition->progress;
    /* Bad requests are refused before the work. */
    enum cleave_status status = cleave__replicate_check(h, &j.copying, NULL, error);
    if (!status)
        status = cleave__replicate_check_budgets(h, &j.copying, error);
    if (status)
        return status;
    j.number = malloc(((size_t)h->vertices + 1) * sizeof *j.number);
    if (!j.number)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    status = search(&j, &best, error);
    free(j.number);
    if (status) {
        answer_free(&best);
        return status;
    }
    memcpy(block, best.block, h->vertices * sizeof *block);
    if (result)
        *result = best.result;
    if (copied)
        *copied = best.copied;
    *out = best.copies;
    free(best.block);
    if (best.status && error)
        *error = best.error;
    return best.status;
}
