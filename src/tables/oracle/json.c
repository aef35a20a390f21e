/* Small readers of libpg_query's JSON tree: {"Kind": {fields}}. Absent fields are normal (the
 * writer leaves out zeroes, false and empty lists); none of these is an error. */
#include "tables/oracle/compile.h"

#include <string.h>

const json_t *cleave__oracle_is(const json_t *node, const char *kind)
{
    return json_object_get(node, kind);
}

const char *cleave__oracle_text(const json_t *body, const char *field)
{
    const char *text = json_string_value(json_object_get(body, field));
    return text ? text : "";
}

const char *cleave__oracle_string(const json_t *node)
{
    return cleave__oracle_text(json_object_get(node, "String"), "sval");
}

bool cleave__oracle_flag(const json_t *body, const char *field)
{
    return json_is_true(json_object_get(body, field));
}

const char *cleave__oracle_last(const json_t *list)
{
    size_t count = json_array_size(list);
    return count ? cleave__oracle_string(json_array_get(list, count - 1)) : "";
}

/* jansson's own nesting limit (2048) bounds these recursions. */
bool cleave__oracle_mentions(const json_t *node, const char *kind, const char *field)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(node)) {
        const json_t *body = json_object_get(node, kind);
        if (body && (!field || json_object_get(body, field)))
            return true;
        json_object_foreach((json_t *)node, key, value)
        {
            if (cleave__oracle_mentions(value, kind, field))
                return true;
        }
    } else if (json_is_array(node)) {
        json_array_foreach(node, i, value)
        {
            if (cleave__oracle_mentions(value, kind, field))
                return true;
        }
    }
    return false;
}

uint32_t cleave__oracle_count_table(const json_t *node, const char *name)
{
    const char *key;
    json_t *value;
    size_t i;
    uint32_t count = 0;
    if (json_is_object(node)) {
        const json_t *body = json_object_get(node, "RangeVar");
        if (body && !strcmp(cleave__oracle_text(body, "relname"), name) &&
            !json_object_get(body, "schemaname"))
            count++;
        json_object_foreach((json_t *)node, key, value) count +=
            cleave__oracle_count_table(value, name);
    } else if (json_is_array(node)) {
        json_array_foreach(node, i, value) count += cleave__oracle_count_table(value, name);
    }
    return count;
}
