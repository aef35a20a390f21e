#include "tables/replay/digest.h"

#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "base/random.h"

enum { KEYS_MOST = 16 };

static uint64_t add_value(uint64_t hash, const char *value)
{
    /* NULL is no text; lengths are told apart by the seed. */
    return value ? XXH3_64bits_withSeed(value, strlen(value), cleave__mix64(hash))
                 : cleave__mix64(hash ^ UINT64_C(0x4e554c4c));
}

void cleave__digest_row(struct cleave__digest *digest, const char *const *values, uint32_t columns,
                        const uint32_t *keys, uint32_t key_count)
{
    uint64_t hash = columns;
    for (uint32_t c = 0; c < columns; c++)
        hash = add_value(hash, values[c]);
    digest->rows++;
    digest->multiset += cleave__mix64(hash);
    for (uint32_t k = 0; k < key_count; k++)
        digest->sequence = add_value(digest->sequence, values[keys[k]]);
}

void cleave__digest_answer(struct cleave__digest *digest, const struct cleave_store_answer *answer,
                           uint32_t columns, const char *const *names, uint32_t name_count)
{
    uint32_t keys[KEYS_MOST], key_count = 0;
    for (uint32_t n = 0; n < name_count && n < KEYS_MOST; n++) {
        uint32_t found = 0;
        for (uint32_t c = 0; c < columns; c++) {
            if (strcasecmp(answer->names[c], names[n]) == 0) {
                keys[key_count] = c;
                found++;
            }
        }
        if (found != 1)
            break;
        key_count++;
    }
    for (uint32_t r = 0; r < answer->rows; r++)
        cleave__digest_row(digest, answer->values + (size_t)r * answer->columns, columns, keys,
                           key_count);
    digest->affected += answer->affected;
}

bool cleave__digest_equal(const struct cleave__digest *a, const struct cleave__digest *b)
{
    return a->affected == b->affected && a->rows == b->rows && a->multiset == b->multiset &&
           a->sequence == b->sequence;
}

void cleave__digest_write(const struct cleave__digest *digest, struct cleave_writer *writer)
{
    cleave__put64(writer, digest->affected);
    cleave__put64(writer, digest->rows);
    cleave__put64(writer, digest->multiset);
    cleave__put64(writer, digest->sequence);
}

void cleave__digest_read(struct cleave__digest *digest, struct cleave_reader *reader)
{
    digest->affected = cleave__get64(reader);
    digest->rows = cleave__get64(reader);
    digest->multiset = cleave__get64(reader);
    digest->sequence = cleave__get64(reader);
}
