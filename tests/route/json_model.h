/* Reads the JSON of a lookup table back into a layout, to show that nothing is lost in it. */
#ifndef CLEAVE_TESTS_ROUTE_JSON_MODEL_H
#define CLEAVE_TESTS_ROUTE_JSON_MODEL_H

#include <stddef.h>

#include "tables/route/layout.h"

/* Fills `schema` and `layout` from arena memory; false, with a line on standard output, when the
 * text is not what docs/lookup-table.md says. The caller frees schema->names. */
bool json_model_read(const char *text, size_t length, struct cleave_arena *arena,
                     struct cleave_schema *schema, struct cleave_layout *layout);

#endif
