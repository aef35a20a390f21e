/* The end of inferring a schema: columns named without their table are placed, guesses spread over
 * columns that statements equate, and every column gets its type. */
#include <stdio.h>
#include <string.h>

#include "tables/source/infer.h"

/* Length of "ol_" in "ol_number"; 0 when there is no such prefix. */
static size_t prefix_of(const char *name)
{
    const char *bar = strchr(name, '_');
    return bar && bar > name ? (size_t)(bar - name) + 1 : 0;
}

static bool shares_prefix(const struct cleave_build_table *table, const char *name)
{
    size_t length = prefix_of(name);
    for (size_t i = 0; length && i < table->columns.count; i++) {
        if (strncmp(table->columns.data[i].name, name, length) == 0)
            return true;
    }
    return false;
}

/* Columns named without their table: to the one candidate that has it, else that shares its
 * prefix. Rounds, because each column placed may tell more; they end as each places some. */
static void place_pending(struct cleave_schema_observer *observer)
{
    bool placed = true;
    for (unsigned by_prefix = 0; by_prefix < 2; by_prefix++) {
        for (placed = true; placed && !observer->no_memory;) {
            placed = false;
            for (size_t i = 0; i < observer->pending.count; i++) {
                struct cleave_pending_column *column = &observer->pending.data[i];
                uint32_t match = CLEAVE_ABSENT, matches = 0;
                for (uint32_t k = 0; k < column->count; k++) {
                    const struct cleave_build_table *table =
                        &observer->build.tables.data[column->tables[k]];
                    bool has =
                        cleave__build_find_column(table, column->name) != CLEAVE_ABSENT ||
                        (by_prefix && !column->derived && shares_prefix(table, column->name));
                    if (has && matches++ == 0)
                        match = column->tables[k];
                }
                if (matches != 1)
                    continue;
                column->placed = cleave__infer_column(observer, match, column->name, column->guess);
                column->count = 0;
                placed = true;
            }
        }
    }
}

static enum cleave_status no_memory(const struct cleave_schema_observer *observer,
                                    struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", observer->origin);
}

static uint32_t root_of(uint32_t *parent, uint32_t at)
{
    while (parent[at] != at)
        at = parent[at] = parent[parent[at]];
    return at;
}

/* Columns that some statement equates get one guess that fits all of them (union and find over all
 * columns of all tables). */
static enum cleave_status join_equals(struct cleave_schema_observer *observer,
                                      struct cleave_error *error)
{
    size_t tables = observer->build.tables.count;
    uint32_t total = 0;
    uint32_t *first = malloc(tables * sizeof *first);
    for (size_t t = 0; first && t < tables; t++) {
        first[t] = total;
        total += (uint32_t)observer->guesses.data[t].columns.count;
    }
    uint32_t *parent = malloc((total + (size_t)1) * sizeof *parent);
    if (!first || !parent) {
        free(first);
        free(parent);
        return no_memory(observer, error);
    }
    for (uint32_t i = 0; i < total; i++)
        parent[i] = i;
    for (size_t i = 0; i < observer->equals.count; i++) {
        struct cleave_infer_ref ends[2] = {observer->equals.data[i].a, observer->equals.data[i].b};
        for (int e = 0; e < 2; e++) {
            if (ends[e].table == CLEAVE_REF_PENDING)
                ends[e] = observer->pending.data[ends[e].column].placed;
        }
        if (ends[0].table == CLEAVE_ABSENT || ends[1].table == CLEAVE_ABSENT)
            continue;
        uint32_t a = root_of(parent, first[ends[0].table] + ends[0].column);
        uint32_t b = root_of(parent, first[ends[1].table] + ends[1].column);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    /* Roots are the least of their set: they gather first, then give to the rest. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; t < tables; t++) {
            for (uint32_t c = 0; c < observer->guesses.data[t].columns.count; c++) {
                uint32_t root = root_of(parent, first[t] + c);
                size_t low = 0, high = tables; /* the table of the root */
                while (high - low > 1) {
                    size_t middle = low + (high - low) / 2;
                    if (first[middle] <= root)
                        low = middle;
                    else
                        high = middle;
                }
                uint8_t *own = &observer->guesses.data[t].columns.data[c];
                uint8_t *gathered = &observer->guesses.data[low].columns.data[root - first[low]];
                if (pass == 0)
                    *gathered = (uint8_t)cleave__guess_merge((enum cleave_guess) * gathered,
                                                             (enum cleave_guess) * own);
                else
                    *own = *gathered;
            }
        }
    }
    free(first);
    free(parent);
    return CLEAVE_OK;
}

/* Columns "column1", ... first, then the named ones, with the types that were guessed. */
static enum cleave_status settle(struct cleave_schema_observer *observer, uint32_t table,
                                 struct cleave_error *error)
{
    struct cleave_build_table *it = &observer->build.tables.data[table];
    struct cleave_guess_table *guesses = &observer->guesses.data[table];
    size_t named = it->columns.count, nameless = guesses->nameless.count;
    for (size_t i = 0; i < named; i++) {
        struct cleave_build_column *column = &it->columns.data[i];
        column->type =
            cleave__guess_type((enum cleave_guess)guesses->columns.data[i], &column->type_name);
    }
    for (size_t i = 0; i < nameless && it->columns.count < CLEAVE_COLUMNS_MAX; i++) {
        char name[40];
        struct cleave_build_column column = {.name = name};
        snprintf(name, sizeof name, "column%zu", i + 1);
        /* A column that is really called so keeps its name. */
        while (cleave__build_find_column(it, name) != CLEAVE_ABSENT && strlen(name) < 30)
            strcat(name, "_");
        column.type =
            cleave__guess_type((enum cleave_guess)guesses->nameless.data[i], &column.type_name);
        enum cleave_status status =
            cleave__build_column(&observer->build, table, &column, 0, error);
        if (status)
            return status;
    }
    /* Rotate the new ones to the front. */
    size_t added = it->columns.count - named;
    struct cleave_build_column *moved = added ? malloc(added * sizeof *moved) : NULL;
    if (added && !moved)
        return no_memory(observer, error);
    if (added) {
        memcpy(moved, it->columns.data + named, added * sizeof *moved);
        memmove(it->columns.data + added, it->columns.data, named * sizeof *moved);
        memcpy(it->columns.data, moved, added * sizeof *moved);
    }
    free(moved);
    return CLEAVE_OK;
}

enum cleave_status cleave__infer_settle(struct cleave_schema_observer *observer,
                                        struct cleave_error *error)
{
    place_pending(observer);
    if (observer->no_memory)
        return no_memory(observer, error);
    enum cleave_status status = join_equals(observer, error);
    for (uint32_t i = 0; !status && i < observer->build.tables.count; i++)
        status = settle(observer, i, error);
    return status;
}
