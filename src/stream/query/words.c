/* Normal forms and words; see the header. What is a letter, a mark or a digit is from Unicode's
 * categories; words are near those of Unicode's annex 29, without its dots within numbers. */
#include "stream/query/words.h"

#include <utf8proc.h>

/* As in Unicode's stream-safe text: more marks in a row have no use, and sorting them costs their
 * square. Those beyond are dropped. */
enum { MARKS_MOST = 30 };

static const utf8proc_option_t normal =
    UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;

/* Marks in canonical order, by insertion, for a run of them is short; the new count. */
static size_t order_marks(int32_t *points, size_t count)
{
    size_t kept = 0;
    unsigned marks = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t point = points[i];
        utf8proc_propval_t class = utf8proc_get_property(point)->combining_class;
        marks = class ? marks + 1 : 0;
        if (marks > MARKS_MOST)
            continue;
        size_t to = kept++;
        while (class && to > 0 && utf8proc_get_property(points[to - 1])->combining_class > class) {
            points[to] = points[to - 1];
            to--;
        }
        points[to] = point;
    }
    return kept;
}

bool cleave__words_normalise(const uint8_t *text, size_t length, int32_t *points, size_t capacity,
                             size_t *count, size_t *bad)
{
    size_t used = 0;
    int unused = 0;
    for (size_t at = 0; at < length;) {
        int32_t point;
        utf8proc_ssize_t step =
            utf8proc_iterate(text + at, (utf8proc_ssize_t)(length - at), &point);
        if (step <= 0) {
            *bad = at;
            return false;
        }
        at += (size_t)step;
        size_t room = used < capacity ? capacity - used : 0;
        utf8proc_ssize_t got = utf8proc_decompose_char(point, room ? points + used : NULL,
                                                       (utf8proc_ssize_t)room, normal, &unused);
        used += (size_t)(got > 0 ? got : 0);
    }
    *count = used;
    if (used > capacity || used == 0)
        return true;
    used = order_marks(points, used);
    utf8proc_ssize_t left = utf8proc_normalize_utf32(points, (utf8proc_ssize_t)used, normal);
    *count = left > 0 ? (size_t)left : 0;
    return true;
}

enum kind { GAP, LETTER, DIGIT, MARK, DENSE, APOSTROPHE };

struct range {
    int32_t from, to;
};

/* Scripts without blanks between words. */
static bool is_dense(int32_t point)
{
    static const struct range ranges[] = {
        {0x0e00, 0x0e7f}, {0x0e80, 0x0eff},   {0x1000, 0x109f},   {0x1780, 0x17ff},
        {0x3005, 0x3007}, {0x3021, 0x3029},   {0x3040, 0x30ff},   {0x31f0, 0x31ff},
        {0x3400, 0x4dbf}, {0x4e00, 0x9fff},   {0xa9e0, 0xa9ff},   {0xaa60, 0xaa7f},
        {0xf900, 0xfaff}, {0x1aff0, 0x1b16f}, {0x20000, 0x3ffff},
    };
    if (point < ranges[0].from)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (point >= ranges[i].from && point <= ranges[i].to)
            return true;
    }
    return false;
}

static enum kind kind_of(int32_t point)
{
    if (point == '\'' || point == 0x2019 || point == 0x02bc)
        return APOSTROPHE;
    switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return is_dense(point) ? DENSE : LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return is_dense(point) && point >= 0x3000 ? DENSE : DIGIT;
    default:
        return GAP;
    }
}

static int32_t *past_marks(int32_t *at, const int32_t *end)
{
    while (at < end && kind_of(*at) == MARK)
        at++;
    return at;
}

/* Letters of a dense script: pairs, and one that stands alone. After the last pair of a run *at is
 * behind the run. */
static void take_dense(int32_t **at, int32_t *end, struct cleave__word *word)
{
    int32_t *second = past_marks(*at + 1, end);
    word->from = *at;
    word->to = second;
    *at = second;
    if (second == end || kind_of(*second) != DENSE)
        return;
    int32_t *third = past_marks(second + 1, end);
    word->to = third;
    if (third == end || kind_of(*third) != DENSE)
        *at = third;
}

bool cleave__words_next(int32_t **at, int32_t *end, struct cleave__word *word)
{
    enum kind kind = GAP, before = GAP;
    int32_t *now = *at;
    while (now < end) {
        kind = kind_of(*now);
        if (kind == LETTER || kind == DIGIT || kind == DENSE)
            break;
        now++;
    }
    *at = now;
    if (now == end)
        return false;
    if (kind == DENSE) {
        take_dense(at, end, word);
        return true;
    }
    word->from = now;
    do {
        before = kind == MARK ? before : kind;
        now++;
        kind = now < end ? kind_of(*now) : GAP;
        if (kind == APOSTROPHE && before == LETTER && now + 1 < end && kind_of(now[1]) == LETTER) {
            *now = '\'';
            kind = LETTER;
        }
    } while (kind == LETTER || kind == DIGIT || kind == MARK);
    word->to = now;
    *at = now;
    return true;
}

static bool is_blank(int32_t point)
{
    utf8proc_category_t category = utf8proc_category(point);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || (point >= '\t' && point <= '\r') || point == 0x85;
}

size_t cleave__words_trim(int32_t *points, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_blank(points[i]))
            points[kept++] = points[i];
        else if (kept && points[kept - 1] != ' ')
            points[kept++] = ' ';
    }
    return kept && points[kept - 1] == ' ' ? kept - 1 : kept;
}
