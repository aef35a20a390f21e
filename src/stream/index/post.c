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
    uint64_t signature = 0;
    const uint32_t *terms = cleave__record_terms(record);
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] == key->term || terms[i] == key->second ||
            (post.overlaps && terms[i] > key->term))
            continue;
        others++;
        signature |= cleave__term_bit(terms[i]);
    }
    post.overlaps = post.overlaps && count > 0;
    post.signature = cleave__fold(signature);
    bool more = record->head & CLEAVE__RECORD_MORE && cleave__record_more(record)->filter_count;
    post.exact = part->exact && !(record->head & CLEAVE__RECORD_ENDS) && !more &&
                 (post.overlaps || others == 0);
    return post;
}

static uint32_t parts_of(const struct cleave__index *index, const struct cleave__record *record,
                         struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST])
{
    struct cleave__query query;
    cleave__record_query(record, &query);
    return cleave__pyramid_parts(&index->pyramid, &query.region, cleave__record_level(record),
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

/* Whether the record's postings may lie under pairs. */
static bool pairs(const struct cleave__record *record)
{
    return record->head & CLEAVE__RECORD_CONTAINS &&
           cleave__record_second(record) != CLEAVE__NO_TERM;
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
                                  .level = (uint8_t)key->level,
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
    if (list->count)
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

/* Moves the postings of a key from its chain to a list; of a single term not those that pairs are
 * for. */
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
            (key->second != CLEAVE__NO_TERM ||
             !pairs(cleave__index_record(index, found[i].slot))) &&
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

static struct cleave__posting posting_of(const struct post *post, uint32_t flags)
{
    struct cleave__posting posting = {
        .head = CLEAVE__KIND_POSTING | flags,
        .slot = post->slot,
        .signature = post->overlaps ? 0 : post->signature,
    };
    memcpy(posting.box, post->box, sizeof posting.box);
    return posting;
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
    if (cleave__table_insert(&index->table, cleave__index_hash(index, key),
                             posting_of(post, pair_flag(key))) >= CLEAVE__LONG)
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

/* One posting more under a pair of this hash and `second`. */
static void count_pair(struct cleave__posting *marker, uint32_t second)
{
    uint64_t bits = cleave__pairs_bits(marker) | cleave__term_bit(second);
    uint32_t low = (uint32_t)bits;
    memcpy(marker->box, &low, sizeof low);
    marker->signature = (uint32_t)(bits >> 32);
    marker->slot++;
}

/* Moves the postings of a hash to pairs, when at least half of CLEAVE__PAIRED can. A pair's hash is
 * made of the single one's: whose key it is does not matter, only that objects with this hash will
 * look for the pair. */
static void pair_up(struct cleave__index *index, uint32_t hash)
{
    struct cleave__posting found[4 * CLEAVE__LONG];
    uint32_t moving = 0;
    uint32_t count =
        cleave__table_collect(&index->table, hash, 0, found, sizeof found / sizeof *found);
    for (uint32_t i = 0; i < count; i++) {
        if ((found[i].head & CLEAVE__KIND_MASK) == CLEAVE__KIND_POSTING &&
            !(found[i].head & CLEAVE__HEAD_TWIN) &&
            pairs(cleave__index_record(index, found[i].slot)))
            found[moving++] = found[i];
    }
    if (2 * moving < CLEAVE__PAIRED || !cleave__table_reserve(&index->table))
        return;
    cleave__table_insert(&index->table, hash, (struct cleave__posting){.head = CLEAVE__KIND_PAIRS});
    for (uint32_t i = 0; i < moving; i++) {
        uint32_t slot = found[i].slot;
        uint32_t second = cleave__record_second(cleave__index_record(index, slot));
        uint32_t under = cleave__key_hash(hash, second) & index->hash_mask;
        if (!cleave__table_reserve(&index->table))
            break;
        cleave__table_remove(&index->table, hash, CLEAVE__KIND_POSTING, slot);
        found[i].head = CLEAVE__KIND_POSTING | CLEAVE__HEAD_PAIR;
        cleave__table_insert(&index->table, under, found[i]);
        count_pair(cleave__table_pairs(&index->table, hash), second);
    }
    if (cleave__table_pairs(&index->table, hash)->slot == 0)
        cleave__table_remove(&index->table, hash, CLEAVE__KIND_PAIRS, 0);
}

static bool put(struct cleave__index *index, uint32_t slot, const struct cleave__part *part,
                uint32_t term)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    bool may_pair = pairs(record);
    struct cleave__key key = key_of(record, part, term, false);
    if (!may_pair) {
        struct post post = post_of(record, slot, part, &key);
        return put_under(index, &key, &post);
    }
    uint32_t hash = cleave__index_hash(index, &key);
    if (cleave__table_pairs(&index->table, hash)) {
        struct cleave__key under = key_of(record, part, term, true);
        struct post post = post_of(record, slot, part, &under);
        if (!put_under(index, &under, &post))
            return false;
        count_pair(cleave__table_pairs(&index->table, hash), under.second);
        return true;
    }
    struct post post = post_of(record, slot, part, &key);
    if (!cleave__table_reserve(&index->table))
        return false;
    if (cleave__table_insert(&index->table, hash, posting_of(&post, 0)) >= CLEAVE__PAIRED)
        pair_up(index, hash);
    return true;
}

static void take(struct cleave__index *index, uint32_t slot, const struct cleave__part *part,
                 uint32_t term)
{
    const struct cleave__record *record = cleave__index_record(index, slot);
    struct cleave__key key = key_of(record, part, term, false);
    if (take_under(index, &key, slot))
        return;
    uint32_t hash = cleave__index_hash(index, &key);
    struct cleave__key under = key_of(record, part, term, true);
    bool there = take_under(index, &under, slot);
    struct cleave__posting *marker = cleave__table_pairs(&index->table, hash);
    assert(there && marker);
    if (there && --marker->slot == 0)
        cleave__table_remove(&index->table, hash, CLEAVE__KIND_PAIRS, 0);
}

/* The keys of a record: each of its terms in each of its parts. */
struct keys {
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    uint32_t part_count, term_count, first;
    const uint32_t *terms;
};

static void keys_of(const struct cleave__index *index, const struct cleave__record *record,
                    struct keys *keys)
{
    keys->part_count = parts_of(index, record, keys->parts);
    keys->first = cleave__record_first(record);
    keys->terms = &keys->first;
    keys->term_count = 1;
    if (!(record->head & CLEAVE__RECORD_CONTAINS) && keys->first != CLEAVE__NO_TERM) {
        keys->terms = cleave__record_terms(record);
        keys->term_count = cleave__record_term_count(record);
    }
}

void cleave__index_foresee(const struct cleave__index *index, const struct cleave__query *query,
                           uint32_t level, uint32_t first)
{
    enum { MOST = 16 };
    struct cleave__part parts[CLEAVE__QUERY_CELLS_MOST];
    bool each = query->predicate == CLEAVE__OVERLAPS && query->term_count;
    const uint32_t *terms = each ? query->terms : &first;
    uint32_t count = cleave__pyramid_parts(&index->pyramid, &query->region, level, parts);
    uint32_t term_count = each ? query->term_count : 1, asked = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cell = cleave__cell_hash(level, parts[i].column, parts[i].row);
        for (uint32_t t = 0; t < term_count && asked < MOST; t++, asked++) {
            uint32_t bucket = cleave__table_bucket(&index->table, cleave__key_hash(cell, terms[t]) &
                                                                      index->hash_mask);
            __builtin_prefetch(cleave__table_line(&index->table, bucket), 1);
            __builtin_prefetch(cleave__table_filter(&index->table, bucket), 1);
        }
    }
    cleave__table_foresee(&index->table);
}

bool cleave__index_post(struct cleave__index *index, uint32_t slot)
{
    struct keys keys;
    keys_of(index, cleave__index_record(index, slot), &keys);
    for (uint32_t i = 0; i < keys.part_count; i++) {
        for (uint32_t t = 0; t < keys.term_count; t++) {
            if (put(index, slot, &keys.parts[i], keys.terms[t]))
                continue;
            while (i + t > 0) { /* those before it go again */
                if (t == 0) {
                    i--;
                    t = keys.term_count;
                }
                take(index, slot, &keys.parts[i], keys.terms[--t]);
            }
            return false;
        }
    }
    return true;
}

void cleave__index_unpost(struct cleave__index *index, uint32_t slot)
{
    struct keys keys;
    keys_of(index, cleave__index_record(index, slot), &keys);
    for (uint32_t i = 0; i < keys.part_count; i++) {
        for (uint32_t t = 0; t < keys.term_count; t++)
            take(index, slot, &keys.parts[i], keys.terms[t]);
    }
}
