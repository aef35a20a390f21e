/* Looking up tables and columns of a finished schema. */
#include "tables/source/schema.h"

#include <stdlib.h>
#include <string.h>

void cleave__schema_free(struct cleave_schema *schema)
{
    if (!schema)
        return;
    cleave__intern_free(&schema->names);
    cleave__intern_free(&schema->aliases);
    cleave__arena_free(&schema->arena);
    free(schema);
}

uint32_t cleave__schema_table(const struct cleave_schema *schema, const char *name, size_t length)
{
    static const char public[] = "public.";
    uint32_t id = cleave__intern_find(&schema->names, name, length);
    if (id != CLEAVE_INTERN_NONE)
        return id;
    if (length > sizeof public - 1 && memcmp(name, public, sizeof public - 1) == 0) {
        name += sizeof public - 1;
        length -= sizeof public - 1;
        if (memchr(name, '.', length))
            return CLEAVE_ABSENT; /* "public.s.t" is no name */
        id = cleave__intern_find(&schema->names, name, length);
        if (id != CLEAVE_INTERN_NONE)
            return id;
        /* "public.p" may be a partition, but never stands for "other.p". */
        id = cleave__intern_find(&schema->aliases, name, length);
        if (id == CLEAVE_INTERN_NONE || schema->alias_public[id] == 0)
            return CLEAVE_ABSENT;
        return schema->alias_tables[id];
    }
    id = cleave__intern_find(&schema->aliases, name, length);
    return id == CLEAVE_INTERN_NONE ? CLEAVE_ABSENT : schema->alias_tables[id];
}

uint32_t cleave__schema_column(const struct cleave_table *table, const char *name, size_t length)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        const char *candidate = table->columns[i].name;
        if (strncmp(candidate, name, length) == 0 && candidate[length] == 0)
            return i;
    }
    return CLEAVE_ABSENT;
}
