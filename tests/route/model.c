#include "route/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cleave_value integer(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

static struct cleave_value text(enum cleave_value_kind kind, const char *bytes)
{
    struct cleave_value value = {.kind = kind, .text = bytes};
    value.length = (uint32_t)strlen(bytes);
    return value;
}

static void fill_domain(struct property_source *source, struct model_domain *domain)
{
    static const char *const numbers[] = {"-9223372036854775809",
                                          "-3",
                                          "-2.5",
                                          "-0.5",
                                          "0",
                                          "0.5",
                                          "1",
                                          "2",
                                          "2.25",
                                          "10",
                                          "9223372036854775807",
                                          "9223372036854775808"};
    static const char *const texts[] = {"", "a", "aa", "ab", "b", "ba", "z\xff"};
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -5, 0, 7, INT64_MAX - 1, INT64_MAX};
    domain->values[0] = (struct cleave_value){.kind = CLEAVE_NULL};
    domain->count = 1;
    switch (property_draw(source, 5)) {
    case 0:
    case 1:
        domain->type = CLEAVE_TYPE_INTEGER;
        for (int64_t x = -3; x <= 6; x++)
            domain->values[domain->count++] = integer(x);
        break;
    case 2:
        domain->type = CLEAVE_TYPE_INTEGER;
        for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
            domain->values[domain->count++] = integer(edges[i]);
        break;
    case 3:
        domain->type = CLEAVE_TYPE_NUMBER;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            domain->values[domain->count++] = text(CLEAVE_NUMBER, numbers[i]);
        break;
    default:
        domain->type = CLEAVE_TYPE_TEXT;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            domain->values[domain->count++] = text(CLEAVE_TEXT, texts[i]);
    }
}

struct cleave_range model_range(struct property_source *source, const struct model_domain *domain,
                                bool point)
{
    uint32_t a = (uint32_t)property_draw(source, domain->count);
    uint32_t b = (uint32_t)property_draw(source, domain->count);
    if (point || a == 0 || b == 0)
        b = a;
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    struct cleave_range range = {domain->values[a], domain->values[b], 0};
    if (a == b)
        return range;
    uint64_t shape = property_draw(source, 16);
    if (domain->type != CLEAVE_TYPE_INTEGER)
        range.flags = (uint8_t)(shape & (CLEAVE_LOW_OPEN | CLEAVE_HIGH_OPEN));
    if (shape == 1)
        range.flags = CLEAVE_LOW_UNBOUNDED;
    else if (shape == 2)
        range.flags = CLEAVE_HIGH_UNBOUNDED;
    else if (shape == 3)
        range.flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED;
    return range;
}

static void fill_map(struct property_source *source, struct model *model,
                     const struct model_domain *domain, struct cleave_key_map *map)
{
    uint32_t shards = model->layout.shards;
    map->otherwise = (enum cleave_map_default)property_draw(source, 4);
    map->entries = cleave__arena_array(&model->arena, domain->count, sizeof *map->entries);
    map->entry_shards = cleave__arena_array(&model->arena, domain->count, sizeof(uint32_t));
    map->bounds = cleave__arena_array(&model->arena, domain->count, sizeof *map->bounds);
    uint64_t density = property_draw(source, 4);
    for (uint32_t i = 0; i < domain->count; i++) {
        if (property_draw(source, 4) < density) {
            map->entries[map->entry_count] = domain->values[i];
            map->entry_shards[map->entry_count++] = (uint32_t)property_draw(source, shards);
        }
    }
    if (map->otherwise == CLEAVE_MAP_RANGE) {
        for (uint32_t i = 1; i < domain->count && map->bound_count + 1 < shards; i++) {
            if (property_draw(source, 2))
                map->bounds[map->bound_count++] = domain->values[i];
        }
    }
}

/* Rectangles over shared columns are apart when those ranges are; without any they meet. */
static bool meet(const struct cleave_exception *a, const struct cleave_exception *b)
{
    for (uint32_t i = 0; i < a->range_count; i++) {
        for (uint32_t j = 0; j < b->range_count; j++) {
            if (a->column[i] == b->column[j] && !cleave__range_overlaps(&a->range[i], &b->range[j]))
                return false;
        }
    }
    return true;
}

static void fill_exceptions(struct property_source *source, struct model *model,
                            struct cleave_table_layout *table)
{
    uint32_t tries = (uint32_t)property_draw(source, 24);
    bool points = property_draw(source, 3) == 0, one_pair = property_draw(source, 2);
    table->exceptions = cleave__arena_array(&model->arena, tries, sizeof *table->exceptions);
    for (uint32_t t = 0; t < tries; t++) {
        struct cleave_exception fresh = {.range_count = 1 + (uint32_t)property_draw(source, 2)};
        fresh.column[0] = (uint32_t)property_draw(source, MODEL_COLUMNS);
        fresh.column[1] = (fresh.column[0] + 1) % MODEL_COLUMNS;
        if (one_pair) {
            fresh.range_count = 2;
            fresh.column[0] = 1;
            fresh.column[1] = 0;
        }
        for (uint32_t i = 0; i < fresh.range_count; i++)
            fresh.range[i] = model_range(source, &model->domains[fresh.column[i]],
                                         points || property_draw(source, 2));
        fresh.shard = (uint32_t)property_draw(source, model->layout.shards);
        bool apart = true;
        for (uint32_t i = 0; i < table->exception_count; i++)
            apart = apart && !meet(&table->exceptions[i], &fresh);
        if (apart)
            table->exceptions[table->exception_count++] = fresh;
    }
}

static void fill_layout(struct property_source *source, struct model *model)
{
    static const uint32_t shard_counts[] = {1, 2, 3, 5, 64, 65, 257, 1024};
    struct cleave_arena *arena = &model->arena;
    struct cleave_layout *layout = &model->layout;
    layout->schema = &model->schema;
    layout->shards = shard_counts[property_draw(source, 8)];
    layout->map_count = 1 + (uint32_t)property_draw(source, 2);
    layout->maps = cleave__arena_zalloc(arena, 2 * sizeof *layout->maps);
    layout->tables = cleave__arena_zalloc(arena, 2 * sizeof *layout->tables);
    layout->arena = arena;
}

static void fill_tables(struct property_source *source, struct model *model)
{
    struct cleave_layout *layout = &model->layout;
    for (uint32_t m = 0; m < layout->map_count; m++)
        fill_map(source, model, &model->domains[m], &layout->maps[m]);
    for (uint32_t t = 0; t < 2; t++) {
        struct cleave_table_layout *table = &layout->tables[t];
        table->map = (uint32_t)property_draw(source, layout->map_count);
        table->key_column = table->map;
        table->replicated = property_draw(source, 3) == 0;
        if (property_draw(source, 3))
            fill_exceptions(source, model, table);
        table->twice = table->exception_count == 0 && property_draw(source, 2);
        if (table->twice) {
            table->second_map = (uint32_t)property_draw(source, layout->map_count);
            table->second_column = table->second_map;
        }
    }
}

void model_random(struct property_source *source, struct model *model)
{
    *model = (struct model){0};
    struct cleave_arena *arena = &model->arena;
    model->schema.table_count = 2;
    model->schema.tables = cleave__arena_zalloc(arena, 2 * sizeof(struct cleave_table));
    fill_layout(source, model);
    for (uint32_t c = 0; c < MODEL_COLUMNS; c++)
        fill_domain(source, &model->domains[c]);
    for (uint32_t t = 0; t < 2; t++) {
        struct cleave_table *table = &model->schema.tables[t];
        table->name = t ? "second" : "first";
        table->column_count = MODEL_COLUMNS;
        table->columns = cleave__arena_zalloc(arena, MODEL_COLUMNS * sizeof *table->columns);
        for (uint32_t c = 0; c < MODEL_COLUMNS; c++) {
            static const char *const names[] = {"a", "b", "c"};
            table->columns[c].name = names[c];
            table->columns[c].type = model->domains[c].type;
            table->columns[c].type_name = cleave__type_name(model->domains[c].type);
        }
    }
    fill_tables(source, model);
}

void model_random_like(struct property_source *source, const struct model *like,
                       struct model *model)
{
    *model = (struct model){.schema = like->schema};
    memcpy(model->domains, like->domains, sizeof model->domains);
    fill_layout(source, model);
    bool same_shards = property_draw(source, 2), same_maps = property_draw(source, 2);
    if (same_shards)
        model->layout.shards = like->layout.shards;
    fill_tables(source, model);
    if (same_shards && same_maps && model->layout.map_count <= like->layout.map_count)
        memcpy(model->layout.maps, like->layout.maps,
               model->layout.map_count * sizeof *model->layout.maps);
}

void model_free(struct model *model)
{
    cleave__arena_free(&model->arena);
}

static uint32_t map_shard(const struct cleave_layout *layout, const struct cleave_key_map *map,
                          const struct cleave_value *key);

uint32_t model_row(const struct cleave_layout *layout, uint32_t table,
                   const struct cleave_value *values)
{
    const struct cleave_table_layout *placed = &layout->tables[table];
    if (placed->replicated)
        return CLEAVE_SHARDS_MAX;
    for (uint32_t i = 0; i < placed->exception_count; i++) {
        const struct cleave_exception *exception = &placed->exceptions[i];
        bool inside = true;
        for (uint32_t j = 0; j < exception->range_count; j++)
            inside = inside &&
                     cleave__range_contains(&exception->range[j], &values[exception->column[j]]);
        if (inside)
            return exception->shard;
    }
    return map_shard(layout, &layout->maps[placed->map], &values[placed->key_column]);
}

uint32_t model_second(const struct cleave_layout *layout, uint32_t table,
                      const struct cleave_value *values)
{
    const struct cleave_table_layout *placed = &layout->tables[table];
    return map_shard(layout, &layout->maps[placed->second_map], &values[placed->second_column]);
}

static uint32_t map_shard(const struct cleave_layout *layout, const struct cleave_key_map *map,
                          const struct cleave_value *key)
{
    uint32_t nearest = UINT32_MAX, first = UINT32_MAX;
    for (uint32_t i = 0; i < map->entry_count; i++) {
        int order = cleave__value_compare(&map->entries[i], key);
        if (order == 0)
            return map->entry_shards[i];
        if (map->entries[i].kind != CLEAVE_NULL) {
            if (first == UINT32_MAX)
                first = i;
            if (order < 0)
                nearest = i;
        }
    }
    if (key->kind == CLEAVE_NULL)
        return 0;
    uint32_t bounds_passed = 0;
    switch (map->otherwise) {
    case CLEAVE_MAP_HASH:
        break;
    case CLEAVE_MAP_ROUND_ROBIN: {
        struct cleave_value number = *key;
        if (key->kind == CLEAVE_NUMBER && !memchr(key->text, '.', key->length) &&
            key->length < 19) { /* a whole number of either kind is the same value */
            number.kind = CLEAVE_INTEGER;
            number.integer = strtoll(key->text, NULL, 10);
        } else if (key->kind == CLEAVE_NUMBER && !strcmp(key->text, "9223372036854775807")) {
            number.kind = CLEAVE_INTEGER;
            number.integer = INT64_MAX;
        }
        if (number.kind == CLEAVE_INTEGER) {
            int64_t k = layout->shards, rest = number.integer % k;
            return (uint32_t)((rest + k) % k);
        }
        break;
    }
    case CLEAVE_MAP_RANGE:
        while (bounds_passed < map->bound_count &&
               cleave__value_compare(&map->bounds[bounds_passed], key) <= 0)
            bounds_passed++;
        return bounds_passed;
    case CLEAVE_MAP_NEAREST:
        if (first == UINT32_MAX)
            return 0;
        return map->entry_shards[nearest == UINT32_MAX ? first : nearest];
    }
    return cleave__value_shard(key, layout->shards);
}

void model_box(struct property_source *source, struct model *model, bool points,
               struct cleave_box *out)
{
    out->term_count = 0;
    out->terms = cleave__arena_array(&model->arena, MODEL_COLUMNS, sizeof *out->terms);
    for (uint32_t c = 0; c < MODEL_COLUMNS; c++) {
        if (!points && property_draw(source, 2))
            continue;
        struct cleave_term *term = &out->terms[out->term_count++];
        bool all_points = points || property_draw(source, 2);
        uint32_t tries = 1 + (uint32_t)property_draw(source, 4);
        term->column = c;
        term->range_count = 0;
        term->ranges = cleave__arena_array(&model->arena, tries, sizeof *term->ranges);
        for (uint32_t t = 0; t < tries; t++) { /* kept sorted and disjoint */
            struct cleave_range fresh = model_range(source, &model->domains[c], all_points);
            bool apart = true;
            uint32_t at = 0;
            for (uint32_t i = 0; i < term->range_count; i++) {
                const struct cleave_range *old = &term->ranges[i];
                apart = apart && !cleave__range_overlaps(old, &fresh);
                at += old->flags & CLEAVE_LOW_UNBOUNDED ||
                      (!(fresh.flags & CLEAVE_LOW_UNBOUNDED) &&
                       cleave__value_compare(&old->low, &fresh.low) < 0);
            }
            if (!apart)
                continue;
            memmove(&term->ranges[at + 1], &term->ranges[at],
                    (term->range_count - at) * sizeof *term->ranges);
            term->ranges[at] = fresh;
            term->range_count++;
        }
    }
}

bool model_box_holds(const struct cleave_box *box, const struct cleave_value *row)
{
    for (uint32_t i = 0; i < box->term_count; i++) {
        bool inside = false;
        for (uint32_t r = 0; r < box->terms[i].range_count; r++)
            inside = inside ||
                     cleave__range_contains(&box->terms[i].ranges[r], &row[box->terms[i].column]);
        if (!inside)
            return false;
    }
    return true;
}

bool model_nth_row(const struct model *model, uint32_t index, struct cleave_value *row)
{
    for (uint32_t c = 0; c < MODEL_COLUMNS; c++) {
        row[c] = model->domains[c].values[index % model->domains[c].count];
        index /= model->domains[c].count;
    }
    return index == 0;
}

static void print_value(const struct cleave_value *value)
{
    if (value->kind == CLEAVE_NULL)
        printf("NULL");
    else if (value->kind == CLEAVE_INTEGER)
        printf("%lld", (long long)value->integer);
    else
        printf("%c'%.*s'", value->kind == CLEAVE_NUMBER ? 'n' : 't', (int)value->length,
               value->text);
}

static void print_range(const struct cleave_range *range)
{
    printf("%c", range->flags & CLEAVE_LOW_OPEN ? '(' : '[');
    if (!(range->flags & CLEAVE_LOW_UNBOUNDED))
        print_value(&range->low);
    printf("..");
    if (!(range->flags & CLEAVE_HIGH_UNBOUNDED))
        print_value(&range->high);
    printf("%c", range->flags & CLEAVE_HIGH_OPEN ? ')' : ']');
}

void model_print_box(const struct cleave_box *box)
{
    printf("  box:");
    for (uint32_t i = 0; i < box->term_count; i++) {
        printf(" column %u in", box->terms[i].column);
        for (uint32_t r = 0; r < box->terms[i].range_count; r++)
            print_range(&box->terms[i].ranges[r]);
    }
    printf("\n");
}

void model_print(const struct model *model)
{
    const struct cleave_layout *layout = &model->layout;
    printf("  %u shards\n", layout->shards);
    for (uint32_t m = 0; m < layout->map_count; m++) {
        const struct cleave_key_map *map = &layout->maps[m];
        printf("  map %u: rule %d, entries", m, map->otherwise);
        for (uint32_t i = 0; i < map->entry_count; i++) {
            printf(" ");
            print_value(&map->entries[i]);
            printf("->%u", map->entry_shards[i]);
        }
        printf(", bounds");
        for (uint32_t i = 0; i < map->bound_count; i++) {
            printf(" ");
            print_value(&map->bounds[i]);
        }
        printf("\n");
    }
    for (uint32_t t = 0; t < model->schema.table_count; t++) {
        const struct cleave_table_layout *table = &layout->tables[t];
        printf("  table %u: %s key %u map %u\n", t, table->replicated ? "replicated" : "",
               table->key_column, table->map);
        if (table->twice)
            printf("    and by column %u map %u\n", table->second_column, table->second_map);
        for (uint32_t i = 0; i < table->exception_count; i++) {
            printf("    exception");
            for (uint32_t j = 0; j < table->exceptions[i].range_count; j++) {
                printf(" column %u ", table->exceptions[i].column[j]);
                print_range(&table->exceptions[i].range[j]);
            }
            printf(" -> %u\n", table->exceptions[i].shard);
        }
    }
}
