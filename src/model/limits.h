/* Bounds that every hypergraph keeps, so that sums of weights and costs never overflow. */
#ifndef CLEAVE_MODEL_LIMITS_H
#define CLEAVE_MODEL_LIMITS_H

#include <stdint.h>

#define CLEAVE__WEIGHT_SUM_MAX                                                                     \
    (INT64_C(1) << 60)                   /* per constraint; also net weights times pins            \
                                          */
#define CLEAVE__VERTICES_MAX 2147483646u /* blocks and fixed vertices are int32 */

#endif
