/* Sets of values of one column, and unions of boxes over several: the algebra that predicates are
 * evaluated in. All results live in the binding's arena and may share parts with their inputs.
 *
 * Everything here errs on the side of more: past CLEAVE_BOXES_MAX boxes, or past a bound of work, a
 * set is replaced by a larger, simpler one. */
#ifndef CLEAVE_TABLES_SQL_BOXES_H
#define CLEAVE_TABLES_SQL_BOXES_H

#include "tables/sql/access.h"
#include "tables/sql/expression.h"

enum { CLEAVE_BOXES_MAX = 64 };

/* Values of one column; `full` is any value at all, NULL included. */
struct cleave_domain {
    bool full;
    uint32_t count; /* sorted, disjoint; 0: no value */
    struct cleave_range *ranges;
};

struct cleave_boxes {
    uint32_t count; /* 0: nothing. A box without terms: everything. */
    struct cleave_box *boxes;
};

/* Sorts and joins what overlaps; drops empty ranges. In place. */
void cleave__ranges_normalize(struct cleave_range *ranges, uint32_t *count);

/* a AND b, a OR b. `out` may alias. */
void cleave__boxes_intersect(struct cleave_binding *binding, const struct cleave_boxes *a,
                             const struct cleave_boxes *b, struct cleave_boxes *out);
/* Reduces any number of boxes (the union of all parts of an OR) to at most CLEAVE_BOXES_MAX. */
void cleave__boxes_reduce(struct cleave_binding *binding, struct cleave_boxes *boxes);
/* Narrows a box by one more column; false when nothing is left. `terms` has room for one more. */
bool cleave__terms_add(struct cleave_binding *binding, struct cleave_term *terms, uint32_t *count,
                       uint32_t column, const struct cleave_domain *domain);

#endif
