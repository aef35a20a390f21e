/* Linear probing; a removal moves later entries of the run back (Knuth, algorithm 6.4R). */
#include "base/map.h"

#include <stdlib.h>

#include "base/random.h"

void cleave__map_free(struct cleave__map *map)
{
    free(map->slots);
    *map = (struct cleave__map){0};
}

static uint64_t home(const struct cleave__map *map, uint64_t key)
{
    return cleave__mix64(key) & map->mask;
}

uint64_t *cleave__map_find(const struct cleave__map *map, uint64_t key)
{
    if (key == 0)
        return map->has_zero ? (uint64_t *)&map->zero : NULL;
    if (!map->slots)
        return NULL;
    for (uint64_t i = home(map, key); map->slots[i].key; i = (i + 1) & map->mask) {
        if (map->slots[i].key == key)
            return &map->slots[i].value;
    }
    return NULL;
}

static bool grow(struct cleave__map *map)
{
    uint64_t old = map->slots ? map->mask + 1 : 0, size = old ? 2 * old : 16;
    struct cleave__map_slot *slots = calloc(size, sizeof *slots), *before = map->slots;
    if (!slots)
        return false;
    map->slots = slots;
    map->mask = size - 1;
    for (uint64_t k = 0; k < old; k++) {
        if (!before[k].key)
            continue;
        uint64_t i = home(map, before[k].key);
        while (slots[i].key)
            i = (i + 1) & map->mask;
        slots[i] = before[k];
    }
    free(before);
    return true;
}

uint64_t *cleave__map_put(struct cleave__map *map, uint64_t key)
{
    uint64_t *found = cleave__map_find(map, key);
    if (found)
        return found;
    if (key == 0) {
        map->has_zero = true;
        map->zero = 0;
        return &map->zero;
    }
    if ((!map->slots || (map->count + 1) * 8 > (map->mask + 1) * 7) && !grow(map))
        return NULL;
    uint64_t i = home(map, key);
    while (map->slots[i].key)
        i = (i + 1) & map->mask;
    map->slots[i] = (struct cleave__map_slot){key, 0};
    map->count++;
    return &map->slots[i].value;
}

bool cleave__map_remove(struct cleave__map *map, uint64_t key)
{
    uint64_t *found = cleave__map_find(map, key);
    if (!found)
        return false;
    if (key == 0) {
        map->has_zero = false;
        return true;
    }
    uint64_t hole = 0;
    for (hole = home(map, key); map->slots[hole].key != key;)
        hole = (hole + 1) & map->mask;
    for (uint64_t i = (hole + 1) & map->mask; map->slots[i].key; i = (i + 1) & map->mask) {
        uint64_t from = home(map, map->slots[i].key);
        /* It may go back to the hole unless its home lies after the hole, up to itself. */
        if (((i - from) & map->mask) >= ((i - hole) & map->mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (struct cleave__map_slot){0};
    map->count--;
    return true;
}

bool cleave__map_next(const struct cleave__map *map, size_t *at, uint64_t *key, uint64_t *value)
{
    size_t size = map->slots ? (size_t)map->mask + 1 : 0;
    while (*at < size) {
        const struct cleave__map_slot *slot = &map->slots[(*at)++];
        if (slot->key) {
            *key = slot->key;
            *value = slot->value;
            return true;
        }
    }
    if (*at == size && map->has_zero) {
        ++*at;
        *key = 0;
        *value = map->zero;
        return true;
    }
    return false;
}

size_t cleave__map_bytes(const struct cleave__map *map)
{
    return map->slots ? ((size_t)map->mask + 1) * sizeof *map->slots : 0;
}

bool cleave__map_check(const struct cleave__map *map)
{
    size_t at = 0, count = 0;
    uint64_t key, value;
    while (cleave__map_next(map, &at, &key, &value)) {
        uint64_t *found = cleave__map_find(map, key);
        if (!found || *found != value)
            return false;
        count++;
    }
    return count == map->count + map->has_zero &&
           (!map->slots || map->count * 8 <= (map->mask + 1) * 7);
}
