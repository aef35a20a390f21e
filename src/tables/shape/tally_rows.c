/* How many rows each vertex stands for.
 *
 * A cell that holds a key is one row. Else statistics tell, where every column of the grain has
 * them. Without, the combinations of values share the table's rows evenly: those that the workload
 * shows, or as many as a key elsewhere says there are (a column that carries a table's unique
 * values, columns that refer to its key). A table of unknown size has as many rows as distinct
 * boxes. */
#include <string.h>

#include "tables/shape/tally.h"

static bool has_stats(const struct cleave_table *table, const struct cleave_grain *grain)
{
    for (uint32_t i = 0; i < grain->count; i++) {
        if (!table->columns[grain->columns[i]].stats.known)
            return false;
    }
    return grain->count > 0;
}

static double share_of_values(const struct cleave_table *table, const struct cleave_grain *grain,
                              const struct cleave_value *values, uint32_t count)
{
    double share = 1;
    for (uint32_t i = 0; i < count; i++)
        share *= cleave__selectivity(table, grain->columns[i],
                                     &(struct cleave_range){values[i], values[i], 0});
    return share;
}

static bool same_columns(const struct cleave_foreign_key *key, const uint32_t *columns,
                         uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < key->count; k++)
            found += key->columns[k] == columns[i];
    }
    return key->count == count && found == count;
}

/* Distinct combinations of the columns' values, if a key elsewhere tells; 0: unknown. */
static double distinct(const struct cleave_tally *tally, uint32_t t, const uint32_t *columns,
                       uint32_t count)
{
    const struct cleave_schema *schema = tally->schema;
    const struct cleave_profile *profile = tally->profile;
    const struct cleave_table *table = &schema->tables[t];
    for (uint32_t f = 0; f < table->foreign_count; f++) {
        const struct cleave_foreign_key *key = &table->foreigns[f];
        if (same_columns(key, columns, count) && schema->tables[key->target_table].rows > 0)
            return schema->tables[key->target_table].rows;
    }
    double least = 0;
    uint32_t class = count == 1 ? profile->class_of[profile->base[t] + columns[0]] : CLEAVE_ABSENT;
    for (uint32_t u = 0; u < schema->table_count && count == 1; u++) {
        for (uint32_t c = 0; c < schema->tables[u].column_count; c++) {
            struct cleave_grain alone = {1, {c}};
            double rows = schema->tables[u].rows;
            if (profile->class_of[profile->base[u] + c] == class && rows > 0 &&
                (least <= 0 || rows < least) && cleave__grain_is_unique(&schema->tables[u], &alone))
                least = rows;
        }
    }
    return least;
}

static void rows_of_cells(struct cleave_tally *tally, uint32_t t, double rows)
{
    const struct cleave_table *table = &tally->schema->tables[t];
    const struct cleave_tally_table *it = &tally->tables[t];
    bool unique = cleave__grain_is_unique(table, &it->grain), stats = has_stats(table, &it->grain);
    double all = distinct(tally, t, it->grain.columns, it->grain.count);
    if (all < it->vertices)
        all = it->vertices;
    for (uint32_t v = it->first_vertex; v < it->first_vertex + it->vertices; v++) {
        if (unique || !stats) {
            tally->rows[v] = unique ? 1 : rows / all;
            continue;
        }
        const struct cleave_intern_entry *cell =
            &tally->cells.entries[tally->vertices.data[v].item];
        struct cleave_value values[CLEAVE_GRAIN_MAX];
        uint32_t count;
        cleave__cell_decode(cell->bytes, cell->length, values, &count);
        tally->rows[v] = rows * share_of_values(table, &it->grain, values, count);
    }
}

/* Of a combination on the first axis, or of what no combination names. */
static double share_of_first(const struct cleave_table *table, const struct cleave_tally_table *it,
                             const struct cleave_range *first)
{
    if (it->grain.count <= 2)
        return cleave__selectivity(table, it->grain.columns[0], first);
    if (first->flags & CLEAVE_HIGH_UNBOUNDED)
        return 0;
    const struct cleave_intern_entry *entry = &it->prefixes.entries[first->high.integer];
    struct cleave_value values[CLEAVE_GRAIN_MAX];
    uint32_t count;
    cleave__cell_decode(entry->bytes, entry->length, values, &count);
    return share_of_values(table, &it->grain, values, count);
}

static bool is_first_fixed(const struct cleave_tally_table *it, const struct cleave_group *group)
{
    return it->grain.count > 2 ? !(group->first.flags & CLEAVE_HIGH_UNBOUNDED)
                               : cleave__range_is_point(&group->first);
}

static bool same_first(const struct cleave_group *a, const struct cleave_group *b)
{
    return a->first.flags == b->first.flags &&
           ((a->first.flags & CLEAVE_LOW_UNBOUNDED) ||
            cleave__value_compare(&a->first.low, &b->first.low) == 0) &&
           ((a->first.flags & CLEAVE_HIGH_UNBOUNDED) ||
            cleave__value_compare(&a->first.high, &b->first.high) == 0);
}

static uint32_t pieces_of(const struct cleave_group *group)
{
    return group->second_count ? group->second_count : 1;
}

static void rows_by_stats(const struct cleave_table *table, const struct cleave_tally_table *it,
                          double rows, double *out)
{
    for (size_t g = 0; g < it->groups.list.count; g++) {
        const struct cleave_group *group = &it->groups.list.data[g];
        double part = group->second_count ? 0 : 1;
        for (uint32_t p = 0; p < group->second_count; p++)
            part += cleave__selectivity(table, it->grain.columns[it->grain.count - 1],
                                        &it->groups.pieces.data[group->second_start + p]);
        out[g] = rows * share_of_first(table, it, &group->first) * (part < 1 ? part : 1);
    }
}

/* One piece of the first axis, groups [start, end), holds `rows`. By key, a group of single values
 * has as many rows as values, and the others share what is left; else all share. */
static void share_rows(const struct cleave_tally_table *it, uint32_t start, uint32_t end,
                       double rows, bool by_key, double *out)
{
    const struct cleave_group *groups = it->groups.list.data;
    double taken = 0, pieces = 0;
    for (uint32_t g = start; g < end; g++) {
        if (by_key && !(groups[g].rest && it->columns > 1))
            taken += pieces_of(&groups[g]);
        else
            pieces += pieces_of(&groups[g]);
    }
    double left = rows > taken + 1 ? rows - taken : 1;
    for (uint32_t g = start; g < end; g++) {
        double own = pieces_of(&groups[g]);
        out[g] = by_key && !(groups[g].rest && it->columns > 1) ? own : left * own / pieces;
    }
}

static void rows_evenly(const struct cleave_tally *tally, uint32_t t, double rows, bool by_key,
                        double *out)
{
    const struct cleave_tally_table *it = &tally->tables[t];
    const struct cleave_group *groups = it->groups.list.data;
    uint32_t count = (uint32_t)it->groups.list.count, fixed = 0, open = 0;
    for (uint32_t g = 0; g < count; g++) {
        if (g == 0 || !same_first(&groups[g - 1], &groups[g]))
            ++*(is_first_fixed(it, &groups[g]) ? &fixed : &open);
    }
    uint32_t firsts = it->grain.count > 2 ? it->grain.count - 1 : 1;
    double all = distinct(tally, t, it->grain.columns, firsts);
    if (all < fixed)
        all = fixed + open;
    double each = rows / all, left = open ? (rows - each * fixed) / open : 0;
    for (uint32_t start = 0, end; start < count; start = end) {
        for (end = start; end < count && same_first(&groups[start], &groups[end]);)
            end++;
        bool point = is_first_fixed(it, &groups[start]);
        share_rows(it, start, end, point ? each : left, by_key && point, out);
    }
}

enum cleave_status cleave__tally_rows(struct cleave_tally *tally, struct cleave_error *error)
{
    tally->rows = calloc(tally->vertices.count + 1, sizeof *tally->rows);
    if (!tally->rows)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the hypergraph");
    for (uint32_t t = 0; t < tally->schema->table_count; t++) {
        const struct cleave_table *table = &tally->schema->tables[t];
        const struct cleave_tally_table *it = &tally->tables[t];
        double rows = table->rows > 0 ? table->rows : (double)it->cells + it->wide;
        double *out = tally->rows + it->first_vertex;
        if (it->vertices == 0)
            continue;
        if (!it->wide)
            rows_of_cells(tally, t, rows);
        else if (!it->groups.list.count)
            *out = rows;
        else if (!it->coarser && cleave__grain_is_unique(table, &it->grain))
            rows_evenly(tally, t, rows, true, out);
        else if (has_stats(table, &it->grain))
            rows_by_stats(table, it, rows, out);
        else
            rows_evenly(tally, t, rows, false, out);
        for (uint32_t v = 0; v < it->vertices; v++) {
            if (!(out[v] > 0)) /* an estimate of nothing is still something */
                out[v] = 1;
        }
    }
    return CLEAVE_OK;
}
