#include "base/intern.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/vector.h"

void cleave__intern_free(struct cleave_intern *table)
{
    free(table->entries);
    free(table->slots);
    cleave__arena_free(&table->arena);
    *table = (struct cleave_intern){0};
}

static uint32_t hash_bytes(const void *bytes, size_t length)
{
    return (uint32_t)XXH3_64bits(bytes, length);
}

static uint32_t find_hashed(const struct cleave_intern *table, const void *bytes, size_t length,
                            uint32_t hash)
{
    if (!table->slots)
        return CLEAVE_INTERN_NONE;
    for (uint32_t at = hash & table->slot_mask;; at = (at + 1) & table->slot_mask) {
        uint32_t id = table->slots[at];
        if (!id)
            return CLEAVE_INTERN_NONE;
        const struct cleave_intern_entry *entry = &table->entries[id - 1];
        if (entry->hash == hash && entry->length == length &&
            (length == 0 || memcmp(entry->bytes, bytes, length) == 0))
            return id - 1;
    }
}

uint32_t cleave__intern_find(const struct cleave_intern *table, const void *bytes, size_t length)
{
    return find_hashed(table, bytes, length, hash_bytes(bytes, length));
}

static int grow_slots(struct cleave_intern *table)
{
    uint32_t size = table->slots ? (table->slot_mask + 1) * 2 : 64;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return 0;
    for (uint32_t id = 0; id < table->count; id++) {
        uint32_t at = table->entries[id].hash & (size - 1);
        while (slots[at])
            at = (at + 1) & (size - 1);
        slots[at] = id + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = size - 1;
    return 1;
}

uint32_t cleave__intern_add(struct cleave_intern *table, const void *bytes, size_t length)
{
    uint32_t hash = hash_bytes(bytes, length);
    uint32_t id = find_hashed(table, bytes, length, hash);
    if (id != CLEAVE_INTERN_NONE)
        return id;
    if (length >= UINT32_MAX || table->count >= UINT32_MAX / 4)
        return CLEAVE_INTERN_NONE;
    if (!table->slots || table->count + 1 > (table->slot_mask + 1) / 2) {
        if (!grow_slots(table))
            return CLEAVE_INTERN_NONE;
    }
    if (table->count == table->capacity) {
        size_t capacity = table->capacity;
        if (!cleave__vector_reserve(&table->entries, &capacity, capacity + 1,
                                    sizeof *table->entries))
            return CLEAVE_INTERN_NONE;
        table->capacity = (uint32_t)capacity;
    }
    const char *copy = cleave__arena_copy(&table->arena, bytes, length);
    if (!copy)
        return CLEAVE_INTERN_NONE;
    id = table->count++;
    table->entries[id] = (struct cleave_intern_entry){copy, (uint32_t)length, hash};
    uint32_t at = hash & table->slot_mask;
    while (table->slots[at])
        at = (at + 1) & table->slot_mask;
    table->slots[at] = id + 1;
    return id;
}

struct cleave_intern_mark cleave__intern_mark(const struct cleave_intern *table)
{
    return (struct cleave_intern_mark){table->count, cleave__arena_mark(&table->arena)};
}

/* Frees a slot; those behind it that were pushed over it move up. */
static void free_slot(struct cleave_intern *table, uint32_t at)
{
    uint32_t mask = table->slot_mask;
    for (uint32_t next = (at + 1) & mask; table->slots[next]; next = (next + 1) & mask) {
        uint32_t home = table->entries[table->slots[next] - 1].hash & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
            table->slots[at] = table->slots[next];
            at = next;
        }
    }
    table->slots[at] = 0;
}

void cleave__intern_rewind(struct cleave_intern *table, struct cleave_intern_mark mark)
{
    if (table->count == mark.count)
        return;
    while (table->count > mark.count) {
        uint32_t at = table->entries[table->count - 1].hash & table->slot_mask;
        while (table->slots[at] != table->count)
            at = (at + 1) & table->slot_mask;
        free_slot(table, at);
        table->count--;
    }
    cleave__arena_rewind(&table->arena, mark.arena);
}
