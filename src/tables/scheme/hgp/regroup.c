/* Regrouping: the seed's refinement. The heaviest groups are cut in two at the median of the
 * attribute they are widest on, and the finer hypergraph is partitioned again from the placement at
 * hand. Splitting cannot save a distributed transaction; it makes balance possible.
 *
 * Rows that no transaction singled out have no net of their own, and would be scattered for free.
 * So each such group is tied to the heaviest group of its key by a net that weighs as much as the
 * accesses still to come: the number of groups seen exactly once estimates how many of the next
 * transactions go to rows not seen yet (Good and Turing). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/partition.h"
#include "tables/scheme/hgp/hgp.h"

enum { NET_WEIGHT = 16 };

/* ---- cutting ---- */

static bool add_phantom(struct cleave_hgp *hgp, uint32_t table, const struct cleave_range *first,
                        const struct cleave_range *second)
{
    struct cleave_term *terms = cleave__arena_array(&hgp->arena, 2, sizeof *terms);
    struct cleave_range *ranges = cleave__arena_array(&hgp->arena, 2, sizeof *ranges);
    if (!terms || !ranges)
        return false;
    ranges[0] = *first;
    terms[0] = (struct cleave_term){0, 1, &ranges[0]};
    if (second) {
        ranges[1] = *second;
        terms[1] = (struct cleave_term){1, 1, &ranges[1]};
    }
    struct cleave_phantom phantom = {table, {second ? 2 : 1, terms}};
    return CLEAVE_PUSH(&hgp->phantoms, phantom);
}

/* Every key's rows in every table get a group, whether or not a transaction touches them. */
static bool add_residual(struct cleave_hgp *hgp)
{
    const struct cleave_schema *schema = hgp->input->schema;
    for (uint32_t t = 0; !hgp->residual && t < schema->table_count; t++) {
        uint32_t c = hgp->space.class_of_table[t];
        if (c == CLEAVE_ABSENT || hgp->space.classes[c].intervals)
            continue;
        for (size_t v = 0; v < hgp->space.vertices.count; v++) {
            const struct cleave_key_vertex *vertex = &hgp->space.vertices.data[v];
            struct cleave_range point = {vertex->value, vertex->value, 0};
            if (vertex->class == c && !add_phantom(hgp, t, &point, NULL))
                return false;
        }
    }
    hgp->residual = true;
    return true;
}

/* Halves one group by the median of its widest piece on the second attribute. */
static bool halve(struct cleave_hgp *hgp, const struct cleave_group *group, bool *done)
{
    const struct cleave_table *table = &hgp->input->schema->tables[group->table];
    uint32_t second = hgp->moves.groups.attributes[group->table].second;
    *done = false;
    if (second == CLEAVE_ABSENT)
        return true;
    struct cleave_range widest = {.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED};
    double most = -1;
    for (uint32_t p = 0; p < group->second_count; p++) {
        const struct cleave_range *piece = &hgp->moves.groups.pieces.data[group->second_start + p];
        double share = cleave__selectivity(table, second, piece);
        if (share > most && !cleave__range_is_point(piece)) {
            most = share;
            widest = *piece;
        }
    }
    if (group->second_count && most < 0)
        return true; /* single values only */
    struct cleave_value middle;
    if (!cleave__range_median(table, second, &widest, &middle))
        return true;
    struct cleave_range lower = {.high = middle, .flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_OPEN};
    if (middle.kind == CLEAVE_INTEGER) {
        if (middle.integer == INT64_MIN)
            return true;
        lower.high.integer--;
        lower.flags = CLEAVE_LOW_UNBOUNDED;
    } else if (middle.kind != CLEAVE_NULL) {
        lower.high.text = cleave__arena_copy(&hgp->arena, middle.text, middle.length);
        if (!lower.high.text)
            return false;
    }
    *done = true;
    return add_phantom(hgp, group->table, &group->first, &lower);
}

struct ranked {
    double rank;
    uint32_t group;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static enum cleave_status rebuild(struct cleave_hgp *hgp, struct cleave_error *error)
{
    struct cleave_moves fresh;
    enum cleave_status status = cleave__moves_build(&hgp->space, hgp->shard, hgp->phantoms.data,
                                                    (uint32_t)hgp->phantoms.count, &fresh, error);
    if (status)
        return status;
    if (hgp->grouped)
        cleave__moves_free(&hgp->moves);
    hgp->moves = fresh;
    hgp->grouped = true;
    return CLEAVE_OK;
}

enum cleave_status cleave__hgp_split(struct cleave_hgp *hgp, uint32_t count, bool by_ratio,
                                     uint32_t *cut, struct cleave_error *error)
{
    *cut = 0;
    if (hgp->space.twice)
        return CLEAVE_OK; /* rows with two copies have no exceptions: nothing to split */
    if (!add_residual(hgp))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for refining");
    enum cleave_status status = rebuild(hgp, error);
    if (status)
        return status;
    size_t groups = hgp->moves.groups.list.count;
    struct ranked *list = malloc((groups + 1) * sizeof *list);
    bool ok = list != NULL;
    for (uint32_t g = 0; ok && g < groups; g++) {
        const struct cleave_group *group = &hgp->moves.groups.list.data[g];
        double size = group->rows * cleave__row_weight(hgp->input->schema, group->table);
        list[g] = (struct ranked){by_ratio ? size / (double)(group->access + 1) : size, g};
    }
    if (ok && groups)
        qsort(list, groups, sizeof *list, compare_ranked);
    for (size_t i = 0; ok && i < groups && *cut < count; i++) {
        bool done;
        ok = halve(hgp, &hgp->moves.groups.list.data[list[i].group], &done);
        *cut += done;
    }
    free(list);
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for refining");
    return *cut ? rebuild(hgp, error) : CLEAVE_OK;
}

enum cleave_status cleave__hgp_split_value(struct cleave_hgp *hgp, uint32_t table,
                                           const struct cleave_value *value,
                                           struct cleave_error *error)
{
    if (hgp->space.twice)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "rows cannot be split while a table has copies by two keys; forbid "
                                "those copies first");
    if (!add_residual(hgp))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for refining");
    enum cleave_status status = rebuild(hgp, error);
    bool any = false;
    uint32_t first = status ? 0 : hgp->moves.groups.table_start[table];
    uint32_t last = status ? 0 : hgp->moves.groups.table_start[table + 1];
    for (uint32_t g = first; !status && g < last; g++) {
        const struct cleave_group *group = &hgp->moves.groups.list.data[g];
        bool done = false;
        if (!cleave__range_contains(&group->first, value) || (group->second_count && !group->rest))
            continue;
        if (!halve(hgp, group, &done))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for refining");
        any |= done;
    }
    if (!status && !any)
        status =
            cleave_error_set(error, CLEAVE_NOT_FOUND,
                             "table %s has no rows that can be split there: a second attribute "
                             "of known range is needed",
                             hgp->input->schema->tables[table].name);
    return status ? status : rebuild(hgp, error);
}

/* ---- placing groups ---- */

struct fine {
    CLEAVE_VECTOR(uint64_t) offset;
    CLEAVE_VECTOR(uint32_t) pins;
    CLEAVE_VECTOR(int64_t) weight;
};

static bool add_transactions(const struct cleave_moves *moves, uint32_t shards, struct fine *nets)
{
    bool ok = CLEAVE_PUSH(&nets->offset, 0);
    for (uint32_t t = 0; ok && t < moves->space->input->workload->transactions; t++) {
        uint64_t first = moves->transaction_offset[t], last = moves->transaction_offset[t + 1];
        if (moves->lost[t] || last - first < 2)
            continue;
        for (uint64_t i = first; ok && i < last; i++)
            ok = CLEAVE_PUSH(&nets->pins, shards + moves->transaction_group[i]);
        ok = ok && CLEAVE_PUSH(&nets->offset, nets->pins.count) &&
             CLEAVE_PUSH(&nets->weight, NET_WEIGHT);
    }
    return ok;
}

/* Ties unseen rows to their key; see the top of this file. */
static bool add_affinity(const struct cleave_moves *moves, uint32_t shards, struct fine *nets)
{
    const struct cleave_key_space *space = moves->space;
    const struct cleave_groups *groups = &moves->groups;
    uint32_t *heaviest = malloc((space->vertices.count + 1) * sizeof *heaviest);
    uint32_t *vertex_of = malloc((groups->list.count + 1) * sizeof *vertex_of);
    bool ok = heaviest && vertex_of;
    if (ok)
        memset(heaviest, 0xff, (space->vertices.count + 1) * sizeof *heaviest);
    for (uint32_t g = 0; ok && g < groups->list.count; g++) {
        const struct cleave_group *group = &groups->list.data[g];
        uint32_t c = space->class_of_table[group->table];
        vertex_of[g] = CLEAVE_ABSENT;
        if (moves->rule[g] == CLEAVE_ABSENT || !cleave__range_is_point(&group->first))
            continue;
        uint32_t v = vertex_of[g] = cleave__keys_find(space, c, &group->first.low);
        if (v != CLEAVE_ABSENT &&
            (heaviest[v] == CLEAVE_ABSENT || group->access > groups->list.data[heaviest[v]].access))
            heaviest[v] = g;
    }
    for (uint32_t g = 0; ok && g < groups->list.count;) {
        /* Groups of one table and key are contiguous. */
        uint32_t end = g, once = 0;
        while (end < groups->list.count && vertex_of[end] == vertex_of[g] &&
               groups->list.data[end].table == groups->list.data[g].table) {
            once += groups->list.data[end].access == 1;
            end++;
        }
        for (uint32_t i = g; ok && i < end; i++) {
            bool rest = groups->list.data[i].rest || groups->list.data[i].second_count == 0;
            if (vertex_of[i] == CLEAVE_ABSENT || !rest || heaviest[vertex_of[i]] == i)
                continue;
            ok = CLEAVE_PUSH(&nets->pins, shards + heaviest[vertex_of[i]]) &&
                 CLEAVE_PUSH(&nets->pins, shards + i) &&
                 CLEAVE_PUSH(&nets->offset, nets->pins.count) &&
                 CLEAVE_PUSH(&nets->weight, once ? (int64_t)once * NET_WEIGHT : 1);
        }
        g = end;
    }
    free(heaviest);
    free(vertex_of);
    return ok;
}

/* Weights, fixed shards and the start: anchors first (what the groups do not hold), then groups. */
static void set_vertices(const struct cleave_hgp *hgp, uint32_t weights, bool by_size,
                         bool by_access, int64_t *weight, int32_t *fixed, uint32_t *start)
{
    const struct cleave_moves *moves = &hgp->moves;
    uint32_t shards = hgp->input->shards;
    double total = hgp->space.size_total, held = 0, scale = total > 0 ? 1e9 / total : 0;
    for (uint32_t g = 0; g < moves->groups.list.count; g++) {
        const struct cleave_group *group = &moves->groups.list.data[g];
        int64_t *w = weight + (size_t)(shards + g) * weights;
        double size = group->rows * cleave__row_weight(hgp->input->schema, group->table);
        bool placed = moves->rule[g] != CLEAVE_ABSENT;
        fixed[shards + g] = !placed ? 0 : moves->held[g] ? (int32_t)moves->rule[g] : CLEAVE_FREE;
        start[shards + g] = placed ? moves->shard[g] : 0;
        if (by_size)
            *w++ = placed ? llround(size * scale) : 0;
        if (by_access)
            *w = placed ? (int64_t)group->access : 0;
        held += placed ? size : 0;
    }
    for (uint32_t s = 0; s < shards; s++) {
        fixed[s] = (int32_t)s;
        start[s] = s;
        if (by_size)
            weight[(size_t)s * weights] = llround(fmax(total - held, 0) / shards * scale);
    }
}

static void load_shards(struct cleave_moves *moves)
{
    const struct cleave_scheme_input *input = moves->space->input;
    memset(moves->size, 0, input->shards * sizeof *moves->size);
    memset(moves->access, 0, input->shards * sizeof *moves->access);
    for (uint32_t g = 0; g < moves->groups.list.count; g++) {
        const struct cleave_group *group = &moves->groups.list.data[g];
        if (moves->rule[g] == CLEAVE_ABSENT)
            continue;
        moves->size[moves->shard[g]] +=
            group->rows * cleave__row_weight(input->schema, group->table);
        moves->access[moves->shard[g]] += (double)group->access;
    }
}

enum cleave_status cleave__hgp_regroup(struct cleave_hgp *hgp, bool *balanced,
                                       struct cleave_error *error)
{
    if (!hgp->grouped)
        return CLEAVE_OK; /* rows with two copies: no groups to place, see cleave__hgp_split */
    const struct cleave_scheme_input *input = hgp->input;
    struct cleave_moves *moves = &hgp->moves;
    uint32_t shards = input->shards, count = shards + (uint32_t)moves->groups.list.count;
    bool by_size = input->steer->size_weight > 0 && hgp->space.size_total > 0;
    bool by_access = input->steer->access_weight > 0 || !by_size;
    uint32_t weights = (uint32_t)by_size + by_access;
    struct fine nets = {0};
    int64_t *weight = calloc((size_t)count * weights, sizeof *weight);
    int32_t *fixed = malloc(count * sizeof *fixed);
    uint32_t *start = malloc(count * sizeof *start), *block = malloc(count * sizeof *block);
    double *share = malloc(shards * sizeof *share);
    struct cleave_hypergraph *graph = NULL;
    enum cleave_status status = CLEAVE_OK;
    if (!weight || !fixed || !start || !block || !share ||
        !add_transactions(moves, shards, &nets) || !add_affinity(moves, shards, &nets))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for refining");
    if (!status) {
        set_vertices(hgp, weights, by_size, by_access, weight, fixed, start);
        status =
            cleave_hypergraph_new(count, (uint32_t)nets.weight.count, nets.offset.data,
                                  nets.pins.data, weights, weight, nets.weight.data, &graph, error);
    }
    if (!status) {
        struct cleave_partition_options options = {
            .blocks = shards,
            .epsilon = input->steer->epsilon,
            .objective = CLEAVE_CUT,
            .target_share = cleave__node_shares(input->steer, shards, share) ? share : NULL,
            .fixed = fixed,
            .warm_start = start,
            .seed = input->seed,
            .progress = input->progress,
        };
        status = cleave_partition(graph, &options, block, NULL, error);
        *balanced = status == CLEAVE_OK;
        if (status == CLEAVE_UNSATISFIABLE)
            status = CLEAVE_OK;
    }
    for (uint32_t g = 0; !status && g < moves->groups.list.count; g++) {
        if (moves->rule[g] != CLEAVE_ABSENT)
            moves->shard[g] = block[shards + g];
    }
    if (!status)
        load_shards(moves);
    CLEAVE_VECTOR_FREE(&nets.offset);
    CLEAVE_VECTOR_FREE(&nets.pins);
    CLEAVE_VECTOR_FREE(&nets.weight);
    free(weight);
    free(fixed);
    free(start);
    free(block);
    free(share);
    cleave_hypergraph_free(graph);
    return status;
}
