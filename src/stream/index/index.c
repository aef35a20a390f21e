/* The spatio-textual index behind the table of operations; what it is made of: index.h. */
#include "stream/index/index.h"

#include <assert.h>
#include <stdlib.h>

#define NO_SLOT UINT32_MAX

static void destroy(void *self)
{
    struct cleave__index *index = self;
    if (!index)
        return;
    for (uint32_t i = 0; i < index->slot_count; i++)
        cleave__record_clear(cleave__index_record(index, i));
    for (uint32_t i = 0; i < index->list_count; i++)
        cleave__list_clear(cleave__index_list(index, i));
    cleave__pages_free(&index->records);
    cleave__pages_free(&index->ends);
    cleave__pages_free(&index->lists);
    cleave__table_free(&index->table);
    cleave__rarity_free(&index->rarity);
    free(index);
}

enum cleave_status cleave__index_create(const struct cleave__matcher_options *options,
                                        uint32_t hash_mask, void **self, struct cleave_error *error)
{
    struct cleave__index *index = calloc(1, sizeof *index);
    if (!index || !cleave__table_init(&index->table)) {
        if (index)
            cleave__table_free(&index->table);
        free(index);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an index of queries");
    }
    index->pyramid = cleave__pyramid_make(options->space);
    index->records = cleave__pages_make(sizeof(struct cleave__record));
    index->ends = cleave__pages_make(sizeof(uint64_t));
    index->lists = cleave__pages_make(sizeof(struct cleave__list));
    index->free_slot = NO_SLOT;
    index->free_list = CLEAVE__NO_LIST;
    index->hash_mask = hash_mask;
#if defined(__x86_64__)
    index->has_avx2 = __builtin_cpu_supports("avx2");
#endif
    *self = index;
    return CLEAVE_OK;
}

static enum cleave_status create(const struct cleave__matcher_options *options, void **self,
                                 struct cleave_error *error)
{
    return cleave__index_create(options, UINT32_MAX, self, error);
}

void cleave__levels_count(const struct cleave__index *index, struct cleave__levels levels[2],
                          const struct cleave__record *record, uint32_t by)
{
    struct cleave__query query;
    cleave__record_query(record, &query);
    struct cleave__levels *its = &levels[query.term_count > 0];
    uint32_t used = cleave__record_level(record);
    its->suited[cleave__pyramid_level(&index->pyramid, &query.region, query.term_count > 0)] += by;
    its->used[used] += by;
    its->mask = its->used[used] ? its->mask | 1u << used : its->mask & ~(1u << used);
}

/* The level for a query: that which suits it, or, if few are like it, a coarser one that many are
 * on: every level in use costs every object a look for each of its terms. A cell k levels up is 4^k
 * as large: few are those that make its lists no more than a quarter longer. */
static uint32_t choose_level(const struct cleave__index *index, const struct cleave__query *query)
{
    enum { HIGHEST = 3 };
    const struct cleave__levels *its = &index->levels[query->term_count > 0];
    uint32_t suits = cleave__pyramid_level(&index->pyramid, &query->region, query->term_count > 0);
    for (uint32_t k = 1; k <= HIGHEST && k <= suits; k++) {
        if (((uint64_t)its->suited[suits] + 1) << (2 * k + 2) < its->used[suits - k])
            return suits - k;
    }
    return suits;
}

static size_t more_bytes(const struct cleave__record *record)
{
    if (!(record->head & CLEAVE__RECORD_MORE))
        return 0;
    const struct cleave__more *more = cleave__record_more(record);
    return cleave__more_bytes(more->term_count, more->filter_count);
}

static void free_slot(struct cleave__index *index, uint32_t slot)
{
    struct cleave__record *record = cleave__index_record(index, slot);
    index->more_bytes -= more_bytes(record);
    cleave__record_clear(record);
    record->of.next = index->free_slot;
    index->free_slot = slot;
}

static enum cleave_status add(void *self, const struct cleave__query *query, uint32_t *slot,
                              struct cleave_error *error)
{
    struct cleave__index *index = self;
    bool fresh = index->free_slot == NO_SLOT;
    if (fresh && index->slot_count > CLEAVE__SLOT_MASK)
        return cleave_error_set(error, CLEAVE_LIMIT, "an index holds at most %u queries",
                                CLEAVE__SLOT_MASK + 1);
    uint32_t at = fresh ? index->slot_count : index->free_slot;
    if (!cleave__pages_reserve(&index->records, (uint64_t)at + 1) ||
        (query->end_ms != CLEAVE__NEVER && !cleave__pages_reserve(&index->ends, (uint64_t)at + 1)))
        goto no_memory;

    uint32_t level = choose_level(index, query), first, second;
    cleave__rarity_pick(&index->rarity, query, &first, &second);
    cleave__index_foresee(index, query, level, first);
    struct cleave__record *record = cleave__index_record(index, at);
    uint32_t next = record->of.next;
    if (!cleave__record_fill(record, query, level, first, second))
        goto no_memory;
    index->more_bytes += more_bytes(record);
    if (fresh)
        index->slot_count++;
    else
        index->free_slot = next;
    if (query->end_ms != CLEAVE__NEVER)
        *(uint64_t *)cleave__pages_at(&index->ends, at) = query->end_ms;
    cleave__levels_count(index, index->levels, record, 1);
    if (!cleave__index_post(index, at)) {
        cleave__levels_count(index, index->levels, record, UINT32_MAX);
        free_slot(index, at);
        goto no_memory;
    }
    index->live++;
    *slot = at;
    return CLEAVE_OK;
no_memory:
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a query");
}

static void remove_slot(void *self, uint32_t slot)
{
    struct cleave__index *index = self;
    struct cleave__record *record = cleave__index_record(index, slot);
    assert(slot < index->slot_count && record->head & CLEAVE__RECORD_LIVE);
    cleave__index_unpost(index, slot);
    cleave__levels_count(index, index->levels, record, UINT32_MAX);
    free_slot(index, slot);
    if (--index->live == 0) { /* the memory of slots can go, too */
        index->slot_count = 0;
        index->free_slot = NO_SLOT;
        cleave__pages_trim(&index->records, 0);
        cleave__pages_trim(&index->ends, 0);
    }
}

static bool query_of(const void *self, uint32_t slot, struct cleave__query *out)
{
    const struct cleave__index *index = self;
    if (slot >= index->slot_count || !cleave__index_record(index, slot)->head)
        return false;
    cleave__record_query(cleave__index_record(index, slot), out);
    if (cleave__index_record(index, slot)->head & CLEAVE__RECORD_ENDS)
        out->end_ms = cleave__index_end_ms(index, slot);
    return true;
}

static uint32_t slots(const void *self)
{
    return ((const struct cleave__index *)self)->slot_count;
}

static size_t bytes(const void *self)
{
    const struct cleave__index *index = self;
    size_t sum = sizeof *index + index->more_bytes + cleave__table_bytes(&index->table) +
                 cleave__pages_bytes(&index->records) + cleave__pages_bytes(&index->ends) +
                 cleave__pages_bytes(&index->lists) +
                 index->rarity.capacity * sizeof *index->rarity.counts;
    for (uint32_t i = 0; i < index->list_count; i++)
        sum += cleave__list_bytes(cleave__index_list(index, i));
    return sum;
}

static void learn(void *self, const struct cleave__object *objects, uint32_t count)
{
    struct cleave__index *index = self;
    for (uint32_t i = 0; i < count; i++)
        cleave__rarity_see(&index->rarity, &objects[i]);
}

const struct cleave__matcher_ops cleave__matcher_index = {
    .name = "index",
    .summary = "postings by cell, level and rarest keyword, with signatures and a filter",
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_slot,
    .match = cleave__index_match,
    .query = query_of,
    .slots = slots,
    .bytes = bytes,
    .check = cleave__index_check,
    .learn = learn,
};
