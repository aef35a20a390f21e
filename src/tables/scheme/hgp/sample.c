#include "tables/scheme/hgp/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SAMPLE = 4000, POINTS_MAX = 4096, CELLS_PER_SHARD = 4 };

void cleave__sample_free(struct cleave_sample *sample)
{
    free(sample->offsets);
    free(sample->accesses);
    CLEAVE_VECTOR_FREE(&sample->spans);
    CLEAVE_VECTOR_FREE(&sample->values);
    for (size_t c = 0; c < sample->cells.count; c++)
        CLEAVE_VECTOR_FREE(&sample->cells.data[c].cuts.list);
    CLEAVE_VECTOR_FREE(&sample->cells);
    free(sample->candidate_count);
    free(sample->candidates);
    free(sample->first);
    free(sample->list);
}

struct collect {
    struct cleave_sample *sample;
    uint64_t class_root;
    uint32_t count;
    bool failed;
};

static bool collect_value(void *context, const struct cleave_value *value)
{
    struct collect *collect = context;
    uint64_t hash = cleave__mix64(cleave__value_hash(value) ^ cleave__mix64(collect->class_root));
    if (collect->count++ >= POINTS_MAX)
        return false;
    if (!CLEAVE_PUSH(&collect->sample->values, hash))
        collect->failed = true;
    return !collect->failed;
}

static const struct cleave_sample_cells *find_cells(const struct cleave_sample *sample,
                                                    uint32_t root)
{
    for (size_t c = 0; c < sample->cells.count; c++) {
        if (sample->cells.data[c].root == root)
            return &sample->cells.data[c];
    }
    return NULL;
}

/* The cells that a box's ranges of a key meet; false when it leaves the key open. */
static bool collect_cells(struct collect *collect, const struct cleave_sample_cells *cells,
                          const struct cleave_term *term)
{
    for (uint32_t r = 0; term && r < term->range_count; r++) {
        uint32_t first, last;
        cleave__cuts_run(&cells->cuts, &term->ranges[r], &first, &last);
        for (uint32_t cell = first; cell <= last; cell++) {
            uint64_t hash = cleave__mix64(cell + 1 + cleave__mix64(collect->class_root));
            if (collect->count++ >= POINTS_MAX)
                return false;
            if (!CLEAVE_PUSH(&collect->sample->values, hash)) {
                collect->failed = true;
                return false;
            }
        }
    }
    return term != NULL;
}

static bool add_spans(const struct cleave_scheme_input *input, struct cleave_sample *sample,
                      const struct cleave_workload_box *box)
{
    for (uint32_t c = 0; c < sample->candidate_count[box->table]; c++) {
        uint32_t column = sample->candidates[box->table][c];
        struct collect collect = {.sample = sample};
        collect.class_root = input->profile->class_of[input->profile->base[box->table] + column];
        struct cleave_span span = {(uint32_t)sample->values.count, 0};
        const struct cleave_sample_cells *cells = find_cells(sample, (uint32_t)collect.class_root);
        bool closed =
            cells ? collect_cells(&collect, cells, cleave__box_term(&box->box, column))
                  : cleave__box_key_points(input->profile, input->steer->derived_keys, box->table,
                                           &box->box, column, collect_value, &collect);
        if (collect.failed)
            return false;
        span.count = closed ? (uint32_t)sample->values.count - span.first : CLEAVE_ABSENT;
        if (!closed)
            sample->values.count = span.first;
        if (!CLEAVE_PUSH(&sample->spans, span))
            return false;
    }
    return true;
}

/* Key candidates: the k most accessed attributes, then key columns that are often given. */
static void choose_candidates(const struct cleave_scheme_input *input, struct cleave_sample *sample)
{
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table *table = &input->schema->tables[t];
        uint32_t ranked[CLEAVE_WIDEST_RANK];
        uint32_t count = cleave__profile_rank(profile, t, ranked, CLEAVE_WIDEST_RANK);
        uint32_t found = 0;
        for (uint32_t i = 0; i < count && found < CLEAVE_CANDIDATES; i++) {
            const struct cleave_column_profile *column =
                &profile->columns[profile->base[t] + ranked[i]];
            bool key = false;
            for (uint32_t p = 0; p < table->primary.count; p++)
                key |= table->primary.columns[p] == ranked[i];
            for (uint32_t f = 0; f < table->foreign_count; f++) {
                for (uint32_t p = 0; p < table->foreigns[f].count; p++)
                    key |= table->foreigns[f].columns[p] == ranked[i];
            }
            bool often = column->accesses * 10 >= profile->tables[t].accesses;
            if (i < input->steer->attributes || (key && often))
                sample->candidates[t][found++] = ranked[i];
        }
        sample->candidate_count[t] = found;
    }
}

/* ---- what a person fixed ---- */

static const struct cleave_table_steer *steer_of(const struct cleave_scheme_input *input,
                                                 uint32_t table)
{
    for (uint32_t i = 0; i < input->steer->table_count; i++) {
        const char *name = input->steer->tables[i].table;
        if (cleave__schema_table(input->schema, name, strlen(name)) == table)
            return &input->steer->tables[i];
    }
    return NULL;
}

/* True when a rule speaks of the table: a copy everywhere would defeat it. `*column` is the one
 * that together and apart need as the key; CLEAVE_ABSENT: any will do. */
static bool ruled(const struct cleave_scheme_input *input, uint32_t table, uint32_t *column)
{
    bool any = false;
    *column = CLEAVE_ABSENT;
    for (uint32_t r = 0; r < input->steer->rule_count; r++) {
        const struct cleave_rule *rule = &input->steer->rules[r];
        bool pair = rule->kind == CLEAVE_TOGETHER || rule->kind == CLEAVE_APART;
        const struct cleave_selector *ends[2] = {&rule->a, &rule->b};
        for (int i = 0; i < (rule->kind == CLEAVE_MERGE ? 0 : pair ? 2 : 1); i++) {
            const char *name = ends[i]->table;
            if (cleave__schema_table(input->schema, name, strlen(name)) != table)
                continue;
            any = true;
            if (pair && ends[i]->column && *column == CLEAVE_ABSENT)
                *column = cleave__schema_column(&input->schema->tables[table], ends[i]->column,
                                                strlen(ends[i]->column));
        }
    }
    return any;
}

bool cleave__may_replicate(const struct cleave_scheme_input *input, uint32_t table)
{
    const struct cleave_table_steer *steer = steer_of(input, table);
    uint32_t column;
    if (steer && (steer->key || steer->replicate != CLEAVE_REPLICATE_AUTO))
        return steer->replicate == CLEAVE_REPLICATE_ALWAYS; /* a key asks for one copy by it */
    return input->steer->replication && !ruled(input, table, &column);
}

bool cleave__must_replicate(const struct cleave_scheme_input *input, uint32_t table)
{
    const struct cleave_table_steer *steer = steer_of(input, table);
    return steer && steer->replicate == CLEAVE_REPLICATE_ALWAYS;
}

/* A key that a person fixed, or that a rule needs, becomes the only candidate. */
static void fix_candidates(const struct cleave_scheme_input *input, struct cleave_sample *sample)
{
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table_steer *steer = steer_of(input, t);
        uint32_t column;
        ruled(input, t, &column);
        if (steer && steer->key)
            column =
                cleave__schema_column(&input->schema->tables[t], steer->key, strlen(steer->key));
        if (column == CLEAVE_ABSENT)
            continue;
        sample->candidates[t][0] = column;
        sample->candidate_count[t] = 1;
    }
}

/* Cells for the classes that candidates are given as ranges of in a tenth of their accesses. */
static bool find_ranged(const struct cleave_scheme_input *input, struct cleave_sample *sample)
{
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        for (uint32_t c = 0; c < sample->candidate_count[t]; c++) {
            uint32_t number = profile->base[t] + sample->candidates[t][c];
            const struct cleave_column_profile *column = &profile->columns[number];
            uint64_t ranged = column->accesses - column->points;
            struct cleave_sample_cells cells = {.root = profile->class_of[number]};
            if (ranged * 10 >= column->accesses && column->accesses &&
                !find_cells(sample, cells.root) && !CLEAVE_PUSH(&sample->cells, cells))
                return false;
        }
    }
    for (size_t b = 0; sample->cells.count && b < input->workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &input->workload->boxes.data[b];
        for (uint32_t t = 0; t < box->box.term_count; t++) {
            const struct cleave_term *term = &box->box.terms[t];
            struct cleave_sample_cells *cells = (struct cleave_sample_cells *)find_cells(
                sample, profile->class_of[profile->base[box->table] + term->column]);
            for (uint32_t r = 0; cells && r < term->range_count; r++) {
                if (!cleave__cuts_add(&cells->cuts, &term->ranges[r]))
                    return false;
            }
        }
    }
    for (size_t c = 0; c < sample->cells.count; c++) {
        struct cleave_cuts *cuts = &sample->cells.data[c].cuts;
        cleave__cuts_sort(cuts);
        size_t count = cuts->list.count, most = (size_t)CELLS_PER_SHARD * input->shards;
        for (size_t i = 0; count > most && i < most; i++)
            cuts->list.data[i] = cuts->list.data[i * count / most];
        cuts->list.count = count > most ? most : count;
    }
    return true;
}

static bool index_tables(const struct cleave_schema *schema, struct cleave_sample *sample)
{
    uint32_t tables = schema->table_count;
    sample->first = calloc((size_t)tables + 2, sizeof *sample->first);
    sample->list =
        malloc(((size_t)sample->offsets[sample->transactions] + 1) * sizeof *sample->list);
    uint32_t *last = calloc((size_t)tables + 1, sizeof *last);
    bool ok = sample->first && sample->list && last;
    for (int pass = 0; ok && pass < 2; pass++) {
        memset(last, 0, ((size_t)tables + 1) * sizeof *last);
        for (uint32_t t = 0; t < sample->transactions; t++) {
            for (uint32_t a = sample->offsets[t]; a < sample->offsets[t + 1]; a++) {
                uint32_t table = sample->accesses[a].table;
                if (last[table] == t + 1)
                    continue;
                last[table] = t + 1;
                if (pass == 0)
                    sample->first[table + 2]++;
                else
                    sample->list[sample->first[table + 1]++] = t;
            }
        }
        for (uint32_t t = 0; pass == 0 && t < tables; t++)
            sample->first[t + 2] += sample->first[t + 1];
    }
    free(last);
    return ok;
}

bool cleave__sample_build(const struct cleave_scheme_input *input, struct cleave_sample *sample)
{
    const struct cleave_workload *workload = input->workload;
    uint32_t tables = input->schema->table_count;
    uint32_t step = workload->transactions / SAMPLE + 1;
    uint32_t *box_spans = malloc((workload->boxes.count + 1) * sizeof *box_spans);
    sample->offsets = calloc((size_t)workload->transactions / step + 2, sizeof *sample->offsets);
    sample->candidate_count = calloc((size_t)tables + 1, sizeof *sample->candidate_count);
    sample->candidates = calloc((size_t)tables + 1, sizeof *sample->candidates);
    size_t accesses = 0;
    for (uint32_t t = 0; t < workload->transactions; t += step)
        accesses += workload->offsets.data[t + 1] - workload->offsets.data[t];
    sample->accesses = malloc((accesses + 1) * sizeof *sample->accesses);
    bool ok = box_spans && sample->offsets && sample->candidate_count && sample->candidates &&
              sample->accesses;
    if (ok) {
        memset(box_spans, 0xff, (workload->boxes.count + 1) * sizeof *box_spans);
        choose_candidates(input, sample);
        fix_candidates(input, sample);
        ok = find_ranged(input, sample);
    }
    uint32_t filled = 0;
    for (uint32_t t = 0; ok && t < workload->transactions; t += step) {
        for (uint64_t a = workload->offsets.data[t]; ok && a < workload->offsets.data[t + 1]; a++) {
            struct cleave_workload_access access = workload->accesses.data[a];
            const struct cleave_workload_box *box = &workload->boxes.data[access.box];
            if (box_spans[access.box] == CLEAVE_ABSENT) {
                box_spans[access.box] = (uint32_t)sample->spans.count;
                ok = add_spans(input, sample, box);
            }
            sample->accesses[filled++] =
                (struct cleave_sample_access){box->table, box_spans[access.box], access.write};
        }
        sample->offsets[++sample->transactions] = filled;
    }
    free(box_spans);
    return ok && index_tables(input->schema, sample);
}
