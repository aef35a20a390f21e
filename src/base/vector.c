#include "base/vector.h"

#include <stdint.h>
#include <string.h>

bool cleave__vector_reserve(void *data, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity * 2 : 16;
    if (grown < need)
        grown = need;
    if (grown > SIZE_MAX / 2 / size)
        return false;
    void *held;
    memcpy(&held, data, sizeof held); /* through memcpy: the pointer there has its own type */
    void *fresh = realloc(held, grown * size);
    if (!fresh)
        return false;
    memcpy(data, &fresh, sizeof fresh);
    *capacity = grown;
    return true;
}
