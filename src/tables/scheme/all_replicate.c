/* AllR: every table on every shard. Reads are local anywhere; every write is distributed. */
#include "tables/scheme/scheme.h"

enum cleave_status cleave__place_allr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error)
{
    if (!cleave__layout_start(input->schema, input->shards, arena, layout))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the layout");
    for (uint32_t t = 0; t < input->schema->table_count; t++)
        layout->tables[t].replicated = true;
    if (notes)
        *notes = "";
    return CLEAVE_OK;
}
