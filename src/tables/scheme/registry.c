/* The schemes by name, and what they start from. */
#include <string.h>
#include <strings.h>

#include "tables/scheme/scheme.h"

static const struct cleave_scheme schemes[] = {
    {"HGP", "hypergraph partitioning of tuple groups, with rules for unseen keys",
     cleave__place_hgp},
    {"SH", "hash by the key of the root table, followed along foreign keys", cleave__place_sh},
    {"PKH", "hash by the first primary-key column of each table", cleave__place_pkh},
    {"PKR", "ranges of the first primary-key column of each table", cleave__place_pkr},
    {"PKRR", "round robin on the first primary-key column of each table", cleave__place_pkrr},
    {"CMRR", "round robin on the most accessed column of each table", cleave__place_cmrr},
    {"AllR", "every table on every shard", cleave__place_allr},
};

const struct cleave_scheme *cleave__scheme_at(uint32_t index)
{
    return index < sizeof schemes / sizeof *schemes ? &schemes[index] : NULL;
}

const struct cleave_scheme *cleave__scheme_find(const char *name)
{
    for (uint32_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strcasecmp(schemes[i].name, name) == 0)
            return &schemes[i];
    }
    return NULL;
}

bool cleave__layout_start(const struct cleave_schema *schema, uint32_t shards,
                          struct cleave_arena *arena, struct cleave_layout *layout)
{
    struct cleave_layout start = {.schema = schema, .shards = shards, .arena = arena};
    start.tables =
        cleave__arena_zalloc(arena, ((size_t)schema->table_count + 1) * sizeof *start.tables);
    start.maps = cleave__arena_zalloc(arena, sizeof *start.maps);
    if (!start.tables || !start.maps)
        return false;
    start.map_count = 1;
    start.maps[0].otherwise = CLEAVE_MAP_HASH;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct cleave_table *table = &schema->tables[t];
        start.tables[t].key_column = table->primary.count ? table->primary.columns[0] : 0;
        /* A table without columns (or a view) has nothing to be cut by. */
        start.tables[t].replicated = table->column_count == 0;
    }
    *layout = start;
    return true;
}

/* Sorted values at or below `key`. */
static uint32_t count_at_or_below(const struct cleave_value *sorted, uint32_t count,
                                  const struct cleave_value *key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cleave__value_compare(&sorted[middle], key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t cleave__map_shard(const struct cleave_key_map *map, uint32_t shards,
                           const struct cleave_value *key)
{
    uint32_t below = count_at_or_below(map->entries, map->entry_count, key);
    if (below && cleave__value_compare(&map->entries[below - 1], key) == 0)
        return map->entry_shards[below - 1];
    if (key->kind == CLEAVE_NULL)
        return 0;
    switch (map->otherwise) {
    case CLEAVE_MAP_RANGE:
        return count_at_or_below(map->bounds, map->bound_count, key);
    case CLEAVE_MAP_NEAREST:
        return map->entry_count ? map->entry_shards[below ? below - 1 : 0] : 0;
    case CLEAVE_MAP_ROUND_ROBIN:
        if (key->kind == CLEAVE_INTEGER) {
            int64_t rest = key->integer % (int64_t)shards;
            return (uint32_t)(rest < 0 ? rest + (int64_t)shards : rest);
        }
        break;
    case CLEAVE_MAP_HASH:
        break;
    }
    return cleave__value_shard(key, shards);
}
