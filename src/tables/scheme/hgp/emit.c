/* Emitting a layout: one map a key class; explicit entries for the values that were placed, in
 * order; groups that left their rule become exceptions; pins on other columns too. */
#include "tables/scheme/hgp/emit.h"

#include <stdlib.h>
#include <string.h>

/* Entries that hashing would give anyway are kept up to this many a map: they make the table
 * readable and keep a few keys where they are when the number of shards changes. */
enum { KEEP_EQUAL = 4096 };

static bool copy_value(struct cleave_arena *arena, const struct cleave_value *from,
                       struct cleave_value *to)
{
    *to = *from;
    if (from->kind == CLEAVE_NUMBER || from->kind == CLEAVE_TEXT)
        to->text = cleave__arena_copy(arena, from->text, from->length);
    return to->text || to->kind == CLEAVE_NULL || to->kind == CLEAVE_INTEGER;
}

static bool copy_range(struct cleave_arena *arena, const struct cleave_range *from,
                       struct cleave_range *to)
{
    *to = *from;
    return ((from->flags & CLEAVE_LOW_UNBOUNDED) || copy_value(arena, &from->low, &to->low)) &&
           ((from->flags & CLEAVE_HIGH_UNBOUNDED) || copy_value(arena, &from->high, &to->high));
}

struct placed {
    struct cleave_value value;
    uint32_t shard;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return cleave__value_compare(&a->value, &b->value);
}

static bool emit_map(const struct cleave_key_space *space, const uint32_t *key_shard, uint32_t c,
                     struct cleave_arena *arena, struct cleave_key_map *map)
{
    const struct cleave_key_class *class = &space->classes[c];
    CLEAVE_VECTOR(struct placed) list = {0};
    bool ok = true;
    *map = (struct cleave_key_map){.otherwise =
                                       class->intervals ? CLEAVE_MAP_NEAREST : CLEAVE_MAP_HASH};
    size_t placed = 0;
    for (size_t v = 0; v < space->vertices.count; v++)
        placed += space->vertices.data[v].class == c && key_shard[v] != CLEAVE_ABSENT;
    for (size_t v = 0; ok && v < space->vertices.count; v++) {
        const struct cleave_key_vertex *vertex = &space->vertices.data[v];
        if (vertex->class != c || key_shard[v] == CLEAVE_ABSENT)
            continue;
        if (class->intervals) {
            /* An interval starts where the shard changes. */
            if (list.count && list.data[list.count - 1].shard == key_shard[v])
                continue;
        } else if (placed > KEEP_EQUAL &&
                   cleave__value_shard(&vertex->value, space->input->shards) == key_shard[v]) {
            continue;
        }
        ok = CLEAVE_PUSH(&list, (struct placed){vertex->value, key_shard[v]});
    }
    if (ok && list.count)
        qsort(list.data, list.count, sizeof *list.data, compare_placed);
    map->entry_count = (uint32_t)list.count;
    map->entries = cleave__arena_array(arena, list.count, sizeof *map->entries);
    map->entry_shards = cleave__arena_array(arena, list.count, sizeof *map->entry_shards);
    ok = ok && map->entries && map->entry_shards;
    for (size_t i = 0; ok && i < list.count; i++) {
        ok = copy_value(arena, &list.data[i].value, &map->entries[i]);
        map->entry_shards[i] = list.data[i].shard;
    }
    CLEAVE_VECTOR_FREE(&list);
    return ok;
}

/* A table the workload never shows follows the class of one of its key columns, if it has one. */
static bool adopt_class(const struct cleave_key_space *space, uint32_t table, uint32_t *column,
                        uint32_t *class)
{
    const struct cleave_profile *profile = space->input->profile;
    const struct cleave_table *t = &space->input->schema->tables[table];
    for (uint32_t c = 0; c < space->class_count; c++) {
        for (uint32_t i = 0; i < t->column_count; i++) {
            if (profile->class_of[profile->base[table] + i] != space->classes[c].root)
                continue;
            *column = i;
            *class = c;
            return true;
        }
    }
    return false;
}

static bool emit_tables(const struct cleave_key_space *space, struct cleave_arena *arena,
                        struct cleave_layout *layout)
{
    const struct cleave_scheme_input *input = space->input;
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        struct cleave_table_layout *table = &layout->tables[t];
        uint32_t class = space->class_of_table[t];
        table->replicated = space->design->tables[t].replicated;
        if (table->replicated)
            continue;
        if (class != CLEAVE_ABSENT)
            table->key_column = space->design->tables[t].key;
        else if (!adopt_class(space, t, &table->key_column, &class))
            continue; /* layout_start's own map: plain hash */
        table->map = 1 + class;
        if (space->second_class[t] != CLEAVE_ABSENT) {
            table->twice = true;
            table->second_column = space->design->tables[t].second;
            table->second_map = 1 + space->second_class[t];
        }
        for (uint32_t d = 0; d < profile->derivation_count && input->steer->derived_keys; d++) {
            const struct cleave_derivation *derivation = &profile->derivations[d];
            if (derivation->table != t || derivation->key_column != table->key_column ||
                table->derived_count == CLEAVE_DERIVED_MAX)
                continue;
            struct cleave_derived_key *derived = &table->derived[table->derived_count++];
            *derived = (struct cleave_derived_key){.column = derivation->column,
                                                   .support = derivation->support};
            derived->prefix =
                cleave__arena_copy(arena, derivation->prefix, strlen(derivation->prefix));
            derived->suffix =
                cleave__arena_copy(arena, derivation->suffix, strlen(derivation->suffix));
            if (!derived->prefix || !derived->suffix)
                return false;
        }
    }
    return true;
}

static bool emit_group(const struct cleave_moves *moves, uint32_t g, struct cleave_arena *arena,
                       struct cleave_table_layout *table)
{
    const struct cleave_group *group = &moves->groups.list.data[g];
    struct cleave_attributes attributes = moves->groups.attributes[group->table];
    uint32_t pieces = group->second_count ? group->second_count : 1;
    for (uint32_t p = 0; p < pieces; p++) {
        struct cleave_exception *exception = &table->exceptions[table->exception_count++];
        *exception = (struct cleave_exception){.range_count = group->second_count ? 2 : 1,
                                               .column = {attributes.first, attributes.second},
                                               .shard = moves->shard[g]};
        if (!copy_range(arena, &group->first, &exception->range[0]))
            return false;
        if (group->second_count &&
            !copy_range(arena, &moves->groups.pieces.data[group->second_start + p],
                        &exception->range[1]))
            return false;
    }
    return true;
}

static bool emit_exceptions(const struct cleave_moves *moves, struct cleave_arena *arena,
                            struct cleave_layout *layout)
{
    for (uint32_t t = 0; t < layout->schema->table_count; t++) {
        struct cleave_table_layout *table = &layout->tables[t];
        uint32_t first = moves->groups.table_start[t], last = moves->groups.table_start[t + 1];
        uint32_t count = 0;
        for (uint32_t g = first; g < last; g++) {
            uint32_t pieces = moves->groups.list.data[g].second_count;
            if (moves->shard[g] != moves->rule[g])
                count += pieces ? pieces : 1;
        }
        if (count == 0)
            continue;
        table->exceptions = cleave__arena_array(arena, count, sizeof *table->exceptions);
        if (!table->exceptions)
            return false;
        for (uint32_t g = first; g < last; g++) {
            if (moves->shard[g] != moves->rule[g] && !emit_group(moves, g, arena, table))
                return false;
        }
    }
    return true;
}

/* Adds a pin to those of its table; `pins` [rules] is room for all. A value pinned again goes to
 * the later shard. */
static enum cleave_status add_pin(const struct cleave_table *names,
                                  struct cleave_table_layout *table, bool first,
                                  struct cleave_exception *pins, const struct cleave_exception *pin,
                                  struct cleave_error *error)
{
    if (first) { /* exceptions may not overlap: what a person says stands alone */
        table->exceptions = pins;
        table->exception_count = 0;
    }
    for (uint32_t e = 0; e < table->exception_count; e++) {
        struct cleave_exception *other = &table->exceptions[e];
        if (cleave__range_covers(&pin->range[0], &other->range[0]) &&
            pin->column[0] == other->column[0]) {
            *other = table->exceptions[--table->exception_count];
            e--;
        } else if (pin->column[0] != other->column[0] ||
                   cleave__range_overlaps(&pin->range[0], &other->range[0])) {
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "table %s: a pin by %s and one by %s overlap; pin by one "
                                    "column, single rows before the whole table",
                                    names->name, names->columns[other->column[0]].name,
                                    names->columns[pin->column[0]].name);
        }
    }
    table->exceptions[table->exception_count++] = *pin;
    return CLEAVE_OK;
}

/* Pins of rows by a column that is not the key, and of whole tables. */
static enum cleave_status emit_pins(const struct cleave_key_space *space,
                                    struct cleave_arena *arena, struct cleave_layout *layout,
                                    struct cleave_error *error)
{
    const struct cleave_steer *steer = space->input->steer;
    uint32_t tables = layout->schema->table_count;
    struct cleave_exception **pins =
        cleave__arena_zalloc(arena, ((size_t)tables + 1) * sizeof *pins);
    enum cleave_status status = pins ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t r = 0; r < steer->rule_count && !status; r++) {
        uint32_t t, column;
        struct cleave_value value = {0};
        if (steer->rules[r].kind != CLEAVE_PIN ||
            !cleave__selector_find(layout->schema, &steer->rules[r].a, arena, &t, &column, &value))
            continue;
        struct cleave_table_layout *table = &layout->tables[t];
        bool mapped = space->class_of_table[t] != CLEAVE_ABSENT && column == table->key_column;
        if (table->replicated || table->twice || mapped)
            continue; /* the key map has it */
        bool first = !pins[t];
        if (first)
            pins[t] = cleave__arena_zalloc(arena, steer->rule_count * sizeof *pins[t]);
        struct cleave_exception pin = {.range_count = 1, .shard = steer->rules[r].shard};
        pin.column[0] = column == CLEAVE_ABSENT ? table->key_column : column;
        if (column == CLEAVE_ABSENT)
            pin.range[0].flags = CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_UNBOUNDED;
        else if (!copy_value(arena, &value, &pin.range[0].low))
            status = CLEAVE_NO_MEMORY;
        if (column != CLEAVE_ABSENT)
            pin.range[0].high = pin.range[0].low;
        if (!pins[t])
            status = CLEAVE_NO_MEMORY;
        if (!status)
            status = add_pin(&layout->schema->tables[t], table, first, pins[t], &pin, error);
    }
    return status == CLEAVE_NO_MEMORY ? cleave_error_set(error, status, "no memory for the layout")
                                      : status;
}

enum cleave_status cleave__hgp_emit(const struct cleave_key_space *space, const uint32_t *key_shard,
                                    const struct cleave_moves *moves, struct cleave_arena *arena,
                                    struct cleave_layout *layout, struct cleave_error *error)
{
    const struct cleave_scheme_input *input = space->input;
    bool ok = cleave__layout_start(input->schema, input->shards, arena, layout);
    struct cleave_key_map *maps =
        cleave__arena_zalloc(arena, ((size_t)space->class_count + 1) * sizeof *maps);
    ok = ok && maps;
    if (ok) {
        maps[0] = layout->maps[0];
        layout->maps = maps;
        layout->map_count = space->class_count + 1;
    }
    for (uint32_t c = 0; ok && c < space->class_count; c++)
        ok = emit_map(space, key_shard, c, arena, &maps[c + 1]);
    ok = ok && emit_tables(space, arena, layout) &&
         (!moves || emit_exceptions(moves, arena, layout));
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    return emit_pins(space, arena, layout, error);
}
