/* Profile: one pass for the counts, one over a sample of transactions for what moves together.
 *
 * Classes: columns joined by a foreign key, component by component; and columns whose single values
 * agree in most transactions that show one value of each (for schemas that declare no keys).
 * O(boxes + accesses + sample * columns^2). */
#include "tables/shape/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SAMPLE = 20000, SUPPORT_MIN = 8, DISTINCT_MIN = 3, POINT_COLUMNS_MAX = 64 };

const struct cleave_term *cleave__box_term(const struct cleave_box *box, uint32_t column)
{
    for (uint32_t t = 0; t < box->term_count; t++) {
        if (box->terms[t].column == column)
            return &box->terms[t];
    }
    return NULL;
}

bool cleave__term_is_points(const struct cleave_term *term)
{
    for (uint32_t r = 0; r < term->range_count; r++) {
        if (!cleave__range_is_point(&term->ranges[r]))
            return false;
    }
    return true;
}

bool cleave__derived_number(const struct cleave_value *value, const char *prefix,
                            const char *suffix, int64_t *out)
{
    if (value->kind != CLEAVE_TEXT)
        return false;
    size_t before = strlen(prefix), after = strlen(suffix), length = value->length;
    if (length <= before + after || memcmp(value->text, prefix, before) != 0 ||
        memcmp(value->text + length - after, suffix, after) != 0)
        return false;
    int64_t number = 0;
    for (size_t i = before; i < length - after; i++) {
        char c = value->text[i];
        if (c < '0' || c > '9' || number > (INT64_MAX - 9) / 10)
            return false;
        number = number * 10 + (c - '0');
    }
    *out = number;
    return true;
}

double cleave__row_weight(const struct cleave_schema *schema, uint32_t table)
{
    for (uint32_t t = 0; t < schema->table_count; t++) {
        if (!schema->tables[t].view && schema->tables[t].rows > 0 &&
            schema->tables[t].row_bytes <= 0)
            return 1;
    }
    return schema->tables[table].row_bytes > 0 ? schema->tables[table].row_bytes : 1;
}

/* ---- counts ---- */

static bool count_boxes(const struct cleave_workload *workload, struct cleave_profile *profile)
{
    uint64_t *seen = cleave__arena_zalloc(&profile->arena, workload->boxes.count * sizeof *seen);
    /* The last transaction + 1 that touched a table, and that wrote it. */
    uint32_t tables = workload->schema->table_count;
    uint64_t *touched = calloc((size_t)tables + 1, sizeof *touched);
    uint64_t *written = calloc((size_t)tables + 1, sizeof *written);
    profile->box_transactions = seen;
    bool ok = seen && touched && written;
    for (uint32_t t = 0; ok && t < workload->transactions; t++) {
        uint64_t start = workload->offsets.data[t], end = workload->offsets.data[t + 1];
        for (uint64_t a = start; a < end; a++) {
            struct cleave_workload_access access = workload->accesses.data[a];
            uint32_t table = workload->boxes.data[access.box].table;
            seen[access.box]++;
            profile->tables[table].accesses++;
            if (access.write && written[table] != t + 1) {
                written[table] = t + 1;
                profile->tables[table].writes++;
            }
            if (touched[table] != t + 1) {
                touched[table] = t + 1;
                profile->tables[table].reads++; /* writers taken off below */
            }
        }
    }
    for (uint32_t t = 0; ok && t < tables; t++)
        profile->tables[t].reads -= profile->tables[t].writes;
    free(touched);
    free(written);
    return ok;
}

/* Bytes that are equal exactly for equal values; integral NUMBERs as INTEGERs. */
static uint32_t value_key(uint32_t column, const struct cleave_value *value, unsigned char *buffer)
{
    uint64_t hash = cleave__value_hash(value);
    memcpy(buffer, &column, sizeof column);
    memcpy(buffer + sizeof column, &hash, sizeof hash);
    return sizeof column + sizeof hash;
}

static bool count_columns(const struct cleave_workload *workload, struct cleave_profile *profile)
{
    struct cleave_intern distinct = {0};
    bool ok = true;
    for (uint32_t c = 0; c < profile->base[workload->schema->table_count]; c++)
        profile->columns[c].integers = true;
    for (size_t b = 0; ok && b < workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b];
        uint64_t times = profile->box_transactions[b];
        for (uint32_t t = 0; ok && t < box->box.term_count; t++) {
            const struct cleave_term *term = &box->box.terms[t];
            uint32_t number = profile->base[box->table] + term->column;
            struct cleave_column_profile *column = &profile->columns[number];
            column->accesses += times;
            if (cleave__term_is_points(term))
                column->points += times;
            for (uint32_t r = 0; ok && r < term->range_count; r++) {
                const struct cleave_range *range = &term->ranges[r];
                bool low = !(range->flags & CLEAVE_LOW_UNBOUNDED);
                bool high = !(range->flags & CLEAVE_HIGH_UNBOUNDED);
                if ((low && range->low.kind != CLEAVE_INTEGER) ||
                    (high && range->high.kind != CLEAVE_INTEGER))
                    column->integers = false;
                if (!cleave__range_is_point(range))
                    continue;
                unsigned char key[16];
                uint32_t length = value_key(number, &range->low, key);
                uint32_t before = distinct.count;
                ok = cleave__intern_add(&distinct, key, length) != CLEAVE_INTERN_NONE;
                column->distinct += distinct.count > before;
            }
        }
    }
    cleave__intern_free(&distinct);
    return ok;
}

uint32_t cleave__profile_rank(const struct cleave_profile *profile, uint32_t table, uint32_t *out,
                              uint32_t limit)
{
    uint32_t base = profile->base[table], count = profile->base[table + 1] - base, found = 0;
    while (found < limit) {
        uint32_t best = CLEAVE_ABSENT;
        for (uint32_t c = 0; c < count; c++) {
            const struct cleave_column_profile *column = &profile->columns[base + c];
            bool taken = column->accesses == 0;
            for (uint32_t i = 0; i < found; i++)
                taken |= out[i] == c;
            if (taken)
                continue;
            if (best == CLEAVE_ABSENT) {
                best = c;
                continue;
            }
            const struct cleave_column_profile *other = &profile->columns[base + best];
            uint64_t slack = (column->accesses + other->accesses) / 100;
            bool tie = column->accesses <= other->accesses + slack &&
                       other->accesses <= column->accesses + slack;
            if (tie ? column->distinct < other->distinct : column->accesses > other->accesses)
                best = c;
        }
        if (best == CLEAVE_ABSENT)
            break;
        out[found++] = best;
    }
    return found;
}

/* ---- classes ---- */

static uint32_t find_root(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_foreign_keys(const struct cleave_schema *schema, struct cleave_profile *profile)
{
    for (uint32_t t = 0; t < schema->table_count; t++) {
        for (uint32_t f = 0; f < schema->tables[t].foreign_count; f++) {
            const struct cleave_foreign_key *key = &schema->tables[t].foreigns[f];
            for (uint32_t c = 0; c < key->count; c++)
                join(profile->class_of, profile->base[t] + key->columns[c],
                     profile->base[key->target_table] + key->target_columns[c]);
        }
    }
}

/* What one transaction shows of one column: one value, several, or none. */
struct showing {
    uint32_t stamp; /* transaction + 1 */
    bool single;
    uint64_t hash;
    const struct cleave_value *value;
};

struct pair_count {
    uint32_t both, equal;
    uint64_t seen[DISTINCT_MIN]; /* the first distinct equal values */
    uint32_t distinct;
};

struct evidence {
    uint32_t *columns; /* column numbers looked at */
    uint32_t count;
    uint32_t *slot; /* column number -> position in `columns`, or CLEAVE_ABSENT */
    struct showing *shown;
    struct pair_count *pairs; /* [count * count] */
};

static void note_value(struct showing *shown, uint32_t stamp, const struct cleave_value *value)
{
    uint64_t hash = cleave__value_hash(value);
    if (shown->stamp != stamp)
        *shown = (struct showing){stamp, true, hash, value};
    else if (shown->hash != hash)
        shown->single = false;
}

static void show_transaction(const struct cleave_workload *workload,
                             const struct cleave_profile *profile, struct evidence *evidence,
                             uint32_t transaction)
{
    uint64_t end = workload->offsets.data[transaction + 1];
    for (uint64_t a = workload->offsets.data[transaction]; a < end; a++) {
        const struct cleave_workload_box *box =
            &workload->boxes.data[workload->accesses.data[a].box];
        for (uint32_t t = 0; t < box->box.term_count; t++) {
            const struct cleave_term *term = &box->box.terms[t];
            uint32_t slot = evidence->slot[profile->base[box->table] + term->column];
            if (slot == CLEAVE_ABSENT || !cleave__term_is_points(term))
                continue;
            for (uint32_t r = 0; r < term->range_count; r++)
                note_value(&evidence->shown[slot], transaction + 1, &term->ranges[r].low);
        }
    }
}

static void count_pairs(struct evidence *evidence, uint32_t stamp)
{
    for (uint32_t i = 0; i < evidence->count; i++) {
        const struct showing *a = &evidence->shown[i];
        if (a->stamp != stamp || !a->single)
            continue;
        for (uint32_t j = i + 1; j < evidence->count; j++) {
            const struct showing *b = &evidence->shown[j];
            if (b->stamp != stamp || !b->single)
                continue;
            struct pair_count *pair = &evidence->pairs[(size_t)i * evidence->count + j];
            pair->both++;
            if (a->hash != b->hash)
                continue;
            pair->equal++;
            bool known = pair->distinct == DISTINCT_MIN;
            for (uint32_t d = 0; d < pair->distinct; d++)
                known |= pair->seen[d] == a->hash;
            if (!known)
                pair->seen[pair->distinct++] = a->hash;
        }
    }
}

static void join_equal_columns(struct cleave_profile *profile, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < evidence->count; i++) {
        for (uint32_t j = i + 1; j < evidence->count; j++) {
            const struct pair_count *pair = &evidence->pairs[(size_t)i * evidence->count + j];
            if (pair->both >= SUPPORT_MIN && pair->distinct == DISTINCT_MIN &&
                (uint64_t)pair->equal * 100 >= (uint64_t)pair->both * 85)
                join(profile->class_of, evidence->columns[i], evidence->columns[j]);
        }
    }
}

/* ---- derived keys ---- */

/* Splits text around its last run of digits (leading zeroes belong to the run). */
static bool digit_run(const struct cleave_value *value, size_t *start, size_t *end)
{
    if (value->kind != CLEAVE_TEXT)
        return false;
    size_t at = value->length;
    while (at > 0 && (value->text[at - 1] < '0' || value->text[at - 1] > '9'))
        at--;
    *end = at;
    while (at > 0 && value->text[at - 1] >= '0' && value->text[at - 1] <= '9')
        at--;
    *start = at;
    return *start < *end;
}

static bool in_set(const struct cleave_workload *workload, const struct cleave_profile *profile,
                   uint32_t transaction, uint32_t class_root, int64_t number, bool *any)
{
    uint64_t end = workload->offsets.data[transaction + 1];
    for (uint64_t a = workload->offsets.data[transaction]; a < end; a++) {
        const struct cleave_workload_box *box =
            &workload->boxes.data[workload->accesses.data[a].box];
        for (uint32_t t = 0; t < box->box.term_count; t++) {
            const struct cleave_term *term = &box->box.terms[t];
            if (profile->class_of[profile->base[box->table] + term->column] != class_root)
                continue;
            for (uint32_t r = 0; r < term->range_count; r++) {
                const struct cleave_range *range = &term->ranges[r];
                if (!cleave__range_is_point(range) || range->low.kind != CLEAVE_INTEGER)
                    continue;
                *any = true;
                if (range->low.integer == number)
                    return true;
            }
        }
    }
    return false;
}

/* Tests the hypothesis that `column` of `table` spells `key`'s number. */
static bool test_derivation(const struct cleave_workload *workload,
                            const struct cleave_profile *profile, uint32_t step, uint32_t table,
                            uint32_t column, uint32_t key, struct cleave_derivation *out)
{
    uint32_t root = profile->class_of[profile->base[table] + key];
    uint64_t support = 0;
    int64_t seen[DISTINCT_MIN]; /* the first distinct numbers */
    uint32_t distinct = 0;
    const struct cleave_value *first = NULL;
    size_t first_start = 0, first_end = 0;
    for (uint32_t t = 0; t < workload->transactions; t += step) {
        for (uint64_t a = workload->offsets.data[t]; a < workload->offsets.data[t + 1]; a++) {
            const struct cleave_workload_box *box =
                &workload->boxes.data[workload->accesses.data[a].box];
            if (box->table != table)
                continue;
            const struct cleave_term *term = cleave__box_term(&box->box, column);
            if (!term || term->range_count != 1 || !cleave__range_is_point(&term->ranges[0]))
                continue;
            const struct cleave_value *value = &term->ranges[0].low;
            size_t start, end;
            if (!digit_run(value, &start, &end))
                return false;
            if (!first) {
                first = value;
                first_start = start;
                first_end = end;
            } else if (start != first_start || value->length - end != first->length - first_end ||
                       memcmp(value->text, first->text, start) != 0 ||
                       memcmp(value->text + end, first->text + first_end, value->length - end) !=
                           0) {
                return false;
            }
            struct cleave_value digits = {CLEAVE_TEXT, (uint32_t)(end - start), 0,
                                          value->text + start};
            int64_t number;
            if (!cleave__derived_number(&digits, "", "", &number))
                return false;
            bool any = false;
            bool agrees = in_set(workload, profile, t, root, number, &any);
            if (any && !agrees)
                return false;
            if (agrees) {
                support++;
                bool known = distinct == DISTINCT_MIN;
                for (uint32_t d = 0; d < distinct; d++)
                    known |= seen[d] == number;
                if (!known)
                    seen[distinct++] = number;
            }
        }
    }
    if (support < SUPPORT_MIN || distinct < DISTINCT_MIN)
        return false;
    *out = (struct cleave_derivation){
        .table = table, .column = column, .key_column = key, .support = support};
    out->prefix = first->text; /* lengths below; copied by the caller */
    out->suffix = first->text + first_end;
    return true;
}

static bool learn_derivations(const struct cleave_workload *workload,
                              struct cleave_profile *profile, uint32_t step)
{
    CLEAVE_VECTOR(struct cleave_derivation) found = {0};
    bool ok = true;
    for (uint32_t t = 0; ok && t < workload->schema->table_count; t++) {
        const struct cleave_table *table = &workload->schema->tables[t];
        for (uint32_t c = 0; ok && c < table->column_count; c++) {
            const struct cleave_column_profile *column = &profile->columns[profile->base[t] + c];
            if (column->integers || column->points < SUPPORT_MIN)
                continue;
            for (uint32_t k = 0; ok && k < table->column_count; k++) {
                const struct cleave_column_profile *key = &profile->columns[profile->base[t] + k];
                struct cleave_derivation derivation;
                if (k == c || !key->integers || key->points == 0 ||
                    !test_derivation(workload, profile, step, t, c, k, &derivation))
                    continue;
                size_t start, end;
                struct cleave_value sample = {CLEAVE_TEXT, 0, 0, derivation.prefix};
                sample.length = (uint32_t)strlen(derivation.prefix);
                digit_run(&sample, &start, &end);
                derivation.prefix = cleave__arena_copy(&profile->arena, sample.text, start);
                derivation.suffix =
                    cleave__arena_copy(&profile->arena, sample.text + end, sample.length - end);
                ok = derivation.prefix && derivation.suffix && CLEAVE_PUSH(&found, derivation);
            }
        }
    }
    if (ok && found.count) {
        profile->derivations =
            cleave__arena_array(&profile->arena, found.count, sizeof *found.data);
        ok = profile->derivations != NULL;
        if (ok)
            memcpy(profile->derivations, found.data, found.count * sizeof *found.data);
        profile->derivation_count = ok ? (uint32_t)found.count : 0;
    }
    CLEAVE_VECTOR_FREE(&found);
    return ok;
}

/* ---- all of it ---- */

/* Columns worth comparing: constrained to points in at least a tenth of their table's accesses. */
static bool choose_columns(const struct cleave_workload *workload,
                           const struct cleave_profile *profile, struct evidence *evidence)
{
    uint32_t total = profile->base[workload->schema->table_count];
    evidence->slot = malloc(((size_t)total + 1) * sizeof *evidence->slot);
    evidence->columns = malloc(((size_t)total + 1) * sizeof *evidence->columns);
    if (!evidence->slot || !evidence->columns)
        return false;
    for (uint32_t t = 0; t < workload->schema->table_count; t++) {
        for (uint32_t c = profile->base[t]; c < profile->base[t + 1]; c++) {
            evidence->slot[c] = CLEAVE_ABSENT;
            if (profile->columns[c].points == 0 ||
                profile->columns[c].points * 10 < profile->tables[t].accesses ||
                evidence->count == POINT_COLUMNS_MAX * 4)
                continue;
            evidence->slot[c] = evidence->count;
            evidence->columns[evidence->count++] = c;
        }
    }
    evidence->shown = calloc((size_t)evidence->count + 1, sizeof *evidence->shown);
    evidence->pairs =
        calloc((size_t)evidence->count * evidence->count + 1, sizeof *evidence->pairs);
    return evidence->shown && evidence->pairs;
}

static bool learn_classes(const struct cleave_workload *workload, struct cleave_profile *profile,
                          uint32_t step)
{
    struct evidence evidence = {0};
    bool ok = choose_columns(workload, profile, &evidence);
    for (uint32_t t = 0; ok && t < workload->transactions; t += step) {
        show_transaction(workload, profile, &evidence, t);
        count_pairs(&evidence, t + 1);
    }
    if (ok)
        join_equal_columns(profile, &evidence);
    free(evidence.slot);
    free(evidence.columns);
    free(evidence.shown);
    free(evidence.pairs);
    return ok;
}

enum cleave_status cleave__profile_build(const struct cleave_workload *workload,
                                         struct cleave_profile *out, struct cleave_error *error)
{
    const struct cleave_schema *schema = workload->schema;
    struct cleave_profile profile = {0};
    struct cleave_arena *arena = &profile.arena;
    uint32_t total = 0;
    profile.base =
        cleave__arena_array(arena, (size_t)schema->table_count + 1, sizeof *profile.base);
    for (uint32_t t = 0; profile.base && t < schema->table_count; t++) {
        profile.base[t] = total;
        total += schema->tables[t].column_count;
    }
    profile.columns = cleave__arena_zalloc(arena, (size_t)total * sizeof *profile.columns);
    profile.tables =
        cleave__arena_zalloc(arena, (size_t)schema->table_count * sizeof *profile.tables);
    profile.class_of = cleave__arena_array(arena, total, sizeof *profile.class_of);
    bool ok = profile.base && profile.columns && profile.tables && profile.class_of;
    uint32_t step = workload->transactions / SAMPLE + 1;
    if (ok) {
        profile.base[schema->table_count] = total;
        for (uint32_t c = 0; c < total; c++)
            profile.class_of[c] = c;
        join_foreign_keys(schema, &profile);
        ok = count_boxes(workload, &profile) && count_columns(workload, &profile) &&
             learn_classes(workload, &profile, step);
    }
    if (ok) {
        for (uint32_t c = 0; c < total; c++)
            profile.class_of[c] = find_root(profile.class_of, c);
        ok = learn_derivations(workload, &profile, step);
    }
    if (!ok) {
        cleave__profile_free(&profile);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the workload's profile");
    }
    *out = profile;
    return CLEAVE_OK;
}

void cleave__profile_free(struct cleave_profile *profile)
{
    cleave__arena_free(&profile->arena);
    *profile = (struct cleave_profile){0};
}
