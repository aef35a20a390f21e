/* Textual summaries; see the header. The hash has linear probing and removal by moving back (Knuth
 * 6.4, algorithm R), so that it never holds graves. */
#include "stream/route/summary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { PAGE_BITS = 12, PAGE_WORDS = 1 << (PAGE_BITS - 6) };

struct page {
    uint64_t present[PAGE_WORDS], confirmed[PAGE_WORDS];
};

struct stamped {
    uint32_t term, stamp; /* CLEAVE__NO_TERM: free */
};

struct known { /* of one evaluator */
    struct page **pages;
    struct stamped *slots;
    uint32_t page_count; /* of the directory */
    uint32_t slot_mask;  /* slots are slot_mask + 1, if any */
    uint32_t count;
    bool any, any_confirmed; /* CLEAVE__ANY_TERM, which has no page */
};

struct cleave__summary {
    uint32_t evaluators;
    struct known known[];
};

/* Of terms that have none. */
static const struct page blank;

enum cleave_status cleave__summary_new(uint32_t evaluators, struct cleave__summary **out,
                                       struct cleave_error *error)
{
    assert(evaluators > 0);
    struct cleave__summary *summary =
        calloc(1, sizeof *summary + evaluators * sizeof *summary->known);
    if (!summary)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for keywords of %u evaluators",
                                evaluators);
    summary->evaluators = evaluators;
    *out = summary;
    return CLEAVE_OK;
}

void cleave__summary_clear(struct cleave__summary *summary, uint32_t evaluator)
{
    struct known *known = &summary->known[evaluator];
    for (uint32_t p = 0; p < known->page_count; p++)
        free(known->pages[p]);
    free(known->pages);
    free(known->slots);
    *known = (struct known){0};
}

void cleave__summary_free(struct cleave__summary *summary)
{
    for (uint32_t e = 0; summary && e < summary->evaluators; e++)
        cleave__summary_clear(summary, e);
    free(summary);
}

/* ---- bits ---- */

static const struct page *page_of(const struct known *known, uint32_t term)
{
    uint32_t p = term >> PAGE_BITS;
    return p < known->page_count && known->pages[p] ? known->pages[p] : &blank;
}

static bool bit(const uint64_t *words, uint32_t term)
{
    return words[term >> 6 & (PAGE_WORDS - 1)] >> (term & 63) & 1;
}

static void set_bit(uint64_t *words, uint32_t term, bool on)
{
    uint64_t *word = &words[term >> 6 & (PAGE_WORDS - 1)];
    *word = (*word & ~(UINT64_C(1) << (term & 63))) | (uint64_t)on << (term & 63);
}

bool cleave__summary_has(const struct cleave__summary *summary, uint32_t evaluator, uint32_t term)
{
    const struct known *known = &summary->known[evaluator];
    return term == CLEAVE__ANY_TERM ? known->any : bit(page_of(known, term)->present, term);
}

bool cleave__summary_confirmed(const struct cleave__summary *summary, uint32_t evaluator,
                               uint32_t term)
{
    const struct known *known = &summary->known[evaluator];
    return term == CLEAVE__ANY_TERM ? known->any_confirmed
                                    : bit(page_of(known, term)->confirmed, term);
}

bool cleave__summary_any(const struct cleave__summary *summary, uint32_t evaluator,
                         const uint32_t *terms, uint32_t count)
{
    const struct known *known = &summary->known[evaluator];
    if (known->any)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        if (bit(page_of(known, terms[i])->present, terms[i]))
            return true;
    }
    return false;
}

static void mark(struct known *known, uint32_t term, bool present, bool confirmed)
{
    if (term == CLEAVE__ANY_TERM) {
        known->any = present;
        known->any_confirmed = confirmed;
        return;
    }
    struct page *page = known->pages[term >> PAGE_BITS];
    set_bit(page->present, term, present);
    set_bit(page->confirmed, term, confirmed);
}

/* ---- stamps ---- */

static uint32_t home(const struct known *known, uint32_t term)
{
    return (uint32_t)cleave__mix64(term) & known->slot_mask;
}

/* Where a term is, or the free slot where it would be. */
static uint32_t slot_of(const struct known *known, uint32_t term)
{
    uint32_t at = home(known, term);
    while (known->slots[at].term != term && known->slots[at].term != CLEAVE__NO_TERM)
        at = (at + 1) & known->slot_mask;
    return at;
}

uint32_t cleave__summary_stamp(const struct cleave__summary *summary, uint32_t evaluator,
                               uint32_t term)
{
    const struct known *known = &summary->known[evaluator];
    if (!cleave__summary_has(summary, evaluator, term))
        return 0;
    return known->slots[slot_of(known, term)].stamp;
}

static bool grow_slots(struct known *known)
{
    uint64_t size = known->slots ? ((uint64_t)known->slot_mask + 1) * 2 : 16;
    struct stamped *slots = malloc(size * sizeof *slots), *old = known->slots;
    if (!slots)
        return false;
    for (uint64_t i = 0; i < size; i++)
        slots[i] = (struct stamped){CLEAVE__NO_TERM, 0};
    uint64_t old_size = old ? (uint64_t)known->slot_mask + 1 : 0;
    known->slots = slots;
    known->slot_mask = (uint32_t)(size - 1);
    for (uint64_t i = 0; i < old_size; i++) {
        if (old[i].term != CLEAVE__NO_TERM)
            slots[slot_of(known, old[i].term)] = old[i];
    }
    free(old);
    return true;
}

/* Makes sure of the term's page. */
static bool grow_pages(struct known *known, uint32_t term)
{
    uint32_t p = term >> PAGE_BITS;
    if (p >= known->page_count) {
        uint32_t count = p < 8 ? 8 : p + p / 2;
        struct page **pages = realloc(known->pages, count * sizeof(struct page *));
        if (!pages)
            return false;
        for (uint32_t i = known->page_count; i < count; i++)
            pages[i] = NULL;
        known->pages = pages;
        known->page_count = count;
    }
    if (!known->pages[p])
        known->pages[p] = calloc(1, sizeof **known->pages);
    return known->pages[p];
}

enum cleave_status cleave__summary_add(struct cleave__summary *summary, uint32_t evaluator,
                                       uint32_t term, uint32_t stamp, bool confirmed,
                                       struct cleave_error *error)
{
    assert(evaluator < summary->evaluators && term != CLEAVE__NO_TERM);
    struct known *known = &summary->known[evaluator];
    if (cleave__summary_has(summary, evaluator, term)) {
        struct stamped *slot = &known->slots[slot_of(known, term)];
        if (stamp > slot->stamp)
            mark(known, term, true, confirmed);
        else if (stamp == slot->stamp && confirmed)
            mark(known, term, true, true);
        slot->stamp = slot->stamp > stamp ? slot->stamp : stamp;
        return CLEAVE_OK;
    }
    bool full = !known->slots || known->count + 1 > known->slot_mask / 4 * 3;
    if ((full && !grow_slots(known)) || (term != CLEAVE__ANY_TERM && !grow_pages(known, term)))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a keyword");
    known->slots[slot_of(known, term)] = (struct stamped){term, stamp};
    known->count++;
    mark(known, term, true, confirmed);
    return CLEAVE_OK;
}

void cleave__summary_confirm(struct cleave__summary *summary, uint32_t evaluator, uint32_t term,
                             uint32_t stamp)
{
    struct known *known = &summary->known[evaluator];
    if (cleave__summary_has(summary, evaluator, term) &&
        known->slots[slot_of(known, term)].stamp == stamp)
        mark(known, term, true, true);
}

void cleave__summary_doubt(struct cleave__summary *summary, uint32_t evaluator)
{
    struct known *known = &summary->known[evaluator];
    known->any_confirmed = false;
    for (uint32_t p = 0; p < known->page_count; p++) {
        if (known->pages[p])
            memset(known->pages[p]->confirmed, 0, sizeof known->pages[p]->confirmed);
    }
}

bool cleave__summary_remove_older(struct cleave__summary *summary, uint32_t evaluator,
                                  uint32_t term, uint32_t stamp)
{
    struct known *known = &summary->known[evaluator];
    if (!cleave__summary_has(summary, evaluator, term))
        return false;
    uint32_t hole = slot_of(known, term), mask = known->slot_mask;
    if (known->slots[hole].stamp >= stamp)
        return false;
    for (uint32_t at = (hole + 1) & mask; known->slots[at].term != CLEAVE__NO_TERM;
         at = (at + 1) & mask) {
        /* What may not lie before its home stays. */
        if (((at - home(known, known->slots[at].term)) & mask) >= ((at - hole) & mask)) {
            known->slots[hole] = known->slots[at];
            hole = at;
        }
    }
    known->slots[hole].term = CLEAVE__NO_TERM;
    known->count--;
    mark(known, term, false, false);
    return true;
}

uint32_t cleave__summary_count(const struct cleave__summary *summary, uint32_t evaluator)
{
    return summary->known[evaluator].count;
}

uint32_t cleave__summary_next(const struct cleave__summary *summary, uint32_t evaluator,
                              uint32_t from)
{
    const struct known *known = &summary->known[evaluator];
    for (uint32_t p = from >> PAGE_BITS; p < known->page_count; p++, from = p << PAGE_BITS) {
        if (!known->pages[p])
            continue;
        for (uint32_t w = from >> 6 & (PAGE_WORDS - 1); w < PAGE_WORDS; w++) {
            uint64_t word = known->pages[p]->present[w];
            if (w == (from >> 6 & (PAGE_WORDS - 1)))
                word &= UINT64_MAX << (from & 63);
            if (word)
                return (p << PAGE_BITS) + (w << 6) + (uint32_t)__builtin_ctzll(word);
        }
    }
    return known->any && from <= CLEAVE__ANY_TERM ? CLEAVE__ANY_TERM : CLEAVE__NO_TERM;
}

enum cleave_status cleave__summary_unite(struct cleave__summary *summary, uint32_t to,
                                         uint32_t from, uint32_t stamp, struct cleave_error *error)
{
    for (uint32_t term = cleave__summary_next(summary, from, 0); term != CLEAVE__NO_TERM;
         term = cleave__summary_next(summary, from, term + 1)) {
        enum cleave_status status = cleave__summary_add(summary, to, term, stamp, false, error);
        if (status)
            return status;
    }
    return CLEAVE_OK;
}

/* ---- what a query adds ---- */

static uint32_t frequency(const uint32_t *frequencies, uint32_t count, uint32_t term)
{
    return frequencies && term < count ? frequencies[term] : 0;
}

uint32_t cleave__summary_wants(const struct cleave__summary *summary, uint32_t evaluator,
                               const struct cleave__query *query, const uint32_t *frequencies,
                               uint32_t frequency_count, uint32_t *terms, uint32_t *cover)
{
    uint32_t count = 0;
    *cover = CLEAVE__NO_TERM;
    if (query->term_count == 0) {
        *cover = CLEAVE__ANY_TERM;
        if (!cleave__summary_confirmed(summary, evaluator, CLEAVE__ANY_TERM))
            terms[count++] = CLEAVE__ANY_TERM;
        return count;
    }
    if (query->predicate == CLEAVE__OVERLAPS) {
        for (uint32_t i = 0; i < query->term_count; i++) {
            if (!cleave__summary_confirmed(summary, evaluator, query->terms[i]))
                terms[count++] = query->terms[i];
        }
        return count;
    }
    bool there = false; /* whether the best so far is */
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < query->term_count; i++) { /* rising: a later one wins if equal */
        uint32_t term = query->terms[i], often = frequency(frequencies, frequency_count, term);
        bool known = cleave__summary_confirmed(summary, evaluator, term);
        if (known > there || (known == there && often <= best)) {
            there = known;
            best = often;
            *cover = term;
        }
    }
    if (!there)
        terms[count++] = *cover;
    return count;
}

/* ---- */

size_t cleave__summary_bytes(const struct cleave__summary *summary)
{
    size_t bytes = sizeof *summary + summary->evaluators * sizeof *summary->known;
    for (uint32_t e = 0; e < summary->evaluators; e++) {
        const struct known *known = &summary->known[e];
        bytes += known->page_count * sizeof *known->pages;
        for (uint32_t p = 0; p < known->page_count; p++)
            bytes += known->pages[p] ? sizeof *known->pages[p] : 0;
        bytes += known->slots ? ((size_t)known->slot_mask + 1) * sizeof *known->slots : 0;
    }
    return bytes;
}

static bool known_check(const struct cleave__summary *summary, uint32_t e)
{
    const struct known *known = &summary->known[e];
    uint32_t bits = known->any, slots = 0;
    if (known->any_confirmed && !known->any)
        return false;
    for (uint32_t p = 0; p < known->page_count; p++) {
        for (uint32_t w = 0; known->pages[p] && w < PAGE_WORDS; w++) {
            bits += (uint32_t)__builtin_popcountll(known->pages[p]->present[w]);
            if (known->pages[p]->confirmed[w] & ~known->pages[p]->present[w])
                return false;
        }
    }
    for (uint64_t i = 0; known->slots && i <= known->slot_mask; i++) {
        uint32_t term = known->slots[i].term;
        if (term == CLEAVE__NO_TERM)
            continue;
        slots++;
        if (!cleave__summary_has(summary, e, term) || slot_of(known, term) != i)
            return false;
    }
    return bits == known->count && slots == known->count &&
           (!known->slots || known->count < known->slot_mask);
}

bool cleave__summary_check(const struct cleave__summary *summary)
{
    for (uint32_t e = 0; e < summary->evaluators; e++) {
        if (!known_check(summary, e))
            return false;
    }
    return true;
}
