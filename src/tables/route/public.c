/* include/cleave/lookup.h in terms of this room. */
#include "cleave/lookup.h"

#include <stdlib.h>

#include "tables/route/image.h"
#include "tables/route/route.h"

_Static_assert((int)CLEAVE_LOOKUP_SHARDS_MAX == (int)CLEAVE_SHARDS_MAX, "one limit, two headers");
_Static_assert(sizeof(struct cleave_shardset) == CLEAVE_LOOKUP_SHARDS_MAX / 8, "the same bits");
_Static_assert(sizeof((struct cleave_sql_route *)0)->why == CLEAVE_ROUTE_WHY_MAX, "the same line");

enum { COLUMNS_MAX = 64 };

enum cleave_status cleave_lookup_open(const char *path, struct cleave_lookup **out,
                                      struct cleave_error *error)
{
    return cleave__lookup_open(path, out, error);
}

void cleave_lookup_close(struct cleave_lookup *lookup)
{
    cleave__lookup_release(lookup);
}

uint32_t cleave_lookup_shards(const struct cleave_lookup *lookup)
{
    return lookup->shards;
}

static void fill_route(const struct cleave_touch *touch, struct cleave_route *out)
{
    uint32_t count = cleave__shardset_count(&touch->shards);
    out->count = count;
    out->first = count ? cleave__shardset_first(&touch->shards) : 0;
    out->distributed = count > 1;
    out->writes = touch->writes;
    memcpy(out->shards, touch->shards.words, sizeof out->shards);
}

/* Texts to terms, columns ascending. */
static enum cleave_status read_terms(const struct cleave_table *table, const char *const *columns,
                                     const struct cleave_text *values, uint32_t count,
                                     struct cleave_arena *arena, struct cleave_range *ranges,
                                     struct cleave_term *terms, struct cleave_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = cleave__schema_column(table, columns[i], strlen(columns[i]));
        if (column == CLEAVE_ABSENT)
            return cleave_error_set(error, CLEAVE_NOT_FOUND, "table %s has no column '%s'",
                                    table->name, columns[i]);
        struct cleave_value value = {.kind = CLEAVE_NULL};
        enum cleave_status status = CLEAVE_OK;
        if (values[i].text)
            status = cleave__value_parse(table->columns[column].type, values[i].text,
                                         values[i].length, arena, &value);
        if (status == CLEAVE_NO_MEMORY)
            return cleave_error_set(error, status, "table %s: out of memory", table->name);
        if (status != CLEAVE_OK)
            return cleave_error_set(error, status, "%s.%s: '%.*s' is not of type %s", table->name,
                                    columns[i], values[i].length < 60 ? (int)values[i].length : 60,
                                    values[i].text, table->columns[column].type_name);
        uint32_t at = i;
        for (; at > 0 && terms[at - 1].column > column; at--)
            terms[at] = terms[at - 1];
        if (at > 0 && terms[at - 1].column == column)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s.%s is given twice", table->name,
                                    columns[i]);
        ranges[i] = (struct cleave_range){value, value, 0};
        terms[at] = (struct cleave_term){column, 1, &ranges[i]};
    }
    return CLEAVE_OK;
}

enum cleave_status cleave_lookup_route_key(const struct cleave_lookup *lookup, const char *table,
                                           const char *const *columns,
                                           const struct cleave_text *values, uint32_t count,
                                           bool write, struct cleave_route *out,
                                           struct cleave_error *error)
{
    uint32_t index = cleave__schema_table(&lookup->schema, table, strlen(table));
    if (index == CLEAVE_ABSENT || lookup->schema.tables[index].view)
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "the lookup table has no table '%s'",
                                table);
    if (count > COLUMNS_MAX)
        return cleave_error_set(error, CLEAVE_LIMIT, "%u columns, at most %d", count, COLUMNS_MAX);
    struct cleave_range ranges[COLUMNS_MAX];
    struct cleave_term terms[COLUMNS_MAX];
    struct cleave_arena arena = {0};
    enum cleave_status status = read_terms(&lookup->schema.tables[index], columns, values, count,
                                           &arena, ranges, terms, error);
    if (status == CLEAVE_OK) {
        struct cleave_box box = {count, terms};
        struct cleave_access access = {.table = index, .write = write, .box_count = 1};
        access.boxes = &box;
        struct cleave_sql_route route = {.certain = true};
        cleave__lookup_accesses(lookup, &access, 1, &route.touch);
        cleave__route_explain(lookup, &access, 1, &route);
        fill_route(&route.touch, out);
        out->certain = true;
        memcpy(out->why, route.why, sizeof out->why);
    }
    cleave__arena_free(&arena);
    return status;
}

enum cleave_status cleave_router_new(const struct cleave_lookup *lookup, struct cleave_router **out,
                                     struct cleave_error *error)
{
    return cleave__router_new(lookup, out, error);
}

void cleave_router_free(struct cleave_router *router)
{
    cleave__router_free(router);
}

enum cleave_status cleave_router_route(struct cleave_router *router, const char *sql, size_t length,
                                       const struct cleave_text *parameters,
                                       uint32_t parameter_count, struct cleave_route *out,
                                       struct cleave_error *error)
{
    struct cleave_parameter few[16] = {{0}}, *taken = few;
    if (parameter_count > sizeof few / sizeof *few) {
        taken = malloc(parameter_count * sizeof *taken);
        if (!taken)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "router: out of memory");
    }
    for (uint32_t i = 0; i < parameter_count; i++) {
        taken[i] = (struct cleave_parameter){.text = parameters[i].text ? parameters[i].text : ""};
        taken[i].length = parameters[i].text ? parameters[i].length : 0;
        taken[i].is_null = parameters[i].text == NULL;
    }
    struct cleave_sql_route route;
    enum cleave_status status =
        cleave__route_sql(router, sql, length, taken, parameter_count, &route, error);
    if (taken != few)
        free(taken);
    if (status != CLEAVE_OK)
        return status;
    fill_route(&route.touch, out);
    out->certain = route.certain;
    memcpy(out->why, route.why, sizeof out->why);
    return CLEAVE_OK;
}
