/* Every invariant of the index, the slow way: each live record's postings are looked for under the
 * keys that the record says it has, and there are no others. O(postings x length of lists). */
#include <string.h>

#include "stream/index/index.h"

/* Whether a posting of `slot` is in the chain or list of a key. */
static bool is_under(const struct cleave__index *index, const struct cleave__key *key,
                     uint32_t slot, const struct cleave__part *part)
{
    struct cleave__item item;
    uint32_t list = cleave__index_find_list(index, key);
    if (list != CLEAVE__NO_LIST && cleave__list_find(cleave__index_list(index, list), slot, &item))
        return memcmp(item.box, part->box, sizeof item.box) == 0;
    uint32_t hash = cleave__index_hash(index, key);
    uint32_t pair = key->second == CLEAVE__NO_TERM ? 0 : CLEAVE__HEAD_PAIR;
    uint32_t bucket = cleave__table_bucket(&index->table, hash);
    for (const struct cleave__line *line = cleave__table_line(&index->table, bucket); line;
         line = cleave__table_next(&index->table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            const struct cleave__posting *p = &line->postings[i];
            uint32_t head = cleave__table_head(hash, pair | CLEAVE__KIND_POSTING);
            if (((p->head ^ head) & (CLEAVE__HEAD_KEY | CLEAVE__KIND_MASK)) == 0 &&
                p->slot == slot && memcmp(p->box, part->box, sizeof p->box) == 0)
                return true;
        }
    }
    return false;
}

static bool record_check(const struct cleave__index *index, uint32_t slot, uint64_t *postings,
                         uint64_t *paired)
{
    struct cleave__query query;
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    const struct cleave__record *record = cleave__index_record(index, slot);
    uint32_t level = cleave__record_level(record);
    cleave__record_query(record, &query);
    uint32_t count = cleave__pyramid_parts(&index->pyramid, &query.region, level, parts);
    if (level > cleave__pyramid_level(&index->pyramid, &query.region, query.term_count > 0))
        return false;
    uint32_t first = cleave__record_first(record), term_count = 1;
    const uint32_t *terms = &first;
    if (query.predicate == CLEAVE__OVERLAPS && query.term_count) {
        terms = query.terms;
        term_count = query.term_count;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t t = 0; t < term_count; t++) {
            struct cleave__key key = {level, parts[i].column, parts[i].row, terms[t],
                                      CLEAVE__NO_TERM};
            ++*postings;
            if (is_under(index, &key, slot, &parts[i]))
                continue;
            key.second = cleave__record_second(record);
            if (query.predicate != CLEAVE__CONTAINS || key.second == CLEAVE__NO_TERM ||
                !is_under(index, &key, slot, &parts[i]))
                return false;
            struct cleave__key single = key;
            single.second = CLEAVE__NO_TERM;
            const struct cleave__posting *marker = cleave__table_pairs(
                (struct cleave__table *)&index->table, cleave__index_hash(index, &single));
            if (!marker || !(cleave__pairs_bits(marker) & cleave__term_bit(key.second)))
                return false;
            ++*paired;
        }
    }
    return true;
}

/* Postings that PAIRS postings say lie under pairs, and how many of these there are. */
static void count_pairs(const struct cleave__index *index, uint64_t *paired, uint64_t *markers)
{
    for (uint32_t i = 0; i < index->table.buckets; i++) {
        for (const struct cleave__line *line = cleave__table_line(&index->table, i); line;
             line = cleave__table_next(&index->table, line)) {
            for (int k = 0; k < CLEAVE__LINE_POSTINGS; k++) {
                const struct cleave__posting *p = &line->postings[k];
                if ((p->head & CLEAVE__KIND_MASK) != CLEAVE__KIND_PAIRS)
                    continue;
                *paired += p->slot;
                ++*markers;
            }
        }
    }
}

static bool lists_check(const struct cleave__index *index, uint64_t *postings, uint64_t *live)
{
    uint32_t free_lists = 0, dead = 0;
    for (uint32_t i = 0; i < index->list_count; i++) {
        const struct cleave__list *list = cleave__index_list(index, i);
        if (!list->live) {
            dead++;
            continue;
        }
        struct cleave__key key = {list->level, list->column, list->row, list->term, list->second};
        if (!cleave__list_check(list) || list->count == 0 ||
            cleave__index_find_list(index, &key) != i)
            return false;
        *postings += list->count;
        ++*live;
    }
    for (uint32_t i = index->free_list; i != CLEAVE__NO_LIST && free_lists <= dead; free_lists++) {
        if (i >= index->list_count || cleave__index_list(index, i)->live)
            return false;
        i = cleave__index_list(index, i)->next;
    }
    return free_lists == dead;
}

bool cleave__index_check(const void *self)
{
    const struct cleave__index *index = self;
    uint64_t due = 0, paired = 0, in_lists = 0, counted_pairs = 0, lists = 0, markers = 0;
    struct cleave__levels levels[2] = {0};
    uint32_t live = 0;
    if (!cleave__table_check(&index->table) || !lists_check(index, &in_lists, &lists))
        return false;
    count_pairs(index, &counted_pairs, &markers);
    for (uint32_t i = 0; i < index->slot_count; i++) {
        const struct cleave__record *record = cleave__index_record(index, i);
        if (!record->head)
            continue;
        live++;
        if (!record_check(index, i, &due, &paired))
            return false;
        cleave__levels_count(index, levels, record, 1);
    }
    uint32_t free_slots = 0;
    for (uint32_t i = index->free_slot; i != UINT32_MAX && free_slots <= index->slot_count;
         free_slots++) {
        if (i >= index->slot_count || cleave__index_record(index, i)->head)
            return false;
        i = cleave__index_record(index, i)->of.next;
    }
    if (memcmp(levels, index->levels, sizeof levels) != 0)
        return false;
    return live == index->live && live + free_slots == index->slot_count &&
           in_lists == index->list_postings && paired == counted_pairs &&
           due == in_lists + index->table.postings - lists - markers;
}
