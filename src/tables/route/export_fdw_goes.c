/* A table of the FDW export whose partitions go by a function of the key that computes just what
 * the lookup table says: one partition a shard, whatever the entries, so that the shards keep plain
 * tables, and `key = value` leads to one of them.
 *
 * PostgreSQL partitions BY HASH (key class): it calls the class's function 2 with the key, adds
 * 0x49a0f4dd15e5a8e3 (hash_combine64 of an empty hash, part of its on-disk format since version
 * 11), and takes the remainder. So a function that returns shard - 0x49a0f4dd15e5a8e3 decides the
 * partition, and an equality of the class's family prunes by it. NULL hashes to 0: where NULL's
 * shard is another one, all remainders are turned by it. A class is a superuser's to make, as
 * postgres_fdw is.
 *
 * Entries and bounds are in tables of schema cleave_rest, which nobody may change. Whole numbers
 * without an entry are spread as cleave__value_shard does it; other kinds by PostgreSQL's own hash
 * (a warning says so). */
#include <string.h>
#include <strings.h>

#include "tables/route/export_fdw.h"

/* hash_combine64's constant */
#define COMBINE "5305509591434766563"

static bool starts(const char *text, const char *word)
{
    return strncasecmp(text, word, strlen(word)) == 0;
}

/* The type that the class is for; NULL: none that is known to compare as cleave does. */
static const char *base_of(const struct cleave_fdw *f)
{
    const char *name = f->key_type_name;
    switch (f->type) {
    case CLEAVE_TYPE_INTEGER:
        if (starts(name, "smallint") || starts(name, "int2") || starts(name, "smallserial"))
            return "smallint";
        if (starts(name, "bigint") || starts(name, "int8") || starts(name, "bigserial"))
            return "bigint";
        return starts(name, "int") || strcasecmp(name, "serial") == 0 ? "integer" : NULL;
    case CLEAVE_TYPE_DATE:
        return "date";
    case CLEAVE_TYPE_TIMESTAMP:
        return starts(name, "timestamptz") || strstr(name, "with time zone") ? "timestamptz"
                                                                             : "timestamp";
    case CLEAVE_TYPE_BOOLEAN:
        return "boolean";
    case CLEAVE_TYPE_UUID:
        return "uuid";
    case CLEAVE_TYPE_NUMBER:
        return starts(name, "numeric") || starts(name, "decimal") ? "numeric" : NULL;
    case CLEAVE_TYPE_CHAR:
        return "bpchar";
    case CLEAVE_TYPE_TEXT:
        return starts(name, "text") || starts(name, "varchar") || starts(name, "character varying")
                   ? "text"
                   : NULL;
    case CLEAVE_TYPE_TIME:
    default:
        return NULL;
    }
}

/* The key `v` as the whole number that it is to cleave; NULL: it is none. */
static const char *number_of(const struct cleave_fdw *f)
{
    switch (f->type) {
    case CLEAVE_TYPE_INTEGER:
        return "v::numeric";
    case CLEAVE_TYPE_BOOLEAN:
        return "v::int::numeric";
    case CLEAVE_TYPE_DATE:
        return "(v - '1970-01-01')::numeric * 86400000000";
    case CLEAVE_TYPE_TIMESTAMP:
        return "floor(extract(epoch FROM v) * 1000000)::numeric";
    default:
        return NULL;
    }
}

static bool by_rest(const struct cleave_fdw *f)
{
    return f->map->otherwise == CLEAVE_MAP_HASH || f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN;
}

bool cleave__fdw_goes_exactly(const struct cleave_fdw *f)
{
    return base_of(f) && (!by_rest(f) || number_of(f));
}

bool cleave__fdw_may_go(const struct cleave_fdw *f)
{
    return base_of(f) != NULL;
}

static const char *collation(const struct cleave_fdw *f)
{
    return f->type == CLEAVE_TYPE_TEXT || f->type == CLEAVE_TYPE_CHAR ? " COLLATE \"C\"" : "";
}

/* A table of values with a shard each, or of bounds. */
static void put_values(struct cleave_fdw *f, const char *what, uint32_t count,
                       const struct cleave_value *values, const uint32_t *shards)
{
    cleave__words_add(f->w, "CREATE TABLE cleave_rest.\"%s %u\" (place int, key %s%s);\n", what,
                      f->index, base_of(f), collation(f));
    for (uint32_t i = 0; i < count; i++) {
        if (i % 1000 == 0)
            cleave__words_add(f->w, "%sINSERT INTO cleave_rest.\"%s %u\" VALUES ", i ? ";\n" : "",
                              what, f->index);
        cleave__words_add(f->w, i % 1000 ? ", (%u, " : "(%u, ", shards ? shards[i] : i);
        cleave__fdw_value(f->w, &values[i], f->type);
        cleave__words_add(f->w, ")");
    }
    cleave__words_add(f->w, count ? ";\n" : "");
    cleave__words_add(f->w, "CREATE INDEX ON cleave_rest.\"%s %u\" (key);\n", what, f->index);
}

/* Where a value without an entry goes, as an expression. */
static void put_rest(struct cleave_fdw *f, const struct cleave_value *values,
                     const uint32_t *shards, uint32_t count)
{
    uint32_t k = f->lookup->shards;
    const char *number = number_of(f), *base = base_of(f);
    (void)values;
    if (f->map->otherwise == CLEAVE_MAP_RANGE)
        cleave__words_add(f->w, "(SELECT count(*) FROM cleave_rest.\"bounds %u\" WHERE key <= v%s)",
                          f->index, collation(f));
    else if (f->map->otherwise == CLEAVE_MAP_NEAREST)
        cleave__words_add(f->w,
                          "coalesce((SELECT place FROM cleave_rest.\"entries %u\" WHERE key <= v%s "
                          "ORDER BY key DESC LIMIT 1), %u)",
                          f->index, collation(f), count ? shards[0] : 0);
    else if (f->map->otherwise == CLEAVE_MAP_ROUND_ROBIN && number)
        cleave__words_add(f->w, "mod(mod(%s, %u) + %u, %u)", number, k, k, k);
    else if (number) /* the high half of v * 2^64 / phi * k */
        cleave__words_add(f->w,
                          "div(mod(mod(%s * 11400714819323198485, 18446744073709551616) + "
                          "18446744073709551616, 18446744073709551616) * %u, 18446744073709551616)",
                          number, k);
    else
        cleave__words_add(f->w, "mod(mod(%s(v, 0), %u) + %u, %u)",
                          strcmp(base, "numeric") == 0  ? "hash_numeric_extended"
                          : strcmp(base, "uuid") == 0   ? "uuid_hash_extended"
                          : strcmp(base, "bpchar") == 0 ? "hashbpcharextended"
                                                        : "hashtextextended",
                          k, k, k);
}

static void put_function(struct cleave_fdw *f, const char *type, const char *body_type)
{
    cleave__words_add(f->w,
                      "CREATE FUNCTION cleave_rest.\"goes %u\"(v %s, seed bigint) RETURNS bigint "
                      "LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$\n",
                      f->index, type);
    if (body_type) /* another integer type: as the key's own */
        cleave__words_add(f->w,
                          "BEGIN RETURN cleave_rest.\"goes %u\"(v::%s, seed); EXCEPTION WHEN "
                          "numeric_value_out_of_range THEN RETURN 0; END $$;\n",
                          f->index, body_type);
}

static void put_class(struct cleave_fdw *f)
{
    static const char *const integers[] = {"smallint", "integer", "bigint"};
    const char *base = base_of(f);
    cleave__words_add(f->w,
                      "CREATE OPERATOR CLASS cleave_rest.\"goes %u\" FOR TYPE %s USING hash AS "
                      "OPERATOR 1 =, FUNCTION 2 cleave_rest.\"goes %u\"(%s, bigint);\n",
                      f->index, base, f->index, base);
    for (size_t i = 0; f->type == CLEAVE_TYPE_INTEGER && i < 3; i++) {
        if (strcmp(integers[i], base) == 0)
            continue;
        put_function(f, integers[i], base);
        cleave__words_add(f->w,
                          "ALTER OPERATOR FAMILY cleave_rest.\"goes %u\" USING hash ADD OPERATOR 1 "
                          "= (%s, %s), FUNCTION 2 (%s, %s) cleave_rest.\"goes %u\"(%s, bigint);\n",
                          f->index, base, integers[i], integers[i], integers[i], f->index,
                          integers[i]);
    }
}

void cleave__fdw_goes(struct cleave_fdw *f, uint32_t count, const struct cleave_value *values,
                      const uint32_t *shards)
{
    uint32_t k = f->lookup->shards, null_shard = f->map->null_shard;
    if (count)
        put_values(f, "entries", count, values, shards);
    if (f->map->otherwise == CLEAVE_MAP_RANGE)
        put_values(f, "bounds", f->map->bound_count, f->map->bounds, NULL);
    put_function(f, base_of(f), NULL);
    cleave__words_add(f->w, "DECLARE shard bigint;\nBEGIN\n");
    if (count && f->map->otherwise != CLEAVE_MAP_NEAREST)
        cleave__words_add(f->w,
                          "  SELECT place INTO shard FROM cleave_rest.\"entries %u\" WHERE key = "
                          "v%s;\n  IF shard IS NULL THEN\n  ",
                          f->index, collation(f));
    cleave__words_add(f->w, "  shard := ");
    if (count || f->map->otherwise != CLEAVE_MAP_NEAREST)
        put_rest(f, values, shards, count);
    else
        cleave__words_add(f->w, "0");
    cleave__words_add(f->w, ";\n");
    if (count && f->map->otherwise != CLEAVE_MAP_NEAREST)
        cleave__words_add(f->w, "  END IF;\n");
    cleave__words_add(f->w, "  RETURN mod(shard + %u, %u) - " COMBINE ";\nEND $$;\n",
                      (k - null_shard) % k, k);
    put_class(f);
    cleave__words_add(f->w, "CREATE TABLE ");
    cleave__fdw_table_name(f);
    cleave__fdw_columns(f, "\n  ", false);
    cleave__words_add(f->w, " PARTITION BY HASH (");
    cleave__fdw_part(f->w, f->key);
    cleave__words_add(f->w, " cleave_rest.\"goes %u\");\n", f->index);
    for (uint32_t s = 0; s < k; s++) {
        cleave__words_add(f->w, "CREATE FOREIGN TABLE cleave_shard_%u.", s);
        cleave__fdw_piece_name(f, s, true);
        cleave__words_add(f->w, " PARTITION OF ");
        cleave__fdw_table_name(f);
        cleave__words_add(f->w, " FOR VALUES WITH (MODULUS %u, REMAINDER %u)", k,
                          (s + k - null_shard) % k);
        cleave__fdw_remote(f, s, s, false);
        cleave__words_add(f->w, ";\n");
    }
}
