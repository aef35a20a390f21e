/* The cache around the policies of the model, each of which is a file beside this one. */
#include "graph_cache/model/shelf.h"

/* Shelves that hold entries, and not ghosts; those of lirs are its stack and queue, see below. */
static unsigned entry_shelves(const struct model *m)
{
    return is(m, "s3-fifo") || is(m, "arc") ? 2 : is(m, "w-tiny-lfu") ? 3 : 1;
}

static const struct shelf *shelf_at(const struct model *m, unsigned i)
{
    return i == 0 ? &m->a : i == 1 ? &m->b : i == 2 ? &m->c : &m->d;
}

static const struct item *entry(const struct model *m, uint64_t key)
{
    if (is(m, "lirs")) { /* in the stack and not a ghost, or in the queue */
        int at = find(&m->a, key);
        if (at >= 0 && m->a.item[at].kind != 'G')
            return &m->a.item[at];
        at = find(&m->b, key);
        return at >= 0 ? &m->b.item[at] : NULL;
    }
    for (unsigned i = 0; i < entry_shelves(m); i++) {
        int at = find(shelf_at(m, i), key);
        if (at >= 0)
            return &shelf_at(m, i)->item[at];
    }
    return NULL;
}

bool model_holds(const struct model *m, uint64_t key)
{
    return entry(m, key) != NULL;
}

uint64_t model__used(const struct model *m)
{
    if (is(m, "lirs"))
        return model__lir_cost(m) + total(m, &m->b);
    uint64_t sum = 0;
    for (unsigned i = 0; i < entry_shelves(m); i++)
        sum += total(m, shelf_at(m, i));
    return sum;
}

void model__left(struct model *m, const struct item *item)
{
    m->counts.entries--;
    m->counts.bytes -= item->size;
}

void model__evicted(struct model *m, const struct item *item)
{
    model__left(m, item);
    m->counts.evictions++;
    m->counts.evicted_bytes += item->size;
}

static bool admit(struct model *m, struct item item)
{
    return is(m, "w-tiny-lfu") ? model__tiny_admit(m, item)
           : is(m, "lirs")     ? model__lirs_admit(m, item)
           : is(m, "s3-fifo")  ? model__s3_admit(m, item)
           : is(m, "arc")      ? model__arc_admit(m, item)
                               : model__simple_admit(m, item);
}

static void forget(struct model *m, uint64_t key)
{
    struct item item = *entry(m, key);
    if (is(m, "lirs")) {
        int queue = find(&m->b, key), stack = find(&m->a, key);
        if (queue >= 0)
            take(&m->b, queue);
        if (stack >= 0)
            take(&m->a, stack);
        model__lirs_prune(m);
    } else if (find(&m->a, key) >= 0) {
        model__simple_take(m, find(&m->a, key));
    } else if (find(&m->b, key) >= 0) {
        take(&m->b, find(&m->b, key));
    } else {
        take(&m->c, find(&m->c, key));
    }
    model__left(m, &item);
    m->counts.invalidations++;
}

void model_start(struct model *m, const char *policy, const struct cleave__cache_options *options)
{
    memset(m, 0, sizeof *m);
    strcpy(m->policy, policy);
    m->options = *options;
    m->hand = -1;
    m->pool = 64;
    bool ok = cleave__sketch_reserve(&m->sketch, m->pool);
    assert(ok);
    (void)ok;
}

void model_stop(struct model *m)
{
    cleave__sketch_free(&m->sketch);
}

bool model_get(struct model *m, uint64_t key, uint64_t version)
{
    m->now++;
    m->counts.requests++;
    if (model_holds(m, key) && entry(m, key)->version < version)
        forget(m, key);
    if (!model_holds(m, key)) {
        m->counts.misses++;
        if (is(m, "w-tiny-lfu"))
            model__tiny_count(m, key);
        return false;
    }
    m->counts.hits++;
    if (is(m, "s3-fifo"))
        model__s3_hit(m, key);
    else if (is(m, "arc"))
        model__arc_hit(m, key);
    else if (is(m, "lirs"))
        model__lirs_hit(m, key);
    else if (is(m, "w-tiny-lfu"))
        model__tiny_hit(m, key);
    else
        model__simple_hit(m, key);
    return true;
}

static void set_version(struct shelf *s, uint64_t key, uint64_t version)
{
    int at = find(s, key);
    if (at >= 0)
        s->item[at].version = version;
}

bool model_put(struct model *m, uint64_t key, uint64_t size, uint64_t version)
{
    struct item item = {.key = key, .size = size ? size : 1, .version = version};
    m->now++;
    if (model_holds(m, key)) {
        if (entry(m, key)->size == item.size) {
            set_version(&m->a, key, version);
            set_version(&m->b, key, version);
            set_version(&m->c, key, version);
            return true;
        }
        forget(m, key);
    }
    if (m->options.in_bytes && item.size > m->options.capacity) {
        m->counts.refused++;
        return false;
    }
    while (m->counts.entries + 1 > m->pool - 1)
        m->pool *= 2;
    bool ok = cleave__sketch_reserve(&m->sketch, m->pool);
    assert(ok);
    (void)ok;
    if (!admit(m, item)) {
        m->counts.refused++;
        return false;
    }
    m->counts.insertions++;
    m->counts.entries++;
    m->counts.bytes += item.size;
    if (m->peak < m->counts.entries)
        m->peak = m->counts.entries;
    return true;
}

bool model_invalidate(struct model *m, uint64_t key)
{
    m->now++;
    if (!model_holds(m, key))
        return false;
    forget(m, key);
    return true;
}

void model_clear(struct model *m)
{
    m->counts.invalidations += m->counts.entries;
    m->counts.entries = m->counts.bytes = 0;
    m->a.count = m->b.count = m->c.count = m->d.count = 0;
    m->target = 0;
    m->hand = -1;
    m->peak = m->sampled = 0;
    cleave__sketch_clear(&m->sketch);
}
