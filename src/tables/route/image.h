/* The inside of a lookup table: its bytes (the file, exactly) and what opening them makes.
 *
 * The bytes: a header with a checksum of its own; then sections, each with a checksum, that fill
 * the rest exactly: schema, maps, tables (docs/lookup-table.md has every field). A lookup table
 * that was just built is its own bytes, opened: there is one way in. */
#ifndef CLEAVE_TABLES_ROUTE_IMAGE_H
#define CLEAVE_TABLES_ROUTE_IMAGE_H

#include "tables/route/exceptions.h"
#include "tables/route/key_map.h"
#include "tables/route/lookup.h"

enum {
    CLEAVE_IMAGE_VERSION = 2,
    CLEAVE_IMAGE_SECTIONS = 3,
    CLEAVE_IMAGE_HEADER = 32 + CLEAVE_IMAGE_SECTIONS * 24 + 8,
    CLEAVE_RELEVANT_MAX = 8,
};

struct cleave_table_index {
    bool replicated;
    bool key_nullable; /* a row's key may be NULL */
    uint32_t key_column, map;
    bool twice, second_nullable; /* a copy by a second key too; then there are no exceptions */
    uint32_t second_column, second_map;
    uint32_t derived_count;
    struct cleave_derived_key derived[CLEAVE_DERIVED_MAX];
    struct cleave_exceptions exceptions;
    uint32_t relevant_count; /* the key column, then the exceptions' columns, distinct; the first
                                few when there are more */
    uint32_t relevant[CLEAVE_RELEVANT_MAX];
};

struct cleave__mix;

struct cleave_lookup {
    const struct cleave__mix
        *mix;       /* the face of a mix (mix.h): it answers; maps and tables are NULL */
    uint8_t *bytes; /* owned */
    size_t size;
    uint32_t shards;
    uint32_t map_count;
    struct cleave_key_index *maps;
    struct cleave_table_index *tables; /* [schema.table_count] */
    struct cleave_schema schema;       /* its arena holds the maps and tables too */
};

/* Bytes of a layout; `out->data` is malloc'd. */
enum cleave_status cleave__image_encode(const struct cleave_layout *layout,
                                        struct cleave_writer *out, struct cleave_error *error);
/* Tests a header; `*total` receives the size the whole must have. */
enum cleave_status cleave__image_header(const uint8_t *header, size_t size, const char *name,
                                        uint64_t *total, struct cleave_error *error);
/* Tests everything, and takes over `bytes` (malloc'd) on success. `name` is for messages. */
enum cleave_status cleave__image_open(uint8_t *bytes, size_t size, const char *name,
                                      struct cleave_lookup **out, struct cleave_error *error);

/* The schema section. */
void cleave__schema_encode(const struct cleave_schema *schema, struct cleave_writer *out);
enum cleave_status cleave__schema_decode(struct cleave_reader *reader, struct cleave_schema *out);

/* box.c: each value of the table's key column that a box pins (by a derived column too), once or
 * more. False, and no call: it does not, or to more than can be listed. */
bool cleave__box_each_key(const struct cleave_lookup *lookup, uint32_t table,
                          const struct cleave_box *box, bool insert,
                          void (*each)(void *context, const struct cleave_value *key),
                          void *context);

#endif
