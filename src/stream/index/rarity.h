/* Which of a query's terms is the rarest: the one that objects have least often, of those seen so
 * far (one object in CLEAVE__LEARN_EVERY is counted, and all that `learn` is given). Among equals,
 * and before any object came, the one that queries have least often, then the larger number: a
 * dictionary gives numbers in order of appearance, so larger ones are rarer.
 *
 * Counts fade: they follow a stream whose words change.
 *
 * Counts guide and never decide an answer: where memory for them is out, or a term's number is
 * past CLEAVE__RARITY_TERMS_MOST, the count is 0. */
#ifndef CLEAVE_STREAM_RARITY_H
#define CLEAVE_STREAM_RARITY_H

#include "stream/query/object.h"

enum { CLEAVE__LEARN_EVERY = 16, CLEAVE__RARITY_TERMS_MOST = 1 << 22 };

struct cleave__term_counts {
    uint16_t objects, queries; /* all are halved when one is at its most */
};

struct cleave__rarity {
    struct cleave__term_counts *counts;
    uint32_t capacity;
};

void cleave__rarity_free(struct cleave__rarity *rarity);
void cleave__rarity_see(struct cleave__rarity *rarity, const struct cleave__object *object);
/* The query's terms count, too. Yields its two rarest; CLEAVE__NO_TERM where it has none. */
void cleave__rarity_pick(struct cleave__rarity *rarity, const struct cleave__query *query,
                         uint32_t *first, uint32_t *second);

#endif
