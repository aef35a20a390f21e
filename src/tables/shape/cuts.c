#include "tables/shape/cuts.h"

#include <stdlib.h>

static struct cleave_cut cut_at(const struct cleave_value *value, bool after)
{
    struct cleave_cut cut = {*value, after};
    if (after && value->kind == CLEAVE_INTEGER && value->integer < INT64_MAX) {
        cut.value.integer++;
        cut.after = 0;
    }
    return cut;
}

static struct cleave_cut low_cut(const struct cleave_range *range)
{
    return cut_at(&range->low, range->flags & CLEAVE_LOW_OPEN);
}

static struct cleave_cut high_cut(const struct cleave_range *range)
{
    return cut_at(&range->high, !(range->flags & CLEAVE_HIGH_OPEN));
}

static int compare_cuts(const void *left, const void *right)
{
    const struct cleave_cut *a = left, *b = right;
    int order = cleave__value_compare(&a->value, &b->value);
    return order ? order : (int)a->after - (int)b->after;
}

bool cleave__cuts_add(struct cleave_cuts *cuts, const struct cleave_range *range)
{
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED) && !CLEAVE_PUSH(&cuts->list, low_cut(range)))
        return false;
    return (range->flags & CLEAVE_HIGH_UNBOUNDED) || CLEAVE_PUSH(&cuts->list, high_cut(range));
}

void cleave__cuts_sort(struct cleave_cuts *cuts)
{
    struct cleave_cut *list = cuts->list.data;
    size_t kept = 0;
    if (cuts->list.count == 0)
        return;
    qsort(list, cuts->list.count, sizeof *list, compare_cuts);
    for (size_t i = 1; i < cuts->list.count; i++) {
        if (compare_cuts(&list[i], &list[kept]) != 0)
            list[++kept] = list[i];
    }
    cuts->list.count = kept + 1;
}

/* Number of cuts strictly below `cut`, or at most it when `or_equal`. */
static uint32_t count_below(const struct cleave_cuts *cuts, const struct cleave_cut *cut,
                            bool or_equal)
{
    size_t low = 0, high = cuts->list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_cuts(&cuts->list.data[middle], cut);
        if (order < 0 || (or_equal && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

void cleave__cuts_run(const struct cleave_cuts *cuts, const struct cleave_range *range,
                      uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = (uint32_t)cuts->list.count;
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED)) {
        struct cleave_cut cut = low_cut(range);
        *first = count_below(cuts, &cut, true);
    }
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED)) {
        struct cleave_cut cut = high_cut(range);
        *last = count_below(cuts, &cut, false);
    }
}

void cleave__cuts_piece(const struct cleave_cuts *cuts, uint32_t piece, struct cleave_range *out)
{
    *out = (struct cleave_range){0};
    if (piece == 0) {
        out->flags |= CLEAVE_LOW_UNBOUNDED;
    } else {
        const struct cleave_cut *cut = &cuts->list.data[piece - 1];
        out->low = cut->value;
        out->flags |= cut->after ? CLEAVE_LOW_OPEN : 0;
    }
    if (piece == cuts->list.count) {
        out->flags |= CLEAVE_HIGH_UNBOUNDED;
        return;
    }
    const struct cleave_cut *cut = &cuts->list.data[piece];
    out->high = cut->value;
    if (!cut->after && cut->value.kind == CLEAVE_INTEGER && cut->value.integer > INT64_MIN)
        out->high.integer--; /* INTEGER bounds are closed */
    else
        out->flags |= cut->after ? 0 : CLEAVE_HIGH_OPEN;
}
