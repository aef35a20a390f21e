/* What opening a table's exceptions makes besides what is stored: the list of points, the axes
 * with their unions of shards, the tree of spans. O(n log n). */
#include <stdlib.h>

#include "base/intern.h"
#include "tables/route/exceptions.h"

static struct cleave_value integer_value(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

/* The offset `x` of column `i` as a value; false when it leaves int64. */
static bool unpack(const struct cleave_exception_group *group, uint32_t i, uint64_t x,
                   struct cleave_value *out)
{
    if (x > (uint64_t)INT64_MAX - (uint64_t)group->low[i]) /* wraps rightly for low < 0 */
        return false;
    *out = integer_value((int64_t)((uint64_t)group->low[i] + x));
    return true;
}

/* All points of the group as values; `out` has room for both maps' counts. */
static enum cleave_status list_points(const struct cleave_exception_group *group,
                                      struct cleave_tuple_entry *out)
{
    uint32_t count = group->packed.count;
    struct cleave_integer_entry *packed = malloc(((size_t)count + 1) * sizeof *packed);
    if (!packed)
        return CLEAVE_NO_MEMORY;
    cleave__integer_map_list(&group->packed, packed);
    unsigned bits = group->width > 1 ? group->bits[1] : 0;
    unsigned all = group->bits[0] + bits;
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        uint64_t key = packed[i].key;
        out[i] = (struct cleave_tuple_entry){.shard = packed[i].shard};
        good = all >= 64 || !(key >> all);
        good = good && unpack(group, 0, bits < 64 ? key >> bits : 0, &out[i].value[0]);
        if (good && group->width > 1)
            good = unpack(group, 1, bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key,
                          &out[i].value[1]);
    }
    free(packed);
    cleave__tuple_map_list(&group->tuples, out + count);
    return good ? CLEAVE_OK : CLEAVE_CORRUPT;
}

static int compare_values(const void *a, const void *b)
{
    return cleave__value_compare(a, b);
}

static enum cleave_status make_axis(const struct cleave_tuple_entry *points, uint32_t count,
                                    uint32_t which, struct cleave_arena *arena,
                                    struct cleave_exception_axis *axis)
{
    axis->values = cleave__arena_array(arena, count, sizeof *axis->values);
    if (!axis->values)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        axis->values[i] = points[i].value[which];
    qsort(axis->values, count, sizeof *axis->values, compare_values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (n == 0 || cleave__value_compare(&axis->values[n - 1], &axis->values[i]) != 0)
            axis->values[n++] = axis->values[i];
    }
    axis->value_count = n;
    axis->run = cleave__arena_array(arena, (size_t)n + 1, sizeof *axis->run);
    axis->order = cleave__arena_array(arena, count, sizeof *axis->order);
    axis->summary = cleave__arena_array(arena, n, sizeof *axis->summary);
    return axis->run && axis->order && axis->summary ? CLEAVE_OK : CLEAVE_NO_MEMORY;
}

static uint32_t axis_index(const struct cleave_exception_axis *axis,
                           const struct cleave_value *value)
{
    uint32_t low = 0, high = axis->value_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (cleave__value_compare(&axis->values[middle], value) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int compare_points(const void *a, const void *b)
{
    const struct cleave_exception_point *x = a, *y = b;
    for (uint32_t i = 0; i < 2; i++) {
        if (x->at[i] != y->at[i])
            return x->at[i] < y->at[i] ? -1 : 1;
    }
    return 0;
}

/* Counting sort by this axis of points that are already in the other axis's order. */
static void fill_runs(const struct cleave_exception_group *group, uint32_t which,
                      const uint32_t *by_other)
{
    const struct cleave_exception_axis *axis = &group->axis[which];
    for (uint32_t v = 0; v <= axis->value_count; v++)
        axis->run[v] = 0;
    for (uint32_t i = 0; i < group->point_count; i++)
        axis->run[group->points[i].at[which] + 1]++;
    for (uint32_t v = 0; v < axis->value_count; v++)
        axis->run[v + 1] += axis->run[v];
    for (uint32_t i = 0; i < group->point_count; i++) {
        uint32_t point = by_other ? by_other[i] : i;
        axis->order[axis->run[group->points[point].at[which]]++] = point;
    }
    for (uint32_t v = axis->value_count; v > 0; v--) /* the starts moved to the ends */
        axis->run[v] = axis->run[v - 1];
    axis->run[0] = 0;
}

static bool note_sets(struct cleave_exception_group *group, struct cleave_intern *sets)
{
    for (uint32_t which = 0; which < group->width; which++) {
        const struct cleave_exception_axis *axis = &group->axis[which];
        for (uint32_t v = 0; v < axis->value_count; v++) {
            struct cleave_shardset set = {{0}};
            for (uint32_t i = axis->run[v]; i < axis->run[v + 1]; i++)
                cleave__shardset_add(&set, group->points[axis->order[i]].shard);
            axis->summary[v] = cleave__intern_add(sets, &set, sizeof set);
            if (axis->summary[v] == CLEAVE_INTERN_NONE)
                return false;
            cleave__shardset_or(&group->point_shards, &set);
        }
    }
    return true;
}

static enum cleave_status index_points(struct cleave_exception_group *group,
                                       const struct cleave_tuple_entry *points,
                                       struct cleave_arena *arena)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < group->width && status == CLEAVE_OK; i++)
        status = make_axis(points, group->point_count, i, arena, &group->axis[i]);
    if (status != CLEAVE_OK)
        return status;
    group->points = cleave__arena_array(arena, group->point_count, sizeof *group->points);
    if (!group->points)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < group->point_count; i++) {
        group->points[i] = (struct cleave_exception_point){.shard = points[i].shard};
        for (uint32_t j = 0; j < group->width; j++)
            group->points[i].at[j] = axis_index(&group->axis[j], &points[i].value[j]);
    }
    qsort(group->points, group->point_count, sizeof *group->points, compare_points);
    for (uint32_t i = 1; i < group->point_count; i++) {
        if (!compare_points(&group->points[i - 1], &group->points[i]))
            return CLEAVE_CORRUPT; /* one point, two exceptions */
    }
    fill_runs(group, 0, NULL);
    if (group->width > 1)
        fill_runs(group, 1, group->axis[0].order);
    struct cleave_intern sets = {0};
    if (note_sets(group, &sets)) {
        group->sets = cleave__arena_array(arena, sets.count, sizeof *group->sets);
        for (uint32_t i = 0; group->sets && i < sets.count; i++)
            memcpy(&group->sets[i], sets.entries[i].bytes, sizeof group->sets[i]);
        group->set_count = sets.count;
    }
    cleave__intern_free(&sets);
    return group->sets ? CLEAVE_OK : CLEAVE_NO_MEMORY;
}

static int compare_spans(const struct cleave_exception *a, const struct cleave_exception *b,
                         uint32_t axis)
{
    int order = cleave__range_compare_start(&a->range[axis], &b->range[axis]);
    if (!order)
        order = cleave__range_compare_end(&a->range[axis], &b->range[axis]);
    if (!order && a->range_count > 1)
        order = cleave__range_compare_start(&a->range[!axis], &b->range[!axis]);
    if (!order && a->range_count > 1)
        order = cleave__range_compare_end(&a->range[!axis], &b->range[!axis]);
    if (!order)
        order = a->shard < b->shard ? -1 : a->shard > b->shard;
    return order;
}

static int compare_spans_first(const void *a, const void *b)
{
    return compare_spans(a, b, 0);
}

static int compare_spans_second(const void *a, const void *b)
{
    return compare_spans(a, b, 1);
}

static uint32_t distinct_starts(const struct cleave_exception_group *group, uint32_t axis)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->span_count; i++)
        n += i == 0 || cleave__range_compare_start(&group->spans[i - 1].range[axis],
                                                   &group->spans[i].range[axis]) != 0;
    return n;
}

static uint32_t fill_tree(struct cleave_exception_group *group, uint32_t low, uint32_t high)
{
    uint32_t middle = low + (high - low) / 2, furthest = middle;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t from = side ? middle + 1 : low, to = side ? high : middle;
        if (from == to)
            continue;
        uint32_t other = fill_tree(group, from, to);
        if (cleave__range_compare_end(&group->spans[other].range[group->span_axis],
                                      &group->spans[furthest].range[group->span_axis]) > 0)
            furthest = other;
    }
    group->span_furthest[middle] = furthest;
    return furthest;
}

static enum cleave_status index_spans(struct cleave_exception_group *group,
                                      struct cleave_arena *arena)
{
    group->span_furthest =
        cleave__arena_array(arena, group->span_count, sizeof *group->span_furthest);
    if (!group->span_furthest)
        return CLEAVE_NO_MEMORY;
    if (group->width > 1) {
        qsort(group->spans, group->span_count, sizeof *group->spans, compare_spans_second);
        uint32_t second = distinct_starts(group, 1);
        qsort(group->spans, group->span_count, sizeof *group->spans, compare_spans_first);
        group->span_axis = second > distinct_starts(group, 0);
    }
    qsort(group->spans, group->span_count, sizeof *group->spans,
          group->span_axis ? compare_spans_second : compare_spans_first);
    fill_tree(group, 0, group->span_count);
    for (uint32_t i = 0; i < group->span_count; i++)
        cleave__shardset_add(&group->span_shards, group->spans[i].shard);
    return CLEAVE_OK;
}

enum cleave_status cleave__exception_index(struct cleave_exception_group *group, uint32_t shards,
                                           struct cleave_arena *arena)
{
    (void)shards;
    if (group->tuples.count > UINT32_MAX - group->packed.count)
        return CLEAVE_CORRUPT;
    group->point_count = group->packed.count + group->tuples.count;
    enum cleave_status status = CLEAVE_OK;
    if (group->point_count) {
        struct cleave_tuple_entry *points = malloc((size_t)group->point_count * sizeof *points);
        if (!points)
            return CLEAVE_NO_MEMORY;
        status = list_points(group, points);
        if (status == CLEAVE_OK)
            status = index_points(group, points, arena);
        free(points);
    }
    if (status == CLEAVE_OK && group->span_count)
        status = index_spans(group, arena);
    return status;
}

enum cleave_status cleave__exception_list(const struct cleave_exception_group *group,
                                          uint32_t *count, struct cleave_exception **out)
{
    size_t n = (size_t)group->point_count + group->span_count;
    struct cleave_exception *list = malloc((n + 1) * sizeof *list);
    if (!list)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < group->point_count; i++) {
        const struct cleave_exception_point *point = &group->points[i];
        list[i] = (struct cleave_exception){.range_count = group->width, .shard = point->shard};
        for (uint32_t j = 0; j < group->width; j++) {
            const struct cleave_value *value = &group->axis[j].values[point->at[j]];
            list[i].column[j] = group->column[j];
            list[i].range[j] = (struct cleave_range){*value, *value, 0};
        }
    }
    if (group->span_count)
        memcpy(list + group->point_count, group->spans, group->span_count * sizeof *list);
    *count = (uint32_t)n;
    *out = list;
    return CLEAVE_OK;
}
