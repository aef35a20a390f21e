/* CMRR, count-max round robin: every table by its most frequently accessed column, round robin on
 * the value. Ties go to the column of more distinct constants, which round robin spreads better,
 * then to the one declared first. A table never accessed keeps its primary key. */
#include "tables/scheme/scheme.h"

enum cleave_status cleave__place_cmrr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error)
{
    if (!cleave__layout_start(input->schema, input->shards, arena, layout))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    layout->maps[0].otherwise = CLEAVE_MAP_ROUND_ROBIN;
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        uint64_t most = 0;
        uint32_t distinct = 0;
        for (uint32_t c = 0; c < input->schema->tables[t].column_count; c++) {
            const struct cleave_column_profile *column = &profile->columns[profile->base[t] + c];
            if (column->accesses > most ||
                (most && column->accesses == most && column->distinct > distinct)) {
                most = column->accesses;
                distinct = column->distinct;
                layout->tables[t].key_column = c;
            }
        }
    }
    if (notes)
        *notes = "";
    return CLEAVE_OK;
}
