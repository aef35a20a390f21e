/* What a feeder brings: objects, and changes of the set of queries, one after the other. */
#ifndef CLEAVE_STREAM_FEED_H
#define CLEAVE_STREAM_FEED_H

#include "stream/query/object.h"

enum cleave__feed_kind {
    CLEAVE__FEED_END,
    CLEAVE__FEED_OBJECT,
    CLEAVE__FEED_STORE,  /* a query begins */
    CLEAVE__FEED_REMOVE, /* and ends: the query as it was stored */
    CLEAVE__FEED_WAIT    /* nothing more until all before is acknowledged */
};

struct cleave__feed_item {
    enum cleave__feed_kind kind;
    struct cleave__object object;
    struct cleave__query query;
};

/* When something was sent and acknowledged, in steps of the feeder, which rise with each sending
 * and each acknowledgement; 0: not yet. */
struct cleave__feed_ops {
    /* The next item; arrays live in `arena` or longer. CLEAVE_OK, or an error that ends the run. */
    enum cleave_status (*next)(void *feed, struct cleave_arena *arena,
                               struct cleave__feed_item *out, struct cleave_error *error);
    /* Optional: before an answer counts, whether the feeder still may take it. Another status ends
     * the run. */
    enum cleave_status (*may_count)(void *feed, struct cleave_error *error);
    /* Optional, for checks: object `number`, or the query `id`, was sent or acknowledged. */
    void (*sent)(void *feed, enum cleave__feed_kind kind, uint64_t which, uint64_t step);
    void (*acknowledged)(void *feed, enum cleave__feed_kind kind, uint64_t which, uint64_t step);
};

#endif
