/* DDL of a PostgreSQL that stands before the shards: native partitions that are foreign tables.
 *
 * Explicit values become LIST partitions, one a shard; all other values a DEFAULT partition that is
 * partitioned again: by HASH (PostgreSQL's own), by LIST of the remainder (exact), or by RANGE
 * (exact). Steps (NEAREST) are RANGE partitions. postgres_fdw does not send a partition's bounds,
 * so no two partitions may stand for one remote table: where a shard has several, it keeps each in
 * a partition of its own, and the lines that make them there are given as comments "--N: ...".
 * Foreign tables live in a schema of their own for each shard, so that no name collides. A trigger
 * refuses updates of a key: postgres_fdw would leave the row on its shard without an error. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "tables/route/export.h"
#include "tables/route/image.h"

enum { NAME_MAX_BYTES = 63 };

enum { PARENT_TABLE, PARENT_REST };

/* One partition that is a foreign table. */
struct leaf {
    uint32_t shard;
    uint8_t parent;
    size_t bounds, bounds_end; /* in fdw.bounds */
};

struct leaves {
    struct leaf *data;
    size_t count, capacity;
};

struct fdw {
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
    struct leaves leaves;
    struct cleave_words bounds; /* of all leaves, one after the other */
};

static void put_text(struct cleave_words *w, const char *text, size_t length)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = text};
    value.length = (uint32_t)length;
    cleave__words_value(w, &value, CLEAVE_TYPE_TEXT, 0);
}

static bool has_controls(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    }
    return false;
}

/* Everything below fits a comment line: control characters are escaped. */
static void put_part(struct cleave_words *w, const char *name)
{
    if (!has_controls(name, strlen(name))) {
        cleave__words_name_part(w, name);
        return;
    }
    cleave__words_add(w, "U&\"");
    for (; *name; name++) {
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            cleave__words_add(w, "\\%04x", (unsigned char)*name);
        else
            cleave__words_add(w, *name == '"' ? "\"\"" : *name == '\\' ? "\\\\" : "%c", *name);
    }
    cleave__words_add(w, "\"");
}

static void put_value(struct cleave_words *w, const struct cleave_value *value,
                      enum cleave_type type)
{
    if (value->kind != CLEAVE_TEXT || !has_controls(value->text, value->length)) {
        cleave__words_value(w, value, type, 0);
        return;
    }
    cleave__words_add(w, "E'");
    for (uint32_t i = 0; i < value->length; i++) {
        unsigned char c = (unsigned char)value->text[i];
        if (c < 0x20 || c == 0x7f)
            cleave__words_add(w, "\\x%02x", c);
        else if (c == '\'' || c == '\\')
            cleave__words_add(w, "%c%c", c, c);
        else
            cleave__words_bytes(w, &value->text[i], 1);
    }
    cleave__words_add(w, "'");
}

/* The table's schema with its dot, or nothing. */
static void put_schema(struct fdw *f)
{
    const char *dot = strchr(f->table->name, '.');
    if (!dot)
        return;
    struct cleave_words name = {.grows = true};
    cleave__words_bytes(&name, f->table->name, (size_t)(dot - f->table->name));
    if (name.failed)
        f->w->failed = true;
    else
        put_part(f->w, name.data);
    free(name.data);
}

static const char *bare_name(const struct fdw *f)
{
    const char *dot = strchr(f->table->name, '.');
    return dot ? dot + 1 : f->table->name;
}

static void put_table_name(struct fdw *f)
{
    if (strchr(f->table->name, '.')) {
        put_schema(f);
        cleave__words_add(f->w, ".");
    }
    put_part(f->w, bare_name(f));
}

/* An option's text with "{}" replaced, as a literal. */
static void put_option(struct fdw *f, const char *name, const char *pattern, uint32_t shard)
{
    struct cleave_words text = {.grows = true};
    for (const char *at = pattern; *at;) {
        if (at[0] == '{' && at[1] == '}') {
            cleave__words_add(&text, "%u", shard);
            at += 2;
        } else {
            cleave__words_bytes(&text, at++, 1);
        }
    }
    cleave__words_add(f->w, "%s ", name);
    put_text(f->w, text.data ? text.data : "", text.length);
    f->w->failed = f->w->failed || text.failed;
    free(text.data);
}

static void put_servers(struct fdw *f)
{
    const struct cleave_export_options *o = f->options;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        cleave__words_add(f->w,
                          "CREATE SERVER cleave_shard_%u FOREIGN DATA WRAPPER postgres_fdw "
                          "OPTIONS (",
                          s);
        put_option(f, "host", o->host ? o->host : "shard-{}", s);
        cleave__words_add(f->w, ", ");
        put_option(f, "port", o->port ? o->port : "5432", s);
        cleave__words_add(f->w, ", ");
        put_option(f, "dbname", o->database ? o->database : "postgres", s);
        cleave__words_add(f->w,
                          ");\nCREATE USER MAPPING FOR CURRENT_USER SERVER cleave_shard_%u;\n"
                          "CREATE SCHEMA cleave_shard_%u;\n",
                          s, s);
    }
}

/* The declared type, when it is one that DDL can repeat; serial types lose their sequence. */
static void put_type(struct cleave_words *w, const char *type)
{
    static const char *const serials[][2] = {
        {"smallserial", "smallint"}, {"serial2", "smallint"}, {"serial", "integer"},
        {"serial4", "integer"},      {"bigserial", "bigint"}, {"serial8", "bigint"},
    };
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++) {
        if (strcmp(type, serials[i][0]) == 0)
            type = serials[i][1];
    }
    bool plain = *type != 0;
    for (const char *c = type; *c; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || strchr(" _.,()[]", *c));
    if (plain)
        cleave__words_add(w, "%s", type);
    else
        cleave__words_name(w, type);
}

static void put_key_columns(struct fdw *f, const char *what, const struct cleave_key *key)
{
    bool has_key = false;
    for (uint32_t i = 0; i < key->count; i++)
        has_key = has_key || strcmp(f->table->columns[key->columns[i]].name, f->key) == 0;
    if (!has_key)
        return;
    cleave__words_add(f->w, ", %s (", what);
    for (uint32_t i = 0; i < key->count; i++) {
        cleave__words_add(f->w, i ? ", " : "");
        put_part(f->w, f->table->columns[key->columns[i]].name);
    }
    cleave__words_add(f->w, ")");
}

/* With the keys that a table partitioned by f->key can carry, for the shards. */
static void put_columns(struct fdw *f, const char *between, bool with_keys)
{
    cleave__words_add(f->w, " (");
    for (uint32_t i = 0; i < f->table->column_count; i++) {
        const struct cleave_column *column = &f->table->columns[i];
        cleave__words_add(f->w, i ? ",%s" : "%s", between);
        put_part(f->w, column->name);
        cleave__words_add(f->w, " ");
        put_type(f->w, column->type_name);
        cleave__words_add(f->w, column->not_null ? " NOT NULL" : "");
    }
    if (with_keys) {
        put_key_columns(f, "PRIMARY KEY", &f->table->primary);
        for (uint32_t i = 0; i < f->table->unique_count; i++)
            put_key_columns(f, "UNIQUE", &f->table->uniques[i]);
    }
    cleave__words_add(f->w, ")");
}

/* Name of the n-th partition; a long one gives way to the table's number. */
static void make_piece_name(const struct fdw *f, size_t n, bool with_schema,
                            struct cleave_words *name)
{
    char suffix[24] = "";
    if (n || !with_schema)
        snprintf(suffix, sizeof suffix, "/%zu", n);
    const char *base = with_schema ? f->table->name : bare_name(f);
    if (strlen(base) + strlen(suffix) > NAME_MAX_BYTES)
        cleave__words_add(name, "table %u%s", f->index, suffix);
    else
        cleave__words_add(name, "%s%s", base, suffix);
}

static void put_piece_name(struct fdw *f, size_t n, bool with_schema)
{
    struct cleave_words name = {.grows = true};
    make_piece_name(f, n, with_schema, &name);
    if (name.failed)
        f->w->failed = true;
    else
        put_part(f->w, name.data);
    free(name.data);
}

/* Options that say what the n-th partition is called on its shard. */
static void put_remote(struct fdw *f, uint32_t shard, size_t n, bool own_piece)
{
    const char *dot = strchr(f->table->name, '.');
    struct cleave_words name = {.grows = true};
    if (own_piece)
        make_piece_name(f, n, false, &name);
    else
        cleave__words_add(&name, "%s", bare_name(f));
    cleave__words_add(f->w, "\n  SERVER cleave_shard_%u OPTIONS (schema_name ", shard);
    put_text(f->w, dot ? f->table->name : "public", dot ? (size_t)(dot - f->table->name) : 6);
    cleave__words_add(f->w, ", table_name ");
    if (name.failed)
        f->w->failed = true;
    else
        put_text(f->w, name.data, name.length);
    cleave__words_add(f->w, ")");
    free(name.data);
}

/* A leaf is noted first: its remote table depends on how many its shard has. The caller writes its
 * bounds to f->bounds between these two. */
static void start_leaf(struct fdw *f, uint8_t parent, uint32_t shard)
{
    struct leaf leaf = {.shard = shard, .parent = parent, .bounds = f->bounds.length};
    if (!CLEAVE_PUSH(&f->leaves, leaf))
        f->w->failed = true;
}

static void end_leaf(struct fdw *f)
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

static void put_key(struct fdw *f, const char *how)
{
    cleave__words_add(f->w, " PARTITION BY %s (", how);
    put_part(f->w, f->key);
    cleave__words_add(
        f->w, strcmp(how, "RANGE") == 0 && is_string(f->key_type_name) ? " COLLATE \"C\")" : ")");
}

static bool by_remainder(const struct fdw *f)
{
    return f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && f->type == CLEAVE_TYPE_INTEGER;
}

/* How values without an entry are partitioned, after the table or the default partition's name. */
static void put_rest_by(struct fdw *f)
{
    uint32_t k = f->lookup->shards;
    if (by_remainder(f)) {
        cleave__words_add(f->w, " PARTITION BY LIST (((");
        put_part(f->w, f->key);
        cleave__words_add(f->w, " %% %u + %u) %% %u))", k, k, k);
    } else {
        put_key(f, f->map->otherwise == CLEAVE_MAP_RANGE ? "RANGE" : "HASH");
    }
}

static void add_bound(struct fdw *f, uint32_t index, bool high)
{
    if (high ? index == f->map->bound_count : index == 0)
        cleave__words_add(&f->bounds, high ? "MAXVALUE" : "MINVALUE");
    else
        put_value(&f->bounds, &f->map->bounds[high ? index : index - 1], f->type);
}

static void note_rest(struct fdw *f, uint8_t parent)
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
        } else if (by_remainder(f)) {
            cleave__words_add(b, "FOR VALUES IN (%u)", i);
        } else {
            cleave__words_add(b, "FOR VALUES WITH (MODULUS %u, REMAINDER %u)", k, i);
        }
        end_leaf(f);
    }
}

/* One LIST partition a shard for its explicit values, NULL among them. `order` has the entries by
 * shard. */
static void note_lists(struct fdw *f, uint32_t count, const struct cleave_value *values,
                       const uint32_t *shards, const uint32_t *order)
{
    struct cleave_words *b = &f->bounds;
    uint32_t at = 0;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        bool null = f->nullable && f->map->null_shard == s;
        if (!null && (at == count || shards[order[at]] != s))
            continue;
        start_leaf(f, PARENT_TABLE, s);
        cleave__words_add(b, null ? "FOR VALUES IN (NULL" : "FOR VALUES IN (");
        for (bool first = !null; at < count && shards[order[at]] == s; at++, first = false) {
            cleave__words_add(b, first ? "" : ", ");
            put_value(b, &values[order[at]], f->type);
        }
        cleave__words_add(b, ")");
        end_leaf(f);
    }
}

static void note_steps(struct fdw *f, uint32_t count, const struct cleave_value *values,
                       const uint32_t *shards)
{
    struct cleave_words *b = &f->bounds;
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        start_leaf(f, PARENT_TABLE, count ? shards[i] : 0);
        cleave__words_add(b, "FOR VALUES FROM (");
        if (i == 0)
            cleave__words_add(b, "MINVALUE");
        else
            put_value(b, &values[i], f->type);
        cleave__words_add(b, ") TO (");
        if (i + 1 >= count)
            cleave__words_add(b, "MAXVALUE");
        else
            put_value(b, &values[i + 1], f->type);
        cleave__words_add(b, ")");
        end_leaf(f);
    }
    if (f->nullable) {
        start_leaf(f, PARENT_TABLE, f->map->null_shard);
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
static bool note_leaves(struct fdw *f, uint32_t count, const struct cleave_value *values,
                        uint32_t *shards)
{
    f->leaves.count = 0;
    f->bounds.length = 0;
    if (f->map->otherwise == CLEAVE_MAP_NEAREST) {
        note_steps(f, count, values, shards);
        return false;
    }
    if (count == 0 && !f->nullable) {
        note_rest(f, PARENT_TABLE);
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
    note_rest(f, PARENT_REST);
    return true;
}

static void put_bounds(struct fdw *f, const struct leaf *leaf)
{
    cleave__words_bytes(f->w, f->bounds.data + leaf->bounds, leaf->bounds_end - leaf->bounds);
}

/* Lines for the shards that keep several partitions of this table. */
static void put_shard_lines(struct fdw *f, const uint32_t *leaf_counts)
{
    bool steps = f->map->otherwise == CLEAVE_MAP_NEAREST;
    for (uint32_t s = 0; s < f->lookup->shards; s++) {
        if (leaf_counts[s] < 2)
            continue;
        if (strchr(f->table->name, '.')) {
            cleave__words_add(f->w, "--%u: CREATE SCHEMA IF NOT EXISTS ", s);
            put_schema(f);
            cleave__words_add(f->w, ";\n");
        }
        cleave__words_add(f->w, "--%u: CREATE TABLE ", s);
        put_table_name(f);
        put_columns(f, " ", true);
        put_key(f, steps ? "RANGE" : "LIST");
        cleave__words_add(f->w, ";\n");
        for (size_t n = 0; n < f->leaves.count; n++) {
            const struct leaf *leaf = &f->leaves.data[n];
            if (leaf->shard != s)
                continue;
            cleave__words_add(f->w, "--%u: CREATE TABLE ", s);
            if (strchr(f->table->name, '.')) {
                put_schema(f);
                cleave__words_add(f->w, ".");
            }
            put_piece_name(f, n, false);
            cleave__words_add(f->w, " PARTITION OF ");
            put_table_name(f);
            cleave__words_add(f->w, " ");
            if (leaf->parent == PARENT_REST)
                cleave__words_add(f->w, "DEFAULT");
            else
                put_bounds(f, leaf);
            cleave__words_add(f->w, ";\n");
        }
    }
}

static void put_leaf(struct fdw *f, size_t n, bool own_piece)
{
    const struct leaf *leaf = &f->leaves.data[n];
    cleave__words_add(f->w, "CREATE FOREIGN TABLE cleave_shard_%u.", leaf->shard);
    put_piece_name(f, n, true);
    cleave__words_add(f->w, " PARTITION OF ");
    if (leaf->parent == PARENT_REST)
        cleave__words_add(f->w, "cleave_rest.\"table %u\"", f->index);
    else
        put_table_name(f);
    cleave__words_add(f->w, " ");
    put_bounds(f, leaf);
    put_remote(f, leaf->shard, n, own_piece);
    cleave__words_add(f->w, ";\n");
}

static void put_tree(struct fdw *f, uint32_t count, const struct cleave_value *values,
                     uint32_t *shards)
{
    uint32_t leaf_counts[CLEAVE_SHARDS_MAX] = {0};
    bool rest = note_leaves(f, count, values, shards);
    if (f->w->failed || f->bounds.failed || f->leaves.count == 0) {
        f->w->failed = true;
        return;
    }
    for (size_t n = 0; n < f->leaves.count; n++)
        leaf_counts[f->leaves.data[n].shard]++;
    put_shard_lines(f, leaf_counts);
    cleave__words_add(f->w, "CREATE TABLE ");
    put_table_name(f);
    put_columns(f, "\n  ", false);
    if (f->map->otherwise == CLEAVE_MAP_NEAREST)
        put_key(f, "RANGE");
    else if (rest)
        put_key(f, "LIST");
    else
        put_rest_by(f);
    cleave__words_add(f->w, ";\n");
    for (size_t n = 0; n < f->leaves.count; n++) {
        if (f->leaves.data[n].parent == PARENT_REST &&
            f->leaves.data[n - 1].parent == PARENT_TABLE) {
            cleave__words_add(f->w, "CREATE TABLE cleave_rest.\"table %u\" PARTITION OF ",
                              f->index);
            put_table_name(f);
            cleave__words_add(f->w, " DEFAULT");
            put_rest_by(f);
            cleave__words_add(f->w, ";\n");
        }
        put_leaf(f, n, leaf_counts[f->leaves.data[n].shard] > 1);
    }
}

static void put_replicated(struct fdw *f)
{
    cleave__words_add(f->w,
                      "-- On every shard: read from shard 0 here. Writes must be made on each "
                      "shard, so they are refused here.\nCREATE FOREIGN TABLE ");
    put_table_name(f);
    put_columns(f, "\n  ", false);
    put_remote(f, 0, 0, false);
    f->w->length--; /* the closing parenthesis */
    cleave__words_add(f->w, ", updatable 'false');\n");
}

static void put_warnings(struct fdw *f, const struct cleave_table_index *placed)
{
    struct cleave_words *w = f->w;
    uint32_t exceptions = cleave__export_exceptions(f->lookup, f->index);
    if (exceptions)
        cleave__words_add(
            w,
            "-- WARNING: %u exception%s of this table cannot be kept: partitions go by "
            "one column here. Move these\n-- rows to their key's shard, or they will "
            "not be found.\n",
            exceptions, exceptions == 1 ? "" : "s");
    if (placed->derived_count)
        cleave__words_add(w,
                          "-- %u other column%s tell the key; PostgreSQL does not prune by that: "
                          "such reads ask every shard.\n",
                          placed->derived_count, placed->derived_count == 1 ? "" : "s");
    bool own_hash = f->map->otherwise == CLEAVE_MAP_HASH ||
                    (f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && !by_remainder(f));
    if (own_hash)
        cleave__words_add(w, "-- Values without an entry go by PostgreSQL's hash here, not by "
                             "cleave's: load them through this server.\n");
    if (f->table->primary.count || f->table->unique_count)
        cleave__words_add(w, "-- Its keys are not declared here: foreign partitions cannot carry "
                             "them. The shards\n-- enforce those that hold the partition key.\n");
}

static void put_guard(struct fdw *f)
{
    cleave__words_add(f->w, "CREATE TRIGGER cleave_key_stays BEFORE UPDATE ON ");
    put_table_name(f);
    cleave__words_add(f->w, " FOR EACH ROW\n  WHEN (OLD.");
    put_part(f->w, f->key);
    cleave__words_add(f->w, " IS DISTINCT FROM NEW.");
    put_part(f->w, f->key);
    cleave__words_add(f->w, ") EXECUTE FUNCTION cleave_rest.key_stays();\n");
}

static enum cleave_status put_table(struct fdw *f, uint32_t index)
{
    const struct cleave_table_index *placed = &f->lookup->tables[index];
    f->index = index;
    f->table = &f->lookup->schema.tables[index];
    cleave__words_add(f->w, "\n");
    if (strchr(f->table->name, '.')) {
        cleave__words_add(f->w, "CREATE SCHEMA IF NOT EXISTS ");
        put_schema(f);
        cleave__words_add(f->w, ";\n");
    }
    if (placed->replicated) {
        put_replicated(f);
        return CLEAVE_OK;
    }
    f->map = &f->lookup->maps[placed->map];
    f->type = f->table->columns[placed->key_column].type;
    f->key = f->table->columns[placed->key_column].name;
    f->key_type_name = f->table->columns[placed->key_column].type_name;
    f->nullable = placed->key_nullable;
    put_warnings(f, placed);
    uint32_t count, *shards;
    struct cleave_value *values;
    enum cleave_status status = cleave__key_index_list(f->map, &count, &values, &shards);
    if (status != CLEAVE_OK)
        return status;
    put_tree(f, count, values, shards);
    put_guard(f);
    free(values);
    free(shards);
    return CLEAVE_OK;
}

enum cleave_status cleave__export_fdw(const struct cleave_lookup *lookup,
                                      const struct cleave_export_options *options,
                                      struct cleave_words *words)
{
    struct fdw f = {.lookup = lookup, .options = options, .w = words, .bounds.grows = true};
    uint32_t count, *order = cleave__export_order(lookup, &count);
    if (!order)
        return CLEAVE_NO_MEMORY;
    cleave__words_add(
        words,
        "-- For an empty database that stands before the shards. Each shard has the tables "
        "already, apart\n"
        "-- from those with lines \"--N: ...\" below: these make them on shard N, which keeps "
        "several\n"
        "-- partitions of the table apart. Take them out with: sed -n 's/^--N: //p'\n"
        "-- Limits of postgres_fdw: no PREPARE TRANSACTION, so a transaction that writes on "
        "several\n"
        "-- shards is not atomic; an UPDATE of a partition key would leave the row on its "
        "old shard\n"
        "-- without an error, so a trigger refuses it; no primary keys or foreign keys "
        "across shards.\n"
        "BEGIN;\n"
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw;\n"
        "CREATE SCHEMA cleave_rest;\n"
        "CREATE FUNCTION cleave_rest.key_stays() RETURNS trigger LANGUAGE plpgsql AS $$\n"
        "BEGIN\n"
        "  RAISE EXCEPTION 'an UPDATE may not change the partition key of %%: delete and "
        "insert the "
        "row', TG_TABLE_NAME;\n"
        "END $$;\n");
    put_servers(&f);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; status == CLEAVE_OK && i < count; i++)
        status = put_table(&f, order[i]);
    cleave__words_add(words, "\nCOMMIT;\n");
    free(order);
    free(f.leaves.data);
    free(f.bounds.data);
    return status;
}
