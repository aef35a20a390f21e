/* lirs: shelf a is the stack S, b the queue Q, c the ghosts in order of their eviction. */
#include "graph_cache/model/shelf.h"

uint64_t model__lir_cost(const struct model *m)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < m->a.count; i++)
        sum += m->a.item[i].kind == 'L' ? cost(m, &m->a.item[i]) : 0;
    return sum;
}

void model__lirs_prune(struct model *m)
{
    while (m->a.count && m->a.item[0].kind != 'L') {
        struct item item = take(&m->a, 0);
        if (item.kind == 'G')
            take(&m->c, find(&m->c, item.key));
    }
}

static void lirs_demote(struct model *m, uint64_t limit)
{
    while (model__lir_cost(m) > limit) {
        struct item item = take(&m->a, 0);
        item.kind = 'H';
        append(&m->b, item);
        model__lirs_prune(m);
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
    model__lirs_prune(m);
}

static void lirs_bound(struct model *m)
{
    while (m->c.count && total(m, &m->a) > share(m, parameter(m, 1), 1))
        take(&m->a, find(&m->a, take(&m->c, 0).key));
}

void model__lirs_hit(struct model *m, uint64_t key)
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

bool model__lirs_admit(struct model *m, struct item item)
{
    uint64_t size = cost(m, &item);
    int ghost = find(&m->c, item.key);
    bool filling = model__used(m) + size <= lir_limit(m);
    if (ghost >= 0) {
        take(&m->c, ghost);
        take(&m->a, find(&m->a, item.key));
    } else if (!filling && model__lir_cost(m) + size > m->options.capacity) {
        append(&m->c, item);
        lirs_push(m, item, 'G');
        lirs_bound(m);
        return false;
    }
    while (model__used(m) + size > m->options.capacity) {
        if (!m->b.count)
            lirs_demote(m, model__lir_cost(m) - 1);
        struct item out = take(&m->b, 0);
        model__evicted(m, &out);
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
