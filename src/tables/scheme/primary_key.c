/* PKH, PKR, PKRR: every table by the first column of its primary key (its first column where it has
 * none), by hash, by ranges, or round robin on the value. Ranges come from the key's histogram when
 * it is known (between its bounds, integers are taken as even), else they cut the constants seen in
 * the workload into equal parts; a key of which neither is known is hashed. */
#include <stdlib.h>
#include <string.h>

#include "tables/scheme/scheme.h"

static enum cleave_status start(const struct cleave_scheme_input *input, struct cleave_arena *arena,
                                struct cleave_layout *layout, const char **notes,
                                struct cleave_error *error)
{
    if (notes)
        *notes = "";
    if (!cleave__layout_start(input->schema, input->shards, arena, layout))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    return CLEAVE_OK;
}

enum cleave_status cleave__place_pkh(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error)
{
    return start(input, arena, layout, notes, error);
}

enum cleave_status cleave__place_pkrr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error)
{
    enum cleave_status status = start(input, arena, layout, notes, error);
    if (!status)
        layout->maps[0].otherwise = CLEAVE_MAP_ROUND_ROBIN;
    return status;
}

static int compare_values(const void *left, const void *right)
{
    return cleave__value_compare(left, right);
}

/* The class's constants, each once, sorted; false when memory is out. */
static bool collect_values(const struct cleave_scheme_input *input,
                           const struct cleave_layout *layout, uint32_t root,
                           struct cleave_value **out, size_t *count)
{
    CLEAVE_VECTOR(struct cleave_value) values = {0};
    const struct cleave_profile *profile = input->profile;
    bool ok = true;
    for (size_t b = 0; ok && b < input->workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &input->workload->boxes.data[b];
        uint32_t key = layout->tables[box->table].key_column;
        if (layout->tables[box->table].replicated ||
            profile->class_of[profile->base[box->table] + key] != root)
            continue;
        const struct cleave_term *term = cleave__box_term(&box->box, key);
        for (uint32_t r = 0; ok && term && r < term->range_count; r++) {
            if (cleave__range_is_point(&term->ranges[r]) && term->ranges[r].low.kind != CLEAVE_NULL)
                ok = CLEAVE_PUSH(&values, term->ranges[r].low);
        }
    }
    if (ok && values.count)
        qsort(values.data, values.count, sizeof *values.data, compare_values);
    size_t kept = 0;
    for (size_t i = 0; i < values.count; i++) {
        if (kept == 0 || compare_values(&values.data[i], &values.data[kept - 1]) != 0)
            values.data[kept++] = values.data[i];
    }
    *out = values.data;
    *count = kept;
    return ok;
}

/* Bounds at equal parts of the sorted values. */
static bool cut_values(const struct cleave_value *values, size_t count, uint32_t shards,
                       struct cleave_arena *arena, struct cleave_key_map *map)
{
    map->otherwise = CLEAVE_MAP_RANGE;
    map->bounds = cleave__arena_zalloc(arena, (size_t)shards * sizeof *map->bounds);
    if (!map->bounds)
        return false;
    for (uint32_t s = 1; s < shards && count; s++) {
        struct cleave_value bound = values[(size_t)((uint64_t)s * count / shards)];
        if (map->bound_count &&
            cleave__value_compare(&map->bounds[map->bound_count - 1], &bound) >= 0)
            continue; /* fewer values than shards: some shards stay empty */
        if (bound.kind == CLEAVE_NUMBER || bound.kind == CLEAVE_TEXT) {
            bound.text = cleave__arena_copy(arena, bound.text, bound.length);
            if (!bound.text)
                return false;
        }
        map->bounds[map->bound_count++] = bound;
    }
    return true;
}

/* The value below which part / whole of the histogram's rows lie. */
static struct cleave_value quantile(const struct cleave_column_stats *stats, uint64_t part,
                                    uint64_t whole)
{
    uint64_t buckets = stats->bound_count - 1;
    uint64_t bucket = part * buckets / whole, rest = part * buckets % whole;
    struct cleave_value low = stats->bounds[bucket];
    if (rest == 0 || low.kind != CLEAVE_INTEGER || stats->bounds[bucket + 1].kind != CLEAVE_INTEGER)
        return low;
    double span = (double)stats->bounds[bucket + 1].integer - (double)low.integer + 1;
    low.integer += (int64_t)(span * (double)rest / (double)whole);
    return low;
}

static bool cut_histogram(const struct cleave_column_stats *stats, uint32_t shards,
                          struct cleave_arena *arena, struct cleave_key_map *map)
{
    struct cleave_value *values = malloc((size_t)shards * sizeof *values);
    if (!values)
        return false;
    for (uint32_t s = 0; s < shards; s++)
        values[s] = quantile(stats, s, shards);
    bool ok = cut_values(values, shards, shards, arena, map);
    free(values);
    return ok;
}

/* The histogram of one column of the class, where some table has it. */
static const struct cleave_column_stats *find_stats(const struct cleave_scheme_input *input,
                                                    const struct cleave_layout *layout,
                                                    uint32_t root)
{
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table *table = &input->schema->tables[t];
        uint32_t key = layout->tables[t].key_column;
        if (table->column_count == 0 || profile->class_of[profile->base[t] + key] != root)
            continue;
        if (table->columns[key].stats.known && table->columns[key].stats.bound_count >= 2)
            return &table->columns[key].stats;
    }
    return NULL;
}

enum cleave_status cleave__place_pkr(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error)
{
    const struct cleave_profile *profile = input->profile;
    enum cleave_status status = start(input, arena, layout, notes, error);
    if (status)
        return status;
    uint32_t tables = input->schema->table_count;
    struct cleave_key_map *maps = cleave__arena_zalloc(arena, ((size_t)tables + 1) * sizeof *maps);
    uint32_t *roots = malloc(((size_t)tables + 1) * sizeof *roots);
    uint32_t count = 0;
    bool ok = maps && roots;
    for (uint32_t t = 0; ok && t < tables; t++) {
        struct cleave_table_layout *table = &layout->tables[t];
        if (input->schema->tables[t].column_count == 0)
            continue;
        uint32_t root = profile->class_of[profile->base[t] + table->key_column];
        uint32_t m = 0;
        while (m < count && roots[m] != root)
            m++;
        table->map = m;
        if (m < count)
            continue;
        roots[count++] = root;
        const struct cleave_column_stats *stats = find_stats(input, layout, root);
        if (stats) {
            ok = cut_histogram(stats, input->shards, arena, &maps[m]);
            continue;
        }
        struct cleave_value *values = NULL;
        size_t value_count = 0;
        ok = collect_values(input, layout, root, &values, &value_count);
        if (ok && value_count == 0)
            maps[m].otherwise = CLEAVE_MAP_HASH;
        else
            ok = ok && cut_values(values, value_count, input->shards, arena, &maps[m]);
        free(values);
    }
    free(roots);
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    layout->maps = maps;
    layout->map_count = count ? count : 1;
    return CLEAVE_OK;
}
