/* A set of shards: CLEAVE_SHARDS_MAX bits, fixed size, passed by pointer. */
#ifndef CLEAVE_BASE_SHARDSET_H
#define CLEAVE_BASE_SHARDSET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CLEAVE_SHARDS_MAX = 1024 };

struct cleave_shardset {
    uint64_t words[CLEAVE_SHARDS_MAX / 64];
};

static inline void cleave__shardset_clear(struct cleave_shardset *s)
{
    memset(s, 0, sizeof *s);
}
static inline void cleave__shardset_fill(struct cleave_shardset *s, uint32_t shards)
{
    for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX / 64; i++) {
        uint32_t low = i * 64;
        s->words[i] = shards >= low + 64 ? UINT64_MAX
                      : shards > low     ? (UINT64_C(1) << (shards - low)) - 1
                                         : 0;
    }
}
static inline void cleave__shardset_add(struct cleave_shardset *s, uint32_t shard)
{
    s->words[shard / 64] |= UINT64_C(1) << (shard % 64);
}
static inline bool cleave__shardset_has(const struct cleave_shardset *s, uint32_t shard)
{
    return s->words[shard / 64] >> (shard % 64) & 1;
}
static inline void cleave__shardset_or(struct cleave_shardset *s, const struct cleave_shardset *o)
{
    for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX / 64; i++)
        s->words[i] |= o->words[i];
}
static inline uint32_t cleave__shardset_count(const struct cleave_shardset *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX / 64; i++)
        n += (uint32_t)__builtin_popcountll(s->words[i]);
    return n;
}
/* The least member; CLEAVE_SHARDS_MAX when empty. */
static inline uint32_t cleave__shardset_first(const struct cleave_shardset *s)
{
    for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX / 64; i++) {
        if (s->words[i])
            return i * 64 + (uint32_t)__builtin_ctzll(s->words[i]);
    }
    return CLEAVE_SHARDS_MAX;
}

#endif
