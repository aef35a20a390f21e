/* How much each shard of a layout holds, by the same estimates for every scheme. */
#include <stdlib.h>

#include "tables/compare/count.h"

struct value_list {
    CLEAVE_VECTOR(struct cleave_value) values;
};

static int compare_values(const void *left, const void *right)
{
    return cleave__value_compare(left, right);
}

/* The constants that the workload shows of a table's key, and its common values, each once. */
static bool key_values(const struct cleave_layout *layout, const struct cleave_workload *workload,
                       uint32_t table, uint32_t key, struct value_list *list)
{
    const struct cleave_column_stats *stats = &layout->schema->tables[table].columns[key].stats;
    list->values.count = 0;
    for (uint32_t i = 0; stats->known && i < stats->common_count; i++) {
        if (!CLEAVE_PUSH(&list->values, stats->common[i]))
            return false;
    }
    for (size_t b = 0; b < workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b];
        const struct cleave_term *term =
            box->table == table ? cleave__box_term(&box->box, key) : NULL;
        for (uint32_t r = 0; term && r < term->range_count; r++) {
            if (cleave__range_is_point(&term->ranges[r]) &&
                !CLEAVE_PUSH(&list->values, term->ranges[r].low))
                return false;
        }
    }
    if (list->values.count == 0)
        return true;
    qsort(list->values.data, list->values.count, sizeof *list->values.data, compare_values);
    size_t kept = 0;
    for (size_t i = 1; i < list->values.count; i++) {
        if (compare_values(&list->values.data[i], &list->values.data[kept]) != 0)
            list->values.data[++kept] = list->values.data[i];
    }
    list->values.count = kept + 1;
    return true;
}

/* Pieces of the domain for range-like defaults: piece i is [bounds[i-1], bounds[i]). */
static void add_pieces(const struct cleave_table *table, uint32_t key,
                       const struct cleave_value *bounds, uint32_t bound_count, double size,
                       const uint32_t *shard_of_piece, double *load)
{
    for (uint32_t p = 0; p <= bound_count; p++) {
        struct cleave_range range = {.flags = CLEAVE_HIGH_OPEN};
        if (p == 0)
            range.flags |= CLEAVE_LOW_UNBOUNDED;
        else
            range.low = bounds[p - 1];
        if (p == bound_count)
            range.flags = (uint8_t)((range.flags & ~CLEAVE_HIGH_OPEN) | CLEAVE_HIGH_UNBOUNDED);
        else
            range.high = bounds[p];
        if (!(range.flags & CLEAVE_HIGH_UNBOUNDED) && range.high.kind == CLEAVE_INTEGER) {
            if (range.high.integer == INT64_MIN)
                continue;
            range.high.integer--; /* INTEGER bounds are closed */
            range.flags &= (uint8_t)~CLEAVE_HIGH_OPEN;
        }
        load[shard_of_piece ? shard_of_piece[p] : p] +=
            size * cleave__selectivity(table, key, &range);
    }
}

/* Adds one copy of a table, placed by `key` through a map. */
static bool add_copy(const struct cleave_layout *layout, const struct cleave_workload *workload,
                     uint32_t t, uint32_t key, uint32_t map_number, double size,
                     struct value_list *list, double *load)
{
    const struct cleave_table *table = &layout->schema->tables[t];
    const struct cleave_key_map *map = &layout->maps[map_number];
    if (map->otherwise == CLEAVE_MAP_RANGE) {
        add_pieces(table, key, map->bounds, map->bound_count, size, NULL, load);
        return true;
    }
    if (map->otherwise == CLEAVE_MAP_NEAREST && map->entry_count) {
        uint32_t *shard = malloc(((size_t)map->entry_count + 1) * sizeof *shard);
        if (!shard)
            return false;
        shard[0] = map->entry_shards[0];
        for (uint32_t e = 0; e < map->entry_count; e++)
            shard[e + 1] = map->entry_shards[e];
        add_pieces(table, key, map->entries, map->entry_count, size, shard, load);
        free(shard);
        return true;
    }
    if (!key_values(layout, workload, t, key, list))
        return false;
    double rest = 1;
    for (size_t v = 0; v < list->values.count; v++) {
        struct cleave_range point = {list->values.data[v], list->values.data[v], 0};
        double share = cleave__selectivity(table, key, &point);
        share = share < rest ? share : rest;
        rest -= share;
        load[cleave__map_shard(map, layout->shards, &list->values.data[v])] += size * share;
    }
    for (uint32_t s = 0; s < layout->shards; s++)
        load[s] += size * rest / layout->shards;
    return true;
}

/* Exceptions take their rows from where the rule has them. */
static void move_exceptions(const struct cleave_layout *layout, uint32_t t, double size,
                            double *load)
{
    const struct cleave_table *table = &layout->schema->tables[t];
    const struct cleave_table_layout *placed = &layout->tables[t];
    for (uint32_t e = 0; e < placed->exception_count; e++) {
        const struct cleave_exception *exception = &placed->exceptions[e];
        double share = 1;
        const struct cleave_value *key = NULL;
        for (uint32_t r = 0; r < exception->range_count; r++) {
            share *= cleave__selectivity(table, exception->column[r], &exception->range[r]);
            if (exception->column[r] == placed->key_column &&
                cleave__range_is_point(&exception->range[r]))
                key = &exception->range[r].low;
        }
        load[exception->shard] += size * share;
        uint32_t home = key ? cleave__map_shard(&layout->maps[placed->map], layout->shards, key)
                            : CLEAVE_ABSENT;
        for (uint32_t s = 0; s < layout->shards; s++) {
            if (home == CLEAVE_ABSENT || home == s)
                load[s] -= size * share / (home == s ? 1 : layout->shards);
        }
    }
}

enum cleave_status cleave__shard_sizes(const struct cleave_layout *layout,
                                       const struct cleave_workload *workload,
                                       struct cleave_arena *arena, double **out,
                                       struct cleave_error *error)
{
    const struct cleave_schema *schema = layout->schema;
    struct value_list list = {0};
    double *load = cleave__arena_zalloc(arena, layout->shards * sizeof *load);
    bool ok = load != NULL;
    for (uint32_t t = 0; ok && t < schema->table_count; t++) {
        double size = schema->tables[t].rows * cleave__row_weight(schema, t);
        if (schema->tables[t].view || schema->tables[t].column_count == 0 || size <= 0)
            continue;
        for (uint32_t s = 0; s < layout->shards && layout->tables[t].replicated; s++)
            load[s] += size;
        if (layout->tables[t].replicated)
            continue;
        const struct cleave_table_layout *placed = &layout->tables[t];
        ok = add_copy(layout, workload, t, placed->key_column, placed->map, size, &list, load);
        move_exceptions(layout, t, size, load);
        /* A second copy is one where the first is not: keys are taken as independent. */
        if (ok && placed->twice)
            ok = add_copy(layout, workload, t, placed->second_column, placed->second_map,
                          size * (1 - 1.0 / layout->shards), &list, load);
    }
    CLEAVE_VECTOR_FREE(&list.values);
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the sizes");
    *out = load;
    return CLEAVE_OK;
}
