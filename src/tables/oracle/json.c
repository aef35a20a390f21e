/* Small readers of libpg_query's JSON tree: {"Kind": {fields}}. Absent fields are normal (the
 * writer leaves out zeroes, false and empty lists); none of these is an error. */
#include "tables/oracle/compile.h"
#include "tables/sql/builtin.h"

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

static void summarize(const json_t *call, struct oracle_calls *out)
{
    static const char *const marks[] = {"agg_star", "agg_within_group", "agg_distinct",
                                        "agg_filter", "agg_order"};
    const json_t *names = json_object_get(call, "funcname");
    size_t count = json_array_size(names);
    enum cleave_function class = CLEAVE_FUNCTION_UNKNOWN;
    if (count == 1 ||
        (count == 2 && !strcmp(cleave__oracle_string(json_array_get(names, 0)), "pg_catalog")))
        class = cleave__function_class(cleave__oracle_last(names));
    bool aggregate = class == CLEAVE_FUNCTION_AGGREGATE;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        aggregate |= json_object_get(call, marks[i]) != NULL;
    if (json_object_get(call, "over") || class == CLEAVE_FUNCTION_WINDOW)
        out->window = true;
    else if (aggregate)
        out->aggregate = true;
    else if (class == CLEAVE_FUNCTION_UNKNOWN)
        out->unknown = true;
}

/* jansson's own nesting limit (2048) bounds these recursions. */
void cleave__oracle_calls(const json_t *node, struct oracle_calls *out)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(node)) {
        json_array_foreach(node, i, value) cleave__oracle_calls(value, out);
        return;
    }
    json_object_foreach((json_t *)node, key, value)
    {
        if (!strcmp(key, "SubLink")) {
            cleave__oracle_calls(json_object_get(value, "testexpr"), out);
            continue;
        }
        if (!strcmp(key, "GroupingFunc"))
            out->aggregate = true;
        if (!strcmp(key, "FuncCall"))
            summarize(value, out);
        cleave__oracle_calls(value, out);
    }
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
