/* Asking a table's exceptions: which one holds a point, which ones overlap a box. */
#include "tables/route/exceptions.h"

static bool is_null_point(const struct cleave_range *range)
{
    return !(range->flags & (CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED)) &&
           range->low.kind == CLEAVE_NULL;
}

int cleave__range_compare_start(const struct cleave_range *a, const struct cleave_range *b)
{
    bool a_null = is_null_point(a), b_null = is_null_point(b);
    if (a_null || b_null)
        return b_null - a_null;
    bool a_any = a->flags & CLEAVE_LOW_UNBOUNDED, b_any = b->flags & CLEAVE_LOW_UNBOUNDED;
    if (a_any || b_any)
        return b_any - a_any;
    int order = cleave__value_compare(&a->low, &b->low);
    return order ? order : !!(a->flags & CLEAVE_LOW_OPEN) - !!(b->flags & CLEAVE_LOW_OPEN);
}

int cleave__range_compare_end(const struct cleave_range *a, const struct cleave_range *b)
{
    bool a_null = is_null_point(a), b_null = is_null_point(b);
    if (a_null || b_null)
        return b_null - a_null;
    bool a_any = a->flags & CLEAVE_HIGH_UNBOUNDED, b_any = b->flags & CLEAVE_HIGH_UNBOUNDED;
    if (a_any || b_any)
        return a_any - b_any;
    int order = cleave__value_compare(&a->high, &b->high);
    return order ? order : !!(b->flags & CLEAVE_HIGH_OPEN) - !!(a->flags & CLEAVE_HIGH_OPEN);
}

bool cleave__range_before(const struct cleave_range *a, const struct cleave_range *b)
{
    bool a_null = is_null_point(a), b_null = is_null_point(b);
    if (a_null || b_null)
        return a_null && !b_null;
    if (a->flags & CLEAVE_HIGH_UNBOUNDED || b->flags & CLEAVE_LOW_UNBOUNDED)
        return false;
    int order = cleave__value_compare(&a->high, &b->low);
    return order < 0 || (order == 0 && (a->flags & CLEAVE_HIGH_OPEN || b->flags & CLEAVE_LOW_OPEN));
}

/* The spans of one group that meet `query` on the tree's axis, one by one. */
struct walk {
    const struct cleave_exception_group *group;
    struct cleave_range query;
    bool (*visit)(const struct cleave_exception *span, void *context); /* false: stop */
    void *context;
};

static bool walk_spans(const struct walk *walk, uint32_t low, uint32_t high)
{
    const struct cleave_exception_group *group = walk->group;
    uint32_t axis = group->span_axis;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct cleave_exception *furthest = &group->spans[group->span_furthest[middle]];
        if (cleave__range_before(&furthest->range[axis], &walk->query))
            return true;
        if (!walk_spans(walk, low, middle))
            return false;
        const struct cleave_exception *span = &group->spans[middle];
        if (cleave__range_before(&walk->query, &span->range[axis]))
            return true; /* this one and all after it start too late */
        if (!cleave__range_before(&span->range[axis], &walk->query) &&
            !walk->visit(span, walk->context))
            return false;
        low = middle + 1;
    }
    return true;
}

static bool find_packed(const struct cleave_exception_group *group,
                        const struct cleave_value *const values[2], uint32_t *shard)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < group->width; i++) {
        if (values[i]->kind != CLEAVE_INTEGER || values[i]->integer < group->low[i])
            return false;
        uint64_t offset = (uint64_t)values[i]->integer - (uint64_t)group->low[i];
        unsigned bits = group->bits[i];
        if (bits < 64) {
            if (offset >> bits)
                return false;
            key = key << bits | offset;
        } else {
            key = offset;
        }
    }
    return cleave__integer_map_find(&group->packed, key, shard);
}

struct stab {
    const struct cleave_value *const *values;
    uint32_t shard;
};

static bool visit_stab(const struct cleave_exception *span, void *context)
{
    struct stab *stab = context;
    for (uint32_t i = 0; i < span->range_count; i++) {
        if (!cleave__range_contains(&span->range[i], stab->values[i]))
            return true;
    }
    stab->shard = span->shard;
    return false;
}

bool cleave__exception_find(const struct cleave_exception_group *group,
                            const struct cleave_value *const values[2], uint32_t *shard)
{
    if (group->packed.count && find_packed(group, values, shard))
        return true;
    if (group->tuples.count) {
        struct cleave_value key[2] = {*values[0]};
        if (group->width > 1)
            key[1] = *values[1];
        if (cleave__tuple_map_find(&group->tuples, key, shard))
            return true;
    }
    if (group->span_count) {
        const struct cleave_value *value = values[group->span_axis];
        struct stab stab = {.values = values};
        struct walk walk = {group, {*value, *value, 0}, visit_stab, &stab};
        if (!walk_spans(&walk, 0, group->span_count)) {
            *shard = stab.shard;
            return true;
        }
    }
    return false;
}

/* Axis values inside a range: [*low, *high). */
static void axis_slice(const struct cleave_exception_axis *axis, const struct cleave_range *range,
                       uint32_t *low, uint32_t *high)
{
    uint32_t start = 0, end = axis->value_count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        struct cleave_range point = {axis->values[middle], axis->values[middle], 0};
        if (cleave__range_before(&point, range))
            start = middle + 1;
        else
            end = middle;
    }
    *low = start;
    end = axis->value_count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        struct cleave_range point = {axis->values[middle], axis->values[middle], 0};
        if (cleave__range_before(range, &point))
            end = middle;
        else
            start = middle + 1;
    }
    *high = start;
}

static uint32_t range_count_of(const struct cleave_extent *extent)
{
    return extent->value || !extent->term ? 1 : extent->term->range_count;
}

static struct cleave_range range_of(const struct cleave_extent *extent, uint32_t index)
{
    if (extent->value)
        return (struct cleave_range){*extent->value, *extent->value, 0};
    return extent->term->ranges[index];
}

static bool is_free(const struct cleave_extent *extent)
{
    return !extent->value && !extent->term;
}

/* All that the group's points could add is there already. */
static bool is_full(const struct cleave_exception_group *group,
                    const struct cleave_shardset *shards)
{
    for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX / 64; i++) {
        if (group->point_shards.words[i] & ~shards->words[i])
            return false;
    }
    return true;
}

/* Points order[start..end) of one value of an axis, those that lie in `range` on the other axis. */
static void add_run(const struct cleave_exception_group *group, uint32_t axis, uint32_t start,
                    uint32_t end, const struct cleave_range *range, struct cleave_shardset *shards)
{
    const uint32_t *order = group->axis[axis].order;
    uint32_t from, to, stop = end;
    axis_slice(&group->axis[!axis], range, &from, &to);
    while (start < stop) {
        uint32_t middle = start + (stop - start) / 2;
        if (group->points[order[middle]].at[!axis] < from)
            start = middle + 1;
        else
            stop = middle;
    }
    for (uint32_t n = 1; start < end; start++, n++) {
        const struct cleave_exception_point *point = &group->points[order[start]];
        if (point->at[!axis] >= to || (n % 256 == 0 && is_full(group, shards)))
            return;
        cleave__shardset_add(shards, point->shard);
    }
}

/* Points whose value on `axis` has an index in [low, high), narrowed on the other axis. */
static void add_points(const struct cleave_exception_group *group, uint32_t axis, uint32_t low,
                       uint32_t high, const struct cleave_extent *other,
                       struct cleave_shardset *shards)
{
    const struct cleave_exception_axis *along = &group->axis[axis];
    for (uint32_t v = low; v < high; v++) {
        if ((v - low) % 64 == 63 && is_full(group, shards))
            return;
        if (group->width == 1 || is_free(other)) {
            cleave__shardset_or(shards, &group->sets[along->summary[v]]);
            continue;
        }
        for (uint32_t r = 0; r < range_count_of(other); r++) {
            struct cleave_range range = range_of(other, r);
            add_run(group, axis, along->run[v], along->run[v + 1], &range, shards);
        }
    }
}

static void overlap_points(const struct cleave_exception_group *group,
                           const struct cleave_extent extents[2], struct cleave_shardset *shards)
{
    uint32_t axis = 0;
    if (is_full(group, shards))
        return;
    if (group->width == 2 && !extents[0].value && (extents[1].value || is_free(&extents[0])))
        axis = 1;
    if (is_free(&extents[axis])) {
        cleave__shardset_or(shards, &group->point_shards);
        return;
    }
    for (uint32_t r = 0; r < range_count_of(&extents[axis]); r++) {
        struct cleave_range range = range_of(&extents[axis], r);
        uint32_t low, high;
        axis_slice(&group->axis[axis], &range, &low, &high);
        if (low < high)
            add_points(group, axis, low, high, &extents[!axis], shards);
    }
}

struct overlap {
    const struct cleave_extent *extents;
    struct cleave_shardset *shards;
    const struct cleave_exception *covering;
};

static bool visit_overlap(const struct cleave_exception *span, void *context)
{
    struct overlap *overlap = context;
    bool covers = true;
    for (uint32_t i = 0; i < span->range_count; i++) {
        const struct cleave_extent *extent = &overlap->extents[i];
        if (is_free(extent)) {
            covers = false;
            continue;
        }
        bool meets = false;
        for (uint32_t r = 0; r < range_count_of(extent); r++) {
            struct cleave_range range = range_of(extent, r);
            meets = meets || cleave__range_overlaps(&span->range[i], &range);
            covers = covers && cleave__range_covers(&span->range[i], &range);
        }
        if (!meets)
            return true;
    }
    cleave__shardset_add(overlap->shards, span->shard);
    if (covers)
        overlap->covering = span;
    return !covers;
}

bool cleave__exception_overlap(const struct cleave_exception_group *group,
                               const struct cleave_extent extents[2],
                               struct cleave_shardset *shards)
{
    if (group->point_count)
        overlap_points(group, extents, shards);
    if (!group->span_count)
        return false;
    const struct cleave_extent *extent = &extents[group->span_axis];
    if (is_free(extent) && (group->width == 1 || is_free(&extents[!group->span_axis]))) {
        cleave__shardset_or(shards, &group->span_shards);
        return false;
    }
    struct overlap overlap = {.extents = extents, .shards = shards};
    if (is_free(extent)) {
        for (uint32_t i = 0; i < group->span_count && !overlap.covering; i++)
            visit_overlap(&group->spans[i], &overlap);
        return overlap.covering != NULL;
    }
    for (uint32_t r = 0; r < range_count_of(extent) && !overlap.covering; r++) {
        struct walk walk = {group, range_of(extent, r), visit_overlap, &overlap};
        walk_spans(&walk, 0, group->span_count);
    }
    return overlap.covering != NULL;
}
