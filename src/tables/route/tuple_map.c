/* See tuple_map.h. Encoded: bucket_bits (a byte), count (32 bits), bytes of records (32 bits), the
 * directory, the records. A record: `width` values, then the shard as a varint. A value: kind and
 * length in a varint (length * 4 + kind), then 8 bytes of an INTEGER or the bytes of a text. */
#include "tables/route/tuple_map.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/random.h"
#include "tables/sql/number.h"

struct cleave_value cleave__plain(const struct cleave_value *value)
{
    if (value->kind != CLEAVE_NUMBER || value->length == 0 || value->length > 20)
        return *value;
    uint32_t at = value->text[0] == '-';
    if (at == value->length)
        return *value;
    uint64_t magnitude = 0;
    for (; at < value->length; at++) {
        unsigned digit = (unsigned char)value->text[at] - (unsigned)'0';
        if (digit > 9 || magnitude > (UINT64_MAX - digit) / 10)
            return *value;
        magnitude = magnitude * 10 + digit;
    }
    bool negative = value->text[0] == '-';
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return *value;
    struct cleave_value plain = {.kind = CLEAVE_INTEGER};
    plain.integer = (int64_t)(negative ? 0 - magnitude : magnitude);
    return plain;
}

void cleave__put_value(struct cleave_writer *out, const struct cleave_value *value)
{
    uint32_t length = value->kind == CLEAVE_INTEGER ? 8
                      : value->kind == CLEAVE_NULL  ? 0
                                                    : value->length;
    cleave__put_varint(out, (uint64_t)length * 4 + (unsigned)value->kind);
    if (value->kind == CLEAVE_INTEGER)
        cleave__put64(out, (uint64_t)value->integer);
    else
        cleave__put_bytes(out, value->text, length);
}

/* Canonical decimal text, as value.h says: what the rest of the program takes for granted. */
static bool is_number(const uint8_t *text, uint64_t length)
{
    uint64_t at = 0, whole, end;
    if (length && text[0] == '-')
        at = 1;
    for (whole = at; at < length && text[at] >= '0' && text[at] <= '9';)
        at++;
    if (at == whole || (text[whole] == '0' && at - whole > 1) || length > CLEAVE_NUMBER_MAX)
        return false;
    if (at == length)
        return whole == 0 || text[whole] != '0'; /* no "-0" */
    if (text[at++] != '.')
        return false;
    for (end = at; end < length && text[end] >= '0' && text[end] <= '9';)
        end++;
    return end == length && end > at && text[end - 1] != '0';
}

struct cleave_value cleave__get_value(struct cleave_reader *reader)
{
    uint64_t head = cleave__get_varint(reader);
    uint64_t length = head / 4;
    struct cleave_value value = {.kind = (enum cleave_value_kind)(head % 4)};
    if (length > UINT32_MAX || (value.kind == CLEAVE_NULL && length != 0) ||
        (value.kind == CLEAVE_INTEGER && length != 8))
        reader->failed = true;
    const uint8_t *bytes = cleave__get_bytes(reader, length);
    if (bytes && value.kind == CLEAVE_NUMBER && !is_number(bytes, length))
        reader->failed = true;
    if (reader->failed)
        return (struct cleave_value){.kind = CLEAVE_NULL};
    if (value.kind == CLEAVE_INTEGER) {
        value.integer = (int64_t)cleave__load64(bytes);
    } else if (value.kind != CLEAVE_NULL) {
        value.text = (const char *)bytes;
        value.length = (uint32_t)length;
    }
    return value;
}

static uint64_t hash_value(const struct cleave_value *value, unsigned place)
{
    uint64_t seed = (uint64_t)value->kind + 4 * place;
    if (value->kind == CLEAVE_INTEGER)
        return cleave__mix64(cleave__mix64((uint64_t)value->integer) + seed);
    if (value->kind == CLEAVE_NULL || value->length == 0)
        return cleave__mix64(seed);
    return XXH3_64bits_withSeed(value->text, value->length, seed);
}

static uint64_t hash_key(const struct cleave_value *key, uint32_t width)
{
    uint64_t hash = hash_value(&key[0], 0);
    return width < 2 ? hash : cleave__mix64(hash + hash_value(&key[1], 1));
}

static bool same(const struct cleave_value *a, const struct cleave_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == CLEAVE_INTEGER)
        return a->integer == b->integer;
    return a->kind == CLEAVE_NULL ||
           (a->length == b->length && (a->length == 0 || !memcmp(a->text, b->text, a->length)));
}

/* One record, trusted: the map was checked when it was opened. */
static void read_record(const uint8_t **at, const uint8_t *end, uint32_t width,
                        struct cleave_tuple_entry *out)
{
    struct cleave_reader reader = {.at = *at, .end = end};
    for (uint32_t i = 0; i < width; i++)
        out->value[i] = cleave__get_value(&reader);
    out->shard = (uint32_t)cleave__get_varint(&reader);
    *at = reader.at;
}

static uint64_t bucket_of(uint64_t hash, unsigned bits)
{
    return bits ? hash >> (64 - bits) : 0;
}

bool cleave__tuple_map_find(const struct cleave_tuple_map *map, const struct cleave_value *key,
                            uint32_t *shard)
{
    if (map->count == 0)
        return false;
    uint64_t bucket = bucket_of(hash_key(key, map->width), map->bucket_bits);
    const uint8_t *at = map->records + cleave__load32(map->directory + bucket * 4);
    const uint8_t *end = map->records + cleave__load32(map->directory + bucket * 4 + 4);
    while (at < end) {
        struct cleave_tuple_entry entry;
        read_record(&at, end, map->width, &entry);
        if (same(&entry.value[0], &key[0]) && (map->width < 2 || same(&entry.value[1], &key[1]))) {
            *shard = entry.shard;
            return true;
        }
    }
    return false;
}

void cleave__tuple_map_list(const struct cleave_tuple_map *map, struct cleave_tuple_entry *out)
{
    if (map->count == 0)
        return;
    const uint8_t *at = map->records;
    const uint8_t *end = at + cleave__load32(map->directory + (UINT64_C(4) << map->bucket_bits));
    for (uint32_t i = 0; i < map->count; i++) {
        out[i] = (struct cleave_tuple_entry){0};
        read_record(&at, end, map->width, &out[i]);
    }
}

struct hashed {
    uint64_t hash;
    uint32_t index;
};

static int compare_hashed(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool has_repeat(const struct hashed *order, const struct cleave_tuple_entry *entries,
                       uint32_t count, uint32_t width)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = i; j-- > 0 && order[j].hash == order[i].hash;) {
            const struct cleave_value *a = entries[order[i].index].value;
            const struct cleave_value *b = entries[order[j].index].value;
            if (same(&a[0], &b[0]) && (width < 2 || same(&a[1], &b[1])))
                return true;
        }
    }
    return false;
}

static enum cleave_status encode_ordered(const struct hashed *order,
                                         const struct cleave_tuple_entry *entries, uint32_t count,
                                         uint32_t width, struct cleave_writer *out)
{
    unsigned log_count = count > 1 ? 32 - (unsigned)__builtin_clz(count) - 1 : 0;
    uint8_t bucket_bits = (uint8_t)(log_count > 2 ? log_count - 2 : 0);
    uint64_t buckets = UINT64_C(1) << bucket_bits;
    cleave__put8(out, bucket_bits);
    cleave__put32(out, count);
    size_t length_at = out->count, directory_at = length_at + 4;
    cleave__put32(out, 0);
    if (!cleave__put_space(out, (size_t)(buckets + 1) * 4))
        return CLEAVE_NO_MEMORY;
    size_t records_at = out->count;
    uint64_t filled = 0;
    for (uint32_t i = 0; i < count && !out->failed; i++) {
        size_t offset = out->count - records_at;
        if (offset > UINT32_MAX)
            return CLEAVE_LIMIT;
        for (; filled <= bucket_of(order[i].hash, bucket_bits); filled++)
            cleave__store32(out->data + directory_at + filled * 4, (uint32_t)offset);
        const struct cleave_tuple_entry *entry = &entries[order[i].index];
        for (uint32_t j = 0; j < width; j++)
            cleave__put_value(out, &entry->value[j]);
        cleave__put_varint(out, entry->shard);
    }
    if (out->failed)
        return CLEAVE_NO_MEMORY;
    size_t length = out->count - records_at;
    if (length > UINT32_MAX)
        return CLEAVE_LIMIT;
    for (; filled <= buckets; filled++)
        cleave__store32(out->data + directory_at + filled * 4, (uint32_t)length);
    cleave__store32(out->data + length_at, (uint32_t)length);
    return CLEAVE_OK;
}

enum cleave_status cleave__tuple_map_encode(const struct cleave_tuple_entry *entries,
                                            uint32_t count, uint32_t width,
                                            struct cleave_writer *out)
{
    struct hashed *order = malloc(count ? count * sizeof *order : 1);
    if (!order)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct hashed){hash_key(entries[i].value, width), i};
    qsort(order, count, sizeof *order, compare_hashed);
    enum cleave_status status = has_repeat(order, entries, count, width)
                                    ? CLEAVE_BAD_ARGUMENT
                                    : encode_ordered(order, entries, count, width, out);
    free(order);
    return status;
}

bool cleave__tuple_map_decode(struct cleave_reader *reader, uint32_t width, uint32_t shards,
                              struct cleave_tuple_map *out)
{
    struct cleave_tuple_map map = {.width = width};
    map.bucket_bits = cleave__get8(reader);
    map.count = cleave__get32(reader);
    uint32_t length = cleave__get32(reader);
    if (reader->failed || map.bucket_bits > 32)
        return false;
    uint64_t buckets = UINT64_C(1) << map.bucket_bits;
    map.directory = cleave__get_bytes(reader, (buckets + 1) * 4);
    map.records = cleave__get_bytes(reader, length);
    if (!map.records)
        return false;
    struct cleave_reader records = {.at = map.records, .end = map.records + length};
    uint32_t seen = 0;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        uint32_t start = cleave__load32(map.directory + bucket * 4);
        uint32_t end = cleave__load32(map.directory + bucket * 4 + 4);
        if (start != (size_t)(records.at - map.records) || end < start || end > length)
            return false;
        struct cleave_reader one = {.at = map.records + start, .end = map.records + end};
        uint64_t before = 0;
        while (one.at < one.end) {
            struct cleave_value key[2] = {{0}};
            for (uint32_t i = 0; i < width; i++) {
                key[i] = cleave__get_value(&one);
                struct cleave_value plain = cleave__plain(&key[i]);
                if (plain.kind != key[i].kind)
                    return false;
            }
            cleave__get_count(&one, shards - 1);
            uint64_t hash = hash_key(key, width);
            if (one.failed || bucket_of(hash, map.bucket_bits) != bucket || hash < before)
                return false;
            before = hash;
            seen++;
        }
        records.at = one.at;
    }
    if (seen != map.count || records.at != records.end)
        return false;
    *out = map;
    return true;
}
