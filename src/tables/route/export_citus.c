/* Calls that lay a database out in Citus as the lookup table says, as far as Citus can.
 *
 * Citus hashes the key itself and places hash ranges on nodes; single values are moved by
 * isolating them first. So explicit entries can be kept, rules for all other values cannot, and
 * neither can exceptions and copies by a second key: those are said in comments. Tables are listed
 * parents first. */
#include <stdlib.h>

#include "tables/route/export.h"
#include "tables/route/image.h"

enum { ISOLATE_MAX = 10000 };

static void put_literal(struct cleave_words *w, const char *name)
{
    struct cleave_words quoted = {.grows = true};
    cleave__words_name(&quoted, name);
    if (quoted.failed)
        w->failed = true;
    else
        cleave__words_literal(w, quoted.data, quoted.length);
    free(quoted.data);
}

static bool in_key(const struct cleave_key *key, uint32_t column)
{
    for (uint32_t i = 0; i < key->count; i++) {
        if (key->columns[i] == column)
            return true;
    }
    return false;
}

static void warn_of_keys(struct cleave_words *w, const struct cleave_table *table, uint32_t column)
{
    uint32_t without = table->primary.count && !in_key(&table->primary, column);
    for (uint32_t i = 0; i < table->unique_count; i++)
        without += !in_key(&table->uniques[i], column);
    if (without)
        cleave__words_add(
            w,
            "-- %u key%s of this table lack%s the distribution column; Citus wants it "
            "in each primary key\n-- and unique constraint: drop or extend them "
            "first.\n",
            without, without == 1 ? "" : "s", without == 1 ? "s" : "");
}

static void put_table(struct cleave_words *w, const struct cleave_lookup *lookup, uint32_t index,
                      uint32_t *first_user)
{
    static const char *const rules[] = {"its own hash", "round robin", "ranges",
                                        "the nearest entry below"};
    const struct cleave_table *table = &lookup->schema.tables[index];
    const struct cleave_table_index *placed = &lookup->tables[index];
    cleave__words_add(w, "\n");
    if (placed->replicated) {
        cleave__words_add(w, "SELECT create_reference_table(");
        put_literal(w, table->name);
        cleave__words_add(w, ");\n");
        return;
    }
    const struct cleave_column *key = &table->columns[placed->key_column];
    const struct cleave_key_index *map = &lookup->maps[placed->map];
    uint32_t first = first_user[placed->map];
    bool first_of_map = first == CLEAVE_ABSENT;
    bool same_type =
        !first_of_map &&
        lookup->schema.tables[first].columns[lookup->tables[first].key_column].type == key->type;
    warn_of_keys(w, table, placed->key_column);
    uint32_t exceptions = cleave__export_exceptions(lookup, index);
    if (exceptions)
        cleave__words_add(
            w,
            "-- %u exception%s of this table cannot be kept: Citus places a row by its "
            "distribution\n-- column alone.\n",
            exceptions, exceptions == 1 ? "" : "s");
    if (placed->twice) {
        cleave__words_add(w, "-- The copy of each row by ");
        cleave__words_name_part(w, table->columns[placed->second_column].name);
        cleave__words_add(w, " cannot be kept: Citus has one distribution column.\n"
                             "-- Reads by that column go to all shards here.\n");
    }
    if (placed->derived_count)
        cleave__words_add(w, "-- %u other column%s tell%s the key; Citus does not route by %s.\n",
                          placed->derived_count, placed->derived_count == 1 ? "" : "s",
                          placed->derived_count == 1 ? "s" : "",
                          placed->derived_count == 1 ? "it" : "them");
    if (first_of_map) {
        cleave__words_add(w,
                          "-- Values without an entry go by Citus's hash here, not by %s as in the "
                          "lookup table.\n",
                          rules[map->otherwise]);
        first_user[placed->map] = index;
    } else if (!same_type) {
        cleave__words_add(w, "-- Its key has another type than the table it belongs with: Citus "
                             "cannot keep them together.\n");
    }
    cleave__words_add(w, "SELECT create_distributed_table(");
    put_literal(w, table->name);
    cleave__words_add(w, ", ");
    cleave__words_literal(w, key->name, strlen(key->name));
    cleave__words_add(w, ", colocate_with => ");
    if (same_type)
        put_literal(w, lookup->schema.tables[first].name);
    else
        cleave__words_add(w, "'none'");
    cleave__words_add(w, ");\n");
}

static enum cleave_status put_entries(struct cleave_words *w, const struct cleave_lookup *lookup,
                                      uint32_t table_index)
{
    const struct cleave_table *table = &lookup->schema.tables[table_index];
    const struct cleave_table_index *placed = &lookup->tables[table_index];
    const struct cleave_key_index *map = &lookup->maps[placed->map];
    enum cleave_type type = table->columns[placed->key_column].type;
    uint32_t count, *shards;
    struct cleave_value *values;
    if (map->otherwise == CLEAVE_MAP_NEAREST || map->null_explicit)
        cleave__words_add(w, "\n-- %s: %s.\n", "Not kept",
                          map->otherwise == CLEAVE_MAP_NEAREST
                              ? "entries that stand for all values up to the next one"
                              : "the entry for NULL (a distribution column is never NULL)");
    if (map->otherwise == CLEAVE_MAP_NEAREST)
        return CLEAVE_OK;
    enum cleave_status status = cleave__key_index_list(map, &count, &values, &shards);
    if (status != CLEAVE_OK)
        return status;
    uint32_t most = count < ISOLATE_MAX ? count : ISOLATE_MAX;
    if (count)
        cleave__words_add(w, "\n-- %u values with a shard of their own choice.\n", count);
    for (uint32_t i = 0; i < most; i++) {
        cleave__words_add(w, "SELECT isolate_tenant_to_new_shard(");
        put_literal(w, table->name);
        cleave__words_add(w, ", ");
        cleave__words_value(w, &values[i], type, 0);
        cleave__words_add(w,
                          ", 'CASCADE', shard_transfer_mode => 'block_writes');\n"
                          "SELECT citus_move_shard_placement(p.shardid, p.nodename, p.nodeport, "
                          "n.nodename, n.nodeport, 'block_writes')\n"
                          "  FROM citus_shards p JOIN cleave_node n ON n.shard = %u\n"
                          "  WHERE p.shardid = get_shard_id_for_distribution_column(",
                          shards[i]);
        put_literal(w, table->name);
        cleave__words_add(w, ", ");
        cleave__words_value(w, &values[i], type, 0);
        cleave__words_add(w, ")\n    AND (p.nodename, p.nodeport) <> (n.nodename, n.nodeport);\n");
    }
    if (most < count)
        cleave__words_add(w,
                          "-- %u more values are left out: isolating so many is past what Citus is "
                          "made for.\n",
                          count - most);
    free(values);
    free(shards);
    return CLEAVE_OK;
}

enum cleave_status cleave__export_citus(const struct cleave_lookup *lookup, struct cleave_words *w)
{
    uint32_t count, *order = cleave__export_order(lookup, &count);
    uint32_t *first_user = malloc(((size_t)lookup->map_count + 1) * sizeof *first_user);
    enum cleave_status status = order && first_user ? CLEAVE_OK : CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < lookup->map_count && status == CLEAVE_OK; i++)
        first_user[i] = CLEAVE_ABSENT;
    cleave__words_add(
        w,
        "-- Run on the Citus coordinator of an empty database that has the tables: with data, the\n"
        "-- moves below copy it. %u shards of the lookup table become %u nodes; the table "
        "cleave_node\n"
        "-- says which: change its rows first when this order is not yours.\n"
        "CREATE EXTENSION IF NOT EXISTS citus;\n"
        "CREATE TEMPORARY TABLE cleave_node AS\n"
        "  SELECT (row_number() OVER (ORDER BY nodename, nodeport) - 1)::int AS shard, nodename, "
        "nodeport\n"
        "  FROM pg_dist_node WHERE noderole = 'primary' AND shouldhaveshards;\n",
        lookup->shards, lookup->shards);
    for (uint32_t i = 0; status == CLEAVE_OK && i < count; i++)
        put_table(w, lookup, order[i], first_user);
    for (uint32_t i = 0; status == CLEAVE_OK && i < lookup->map_count; i++) {
        if (first_user[i] != CLEAVE_ABSENT)
            status = put_entries(w, lookup, first_user[i]);
    }
    free(order);
    free(first_user);
    return status;
}
