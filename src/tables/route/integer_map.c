/* See integer_map.h for the structure.
 *
 * Encoded: form, key_bits, bucket_bits, shard_bits, wide (a byte each), count (32 bits), low, span
 * (64 each), the directory, the entries' bits, 16 bytes of zeroes so that any field can be read
 * with one 8-byte load and one byte. */
#include "tables/route/integer_map.h"

#include <stdlib.h>

enum { TAIL = 16, LONG_BUCKET = 24 };

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static unsigned bits_of(uint64_t x) /* least width that holds x */
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* A bijection of `bits`-bit numbers, and its inverse: each shift is at least half the width, so it
 * undoes itself; odd factors have inverses modulo a power of two. */
static const uint64_t factor[2] = {UINT64_C(0xd6e8feb86659fd93), UINT64_C(0xa0761d6478bd642f)};

static uint64_t mix(uint64_t x, unsigned bits)
{
    unsigned half = (bits + 1) / 2;
    uint64_t mask = mask_of(bits);
    x ^= x >> half;
    x = x * factor[0] & mask;
    x ^= x >> half;
    x = x * factor[1] & mask;
    return x ^ x >> half;
}

static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd; /* right to 3 bits; each step doubles that */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static uint64_t unmix(uint64_t x, unsigned bits)
{
    unsigned half = (bits + 1) / 2;
    uint64_t mask = mask_of(bits);
    x ^= x >> half;
    x = x * inverse_of(factor[1]) & mask;
    x ^= x >> half;
    x = x * inverse_of(factor[0]) & mask;
    return x ^ x >> half;
}

static uint64_t read_bits(const uint8_t *from, uint64_t position, unsigned width)
{
    const uint8_t *byte = from + position / 8;
    unsigned shift = position % 8;
    uint64_t x = cleave__load64(byte) >> shift;
    if (shift + width > 64)
        x |= (uint64_t)byte[8] << (64 - shift);
    return x & mask_of(width);
}

static void write_bits(uint8_t *to, uint64_t position, uint64_t x, unsigned width)
{
    uint8_t *byte = to + position / 8;
    unsigned shift = position % 8;
    cleave__store64(byte, cleave__load64(byte) | x << shift);
    if (shift + width > 64)
        byte[8] = (uint8_t)(byte[8] | x >> (64 - shift));
}

static unsigned entry_bits(const struct cleave_integer_map *map)
{
    return map->form == CLEAVE_FORM_DENSE
               ? map->shard_bits
               : (unsigned)map->key_bits - map->bucket_bits + map->shard_bits;
}

/* Where a bucket would start if the entries were spread evenly. */
static uint32_t even_start(const struct cleave_integer_map *map, uint64_t bucket)
{
    return (uint32_t)(bucket * map->count >> map->bucket_bits);
}

static uint32_t bucket_start(const struct cleave_integer_map *map, uint64_t bucket)
{
    if (map->wide)
        return cleave__load32(map->directory + bucket * 4);
    int16_t difference = (int16_t)cleave__load16(map->directory + bucket * 2);
    return even_start(map, bucket) + (uint32_t)(int32_t)difference;
}

static uint64_t remainder_at(const struct cleave_integer_map *map, uint32_t index)
{
    return read_bits(map->entries, (uint64_t)index * entry_bits(map),
                     (unsigned)map->key_bits - map->bucket_bits);
}

uint32_t cleave__integer_map_shard(const struct cleave_integer_map *map, uint32_t index)
{
    unsigned remainder_bits = (unsigned)map->key_bits - map->bucket_bits;
    return (uint32_t)read_bits(map->entries, (uint64_t)index * entry_bits(map) + remainder_bits,
                               map->shard_bits);
}

/* First index in [low, high) whose remainder is at least `wanted`, else high. */
static uint32_t search(const struct cleave_integer_map *map, uint32_t low, uint32_t high,
                       uint64_t wanted)
{
    while (high - low > LONG_BUCKET) {
        uint32_t middle = low + (high - low) / 2;
        if (remainder_at(map, middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    unsigned width = entry_bits(map), bits = (unsigned)map->key_bits - map->bucket_bits;
    if (bits <= 57) { /* one load reads it from any bit of a byte */
        uint64_t mask = mask_of(bits), position = (uint64_t)low * width;
        for (; low < high; low++, position += width) {
            if ((cleave__load64(map->entries + position / 8) >> position % 8 & mask) >= wanted)
                break;
        }
        return low;
    }
    for (uint64_t position = (uint64_t)low * width;
         low < high && read_bits(map->entries, position, bits) < wanted; position += width)
        low++;
    return low;
}

static uint32_t place_of(const struct cleave_integer_map *map, uint64_t mixed, uint32_t *end)
{
    unsigned bits = (unsigned)map->key_bits - map->bucket_bits;
    uint64_t bucket = map->bucket_bits ? mixed >> bits : 0;
    *end = bucket_start(map, bucket + 1);
    return search(map, bucket_start(map, bucket), *end, mixed & mask_of(bits));
}

bool cleave__integer_map_find(const struct cleave_integer_map *map, uint64_t key, uint32_t *shard)
{
    uint64_t offset = key - map->low;
    if (key < map->low || offset > map->span || map->form == CLEAVE_FORM_EMPTY)
        return false;
    if (map->form == CLEAVE_FORM_DENSE) {
        uint32_t x = (uint32_t)read_bits(map->entries, offset * map->shard_bits, map->shard_bits);
        if (map->count - 1 == map->span) { /* every key is there: no mark for absent ones */
            *shard = x;
            return true;
        }
        if (x == 0)
            return false;
        *shard = x - 1;
        return true;
    }
    if (map->form == CLEAVE_FORM_MIXED)
        offset = mix(offset, map->key_bits);
    uint32_t end, at = place_of(map, offset, &end);
    if (at == end ||
        remainder_at(map, at) != (offset & mask_of((unsigned)map->key_bits - map->bucket_bits)))
        return false;
    *shard = cleave__integer_map_shard(map, at);
    return true;
}

uint32_t cleave__integer_map_rank(const struct cleave_integer_map *map, uint64_t key)
{
    if (map->form == CLEAVE_FORM_EMPTY || key < map->low)
        return 0;
    if (key - map->low > map->span)
        return map->count;
    uint32_t end;
    return place_of(map, key - map->low, &end);
}

static int compare_entries(const void *a, const void *b)
{
    const struct cleave_integer_entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t domain_size(const struct cleave_integer_map *map)
{
    return map->form == CLEAVE_FORM_DENSE ? map->span + 1 : map->count;
}

static void put_header(const struct cleave_integer_map *map, struct cleave_writer *out)
{
    cleave__put8(out, map->form);
    cleave__put8(out, map->key_bits);
    cleave__put8(out, map->bucket_bits);
    cleave__put8(out, map->shard_bits);
    cleave__put8(out, map->wide);
    cleave__put32(out, map->count);
    cleave__put64(out, map->low);
    cleave__put64(out, map->span);
}

static size_t payload_bytes(const struct cleave_integer_map *map)
{
    /* Counts are below 2^32 and widths below 75: no overflow. */
    return (size_t)((domain_size(map) * entry_bits(map) + 7) / 8 + TAIL);
}

/* The DENSE form's marks: shard + 1 with 0 for absent, or the shard itself when none is. At least
 * one bit, so that a small file cannot stand for a huge map. */
static unsigned dense_bits(uint32_t count, uint64_t span, uint32_t shards)
{
    unsigned bits = bits_of(count - 1 == span ? shards - 1 : shards);
    return bits ? bits : 1;
}

static void encode_dense(const struct cleave_integer_map *map,
                         const struct cleave_integer_entry *entries, struct cleave_writer *out)
{
    put_header(map, out);
    uint8_t *bits = cleave__put_space(out, payload_bytes(map));
    if (!bits)
        return;
    uint32_t mark = map->count - 1 == map->span ? 0 : 1;
    for (uint32_t i = 0; i < map->count; i++)
        write_bits(bits, (entries[i].key - map->low) * map->shard_bits, entries[i].shard + mark,
                   map->shard_bits);
}

/* Entries as they are stored, sorted: the key is the offset in the domain, mixed when MIXED. */
static struct cleave_integer_entry *stored_order(const struct cleave_integer_map *map,
                                                 const struct cleave_integer_entry *entries)
{
    struct cleave_integer_entry *sorted = malloc(map->count * sizeof *sorted);
    if (!sorted)
        return NULL;
    for (uint32_t i = 0; i < map->count; i++) {
        uint64_t offset = entries[i].key - map->low;
        sorted[i].key = map->form == CLEAVE_FORM_MIXED ? mix(offset, map->key_bits) : offset;
        sorted[i].shard = entries[i].shard;
    }
    if (map->form == CLEAVE_FORM_MIXED)
        qsort(sorted, map->count, sizeof *sorted, compare_entries);
    return sorted;
}

/* Writes the directory to `to`, or only tells whether 16-bit differences do when it is NULL. */
static bool fill_directory(const struct cleave_integer_map *map,
                           const struct cleave_integer_entry *sorted, uint8_t *to)
{
    uint64_t buckets = UINT64_C(1) << map->bucket_bits;
    unsigned bits = (unsigned)map->key_bits - map->bucket_bits;
    uint32_t i = 0;
    for (uint64_t bucket = 0; bucket <= buckets; bucket++) {
        while (i < map->count && (map->bucket_bits ? sorted[i].key >> bits : 0) < bucket)
            i++;
        int64_t difference = (int64_t)i - even_start(map, bucket);
        if (!to && (difference < INT16_MIN || difference > INT16_MAX))
            return false;
        if (to && map->wide)
            cleave__store32(to + bucket * 4, i);
        else if (to)
            cleave__store16(to + bucket * 2, (uint16_t)difference);
    }
    return true;
}

static size_t directory_bytes(const struct cleave_integer_map *map)
{
    return (size_t)((UINT64_C(1) << map->bucket_bits) + 1) * (map->wide ? 4 : 2);
}

static enum cleave_status encode_buckets(struct cleave_integer_map *map,
                                         const struct cleave_integer_entry *entries,
                                         struct cleave_writer *out)
{
    struct cleave_integer_entry *sorted = stored_order(map, entries);
    if (!sorted)
        return CLEAVE_NO_MEMORY;
    map->wide = !fill_directory(map, sorted, NULL);
    put_header(map, out);
    uint8_t *space = cleave__put_space(out, directory_bytes(map) + payload_bytes(map));
    if (space) {
        fill_directory(map, sorted, space);
        uint8_t *bits = space + directory_bytes(map);
        unsigned remainder_bits = (unsigned)map->key_bits - map->bucket_bits;
        for (uint32_t i = 0; i < map->count; i++) {
            uint64_t position = (uint64_t)i * entry_bits(map);
            write_bits(bits, position, sorted[i].key & mask_of(remainder_bits), remainder_bits);
            write_bits(bits, position + remainder_bits, sorted[i].shard, map->shard_bits);
        }
    }
    free(sorted);
    return space ? CLEAVE_OK : CLEAVE_NO_MEMORY;
}

enum cleave_status cleave__integer_map_encode(const struct cleave_integer_entry *entries,
                                              uint32_t count, uint32_t shards, bool ordered,
                                              struct cleave_writer *out)
{
    struct cleave_integer_map map = {.form = CLEAVE_FORM_EMPTY};
    if (count == 0) {
        put_header(&map, out);
        return out->failed ? CLEAVE_NO_MEMORY : CLEAVE_OK;
    }
    map.count = count;
    map.low = entries[0].key;
    map.span = entries[count - 1].key - map.low;
    map.form = ordered ? CLEAVE_FORM_ORDERED : CLEAVE_FORM_MIXED;
    map.key_bits = (uint8_t)bits_of(map.span);
    unsigned log_count = bits_of(count) - 1; /* 4 to 8 entries a bucket */
    map.bucket_bits = (uint8_t)(log_count > 2 ? log_count - 2 : 0);
    if (map.bucket_bits > map.key_bits)
        map.bucket_bits = map.key_bits;
    map.shard_bits = (uint8_t)bits_of(shards - 1);
    unsigned dense = dense_bits(count, map.span, shards);
    if (!ordered && map.span < UINT64_C(1) << 40 &&
        (map.span + 1) * dense <=
            (uint64_t)count * entry_bits(&map) + (UINT64_C(16) << map.bucket_bits)) {
        map.form = CLEAVE_FORM_DENSE;
        map.key_bits = map.bucket_bits = 0;
        map.shard_bits = (uint8_t)dense;
        encode_dense(&map, entries, out);
    } else {
        enum cleave_status status = encode_buckets(&map, entries, out);
        if (status != CLEAVE_OK)
            return status;
    }
    return out->failed ? CLEAVE_NO_MEMORY : CLEAVE_OK;
}

static bool check_dense(const struct cleave_integer_map *map, uint32_t shards)
{
    uint64_t present = 0;
    bool full = map->count - 1 == map->span;
    for (uint64_t i = 0; i <= map->span; i++) {
        uint64_t x = read_bits(map->entries, i * map->shard_bits, map->shard_bits);
        if (full ? x >= shards : x > shards)
            return false;
        present += full || x != 0;
    }
    return present == map->count;
}

static bool check_buckets(const struct cleave_integer_map *map, uint32_t shards)
{
    uint64_t buckets = UINT64_C(1) << map->bucket_bits;
    if (bucket_start(map, 0) != 0 || bucket_start(map, buckets) != map->count)
        return false;
    unsigned bits = (unsigned)map->key_bits - map->bucket_bits;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        uint32_t start = bucket_start(map, bucket), end = bucket_start(map, bucket + 1);
        if (start > end || end > map->count)
            return false;
        uint64_t before = 0;
        for (uint32_t i = start; i < end; i++) {
            uint64_t remainder = remainder_at(map, i);
            uint64_t offset = bits >= 64 ? remainder : bucket << bits | remainder;
            if (map->form == CLEAVE_FORM_MIXED)
                offset = unmix(offset, map->key_bits);
            if ((i > start && remainder <= before) || offset > map->span ||
                cleave__integer_map_shard(map, i) >= shards)
                return false;
            before = remainder;
        }
    }
    return true;
}

bool cleave__integer_map_decode(struct cleave_reader *reader, uint32_t shards, bool ordered,
                                struct cleave_integer_map *out)
{
    struct cleave_integer_map map = {0};
    map.form = cleave__get8(reader);
    map.key_bits = cleave__get8(reader);
    map.bucket_bits = cleave__get8(reader);
    map.shard_bits = cleave__get8(reader);
    map.wide = cleave__get8(reader);
    map.count = cleave__get32(reader);
    map.low = cleave__get64(reader);
    map.span = cleave__get64(reader);
    if (reader->failed)
        return false;
    if (map.form == CLEAVE_FORM_EMPTY) {
        *out = (struct cleave_integer_map){.form = CLEAVE_FORM_EMPTY};
        return map.count == 0;
    }
    if (map.count == 0 || map.low > UINT64_MAX - map.span || map.count - 1 > map.span)
        return false;
    bool bucketed = map.form == (ordered ? CLEAVE_FORM_ORDERED : CLEAVE_FORM_MIXED);
    if (bucketed) {
        if (map.key_bits != bits_of(map.span) || map.bucket_bits > map.key_bits ||
            map.bucket_bits > 31 || map.wide > 1 || map.shard_bits != bits_of(shards - 1))
            return false;
        map.directory = cleave__get_bytes(reader, directory_bytes(&map));
    } else if (map.form != CLEAVE_FORM_DENSE || ordered || map.span >= UINT64_C(1) << 40 ||
               map.key_bits || map.bucket_bits || map.wide ||
               map.shard_bits != dense_bits(map.count, map.span, shards)) {
        return false;
    }
    map.entries = cleave__get_bytes(reader, payload_bytes(&map));
    if (!map.entries || (bucketed && !map.directory) ||
        !(bucketed ? check_buckets(&map, shards) : check_dense(&map, shards)))
        return false;
    *out = map;
    return true;
}

void cleave__integer_map_list(const struct cleave_integer_map *map,
                              struct cleave_integer_entry *out)
{
    uint32_t n = 0;
    if (map->form == CLEAVE_FORM_DENSE) {
        for (uint64_t i = 0; i <= map->span; i++) {
            uint32_t shard;
            if (cleave__integer_map_find(map, map->low + i, &shard))
                out[n++] = (struct cleave_integer_entry){map->low + i, shard};
        }
    } else if (map->form != CLEAVE_FORM_EMPTY) {
        unsigned bits = (unsigned)map->key_bits - map->bucket_bits;
        uint64_t bucket = 0;
        for (uint32_t i = 0; i < map->count; i++) {
            while (bucket_start(map, bucket + 1) <= i)
                bucket++;
            uint64_t remainder = remainder_at(map, i);
            uint64_t offset = bits >= 64 ? remainder : bucket << bits | remainder;
            if (map->form == CLEAVE_FORM_MIXED)
                offset = unmix(offset, map->key_bits);
            out[n++] =
                (struct cleave_integer_entry){map->low + offset, cleave__integer_map_shard(map, i)};
        }
        qsort(out, n, sizeof *out, compare_entries);
    }
}
