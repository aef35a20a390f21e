/* See boxes.h. */
#include "tables/sql/boxes.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_MAX = 4000000 }; /* ranges handled for one statement before it is simplified */

static void *allocate(struct cleave_binding *b, size_t count, size_t size)
{
    void *result = cleave__arena_array(b->arena, count, size);
    if (!result)
        b->out_of_memory = true;
    return result;
}

/* ---- ranges of one column ---- */

static bool is_null(const struct cleave_range *range)
{
    return !(range->flags & (CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED)) &&
           range->low.kind == CLEAVE_NULL;
}

/* NULL first, then by low end. */
static int compare_low(const struct cleave_range *a, const struct cleave_range *b)
{
    bool a_null = is_null(a), b_null = is_null(b);
    if (a_null || b_null)
        return (int)b_null - (int)a_null;
    bool a_open = a->flags & CLEAVE_LOW_UNBOUNDED, b_open = b->flags & CLEAVE_LOW_UNBOUNDED;
    if (a_open || b_open)
        return (int)b_open - (int)a_open;
    int order = cleave__value_compare(&a->low, &b->low);
    if (order)
        return order;
    return ((a->flags & CLEAVE_LOW_OPEN) != 0) - ((b->flags & CLEAVE_LOW_OPEN) != 0);
}

static int compare_ranges(const void *a, const void *b)
{
    return compare_low(a, b);
}

/* -1, 0, 1: where a's high end lies against b's. */
static int compare_high(const struct cleave_range *a, const struct cleave_range *b)
{
    bool a_open = a->flags & CLEAVE_HIGH_UNBOUNDED, b_open = b->flags & CLEAVE_HIGH_UNBOUNDED;
    if (a_open || b_open)
        return (int)a_open - (int)b_open;
    int order = cleave__value_compare(&a->high, &b->high);
    if (order)
        return order;
    return ((b->flags & CLEAVE_HIGH_OPEN) != 0) - ((a->flags & CLEAVE_HIGH_OPEN) != 0);
}

void cleave__ranges_normalize(struct cleave_range *ranges, uint32_t *count)
{
    uint32_t kept = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < *count; i++) {
        if (cleave__range_is_empty(&ranges[i]))
            continue;
        ranges[kept++] = ranges[i];
        if (kept > 1 && compare_low(&ranges[kept - 2], &ranges[kept - 1]) > 0)
            sorted = false;
    }
    if (!sorted)
        qsort(ranges, kept, sizeof *ranges, compare_ranges);
    uint32_t n = 0;
    for (uint32_t i = 0; i < kept; i++) {
        if (n > 0 && cleave__range_overlaps(&ranges[n - 1], &ranges[i])) {
            struct cleave_range *last = &ranges[n - 1];
            if (compare_high(last, &ranges[i]) < 0) {
                uint8_t low = last->flags & (CLEAVE_LOW_UNBOUNDED | CLEAVE_LOW_OPEN);
                uint8_t high = ranges[i].flags & (CLEAVE_HIGH_UNBOUNDED | CLEAVE_HIGH_OPEN);
                last->high = ranges[i].high;
                last->flags = low | high;
            }
            continue;
        }
        ranges[n++] = ranges[i];
    }
    *count = n;
}

/* out = a AND b, by one walk along both. False when nothing is left. */
static bool intersect_ranges(struct cleave_binding *b, const struct cleave_term *x,
                             const struct cleave_domain *y, struct cleave_term *out)
{
    struct cleave_range *ranges = allocate(b, (size_t)x->range_count + y->count, sizeof *ranges);
    if (!ranges)
        return false;
    b->work += (uint64_t)x->range_count + y->count;
    uint32_t i = 0, j = 0, n = 0;
    while (i < x->range_count && j < y->count) {
        const struct cleave_range *p = &x->ranges[i], *q = &y->ranges[j];
        if (cleave__range_intersect(p, q, &ranges[n]))
            n++;
        bool p_null = is_null(p), q_null = is_null(q);
        if (p_null || q_null) { /* sorted first on either side */
            i += p_null;
            j += q_null;
        } else if (compare_high(p, q) < 0) {
            i++;
        } else {
            j++;
        }
    }
    out->column = x->column;
    out->range_count = n;
    out->ranges = ranges;
    return n > 0;
}

bool cleave__terms_add(struct cleave_binding *binding, struct cleave_term *terms, uint32_t *count,
                       uint32_t column, const struct cleave_domain *domain)
{
    if (domain->full)
        return true;
    uint32_t at = *count;
    while (at > 0 && terms[at - 1].column >= column)
        at--;
    if (at < *count && terms[at].column == column)
        return intersect_ranges(binding, &terms[at], domain, &terms[at]);
    if (domain->count == 0)
        return false;
    memmove(&terms[at + 1], &terms[at], (*count - at) * sizeof *terms);
    terms[at] = (struct cleave_term){column, domain->count, domain->ranges};
    (*count)++;
    return true;
}

/* ---- boxes ---- */

static bool intersect_boxes(struct cleave_binding *b, const struct cleave_box *x,
                            const struct cleave_box *y, struct cleave_box *out)
{
    struct cleave_term *terms = allocate(b, (size_t)x->term_count + y->term_count, sizeof *terms);
    if (!terms)
        return false;
    uint32_t i = 0, j = 0, n = 0;
    while (i < x->term_count || j < y->term_count) {
        if (j == y->term_count || (i < x->term_count && x->terms[i].column < y->terms[j].column)) {
            terms[n++] = x->terms[i++];
        } else if (i == x->term_count || y->terms[j].column < x->terms[i].column) {
            terms[n++] = y->terms[j++];
        } else {
            struct cleave_domain domain = {false, y->terms[j].range_count, y->terms[j].ranges};
            if (!intersect_ranges(b, &x->terms[i], &domain, &terms[n]))
                return false;
            n++, i++, j++;
        }
    }
    b->work += n + 1;
    *out = (struct cleave_box){n, terms};
    return true;
}

/* The smallest box that holds all: a column stays when every box names it. */
static void replace_by_hull(struct cleave_binding *b, struct cleave_boxes *boxes)
{
    const struct cleave_box *first = &boxes->boxes[0];
    struct cleave_term *terms = allocate(b, first->term_count, sizeof *terms);
    struct cleave_box *hull = allocate(b, 1, sizeof *hull);
    if (!terms || !hull)
        return;
    uint32_t kept = 0;
    for (uint32_t t = 0; t < first->term_count; t++) {
        uint32_t column = first->terms[t].column;
        size_t total = 0;
        bool everywhere = true;
        for (uint32_t i = 0; i < boxes->count && everywhere; i++) {
            const struct cleave_box *box = &boxes->boxes[i];
            uint32_t k = 0;
            while (k < box->term_count && box->terms[k].column != column)
                k++;
            everywhere = k < box->term_count;
            if (everywhere)
                total += box->terms[k].range_count;
            b->work++;
        }
        if (!everywhere || total > UINT32_MAX)
            continue;
        struct cleave_range *ranges = allocate(b, total, sizeof *ranges);
        if (!ranges)
            return;
        uint32_t n = 0;
        for (uint32_t i = 0; i < boxes->count; i++) {
            const struct cleave_box *box = &boxes->boxes[i];
            uint32_t k = 0;
            while (box->terms[k].column != column)
                k++;
            memcpy(&ranges[n], box->terms[k].ranges, box->terms[k].range_count * sizeof *ranges);
            n += box->terms[k].range_count;
        }
        b->work += n;
        cleave__ranges_normalize(ranges, &n);
        terms[kept++] = (struct cleave_term){column, n, ranges};
    }
    *hull = (struct cleave_box){kept, terms};
    *boxes = (struct cleave_boxes){1, hull};
}

/* Boxes that each name one column only, the same one, are one box. */
static bool joins_to_one_column(const struct cleave_boxes *boxes)
{
    for (uint32_t i = 0; i < boxes->count; i++) {
        if (boxes->boxes[i].term_count != 1 ||
            boxes->boxes[i].terms[0].column != boxes->boxes[0].terms[0].column)
            return false;
    }
    return true;
}

void cleave__boxes_reduce(struct cleave_binding *binding, struct cleave_boxes *boxes)
{
    if (boxes->count <= 1)
        return;
    for (uint32_t i = 0; i < boxes->count; i++) {
        if (boxes->boxes[i].term_count == 0) { /* everything */
            boxes->boxes[0] = boxes->boxes[i];
            boxes->count = 1;
            return;
        }
    }
    if (boxes->count > CLEAVE_BOXES_MAX || binding->work > WORK_MAX || joins_to_one_column(boxes))
        replace_by_hull(binding, boxes);
}

void cleave__boxes_intersect(struct cleave_binding *binding, const struct cleave_boxes *a,
                             const struct cleave_boxes *b, struct cleave_boxes *out)
{
    struct cleave_boxes x = *a, y = *b;
    if (x.count == 0 || y.count == 0) {
        out->count = 0;
        return;
    }
    if (x.count == 1 && x.boxes[0].term_count == 0) {
        *out = y;
        return;
    }
    if (y.count == 1 && y.boxes[0].term_count == 0) {
        *out = x;
        return;
    }
    if ((uint64_t)x.count * y.count > CLEAVE_BOXES_MAX || binding->work > WORK_MAX)
        replace_by_hull(binding, x.count > y.count ? &x : &y);
    if ((uint64_t)x.count * y.count > CLEAVE_BOXES_MAX || binding->work > WORK_MAX)
        replace_by_hull(binding, x.count > y.count ? &x : &y);
    struct cleave_box *boxes = allocate(binding, (size_t)x.count * y.count, sizeof *boxes);
    if (!boxes)
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x.count; i++) {
        for (uint32_t j = 0; j < y.count; j++) {
            if (intersect_boxes(binding, &x.boxes[i], &y.boxes[j], &boxes[n]))
                n++;
        }
    }
    *out = (struct cleave_boxes){n, boxes};
}
