/* What a router knows of each evaluator's keywords: an object none of whose terms an evaluator has
 * need not go there.
 *
 * For each (evaluator, term) that is present there are a *stamp*, the time (of whatever clock the
 * caller has) that it was last asked for, and whether it is *confirmed*: known to every router. A
 * query without terms matches by place alone; it is held as CLEAVE__ANY_TERM, which every object
 * has.
 *
 * A summary that has more than it must is right and slow; one that has less loses matches.
 *
 * Layout: for each evaluator a directory of pages of 4,096 terms, made when first needed, with a
 * bit for presence and one for confirmation, so that a test is two loads and dense terms are 2
 * bits; and a hash of term and stamp, 11 to 22 bytes a term, that only changes touch.
 *
 * Idea: Tornado's textual summaries (one keyword for CONTAINS, forwarding of new ones).
 * Thread rule: any number of readers, or one writer. */
#ifndef CLEAVE_STREAM_ROUTE_SUMMARY_H
#define CLEAVE_STREAM_ROUTE_SUMMARY_H

#include "stream/query/object.h"

#define CLEAVE__ANY_TERM (UINT32_MAX - 1)

struct cleave__summary;

/* Evaluators are 1 or more. The caller frees. */
enum cleave_status cleave__summary_new(uint32_t evaluators, struct cleave__summary **out,
                                       struct cleave_error *error);
void cleave__summary_free(struct cleave__summary *summary);

bool cleave__summary_has(const struct cleave__summary *summary, uint32_t evaluator, uint32_t term);
bool cleave__summary_confirmed(const struct cleave__summary *summary, uint32_t evaluator,
                               uint32_t term);
/* 0 for what is not present. */
uint32_t cleave__summary_stamp(const struct cleave__summary *summary, uint32_t evaluator,
                               uint32_t term);
/* Whether an object with these terms must go to the evaluator. O(count). */
bool cleave__summary_any(const struct cleave__summary *summary, uint32_t evaluator,
                         const uint32_t *terms, uint32_t count);

/* Makes it present. If it is already: the later stamp stays, with what was confirmed at that stamp.
 * A term is not CLEAVE__NO_TERM. CLEAVE_NO_MEMORY leaves everything as it was. */
enum cleave_status cleave__summary_add(struct cleave__summary *summary, uint32_t evaluator,
                                       uint32_t term, uint32_t stamp, bool confirmed,
                                       struct cleave_error *error);
/* Every router has it by now, with this stamp or a later one: confirmed, if that is its stamp. */
void cleave__summary_confirm(struct cleave__summary *summary, uint32_t evaluator, uint32_t term,
                             uint32_t stamp);
/* Of no term it is sure any more that every router has it. O(terms) */
void cleave__summary_doubt(struct cleave__summary *summary, uint32_t evaluator);
/* Removes it if it is present with an earlier stamp; whether it did. */
bool cleave__summary_remove_older(struct cleave__summary *summary, uint32_t evaluator,
                                  uint32_t term, uint32_t stamp);
/* Adds all that `from` has to `to`, not confirmed. CLEAVE_NO_MEMORY: some have been added. O(terms)
 */
enum cleave_status cleave__summary_unite(struct cleave__summary *summary, uint32_t to,
                                         uint32_t from, uint32_t stamp, struct cleave_error *error);
void cleave__summary_clear(struct cleave__summary *summary, uint32_t evaluator);

/* Terms present, CLEAVE__ANY_TERM included. */
uint32_t cleave__summary_count(const struct cleave__summary *summary, uint32_t evaluator);
/* The least term present that is `from` or more, or CLEAVE__NO_TERM. For all of them, rising:
 *   for (t = next(s, e, 0); t != CLEAVE__NO_TERM; t = next(s, e, t + 1)) */
uint32_t cleave__summary_next(const struct cleave__summary *summary, uint32_t evaluator,
                              uint32_t from);

/* What a query adds to a summary so that no object that it matches is held back: the terms (at most
 * query->term_count, or 1) that are not present and confirmed, into `terms`; their count.
 *   OVERLAPS  all keywords must be there.
 *   CONTAINS  one must: *cover is the rarest that is there and confirmed, or else the rarest.
 *   no terms  CLEAVE__ANY_TERM must.
 * *cover is the term that stands for the query, CLEAVE__NO_TERM for OVERLAPS with terms. Rare is
 * what has the least frequencies[term] (of objects; terms from `frequency_count` on have 0; the
 * array may be NULL), the greater number if equal. */
uint32_t cleave__summary_wants(const struct cleave__summary *summary, uint32_t evaluator,
                               const struct cleave__query *query, const uint32_t *frequencies,
                               uint32_t frequency_count, uint32_t *terms, uint32_t *cover);

size_t cleave__summary_bytes(const struct cleave__summary *summary);
/* Every invariant. O(everything). */
bool cleave__summary_check(const struct cleave__summary *summary);

#endif
