/* What choosing copies and recounting them both ask of a request. */
#ifndef CLEAVE_PLACE_REPLICATE_CHECK_H
#define CLEAVE_PLACE_REPLICATE_CHECK_H

#include "cleave/replicate.h"

/* CLEAVE_BAD_ARGUMENT or CLEAVE_LIMIT, budgets apart; `block` may be NULL. O(vertices). */
enum cleave_status cleave__replicate_check(const struct cleave_hypergraph *hypergraph,
                                           const struct cleave_replicate_options *options,
                                           const uint32_t *block, struct cleave_error *error);
enum cleave_status cleave__replicate_check_budgets(const struct cleave_hypergraph *hypergraph,
                                                   const struct cleave_replicate_options *options,
                                                   struct cleave_error *error);

#endif
