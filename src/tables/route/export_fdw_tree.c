/* Partitions of one table in the FDW export: noted first, then written, since a partition's remote
 * table depends on how many its shard has. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tables/route/export_fdw.h"

/* A leaf is noted first: its remote table depends on how many its shard has. The caller writes its
 * bounds to f->bounds between these two. */
static void start_leaf(struct cleave_fdw *f, uint8_t parent, uint32_t shard)
{
    struct cleave_fdw_leaf leaf = {.shard = shard, .parent = parent, .bounds = f->bounds.length};
    if (!CLEAVE_PUSH(&f->leaves, leaf))
        f->w->failed = true;
}

static void end_leaf(struct cleave_fdw *f)
{
    if (f->leaves.count)
        f->leaves.data[f->leaves.count - 1].bounds_end = f->bounds.length;
}

/* Types whose order follows a collation; ranges here are of bytes. */
static bool is_string(const char *type_name)
{
    static const char *const starts[] = {"text", "varchar", "char", "bpchar", "national char"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncasecmp(type_name, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

static void put_key(struct cleave_fdw *f, const char *how)
{
    cleave__words_add(f->w, " PARTITION BY %s (", how);
    cleave__fdw_part(f->w, f->key);
    cleave__words_add(
        f->w, strcmp(how, "RANGE") == 0 && is_string(f->key_type_name) ? " COLLATE \"C\")" : ")");
}

bool cleave__fdw_by_remainder(const struct cleave_fdw *f)
{
    return f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && f->type == CLEAVE_TYPE_INTEGER;
}

/* How values without an entry are partitioned, after the table or the default partition's name. */
static void put_rest_by(struct cleave_fdw *f)
{
    uint32_t k = f->lookup->shards;
    if (cleave__fdw_by_remainder(f)) {
        cleave__words_add(f->w, " PARTITION BY LIST (((");
        cleave__fdw_part(f->w, f->key);
        cleave__words_add(f->w, " %% %u + %u) %% %u))", k, k, k);
    } else {
        put_key(f, f->map->otherwise == CLEAVE_MAP_RANGE ? "RANGE" : "HASH");
    }
}

static void add_bound(struct cleave_fdw *f, uint32_t index, bool high)
{
    if (high ? index == f->map->bound_count : index == 0)
        cleave__words_add(&f->bounds, high ? "MAXVALUE" : "MINVALUE");
    else
        cleave__fdw_value(&f->bounds, &f->map->bounds[high ? index : index - 1], f->type);
}

static void note_rest(struct cleave_fdw *f, uint8_t parent)
{
    struct cleave_words *b = &f->bounds;
    uint32_t k = f->lookup->shards, n = f->map->bound_count;
    bool ranges = f->map->otherwise == CLEAVE_MAP_RANGE;
    for (uint32_t i = 0; i < (ranges ? n + 1 : k); i++) {
        /* Equal bounds leave a shard without a range. */
        if (ranges && i && i < n &&
            cleave__value_compare(&f->map->bounds[i - 1], &f->map->bounds[i]) == 0)
            continue;
        start_leaf(f, parent, i);
        if (ranges) {
            cleave__words_add(b, "FOR VALUES FROM (");
            add_bound(f, i, false);
            cleave__words_add(b, ") TO (");
            add_bound(f, i, true);
            cleave__words_add(b, ")");
        } else if (cleave__fdw_by_remainder(f)) {
            cleave__words_add(b, "FOR VALUES IN (%u)", i);
        } else {
            cleave__words_add(b, "FOR VALUES WITH (MODULUS %u, REMAINDER %u)", k, i);
        }
        end_leaf(f);
    }
}

/* One LIST partition a shard for its explicit values, NULL among them. `order` has the entries by
 * shard. */
static void note_lists(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                       const uint32_t *shards, const uint32_t *order)
{
    struct cleave_words *b = &f->bounds;
    uint32_t at = 0;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        bool null = f->nullable && f->map->null_shard == s;
        if (!null && (at == count || shards[order[at]] != s))
            continue;
        start_leaf(f, CLEAVE_PARENT_TABLE, s);
        cleave__words_add(b, null ? "FOR VALUES IN (NULL" : "FOR VALUES IN (");
        for (bool first = !null; at < count && shards[order[at]] == s; at++, first = false) {
            cleave__words_add(b, first ? "" : ", ");
            cleave__fdw_value(b, &values[order[at]], f->type);
        }
        cleave__words_add(b, ")");
        end_leaf(f);
    }
}

static void note_steps(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                       const uint32_t *shards)
{
    struct cleave_words *b = &f->bounds;
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        start_leaf(f, CLEAVE_PARENT_TABLE, count ? shards[i] : 0);
        cleave__words_add(b, "FOR VALUES FROM (");
        if (i == 0)
            cleave__words_add(b, "MINVALUE");
        else
            cleave__fdw_value(b, &values[i], f->type);
        cleave__words_add(b, ") TO (");
        if (i + 1 >= count)
            cleave__words_add(b, "MAXVALUE");
        else
            cleave__fdw_value(b, &values[i + 1], f->type);
        cleave__words_add(b, ")");
        end_leaf(f);
    }
    if (f->nullable) {
        start_leaf(f, CLEAVE_PARENT_TABLE, f->map->null_shard);
        cleave__words_add(b, "DEFAULT");
        end_leaf(f);
    }
}

static int by_shard_of(const void *a, const void *b, void *context)
{
    const uint32_t *shards = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (shards[x] != shards[y])
        return shards[x] < shards[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Notes all leaves, in the order of partitions; true when there is a level for the rest. */
static bool note_leaves(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                        uint32_t *shards)
{
    f->leaves.count = 0;
    f->bounds.length = 0;
    if (f->map->otherwise == CLEAVE_MAP_NEAREST) {
        note_steps(f, count, values, shards);
        return false;
    }
    if (count == 0 && !f->nullable) {
        note_rest(f, CLEAVE_PARENT_TABLE);
        return false;
    }
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    if (!order) {
        f->w->failed = true;
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_shard_of, shards);
    note_lists(f, count, values, shards, order);
    free(order);
    note_rest(f, CLEAVE_PARENT_REST);
    return true;
}

static void put_bounds(struct cleave_fdw *f, const struct cleave_fdw_leaf *leaf)
{
    cleave__words_bytes(f->w, f->bounds.data + leaf->bounds, leaf->bounds_end - leaf->bounds);
}

/* Lines for the shards that keep several partitions of this table. */
static void put_shard_lines(struct cleave_fdw *f, const uint32_t *leaf_counts)
{
    bool steps = f->map->otherwise == CLEAVE_MAP_NEAREST;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        if (leaf_counts[s] < 2)
            continue;
        if (strchr(f->table->name, '.')) {
            cleave__words_add(f->w, "--%u: CREATE SCHEMA IF NOT EXISTS ", s);
            cleave__fdw_schema(f);
            cleave__words_add(f->w, ";\n");
        }
        cleave__words_add(f->w, "--%u: CREATE TABLE ", s);
        cleave__fdw_table_name(f);
        cleave__fdw_columns(f, " ", true);
        put_key(f, steps ? "RANGE" : "LIST");
        cleave__words_add(f->w, ";\n");
        for (size_t n = 0; n < f->leaves.count; n++) {
            const struct cleave_fdw_leaf *leaf = &f->leaves.data[n];
            if (leaf->shard != s)
                continue;
            cleave__words_add(f->w, "--%u: CREATE TABLE ", s);
            if (strchr(f->table->name, '.')) {
                cleave__fdw_schema(f);
                cleave__words_add(f->w, ".");
            }
            cleave__fdw_piece_name(f, n, false);
            cleave__words_add(f->w, " PARTITION OF ");
            cleave__fdw_table_name(f);
            cleave__words_add(f->w, " ");
            if (leaf->parent == CLEAVE_PARENT_REST)
                cleave__words_add(f->w, "DEFAULT");
            else
                put_bounds(f, leaf);
            cleave__words_add(f->w, ";\n");
        }
    }
}

static void put_leaf(struct cleave_fdw *f, size_t n, bool own_piece)
{
    const struct cleave_fdw_leaf *leaf = &f->leaves.data[n];
    cleave__words_add(f->w, "CREATE FOREIGN TABLE cleave_shard_%u.", leaf->shard);
    cleave__fdw_piece_name(f, n, true);
    cleave__words_add(f->w, " PARTITION OF ");
    if (leaf->parent == CLEAVE_PARENT_REST)
        cleave__words_add(f->w, "cleave_rest.\"table %u\"", f->index);
    else
        cleave__fdw_table_name(f);
    cleave__words_add(f->w, " ");
    put_bounds(f, leaf);
    cleave__fdw_remote(f, leaf->shard, n, own_piece);
    cleave__words_add(f->w, ";\n");
}

void cleave__fdw_tree(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                      uint32_t *shards)
{
    uint32_t leaf_counts[CLEAVE_SHARDS_MAX] = {0};
    bool rest = note_leaves(f, count, values, shards);
    if (f->w->failed || f->bounds.failed || f->leaves.count == 0) {
        f->w->failed = true;
        return;
    }
    bool several = false;
    for (size_t n = 0; n < f->leaves.count; n++)
        several = ++leaf_counts[f->leaves.data[n].shard] > 1 || several;
    bool by_rest =
        f->map->otherwise == CLEAVE_MAP_HASH || f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN;
    /* Ranges of strings are by another collation than a comparison's: they are never pruned. */
    if (several || (!by_rest && is_string(f->key_type_name))
            ? cleave__fdw_may_go(f)
            : by_rest && cleave__fdw_goes_exactly(f)) {
        cleave__fdw_goes(f, count, values, shards);
        return;
    }
    put_shard_lines(f, leaf_counts);
    cleave__words_add(f->w, "CREATE TABLE ");
    cleave__fdw_table_name(f);
    cleave__fdw_columns(f, "\n  ", false);
    if (f->map->otherwise == CLEAVE_MAP_NEAREST)
        put_key(f, "RANGE");
    else if (rest)
        put_key(f, "LIST");
    else
        put_rest_by(f);
    cleave__words_add(f->w, ";\n");
    for (size_t n = 0; n < f->leaves.count; n++) {
        if (f->leaves.data[n].parent == CLEAVE_PARENT_REST &&
            f->leaves.data[n - 1].parent == CLEAVE_PARENT_TABLE) {
            cleave__words_add(f->w, "CREATE TABLE cleave_rest.\"table %u\" PARTITION OF ",
                              f->index);
            cleave__fdw_table_name(f);
            cleave__words_add(f->w, " DEFAULT");
            put_rest_by(f);
            cleave__words_add(f->w, ";\n");
        }
        put_leaf(f, n, leaf_counts[f->leaves.data[n].shard] > 1);
    }
}
