/* Random nets and their transpose, for tests that build levels by hand. */
#ifndef TESTS_PLACE_NETS_H
#define TESTS_PLACE_NETS_H

#include "support/property.h"

enum { NETS_VERTICES_MAX = 16 };

/* The arrays of a level, of the caller's size. */
struct nets {
    uint64_t *net_offset, *vertex_offset;
    uint32_t *pin, *incident;
    int64_t *net_weight;
};

/* Each net draws `least` to least + spread - 1 of n vertices, those drawn twice once; weights are 0
 * to 5. */
static inline void draw_nets(struct property_source *s, const struct nets *x, uint32_t n,
                             uint32_t nets, uint32_t least, uint32_t spread)
{
    uint32_t used = 0;
    for (uint32_t e = 0; e < nets; e++) {
        bool in[NETS_VERTICES_MAX] = {0};
        uint32_t size = least + (uint32_t)property_draw(s, spread);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t v = (uint32_t)property_draw(s, n);
            if (!in[v])
                x->pin[used++] = v;
            in[v] = true;
        }
        x->net_offset[e + 1] = used;
        x->net_weight[e] = property_between(s, 0, 5);
    }
    used = 0;
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t e = 0; e < nets; e++) {
            for (uint64_t i = x->net_offset[e]; i < x->net_offset[e + 1]; i++) {
                if (x->pin[i] == v)
                    x->incident[used++] = e;
            }
        }
        x->vertex_offset[v + 1] = used;
    }
}

#endif
