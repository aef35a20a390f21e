/* Learning transaction boundaries in runs of statements.
 *
 * Given are runs (consecutive lines of one id), each one or several transactions. What begins a
 * run begins a transaction; so a template that ever begins a run may begin a transaction within
 * one. Whether it does, when it follows some template p, is told by how p is followed elsewhere:
 *  - Behind the end of a transaction the next one's kind does not depend on p, so the starting
 *    templates that follow p occur in the shares in which they begin runs.
 *  - Within a transaction the program decides what follows p, so one of them stands out.
 * The second is believed when the observed share is far above the expected one (odds 8 : 1) and
 * chance would not give it (log-likelihood ratio, one in 10,000). That keeps TPC-C's Delivery, ten
 * times the same seven statements, and the look-up of a customer by name whole.
 *  - And when most runs that a template begins have it again behind the same p, it is a loop (the
 *    shares say nothing when there is only one kind of transaction).
 * All other occurrences of a starting template begin a transaction. */
#include "tables/source/trace/template.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

enum { TEMPLATES_MAX = 1 << 16, PAIRS_MAX = 1 << 18, MASKED_MAX = 2048 };

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c >= 0x80;
}

/* Writes one byte of the masked text; a list "?,?" shrinks to "?". */
static void put(char *masked, size_t *count, char c)
{
    size_t n = *count;
    if (c == '?' && n >= 2 && masked[n - 1] == ',' && masked[n - 2] == '?') {
        *count = n - 1;
        return;
    }
    if (n < MASKED_MAX) {
        masked[n] = c;
        *count = n + 1;
    }
}

uint64_t cleave__template_hash(const char *text, size_t length)
{
    char masked[MASKED_MAX];
    size_t n = 0, i = 0;
    while (i < length && n < MASKED_MAX) {
        unsigned char c = (unsigned char)text[i];
        char last = n ? masked[n - 1] : ' ';
        if (c == '\'') {
            for (i++; i < length; i++) {
                if (text[i] == '\'' && !(i + 1 < length && text[i + 1] == '\'' && ++i))
                    break;
            }
            i += i < length;
            put(masked, &n, '?');
        } else if (c >= '0' && c <= '9') {
            while (i < length && (is_word((unsigned char)text[i]) || text[i] == '.'))
                i++;
            put(masked, &n, '?');
        } else if ((c == '-' || c == '+') && i + 1 < length && text[i + 1] >= '0' &&
                   text[i + 1] <= '9' && strchr("=(,<>+-*/", last)) {
            i++; /* the number's own sign */
        } else if (is_word(c)) {
            /* Blanks matter only between words. */
            bool gap = i > 0 && !is_word((unsigned char)text[i - 1]) &&
                       (is_word((unsigned char)last) || last == '?');
            if (gap)
                put(masked, &n, ' ');
            while (i < length && is_word((unsigned char)text[i])) {
                char w = text[i++];
                put(masked, &n, w >= 'A' && w <= 'Z' ? (char)(w | 32) : w);
            }
        } else {
            i++;
            if (c > ' ')
                put(masked, &n, (char)c);
        }
    }
    return XXH3_64bits(masked, n);
}

uint32_t cleave__template_of(struct cleave_boundaries *b, const char *text, size_t length, bool add)
{
    uint64_t hash = cleave__template_hash(text, length);
    if (!add || b->templates.count >= TEMPLATES_MAX)
        return cleave__intern_find(&b->templates, &hash, sizeof hash);
    uint32_t id = cleave__intern_add(&b->templates, &hash, sizeof hash);
    while (id != CLEAVE_INTERN_NONE && b->starts.count <= id) {
        if (!CLEAVE_PUSH(&b->starts, 0) || !CLEAVE_PUSH(&b->followed, 0))
            return CLEAVE_TEMPLATE_NONE;
    }
    return id;
}

bool cleave__boundaries_note_start(struct cleave_boundaries *b, uint32_t first)
{
    if (first == CLEAVE_TEMPLATE_NONE)
        return true;
    b->starts.data[first]++;
    b->runs++;
    return true;
}

static struct cleave_template_pair *find_pair(const struct cleave_boundaries *b, uint32_t first,
                                              uint32_t second)
{
    uint32_t key[2] = {first, second};
    uint32_t id = cleave__intern_find(&b->pairs, key, sizeof key);
    return id == CLEAVE_INTERN_NONE ? NULL : &b->pair.data[id];
}

bool cleave__boundaries_note_step(struct cleave_boundaries *b, uint32_t next, bool begins)
{
    uint32_t before = b->previous;
    b->previous = next;
    if (begins) {
        b->run_start = next;
        b->runs++;
        return true;
    }
    if (before == CLEAVE_TEMPLATE_NONE || next == CLEAVE_TEMPLATE_NONE ||
        b->starts.data[next] == 0 || b->pairs.count >= PAIRS_MAX)
        return true;
    uint32_t key[2] = {before, next};
    uint32_t id = cleave__intern_add(&b->pairs, key, sizeof key);
    if (id == CLEAVE_INTERN_NONE)
        return false;
    while (b->pair.count <= id) {
        if (!CLEAVE_PUSH(&b->pair, (struct cleave_template_pair){.last_run = UINT32_MAX}))
            return false;
    }
    struct cleave_template_pair *pair = &b->pair.data[id];
    pair->count++;
    b->followed.data[before]++;
    if (next == b->run_start && pair->last_run != (uint32_t)b->runs) {
        pair->last_run = (uint32_t)b->runs;
        pair->runs++;
    }
    return true;
}

static bool stands_out(double count, double all, double expected)
{
    double share = count / all;
    if (share <= expected || expected >= 1)
        return false;
    double rest = 1 - share;
    double ratio =
        share * log(share / expected) + (rest > 0 ? rest * log(rest / (1 - expected)) : 0);
    bool odds = share * (1 - expected) >= 8 * expected * rest;
    return odds && all * ratio > 9.2;
}

void cleave__boundaries_decide(struct cleave_boundaries *b)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < b->starts.count; i++)
        runs += b->starts.data[i];
    for (uint32_t id = 0; id < b->pairs.count; id++) {
        uint32_t key[2];
        memcpy(key, b->pairs.entries[id].bytes, sizeof key);
        struct cleave_template_pair *pair = &b->pair.data[id];
        double expected = (double)b->starts.data[key[1]] / (double)runs;
        pair->inside = stands_out(pair->count, b->followed.data[key[0]], expected) ||
                       2 * (uint64_t)pair->runs > b->starts.data[key[1]];
    }
}

bool cleave__boundary_between(const struct cleave_boundaries *b, uint32_t before, uint32_t next)
{
    if (next == CLEAVE_TEMPLATE_NONE || b->starts.data[next] == 0)
        return false;
    if (before == CLEAVE_TEMPLATE_NONE)
        return true;
    const struct cleave_template_pair *pair = find_pair(b, before, next);
    return !pair || !pair->inside;
}

void cleave__boundaries_free(struct cleave_boundaries *b)
{
    cleave__intern_free(&b->templates);
    cleave__intern_free(&b->pairs);
    CLEAVE_VECTOR_FREE(&b->starts);
    CLEAVE_VECTOR_FREE(&b->followed);
    CLEAVE_VECTOR_FREE(&b->pair);
}
