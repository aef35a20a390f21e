/* Linear hashing of lines with four postings; see table.h. */
#include "stream/index/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, LAST = CLEAVE__LINE_POSTINGS - 1 };

static uint32_t kind(const struct cleave__posting *posting)
{
    return posting->head & CLEAVE__KIND_MASK;
}

/* Neither empty nor a link. */
static bool is_entry(const struct cleave__posting *posting)
{
    return kind(posting) != CLEAVE__KIND_EMPTY && kind(posting) != CLEAVE__KIND_NEXT;
}

static uint32_t hash_of(const struct cleave__posting *posting, uint32_t bucket)
{
    return (posting->head & CLEAVE__HEAD_TAG) | (bucket & ~CLEAVE__HEAD_TAG);
}

static struct cleave__line *bucket_line(struct cleave__table *table, uint32_t bucket)
{
    return cleave__pages_at(&table->lines, bucket);
}

static struct cleave__line *next_line(struct cleave__table *table, struct cleave__line *line)
{
    return kind(&line->postings[LAST]) == CLEAVE__KIND_NEXT
               ? cleave__pages_at(&table->overflow, line->postings[LAST].slot)
               : NULL;
}

bool cleave__table_init(struct cleave__table *table)
{
    *table = (struct cleave__table){
        .lines = cleave__pages_make(sizeof(struct cleave__line)),
        .overflow = cleave__pages_make(sizeof(struct cleave__line)),
        .buckets = CLEAVE__BUCKETS_LEAST,
        .low = CLEAVE__BUCKETS_LEAST - 1,
        .high = 2 * CLEAVE__BUCKETS_LEAST - 1,
        .overflow_free = NONE,
    };
    table->filter = cleave__pages_make(sizeof(uint64_t));
    return cleave__pages_reserve(&table->filter, CLEAVE__BUCKETS_LEAST) &&
           cleave__pages_reserve(&table->lines, CLEAVE__BUCKETS_LEAST);
}

void cleave__table_free(struct cleave__table *table)
{
    cleave__pages_free(&table->lines);
    cleave__pages_free(&table->overflow);
    cleave__pages_free(&table->filter);
}

bool cleave__table_reserve(struct cleave__table *table)
{
    return table->overflow_free != NONE ||
           cleave__pages_reserve(&table->overflow, (uint64_t)table->overflow_used + 1);
}

static uint32_t take_overflow(struct cleave__table *table)
{
    uint32_t at = table->overflow_free;
    if (at == NONE) {
        assert(table->overflow_used < table->overflow.capacity);
        return table->overflow_used++;
    }
    struct cleave__line *line = cleave__pages_at(&table->overflow, at);
    table->overflow_free = line->postings[0].slot;
    table->overflow_free_count--;
    memset(line, 0, sizeof *line);
    return at;
}

static void give_overflow(struct cleave__table *table, uint32_t at)
{
    struct cleave__line *line = cleave__pages_at(&table->overflow, at);
    memset(line, 0, sizeof *line);
    line->postings[0].slot = table->overflow_free;
    table->overflow_free = at;
    table->overflow_free_count++;
    if (table->overflow_free_count == table->overflow_used) { /* all: from the start again */
        for (uint32_t i = 0; i < table->overflow_used; i++)
            memset(cleave__pages_at(&table->overflow, i), 0, sizeof *line);
        table->overflow_free = NONE;
        table->overflow_used = table->overflow_free_count = 0;
    }
}

/* What a posting sets in its bucket's filter; of lists and pairs every part. */
static uint64_t filter_bits(const struct cleave__posting *posting, uint32_t hash)
{
    uint64_t bits = 0;
    if (kind(posting) != CLEAVE__KIND_POSTING)
        return UINT64_C(0x1111111111111111) << (hash >> 26 & 3);
    for (uint32_t y = posting->box[1] >> 6; y <= posting->box[3] >> 6; y++) {
        for (uint32_t x = posting->box[0] >> 6; x <= posting->box[2] >> 6; x++)
            bits |= UINT64_C(1) << (hash >> 26 ^ (x | y << 2) << 2);
    }
    return bits;
}

/* Behind all others of the chain that starts with `line`. */
static void append(struct cleave__table *table, struct cleave__line *line,
                   struct cleave__posting posting)
{
    for (struct cleave__line *next; (next = next_line(table, line));)
        line = next;
    for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
        if (kind(&line->postings[i]) == CLEAVE__KIND_EMPTY) {
            line->postings[i] = posting;
            return;
        }
    }
    uint32_t at = take_overflow(table);
    struct cleave__line *more = cleave__pages_at(&table->overflow, at);
    more->postings[0] = line->postings[LAST];
    more->postings[1] = posting;
    line->postings[LAST] = (struct cleave__posting){.head = CLEAVE__KIND_NEXT, .slot = at};
}

static void refilter(struct cleave__table *table, uint32_t bucket)
{
    *cleave__table_filter(table, bucket) = 0;
    for (struct cleave__line *line = bucket_line(table, bucket); line;
         line = next_line(table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            if (is_entry(&line->postings[i]))
                *cleave__table_filter(table, bucket) |=
                    filter_bits(&line->postings[i], hash_of(&line->postings[i], bucket));
        }
    }
}

/* Takes the chain of `bucket` apart and puts every posting where its hash belongs now. Lines are
 * freed before they are needed: k postings in one chain have as many overflow lines as in two, or
 * more. */
static void scatter(struct cleave__table *table, uint32_t bucket)
{
    struct cleave__line line = *bucket_line(table, bucket);
    memset(bucket_line(table, bucket), 0, sizeof line);
    for (;;) {
        uint32_t next = NONE;
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            struct cleave__posting *p = &line.postings[i];
            if (kind(p) == CLEAVE__KIND_NEXT) {
                next = p->slot;
                p->head = 0;
            }
        }
        struct cleave__line after = {0};
        if (next != NONE) {
            after = *(struct cleave__line *)cleave__pages_at(&table->overflow, next);
            give_overflow(table, next);
        }
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            struct cleave__posting *p = &line.postings[i];
            if (kind(p) != CLEAVE__KIND_EMPTY)
                append(table, bucket_line(table, cleave__table_bucket(table, hash_of(p, bucket))),
                       *p);
        }
        if (next == NONE)
            return;
        line = after;
    }
}

/* One bucket more, if memory allows; the load may rise a little otherwise. */
static void split(struct cleave__table *table)
{
    uint32_t made = table->buckets, source = made - (table->low + 1);
    if (made == INT32_MAX || !cleave__pages_reserve(&table->lines, (uint64_t)made + 1) ||
        !cleave__pages_reserve(&table->filter, (uint64_t)made + 1))
        return;
    table->buckets++;
    if (table->buckets > table->high) {
        table->low = table->high;
        table->high = 2 * table->high + 1;
        /* low + 1 == buckets: the last bucket has the upper half of the old masks. */
    }
    scatter(table, source);
    refilter(table, source);
    refilter(table, made);
}

/* One bucket less. */
static void join(struct cleave__table *table)
{
    uint32_t gone = table->buckets - 1;
    /* Two chains may fit one only with a line more, or two. */
    if (!cleave__table_reserve(table))
        return;
    if (table->overflow_free_count < 2 &&
        !cleave__pages_reserve(&table->overflow, (uint64_t)table->overflow_used + 2))
        return;
    table->buckets = gone;
    if (gone <= table->low) {
        table->high = table->low;
        table->low >>= 1;
    }
    scatter(table, gone);
    refilter(table, gone - (table->low + 1));
    *cleave__table_filter(table, gone) = 0;
    cleave__pages_trim(&table->lines, gone);
    cleave__pages_trim(&table->filter, gone);
}

uint32_t cleave__table_insert(struct cleave__table *table, uint32_t hash,
                              struct cleave__posting posting)
{
    uint32_t bucket = cleave__table_bucket(table, hash), same = 0;
    posting.head = cleave__table_head(hash, posting.head & ~CLEAVE__HEAD_TAG);
    bool counts = kind(&posting) == CLEAVE__KIND_POSTING;
    for (struct cleave__line *line = bucket_line(table, bucket); line;
         line = next_line(table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            struct cleave__posting *p = &line->postings[i];
            uint32_t k = kind(p);
            if (((p->head ^ posting.head) & CLEAVE__HEAD_KEY) || !is_entry(p) ||
                k == CLEAVE__KIND_PAIRS || kind(&posting) == CLEAVE__KIND_PAIRS)
                continue;
            if (k == CLEAVE__KIND_POSTING)
                same++;
            if (k != kind(&posting) || (counts && p->slot == posting.slot)) {
                p->head |= CLEAVE__HEAD_TWIN;
                posting.head |= CLEAVE__HEAD_TWIN;
            }
        }
    }
    append(table, bucket_line(table, bucket), posting);
    *cleave__table_filter(table, bucket) |= filter_bits(&posting, hash);
    table->postings++;
    if (table->postings > (uint64_t)table->buckets * 5 / 2)
        split(table);
    return same + counts;
}

bool cleave__table_remove(struct cleave__table *table, uint32_t hash, uint32_t flags, uint32_t slot)
{
    uint32_t bucket = cleave__table_bucket(table, hash);
    uint32_t head = cleave__table_head(hash, flags);
    struct cleave__posting *found = NULL;
    struct cleave__line *line = bucket_line(table, bucket), *before = NULL;
    for (;;) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS && !found; i++) {
            struct cleave__posting *p = &line->postings[i];
            if (((p->head ^ head) & (CLEAVE__HEAD_KEY | CLEAVE__KIND_MASK)) == 0 && p->slot == slot)
                found = p;
        }
        struct cleave__line *next = next_line(table, line);
        if (!next)
            break;
        before = line;
        line = next;
    }
    if (!found)
        return false;
    int last = LAST;
    while (kind(&line->postings[last]) == CLEAVE__KIND_EMPTY)
        last--;
    *found = line->postings[last];
    line->postings[last] = (struct cleave__posting){0};
    if (before && last == 0) {
        uint32_t at = before->postings[LAST].slot;
        before->postings[LAST] = (struct cleave__posting){0};
        give_overflow(table, at);
    }
    table->postings--;
    refilter(table, bucket);
    if (table->buckets > CLEAVE__BUCKETS_LEAST && table->postings < table->buckets)
        join(table);
    if (table->overflow_used == 0)
        cleave__pages_trim(&table->overflow, 1); /* the room that was reserved stays */
    return true;
}

struct cleave__posting *cleave__table_pairs(struct cleave__table *table, uint32_t hash)
{
    uint32_t head = cleave__table_head(hash, CLEAVE__KIND_PAIRS);
    for (struct cleave__line *line = bucket_line(table, cleave__table_bucket(table, hash)); line;
         line = next_line(table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            struct cleave__posting *p = &line->postings[i];
            if (((p->head ^ head) & (CLEAVE__HEAD_KEY | CLEAVE__KIND_MASK)) == 0)
                return p;
        }
    }
    return NULL;
}

uint32_t cleave__table_collect(const struct cleave__table *table, uint32_t hash, uint32_t pair,
                               struct cleave__posting *out, uint32_t most)
{
    uint32_t head = cleave__table_head(hash, pair), count = 0;
    for (const struct cleave__line *line =
             cleave__table_line(table, cleave__table_bucket(table, hash));
         line; line = cleave__table_next(table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS && count < most; i++) {
            const struct cleave__posting *p = &line->postings[i];
            if (((p->head ^ head) & CLEAVE__HEAD_KEY) == 0 && is_entry(p))
                out[count++] = *p;
        }
    }
    return count;
}

size_t cleave__table_bytes(const struct cleave__table *table)
{
    return cleave__pages_bytes(&table->lines) + cleave__pages_bytes(&table->overflow) +
           cleave__pages_bytes(&table->filter);
}

static bool chain_check(const struct cleave__table *table, uint32_t bucket, uint64_t *postings,
                        uint64_t *lines)
{
    uint64_t filter = 0;
    const struct cleave__line *line = cleave__table_line(table, bucket);
    for (bool head = true; line; head = false) {
        const struct cleave__line *next = cleave__table_next(table, line);
        bool ended = false;
        if (!head)
            ++*lines;
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            const struct cleave__posting *p = &line->postings[i];
            uint32_t k = kind(p);
            if (k == CLEAVE__KIND_NEXT && (i != LAST || p->slot >= table->overflow_used))
                return false;
            if (k == CLEAVE__KIND_EMPTY && (next || (!head && i == 0)))
                return false;
            if (k == CLEAVE__KIND_EMPTY)
                ended = true;
            else if (ended)
                return false;
            if (!is_entry(p))
                continue;
            uint32_t hash = hash_of(p, bucket);
            if (cleave__table_bucket(table, hash) != bucket)
                return false;
            filter |= filter_bits(p, hash);
            ++*postings;
        }
        line = next;
    }
    return filter == *cleave__table_filter(table, bucket);
}

bool cleave__table_check(const struct cleave__table *table)
{
    uint64_t postings = 0, lines = 0, free_lines = 0;
    if (table->high != 2 * table->low + 1 || table->buckets <= table->low ||
        table->buckets > table->high || table->buckets < CLEAVE__BUCKETS_LEAST ||
        table->buckets > table->filter.capacity || table->buckets > table->lines.capacity)
        return false;
    for (uint32_t i = 0; i < table->buckets; i++) {
        if (!chain_check(table, i, &postings, &lines))
            return false;
    }
    for (uint32_t at = table->overflow_free; at != NONE && free_lines <= table->overflow_used;
         free_lines++) {
        const struct cleave__line *line = cleave__pages_at(&table->overflow, at);
        at = line->postings[0].slot;
    }
    return postings == table->postings && free_lines == table->overflow_free_count &&
           lines + free_lines == table->overflow_used;
}
