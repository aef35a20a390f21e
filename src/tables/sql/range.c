/* Ranges of a column's domain. See value.h: NULL is a point of its own; INTEGER bounds are closed.
 */
#include <string.h>

#include "tables/sql/value.h"

enum { UNBOUNDED = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED };

static bool is_null(const struct cleave_range *range)
{
    return !(range->flags & UNBOUNDED) && range->low.kind == CLEAVE_NULL &&
           range->high.kind == CLEAVE_NULL;
}

bool cleave__range_is_point(const struct cleave_range *range)
{
    return !(range->flags & (UNBOUNDED | CLEAVE_LOW_OPEN | CLEAVE_HIGH_OPEN)) &&
           cleave__value_compare(&range->low, &range->high) == 0;
}

bool cleave__range_is_empty(const struct cleave_range *range)
{
    if (range->flags & UNBOUNDED)
        return false;
    int order = cleave__value_compare(&range->low, &range->high);
    return order > 0 || (order == 0 && range->flags & (CLEAVE_LOW_OPEN | CLEAVE_HIGH_OPEN));
}

bool cleave__range_contains(const struct cleave_range *range, const struct cleave_value *value)
{
    if (value->kind == CLEAVE_NULL)
        return is_null(range);
    if (is_null(range))
        return false;
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED)) {
        int order = cleave__value_compare(value, &range->low);
        if (order < 0 || (order == 0 && range->flags & CLEAVE_LOW_OPEN))
            return false;
    }
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED)) {
        int order = cleave__value_compare(value, &range->high);
        if (order > 0 || (order == 0 && range->flags & CLEAVE_HIGH_OPEN))
            return false;
    }
    return true;
}

bool cleave__range_intersect(const struct cleave_range *a, const struct cleave_range *b,
                             struct cleave_range *out)
{
    if (is_null(a) || is_null(b)) {
        if (!is_null(a) || !is_null(b))
            return false;
        *out = *a;
        return true;
    }
    struct cleave_range r = *a;
    if (!(b->flags & CLEAVE_LOW_UNBOUNDED)) {
        int order = r.flags & CLEAVE_LOW_UNBOUNDED ? -1 : cleave__value_compare(&r.low, &b->low);
        if (order < 0 || (order == 0 && b->flags & CLEAVE_LOW_OPEN)) {
            r.low = b->low;
            r.flags &= (uint8_t) ~(CLEAVE_LOW_UNBOUNDED | CLEAVE_LOW_OPEN);
            r.flags |= b->flags & CLEAVE_LOW_OPEN;
        }
    }
    if (!(b->flags & CLEAVE_HIGH_UNBOUNDED)) {
        int order = r.flags & CLEAVE_HIGH_UNBOUNDED ? 1 : cleave__value_compare(&r.high, &b->high);
        if (order > 0 || (order == 0 && b->flags & CLEAVE_HIGH_OPEN)) {
            r.high = b->high;
            r.flags &= (uint8_t) ~(CLEAVE_HIGH_UNBOUNDED | CLEAVE_HIGH_OPEN);
            r.flags |= b->flags & CLEAVE_HIGH_OPEN;
        }
    }
    if (cleave__range_is_empty(&r))
        return false;
    *out = r;
    return true;
}

bool cleave__range_overlaps(const struct cleave_range *a, const struct cleave_range *b)
{
    struct cleave_range common;
    return cleave__range_intersect(a, b, &common);
}

/* Is `inner`'s low end at or above `outer`'s? */
static bool low_covers(const struct cleave_range *outer, const struct cleave_range *inner)
{
    if (outer->flags & CLEAVE_LOW_UNBOUNDED)
        return true;
    if (inner->flags & CLEAVE_LOW_UNBOUNDED)
        return false;
    int order = cleave__value_compare(&outer->low, &inner->low);
    return order < 0 ||
           (order == 0 && (!(outer->flags & CLEAVE_LOW_OPEN) || inner->flags & CLEAVE_LOW_OPEN));
}

static bool high_covers(const struct cleave_range *outer, const struct cleave_range *inner)
{
    if (outer->flags & CLEAVE_HIGH_UNBOUNDED)
        return true;
    if (inner->flags & CLEAVE_HIGH_UNBOUNDED)
        return false;
    int order = cleave__value_compare(&outer->high, &inner->high);
    return order > 0 ||
           (order == 0 && (!(outer->flags & CLEAVE_HIGH_OPEN) || inner->flags & CLEAVE_HIGH_OPEN));
}

bool cleave__range_covers(const struct cleave_range *outer, const struct cleave_range *inner)
{
    if (cleave__range_is_empty(inner))
        return true;
    if (is_null(outer) || is_null(inner))
        return is_null(outer) && is_null(inner);
    return low_covers(outer, inner) && high_covers(outer, inner);
}
