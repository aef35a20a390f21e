/* See random_layout.h. */
#include "random_layout.h"

#include <stdio.h>

#include "random_sql.h"

static uint32_t random_map(struct property_source *source, struct world *world)
{
    uint32_t shards = world->layout.shards;
    uint32_t map = world_map(world, (enum cleave_map_default)property_draw(source, 4));
    bool ranges = world->layout.maps[map].otherwise == CLEAVE_MAP_RANGE;
    /* Beside bounds, entries are looked up one by one, but not within a range. */
    for (int64_t v = 0; v < SQL_DOMAIN && !ranges; v++) {
        if (property_draw(source, 3) == 2)
            world_entry(world, map, v, (uint32_t)property_draw(source, shards));
    }
    for (uint32_t i = 0; ranges && i + 1 < shards; i++)
        world_bound(world, map, (int64_t)i + 1);
    return map;
}

void random_layout(struct property_source *source, struct world *world, bool copies)
{
    struct cleave_layout *layout = &world->layout;
    layout->shards = 2 + (uint32_t)property_draw(source, 4);
    layout->map_count = 0;
    layout->maps = NULL;
    for (uint32_t t = 0; t < 2; t++) {
        struct cleave_table_layout *l = &layout->tables[t];
        const char *name = t ? "b" : "a";
        *l = (struct cleave_table_layout){.key_column = (uint32_t)property_draw(source, 3)};
        l->replicated = property_draw(source, 3) == 2;
        l->map = random_map(source, world);
        if (copies && property_draw(source, 4) == 3) {
            l->twice = true;
            l->second_column = (l->key_column + 1 + (uint32_t)property_draw(source, 2)) % 3;
            l->second_map = random_map(source, world);
            continue;
        }
        /* Disjoint by construction: each takes its own values of the first column. */
        uint32_t exceptions = (uint32_t)property_draw(source, 4);
        static const char *const columns[] = {"x", "y", "z"};
        uint32_t c0 = (uint32_t)property_draw(source, 3);
        uint32_t c1 = (c0 + 1 + (uint32_t)property_draw(source, 2)) % 3;
        int64_t at = 0;
        for (uint32_t e = 0; e < exceptions && at < SQL_DOMAIN; e++) {
            int64_t high = at + (int64_t)property_draw(source, 2);
            int64_t low1 = (int64_t)property_draw(source, SQL_DOMAIN);
            int64_t high1 = low1 + (int64_t)property_draw(source, 3);
            world_exception(world, name, columns[c0], world_range(at, high),
                            property_draw(source, 2) ? columns[c1] : NULL, world_range(low1, high1),
                            (uint32_t)property_draw(source, layout->shards));
            at = high + 1;
        }
    }
}

static void print_value(const struct cleave_value *value)
{
    char text[64];
    cleave__value_print(value, CLEAVE_TYPE_INTEGER, text, sizeof text);
    fprintf(stderr, "%s", text);
}

void random_layout_print(const struct cleave_layout *layout)
{
    static const char *const defaults[] = {"hash", "round robin", "range", "nearest"};
    fprintf(stderr, "%u shards\n", layout->shards);
    for (uint32_t t = 0; t < layout->schema->table_count; t++) {
        const struct cleave_table_layout *l = &layout->tables[t];
        const struct cleave_table *table = &layout->schema->tables[t];
        if (table->view)
            continue;
        if (l->replicated) {
            fprintf(stderr, "%s: replicated\n", table->name);
            continue;
        }
        const struct cleave_key_map *map = &layout->maps[l->map];
        fprintf(stderr, "%s: by %s, %s", table->name, table->columns[l->key_column].name,
                defaults[map->otherwise]);
        for (uint32_t i = 0; i < map->entry_count; i++) {
            fprintf(stderr, ", ");
            print_value(&map->entries[i]);
            fprintf(stderr, " -> %u", map->entry_shards[i]);
        }
        for (uint32_t i = 0; i < map->bound_count; i++) {
            fprintf(stderr, " | ");
            print_value(&map->bounds[i]);
        }
        if (l->twice)
            fprintf(stderr, ", and by %s with map %u", table->columns[l->second_column].name,
                    l->second_map);
        fprintf(stderr, "\n");
        for (uint32_t e = 0; e < l->exception_count; e++) {
            const struct cleave_exception *x = &l->exceptions[e];
            fprintf(stderr, "  except");
            for (uint32_t r = 0; r < x->range_count; r++) {
                fprintf(stderr, " %s in ", table->columns[x->column[r]].name);
                print_value(&x->range[r].low);
                fprintf(stderr, "..");
                print_value(&x->range[r].high);
            }
            fprintf(stderr, " -> %u\n", x->shard);
        }
    }
}
