/* An old placement carried over to a hypergraph that has grown. */
#ifndef CLEAVE_PLACE_CARRY_H
#define CLEAVE_PLACE_CARRY_H

#include <stdint.h>

#include "cleave/hypergraph.h"

enum { CLEAVE_NO_BLOCK = UINT32_MAX };

/* Gives every vertex whose block[] is CLEAVE_NO_BLOCK one of `blocks`: the block that its nets hold
 * most of (each net votes with its weight, divided among the blocks of its placed pins; nets past
 * 1,000 pins do not vote), vertices next to placed ones first, and so on outwards. What no net ties
 * to anything placed starts in the block that is lightest in the first weight. Ties go to the lower
 * number. O(sum over new vertices of their nets' pins), memory O(vertices + blocks). */
enum cleave_status cleave__carry_complete(const struct cleave_hypergraph *hypergraph,
                                          uint32_t blocks, uint32_t *block,
                                          struct cleave_error *error);

#endif
