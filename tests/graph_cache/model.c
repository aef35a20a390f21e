/* Each policy by its definition: see src/graph/cache for the papers. */
#include "graph_cache/model.h"

#include <assert.h>
#include <string.h>

static bool is(const struct model *m, const char *policy)
{
    return strcmp(m->policy, policy) == 0;
}

static int find(const struct shelf *s, uint64_t key)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->item[i].key == key)
            return (int)i;
    }
    return -1;
}

static struct item take(struct shelf *s, int at)
{
    assert(at >= 0 && (unsigned)at < s->count);
    struct item item = s->item[at];
    memmove(&s->item[at], &s->item[at + 1], (s->count - (unsigned)at - 1) * sizeof item);
    s->count--;
    return item;
}

static void append(struct shelf *s, struct item item)
{
    assert(s->count < MODEL_ITEMS);
    s->item[s->count++] = item;
}

static uint64_t cost(const struct model *m, const struct item *item)
{
    return m->options.in_bytes ? item->size : 1;
}

static uint64_t total(const struct model *m, const struct shelf *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->count; i++)
        sum += cost(m, &s->item[i]);
    return sum;
}

static double parameter(const struct model *m, unsigned i)
{
    return m->options.choice.parameter[i];
}

static uint64_t share(const struct model *m, double part, uint64_t least)
{
    uint64_t whole = (uint64_t)(part * (double)m->options.capacity);
    return whole < least ? least : whole;
}

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

static uint64_t lir_cost(const struct model *m)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < m->a.count; i++)
        sum += m->a.item[i].kind == 'L' ? cost(m, &m->a.item[i]) : 0;
    return sum;
}

static uint64_t used(const struct model *m)
{
    if (is(m, "lirs"))
        return lir_cost(m) + total(m, &m->b);
    uint64_t sum = 0;
    for (unsigned i = 0; i < entry_shelves(m); i++)
        sum += total(m, shelf_at(m, i));
    return sum;
}

static void left(struct model *m, const struct item *item)
{
    m->counts.entries--;
    m->counts.bytes -= item->size;
}

static void evicted(struct model *m, const struct item *item)
{
    left(m, item);
    m->counts.evictions++;
    m->counts.evicted_bytes += item->size;
}

static uint64_t next_use(const struct model *m)
{
    uint64_t now = m->counts.requests;
    return now && now <= m->options.next_uses ? m->options.next_use[now - 1] : UINT64_MAX;
}

/* fifo, lru, clock, lfu, sieve, belady: one shelf, and a rule for who leaves it. */

static int simple_victim(struct model *m)
{
    struct shelf *s = &m->a;
    unsigned worst = 0;
    if (is(m, "clock")) {
        while (s->item[0].uses) {
            struct item spared = take(s, 0);
            spared.uses = 0;
            append(s, spared);
        }
    } else if (is(m, "sieve")) {
        int at = m->hand < 0 ? 0 : m->hand;
        while (s->item[at].uses) {
            s->item[at].uses = 0;
            at = (at + 1) % (int)s->count;
        }
        m->hand = at;
        return at;
    } else if (is(m, "lfu")) {
        for (unsigned i = 1; i < s->count; i++) {
            const struct item *x = &s->item[i], *w = &s->item[worst];
            if (x->uses < w->uses || (x->uses == w->uses && x->when < w->when))
                worst = i;
        }
    } else if (is(m, "belady")) {
        for (unsigned i = 1; i < s->count; i++) {
            const struct item *x = &s->item[i], *w = &s->item[worst];
            if (x->when > w->when || (x->when == w->when && x->key < w->key))
                worst = i;
        }
    }
    return (int)worst;
}

static struct item simple_take(struct model *m, int at)
{
    struct item item = take(&m->a, at);
    if (m->hand > at || (m->hand == at && (unsigned)at == m->a.count))
        m->hand = m->hand == at ? -1 : m->hand - 1;
    return item;
}

static void simple_admit(struct model *m, struct item item)
{
    while (used(m) + cost(m, &item) > m->options.capacity) {
        struct item out = simple_take(m, simple_victim(m));
        evicted(m, &out);
    }
    item.uses = is(m, "lfu") ? 1 : 0;
    item.when = is(m, "belady") ? next_use(m) : m->now;
    append(&m->a, item);
}

static void simple_hit(struct model *m, uint64_t key)
{
    struct item *item = &m->a.item[find(&m->a, key)];
    item->uses = is(m, "lfu") ? item->uses + 1 : 1;
    item->when = is(m, "belady") ? next_use(m) : m->now;
    if (is(m, "lru"))
        append(&m->a, take(&m->a, find(&m->a, key)));
}

/* s3-fifo: a small, b main, c ghosts. */

static void s3_admit(struct model *m, struct item item)
{
    uint64_t capacity = m->options.capacity, small = share(m, parameter(m, 0), 1);
    uint64_t main_limit = small < capacity ? capacity - small : 0;
    int ghost = find(&m->c, item.key);
    if (ghost >= 0)
        take(&m->c, ghost);
    while (used(m) + cost(m, &item) > capacity) {
        if (m->a.count && total(m, &m->b) <= main_limit) {
            struct item out = take(&m->a, 0);
            if (out.uses >= (unsigned)parameter(m, 2)) {
                out.uses = 0;
                append(&m->b, out);
                continue;
            }
            evicted(m, &out);
            append(&m->c, out);
            while (total(m, &m->c) > share(m, parameter(m, 1), 0))
                take(&m->c, 0);
        } else {
            struct item out = take(&m->b, 0);
            if (out.uses) {
                out.uses--;
                append(&m->b, out);
            } else {
                evicted(m, &out);
            }
        }
    }
    item.uses = 0;
    append(ghost >= 0 ? &m->b : &m->a, item);
}

static void s3_hit(struct model *m, uint64_t key)
{
    int at = find(&m->a, key);
    struct item *item = at >= 0 ? &m->a.item[at] : &m->b.item[find(&m->b, key)];
    item->uses = item->uses < 3 ? item->uses + 1 : 3;
}

/* arc: a T1, b T2, c B1, d B2. */

static void arc_replace(struct model *m, bool in_b2)
{
    double t1 = (double)total(m, &m->a);
    bool first = m->a.count && (t1 > m->target || (in_b2 && t1 == m->target));
    if (!m->b.count)
        first = true;
    struct item out = take(first ? &m->a : &m->b, 0);
    evicted(m, &out);
    append(first ? &m->c : &m->d, out);
}

static uint64_t arc_all(const struct model *m)
{
    return total(m, &m->a) + total(m, &m->b) + total(m, &m->c) + total(m, &m->d);
}

static void arc_admit(struct model *m, struct item item)
{
    uint64_t c = m->options.capacity, size = cost(m, &item);
    int in_b1 = find(&m->c, item.key), in_b2 = find(&m->d, item.key);
    double b1 = (double)total(m, &m->c), b2 = (double)total(m, &m->d);
    if (in_b1 >= 0 || in_b2 >= 0) {
        m->target += in_b1 >= 0 ? (b2 > b1 ? b2 / b1 : 1) : -(b1 > b2 ? b1 / b2 : 1);
        m->target = m->target < 0 ? 0 : m->target > (double)c ? (double)c : m->target;
        take(in_b1 >= 0 ? &m->c : &m->d, in_b1 >= 0 ? in_b1 : in_b2);
        while (used(m) + size > c)
            arc_replace(m, in_b2 >= 0);
        append(&m->b, item);
        while (arc_all(m) > 2 * c)
            take(m->d.count ? &m->d : &m->c, 0);
        return;
    }
    while (m->c.count && total(m, &m->a) + total(m, &m->c) + size > c)
        take(&m->c, 0);
    while (total(m, &m->a) + size > c) {
        struct item out = take(&m->a, 0);
        evicted(m, &out);
    }
    while (m->d.count && arc_all(m) + size > 2 * c)
        take(&m->d, 0);
    while (used(m) + size > c)
        arc_replace(m, false);
    append(&m->a, item);
}

static void arc_hit(struct model *m, uint64_t key)
{
    int at = find(&m->a, key);
    append(&m->b, at >= 0 ? take(&m->a, at) : take(&m->b, find(&m->b, key)));
}

/* lirs: a the stack S, b the queue Q, c the ghosts in order of their eviction. */

static void lirs_prune(struct model *m)
{
    while (m->a.count && m->a.item[0].kind != 'L') {
        struct item item = take(&m->a, 0);
        if (item.kind == 'G')
            take(&m->c, find(&m->c, item.key));
    }
}

static void lirs_demote(struct model *m, uint64_t limit)
{
    while (lir_cost(m) > limit) {
        struct item item = take(&m->a, 0);
        item.kind = 'H';
        append(&m->b, item);
        lirs_prune(m);
    }
}

static uint64_t lir_limit(const struct model *m)
{
    uint64_t hir = share(m, parameter(m, 0), 1);
    return hir < m->options.capacity ? m->options.capacity - hir : 0;
}

static void lirs_push(struct model *m, struct item item, char kind)
{
    int at = find(&m->a, item.key);
    if (at >= 0)
        take(&m->a, at);
    item.kind = kind;
    append(&m->a, item);
    if (kind == 'L')
        lirs_demote(m, lir_limit(m));
    lirs_prune(m);
}

static void lirs_bound(struct model *m)
{
    while (m->c.count && total(m, &m->a) > share(m, parameter(m, 1), 1))
        take(&m->a, find(&m->a, take(&m->c, 0).key));
}

static void lirs_hit(struct model *m, uint64_t key)
{
    int stack = find(&m->a, key), queue = find(&m->b, key);
    if (queue < 0) {
        lirs_push(m, m->a.item[stack], 'L');
        return;
    }
    struct item item = take(&m->b, queue);
    if (stack < 0) {
        item.kind = 'H';
        append(&m->b, item);
    }
    lirs_push(m, item, stack < 0 ? 'H' : 'L');
    lirs_bound(m);
}

static bool lirs_admit(struct model *m, struct item item)
{
    uint64_t size = cost(m, &item);
    int ghost = find(&m->c, item.key);
    bool filling = used(m) + size <= lir_limit(m);
    if (ghost >= 0) {
        take(&m->c, ghost);
        take(&m->a, find(&m->a, item.key));
    } else if (!filling && lir_cost(m) + size > m->options.capacity) {
        append(&m->c, item);
        lirs_push(m, item, 'G');
        lirs_bound(m);
        return false;
    }
    while (used(m) + size > m->options.capacity) {
        if (!m->b.count)
            lirs_demote(m, lir_cost(m) - 1);
        struct item out = take(&m->b, 0);
        evicted(m, &out);
        int stack = find(&m->a, out.key);
        if (stack >= 0) {
            m->a.item[stack].kind = 'G';
            append(&m->c, out);
        }
    }
    if (ghost >= 0 || filling) {
        lirs_push(m, item, 'L');
    } else {
        append(&m->b, item);
        lirs_push(m, item, 'H');
    }
    lirs_bound(m);
    return true;
}

/* w-tiny-lfu: a window, b probation, c protected. */

static void tiny_count(struct model *m, uint64_t key)
{
    double units = m->options.in_bytes ? (double)m->peak : (double)m->options.capacity;
    cleave__sketch_add(&m->sketch, key);
    m->sampled++;
    if (m->sampled >= 16 && (double)m->sampled >= parameter(m, 2) * units) {
        cleave__sketch_halve(&m->sketch);
        m->sampled = 0;
    }
}

static uint64_t tiny_window(const struct model *m)
{
    uint64_t window = share(m, parameter(m, 0), 1);
    return window < m->options.capacity ? window : m->options.capacity;
}

static void tiny_hit(struct model *m, uint64_t key)
{
    uint64_t main = m->options.capacity - tiny_window(m);
    tiny_count(m, key);
    int window = find(&m->a, key), probation = find(&m->b, key);
    if (window >= 0)
        append(&m->a, take(&m->a, window));
    else if (probation >= 0)
        append(&m->c, take(&m->b, probation));
    else
        append(&m->c, take(&m->c, find(&m->c, key)));
    while (total(m, &m->c) > (uint64_t)(parameter(m, 1) * (double)main))
        append(&m->b, take(&m->c, 0));
}

/* The candidate enters the main part, or not. */
static bool tiny_main(struct model *m, struct item item)
{
    uint64_t main = m->options.capacity - tiny_window(m), held = total(m, &m->b) + total(m, &m->c);
    unsigned theirs = 0, victims = 0, all = m->b.count + m->c.count;
    if (cost(m, &item) > main)
        return false;
    for (; held + cost(m, &item) > main; victims++) {
        assert(victims < all);
        const struct item *v =
            victims < m->b.count ? &m->b.item[victims] : &m->c.item[victims - m->b.count];
        theirs += cleave__sketch_estimate(&m->sketch, v->key);
        held -= cost(m, v);
    }
    if (victims && cleave__sketch_estimate(&m->sketch, item.key) <= theirs)
        return false;
    for (; victims; victims--) {
        struct item out = take(m->b.count ? &m->b : &m->c, 0);
        evicted(m, &out);
    }
    append(&m->b, item);
    return true;
}

static bool tiny_admit(struct model *m, struct item item)
{
    if (cost(m, &item) > tiny_window(m))
        return tiny_main(m, item);
    append(&m->a, item);
    while (total(m, &m->a) > tiny_window(m)) {
        struct item out = take(&m->a, 0);
        if (!tiny_main(m, out))
            evicted(m, &out);
    }
    return true;
}

/* The cache around them. */

static bool admit(struct model *m, struct item item)
{
    if (is(m, "w-tiny-lfu"))
        return tiny_admit(m, item);
    if (is(m, "lirs"))
        return lirs_admit(m, item);
    if (is(m, "s3-fifo"))
        s3_admit(m, item);
    else if (is(m, "arc"))
        arc_admit(m, item);
    else
        simple_admit(m, item);
    return true;
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
        lirs_prune(m);
    } else if (find(&m->a, key) >= 0) {
        simple_take(m, find(&m->a, key));
    } else if (find(&m->b, key) >= 0) {
        take(&m->b, find(&m->b, key));
    } else {
        take(&m->c, find(&m->c, key));
    }
    left(m, &item);
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
            tiny_count(m, key);
        return false;
    }
    m->counts.hits++;
    if (is(m, "s3-fifo"))
        s3_hit(m, key);
    else if (is(m, "arc"))
        arc_hit(m, key);
    else if (is(m, "lirs"))
        lirs_hit(m, key);
    else if (is(m, "w-tiny-lfu"))
        tiny_hit(m, key);
    else
        simple_hit(m, key);
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
