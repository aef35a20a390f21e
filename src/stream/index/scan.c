/* Every object against every query, by the definition. O(objects x queries). */
#include <stdlib.h>
#include <string.h>

#include "stream/index/matcher.h"

struct scan_query {
    struct cleave__query query; /* id 0: a free slot */
    void *arrays;               /* its terms and filters */
};

struct scan {
    const struct cleave__space *space;
    CLEAVE_VECTOR(struct scan_query) slots;
    CLEAVE_VECTOR(uint32_t) free_slots; /* room for every slot */
    size_t array_bytes;
};

static enum cleave_status create(const struct cleave__matcher_options *options, void **self,
                                 struct cleave_error *error)
{
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    scan->space = options->space;
    *self = scan;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct scan *scan = self;
    if (!scan)
        return;
    for (size_t i = 0; i < scan->slots.count; i++)
        free(scan->slots.data[i].arrays);
    CLEAVE_VECTOR_FREE(&scan->slots);
    CLEAVE_VECTOR_FREE(&scan->free_slots);
    free(scan);
}

static enum cleave_status add(void *self, const struct cleave__query *query, uint32_t *slot,
                              struct cleave_error *error)
{
    struct scan *scan = self;
    struct scan_query copy;
    if (!CLEAVE_RESERVE(&scan->free_slots, scan->slots.count + 1) ||
        !CLEAVE_RESERVE(&scan->slots, scan->slots.count + 1) ||
        !cleave__query_copy(query, &copy.query, &copy.arrays))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query");
    *slot = scan->free_slots.count ? scan->free_slots.data[--scan->free_slots.count]
                                   : (uint32_t)scan->slots.count++;
    scan->slots.data[*slot] = copy;
    scan->array_bytes += cleave__query_arrays(query);
    return CLEAVE_OK;
}

static void remove_slot(void *self, uint32_t slot)
{
    struct scan *scan = self;
    struct scan_query *gone = &scan->slots.data[slot];
    scan->array_bytes -= cleave__query_arrays(&gone->query);
    free(gone->arrays);
    *gone = (struct scan_query){0};
    scan->free_slots.data[scan->free_slots.count++] = slot;
}

static enum cleave_status match(void *self, const struct cleave__object *objects, uint32_t count,
                                struct cleave__matches *out, uint32_t *candidates,
                                struct cleave_error *error)
{
    struct scan *scan = self;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates)
            candidates[i] = (uint32_t)(scan->slots.count - scan->free_slots.count);
        for (uint32_t slot = 0; slot < scan->slots.count; slot++) {
            const struct cleave__query *query = &scan->slots.data[slot].query;
            if (query->id && cleave__query_has(scan->space, query, &objects[i]) &&
                !CLEAVE_PUSH(&out->items, (struct cleave__match){i, slot}))
                return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
        }
    }
    return CLEAVE_OK;
}

static bool query_of(const void *self, uint32_t slot, struct cleave__query *out)
{
    const struct scan *scan = self;
    if (slot >= scan->slots.count || !scan->slots.data[slot].query.id)
        return false;
    *out = scan->slots.data[slot].query;
    return true;
}

static uint32_t slots(const void *self)
{
    return (uint32_t)((const struct scan *)self)->slots.count;
}

static size_t bytes(const void *self)
{
    const struct scan *scan = self;
    return sizeof *scan + scan->slots.capacity * sizeof *scan->slots.data +
           scan->free_slots.capacity * sizeof *scan->free_slots.data + scan->array_bytes;
}

static bool check(const void *self)
{
    const struct scan *scan = self;
    size_t empty = 0;
    for (size_t i = 0; i < scan->slots.count; i++)
        empty += !scan->slots.data[i].query.id;
    for (size_t i = 0; i < scan->free_slots.count; i++) {
        if (scan->free_slots.data[i] >= scan->slots.count ||
            scan->slots.data[scan->free_slots.data[i]].query.id)
            return false;
    }
    return empty == scan->free_slots.count;
}

const struct cleave__matcher_ops cleave__matcher_scan = {
    .name = "scan",
    .summary = "every object against every query",
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_slot,
    .match = match,
    .query = query_of,
    .slots = slots,
    .bytes = bytes,
    .check = check,
};
