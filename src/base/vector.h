/* A growing array, typed by macro: `CLEAVE_VECTOR(uint32_t) ids = {0};`.
 * Push is amortised O(1) and yields false when memory is out (the vector is then unchanged). */
#ifndef CLEAVE_BASE_VECTOR_H
#define CLEAVE_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define CLEAVE_VECTOR(type)                                                                        \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `need` elements of `size` bytes; `data` is the address of the data pointer. */
bool cleave__vector_reserve(void *data, size_t *capacity, size_t need, size_t size);

#define CLEAVE_RESERVE(v, need)                                                                    \
    ((need) <= (v)->capacity ||                                                                    \
     cleave__vector_reserve(&(v)->data, &(v)->capacity, (need), sizeof *(v)->data))
#define CLEAVE_PUSH(v, ...)                                                                        \
    (CLEAVE_RESERVE(v, (v)->count + 1) ? ((v)->data[(v)->count++] = (__VA_ARGS__), true) : false)
#define CLEAVE_VECTOR_FREE(v) (free((v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)

#endif
