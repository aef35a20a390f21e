/* arc: shelf a is T1, b T2, c B1, d B2. */
#include "graph_cache/model/shelf.h"

static void arc_replace(struct model *m, bool in_b2)
{
    double t1 = (double)total(m, &m->a);
    bool first = m->a.count && (t1 > m->target || (in_b2 && t1 == m->target));
    if (!m->b.count)
        first = true;
    struct item out = take(first ? &m->a : &m->b, 0);
    model__evicted(m, &out);
    append(first ? &m->c : &m->d, out);
}

static uint64_t arc_all(const struct model *m)
{
    return total(m, &m->a) + total(m, &m->b) + total(m, &m->c) + total(m, &m->d);
}

bool model__arc_admit(struct model *m, struct item item)
{
    uint64_t c = m->options.capacity, size = cost(m, &item);
    int in_b1 = find(&m->c, item.key), in_b2 = find(&m->d, item.key);
    double b1 = (double)total(m, &m->c), b2 = (double)total(m, &m->d);
    if (in_b1 >= 0 || in_b2 >= 0) {
        m->target += in_b1 >= 0 ? (b2 > b1 ? b2 / b1 : 1) : -(b1 > b2 ? b1 / b2 : 1);
        m->target = m->target < 0 ? 0 : m->target > (double)c ? (double)c : m->target;
        take(in_b1 >= 0 ? &m->c : &m->d, in_b1 >= 0 ? in_b1 : in_b2);
        while (model__used(m) + size > c)
            arc_replace(m, in_b2 >= 0);
        append(&m->b, item);
        while (arc_all(m) > 2 * c)
            take(m->d.count ? &m->d : &m->c, 0);
        return true;
    }
    while (m->c.count && total(m, &m->a) + total(m, &m->c) + size > c)
        take(&m->c, 0);
    while (total(m, &m->a) + size > c) {
        struct item out = take(&m->a, 0);
        model__evicted(m, &out);
    }
    while (m->d.count && arc_all(m) + size > 2 * c)
        take(&m->d, 0);
    while (model__used(m) + size > c)
        arc_replace(m, false);
    append(&m->a, item);
    return true;
}

void model__arc_hit(struct model *m, uint64_t key)
{
    int at = find(&m->a, key);
    append(&m->b, at >= 0 ? take(&m->a, at) : take(&m->b, find(&m->b, key)));
}
