/* Partition and copies at once: see the header. The partition without the pins of vertices that are
 * cheap to copy costs no more than any answer with copies could (but for what the partitioner
 * misses), so an answer near it need not be bettered. */
#include <stdlib.h>
#include <string.h>

#include "cleave/replicate.h"
#include "place/replicate_check.h"

struct joint {
    const struct cleave_hypergraph *h;
    struct cleave_partition_options partition;
    struct cleave_replicate_options copying;
    unsigned char *cheap; /* [vertices]: its pins are left out */
    uint32_t cheap_count;
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

static void answer_free(struct answer *a)
{
    free(a->block);
    cleave_copies_free(&a->copies);
}

static void find_cheap(struct joint *j)
{
    const struct cleave_hypergraph *h = j->h;
    for (uint32_t i = 0; i < j->copying.count; i++) {
        uint32_t v = j->copying.vertices[i];
        int64_t cost = j->copying.write_cost ? j->copying.write_cost[i] : 0, reads = 0;
        for (uint64_t p = h->vertex_offset[v]; p < h->vertex_offset[v + 1]; p++)
            reads += h->net_weight[h->incident[p]];
        if (cost > reads / j->partition.blocks)
            continue;
        j->cheap_count += !j->cheap[v];
        j->cheap[v] = 1;
    }
}

/* The hypergraph without cheap pins; nets that lose all of them are left out. */
static enum cleave_status make_bare(const struct joint *j, struct cleave_hypergraph **out,
                                    struct cleave_error *error)
{
    const struct cleave_hypergraph *h = j->h;
    uint64_t *offset = malloc(((size_t)h->nets + 1) * sizeof *offset), used = 0;
    uint32_t *pin = malloc((h->net_offset[h->nets] + 1) * sizeof *pin), nets = 0;
    int64_t *weight = malloc(((size_t)h->nets + 1) * sizeof *weight);
    enum cleave_status status = CLEAVE_OK;
    if (!offset || !pin || !weight)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for copies");
    for (uint32_t e = 0; !status && e < h->nets; e++) {
        uint64_t start = used;
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++) {
            if (!j->cheap[h->pin[i]])
                pin[used++] = h->pin[i];
        }
        offset[nets] = start;
        weight[nets] = h->net_weight[e];
        nets += used > start;
    }
    if (!status) {
        offset[nets] = used;
        status = cleave_hypergraph_new(h->vertices, nets, offset, pin, h->weights, h->vertex_weight,
                                       weight, out, error);
    }
    free(offset);
    free(pin);
    free(weight);
    return status;
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

/* Moves cheap vertices to the blocks that want them most, all others staying. What does not better
 * the balance is not taken. Never with a migration budget: that is spent already. */
static enum cleave_status settle_cheap(const struct joint *j, struct answer *a,
                                       struct cleave_error *error)
{
    const struct cleave_hypergraph *h = j->h;
    if (j->partition.migration_budget || a->status)
        return CLEAVE_OK;
    struct cleave_partition_options o = j->partition;
    struct answer moved = {0};
    int32_t *fixed = malloc(((size_t)h->vertices + 1) * sizeof *fixed);
    if (!fixed)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    for (uint32_t v = 0; v < h->vertices; v++)
        fixed[v] = j->cheap[v] ? (o.fixed ? o.fixed[v] : CLEAVE_FREE) : (int32_t)a->block[v];
    o.fixed = fixed;
    o.warm_start = a->block;
    o.warm_refine_only = true;
    enum cleave_status status = divide(h, &o, &moved);
    free(fixed);
    if (!status && !moved.status) {
        uint32_t *swap = a->block;
        a->block = moved.block;
        moved.block = swap;
        a->result.seconds += moved.result.seconds;
    } else if (status && error) {
        *error = moved.error;
    }
    answer_free(&moved);
    return status;
}

/* Cheap pins left out; `*floor` gets what that partition costs. */
static enum cleave_status answer_bare(const struct joint *j, struct answer *a, int64_t *floor,
                                      struct cleave_error *error)
{
    struct cleave_hypergraph *bare = NULL;
    enum cleave_status status = make_bare(j, &bare, error);
    if (status)
        return status;
    status = divide(bare, &j->partition, a);
    cleave_hypergraph_free(bare);
    if (status) {
        if (error)
            *error = a->error;
        return status;
    }
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
    if (j->cheap_count == 0)
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
    j.cheap = calloc((size_t)h->vertices + 1, 1);
    if (!j.cheap)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u vertices", h->vertices);
    status = search(&j, &best, error);
    free(j.cheap);
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
