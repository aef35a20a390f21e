/* See fast.h. */
#include "fast.h"

bool world_touch_fast(struct cleave_analyzer *by, const struct cleave_lookup *lookup,
                      const struct cleave_trace_transaction *transaction,
                      struct cleave_touch *touch, bool *touches)
{
    struct cleave_arena arena = {0};
    bool good = true;
    *touch = (struct cleave_touch){.distributed = false};
    *touches = false;
    for (uint32_t i = 0; i < transaction->statement_count && good; i++) {
        const struct cleave_trace_statement *text = &transaction->statements[i];
        struct cleave_statement statement;
        enum cleave_status status =
            cleave__analyze(by, text->text, text->length, text->parameters, text->parameter_count,
                            &arena, &statement, NULL);
        good = status != CLEAVE_NO_MEMORY;
        if (status != CLEAVE_OK)
            continue;
        cleave__lookup_accesses(lookup, statement.accesses, statement.access_count, touch);
        for (uint32_t a = 0; a < statement.access_count; a++)
            *touches = *touches || statement.accesses[a].box_count > 0;
    }
    cleave__arena_free(&arena);
    return good;
}
