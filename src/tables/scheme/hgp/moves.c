/* Moves: hill climbing on whole cut nets. A transaction is cut when its groups lie on more than one
 * shard; for each of its shards in turn we ask what would happen if its groups elsewhere all came
 * there. Only groups that transactions single out may move: the rest of a key's rows, seen by no
 * one alone, stay with the rule, for what comes later is most likely among them.
 * O(passes * sum over cut transactions of the transactions sharing their groups), each bounded. */
#include "tables/scheme/hgp/moves.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 4 << 20, MOVED_TOGETHER_MAX = 16, SHARING_MAX = 4096, PASSES = 4, CAUTION = 4 };

void cleave__moves_attributes(const struct cleave_key_space *space,
                              struct cleave_attributes *attributes)
{
    const struct cleave_profile *profile = space->input->profile;
    for (uint32_t t = 0; t < space->input->schema->table_count; t++) {
        attributes[t] = (struct cleave_attributes){CLEAVE_ABSENT, CLEAVE_ABSENT};
        if (space->class_of_table[t] == CLEAVE_ABSENT)
            continue;
        attributes[t].first = space->design->tables[t].key;
        if (space->input->steer->attributes < 2)
            continue;
        uint32_t ranked[CLEAVE_WIDEST_RANK];
        uint32_t count = cleave__profile_rank(profile, t, ranked, CLEAVE_WIDEST_RANK);
        for (uint32_t i = 0; i < count && attributes[t].second == CLEAVE_ABSENT; i++) {
            bool usable = ranked[i] != attributes[t].first;
            for (uint32_t d = 0; d < profile->derivation_count; d++) {
                const struct cleave_derivation *derivation = &profile->derivations[d];
                usable &= derivation->table != t ||
                          (derivation->column != ranked[i] && derivation->key_column != ranked[i]);
            }
            if (usable)
                attributes[t].second = ranked[i];
        }
    }
}

/* Where the key map sends all rows of a group; CLEAVE_ABSENT when to more than one shard. */
static uint32_t rule_shard(const struct cleave_key_space *space, const uint32_t *key_shard,
                           const struct cleave_group *group)
{
    uint32_t c = space->class_of_table[group->table];
    struct cleave_key_class *class = &space->classes[c];
    if (!class->intervals) {
        if (!cleave__range_is_point(&group->first))
            return CLEAVE_ABSENT;
        uint32_t vertex = cleave__keys_find(space, c, &group->first.low);
        if (vertex == CLEAVE_ABSENT)
            return cleave__value_shard(&group->first.low, space->input->shards);
        return cleave__keys_shard(space, key_shard, vertex);
    }
    uint32_t first, last;
    cleave__cuts_run(&class->cuts, &group->first, &first, &last);
    uint32_t shard = key_shard[class->first_vertex + first];
    for (uint32_t p = first + 1; p <= last; p++) {
        if (key_shard[class->first_vertex + p] != shard)
            return CLEAVE_ABSENT;
    }
    return shard;
}

/* Marks the groups of keys that a person pinned, tied or parted. */
static bool hold_groups(struct cleave_moves *moves)
{
    const struct cleave_key_space *space = moves->space;
    unsigned char *marks = malloc(space->vertices.count + 1);
    moves->held = calloc(moves->groups.list.count + 1, sizeof *moves->held);
    if (!marks || !moves->held) {
        free(marks);
        return false;
    }
    cleave__keys_mark_ruled(space, marks);
    for (uint32_t g = 0; g < moves->groups.list.count; g++) {
        const struct cleave_group *group = &moves->groups.list.data[g];
        uint32_t c = space->class_of_table[group->table];
        const struct cleave_key_class *class = &space->classes[c];
        uint32_t first, last;
        if (class->intervals) {
            cleave__cuts_run(&class->cuts, &group->first, &first, &last);
            for (uint32_t p = first; p <= last; p++)
                moves->held[g] |= marks[class->first_vertex + p];
        } else if (cleave__range_is_point(&group->first)) {
            first = cleave__keys_find(space, c, &group->first.low);
            moves->held[g] = first != CLEAVE_ABSENT && marks[first];
        }
    }
    free(marks);
    return true;
}

static bool list_transactions(struct cleave_moves *moves)
{
    const struct cleave_workload *workload = moves->space->input->workload;
    const struct cleave_groups *groups = &moves->groups;
    uint32_t count = (uint32_t)groups->list.count;
    uint32_t *last = calloc((size_t)count + 1, sizeof *last);
    CLEAVE_VECTOR(uint32_t) list = {0};
    moves->transaction_offset =
        calloc((size_t)workload->transactions + 2, sizeof *moves->transaction_offset);
    moves->group_offset = calloc((size_t)count + 2, sizeof *moves->group_offset);
    moves->lost = calloc((size_t)workload->transactions + 1, 1);
    bool ok = last && moves->transaction_offset && moves->group_offset && moves->lost;
    for (uint32_t t = 0; ok && t < workload->transactions; t++) {
        moves->lost[t] = moves->space->kinds[t] == CLEAVE_TRANSACTION_LOST;
        uint64_t start = workload->offsets.data[t], end = workload->offsets.data[t + 1];
        for (uint64_t a = start; ok && a < end; a++) {
            uint32_t box = workload->accesses.data[a].box;
            for (uint64_t i = groups->box_offset[box]; ok && i < groups->box_offset[box + 1]; i++) {
                uint32_t g = groups->box_group[i];
                if (last[g] == t + 1)
                    continue;
                last[g] = t + 1;
                moves->lost[t] |= moves->rule[g] == CLEAVE_ABSENT;
                moves->group_offset[g + 2]++;
                ok = CLEAVE_PUSH(&list, g);
            }
        }
        moves->transaction_offset[t + 1] = list.count;
    }
    moves->transaction_group = list.data;
    moves->group_transaction = ok ? malloc((list.count + 1) * sizeof(uint32_t)) : NULL;
    ok = ok && moves->group_transaction;
    if (ok) {
        for (uint32_t g = 0; g < count; g++)
            moves->group_offset[g + 2] += moves->group_offset[g + 1];
        for (uint32_t t = 0; t < workload->transactions; t++) {
            for (uint64_t i = moves->transaction_offset[t]; i < moves->transaction_offset[t + 1];
                 i++)
                moves->group_transaction[moves->group_offset[list.data[i] + 1]++] = t;
        }
    }
    free(last);
    return ok;
}

static double group_size(const struct cleave_moves *moves, uint32_t group)
{
    const struct cleave_group *g = &moves->groups.list.data[group];
    return g->rows * cleave__row_weight(moves->space->input->schema, g->table);
}

enum cleave_status cleave__moves_build(const struct cleave_key_space *space,
                                       const uint32_t *key_shard,
                                       const struct cleave_phantom *phantoms,
                                       uint32_t phantom_count, struct cleave_moves *out,
                                       struct cleave_error *error)
{
    const struct cleave_scheme_input *input = space->input;
    struct cleave_moves moves = {.space = space};
    struct cleave_attributes *attributes =
        malloc(((size_t)input->schema->table_count + 1) * sizeof *attributes);
    if (!attributes)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tuple groups");
    cleave__moves_attributes(space, attributes);
    enum cleave_status status =
        cleave__groups_build(input->workload, input->profile, input->steer->derived_keys,
                             attributes, phantoms, phantom_count, GROUPS_MAX, &moves.groups, error);
    free(attributes);
    if (status)
        return status;
    size_t count = moves.groups.list.count;
    moves.rule = malloc((count + 1) * sizeof *moves.rule);
    moves.shard = malloc((count + 1) * sizeof *moves.shard);
    moves.size = calloc(input->shards, sizeof *moves.size);
    moves.access = calloc(input->shards, sizeof *moves.access);
    bool ok = moves.rule && moves.shard && moves.size && moves.access;
    for (uint32_t g = 0; ok && g < count; g++) {
        const struct cleave_group *group = &moves.groups.list.data[g];
        moves.rule[g] = moves.shard[g] = rule_shard(space, key_shard, group);
        if (moves.rule[g] == CLEAVE_ABSENT)
            continue;
        moves.size[moves.rule[g]] += group_size(&moves, g);
        moves.access[moves.rule[g]] += (double)group->access;
    }
    if (!ok || !hold_groups(&moves) || !list_transactions(&moves)) {
        cleave__moves_free(&moves);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tuple groups");
    }
    *out = moves;
    return CLEAVE_OK;
}

void cleave__moves_free(struct cleave_moves *moves)
{
    cleave__groups_free(&moves->groups);
    free(moves->rule);
    free(moves->held);
    free(moves->shard);
    free(moves->transaction_offset);
    free(moves->transaction_group);
    free(moves->group_offset);
    free(moves->group_transaction);
    free(moves->lost);
    free(moves->size);
    free(moves->access);
    *moves = (struct cleave_moves){0};
}

static bool is_cut(const struct cleave_moves *moves, uint32_t transaction)
{
    uint64_t first = moves->transaction_offset[transaction];
    uint64_t last = moves->transaction_offset[transaction + 1];
    for (uint64_t i = first + 1; i < last; i++) {
        if (moves->shard[moves->transaction_group[i]] !=
            moves->shard[moves->transaction_group[first]])
            return true;
    }
    return false;
}

uint64_t cleave__moves_count(const struct cleave_moves *moves)
{
    uint64_t distributed = 0;
    for (uint32_t t = 0; t < moves->space->input->workload->transactions; t++)
        distributed += moves->lost[t] || is_cut(moves, t);
    return distributed;
}

static bool may_move(const struct cleave_moves *moves, uint32_t group)
{
    const struct cleave_group *g = &moves->groups.list.data[group];
    return !moves->held[group] && g->second_count > 0 && !g->rest &&
           cleave__range_is_point(&g->first);
}

/* ---- how often the rest of the workload would still come to a group where its rule sends it ----
 */

struct marginal {
    struct cleave_range piece;
    uint32_t group;
};

static int compare_marginals(const void *left, const void *right)
{
    const struct marginal *a = left, *b = right;
    int order = cleave__value_compare(&a->piece.low, &b->piece.low);
    return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* Fills expected[group] for the groups of one table: accesses that the second value had under other
 * keys, scaled to this key's share of the table's accesses (keys and second values taken as
 * independent). A value that is popular elsewhere will be asked for here too. */
static bool expect_table(const struct cleave_moves *moves, uint32_t table, double *expected)
{
    const struct cleave_groups *groups = &moves->groups;
    uint32_t first = groups->table_start[table], last = groups->table_start[table + 1];
    struct marginal *list = malloc(((size_t)(last - first) + 1) * sizeof *list);
    size_t count = 0;
    double total = 0;
    if (!list)
        return false;
    for (uint32_t g = first; g < last; g++) {
        const struct cleave_group *group = &groups->list.data[g];
        total += (double)group->access;
        if (may_move(moves, g))
            list[count++] = (struct marginal){groups->pieces.data[group->second_start], g};
    }
    if (count)
        qsort(list, count, sizeof *list, compare_marginals);
    for (size_t start = 0; start < count;) {
        size_t end = start;
        double access = 0;
        while (end < count &&
               cleave__value_compare(&list[end].piece.low, &list[start].piece.low) == 0)
            access += (double)groups->list.data[list[end++].group].access;
        for (size_t i = start; i < end; i++)
            expected[list[i].group] = access - (double)groups->list.data[list[i].group].access;
        start = end;
    }
    free(list);
    for (uint32_t g = first; g < last;) { /* groups of one key are contiguous */
        uint32_t end = g;
        double key = 0;
        while (end < last && cleave__value_compare(&groups->list.data[end].first.low,
                                                   &groups->list.data[g].first.low) == 0)
            key += (double)groups->list.data[end++].access;
        for (uint32_t i = g; i < end; i++)
            expected[i] *= total > key ? key / (total - key) : 0;
        g = end;
    }
    return true;
}

struct climb {
    struct cleave_moves *moves;
    double *expected; /* [groups] */
    uint32_t *stamp;  /* [transactions]: the trial that last counted it */
    uint32_t trial;
    double size_limit, access_limit;
};

/* Change in the number of cut transactions when `groups` go to `target`; done only when `keep` says
 * so of the change. Returns the change that was kept, 0 otherwise. */
static int64_t relocate(struct climb *climb, const uint32_t *groups, const uint32_t *targets,
                        uint32_t count, bool (*keep)(int64_t change, double expected), bool *kept)
{
    struct cleave_moves *moves = climb->moves;
    uint32_t old[MOVED_TOGETHER_MAX];
    int64_t change = 0;
    double expected = 0;
    for (uint32_t i = 0; i < count; i++)
        expected += climb->expected[groups[i]];
    for (int after = 0; after < 2; after++) {
        climb->trial++;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t last = moves->group_offset[groups[i] + 1];
            for (uint64_t j = moves->group_offset[groups[i]]; j < last; j++) {
                uint32_t t = moves->group_transaction[j];
                if (climb->stamp[t] == climb->trial || moves->lost[t])
                    continue;
                climb->stamp[t] = climb->trial;
                change += (after ? 1 : -1) * (int64_t)is_cut(moves, t);
            }
        }
        for (uint32_t i = 0; i < count && !after; i++) {
            old[i] = moves->shard[groups[i]];
            moves->shard[groups[i]] = targets[i];
        }
    }
    *kept = keep(change, expected);
    for (uint32_t i = 0; i < count; i++) {
        if (!*kept) {
            moves->shard[groups[i]] = old[i];
            continue;
        }
        double size = group_size(moves, groups[i]);
        double access = (double)moves->groups.list.data[groups[i]].access;
        moves->size[old[i]] -= size;
        moves->access[old[i]] -= access;
        moves->size[targets[i]] += size;
        moves->access[targets[i]] += access;
    }
    return *kept ? change : 0;
}

/* A move must save transactions, and much more than the ones it is expected to cost later. */
static bool saves(int64_t change, double expected)
{
    return change < 0 && expected * CAUTION <= (double)-change;
}

static bool costs_nothing(int64_t change, double expected)
{
    (void)expected;
    return change <= 0;
}

/* Tries to make one cut transaction local; returns what it saved. */
static int64_t mend(struct climb *climb, uint32_t transaction)
{
    struct cleave_moves *moves = climb->moves;
    uint64_t first = moves->transaction_offset[transaction];
    uint64_t last = moves->transaction_offset[transaction + 1];
    for (uint64_t at = first; at < last; at++) {
        uint32_t target = moves->shard[moves->transaction_group[at]];
        bool tried = false;
        for (uint64_t i = first; i < at && !tried; i++)
            tried = moves->shard[moves->transaction_group[i]] == target;
        if (tried)
            continue;
        uint32_t moved[MOVED_TOGETHER_MAX], targets[MOVED_TOGETHER_MAX], count = 0;
        uint64_t sharing = 0;
        double size = moves->size[target], access = moves->access[target];
        bool possible = true;
        for (uint64_t i = first; i < last && possible; i++) {
            uint32_t g = moves->transaction_group[i];
            if (moves->shard[g] == target)
                continue;
            possible = count < MOVED_TOGETHER_MAX && may_move(moves, g);
            if (!possible)
                break;
            moved[count] = g;
            targets[count++] = target;
            sharing += moves->group_offset[g + 1] - moves->group_offset[g];
            size += group_size(moves, g);
            access += (double)moves->groups.list.data[g].access;
        }
        if (!possible || sharing > SHARING_MAX || size > climb->size_limit ||
            access > climb->access_limit)
            continue;
        bool kept;
        int64_t change = relocate(climb, moved, targets, count, saves, &kept);
        if (kept)
            return -change;
    }
    return 0;
}

/* No shard may pass its fair share by epsilon, or what the fullest one holds already. */
static double limit_of(const double *load, uint32_t shards, double epsilon)
{
    double total = 0, most = 0;
    for (uint32_t s = 0; s < shards; s++) {
        total += load[s];
        most = load[s] > most ? load[s] : most;
    }
    double fair = total / shards * (1 + epsilon);
    return (fair > most ? fair : most) * (1 + 1e-12);
}

uint64_t cleave__moves_improve(struct cleave_moves *moves)
{
    const struct cleave_scheme_input *input = moves->space->input;
    struct climb climb = {.moves = moves};
    climb.stamp = calloc((size_t)input->workload->transactions + 1, sizeof *climb.stamp);
    climb.expected = calloc(moves->groups.list.count + 1, sizeof *climb.expected);
    bool ok = climb.stamp && climb.expected;
    for (uint32_t t = 0; ok && t < input->schema->table_count; t++)
        ok = expect_table(moves, t, climb.expected);
    if (!ok) {
        free(climb.stamp);
        free(climb.expected);
        return 0; /* improvement only: the rule stands */
    }
    climb.size_limit = limit_of(moves->size, input->shards, input->steer->epsilon);
    climb.access_limit = limit_of(moves->access, input->shards, input->steer->epsilon);
    int64_t saved = 0, before = -1;
    for (int pass = 0; pass < PASSES && saved != before; pass++) {
        before = saved;
        for (uint32_t t = 0; t < input->workload->transactions; t++) {
            if (!moves->lost[t] && is_cut(moves, t))
                saved += mend(&climb, t);
        }
    }
    for (uint32_t g = 0; g < moves->groups.list.count; g++) {
        bool kept;
        if (moves->shard[g] != moves->rule[g] &&
            moves->group_offset[g + 1] - moves->group_offset[g] <= SHARING_MAX)
            saved -= relocate(&climb, &g, &moves->rule[g], 1, costs_nothing, &kept);
    }
    free(climb.stamp);
    free(climb.expected);
    return (uint64_t)saved;
}
