#include "tables/replay/order.h"

#include <assert.h>
#include <stdlib.h>

#include "base/vector.h"

enum { BUCKETS = 64 };

/* A box of a transaction inside. */
struct entry {
    uint32_t slot;
    bool write;
    const struct cleave_box *box;
};

struct bucket {
    CLEAVE_VECTOR(struct entry) entries;
};

struct place { /* of a transaction */
    bool used, handed_out;
    uint64_t number; /* in order of entering */
    uint32_t waits;  /* for so many earlier ones */
    const struct cleave_access *accesses;
    uint32_t access_count;
    CLEAVE_VECTOR(uint32_t) followers; /* later ones that wait for it */
};

struct cleave__order {
    const struct cleave_schema *schema;
    uint32_t window, inside;
    uint64_t next_number;
    struct place *places;  /* [window] */
    struct bucket *tables; /* [tables * (BUCKETS + 1)]: by value, then the rest */
    bool *marked;          /* [window]: scratch */
};

struct cleave__order *cleave__order_new(const struct cleave_schema *schema, uint32_t window)
{
    struct cleave__order *order = calloc(1, sizeof *order);
    if (!order)
        return NULL;
    order->schema = schema;
    order->window = window;
    order->places = calloc(window, sizeof *order->places);
    order->marked = calloc(window, sizeof *order->marked);
    order->tables = calloc((size_t)schema->table_count * (BUCKETS + 1) + 1, sizeof *order->tables);
    if (!order->places || !order->marked || !order->tables) {
        cleave__order_free(order);
        return NULL;
    }
    return order;
}

void cleave__order_free(struct cleave__order *order)
{
    if (!order)
        return;
    for (uint32_t s = 0; order->places && s < order->window; s++)
        CLEAVE_VECTOR_FREE(&order->places[s].followers);
    for (size_t b = 0; order->tables && b < (size_t)order->schema->table_count * (BUCKETS + 1); b++)
        CLEAVE_VECTOR_FREE(&order->tables[b].entries);
    free(order->places);
    free(order->marked);
    free(order->tables);
    free(order);
}

uint32_t cleave__order_inside(const struct cleave__order *order)
{
    return order->inside;
}

bool cleave__order_full(const struct cleave__order *order)
{
    return order->inside == order->window;
}

static bool terms_overlap(const struct cleave_term *a, const struct cleave_term *b)
{
    uint32_t i = 0, j = 0;
    while (i < a->range_count && j < b->range_count) {
        const struct cleave_range *x = &a->ranges[i], *y = &b->ranges[j];
        if (cleave__range_overlaps(x, y))
            return true;
        /* Ranges rise: the one that ends first cannot meet what comes later on the other side. */
        if (y->flags & CLEAVE_HIGH_UNBOUNDED)
            i++;
        else if (x->flags & CLEAVE_HIGH_UNBOUNDED)
            j++;
        else if (cleave__value_compare(&x->high, &y->high) <= 0)
            i++;
        else
            j++;
    }
    return false;
}

bool cleave__boxes_overlap(const struct cleave_box *a, const struct cleave_box *b)
{
    for (uint32_t i = 0, j = 0; i < a->term_count && j < b->term_count;) {
        const struct cleave_term *x = &a->terms[i], *y = &b->terms[j];
        if (x->column == y->column && !terms_overlap(x, y))
            return false;
        i += x->column <= y->column;
        j += y->column <= x->column;
    }
    return true;
}

/* The bucket of a box: by its value of the first key column, or the last one. */
static uint32_t bucket_of(const struct cleave__order *order, uint32_t table,
                          const struct cleave_box *box)
{
    const struct cleave_table *t = &order->schema->tables[table];
    uint32_t column = t->primary.count ? t->primary.columns[0] : 0;
    for (uint32_t i = 0; i < box->term_count; i++) {
        const struct cleave_term *term = &box->terms[i];
        if (term->column == column && term->range_count == 1 &&
            cleave__range_is_point(&term->ranges[0]))
            return (uint32_t)(cleave__value_hash(&term->ranges[0].low) % BUCKETS);
    }
    return BUCKETS;
}

static struct bucket *bucket_at(const struct cleave__order *order, uint32_t table, uint32_t bucket)
{
    return &order->tables[(size_t)table * (BUCKETS + 1) + bucket];
}

static void mark(struct cleave__order *order, const struct bucket *bucket,
                 const struct cleave_box *box, bool write)
{
    for (size_t e = 0; e < bucket->entries.count; e++) {
        const struct entry *entry = &bucket->entries.data[e];
        if ((write || entry->write) && !order->marked[entry->slot] &&
            cleave__boxes_overlap(entry->box, box))
            order->marked[entry->slot] = true;
    }
}

static void mark_all(struct cleave__order *order, const struct cleave_access *access)
{
    for (uint32_t b = 0; b < access->box_count; b++) {
        const struct cleave_box *box = &access->boxes[b];
        uint32_t bucket = bucket_of(order, access->table, box);
        if (bucket < BUCKETS) {
            mark(order, bucket_at(order, access->table, bucket), box, access->write);
            mark(order, bucket_at(order, access->table, BUCKETS), box, access->write);
            continue;
        }
        for (uint32_t i = 0; i <= BUCKETS; i++)
            mark(order, bucket_at(order, access->table, i), box, access->write);
    }
}

static void remove_entries(struct cleave__order *order, uint32_t slot)
{
    const struct place *place = &order->places[slot];
    for (uint32_t a = 0; a < place->access_count; a++) {
        const struct cleave_access *access = &place->accesses[a];
        for (uint32_t b = 0; b < access->box_count; b++) {
            struct bucket *bucket =
                bucket_at(order, access->table, bucket_of(order, access->table, &access->boxes[b]));
            for (size_t e = bucket->entries.count; e-- > 0;) {
                if (bucket->entries.data[e].slot == slot)
                    bucket->entries.data[e] = bucket->entries.data[--bucket->entries.count];
            }
        }
    }
}

static bool add_entries(struct cleave__order *order, uint32_t slot)
{
    const struct place *place = &order->places[slot];
    for (uint32_t a = 0; a < place->access_count; a++) {
        const struct cleave_access *access = &place->accesses[a];
        for (uint32_t b = 0; b < access->box_count; b++) {
            struct bucket *bucket =
                bucket_at(order, access->table, bucket_of(order, access->table, &access->boxes[b]));
            struct entry entry = {slot, access->write, &access->boxes[b]};
            if (!CLEAVE_PUSH(&bucket->entries, entry))
                return false;
        }
    }
    return true;
}

bool cleave__order_enter(struct cleave__order *order, const struct cleave_access *accesses,
                         uint32_t access_count, uint32_t *slot)
{
    assert(!cleave__order_full(order));
    uint32_t at = 0;
    while (order->places[at].used)
        at++;
    struct place *place = &order->places[at];
    for (uint32_t s = 0; s < order->window; s++)
        order->marked[s] = false;
    for (uint32_t a = 0; a < access_count; a++)
        mark_all(order, &accesses[a]);
    for (uint32_t s = 0; s < order->window; s++) {
        struct place *other = &order->places[s];
        if (order->marked[s] && !CLEAVE_RESERVE(&other->followers, other->followers.count + 1))
            return false;
    }
    place->accesses = accesses;
    place->access_count = access_count;
    if (!add_entries(order, at)) {
        remove_entries(order, at);
        return false;
    }
    place->used = true;
    place->handed_out = false;
    place->number = order->next_number++;
    place->waits = 0;
    place->followers.count = 0;
    for (uint32_t s = 0; s < order->window; s++) {
        if (!order->marked[s])
            continue;
        struct place *other = &order->places[s];
        other->followers.data[other->followers.count++] = at; /* reserved */
        place->waits++;
    }
    order->inside++;
    *slot = at;
    return true;
}

uint32_t cleave__order_take(struct cleave__order *order)
{
    uint32_t best = CLEAVE__ORDER_NONE;
    for (uint32_t s = 0; s < order->window; s++) {
        const struct place *place = &order->places[s];
        if (place->used && !place->handed_out && place->waits == 0 &&
            (best == CLEAVE__ORDER_NONE || place->number < order->places[best].number))
            best = s;
    }
    if (best != CLEAVE__ORDER_NONE)
        order->places[best].handed_out = true;
    return best;
}

void cleave__order_leave(struct cleave__order *order, uint32_t slot)
{
    struct place *place = &order->places[slot];
    assert(place->used && place->handed_out && place->waits == 0);
    remove_entries(order, slot);
    for (size_t f = 0; f < place->followers.count; f++)
        order->places[place->followers.data[f]].waits--;
    place->followers.count = 0;
    place->used = false;
    order->inside--;
}

static bool conflict(const struct place *a, const struct place *b)
{
    for (uint32_t i = 0; i < a->access_count; i++) {
        for (uint32_t j = 0; j < b->access_count; j++) {
            const struct cleave_access *x = &a->accesses[i], *y = &b->accesses[j];
            if (x->table != y->table || (!x->write && !y->write))
                continue;
            for (uint32_t p = 0; p < x->box_count; p++) {
                for (uint32_t q = 0; q < y->box_count; q++) {
                    if (cleave__boxes_overlap(&x->boxes[p], &y->boxes[q]))
                        return true;
                }
            }
        }
    }
    return false;
}

bool cleave__order_check(const struct cleave__order *order)
{
    uint32_t inside = 0;
    for (uint32_t s = 0; s < order->window; s++) {
        const struct place *place = &order->places[s];
        if (!place->used)
            continue;
        inside++;
        uint32_t waits = 0;
        for (uint32_t o = 0; o < order->window; o++) {
            const struct place *other = &order->places[o];
            waits += other->used && other->number < place->number && conflict(place, other);
        }
        if (waits != place->waits || (place->handed_out && place->waits))
            return false;
    }
    return inside == order->inside;
}
