/* See explain.h. A block is made of clauses; one that stays short is written on one line, else
 * each clause gets a line of its own. Tables that share a map say so instead of repeating it. */
#include "tables/route/explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tables/route/image.h"
#include "tables/route/words.h"

enum { LIST_USUAL = 12, LINE_MAX_SHORT = 110, TEXT_MAX = 40, EXAMPLES = 3 };

struct explainer {
    const struct cleave_lookup *lookup;
    uint32_t list_max;
    struct cleave_words block; /* clauses of one table, ended by '\n' each */
    struct cleave_words text;
    struct user {
        uint32_t table, column;
    } * first_user; /* by map: who explained it, else CLEAVE_ABSENT */
};

/* Entries of one map, grouped by shard, values rising within each. */
struct entry_list {
    uint32_t count;
    struct cleave_value *values;
    uint32_t *shards;
    uint32_t *order; /* by (shard, value) */
    uint32_t *start; /* [shards + 1] into order */
};

static void free_entries(struct entry_list *list)
{
    free(list->values);
    free(list->shards);
    free(list->order);
    free(list->start);
}

static enum cleave_status take_entries(const struct cleave_key_index *map, struct entry_list *out)
{
    *out = (struct entry_list){0};
    enum cleave_status status =
        cleave__key_index_list(map, &out->count, &out->values, &out->shards);
    if (status != CLEAVE_OK)
        return status;
    out->order = malloc(((size_t)out->count + 1) * sizeof *out->order);
    out->start = calloc((size_t)map->shards + 2, sizeof *out->start);
    if (!out->order || !out->start)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < out->count; i++) /* counting sort, one slot ahead */
        out->start[out->shards[i] + 2]++;
    for (uint32_t s = 0; s < map->shards; s++)
        out->start[s + 2] += out->start[s + 1];
    for (uint32_t i = 0; i < out->count; i++)
        out->order[out->start[out->shards[i] + 1]++] = i;
    return CLEAVE_OK;
}

static bool follows(const struct cleave_value *a, const struct cleave_value *b)
{
    return a->kind == CLEAVE_INTEGER && b->kind == CLEAVE_INTEGER && a->integer != INT64_MAX &&
           b->integer == a->integer + 1;
}

/* "1-5, 8, 10": values at order[from..to). */
static void add_values(struct explainer *e, const struct entry_list *list, uint32_t from,
                       uint32_t to, enum cleave_type type)
{
    struct cleave_words *w = &e->block;
    uint32_t shown = 0, at = from;
    bool fold = type == CLEAVE_TYPE_INTEGER;
    while (at < to && shown < e->list_max) {
        const struct cleave_value *first = &list->values[list->order[at]], *last = first;
        for (at++; fold && at < to && follows(last, &list->values[list->order[at]]); at++)
            last = &list->values[list->order[at]];
        cleave__words_add(w, shown++ ? ", " : "");
        cleave__words_value(w, first, type, TEXT_MAX);
        if (last == first)
            continue;
        cleave__words_add(w, first->integer < 0 ? " to " : follows(first, last) ? ", " : "-");
        cleave__words_value(w, last, type, TEXT_MAX);
    }
    if (at < to)
        cleave__words_add(w, ", ... (%u values)", to - from);
}

static void explain_points(struct explainer *e, const struct cleave_key_index *map,
                           const struct entry_list *list, enum cleave_type type)
{
    for (uint32_t s = 0; s < map->shards; s++) {
        if (list->start[s] == list->start[s + 1])
            continue;
        add_values(e, list, list->start[s], list->start[s + 1], type);
        cleave__words_add(&e->block, " -> shard %u\n", s);
    }
}

static void explain_bounds(struct explainer *e, const struct cleave_key_index *map,
                           enum cleave_type type)
{
    struct cleave_words *w = &e->block;
    uint32_t n = map->bound_count, skipped = 0;
    for (uint32_t i = 0; i <= n; i++) {
        if (i && i < n && i >= e->list_max) {
            skipped++;
            continue;
        }
        if (skipped)
            cleave__words_add(w, "... (%u more ranges)\n", skipped);
        if (n == 0)
            cleave__words_add(w, "all values");
        if (i > 0) {
            cleave__words_add(w, i < n ? "" : "from ");
            cleave__words_value(w, &map->bounds[i - 1], type, TEXT_MAX);
            cleave__words_add(w, i < n ? " to below " : " on");
        } else if (n) {
            cleave__words_add(w, "below ");
        }
        if (i < n)
            cleave__words_value(w, &map->bounds[i], type, TEXT_MAX);
        cleave__words_add(w, " -> shard %u\n", i);
    }
}

static void explain_nearest(struct explainer *e, const struct entry_list *list,
                            enum cleave_type type)
{
    struct cleave_words *w = &e->block;
    if (list->count < 2) {
        cleave__words_add(w, "all values -> shard %u\n", list->count ? list->shards[0] : 0);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (i == e->list_max) {
            cleave__words_add(w, "... (%u more steps)\n", list->count - i);
            break;
        }
        cleave__words_add(w, i ? "from " : "below ");
        cleave__words_value(w, &list->values[i ? i : 1], type, TEXT_MAX);
        cleave__words_add(w, i + 1 == list->count ? " on -> shard %u\n" : " -> shard %u\n",
                          list->shards[i]);
    }
}

static enum cleave_status explain_map(struct explainer *e, const struct cleave_key_index *map,
                                      enum cleave_type type)
{
    struct entry_list list;
    enum cleave_status status = take_entries(map, &list);
    struct cleave_words *w = &e->block;
    const char *which = list.count ? "other values" : "all values";
    if (status == CLEAVE_OK) {
        switch (map->otherwise) {
        case CLEAVE_MAP_HASH:
            explain_points(e, map, &list, type);
            cleave__words_add(w, "%s by hash\n", which);
            break;
        case CLEAVE_MAP_ROUND_ROBIN:
            explain_points(e, map, &list, type);
            cleave__words_add(w,
                              type == CLEAVE_TYPE_TEXT || type == CLEAVE_TYPE_CHAR ||
                                      type == CLEAVE_TYPE_UUID
                                  ? "%s by hash\n"
                                  : "%s by the remainder of division by %u\n",
                              which, map->shards);
            break;
        case CLEAVE_MAP_RANGE:
            explain_points(e, map, &list, type);
            explain_bounds(e, map, type);
            break;
        case CLEAVE_MAP_NEAREST:
            explain_nearest(e, &list, type);
            break;
        }
        if (map->null_explicit)
            cleave__words_add(w, "NULL -> shard %u\n", map->null_shard);
    }
    free_entries(&list);
    return status;
}

static void add_example(struct explainer *e, const struct cleave_table *table,
                        const struct cleave_exception *exception)
{
    struct cleave_words *w = &e->block;
    bool point = true;
    for (uint32_t i = 0; i < exception->range_count; i++)
        point = point && cleave__range_is_point(&exception->range[i]);
    if (point && exception->range_count > 1)
        cleave__words_add(w, "(");
    for (uint32_t i = 0; i < exception->range_count; i++) {
        const struct cleave_column *column = &table->columns[exception->column[i]];
        if (i)
            cleave__words_add(w, point ? ", " : " and ");
        if (point) {
            cleave__words_value(w, &exception->range[i].low, column->type, TEXT_MAX);
        } else {
            cleave__words_plain(w, column->name);
            cleave__words_add(w, " ");
            cleave__words_range(w, &exception->range[i], column->type);
        }
    }
    cleave__words_add(w, point && exception->range_count > 1 ? ") -> shard %u" : " -> shard %u",
                      exception->shard);
}

static enum cleave_status explain_group(struct explainer *e, const struct cleave_table *table,
                                        const struct cleave_exception_group *group)
{
    struct cleave_exception *list;
    uint32_t count;
    struct cleave_words *w = &e->block;
    enum cleave_status status = cleave__exception_list(group, &count, &list);
    if (status != CLEAVE_OK)
        return status;
    cleave__words_add(w, count == 1 ? "%u exception by " : "%u exceptions by ", count);
    cleave__words_add(w, group->width > 1 ? "(" : "");
    cleave__words_plain(w, table->columns[group->column[0]].name);
    if (group->width > 1) {
        cleave__words_add(w, ", ");
        cleave__words_plain(w, table->columns[group->column[1]].name);
        cleave__words_add(w, ")");
    }
    for (uint32_t i = 0; i < count && i < EXAMPLES; i++) {
        cleave__words_add(w, i ? ", " : count <= EXAMPLES ? ": " : ", e.g. ");
        add_example(e, table, &list[i]);
    }
    cleave__words_add(w, count > EXAMPLES ? ", ...\n" : "\n");
    free(list);
    return CLEAVE_OK;
}

static void add_affix(struct cleave_words *w, const char *where, const char *affix)
{
    if (!*affix)
        return;
    cleave__words_add(w, "%s", where);
    cleave__words_plain(w, affix);
    cleave__words_add(w, "'");
}

/* Ends the clause that names a key column: where its map sends values, or who said so before. */
static enum cleave_status explain_key(struct explainer *e, uint32_t table, uint32_t column,
                                      uint32_t map, bool more)
{
    const struct cleave_schema *schema = &e->lookup->schema;
    struct cleave_words *w = &e->block;
    struct user *first = &e->first_user[map];
    if (first->table == CLEAVE_ABSENT) {
        *first = (struct user){table, column};
        cleave__words_add(w, "\n");
        enum cleave_status status =
            explain_map(e, &e->lookup->maps[map], schema->tables[table].columns[column].type);
        cleave__words_add(w, more ? "and " : "");
        return status;
    }
    const struct cleave_table *other = &schema->tables[first->table];
    cleave__words_add(w, ", like ");
    if (first->table != table) {
        cleave__words_plain(w, other->name);
        cleave__words_add(w, " by ");
    }
    cleave__words_plain(w, other->columns[first->column].name);
    cleave__words_add(w, more ? ", and " : "\n");
    return CLEAVE_OK;
}

static enum cleave_status explain_table(struct explainer *e, uint32_t index)
{
    const struct cleave_table *table = &e->lookup->schema.tables[index];
    const struct cleave_table_index *placed = &e->lookup->tables[index];
    struct cleave_words *w = &e->block;
    if (placed->replicated) {
        cleave__words_add(w, "on every shard\n");
        return CLEAVE_OK;
    }
    cleave__words_add(w, placed->twice ? "a copy by " : "by ");
    cleave__words_plain(w, table->columns[placed->key_column].name);
    for (uint32_t i = 0; i < placed->derived_count; i++) {
        const struct cleave_derived_key *derived = &placed->derived[i];
        cleave__words_add(w, ", or by ");
        cleave__words_plain(w, table->columns[derived->column].name);
        cleave__words_add(w, " read as a number");
        add_affix(w, " after '", derived->prefix);
        add_affix(w, *derived->prefix ? " and before '" : " before '", derived->suffix);
    }
    enum cleave_status status =
        explain_key(e, index, placed->key_column, placed->map, placed->twice);
    if (placed->twice && status == CLEAVE_OK) {
        cleave__words_add(w, "one by ");
        cleave__words_plain(w, table->columns[placed->second_column].name);
        status = explain_key(e, index, placed->second_column, placed->second_map, false);
    }
    for (uint32_t g = 0; g < placed->exceptions.group_count && status == CLEAVE_OK; g++)
        status = explain_group(e, table, &placed->exceptions.groups[g]);
    return status;
}

/* The block's clauses on one line when short, else a line each. */
static void flush_block(struct explainer *e, const char *name)
{
    struct cleave_words *block = &e->block;
    if (block->failed || !block->data) {
        e->text.failed = true;
        return;
    }
    bool one_line = strlen(name) + 2 + block->length <= LINE_MAX_SHORT;
    const char *at = block->data;
    cleave__words_plain(&e->text, name);
    cleave__words_add(&e->text, ": ");
    for (bool first = true; *at; first = false) {
        size_t length = strcspn(at, "\n");
        cleave__words_add(&e->text, "%s%.*s",
                          first      ? ""
                          : one_line ? "; "
                                     : ";\n  ",
                          (int)length, at);
        at += length + 1;
    }
    cleave__words_add(&e->text, "\n");
    block->length = 0;
    block->data[0] = 0;
}

enum cleave_status cleave__lookup_explain(const struct cleave_lookup *lookup, uint32_t list_max,
                                          char **out, struct cleave_error *error)
{
    struct explainer e = {.lookup = lookup, .list_max = list_max ? list_max : LIST_USUAL};
    e.block.grows = e.text.grows = true;
    e.block.one_line = true;
    e.first_user = malloc(((size_t)lookup->map_count + 1) * sizeof *e.first_user);
    enum cleave_status status = e.first_user ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < lookup->map_count && status == CLEAVE_OK; i++)
        e.first_user[i] = (struct user){CLEAVE_ABSENT, CLEAVE_ABSENT};
    cleave__words_add(&e.text, "%s", "");
    for (uint32_t i = 0; i < lookup->schema.table_count && status == CLEAVE_OK; i++) {
        if (lookup->schema.tables[i].view)
            continue;
        status = explain_table(&e, i);
        flush_block(&e, lookup->schema.tables[i].name);
    }
    free(e.first_user);
    free(e.block.data);
    if (status == CLEAVE_OK && e.text.failed)
        status = CLEAVE_NO_MEMORY;
    if (status != CLEAVE_OK) {
        free(e.text.data);
        return cleave_error_set(error, status, "explaining the lookup table: out of memory");
    }
    *out = e.text.data;
    return CLEAVE_OK;
}
