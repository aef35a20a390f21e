/* w-tiny-lfu: shelf a is the window, b probation, c protected. */
#include "graph_cache/model/shelf.h"

void model__tiny_count(struct model *m, uint64_t key)
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

void model__tiny_hit(struct model *m, uint64_t key)
{
    uint64_t main = m->options.capacity - tiny_window(m);
    model__tiny_count(m, key);
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
        model__evicted(m, &out);
    }
    append(&m->b, item);
    return true;
}

bool model__tiny_admit(struct model *m, struct item item)
{
    if (cost(m, &item) > tiny_window(m))
        return tiny_main(m, item);
    append(&m->a, item);
    while (total(m, &m->a) > tiny_window(m)) {
        struct item out = take(&m->a, 0);
        if (!tiny_main(m, out))
            model__evicted(m, &out);
    }
    return true;
}
