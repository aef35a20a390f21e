/* A move with its price, and the order of moves in repair: the cheapest first, equals by vertex. */
#ifndef CLEAVE_PLACE_MULTILEVEL_RATED_H
#define CLEAVE_PLACE_MULTILEVEL_RATED_H

#include <stdint.h>

struct cleave__rated {
    double rating;   /* less is better */
    uint32_t vertex; /* or block */
    uint32_t to;     /* where the vertex would go, if that is settled already */
};

/* For qsort. */
static inline int cleave__rated_order(const void *a, const void *b)
{
    const struct cleave__rated *x = a, *y = b;
    if (x->rating != y->rating)
        return x->rating < y->rating ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

#endif
