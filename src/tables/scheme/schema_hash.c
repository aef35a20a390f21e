/* SH, schema hashing: the partitioning keys follow the foreign keys. The root is the table that
 * most tables reach along their foreign keys (ties: the most rows, then the first); its primary
 * key's first column is the key, and each table that reaches it is hashed by the column that
 * carries that value. Tables that do not reach the root are small reference tables in the schemas
 * that this is meant for: one copy on every shard. Source: seed 002, section 4 (its reference 17).
 */
#include <stdlib.h>
#include <string.h>

#include "tables/scheme/scheme.h"

/* Finds, by breadth first along foreign keys backwards from root.key, the column of each table that
 * carries the root's key. Returns how many tables reach it. */
static uint32_t follow(const struct cleave_schema *schema, uint32_t root, uint32_t *column)
{
    const struct cleave_table *table = &schema->tables[root];
    for (uint32_t t = 0; t < schema->table_count; t++)
        column[t] = CLEAVE_ABSENT;
    if (table->view || table->column_count == 0)
        return 0;
    column[root] = table->primary.count ? table->primary.columns[0] : 0;
    uint32_t reached = 1;
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t t = 0; t < schema->table_count; t++) {
            for (uint32_t f = 0; f < schema->tables[t].foreign_count && column[t] == CLEAVE_ABSENT;
                 f++) {
                const struct cleave_foreign_key *key = &schema->tables[t].foreigns[f];
                for (uint32_t c = 0; c < key->count; c++) {
                    if (column[key->target_table] == key->target_columns[c]) {
                        column[t] = key->columns[c];
                        grew = true;
                        reached++;
                        break;
                    }
                }
            }
        }
    }
    return reached;
}

enum cleave_status cleave__place_sh(const struct cleave_scheme_input *input,
                                    struct cleave_arena *arena, struct cleave_layout *layout,
                                    const char **notes, struct cleave_error *error)
{
    const struct cleave_schema *schema = input->schema;
    uint32_t *column = malloc(((size_t)schema->table_count + 1) * sizeof *column);
    if (!column || !cleave__layout_start(schema, input->shards, arena, layout)) {
        free(column);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    }
    uint32_t best = 0, best_reach = 0;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        uint32_t reach = follow(schema, t, column);
        if (reach > best_reach ||
            (reach == best_reach && schema->tables[t].rows > schema->tables[best].rows)) {
            best = t;
            best_reach = reach;
        }
    }
    if (best_reach > 1) {
        follow(schema, best, column);
        for (uint32_t t = 0; t < schema->table_count; t++) {
            if (column[t] == CLEAVE_ABSENT)
                layout->tables[t].replicated = true;
            else
                layout->tables[t].key_column = column[t];
        }
    }
    free(column);
    if (notes)
        *notes = best_reach > 1 ? "" : "no foreign keys: every table is hashed by its own key\n";
    return CLEAVE_OK;
}
