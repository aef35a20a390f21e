/* Inverted lists in the cells of one uniform grid: Tornado's evaluator, as the benchmark's peer.
 *
 * A query lies in every cell that its boxes meet: CONTAINS in the list of its rarest term there,
 * OVERLAPS in the lists of all its terms, one without terms in a list of its own. An object reads
 * the lists of its terms in its cell and tests each query by the definition; a query that was
 * tested for it already is not again (a stamp). The grid is the paper's default, 64 x 64. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/grid.h"
#include "stream/index/matcher.h"
#include "stream/index/rarity.h"
#include "stream/index/record.h"

enum { SIDE = 64 };
#define NONE UINT32_MAX

struct cell_query {
    struct cleave__query query; /* id 0: a free slot */
    void *arrays;
    uint32_t posted; /* the term of a CONTAINS query */
    uint64_t stamp;  /* of the object that it was last tested for */
};

/* A list of slots; lists whose key has the same hash are chained. */
struct cell_list {
    uint64_t key; /* cell << 32 | term */
    CLEAVE_VECTOR(uint32_t) slots;
    uint32_t next;
};

struct cells {
    const struct cleave__space *space;
    struct cleave__grid grid;
    CLEAVE_VECTOR(struct cell_query) queries;
    CLEAVE_VECTOR(uint32_t) free_slots; /* room for every slot */
    CLEAVE_VECTOR(struct cell_list) lists;
    uint32_t *heads;   /* of chains */
    size_t head_count; /* a power of two, or 0 */
    struct cleave__rarity rarity;
    uint64_t stamp;
    size_t array_bytes, slot_bytes;
};

static enum cleave_status create(const struct cleave__matcher_options *options, void **self,
                                 struct cleave_error *error)
{
    struct cells *cells = calloc(1, sizeof *cells);
    if (!cells)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for cells of queries");
    const struct cleave__box *b = &options->space->bounds;
    cells->space = options->space;
    cells->grid = cleave__grid_make(b->x0, b->y0, b->x1, b->y1, SIDE, SIDE);
    *self = cells;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    struct cells *cells = self;
    if (!cells)
        return;
    for (size_t i = 0; i < cells->queries.count; i++)
        free(cells->queries.data[i].arrays);
    for (size_t i = 0; i < cells->lists.count; i++)
        CLEAVE_VECTOR_FREE(&cells->lists.data[i].slots);
    CLEAVE_VECTOR_FREE(&cells->queries);
    CLEAVE_VECTOR_FREE(&cells->free_slots);
    CLEAVE_VECTOR_FREE(&cells->lists);
    free(cells->heads);
    cleave__rarity_free(&cells->rarity);
    free(cells);
}

static struct cell_list *find(const struct cells *cells, uint64_t key)
{
    if (cells->head_count == 0)
        return NULL;
    uint32_t at = cells->heads[cleave__mix64(key) & (cells->head_count - 1)];
    while (at != NONE && cells->lists.data[at].key != key)
        at = cells->lists.data[at].next;
    return at == NONE ? NULL : &cells->lists.data[at];
}

static bool grow_heads(struct cells *cells)
{
    size_t count = cells->head_count ? cells->head_count * 2 : 1024;
    uint32_t *heads = malloc(count * sizeof *heads);
    if (!heads)
        return false;
    memset(heads, 0xff, count * sizeof *heads);
    for (size_t i = 0; i < cells->lists.count; i++) {
        uint32_t *head = &heads[cleave__mix64(cells->lists.data[i].key) & (count - 1)];
        cells->lists.data[i].next = *head;
        *head = (uint32_t)i;
    }
    free(cells->heads);
    cells->heads = heads;
    cells->head_count = count;
    return true;
}

static struct cell_list *find_or_make(struct cells *cells, uint64_t key)
{
    struct cell_list *list = find(cells, key);
    if (list)
        return list;
    if ((cells->lists.count >= cells->head_count && !grow_heads(cells)) ||
        !CLEAVE_PUSH(&cells->lists, (struct cell_list){.key = key}))
        return NULL;
    uint32_t *head = &cells->heads[cleave__mix64(key) & (cells->head_count - 1)];
    list = &cells->lists.data[cells->lists.count - 1];
    list->next = *head;
    *head = (uint32_t)(cells->lists.count - 1);
    return list;
}

static bool put(struct cells *cells, uint64_t key, uint32_t slot)
{
    struct cell_list *list = find_or_make(cells, key);
    if (!list)
        return false;
    size_t before = list->slots.capacity;
    if (!CLEAVE_PUSH(&list->slots, slot))
        return false;
    cells->slot_bytes += (list->slots.capacity - before) * sizeof slot;
    return true;
}

static void take(struct cells *cells, uint64_t key, uint32_t slot)
{
    struct cell_list *list = find(cells, key);
    size_t i = 0;
    while (list->slots.data[i] != slot)
        i++;
    list->slots.data[i] = list->slots.data[--list->slots.count];
}

/* Puts the query's slot into its first `limit` lists, or takes it from them; how many were done. */
static uint64_t every(struct cells *cells, uint32_t slot, bool putting, uint64_t limit)
{
    const struct cell_query *q = &cells->queries.data[slot];
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    struct cleave__cells covers[CLEAVE__REGION_BOXES_MOST];
    uint32_t box_count = cleave__region_boxes(cells->space, &q->query.region, boxes);
    bool each = q->query.predicate == CLEAVE__OVERLAPS && q->query.term_count;
    uint32_t term_count = each ? q->query.term_count : 1;
    uint64_t done = 0;
    for (uint32_t b = 0; b < box_count; b++) {
        covers[b] =
            cleave__grid_cells(&cells->grid, boxes[b].x0, boxes[b].y0, boxes[b].x1, boxes[b].y1);
        for (uint32_t y = covers[b].y0; y <= covers[b].y1; y++) {
            for (uint32_t x = covers[b].x0; x <= covers[b].x1; x++) {
                bool before = false;
                for (uint32_t k = 0; k < b; k++)
                    before |= cleave__cells_have(covers[k], x, y);
                uint64_t cell = (uint64_t)(y * SIDE + x) << 32;
                for (uint32_t t = 0; t < term_count && !before; t++, done++) {
                    uint64_t key = cell | (each ? q->query.terms[t] : q->posted);
                    if (done == limit || (putting && !put(cells, key, slot)))
                        return done;
                    if (!putting)
                        take(cells, key, slot);
                }
            }
        }
    }
    return limit == UINT64_MAX ? UINT64_MAX : done;
}

static void free_query(struct cells *cells, uint32_t slot)
{
    struct cell_query *gone = &cells->queries.data[slot];
    cells->array_bytes -= cleave__query_arrays(&gone->query);
    free(gone->arrays);
    *gone = (struct cell_query){0};
    cells->free_slots.data[cells->free_slots.count++] = slot;
}

static enum cleave_status add(void *self, const struct cleave__query *query, uint32_t *slot,
                              struct cleave_error *error)
{
    struct cells *cells = self;
    struct cell_query made = {0};
    uint32_t second;
    if (!CLEAVE_RESERVE(&cells->free_slots, cells->queries.count + 1) ||
        !CLEAVE_RESERVE(&cells->queries, cells->queries.count + 1) ||
        !cleave__query_copy(query, &made.query, &made.arrays))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query");
    cleave__rarity_pick(&cells->rarity, query, &made.posted, &second);
    uint32_t at = cells->free_slots.count ? cells->free_slots.data[--cells->free_slots.count]
                                          : (uint32_t)cells->queries.count++;
    cells->queries.data[at] = made;
    cells->array_bytes += cleave__query_arrays(query);
    uint64_t done = every(cells, at, true, UINT64_MAX);
    if (done != UINT64_MAX) {
        every(cells, at, false, done);
        free_query(cells, at);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query's lists");
    }
    *slot = at;
    return CLEAVE_OK;
}

static void remove_slot(void *self, uint32_t slot)
{
    struct cells *cells = self;
    every(cells, slot, false, UINT64_MAX);
    free_query(cells, slot);
}

static bool match_list(struct cells *cells, const struct cell_list *list,
                       const struct cleave__object *object, uint32_t i, struct cleave__matches *out,
                       uint32_t *tested)
{
    for (size_t k = 0; list && k < list->slots.count; k++) {
        struct cell_query *q = &cells->queries.data[list->slots.data[k]];
        if (q->stamp == cells->stamp)
            continue;
        q->stamp = cells->stamp;
        ++*tested;
        if (cleave__query_has(cells->space, &q->query, object) &&
            !CLEAVE_PUSH(&out->items, (struct cleave__match){i, list->slots.data[k]}))
            return false;
    }
    return true;
}

static enum cleave_status match(void *self, const struct cleave__object *objects, uint32_t count,
                                struct cleave__matches *out, uint32_t *candidates,
                                struct cleave_error *error)
{
    struct cells *cells = self;
    size_t before = out->items.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct cleave__object *object = &objects[i];
        uint64_t cell = (uint64_t)cleave__grid_cell(&cells->grid, object->x, object->y) << 32;
        uint32_t tested = 0;
        cells->stamp++;
        if (cells->stamp % CLEAVE__LEARN_EVERY == 1)
            cleave__rarity_see(&cells->rarity, object);
        bool room = match_list(cells, find(cells, cell | CLEAVE__NO_TERM), object, i, out, &tested);
        for (uint32_t t = 0; t < object->term_count && room; t++)
            room = match_list(cells, find(cells, cell | object->terms[t]), object, i, out, &tested);
        if (!room) {
            out->items.count = before;
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
        }
        if (candidates)
            candidates[i] = tested;
    }
    return CLEAVE_OK;
}

static bool query_of(const void *self, uint32_t slot, struct cleave__query *out)
{
    const struct cells *cells = self;
    if (slot >= cells->queries.count || !cells->queries.data[slot].query.id)
        return false;
    *out = cells->queries.data[slot].query;
    return true;
}

static uint32_t slots(const void *self)
{
    return (uint32_t)((const struct cells *)self)->queries.count;
}

static size_t bytes(const void *self)
{
    const struct cells *cells = self;
    return sizeof *cells + cells->queries.capacity * sizeof *cells->queries.data +
           cells->free_slots.capacity * sizeof *cells->free_slots.data +
           cells->lists.capacity * sizeof *cells->lists.data +
           cells->head_count * sizeof *cells->heads + cells->array_bytes + cells->slot_bytes +
           cells->rarity.capacity * sizeof *cells->rarity.counts;
}

static bool check(const void *self)
{
    const struct cells *cells = self;
    size_t empty = 0;
    for (size_t i = 0; i < cells->queries.count; i++)
        empty += !cells->queries.data[i].query.id;
    for (size_t i = 0; i < cells->lists.count; i++) {
        const struct cell_list *list = &cells->lists.data[i];
        if (find(cells, list->key) != list)
            return false;
        for (size_t k = 0; k < list->slots.count; k++) {
            if (list->slots.data[k] >= cells->queries.count ||
                !cells->queries.data[list->slots.data[k]].query.id)
                return false;
        }
    }
    return empty == cells->free_slots.count;
}

static void learn(void *self, const struct cleave__object *objects, uint32_t count)
{
    struct cells *cells = self;
    for (uint32_t i = 0; i < count; i++)
        cleave__rarity_see(&cells->rarity, &objects[i]);
}

const struct cleave__matcher_ops cleave__matcher_cells = {
    .name = "cells",
    .summary = "inverted lists in the cells of a 64 x 64 grid",
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_slot,
    .match = match,
    .query = query_of,
    .slots = slots,
    .bytes = bytes,
    .check = check,
    .learn = learn,
};
