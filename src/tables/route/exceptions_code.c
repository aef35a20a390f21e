/* A table's exceptions to bytes and back (see exceptions.h).
 *
 * Encoded: number of groups; a group: width, columns, for each column low (a value: INTEGER) and
 * bits, an integer map (packed points), a tuple map (other points), number of spans, spans. A
 * span: for each column flags and the two ends, then its shard. */
#include <stdlib.h>

#include "tables/route/exceptions.h"

static int compare_ranges(const struct cleave_range *a, const struct cleave_range *b)
{
    int order = cleave__range_compare_start(a, b);
    return order ? order : cleave__range_compare_end(a, b);
}

static int compare_exceptions(const void *a, const void *b)
{
    const struct cleave_exception *x = a, *y = b;
    if (x->range_count != y->range_count)
        return x->range_count < y->range_count ? -1 : 1;
    for (uint32_t i = 0; i < x->range_count; i++) {
        if (x->column[i] != y->column[i])
            return x->column[i] < y->column[i] ? -1 : 1;
    }
    for (uint32_t i = 0; i < x->range_count; i++) {
        int order = compare_ranges(&x->range[i], &y->range[i]);
        if (order)
            return order;
    }
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

static bool is_point(const struct cleave_exception *exception)
{
    for (uint32_t i = 0; i < exception->range_count; i++) {
        if (!cleave__range_is_point(&exception->range[i]))
            return false;
    }
    return true;
}

static bool same_group(const struct cleave_exception *a, const struct cleave_exception *b)
{
    return a->range_count == b->range_count && a->column[0] == b->column[0] &&
           (a->range_count < 2 || a->column[1] == b->column[1]);
}

/* A range in its one form: values plain, unbounded ends without a value. NULL is a point of its
 * own, so a range that starts at it holds every other value below its end, and one that goes from
 * below to it holds nothing: false. */
static bool settle_range(struct cleave_range *range)
{
    static const struct cleave_value none = {.kind = CLEAVE_NULL};
    bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED),
         high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
    if (cleave__range_is_empty(range))
        return false;
    bool low_null = low && range->low.kind == CLEAVE_NULL;
    bool high_null = high && range->high.kind == CLEAVE_NULL;
    if (high_null && !low_null)
        return false;
    if (low_null && !high_null)
        low = false;
    range->low = low ? cleave__plain(&range->low) : none;
    range->high = high ? cleave__plain(&range->high) : none;
    range->flags = (uint8_t)((low ? range->flags & CLEAVE_LOW_OPEN : CLEAVE_LOW_UNBOUNDED) |
                             (high ? range->flags & CLEAVE_HIGH_OPEN : CLEAVE_HIGH_UNBOUNDED));
    return true;
}

/* One exception in its one form: columns rising, ranges settled. False when it holds nothing. */
static bool settle(const struct cleave_exception *in, struct cleave_exception *out)
{
    *out = *in;
    if (in->range_count == 2 && in->column[0] == in->column[1]) {
        out->range_count = 1;
        if (!cleave__range_intersect(&in->range[0], &in->range[1], &out->range[0]))
            return false;
    } else if (in->range_count == 2 && in->column[0] > in->column[1]) {
        for (uint32_t i = 0; i < 2; i++) {
            out->column[i] = in->column[!i];
            out->range[i] = in->range[!i];
        }
    }
    for (uint32_t i = 0; i < out->range_count; i++) {
        if (!settle_range(&out->range[i]))
            return false;
    }
    return true;
}

static unsigned width_of(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

struct packing {
    int64_t low[2];
    uint8_t bits[2];
    bool fits;
};

/* How the integer points of a group pack into one 64-bit key. */
static struct packing measure(const struct cleave_exception *from, uint32_t count)
{
    struct packing packing = {.fits = false};
    int64_t high[2] = {0};
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_point(&from[i]))
            continue;
        for (uint32_t j = 0; j < from[i].range_count; j++) {
            const struct cleave_value *value = &from[i].range[j].low;
            if (value->kind != CLEAVE_INTEGER)
                return (struct packing){0};
            if (!any || value->integer < packing.low[j])
                packing.low[j] = value->integer;
            if (!any || value->integer > high[j])
                high[j] = value->integer;
        }
        any = true;
    }
    if (!any)
        return packing;
    for (uint32_t j = 0; j < from[0].range_count; j++)
        packing.bits[j] = (uint8_t)width_of((uint64_t)high[j] - (uint64_t)packing.low[j]);
    /* A 64-bit first column leaves no room for a second one of any width, 0 excepted. */
    packing.fits = packing.bits[0] + packing.bits[1] <= 64 &&
                   (packing.bits[0] < 64 || from[0].range_count == 1);
    return packing.fits ? packing : (struct packing){0};
}

static int compare_packed(const void *a, const void *b)
{
    const struct cleave_integer_entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static enum cleave_status encode_points(const struct cleave_exception *from, uint32_t count,
                                        const struct packing *packing, uint32_t shards,
                                        struct cleave_writer *out)
{
    struct cleave_integer_entry *packed = malloc(((size_t)count + 1) * sizeof *packed);
    struct cleave_tuple_entry *tuples = malloc(((size_t)count + 1) * sizeof *tuples);
    uint32_t n = 0, m = 0, width = from[0].range_count;
    enum cleave_status status = packed && tuples ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; status == CLEAVE_OK && i < count; i++) {
        if (!is_point(&from[i]))
            continue;
        if (packing->fits) {
            uint64_t key = (uint64_t)from[i].range[0].low.integer - (uint64_t)packing->low[0];
            if (width > 1) {
                uint64_t second =
                    (uint64_t)from[i].range[1].low.integer - (uint64_t)packing->low[1];
                key = packing->bits[1] < 64 ? key << packing->bits[1] | second : second;
            }
            packed[n++] = (struct cleave_integer_entry){key, from[i].shard};
        } else {
            tuples[m] = (struct cleave_tuple_entry){{from[i].range[0].low}, from[i].shard};
            if (width > 1)
                tuples[m].value[1] = from[i].range[1].low;
            m++;
        }
    }
    if (status == CLEAVE_OK) {
        qsort(packed, n, sizeof *packed, compare_packed);
        for (uint32_t i = 1; i < n && status == CLEAVE_OK; i++) {
            if (packed[i - 1].key == packed[i].key)
                status = CLEAVE_BAD_ARGUMENT;
        }
    }
    if (status == CLEAVE_OK)
        status = cleave__integer_map_encode(packed, n, shards, false, out);
    if (status == CLEAVE_OK)
        status = cleave__tuple_map_encode(tuples, m, width, out);
    free(packed);
    free(tuples);
    return status;
}

static enum cleave_status encode_group(const struct cleave_exception *from, uint32_t count,
                                       uint32_t shards, struct cleave_writer *out)
{
    struct packing packing = measure(from, count);
    uint32_t width = from[0].range_count, spans = 0;
    cleave__put_varint(out, width);
    for (uint32_t i = 0; i < width; i++)
        cleave__put_varint(out, from[0].column[i]);
    for (uint32_t i = 0; i < width; i++) {
        cleave__put64(out, (uint64_t)packing.low[i]);
        cleave__put8(out, packing.bits[i]);
    }
    enum cleave_status status = encode_points(from, count, &packing, shards, out);
    if (status != CLEAVE_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        spans += !is_point(&from[i]);
    cleave__put_varint(out, spans);
    for (uint32_t i = 0; i < count; i++) {
        if (is_point(&from[i]))
            continue;
        for (uint32_t j = 0; j < width; j++) {
            const struct cleave_range *range = &from[i].range[j];
            static const struct cleave_value none = {.kind = CLEAVE_NULL};
            cleave__put8(out, range->flags);
            cleave__put_value(out, range->flags & CLEAVE_LOW_UNBOUNDED ? &none : &range->low);
            cleave__put_value(out, range->flags & CLEAVE_HIGH_UNBOUNDED ? &none : &range->high);
        }
        cleave__put_varint(out, from[i].shard);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__exceptions_encode(const struct cleave_table_layout *layout,
                                             uint32_t shards, uint32_t column_count,
                                             const char *table, struct cleave_writer *out,
                                             struct cleave_error *error)
{
    struct cleave_exception *settled =
        malloc(((size_t)layout->exception_count + 1) * sizeof *settled);
    if (!settled)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "table %s: out of memory", table);
    uint32_t count = 0, groups = 0;
    for (uint32_t i = 0; i < layout->exception_count; i++) {
        const struct cleave_exception *exception = &layout->exceptions[i];
        bool good =
            exception->range_count >= 1 && exception->range_count <= 2 && exception->shard < shards;
        for (uint32_t j = 0; good && j < exception->range_count; j++)
            good = exception->column[j] < column_count;
        if (!good) {
            free(settled);
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "table %s: exception %u names a shard or column that is not",
                                    table, i);
        }
        count += settle(exception, &settled[count]);
    }
    qsort(settled, count, sizeof *settled, compare_exceptions);
    for (uint32_t i = 0; i < count; i++)
        groups += i == 0 || !same_group(&settled[i - 1], &settled[i]);
    cleave__put_varint(out, groups);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0, end; i < count && status == CLEAVE_OK; i = end) {
        for (end = i + 1; end < count && same_group(&settled[i], &settled[end]);)
            end++;
        status = encode_group(settled + i, end - i, shards, out);
    }
    free(settled);
    if (status == CLEAVE_OK && out->failed)
        status = CLEAVE_NO_MEMORY;
    return status == CLEAVE_OK
               ? CLEAVE_OK
               : cleave_error_set(error, status, "table %s: %s", table,
                                  status == CLEAVE_LIMIT ? "its exceptions are past 4 GiB"
                                  : status == CLEAVE_BAD_ARGUMENT
                                      ? "two exceptions are of the same rows"
                                      : "out of memory");
}

static bool decode_range(struct cleave_reader *reader, struct cleave_range *out)
{
    out->flags = cleave__get8(reader);
    out->low = cleave__get_value(reader);
    out->high = cleave__get_value(reader);
    if (reader->failed || out->flags > 15)
        return false;
    bool low_any = out->flags & CLEAVE_LOW_UNBOUNDED, high_any = out->flags & CLEAVE_HIGH_UNBOUNDED;
    if ((low_any && (out->flags & CLEAVE_LOW_OPEN || out->low.kind != CLEAVE_NULL)) ||
        (high_any && (out->flags & CLEAVE_HIGH_OPEN || out->high.kind != CLEAVE_NULL)))
        return false;
    if (!low_any && !high_any && (out->low.kind == CLEAVE_NULL) != (out->high.kind == CLEAVE_NULL))
        return false;
    if (low_any != high_any && (low_any ? out->high.kind : out->low.kind) == CLEAVE_NULL)
        return false;
    return !cleave__range_is_empty(out);
}

static enum cleave_status decode_spans(struct cleave_reader *reader, uint32_t shards,
                                       struct cleave_arena *arena,
                                       struct cleave_exception_group *group)
{
    group->span_count = cleave__get_count(reader, UINT32_MAX);
    if (reader->failed || group->span_count > cleave__left(reader) / 4)
        return CLEAVE_CORRUPT;
    group->spans = cleave__arena_array(arena, group->span_count, sizeof *group->spans);
    if (!group->spans)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < group->span_count; i++) {
        struct cleave_exception *span = &group->spans[i];
        *span = (struct cleave_exception){.range_count = group->width};
        for (uint32_t j = 0; j < group->width; j++) {
            span->column[j] = group->column[j];
            if (!decode_range(reader, &span->range[j]))
                return CLEAVE_CORRUPT;
        }
        span->shard = cleave__get_count(reader, shards - 1);
        if (reader->failed || is_point(span))
            return CLEAVE_CORRUPT;
    }
    return CLEAVE_OK;
}

static enum cleave_status decode_group(struct cleave_reader *reader, uint32_t shards,
                                       uint32_t column_count, struct cleave_arena *arena,
                                       struct cleave_exception_group *group)
{
    *group = (struct cleave_exception_group){0};
    group->width = cleave__get_count(reader, 2);
    if (group->width == 0 || column_count == 0)
        return CLEAVE_CORRUPT;
    for (uint32_t i = 0; i < group->width; i++)
        group->column[i] = cleave__get_count(reader, column_count - 1);
    for (uint32_t i = 0; i < group->width; i++) {
        group->low[i] = (int64_t)cleave__get64(reader);
        group->bits[i] = cleave__get8(reader);
    }
    if (reader->failed || group->bits[0] + group->bits[1] > 64 ||
        (group->width == 2 && (group->column[0] >= group->column[1] || group->bits[0] == 64)))
        return CLEAVE_CORRUPT;
    if (!cleave__integer_map_decode(reader, shards, false, &group->packed) ||
        !cleave__tuple_map_decode(reader, group->width, shards, &group->tuples))
        return CLEAVE_CORRUPT;
    enum cleave_status status = decode_spans(reader, shards, arena, group);
    return status == CLEAVE_OK ? cleave__exception_index(group, shards, arena) : status;
}

enum cleave_status cleave__exceptions_decode(struct cleave_reader *reader, uint32_t shards,
                                             uint32_t column_count, struct cleave_arena *arena,
                                             struct cleave_exceptions *out)
{
    struct cleave_exceptions exceptions = {0};
    exceptions.group_count = cleave__get_count(reader, UINT32_MAX);
    if (reader->failed || exceptions.group_count > cleave__left(reader) / 16)
        return CLEAVE_CORRUPT;
    exceptions.groups =
        cleave__arena_array(arena, exceptions.group_count, sizeof *exceptions.groups);
    if (!exceptions.groups)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < exceptions.group_count; i++) {
        enum cleave_status status =
            decode_group(reader, shards, column_count, arena, &exceptions.groups[i]);
        if (status != CLEAVE_OK)
            return status;
    }
    *out = exceptions;
    return CLEAVE_OK;
}
