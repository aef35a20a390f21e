/* Which transactions may run now, so that those that conflict run in the trace's order.
 *
 * A trace's statements have constants that depend on what went before, and their answers are to be
 * compared; so two transactions whose boxes overlap, one of them writing, run one after the other
 * as the trace has them, and all others side by side (as Calvin's scheduler does: Thomson and
 * others, SIGMOD 2012). Every transaction waits only for earlier ones: no deadlock.
 *
 * A transaction enters in the trace's order, is handed out once all earlier ones that it conflicts
 * with have left, and leaves. At most `window` are inside. Boxes with one value of their table's
 * first key column lie in buckets by it, all others in a list of their table. Entering costs the
 * boxes it is compared with. Not thread safe. */
#ifndef CLEAVE_TABLES_REPLAY_ORDER_H
#define CLEAVE_TABLES_REPLAY_ORDER_H

#include "tables/source/schema.h"
#include "tables/sql/access.h"

struct cleave__order;

enum { CLEAVE__ORDER_NONE = UINT32_MAX };

/* NULL: memory is out. `schema` is borrowed. */
struct cleave__order *cleave__order_new(const struct cleave_schema *schema, uint32_t window);
void cleave__order_free(struct cleave__order *order);
uint32_t cleave__order_inside(const struct cleave__order *order);
bool cleave__order_full(const struct cleave__order *order);
/* Its place, in `*slot`; `accesses` stay valid until it leaves. Not when full. False: memory is
 * out, nothing entered. */
bool cleave__order_enter(struct cleave__order *order, const struct cleave_access *accesses,
                         uint32_t access_count, uint32_t *slot);
/* The earliest that may run and was not handed out; CLEAVE__ORDER_NONE: none may. O(window). */
uint32_t cleave__order_take(struct cleave__order *order);
void cleave__order_leave(struct cleave__order *order, uint32_t slot);
/* Whether what is inside waits exactly for what it must. O(window^2 boxes^2). */
bool cleave__order_check(const struct cleave__order *order);

bool cleave__boxes_overlap(const struct cleave_box *a, const struct cleave_box *b);

#endif
