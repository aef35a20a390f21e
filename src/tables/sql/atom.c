/* "column operator constant" -> the set of the column's values that may make it true. */
#include <string.h>

#include "tables/sql/datetime.h"
#include "tables/sql/number.h"
#include "tables/sql/predicate.h"

enum { UNBOUNDED = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED };

static const struct cleave_range not_null = {.flags = UNBOUNDED};

static struct cleave_range *allocate(struct cleave_binding *b, size_t count)
{
    struct cleave_range *ranges = cleave__arena_array(b->arena, count, sizeof *ranges);
    if (!ranges)
        b->out_of_memory = true;
    return ranges;
}

static struct cleave_range at_most(struct cleave_value value, bool open)
{
    return (struct cleave_range){.high = value,
                                 .flags = CLEAVE_LOW_UNBOUNDED | (open ? CLEAVE_HIGH_OPEN : 0)};
}

static struct cleave_range at_least(struct cleave_value value, bool open)
{
    return (struct cleave_range){.low = value,
                                 .flags = CLEAVE_HIGH_UNBOUNDED | (open ? CLEAVE_LOW_OPEN : 0)};
}

static struct cleave_value integer_value(int64_t integer)
{
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = integer};
}

/* Domains of integers with closed bounds. `step` is the distance of neighbours (a day for dates);
 * [below, above] are the neighbours of the constant: equal when it is a member itself. */
static uint32_t integer_ranges(enum cleave_operator op, int64_t below, int64_t above, int64_t step,
                               struct cleave_range *out)
{
    bool member = below == above;
    int64_t before = below, after = above;
    bool has_before = !member || !__builtin_sub_overflow(below, step, &before);
    bool has_after = !member || !__builtin_add_overflow(above, step, &after);
    switch (op) {
    case CLEAVE_OPERATOR_EQ:
        if (!member)
            return 0;
        *out = (struct cleave_range){.low = integer_value(below), .high = integer_value(below)};
        return 1;
    case CLEAVE_OPERATOR_LT:
        *out = at_most(integer_value(before), false);
        return has_before;
    case CLEAVE_OPERATOR_LE:
        *out = at_most(integer_value(below), false);
        return 1;
    case CLEAVE_OPERATOR_GT:
        *out = at_least(integer_value(after), false);
        return has_after;
    case CLEAVE_OPERATOR_GE:
        *out = at_least(integer_value(above), false);
        return 1;
    default: { /* NE */
        uint32_t n = 0;
        if (!member) {
            *out = not_null;
            return 1;
        }
        if (has_before)
            out[n++] = at_most(integer_value(before), false);
        if (has_after)
            out[n++] = at_least(integer_value(after), false);
        return n;
    }
    }
}

/* False and true, each by itself. */
static uint32_t boolean_ranges(enum cleave_operator op, int64_t constant, struct cleave_range *out)
{
    uint32_t n = 0;
    for (int64_t v = 0; v <= 1; v++) {
        bool holds = op == CLEAVE_OPERATOR_EQ   ? v == constant
                     : op == CLEAVE_OPERATOR_NE ? v != constant
                     : op == CLEAVE_OPERATOR_LT ? v < constant
                     : op == CLEAVE_OPERATOR_LE ? v <= constant
                     : op == CLEAVE_OPERATOR_GT ? v > constant
                                                : v >= constant;
        if (holds)
            out[n++] = (struct cleave_range){.low = integer_value(v), .high = integer_value(v)};
    }
    return n;
}

/* A constant past int64 on one side: every integer compares to it alike. */
static uint32_t beyond_ranges(enum cleave_operator op, bool above_all, struct cleave_range *out)
{
    *out = not_null;
    switch (op) {
    case CLEAVE_OPERATOR_EQ:
        return 0;
    case CLEAVE_OPERATOR_LT:
    case CLEAVE_OPERATOR_LE:
        return above_all;
    case CLEAVE_OPERATOR_GT:
    case CLEAVE_OPERATOR_GE:
        return !above_all;
    default:
        return 1;
    }
}

static uint32_t ordered_ranges(enum cleave_operator op, struct cleave_value value,
                               struct cleave_range *out)
{
    switch (op) {
    case CLEAVE_OPERATOR_EQ:
        *out = (struct cleave_range){.low = value, .high = value};
        return 1;
    case CLEAVE_OPERATOR_LT:
        *out = at_most(value, true);
        return 1;
    case CLEAVE_OPERATOR_LE:
        *out = at_most(value, false);
        return 1;
    case CLEAVE_OPERATOR_GT:
        *out = at_least(value, true);
        return 1;
    case CLEAVE_OPERATOR_GE:
        *out = at_least(value, false);
        return 1;
    default: /* NE */
        out[0] = at_most(value, true);
        out[1] = at_least(value, true);
        return 2;
    }
}

static uint32_t date_ranges(enum cleave_operator op, int64_t moment, struct cleave_range *out)
{
    if (moment == INT64_MAX || moment == INT64_MIN) /* infinity: its neighbours are no days */
        return integer_ranges(op, moment, moment, 1, out);
    int64_t rest = moment % CLEAVE_DAY_US;
    if (rest < 0)
        rest += CLEAVE_DAY_US;
    int64_t below, above;
    if (__builtin_sub_overflow(moment, rest, &below) ||
        __builtin_add_overflow(below, rest ? CLEAVE_DAY_US : 0, &above)) {
        *out = not_null;
        return 1;
    }
    return integer_ranges(op, below, above, CLEAVE_DAY_US, out);
}

/* The column's values that compare so to `value`, which is in the form of the family. At most two
 * ranges; false: says nothing. */
static bool compare_ranges(const struct cleave_domain_type *type, enum cleave_operator op,
                           struct cleave_value value, struct cleave_range out[2], uint32_t *count)
{
    bool equality = op == CLEAVE_OPERATOR_EQ || op == CLEAVE_OPERATOR_NE;
    int64_t floor;
    switch (type->family) {
    case CLEAVE_FAMILY_INTEGER:
        if (value.kind == CLEAVE_INTEGER)
            *count = integer_ranges(op, value.integer, value.integer, 1, out);
        else if (!cleave__number_floor(value.text, value.length, &floor) || floor == INT64_MAX)
            *count = beyond_ranges(op, floor == INT64_MAX, out);
        else
            *count = integer_ranges(op, floor, floor + 1, 1, out);
        return true;
    case CLEAVE_FAMILY_BOOLEAN:
        if (value.kind != CLEAVE_INTEGER)
            return false;
        *count = boolean_ranges(op, value.integer, out);
        return true;
    case CLEAVE_FAMILY_TIMESTAMP:
    case CLEAVE_FAMILY_TIMESTAMPTZ:
    case CLEAVE_FAMILY_TIME:
        if (value.kind != CLEAVE_INTEGER)
            return false;
        *count = integer_ranges(op, value.integer, value.integer, 1, out);
        return true;
    case CLEAVE_FAMILY_DATE:
        if (value.kind != CLEAVE_INTEGER)
            return false;
        *count = date_ranges(op, value.integer, out);
        return true;
    case CLEAVE_FAMILY_FLOAT4:
        /* 0.1 as a real is above 0.1 as a number: bounds are taken in. */
        if (op == CLEAVE_OPERATOR_NE)
            return false;
        if (op == CLEAVE_OPERATOR_LT)
            op = CLEAVE_OPERATOR_LE;
        if (op == CLEAVE_OPERATOR_GT)
            op = CLEAVE_OPERATOR_GE;
        break;
    case CLEAVE_FAMILY_OTHER:
        if (!equality)
            return false;
        break;
    case CLEAVE_FAMILY_ANY:
    case CLEAVE_FAMILY_OPAQUE:
        return false;
    default:
        break;
    }
    *count = ordered_ranges(op, value, out);
    return true;
}

/* How constants reach the target column: numbers cross between INTEGER and NUMERIC columns that an
 * equality joins; all else is read in the type it was compared with. */
static bool read_scalar(struct cleave_binding *b, const struct cleave_predicate *atom,
                        const struct cleave_scalar *scalar, struct cleave_value *value)
{
    bool any = atom->reads.family == CLEAVE_FAMILY_ANY;
    const struct cleave_domain_type *reads = any ? &atom->target : &atom->reads;
    struct cleave_scalar unsure = *scalar;
    unsure.parameter |= any; /* an output's type: anything that compares with the column */
    if (!cleave__scalar_convert(b, &unsure, reads, value))
        return false;
    /* An output without a type of its own: it may have been rounded on its way to the column. */
    if (any && reads->family == CLEAVE_FAMILY_INTEGER && value->kind == CLEAVE_NUMBER)
        return false;
    if (value->kind == CLEAVE_NULL || reads->family == atom->target.family)
        return true;
    struct cleave_scalar number = {.kind = CLEAVE_SCALAR_NUMBER, .value = *value};
    int64_t integer;
    if (value->kind == CLEAVE_NUMBER &&
        cleave__number_to_integer(value->text, value->length, &integer))
        number.value = integer_value(integer);
    return cleave__scalar_convert(b, &number, &atom->target, value);
}

static void set_ranges(struct cleave_binding *b, const struct cleave_range *ranges, uint32_t count,
                       struct cleave_domain *out)
{
    out->full = false;
    out->count = count;
    out->ranges = NULL;
    if (count == 0)
        return;
    out->ranges = allocate(b, count);
    if (out->ranges)
        memcpy(out->ranges, ranges, count * sizeof *ranges);
}

static void compare_domain(struct cleave_binding *b, const struct cleave_predicate *atom,
                           struct cleave_domain *out)
{
    struct cleave_value value;
    struct cleave_range ranges[3] = {{.flags = 0}};
    uint32_t count = 0;
    enum cleave_operator op = atom->op;
    bool distinct = op == CLEAVE_OPERATOR_DISTINCT;
    struct cleave_scalar scalar = cleave__scalar(b, atom->items[0]);
    if (!read_scalar(b, atom, &scalar, &value))
        return;
    if (value.kind == CLEAVE_NULL) {
        if (distinct)
            set_ranges(b, &not_null, 1, out);
        else /* IS NOT DISTINCT FROM NULL holds for NULL; a comparison with NULL never holds */
            set_ranges(b, ranges, op == CLEAVE_OPERATOR_NOT_DISTINCT, out);
        return;
    }
    if (op == CLEAVE_OPERATOR_NOT_DISTINCT)
        op = CLEAVE_OPERATOR_EQ;
    if (distinct) /* ranges[0] is NULL */
        op = CLEAVE_OPERATOR_NE;
    if (compare_ranges(&atom->target, op, value, ranges + distinct, &count))
        set_ranges(b, ranges, count + distinct, out);
}

static void in_domain(struct cleave_binding *b, const struct cleave_predicate *atom,
                      const struct cleave_scalars *items, struct cleave_domain *out)
{
    struct cleave_range *ranges = allocate(b, items->count ? items->count : 1);
    if (!ranges)
        return;
    uint32_t n = 0;
    b->work += items->count;
    for (uint32_t i = 0; i < items->count; i++) {
        struct cleave_value value;
        struct cleave_range two[2];
        uint32_t count;
        if (!read_scalar(b, atom, &items->items[i], &value))
            return;
        if (value.kind == CLEAVE_NULL)
            continue;
        if (!compare_ranges(&atom->target, CLEAVE_OPERATOR_EQ, value, two, &count))
            return;
        if (count)
            ranges[n++] = two[0];
    }
    cleave__ranges_normalize(ranges, &n);
    *out = (struct cleave_domain){false, n, ranges};
}

/* What lies between the points of an IN list. */
static void not_in_domain(struct cleave_binding *b, const struct cleave_predicate *atom,
                          const struct cleave_scalars *items, struct cleave_domain *out)
{
    struct cleave_domain all = {false, 1, allocate(b, 1)};
    if (!all.ranges)
        return;
    all.ranges[0] = not_null;
    struct cleave_scalars known = {
        0, cleave__arena_array(b->arena, items->count ? items->count : 1, sizeof *known.items)};
    if (!known.items) {
        b->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < items->count; i++) {
        struct cleave_value value;
        if (items->items[i].kind == CLEAVE_SCALAR_NULL) { /* never true */
            *out = (struct cleave_domain){false, 0, NULL};
            return;
        }
        if (read_scalar(b, atom, &items->items[i], &value))
            known.items[known.count++] = items->items[i];
    }
    struct cleave_domain points = {.full = true};
    in_domain(b, atom, &known, &points);
    if (points.full || atom->target.family == CLEAVE_FAMILY_FLOAT4)
        return;
    struct cleave_range *gaps = allocate(b, 2 * (size_t)points.count + 1);
    if (!gaps)
        return;
    uint32_t n = 0;
    struct cleave_range left = not_null; /* what is left above the points so far */
    bool some_left = true;
    for (uint32_t i = 0; i < points.count && some_left; i++) {
        struct cleave_range two[2];
        uint32_t count, sides;
        if (!compare_ranges(&atom->target, CLEAVE_OPERATOR_LT, points.ranges[i].low, two, &count)) {
            /* no order is known (family OTHER): the bytes' order serves as well */
            two[0] = at_most(points.ranges[i].low, true);
            count = 1;
        }
        if (count && cleave__range_intersect(&left, &two[0], &gaps[n]))
            n++;
        if (!compare_ranges(&atom->target, CLEAVE_OPERATOR_GT, points.ranges[i].low, two, &sides)) {
            two[0] = at_least(points.ranges[i].low, true);
            sides = 1;
        }
        some_left = sides && cleave__range_intersect(&left, &two[0], &left);
    }
    if (some_left)
        gaps[n++] = left;
    *out = (struct cleave_domain){false, n, gaps};
}

static bool is_number(enum cleave_family family)
{
    return family == CLEAVE_FAMILY_INTEGER || family == CLEAVE_FAMILY_NUMERIC ||
           family == CLEAVE_FAMILY_FLOAT8 || family == CLEAVE_FAMILY_FLOAT4;
}

/* All members of a list are read in one type. When some member has another type than the column,
 * quoted literals beside it may be of that type: they are not known then. */
static void forget_untyped(const struct cleave_predicate *atom, struct cleave_scalars *items)
{
    enum cleave_family family = atom->reads.family;
    bool other = false;
    for (uint32_t i = 0; i < items->count; i++)
        other |= items->items[i].kind == CLEAVE_SCALAR_TYPED && items->items[i].family != family &&
                 !(is_number(family) && is_number(items->items[i].family));
    for (uint32_t i = 0; other && i < items->count; i++) {
        if (items->items[i].kind == CLEAVE_SCALAR_LITERAL)
            items->items[i].kind = CLEAVE_SCALAR_UNKNOWN;
    }
}

static void list_domain(struct cleave_binding *b, const struct cleave_predicate *atom,
                        struct cleave_domain *out)
{
    struct cleave_scalars items;
    bool negated = atom->op == CLEAVE_OPERATOR_NOT_IN;
    bool array = atom->count == 1 && (atom->items[0]->kind == CLEAVE_EXPRESSION_ARRAY ||
                                      atom->items[0]->kind == CLEAVE_EXPRESSION_ARRAY_TEXT);
    if (array) {
        if (!cleave__scalar_elements(b, atom->items[0], &items))
            return;
    } else {
        items.count = atom->count;
        items.items = cleave__arena_array(b->arena, atom->count, sizeof *items.items);
        if (!items.items) {
            b->out_of_memory = true;
            return;
        }
        for (uint32_t i = 0; i < atom->count; i++)
            items.items[i] = cleave__scalar(b, atom->items[i]);
    }
    forget_untyped(atom, &items);
    if (negated)
        not_in_domain(b, atom, &items, out);
    else
        in_domain(b, atom, &items, out);
}

/* ---- LIKE ---- */

/* The least text above every text that starts with these bytes: the last character that has a
 * successor is raised, what follows it is cut. Stays valid UTF-8 when the prefix is. Returns the
 * length, 0 when there is no such text. */
static uint32_t raise_prefix(char *text, uint32_t length)
{
    while (length > 0) {
        uint32_t start = length - 1;
        while (start > 0 && length - start < 4 && ((unsigned char)text[start] & 0xc0) == 0x80)
            start--;
        unsigned char *p = (unsigned char *)text + start;
        uint32_t size = length - start;
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* less is not UTF-8 */
        uint32_t code = UINT32_MAX;
        if (size == 1 && p[0] < 0x80)
            code = p[0];
        else if (size == 2 && p[0] >= 0xc2 && p[0] < 0xe0)
            code = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        else if (size == 3 && (p[0] & 0xf0) == 0xe0)
            code = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        else if (size == 4 && (p[0] & 0xf8) == 0xf0)
            code = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
                   (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
        if (code > 0x10ffff || code < least[size] || (code >= 0xd800 && code < 0xe000)) {
            /* not UTF-8: by bytes */
            p = (unsigned char *)text + length - 1;
            if (*p != 0xff) {
                ++*p;
                return length;
            }
            length--;
            continue;
        }
        code++;
        if (code == 0xd800)
            code = 0xe000;
        if (code > 0x10ffff) {
            length = start;
            continue;
        }
        if (code < 0x80) {
            *p++ = (unsigned char)code;
        } else if (code < 0x800) {
            *p++ = (unsigned char)(0xc0 | code >> 6);
            *p++ = (unsigned char)(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            *p++ = (unsigned char)(0xe0 | code >> 12);
            *p++ = (unsigned char)(0x80 | (code >> 6 & 0x3f));
            *p++ = (unsigned char)(0x80 | (code & 0x3f));
        } else {
            *p++ = (unsigned char)(0xf0 | code >> 18);
            *p++ = (unsigned char)(0x80 | (code >> 12 & 0x3f));
            *p++ = (unsigned char)(0x80 | (code >> 6 & 0x3f));
            *p++ = (unsigned char)(0x80 | (code & 0x3f));
        }
        return (uint32_t)(p - (unsigned char *)text);
    }
    return 0;
}

static bool pattern_text(const struct cleave_scalar *scalar)
{
    return scalar->kind == CLEAVE_SCALAR_LITERAL ||
           (scalar->kind == CLEAVE_SCALAR_TYPED && scalar->family == CLEAVE_FAMILY_STRING);
}

static void like_domain(struct cleave_binding *b, const struct cleave_predicate *atom,
                        struct cleave_domain *out)
{
    enum cleave_family family = atom->target.family;
    if ((family != CLEAVE_FAMILY_STRING && family != CLEAVE_FAMILY_CHAR) ||
        (atom->reads.family != family && atom->reads.family != CLEAVE_FAMILY_ANY))
        return;
    struct cleave_scalar pattern = cleave__scalar(b, atom->items[0]);
    if (pattern.kind == CLEAVE_SCALAR_NULL) {
        *out = (struct cleave_domain){false, 0, NULL};
        return;
    }
    char escape = '\\';
    bool escapes = true;
    if (atom->count > 1) {
        struct cleave_scalar given = cleave__scalar(b, atom->items[1]);
        if (!pattern_text(&given) || given.value.length > 1)
            return; /* also escapes of several bytes */
        escapes = given.value.length == 1;
        escape = escapes ? *given.value.text : 0;
        if ((unsigned char)escape >= 0x80)
            return;
    }
    if (!pattern_text(&pattern))
        return;
    const char *p = pattern.value.text, *end = p + pattern.value.length;
    /* A raised character can be a byte longer than it was. */
    char *low = cleave__arena_alloc(b->arena, 2 * (size_t)pattern.value.length + 8);
    if (!low) {
        b->out_of_memory = true;
        return;
    }
    uint32_t length = 0;
    bool wild = false;
    for (; p < end; p++) {
        if (escapes && *p == escape) {
            if (++p == end)
                return;
        } else if (*p == '%' || *p == '_') {
            wild = true;
            break;
        }
        low[length++] = *p;
    }
    if (family == CLEAVE_FAMILY_CHAR) { /* compared with its blanks, kept without */
        while (length && low[length - 1] == ' ')
            length--;
        wild = true;
    }
    struct cleave_range range = {
        .low = {.kind = CLEAVE_TEXT, .length = length, .text = low},
        .high = {.kind = CLEAVE_TEXT, .length = length, .text = low},
    };
    if (wild && length == 0) {
        range = not_null;
    } else if (wild) {
        char *high = low + pattern.value.length + 1;
        memcpy(high, low, length);
        uint32_t high_length = raise_prefix(high, length);
        range.high =
            (struct cleave_value){.kind = CLEAVE_TEXT, .length = high_length, .text = high};
        range.flags = high_length ? CLEAVE_HIGH_OPEN : CLEAVE_HIGH_UNBOUNDED;
    }
    set_ranges(b, &range, 1, out);
}

void cleave__atom_domain(struct cleave_binding *binding, const struct cleave_predicate *atom,
                         struct cleave_domain *out)
{
    static const struct cleave_range null = {.flags = 0};
    *out = (struct cleave_domain){.full = true};
    switch (atom->op) {
    case CLEAVE_OPERATOR_IS_NULL:
        set_ranges(binding, &null, 1, out);
        break;
    case CLEAVE_OPERATOR_NOT_NULL:
        set_ranges(binding, &not_null, 1, out);
        break;
    case CLEAVE_OPERATOR_IN:
    case CLEAVE_OPERATOR_NOT_IN:
        list_domain(binding, atom, out);
        break;
    case CLEAVE_OPERATOR_LIKE:
        like_domain(binding, atom, out);
        break;
    default:
        compare_domain(binding, atom, out);
        break;
    }
    if (binding->out_of_memory)
        *out = (struct cleave_domain){.full = true};
}
