/* Routing without a map, to compare with: by the hash of keywords, and not at all (broadcast).
 *
 * By keywords: a CONTAINS query goes to the evaluator of its rarest keyword, an OVERLAPS query to
 * those of all of its keywords, an object to those of all of its own; so whatever matches meets at
 * some evaluator. Without keywords a query goes to every evaluator and an object to the first.
 * Where a pair meets more than once (two keywords of an OVERLAPS query, or a query without any),
 * one evaluator alone reports it.
 *
 * Broadcast: every query to every evaluator, an object to any one: the evaluator of its number. */
#ifndef CLEAVE_STREAM_ROUTE_TEXTHASH_H
#define CLEAVE_STREAM_ROUTE_TEXTHASH_H

#include "stream/query/object.h"

/* A fixed hash of a term, below `evaluators`. */
uint32_t cleave__texthash_term(uint32_t term, uint32_t evaluators);
/* Into `out` [evaluators], each once, in order of keywords; their count. Frequencies as for
 * cleave__summary_wants. O(terms^2) */
uint32_t cleave__texthash_query(const struct cleave__query *query, const uint32_t *frequencies,
                                uint32_t frequency_count, uint32_t evaluators, uint32_t *out);
uint32_t cleave__texthash_object(const struct cleave__object *object, uint32_t evaluators,
                                 uint32_t *out);
/* Whether this evaluator, which has both, is the one that reports the matching pair. */
bool cleave__texthash_reports(const struct cleave__query *query,
                              const struct cleave__object *object, uint32_t evaluator,
                              uint32_t evaluators);

/* Evaluators take turns. */
static inline uint32_t cleave__broadcast_object(const struct cleave__object *object,
                                                uint32_t evaluators)
{
    return (uint32_t)(object->number % evaluators);
}

#endif
