/* What foreign keys read unsaid: who inserts a row needs the row that it refers to, who deletes one
 * needs to know who refers to it. No part of routing or counting, which judge by the SQL alone; but
 * where a shard keeps the key, its order matters. */
#include "tables/replay/plan_work.h"

/* The terms of `box` on `from`, as terms on `to`; false: memory is out. */
static bool carry(const struct cleave_box *box, const uint32_t *from, const uint32_t *to,
                  uint32_t count, struct cleave_arena *arena, struct cleave_box *out)
{
    struct cleave_term *terms = cleave__arena_array(arena, count + 1, sizeof *terms);
    uint32_t n = 0;
    if (!terms)
        return false;
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t t = 0; t < box->term_count; t++) {
            if (box->terms[t].column != from[c])
                continue;
            uint32_t at = n++;
            for (; at > 0 && terms[at - 1].column > to[c]; at--) /* they rise by column */
                terms[at] = terms[at - 1];
            terms[at] = box->terms[t];
            terms[at].column = to[c];
        }
    }
    *out = (struct cleave_box){n, terms};
    return true;
}

static bool add(const struct cleave_access *access, uint32_t table, const uint32_t *from,
                const uint32_t *to, uint32_t count, struct cleave_arena *arena,
                struct cleave_access *out)
{
    struct cleave_box *boxes = cleave__arena_array(arena, access->box_count + 1, sizeof *boxes);
    if (!boxes)
        return false;
    for (uint32_t b = 0; b < access->box_count; b++) {
        if (!carry(&access->boxes[b], from, to, count, arena, &boxes[b]))
            return false;
    }
    *out = (struct cleave_access){.table = table, .box_count = access->box_count, .boxes = boxes};
    return true;
}

uint32_t cleave__foreign_most(const struct cleave_schema *schema)
{
    uint32_t most = 0;
    for (uint32_t t = 0; t < schema->table_count; t++)
        most += schema->tables[t].foreign_count;
    return most;
}

bool cleave__foreign_accesses(const struct cleave_schema *schema,
                              const struct cleave_access *access, bool removes,
                              struct cleave_arena *arena, struct cleave_access *out,
                              uint32_t *count)
{
    const struct cleave_table *table = &schema->tables[access->table];
    for (uint32_t f = 0; access->insert && f < table->foreign_count; f++) {
        const struct cleave_foreign_key *key = &table->foreigns[f];
        if (!add(access, key->target_table, key->columns, key->target_columns, key->count, arena,
                 &out[(*count)++]))
            return false;
    }
    for (uint32_t t = 0; removes && access->write && t < schema->table_count; t++) {
        for (uint32_t f = 0; f < schema->tables[t].foreign_count; f++) {
            const struct cleave_foreign_key *key = &schema->tables[t].foreigns[f];
            if (key->target_table == access->table &&
                !add(access, t, key->target_columns, key->columns, key->count, arena,
                     &out[(*count)++]))
                return false;
        }
    }
    return true;
}
