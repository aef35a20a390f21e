/* Postings come and go: which keys a query has, and where the posting of a key lies; see index.h.
 */
#include <assert.h>
#include <string.h>

#include "stream/index/index.h"

uint32_t cleave__index_hash(const struct cleave__index *index, const struct cleave__key *key)
{
    uint32_t hash =
        cleave__key_hash(cleave__cell_hash(key->level, key->column, key->row), key->term);
    hash &= index->hash_mask;
    return key->second == CLEAVE__NO_TERM ? hash
                                          : cleave__key_hash(hash, key->second) & index->hash_mask;
}

static bool has_key(const struct cleave__list *list, const struct cleave__key *key)
{
    return list->term == key->term && list->second == key->second && list->column == key->column &&
           list->row == key->row && list->level == key->level;
}

static uint32_t pair_flag(const struct cleave__key *key)
{
    return key->second == CLEAVE__NO_TERM ? 0 : CLEAVE__HEAD_PAIR;
}

uint32_t cleave__index_find_list(const struct cleave__index *index, const struct cleave__key *key)
{
    uint32_t hash = cleave__index_hash(index, key);
    uint32_t head = cleave__table_head(hash, pair_flag(key) | CLEAVE__KIND_LIST);
    uint32_t bucket = cleave__table_bucket(&index->table, hash);
    for (const struct cleave__line *line = cleave__table_line(&index->table, bucket); line;
         line = cleave__table_next(&index->table, line)) {
        for (int i = 0; i < CLEAVE__LINE_POSTINGS; i++) {
            const struct cleave__posting *p = &line->postings[i];
            if ((p->head ^ head) & (CLEAVE__HEAD_KEY | CLEAVE__KIND_MASK))
                continue;
            if (has_key(cleave__index_list(index, p->slot), key))
                return p->slot;
        }
    }
    return CLEAVE__NO_LIST;
}

/* A posting of a record under a key, wherever it will lie. */
struct post {
    uint32_t slot, signature;
    uint8_t box[4];
    bool overlaps, exact;
};

static struct cleave__item item_of(const struct post *post)
{
    struct cleave__item item = {.signature = post->signature,
                                .slot = post->slot | (post->overlaps ? CLEAVE__SLOT_OVERLAPS : 0) |
                                        (post->exact ? CLEAVE__SLOT_EXACT : 0)};
    memcpy(item.box, post->box, sizeof item.box);
    return item;
}

/* The signature that a list or chain tests: of CONTAINS the terms beside the key's, all of which
 * the object must have; of OVERLAPS those less than the key's, which must be absent or else another
 * posting may answer. Exact: with these bits right and strictly inside, no more is to be known. */
static struct post post_of(const struct cleave__record *record, uint32_t slot,
                           const struct cleave__part *part, const struct cleave__key *key)
{
    struct post post = {.slot = slot, .overlaps = !(record->head & CLEAVE__RECORD_CONTAINS)};
    memcpy(post.box, part->box, sizeof post.box);
    uint32_t count = cleave__record_term_count(record), others = 0;
    const uint32_t *terms = cleave__record_terms(record);
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] == key->term || terms[i] == key->second ||
            (post.overlaps && terms[i] > key->term))
            continue;
        others++;
        post.signature |= cleave__term_bit(terms[i]);
    }
    post.overlaps = post.overlaps && count > 0;
    bool more = record->head & CLEAVE__RECORD_MORE && cleave__record_more(record)->filter_count;
    post.exact =
        part->exact && record->end_ms == CLEAVE__NEVER && !more && (post.overlaps || others == 0);
    return post;
}

static uint32_t parts_of(const struct cleave__index *index, const struct cleave__record *record,
                         struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST])
{
    struct cleave__query query;
    uint32_t level;
    cleave__record_query(record, &query);
    return cleave__pyramid_parts(&index->pyramid, &query.region, query.term_count > 0, &level,
                                 parts);
}

/* The key of the record's posting under `term` in a cell; `second` as well if `pair`. */
static struct cleave__key key_of(const struct cleave__record *record,
                                 const struct cleave__part *part, uint32_t term, bool pair)
{
    return (struct cleave__key){cleave__record_level(record), part->column, part->row, term,
                                pair ? cleave__record_second(record) : CLEAVE__NO_TERM};
}

/* The record's part in the key's cell, if it has postings of this key. */
static bool part_of_key(const struct cleave__index *index, const struct cleave__record *record,
                        const struct cleave__key *key, struct cleave__part *out)
{
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    bool contains = record->head & CLEAVE__RECORD_CONTAINS;
    uint32_t terms = cleave__record_term_count(record);
    if (cleave__record_level(record) != key->level)
        return false;
    if (key->second != CLEAVE__NO_TERM &&
        (!contains || cleave__record_second(record) != key->second))
        return false;
    if (terms == 0 || contains) {
        if (cleave__record_first(record) != key->term)
            return false;
    } else {
        bool has = false;
        for (uint32_t i = 0; i < terms && !has; i++)
            has = cleave__record_terms(record)[i] == key->term;
        if (!has)
            return false;
    }
    uint32_t count = parts_of(index, record, parts);
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].column == key->column && parts[i].row == key->row) {
            *out = parts[i];
            return true;
        }
    }
    return false;
}

/* An empty list in the key's chain; CLEAVE__NO_LIST: no memory. */
static uint32_t new_list(struct cleave__index *index, const struct cleave__key *key)
{
    bool fresh = index->free_list == CLEAVE__NO_LIST;
    if (!cleave__table_reserve(&index->table) ||
        (fresh && !cleave__pages_reserve(&index->lists, (uint64_t)index->list_count + 1)))
        return CLEAVE__NO_LIST;
    uint32_t number = fresh ? index->list_count++ : index->free_list;
    struct cleave__list *list = cleave__index_list(index, number);
    if (!fresh)
        index->free_list = list->next;
    *list = (struct cleave__list){.column = key->column,
                                  .row = key->row,
                                  .term = key->term,
                                  .second = key->second,
                                  .level = key->level,
                                  .live = true};
    cleave__table_insert(
        &index->table, cleave__index_hash(index, key),
        (struct cleave__posting){.head = CLEAVE__KIND_LIST | pair_flag(key), .slot = number});
    return number;
}

/* Frees a list without postings, and its place in the chain. */
static void drop_if_empty(struct cleave__index *index, uint32_t number)
{
    struct cleave__list *list = cleave__index_list(index, number);
    if (list->count || list->pairs)
        return;
    struct cleave__key key = {list->level, list->column, list->row, list->term, list->second};
    bool there = cleave__table_remove(&index->table, cleave__index_hash(index, &key),
                                      CLEAVE__KIND_LIST | pair_flag(&key), number);
    assert(there);
    (void)there;
    *list = (struct cleave__list){.next = index->free_list};
    index->free_list = number;
}

static bool put_in_list(struct cleave__index *index, uint32_t number, const struct post *post)
{
    if (!cleave__list_add(cleave__index_list(index, number), item_of(post)))
        return false;
    index->list_postings++;
    return true;
}

/* False: it is not in the list. May drop the list. */
static bool take_from_list(struct cleave__index *index, uint32_t number, uint32_t slot)
{
    if (!cleave__list_remove(cleave__index_list(index, number), slot))
        return false;
    index->list_postings--;
    drop_if_empty(index, number);
    return true;
}

/* Moves the postings of a key from its chain to a list. */
static void lengthen(struct cleave__index *index, const struct cleave__key *key)
{
    struct cleave__posting found[4 * CLEAVE__LONG];
    uint32_t hash = cleave__index_hash(index, key), kept = 0;
    uint32_t count = cleave__table_collect(&index->table, hash, pair_flag(key), found,
                                           sizeof found / sizeof *found);
    struct cleave__part parts[4 * CLEAVE__LONG];
    for (uint32_t i = 0; i < count; i++) {
        if ((found[i].head & CLEAVE__KIND_MASK) == CLEAVE__KIND_POSTING &&
            !(found[i].head & CLEAVE__HEAD_TWIN) &&
            part_of_key(index, cleave__index_record(index, found[i].slot), key, &parts[kept]))
            found[kept++] = found[i];
    }
    if (kept < CLEAVE__LONG)
        return;
    uint32_t list = new_list(index, key);
    if (list == CLEAVE__NO_LIST)
        return;
    for (uint32_t i = 0; i < kept; i++) {
        const struct cleave__record *record = cleave__index_record(index, found[i].slot);
        struct post post = post_of(record, found[i].slot, &parts[i], key);
        if (!put_in_list(index, list, &post))
            break;
        cleave__table_remove(&index->table, hash, CLEAVE__KIND_POSTING | pair_flag(key),
                             found[i].slot);
    }
    drop_if_empty(index, list);
}

/* Puts a posting where its exact key has it: into the list, or the chain. */
static bool put_under(struct cleave__index *index, const struct cleave__key *key,
                      const struct post *post)
{
    uint32_t list = cleave__index_find_list(index, key);
    if (list != CLEAVE__NO_LIST)
        return put_in_list(index, list, post);
    if (!cleave__table_reserve(&index->table))
        return false;
    struct cleave__posting posting = {
        .head = CLEAVE__KIND_POSTING | pair_flag(key) |
                (post->overlaps ? (uint32_t)CLEAVE__HEAD_OVERLAPS : 0),
        .slot = post->slot,
        .signature = post->overlaps ? 0 : post->signature,
    };
    memcpy(posting.box, post->box, sizeof posting.box);
    if (cleave__table_insert(&index->table, cleave__index_hash(index, key), posting) >=
        CLEAVE__LONG)
        lengthen(index, key);
    return true;
}

/* Takes a posting away from the list or chain of its exact key; false: it is not there. */
static bool take_under(struct cleave__index *index, const struct cleave__key *key, uint32_t slot)
{
    uint32_t list = cleave__index_find_list(index, key);
    if (list != CLEAVE__NO_LIST && take_from_list(index, list, slot))
        return true;
    return cleave__table_remove(&index->table, cleave__index_hash(index, key),
                                CLEAVE__KIND_POSTING | pair_flag(key), slot);
}

/* Whether the record's postings belong under pairs where a list is split. */
static bool pairs(const struct cleave__record *record)
{
    return record->head & CLEAVE__RECORD_CONTAINS &&
           cleave__record_second(record) != CLEAVE__NO_TERM;
}

/* Splits a list by second term, if many of its postings have one. */
static void split(struct cleave__index *index, uint32_t number, const struct cleave__key *key)
{
    const struct cleave__list *list = cleave__index_list(index, number);
    uint32_t moving = 0, slots[2 * CLEAVE__SPLIT];
    for (uint32_t s = 0; s < list->segment_count; s++) {
        const struct cleave__segment *segment = &list->segments[s];
        for (uint32_t i = 0; i < segment->count && moving < 2 * CLEAVE__SPLIT; i++) {
            uint32_t slot = segment->blocks[i / CLEAVE__BLOCK].slot[i % CLEAVE__BLOCK];
            if (!(slot & CLEAVE__SLOT_OVERLAPS) &&
                pairs(cleave__index_record(index, slot & CLEAVE__SLOT_MASK)))
                slots[moving++] = slot & CLEAVE__SLOT_MASK;
        }
    }
    if (moving < CLEAVE__SPLIT / 2)
        return;
    cleave__index_list(index, number)->split = true;
    for (uint32_t i = 0; i < moving; i++) {
        const struct cleave__record *record = cleave__index_record(index, slots[i]);
        struct cleave__key under = *key;
        struct cleave__part part;
        under.second = cleave__record_second(record);
        bool has = part_of_key(index, record, key, &part);
        assert(has);
        if (!has)
            continue;
        struct post post = post_of(record, slots[i], &part, &under);
        if (!put_under(index, &under, &post))
            return;
        cleave__index_list(index, number)->pairs++;
        take_from_list(index, number, slots[i]);
    }
}

/* A list that has grown past the bound is looked at, and again when it has doubled. */
static bool may_split(const struct cleave__list *list)
{
    return !list->split && list->second == CLEAVE__NO_TERM && list->term != CLEAVE__NO_TERM &&
           list->count > CLEAVE__SPLIT && (list->count & (list->count - 1)) == 0;
}

static bool put(struct cleave__index *index, uint32_t slot, const struct cleave__part *part,
                uint32_t term)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    struct cleave__key key = key_of(record, part, term, false);
    uint32_t list = cleave__index_find_list(index, &key);
    if (list != CLEAVE__NO_LIST && cleave__index_list(index, list)->split && pairs(record)) {
        struct cleave__key under = key_of(record, part, term, true);
        struct post post = post_of(record, slot, part, &under);
        if (!put_under(index, &under, &post))
            return false;
        cleave__index_list(index, list)->pairs++;
        return true;
    }
    struct post post = post_of(record, slot, part, &key);
    if (list == CLEAVE__NO_LIST)
        return put_under(index, &key, &post);
    if (!put_in_list(index, list, &post))
        return false;
    if (may_split(cleave__index_list(index, list)))
        split(index, list, &key);
    return true;
}

static void take(struct cleave__index *index, uint32_t slot, const struct cleave__part *part,
                 uint32_t term)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    struct cleave__key key = key_of(record, part, term, false);
    uint32_t list = cleave__index_find_list(index, &key);
    if (list != CLEAVE__NO_LIST) {
        if (take_from_list(index, list, slot))
            return;
        struct cleave__key under = key_of(record, part, term, true);
        if (cleave__index_list(index, list)->pairs && pairs(record) &&
            take_under(index, &under, slot)) {
            cleave__index_list(index, list)->pairs--;
            drop_if_empty(index, list);
            return;
        }
    }
    bool there = cleave__table_remove(&index->table, cleave__index_hash(index, &key),
                                      CLEAVE__KIND_POSTING, slot);
    assert(there);
    (void)there;
}

/* Puts, or takes away, the first `limit` postings; yields how many were done. */
static uint64_t every(struct cleave__index *index, uint32_t slot, bool putting, uint64_t limit)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    uint32_t part_count = parts_of(index, record, parts);
    uint32_t first = cleave__record_first(record), term_count = 1;
    const uint32_t *terms = &first;
    if (!(record->head & CLEAVE__RECORD_CONTAINS) && first != CLEAVE__NO_TERM) {
        terms = cleave__record_terms(record);
        term_count = cleave__record_term_count(record);
    }
    uint64_t done = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        for (uint32_t t = 0; t < term_count; t++, done++) {
            if (done == limit || (putting && !put(index, slot, &parts[i], terms[t])))
                return done;
            if (!putting)
                take(index, slot, &parts[i], terms[t]);
        }
    }
    return done;
}

bool cleave__index_post(struct cleave__index *index, uint32_t slot)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    uint64_t all = parts_of(index, record, parts);
    if (!(record->head & CLEAVE__RECORD_CONTAINS) &&
        cleave__record_first(record) != CLEAVE__NO_TERM)
        all *= cleave__record_term_count(record);
    uint64_t done = every(index, slot, true, UINT64_MAX);
    if (done == all)
        return true;
    every(index, slot, false, done);
    return false;
}

void cleave__index_unpost(struct cleave__index *index, uint32_t slot)
{
    every(index, slot, false, UINT64_MAX);
}
