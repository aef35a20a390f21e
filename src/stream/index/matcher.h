/* What holds an evaluator's standing queries and matches objects against them: a table of
 * operations, one implementation a file.
 *
 *   scan    every object against every query: what nothing may disagree with
 *   cells   inverted lists in the cells of a grid: Tornado's evaluator
 *   index   the spatio-textual index: rarest keyword, signatures, prefilter, pyramid
 *
 * A query lies in a *slot*, a small number that is its own until it is removed and may then be
 * another's. Queries are copied. Thread rule: one thread at a time. */
#ifndef CLEAVE_STREAM_MATCHER_H
#define CLEAVE_STREAM_MATCHER_H

#include "base/vector.h"
#include "stream/query/object.h"

/* Batch `object` is had by the query in `slot`. */
struct cleave__match {
    uint32_t object, slot;
};
struct cleave__matches {
    CLEAVE_VECTOR(struct cleave__match) items;
};

struct cleave__matcher_options {
    const struct cleave__space *space; /* borrowed until freed */
};

struct cleave__matcher_ops {
    const char *name, *summary;
    enum cleave_status (*create)(const struct cleave__matcher_options *options, void **self,
                                 struct cleave_error *error);
    void (*destroy)(void *self);
    /* CLEAVE_NO_MEMORY leaves everything as it was. */
    enum cleave_status (*add)(void *self, const struct cleave__query *query, uint32_t *slot,
                              struct cleave_error *error);
    void (*remove)(void *self, uint32_t slot);
    /* Appends every match of objects[0 .. count), by object, each once; those of one object in no
     * particular order. `candidates` (may be NULL) [count]: how many queries were looked at for
     * each object, the measure of its cost. Ended queries do not match and stay until removed. */
    enum cleave_status (*match)(void *self, const struct cleave__object *objects, uint32_t count,
                                struct cleave__matches *out, uint32_t *candidates,
                                struct cleave_error *error);
    /* The query in a slot; false: none there. Its arrays are valid until the next add or remove. */
    bool (*query)(const void *self, uint32_t slot, struct cleave__query *out);
    uint32_t (*slots)(const void *self); /* all slots are below this */
    size_t (*bytes)(const void *self);   /* of memory that it holds */
    bool (*check)(const void *self);     /* every invariant */
    /* Optional: objects as they may come, to learn which terms are frequent. */
    void (*learn)(void *self, const struct cleave__object *objects, uint32_t count);
};

extern const struct cleave__matcher_ops cleave__matcher_scan, cleave__matcher_cells,
    cleave__matcher_index;

#endif
