/* s3-fifo: shelf a is the small queue, b the main, c the ghosts. */
#include "graph_cache/model/shelf.h"

bool model__s3_admit(struct model *m, struct item item)
{
    uint64_t capacity = m->options.capacity, small = share(m, parameter(m, 0), 1);
    uint64_t main_limit = small < capacity ? capacity - small : 0;
    int ghost = find(&m->c, item.key);
    if (ghost >= 0)
        take(&m->c, ghost);
    while (model__used(m) + cost(m, &item) > capacity) {
        if (m->a.count && total(m, &m->b) <= main_limit) {
            struct item out = take(&m->a, 0);
            if (out.uses >= (unsigned)parameter(m, 2)) {
                out.uses = 0;
                append(&m->b, out);
                continue;
            }
            model__evicted(m, &out);
            append(&m->c, out);
            while (total(m, &m->c) > share(m, parameter(m, 1), 0))
                take(&m->c, 0);
        } else {
            struct item out = take(&m->b, 0);
            if (out.uses) {
                out.uses--;
                append(&m->b, out);
            } else {
                model__evicted(m, &out);
            }
        }
    }
    item.uses = 0;
    append(ghost >= 0 ? &m->b : &m->a, item);
    return true;
}

void model__s3_hit(struct model *m, uint64_t key)
{
    int at = find(&m->a, key);
    struct item *item = at >= 0 ? &m->a.item[at] : &m->b.item[find(&m->b, key)];
    item->uses = item->uses < 3 ? item->uses + 1 : 3;
}
