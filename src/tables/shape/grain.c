#include "tables/shape/grain.h"

#include <string.h>

/* Does (nearly) every access of the table fix the column to single values? One in a thousand may
 * not: a report now and then is no reason for a coarser grain. */
static bool always_points(const struct cleave_profile *profile, uint32_t table, uint32_t column)
{
    uint64_t all = profile->tables[table].accesses;
    uint64_t points = profile->columns[profile->base[table] + column].points;
    return points >= all - all / 1000;
}

static bool in_grain(const struct cleave_grain *grain, uint32_t column)
{
    for (uint32_t i = 0; i < grain->count; i++) {
        if (grain->columns[i] == column)
            return true;
    }
    return false;
}

static bool holds_key(const struct cleave_grain *grain, const struct cleave_key *key)
{
    for (uint32_t i = 0; i < key->count; i++) {
        if (!in_grain(grain, key->columns[i]))
            return false;
    }
    return key->count > 0;
}

bool cleave__grain_is_unique(const struct cleave_table *table, const struct cleave_grain *grain)
{
    bool unique = holds_key(grain, &table->primary);
    for (uint32_t i = 0; !unique && i < table->unique_count; i++)
        unique = holds_key(grain, &table->uniques[i]);
    return unique;
}

/* Accesses of all columns that carry the same values, in all tables. */
static uint64_t class_accesses(const struct cleave_schema *schema,
                               const struct cleave_profile *profile, uint32_t column)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < profile->base[schema->table_count]; c++)
        sum += profile->class_of[c] == profile->class_of[column] ? profile->columns[c].accesses : 0;
    return sum;
}

/* Does the column only spell another one of the table? */
static bool is_spelling(const struct cleave_profile *profile, uint32_t table, uint32_t column)
{
    for (uint32_t d = 0; d < profile->derivation_count; d++) {
        if (profile->derivations[d].table == table && profile->derivations[d].column == column)
            return true;
    }
    return false;
}

/* The column to take next: most accessed; of those within 2 %, the one whose class is accessed most
 * (what ties tables together tells groups apart best), then of fewer constants, then the first. */
static uint32_t next_column(const struct cleave_schema *schema,
                            const struct cleave_profile *profile, uint32_t table,
                            const struct cleave_grain *taken)
{
    uint32_t base = profile->base[table], best = CLEAVE_ABSENT;
    uint64_t best_class = 0;
    for (uint32_t c = 0; c < schema->tables[table].column_count; c++) {
        const struct cleave_column_profile *column = &profile->columns[base + c];
        if (column->accesses == 0 || in_grain(taken, c) || is_spelling(profile, table, c))
            continue;
        uint64_t class = class_accesses(schema, profile, base + c);
        if (best != CLEAVE_ABSENT) {
            const struct cleave_column_profile *other = &profile->columns[base + best];
            uint64_t slack = (column->accesses + other->accesses) / 100;
            bool tie = column->accesses <= other->accesses + slack &&
                       other->accesses <= column->accesses + slack;
            bool wins = !tie                  ? column->accesses > other->accesses
                        : class != best_class ? class > best_class
                                              : column->distinct < other->distinct;
            if (!wins)
                continue;
        }
        best = c;
        best_class = class;
    }
    return best;
}

void cleave__grain_choose(const struct cleave_schema *schema, const struct cleave_profile *profile,
                          uint32_t table, uint32_t attributes, struct cleave_grain *out)
{
    *out = (struct cleave_grain){0};
    if (attributes > CLEAVE_GRAIN_MAX)
        attributes = CLEAVE_GRAIN_MAX;
    const struct cleave_key *primary = &schema->tables[table].primary;
    if (profile->tables[table].accesses == 0) {
        for (uint32_t i = 0; i < primary->count && i < attributes; i++)
            out->columns[out->count++] = primary->columns[i];
        return;
    }
    struct cleave_grain ranked = {0};
    while (ranked.count < attributes && !cleave__grain_is_unique(&schema->tables[table], &ranked)) {
        uint32_t column = next_column(schema, profile, table, &ranked);
        if (column == CLEAVE_ABSENT)
            break;
        ranked.columns[ranked.count++] = column;
    }
    uint32_t last = CLEAVE_ABSENT;
    for (uint32_t i = 0; i < ranked.count; i++) {
        if (ranked.count <= 2 || always_points(profile, table, ranked.columns[i]))
            out->columns[out->count++] = ranked.columns[i];
        else if (last == CLEAVE_ABSENT)
            last = ranked.columns[i];
    }
    if (last != CLEAVE_ABSENT)
        out->columns[out->count++] = last;
}

/* The numbers that another column's texts spell, as a term of points; NULL in `*out` when no
 * derivation is known, or a text does not follow it. */
static bool derive(const struct cleave_profile *profile, uint32_t table, uint32_t column,
                   const struct cleave_box *box, struct cleave_arena *arena,
                   const struct cleave_term **out)
{
    *out = NULL;
    for (uint32_t d = 0; d < profile->derivation_count; d++) {
        const struct cleave_derivation *derivation = &profile->derivations[d];
        if (derivation->table != table || derivation->key_column != column)
            continue;
        const struct cleave_term *from = cleave__box_term(box, derivation->column);
        if (!from || !cleave__term_is_points(from))
            continue;
        struct cleave_term *term = cleave__arena_alloc(arena, sizeof *term);
        struct cleave_range *ranges = cleave__arena_array(arena, from->range_count, sizeof *ranges);
        if (!term || !ranges)
            return false;
        *term = (struct cleave_term){column, from->range_count, ranges};
        bool follows = true;
        for (uint32_t r = 0; follows && r < from->range_count; r++) {
            struct cleave_value value = {.kind = CLEAVE_INTEGER};
            follows = cleave__derived_number(&from->ranges[r].low, derivation->prefix,
                                             derivation->suffix, &value.integer);
            ranges[r] = (struct cleave_range){value, value, 0};
        }
        if (follows) {
            *out = term;
            return true;
        }
    }
    return true;
}

bool cleave__grain_terms(const struct cleave_grain *grain, const struct cleave_profile *profile,
                         bool derived, uint32_t table, const struct cleave_box *box,
                         struct cleave_arena *arena,
                         const struct cleave_term *terms[CLEAVE_GRAIN_MAX])
{
    for (uint32_t i = 0; i < grain->count; i++) {
        terms[i] = cleave__box_term(box, grain->columns[i]);
        if (!terms[i] && derived &&
            !derive(profile, table, grain->columns[i], box, arena, &terms[i]))
            return false;
    }
    return true;
}

/* ---- cells ---- */

static bool put(struct cleave_cell_bytes *bytes, const void *data, size_t length)
{
    if (!CLEAVE_RESERVE(&bytes->out, bytes->out.count + length))
        return false;
    if (length)
        memcpy(bytes->out.data + bytes->out.count, data, length);
    bytes->out.count += length;
    return true;
}

bool cleave__cell_start(struct cleave_cell_bytes *bytes, uint32_t table)
{
    bytes->out.count = 0;
    return put(bytes, &table, sizeof table);
}

bool cleave__cell_put(struct cleave_cell_bytes *bytes, const struct cleave_value *value)
{
    unsigned char kind = (unsigned char)value->kind;
    if (!put(bytes, &kind, 1))
        return false;
    if (value->kind == CLEAVE_INTEGER)
        return put(bytes, &value->integer, sizeof value->integer);
    return value->kind == CLEAVE_NULL || (put(bytes, &value->length, sizeof value->length) &&
                                          put(bytes, value->text, value->length));
}

uint32_t cleave__cell_decode(const char *bytes, uint32_t length,
                             struct cleave_value values[CLEAVE_GRAIN_MAX], uint32_t *count)
{
    uint32_t table;
    memcpy(&table, bytes, sizeof table);
    uint32_t at = sizeof table;
    for (*count = 0; at < length && *count < CLEAVE_GRAIN_MAX; ++*count) {
        struct cleave_value *value = &values[*count];
        *value = (struct cleave_value){.kind = (enum cleave_value_kind)bytes[at++]};
        if (value->kind == CLEAVE_INTEGER) {
            memcpy(&value->integer, bytes + at, sizeof value->integer);
            at += sizeof value->integer;
        } else if (value->kind != CLEAVE_NULL) {
            memcpy(&value->length, bytes + at, sizeof value->length);
            value->text = bytes + at + sizeof value->length;
            at += (uint32_t)sizeof value->length + value->length;
        }
    }
    return table;
}
