/* fifo, lru, clock, lfu, sieve, belady: one shelf, and a rule for who leaves it. */
#include "graph_cache/model/shelf.h"

static uint64_t next_use(const struct model *m)
{
    uint64_t now = m->counts.requests;
    return now && now <= m->options.next_uses ? m->options.next_use[now - 1] : UINT64_MAX;
}

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

struct item model__simple_take(struct model *m, int at)
{
    struct item item = take(&m->a, at);
    if (m->hand > at || (m->hand == at && (unsigned)at == m->a.count))
        m->hand = m->hand == at ? -1 : m->hand - 1;
    return item;
}

bool model__simple_admit(struct model *m, struct item item)
{
    while (model__used(m) + cost(m, &item) > m->options.capacity) {
        struct item out = model__simple_take(m, simple_victim(m));
        model__evicted(m, &out);
    }
    item.uses = is(m, "lfu") ? 1 : 0;
    item.when = is(m, "belady") ? next_use(m) : m->now;
    append(&m->a, item);
    return true;
}

void model__simple_hit(struct model *m, uint64_t key)
{
    struct item *item = &m->a.item[find(&m->a, key)];
    item->uses = is(m, "lfu") ? item->uses + 1 : 1;
    item->when = is(m, "belady") ? next_use(m) : m->now;
    if (is(m, "lru"))
        append(&m->a, take(&m->a, find(&m->a, key)));
}
