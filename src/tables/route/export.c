/* What the export targets share: their names, the order of tables. */
#include "tables/route/export.h"

#include <stdlib.h>
#include <string.h>

#include "tables/route/image.h"

enum cleave_status cleave__export_target(const char *name, enum cleave_export_target *out,
                                         struct cleave_error *error)
{
    static const char *const names[] = {"json", "citus", "fdw"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum cleave_export_target)i;
            return CLEAVE_OK;
        }
    }
    return cleave_error_set(error, CLEAVE_NOT_FOUND,
                            "no export target '%s': there are json, citus and fdw", name);
}

static enum cleave_status check_list(const char *what, const char *text, uint32_t shards,
                                     struct cleave_error *error)
{
    uint32_t items = 1;
    for (const char *c = text ? text : ""; *c; c++)
        items += *c == ',';
    if (items == 1 || items == shards)
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "export: the list of %s has %u items, but there are %u shards", what,
                            items, shards);
}

static enum cleave_status check_lists(const struct cleave_export_options *options, uint32_t shards,
                                      struct cleave_error *error)
{
    enum cleave_status status = check_list("hosts", options->host, shards, error);
    if (!status)
        status = check_list("ports", options->port, shards, error);
    if (!status)
        status = check_list("databases", options->database, shards, error);
    return status ? status : check_list("users", options->user, shards, error);
}

enum cleave_status cleave__lookup_export(const struct cleave_lookup *lookup,
                                         enum cleave_export_target target,
                                         const struct cleave_export_options *options, char **out,
                                         size_t *length, struct cleave_error *error)
{
    static const struct cleave_export_options usual = {0};
    struct cleave_words words = {.grows = true};
    enum cleave_status status = check_lists(options ? options : &usual, lookup->shards, error);
    if (status)
        return status;
    switch (target) {
    case CLEAVE_EXPORT_JSON:
        status = cleave__export_json(lookup, &words);
        break;
    case CLEAVE_EXPORT_CITUS:
        status = cleave__export_citus(lookup, &words);
        break;
    case CLEAVE_EXPORT_FDW:
        status = cleave__export_fdw(lookup, options ? options : &usual, &words);
        break;
    }
    if (status == CLEAVE_OK && words.failed)
        status = CLEAVE_NO_MEMORY;
    if (status != CLEAVE_OK) {
        free(words.data);
        return cleave_error_set(error, status, "export: %s", cleave_status_name(status));
    }
    *out = words.data;
    *length = words.length;
    return CLEAVE_OK;
}

struct visit {
    uint32_t table, next; /* next foreign key to follow */
};

static bool wanted(const struct cleave_lookup *lookup, bool replicated, uint32_t table,
                   const bool *seen)
{
    return !seen[table] && !lookup->schema.tables[table].view &&
           lookup->tables[table].replicated == replicated;
}

/* Depth first from one table, along foreign keys, with a stack of our own: a file may hold a long
 * chain. */
static void place_table(const struct cleave_lookup *lookup, bool replicated, uint32_t start,
                        bool *seen, struct visit *stack, uint32_t *order, uint32_t *count)
{
    uint32_t depth = 0;
    if (!wanted(lookup, replicated, start, seen))
        return;
    seen[start] = true;
    stack[depth++] = (struct visit){start, 0};
    while (depth) {
        struct visit *top = &stack[depth - 1];
        const struct cleave_table *table = &lookup->schema.tables[top->table];
        if (top->next == table->foreign_count) {
            order[(*count)++] = top->table;
            depth--;
            continue;
        }
        uint32_t target = table->foreigns[top->next++].target_table;
        if (wanted(lookup, replicated, target, seen)) {
            seen[target] = true;
            stack[depth++] = (struct visit){target, 0};
        }
    }
}

uint32_t *cleave__export_order(const struct cleave_lookup *lookup, uint32_t *count)
{
    uint32_t tables = lookup->schema.table_count;
    uint32_t *order = malloc(((size_t)tables + 1) * sizeof *order);
    struct visit *stack = malloc(((size_t)tables + 1) * sizeof *stack);
    bool *seen = calloc((size_t)tables + 1, sizeof *seen);
    *count = 0;
    if (order && seen && stack) {
        for (uint32_t replicated = 2; replicated-- > 0;) {
            for (uint32_t i = 0; i < tables; i++)
                place_table(lookup, replicated, i, seen, stack, order, count);
        }
    } else {
        free(order);
        order = NULL;
    }
    free(stack);
    free(seen);
    return order;
}

uint32_t cleave__export_exceptions(const struct cleave_lookup *lookup, uint32_t table)
{
    const struct cleave_exceptions *exceptions = &lookup->tables[table].exceptions;
    uint32_t n = 0;
    for (uint32_t g = 0; g < exceptions->group_count; g++)
        n += exceptions->groups[g].point_count + exceptions->groups[g].span_count;
    return n;
}
