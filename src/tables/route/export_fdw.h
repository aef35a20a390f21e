/* What the files of the FDW export share (see export_fdw.c). Everything written here fits a comment
 * line: control characters in names and texts are escaped. Memory that is out shows in
 * fdw->w->failed. */
#ifndef CLEAVE_TABLES_ROUTE_EXPORT_FDW_H
#define CLEAVE_TABLES_ROUTE_EXPORT_FDW_H

#include "tables/route/export.h"
#include "tables/route/image.h"

enum { CLEAVE_NAME_MAX = 63 }; /* bytes of a PostgreSQL name */

enum { CLEAVE_PARENT_TABLE, CLEAVE_PARENT_REST };

/* One partition that is a foreign table. */
struct cleave_fdw_leaf {
    uint32_t shard;
    uint8_t parent;
    size_t bounds, bounds_end; /* in fdw.bounds */
};

struct cleave_fdw_leaves {
    struct cleave_fdw_leaf *data;
    size_t count, capacity;
};

struct cleave_fdw {
    const struct cleave_lookup *lookup;
    const struct cleave_export_options *options;
    struct cleave_words *w;
    /* The table at hand. */
    const struct cleave_table *table;
    const struct cleave_key_index *map;
    uint32_t index;
    enum cleave_type type;
    const char *key, *key_type_name;
    bool nullable;
    struct cleave_fdw_leaves leaves;
    struct cleave_words bounds; /* of all leaves, one after the other */
};

/* An identifier, a value as a literal. */
void cleave__fdw_part(struct cleave_words *w, const char *name);
void cleave__fdw_value(struct cleave_words *w, const struct cleave_value *value,
                       enum cleave_type type);
/* The table's schema, when it has one; its whole name. */
void cleave__fdw_schema(struct cleave_fdw *f);
void cleave__fdw_table_name(struct cleave_fdw *f);
/* " (column type, ...)"; with_keys: and the keys that a table partitioned by f->key can carry. */
void cleave__fdw_columns(struct cleave_fdw *f, const char *between, bool with_keys);
/* Name of the n-th partition; with_schema: the one in the front's schema of a shard. */
void cleave__fdw_piece_name(struct cleave_fdw *f, size_t n, bool with_schema);
/* SERVER and OPTIONS: what the n-th partition is called on its shard. */
void cleave__fdw_remote(struct cleave_fdw *f, uint32_t shard, size_t n, bool own_piece);

/* A table whose partitions go by a function of the key, whether there can be one, and whether it
 * computes what the lookup table does for every value. */
void cleave__fdw_goes(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                      const uint32_t *shards);
bool cleave__fdw_may_go(const struct cleave_fdw *f);
bool cleave__fdw_goes_exactly(const struct cleave_fdw *f);
/* The table at hand with all its partitions, and the shards' lines. */
void cleave__fdw_tree(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                      uint32_t *shards);
/* Values without an entry go by a remainder that PostgreSQL computes alike. */
bool cleave__fdw_by_remainder(const struct cleave_fdw *f);

#endif
