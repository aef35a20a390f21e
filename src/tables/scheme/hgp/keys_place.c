/* Placing the key space: the vertices that matter go through the hypergraph partitioner; values
 * that no transaction ties to another and that weigh little stay with the map's hash, and their
 * weight is laid on one fixed anchor a shard, so that the balance stays true. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/partition.h"
#include "tables/scheme/hgp/hgp.h"

/* A vertex is heavy when 1/HEAVY_PART of a shard's fair weight hangs on it. Nets weigh TIE each
 * where neighbouring intervals are held together by nets of weight 1. */
enum { HEAVY_PART = 20, TIE = 16, STARTS_SMALL = 20, STARTS_TRIAL = 3, SMALL = 2000 };

bool cleave__node_shares(const struct cleave_steer *steer, uint32_t shards, double *share)
{
    /* A share that is given counts; else what the node can store, else what it can process. A node
     * of which nothing is known gets the mean of the others. */
    double total = 0;
    uint32_t known = 0;
    bool alike = true;
    for (uint32_t s = 0; s < shards; s++) {
        const struct cleave_node none = {0};
        const struct cleave_node *node = s < steer->node_count ? &steer->nodes[s] : &none;
        share[s] = node->share > 0           ? node->share
                   : node->storage_bytes > 0 ? node->storage_bytes
                                             : node->accesses;
        total += share[s] > 0 ? share[s] : 0;
        known += share[s] > 0;
    }
    for (uint32_t s = 0; s < shards; s++) {
        if (!(share[s] > 0))
            share[s] = known ? total / known : 1;
        alike &= share[s] == share[0];
    }
    return !alike;
}

uint32_t cleave__keys_shard(const struct cleave_key_space *space, const uint32_t *shard,
                            uint32_t vertex)
{
    if (shard[vertex] != CLEAVE_ABSENT)
        return shard[vertex];
    return cleave__value_shard(&space->vertices.data[vertex].value, space->input->shards);
}

bool cleave__selector_find(const struct cleave_schema *schema,
                           const struct cleave_selector *selector, struct cleave_arena *arena,
                           uint32_t *table, uint32_t *column, struct cleave_value *value)
{
    *table = cleave__schema_table(schema, selector->table, strlen(selector->table));
    *column = CLEAVE_ABSENT;
    if (*table == CLEAVE_ABSENT)
        return false;
    if (!selector->column)
        return true;
    const struct cleave_table *t = &schema->tables[*table];
    *column = cleave__schema_column(t, selector->column, strlen(selector->column));
    return *column != CLEAVE_ABSENT && selector->value &&
           cleave__value_parse(t->columns[*column].type, selector->value, strlen(selector->value),
                               arena, value) == CLEAVE_OK;
}

uint32_t cleave__keys_selected(const struct cleave_key_space *space,
                               const struct cleave_selector *selector, struct cleave_arena *arena)
{
    uint32_t table, column;
    struct cleave_value value;
    if (!cleave__selector_find(space->input->schema, selector, arena, &table, &column, &value) ||
        column == CLEAVE_ABSENT || space->class_of_table[table] == CLEAVE_ABSENT ||
        space->design->tables[table].key != column)
        return CLEAVE_ABSENT;
    return cleave__keys_find(space, space->class_of_table[table], &value);
}

void cleave__keys_mark_ruled(const struct cleave_key_space *space, unsigned char *marks)
{
    struct cleave_arena arena = {0};
    memset(marks, 0, space->vertices.count);
    for (uint32_t r = 0; r < space->input->steer->rule_count; r++) {
        const struct cleave_rule *rule = &space->input->steer->rules[r];
        bool pair = rule->kind == CLEAVE_TOGETHER || rule->kind == CLEAVE_APART;
        const struct cleave_selector *ends[2] = {&rule->a, &rule->b};
        for (int i = 0; i < (pair ? 2 : rule->kind == CLEAVE_PIN ? 1 : 0); i++) {
            uint32_t v = cleave__keys_selected(space, ends[i], &arena);
            if (v != CLEAVE_ABSENT)
                marks[v] = 1;
        }
    }
    cleave__arena_free(&arena);
}

struct problem {
    const struct cleave_key_space *space;
    const unsigned char *used;
    double epsilon;
    uint32_t *local;  /* vertex -> number in the hypergraph, or CLEAVE_ABSENT */
    uint32_t count;   /* vertices in the hypergraph, anchors first */
    uint32_t weights; /* W */
    bool by_size, by_access;
    CLEAVE_VECTOR(uint64_t) net_offset;
    CLEAVE_VECTOR(uint32_t) pins;
    CLEAVE_VECTOR(int64_t) net_weight;
    int64_t *weight;
    int32_t *fixed;
    uint32_t *together;
    CLEAVE_VECTOR(uint32_t) apart; /* pairs, flat */
    double *share;
};

static void problem_free(struct problem *problem)
{
    free(problem->local);
    CLEAVE_VECTOR_FREE(&problem->net_offset);
    CLEAVE_VECTOR_FREE(&problem->pins);
    CLEAVE_VECTOR_FREE(&problem->net_weight);
    free(problem->weight);
    free(problem->fixed);
    free(problem->together);
    CLEAVE_VECTOR_FREE(&problem->apart);
    free(problem->share);
}

static bool counts(const struct problem *problem, uint32_t transaction)
{
    return (!problem->used || problem->used[transaction]) &&
           problem->space->kinds[transaction] == CLEAVE_TRANSACTION_TIED;
}

/* Numbers the vertices that matter. */
static bool choose_vertices(struct problem *problem, struct cleave_arena *arena)
{
    const struct cleave_key_space *space = problem->space;
    const struct cleave_steer *steer = space->input->steer;
    uint32_t shards = space->input->shards;
    size_t vertices = space->vertices.count;
    problem->local = malloc((vertices + 1) * sizeof *problem->local);
    if (!problem->local)
        return false;
    memset(problem->local, 0xff, (vertices + 1) * sizeof *problem->local);
    double access_total = 0;
    for (size_t v = 0; v < vertices; v++)
        access_total += (double)space->vertices.data[v].access;
    for (uint32_t t = 0; t < space->input->workload->transactions; t++) {
        uint64_t first = space->offsets[t], last = space->offsets[t + 1];
        if (!counts(problem, t) || last - first < 2)
            continue;
        for (uint64_t p = first; p < last; p++)
            problem->local[space->pins.data[p]] = 0;
    }
    for (size_t v = 0; v < vertices; v++) {
        const struct cleave_key_vertex *vertex = &space->vertices.data[v];
        bool heavy = (double)vertex->access * HEAVY_PART * shards > access_total ||
                     vertex->size * HEAVY_PART * shards > space->size_total;
        if (heavy || space->classes[vertex->class].intervals)
            problem->local[v] = 0;
    }
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_selector *ends[2] = {&steer->rules[r].a, &steer->rules[r].b};
        bool pair = steer->rules[r].kind == CLEAVE_TOGETHER || steer->rules[r].kind == CLEAVE_APART;
        for (uint32_t i = 0; i < (pair ? 2 : 1); i++) {
            uint32_t v = cleave__keys_selected(space, ends[i], arena);
            if (v != CLEAVE_ABSENT)
                problem->local[v] = 0;
        }
    }
    problem->count = shards;
    for (size_t v = 0; v < vertices; v++) {
        if (problem->local[v] == 0)
            problem->local[v] = problem->count++;
    }
    return true;
}

static int compare_pins(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Adds a net, or weight to the one with the same pins. `pins` is sorted in place. */
static bool add_net(struct problem *problem, struct cleave_intern *known, uint32_t *pins,
                    uint32_t count, int64_t weight)
{
    qsort(pins, count, sizeof *pins, compare_pins);
    uint32_t id = cleave__intern_add(known, pins, count * sizeof *pins);
    if (id == CLEAVE_INTERN_NONE)
        return false;
    if (id < problem->net_weight.count) {
        problem->net_weight.data[id] += weight;
        return true;
    }
    for (uint32_t p = 0; p < count; p++) {
        if (!CLEAVE_PUSH(&problem->pins, pins[p]))
            return false;
    }
    return CLEAVE_PUSH(&problem->net_offset, problem->pins.count) &&
           CLEAVE_PUSH(&problem->net_weight, weight);
}

static bool make_nets(struct problem *problem)
{
    const struct cleave_key_space *space = problem->space;
    struct cleave_intern known = {0};
    CLEAVE_VECTOR(uint32_t) pins = {0};
    bool ok = CLEAVE_PUSH(&problem->net_offset, 0);
    bool intervals = false;
    for (uint32_t c = 0; c < space->class_count; c++)
        intervals |= space->classes[c].intervals;
    for (uint32_t t = 0; ok && t < space->input->workload->transactions; t++) {
        if (!counts(problem, t) || space->offsets[t + 1] - space->offsets[t] < 2)
            continue;
        pins.count = 0;
        for (uint64_t p = space->offsets[t]; ok && p < space->offsets[t + 1]; p++)
            ok = CLEAVE_PUSH(&pins, problem->local[space->pins.data[p]]);
        ok = ok && add_net(problem, &known, pins.data, (uint32_t)pins.count, intervals ? TIE : 1);
    }
    for (uint32_t c = 0; ok && c < space->class_count; c++) {
        const struct cleave_key_class *class = &space->classes[c];
        for (uint32_t p = 1; ok && class->intervals && p < class->vertex_count; p++) {
            uint32_t v = class->first_vertex + p;
            uint32_t pair[2] = {problem->local[v - 1], problem->local[v]};
            ok = add_net(problem, &known, pair, 2, 1);
        }
    }
    CLEAVE_VECTOR_FREE(&pins);
    cleave__intern_free(&known);
    return ok;
}

static void add_weight(struct problem *problem, uint32_t local, double size, uint64_t access,
                       double scale)
{
    int64_t *weight = problem->weight + (size_t)local * problem->weights;
    if (problem->by_size)
        *weight++ += (int64_t)llround(size * scale);
    if (problem->by_access)
        *weight++ += (int64_t)access;
    if (!problem->by_size && !problem->by_access)
        *weight += 1;
}

static bool make_weights(struct problem *problem)
{
    const struct cleave_key_space *space = problem->space;
    const struct cleave_steer *steer = space->input->steer;
    uint32_t shards = space->input->shards;
    problem->by_size = steer->size_weight > 0 && space->size_total > 0;
    problem->by_access = steer->access_weight > 0;
    problem->weights = problem->by_size + problem->by_access;
    if (problem->weights == 0)
        problem->weights = 1;
    problem->weight = calloc((size_t)problem->count * problem->weights, sizeof *problem->weight);
    problem->fixed = malloc((size_t)problem->count * sizeof *problem->fixed);
    problem->together = calloc(problem->count, sizeof *problem->together);
    if (!problem->weight || !problem->fixed || !problem->together)
        return false;
    double scale = space->size_total > 0 ? 1e9 / space->size_total : 0;
    double size =
        space->size_total; /* of what stays with the hash: light values, rows never shown */
    uint64_t access = 0;
    for (size_t v = 0; v < space->vertices.count; v++) {
        const struct cleave_key_vertex *vertex = &space->vertices.data[v];
        if (problem->local[v] == CLEAVE_ABSENT) {
            access += vertex->access;
            continue;
        }
        add_weight(problem, problem->local[v], vertex->size, vertex->access, scale);
        size -= vertex->size;
    }
    /* Hashing spreads many light values evenly; the noise of this sample is not to be balanced. */
    for (uint32_t s = 0; s < shards; s++)
        add_weight(problem, s, (size > 0 ? size : 0) / shards,
                   access / shards + (s < access % shards), scale);
    for (uint32_t v = 0; v < problem->count; v++)
        problem->fixed[v] = v < shards ? (int32_t)v : CLEAVE_FREE;
    problem->share = malloc(shards * sizeof *problem->share);
    if (!problem->share)
        return false;
    if (!cleave__node_shares(steer, shards, problem->share)) {
        free(problem->share);
        problem->share = NULL;
    }
    return true;
}

static bool apply_rules(struct problem *problem, struct cleave_arena *arena)
{
    const struct cleave_steer *steer = problem->space->input->steer;
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_rule *rule = &steer->rules[r];
        uint32_t a = cleave__keys_selected(problem->space, &rule->a, arena);
        if (a == CLEAVE_ABSENT)
            continue;
        a = problem->local[a];
        if (rule->kind == CLEAVE_PIN) {
            problem->fixed[a] = (int32_t)rule->shard;
            continue;
        }
        if (rule->kind != CLEAVE_TOGETHER && rule->kind != CLEAVE_APART)
            continue;
        uint32_t b = cleave__keys_selected(problem->space, &rule->b, arena);
        if (b == CLEAVE_ABSENT || problem->local[b] == a)
            continue;
        b = problem->local[b];
        if (rule->kind == CLEAVE_APART) {
            if (!CLEAVE_PUSH(&problem->apart, a) || !CLEAVE_PUSH(&problem->apart, b))
                return false;
            continue;
        }
        uint32_t label = problem->together[a] ? problem->together[a] : r + 1;
        uint32_t other = problem->together[b];
        for (uint32_t v = 0; other && v < problem->count; v++) {
            if (problem->together[v] == other)
                problem->together[v] = label;
        }
        problem->together[a] = problem->together[b] = label;
    }
    return true;
}

/* A start for interval classes: runs of equal weight in the order of the domain; other values where
 * hashing sends them. NULL when there are no intervals, or memory is out. */
static uint32_t *ordered_start(const struct problem *problem)
{
    const struct cleave_key_space *space = problem->space;
    uint32_t shards = space->input->shards;
    uint32_t *start = NULL;
    for (uint32_t c = 0; c < space->class_count; c++) {
        const struct cleave_key_class *class = &space->classes[c];
        double total = 0, passed = 0;
        if (!class->intervals)
            continue;
        if (!start) {
            start = malloc((size_t)problem->count * sizeof *start);
            if (!start)
                return NULL;
            for (uint32_t v = 0; v < problem->count; v++)
                start[v] = v < shards ? v : 0;
            for (size_t v = 0; v < space->vertices.count; v++) {
                if (problem->local[v] != CLEAVE_ABSENT)
                    start[problem->local[v]] =
                        cleave__value_shard(&space->vertices.data[v].value, shards);
            }
        }
        for (uint32_t p = 0; p < class->vertex_count; p++)
            total += (double)space->vertices.data[class->first_vertex + p].access + 1;
        for (uint32_t p = 0; p < class->vertex_count; p++) {
            double weight = (double)space->vertices.data[class->first_vertex + p].access + 1;
            uint32_t shard = (uint32_t)((passed + weight / 2) / total * shards);
            start[problem->local[class->first_vertex + p]] = shard < shards ? shard : shards - 1;
            passed += weight;
        }
    }
    return start;
}

static enum cleave_status solve(struct problem *problem, uint32_t *shard, bool *balanced,
                                struct cleave_error *error)
{
    const struct cleave_key_space *space = problem->space;
    struct cleave_hypergraph *graph = NULL;
    uint32_t *start = NULL;
    enum cleave_status status =
        cleave_hypergraph_new(problem->count, (uint32_t)problem->net_weight.count,
                              problem->net_offset.data, problem->pins.data, problem->weights,
                              problem->weight, problem->net_weight.data, &graph, error);
    uint32_t *block = malloc((size_t)problem->count * sizeof *block);
    if (!status && !block)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    if (!status) {
        start = ordered_start(problem);
        struct cleave_partition_options options = {
            .warm_start = start,
            .blocks = space->input->shards,
            .epsilon = problem->epsilon,
            .objective = CLEAVE_CUT,
            .target_share = problem->share,
            .fixed = problem->fixed,
            .together = problem->together,
            .apart = (const uint32_t(*)[2])problem->apart.data,
            .apart_count = (uint32_t)problem->apart.count / 2,
            .starts = problem->count > SMALL ? 1
                      : problem->used        ? STARTS_TRIAL
                                             : STARTS_SMALL,
            .seed = space->input->seed,
            .progress = space->input->progress,
        };
        status = cleave_partition(graph, &options, block, NULL, error);
        *balanced = status == CLEAVE_OK;
        if (status == CLEAVE_UNSATISFIABLE)
            status = CLEAVE_OK; /* the nearest; the caller says so */
    }
    for (size_t v = 0; !status && v < space->vertices.count; v++)
        shard[v] = problem->local[v] == CLEAVE_ABSENT ? CLEAVE_ABSENT : block[problem->local[v]];
    free(start);
    free(block);
    cleave_hypergraph_free(graph);
    return status;
}

enum cleave_status cleave__keys_place(const struct cleave_key_space *space,
                                      const unsigned char *used, double epsilon, uint32_t *shard,
                                      bool *balanced, struct cleave_error *error)
{
    struct problem problem = {.space = space, .used = used, .epsilon = epsilon};
    struct cleave_arena arena = {0};
    enum cleave_status status;
    *balanced = true;
    if (!choose_vertices(&problem, &arena) || !make_nets(&problem) || !make_weights(&problem) ||
        !apply_rules(&problem, &arena)) {
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    } else {
        status = solve(&problem, shard, balanced, error);
    }
    problem_free(&problem);
    cleave__arena_free(&arena);
    return status;
}

uint64_t cleave__keys_count(const struct cleave_key_space *space, const uint32_t *shard,
                            const unsigned char *used, unsigned char want)
{
    uint64_t distributed = 0;
    for (uint32_t t = 0; t < space->input->workload->transactions; t++) {
        if (used && used[t] != want)
            continue;
        bool cut = space->kinds[t] == CLEAVE_TRANSACTION_LOST;
        uint64_t first = space->offsets[t], last = space->offsets[t + 1];
        for (uint64_t p = first + 1; p < last && !cut; p++)
            cut = cleave__keys_shard(space, shard, space->pins.data[p]) !=
                  cleave__keys_shard(space, shard, space->pins.data[first]);
        distributed += cut;
    }
    return distributed;
}

double cleave__keys_busiest(const struct cleave_key_space *space, const uint32_t *shard,
                            const unsigned char *used, unsigned char want)
{
    uint32_t shards = space->input->shards, transactions = space->input->workload->transactions;
    uint32_t counted = 0;
    double coordination = space->input->steer->coordination, lost = 0, most = 0;
    double *work = calloc(shards, sizeof *work);
    uint32_t *last = calloc(shards, sizeof *last);
    for (uint32_t t = 0; work && last && t < transactions; t++) {
        uint64_t first = space->offsets[t], end = space->offsets[t + 1];
        uint32_t parts = 0, touched[64];
        if (used && used[t] != want)
            continue;
        counted++;
        if (space->kinds[t] == CLEAVE_TRANSACTION_LOST) {
            lost += coordination;
            continue;
        }
        for (uint64_t p = first; p < end; p++) {
            uint32_t s = cleave__keys_shard(space, shard, space->pins.data[p]);
            if (last[s] != t + 1 && parts < 64)
                touched[parts++] = s;
            last[s] = t + 1;
        }
        for (uint32_t i = 0; i < parts; i++)
            work[touched[i]] += parts > 1 ? coordination : 1;
    }
    for (uint32_t s = 0; work && s < shards; s++)
        most = work[s] > most ? work[s] : most;
    free(work);
    free(last);
    return counted ? (most + lost) / counted : 0;
}
