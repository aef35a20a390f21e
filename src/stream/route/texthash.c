/* Routing by keywords; see the header. */
#include "stream/route/texthash.h"

#include "base/random.h"

uint32_t cleave__texthash_term(uint32_t term, uint32_t evaluators)
{
    return (uint32_t)((cleave__mix64(term + UINT64_C(1)) >> 32) * evaluators >> 32);
}

static uint32_t evaluators_of(const uint32_t *terms, uint32_t count, uint32_t evaluators,
                              uint32_t *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < evaluators; i++) {
        uint32_t e = cleave__texthash_term(terms[i], evaluators), j = 0;
        while (j < found && out[j] != e)
            j++;
        out[j] = e;
        found += j == found;
    }
    return found;
}

uint32_t cleave__texthash_query(const struct cleave__query *query, const uint32_t *frequencies,
                                uint32_t frequency_count, uint32_t evaluators, uint32_t *out)
{
    if (query->term_count == 0) {
        for (uint32_t e = 0; e < evaluators; e++)
            out[e] = e;
        return evaluators;
    }
    if (query->predicate == CLEAVE__OVERLAPS)
        return evaluators_of(query->terms, query->term_count, evaluators, out);
    uint32_t rarest = query->terms[0], least = UINT32_MAX;
    for (uint32_t i = 0; i < query->term_count; i++) {
        uint32_t term = query->terms[i];
        uint32_t often = frequencies && term < frequency_count ? frequencies[term] : 0;
        if (often <= least) {
            least = often;
            rarest = term;
        }
    }
    out[0] = cleave__texthash_term(rarest, evaluators);
    return 1;
}

uint32_t cleave__texthash_object(const struct cleave__object *object, uint32_t evaluators,
                                 uint32_t *out)
{
    if (object->term_count)
        return evaluators_of(object->terms, object->term_count, evaluators, out);
    out[0] = 0;
    return 1;
}

bool cleave__texthash_reports(const struct cleave__query *query,
                              const struct cleave__object *object, uint32_t evaluator,
                              uint32_t evaluators)
{
    if (query->term_count == 0)
        return evaluator ==
               (object->term_count ? cleave__texthash_term(object->terms[0], evaluators) : 0);
    if (query->predicate == CLEAVE__CONTAINS)
        return true;
    uint32_t i = 0, j = 0; /* the first keyword of both says */
    while (i < query->term_count && j < object->term_count) {
        if (query->terms[i] == object->terms[j])
            return evaluator == cleave__texthash_term(query->terms[i], evaluators);
        if (query->terms[i] < object->terms[j])
            i++;
        else
            j++;
    }
    return false;
}
