/* A hash map from 64-bit keys to 64-bit values. Open addressing with linear probing, at most seven
 * eighths full; removal leaves no gaps. O(1) expected, 16 bytes an entry and an eighth.
 *
 * `struct cleave__map map = {0};` is empty. A growth copies all entries: 10 ms a million. */
#ifndef CLEAVE_BASE_MAP_H
#define CLEAVE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cleave__map_slot {
    uint64_t key, value;
};

struct cleave__map {
    struct cleave__map_slot *slots; /* key 0: free */
    uint64_t mask;
    size_t count;
    bool has_zero; /* key 0 has a place of its own */
    uint64_t zero;
};

void cleave__map_free(struct cleave__map *map);
/* The value, to be changed in place, until the next insertion or removal; NULL if not there. */
uint64_t *cleave__map_find(const struct cleave__map *map, uint64_t key);
/* The same, inserted with value 0 if not there; NULL: memory is out. */
uint64_t *cleave__map_put(struct cleave__map *map, uint64_t key);
/* Whether it was there. */
bool cleave__map_remove(struct cleave__map *map, uint64_t key);
/* Entries in an order that is the same for the same history: `*at` from 0; false at the end. */
bool cleave__map_next(const struct cleave__map *map, size_t *at, uint64_t *key, uint64_t *value);
size_t cleave__map_bytes(const struct cleave__map *map);
bool cleave__map_check(const struct cleave__map *map);

#endif
