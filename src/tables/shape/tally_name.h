/* What a vertex is, in words: "table TAB predicate", the predicate as SQL has it.
 *
 *   stock	s_w_id = 3 AND s_i_id = 17
 *   orders	o_w_id = 1 AND o_d_id = 2 AND (o_id < 5 OR o_id >= 9)
 *   region	true
 *
 * Of more than 8 pieces only the lowest is named ("(o_id < 5 OR ...)"): pieces are disjoint, so
 * names of one tally are distinct all the same. Control characters in texts are written as \xNN. */
#ifndef CLEAVE_TABLES_SHAPE_TALLY_NAME_H
#define CLEAVE_TABLES_SHAPE_TALLY_NAME_H

#include "tables/shape/tally.h"

struct cleave_name {          /* starts as all zeroes; freed with CLEAVE_VECTOR_FREE(&it.text) */
    CLEAVE_VECTOR(char) text; /* NUL-terminated after _write; `count` without the NUL */
};

/* Replaces `out`; false when memory is out. After cleave__tally_finish. */
bool cleave__tally_name(const struct cleave_tally *tally, uint32_t vertex, struct cleave_name *out);

#endif
