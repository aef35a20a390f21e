/* Opening a lookup table from any bytes: refuses them, or gives one that answers within its shards.
 * Checksums are made right first, so that the rules behind them are what is tried. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "tables/route/explain.h"
#include "tables/route/export.h"
#include "tables/route/image.h"

/* Header fields that must fit the size are set from it; the sections' lengths stay as given when
 * they can. */
static void make_right(uint8_t *bytes, size_t size)
{
    static const uint8_t magic[8] = {0x89, 'c', 'l', 'e', 'a', 'v', 'e', '\n'};
    uint64_t offset = CLEAVE_IMAGE_HEADER;
    memcpy(bytes, magic, sizeof magic);
    cleave__store32(bytes + 8, CLEAVE_IMAGE_VERSION);
    cleave__store64(bytes + 16, size);
    cleave__store32(bytes + 24, CLEAVE_IMAGE_SECTIONS);
    cleave__store32(bytes + 28, 0);
    for (uint32_t i = 0; i < CLEAVE_IMAGE_SECTIONS; i++) {
        uint8_t *row = bytes + 32 + i * 24;
        uint64_t length = cleave__load64(row + 8);
        if (length > size - offset || i + 1 == CLEAVE_IMAGE_SECTIONS)
            length = size - offset;
        cleave__store32(row, i + 1);
        cleave__store32(row + 4, 0);
        cleave__store64(row + 8, length);
        cleave__store64(row + 16, XXH3_64bits(bytes + offset, (size_t)length));
        offset += length;
    }
    cleave__store64(bytes + CLEAVE_IMAGE_HEADER - 8, XXH3_64bits(bytes, CLEAVE_IMAGE_HEADER - 8));
}

static void must(int holds)
{
    if (!holds)
        abort();
}

static void ask(const struct cleave_lookup *lookup)
{
    struct cleave_value values[8] = {{0}};
    for (uint32_t i = 0; i < 8; i++) {
        values[i].kind = (enum cleave_value_kind)(i % 4);
        values[i].integer = (int64_t)i - 3;
        values[i].text = "-2.5";
        values[i].length = 4;
    }
    for (uint32_t t = 0; t < lookup->schema.table_count && t < 16; t++) {
        if (cleave__lookup_replicated(lookup, t))
            continue;
        must(cleave__lookup_row(lookup, t, values, 8) < lookup->shards);
        struct cleave_range ranges[2] = {{values[1], values[5], 0}, {values[2], values[2], 0}};
        struct cleave_term terms[2] = {{0, 1, &ranges[0]}, {1, 1, &ranges[1]}};
        for (uint32_t n = 0; n <= 2; n++) {
            struct cleave_box box = {n, terms};
            struct cleave_shardset set = {{0}}, all;
            cleave__lookup_box(lookup, t, &box, n == 1, false, &set);
            cleave__lookup_box(lookup, t, &box, n == 1, true, &set);
            cleave__lookup_row_shards(lookup, t, values, n, &set);
            cleave__shardset_fill(&all, lookup->shards);
            cleave__shardset_or(&all, &set);
            must(cleave__shardset_count(&all) == lookup->shards);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 16)
        return 0;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    if (size >= CLEAVE_IMAGE_HEADER)
        make_right(bytes, size);
    struct cleave_lookup *lookup = NULL;
    if (cleave__image_open(bytes, size, "input", &lookup, NULL) != CLEAVE_OK) {
        free(bytes);
        return 0;
    }
    ask(lookup);
    char *text = NULL;
    size_t length;
    if (cleave__lookup_explain(lookup, 4, &text, NULL) == CLEAVE_OK)
        free(text);
    for (int target = CLEAVE_EXPORT_JSON; target <= CLEAVE_EXPORT_FDW; target++) {
        if (cleave__lookup_export(lookup, (enum cleave_export_target)target, NULL, &text, &length,
                                  NULL) == CLEAVE_OK)
            free(text);
    }
    cleave__lookup_release(lookup);
    return 0;
}
