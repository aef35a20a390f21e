/* Design search: coordinate descent over (table -> key | two keys | replicated) from several
 * starts, with moves of whole classes, in the manner of large-neighbourhood designers
 * (Horticulture) and key-class designers (JECB). O(moves * sample accesses); the sample is at most
 * SAMPLE. */
#include "tables/scheme/hgp/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SAMPLE = 4000, CANDIDATES = 6, STARTS = 5, POINTS_MAX = 4096, MEET_MAX = 32 };

/* ---- the values a box gives for a key ---- */

bool cleave__box_key_points(const struct cleave_profile *profile, bool derived, uint32_t table,
                            const struct cleave_box *box, uint32_t key,
                            bool (*each)(void *context, const struct cleave_value *value),
                            void *context)
{
    const struct cleave_term *term = cleave__box_term(box, key);
    if (term) {
        if (!cleave__term_is_points(term))
            return false;
        for (uint32_t r = 0; r < term->range_count; r++) {
            if (!each(context, &term->ranges[r].low))
                return false;
        }
        return true;
    }
    for (uint32_t d = 0; derived && d < profile->derivation_count; d++) {
        const struct cleave_derivation *derivation = &profile->derivations[d];
        if (derivation->table != table || derivation->key_column != key)
            continue;
        term = cleave__box_term(box, derivation->column);
        if (!term || !cleave__term_is_points(term))
            continue;
        for (uint32_t r = 0; r < term->range_count; r++) {
            struct cleave_value number = {.kind = CLEAVE_INTEGER};
            if (!cleave__derived_number(&term->ranges[r].low, derivation->prefix,
                                        derivation->suffix, &number.integer) ||
                !each(context, &number))
                return false;
        }
        return true;
    }
    return false;
}

/* ---- the sample ---- */

struct span {
    uint32_t first, count; /* into `values`; count CLEAVE_ABSENT: the key is left open */
};

struct sample {
    uint32_t transactions;
    uint32_t *offsets; /* [transactions + 1] into accesses */
    struct sample_access {
        uint32_t table;
        uint32_t spans; /* index of the box's first span; one a candidate of its table */
        bool write;
    } * accesses;
    CLEAVE_VECTOR(struct span) spans;
    CLEAVE_VECTOR(uint64_t) values; /* class and value, hashed together */
    uint32_t *candidate_count;      /* [tables] */
    uint32_t (*candidates)[CANDIDATES];
    uint32_t *first, *list; /* table -> sample transactions that touch it */
};

static void sample_free(struct sample *sample)
{
    free(sample->offsets);
    free(sample->accesses);
    CLEAVE_VECTOR_FREE(&sample->spans);
    CLEAVE_VECTOR_FREE(&sample->values);
    free(sample->candidate_count);
    free(sample->candidates);
    free(sample->first);
    free(sample->list);
}

struct collect {
    struct sample *sample;
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

static bool add_spans(const struct cleave_scheme_input *input, struct sample *sample,
                      const struct cleave_workload_box *box)
{
    for (uint32_t c = 0; c < sample->candidate_count[box->table]; c++) {
        uint32_t column = sample->candidates[box->table][c];
        struct collect collect = {.sample = sample};
        collect.class_root = input->profile->class_of[input->profile->base[box->table] + column];
        struct span span = {(uint32_t)sample->values.count, 0};
        bool closed = cleave__box_key_points(input->profile, input->steer->derived_keys, box->table,
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
static void choose_candidates(const struct cleave_scheme_input *input, struct sample *sample)
{
    const struct cleave_profile *profile = input->profile;
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table *table = &input->schema->tables[t];
        uint32_t ranked[CLEAVE_WIDEST_RANK];
        uint32_t count = cleave__profile_rank(profile, t, ranked, CLEAVE_WIDEST_RANK);
        uint32_t found = 0;
        for (uint32_t i = 0; i < count && found < CANDIDATES; i++) {
            const struct cleave_column_profile *column =
                &profile->columns[profile->base[t] + ranked[i]];
            bool key = false;
            for (uint32_t p = 0; p < table->primary.count; p++)
                key |= table->primary.columns[p] == ranked[i];
            for (uint32_t f = 0; f < table->foreign_count; f++) {
                for (uint32_t p = 0; p < table->foreigns[f].count; p++)
                    key |= table->foreigns[f].columns[p] == ranked[i];
            }
            bool often = column->points * 10 >= profile->tables[t].accesses;
            if (column->points > 0 && (i < input->steer->attributes || (key && often)))
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

static bool may_replicate(const struct cleave_scheme_input *input, uint32_t table)
{
    const struct cleave_table_steer *steer = steer_of(input, table);
    if (steer && steer->replicate != CLEAVE_REPLICATE_AUTO)
        return steer->replicate == CLEAVE_REPLICATE_ALWAYS;
    return input->steer->replication;
}

static bool must_replicate(const struct cleave_scheme_input *input, uint32_t table)
{
    const struct cleave_table_steer *steer = steer_of(input, table);
    return steer && steer->replicate == CLEAVE_REPLICATE_ALWAYS;
}

/* A key that a person fixed becomes the only candidate. */
static void fix_candidates(const struct cleave_scheme_input *input, struct sample *sample)
{
    for (uint32_t t = 0; t < input->schema->table_count; t++) {
        const struct cleave_table_steer *steer = steer_of(input, t);
        if (!steer || !steer->key)
            continue;
        uint32_t column =
            cleave__schema_column(&input->schema->tables[t], steer->key, strlen(steer->key));
        if (column == CLEAVE_ABSENT)
            continue;
        sample->candidates[t][0] = column;
        sample->candidate_count[t] = 1;
    }
}

static bool index_tables(const struct cleave_schema *schema, struct sample *sample)
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

static bool sample_build(const struct cleave_scheme_input *input, struct sample *sample)
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
                (struct sample_access){box->table, box_spans[access.box], access.write};
        }
        sample->offsets[++sample->transactions] = filled;
    }
    free(box_spans);
    return ok && index_tables(input->schema, sample);
}

/* ---- cost ---- */

struct search {
    const struct cleave_scheme_input *input;
    struct sample sample;
    double meet[MEET_MAX];        /* cost of a transaction that touches m + 1 values */
    uint32_t *choice;             /* [tables]: candidate index, or REPLICATED */
    double *cost;                 /* [sample transactions], under `choice` */
    double *penalty;              /* [tables]: a copy on every shard, against ties */
    double (*unease)[CANDIDATES]; /* [tables]: of each key, against ties: too few values to spread,
                                     values that no other table shares */
    double total;
};

#define REPLICATED CLEAVE_ABSENT

/* A choice is a candidate's index, with a second one's in the bits above; or REPLICATED. */
static uint32_t pair_choice(uint32_t first, uint32_t second)
{
    return first | (second + 1) << 8;
}

static uint32_t first_of(uint32_t choice)
{
    return choice & 0xff;
}

static bool has_second(uint32_t choice)
{
    return choice != REPLICATED && choice >> 8;
}

static uint32_t second_of(uint32_t choice)
{
    return (choice >> 8) - 1;
}

struct meeting {
    uint64_t seen[MEET_MAX];
    uint32_t count;
};

static void meet(const struct sample *sample, const struct span *span, struct meeting *meeting)
{
    for (uint32_t v = 0; v < span->count && meeting->count < MEET_MAX; v++) {
        uint64_t value = sample->values.data[span->first + v];
        bool known = false;
        for (uint32_t i = 0; i < meeting->count && !known; i++)
            known = meeting->seen[i] == value;
        if (!known)
            meeting->seen[meeting->count++] = value;
    }
}

static double transaction_cost(const struct search *search, uint32_t transaction)
{
    const struct sample *sample = &search->sample;
    struct meeting meeting;
    meeting.count = 0;
    for (uint32_t a = sample->offsets[transaction]; a < sample->offsets[transaction + 1]; a++) {
        const struct sample_access *access = &sample->accesses[a];
        uint32_t choice = search->choice[access->table];
        if (choice == REPLICATED) {
            if (access->write)
                return 1;
            continue;
        }
        const struct span *span = &sample->spans.data[access->spans + first_of(choice)];
        if (has_second(choice)) {
            const struct span *other = &sample->spans.data[access->spans + second_of(choice)];
            if (access->write) {
                if (other->count == CLEAVE_ABSENT)
                    return 1;
                meet(sample, other, &meeting);
            } else if (other->count < span->count) { /* an open key counts as the most */
                span = other;
            }
        }
        if (span->count == CLEAVE_ABSENT)
            return 1;
        meet(sample, span, &meeting);
    }
    return meeting.count < 2 ? 0 : search->meet[meeting.count - 1];
}

static double choice_penalty(const struct search *search, uint32_t table, uint32_t choice)
{
    if (choice == REPLICATED)
        return search->penalty[table];
    double unease = search->unease[table][first_of(choice)];
    if (has_second(choice))
        unease += search->unease[table][second_of(choice)] + search->penalty[table] / 2;
    return unease;
}

/* Cost change when `table` takes `choice`; applied when `apply`. */
static double try_choice(struct search *search, uint32_t table, uint32_t choice, bool apply)
{
    const struct sample *sample = &search->sample;
    uint32_t old = search->choice[table];
    double change = 0;
    search->choice[table] = choice;
    for (uint32_t i = sample->first[table]; i < sample->first[table + 1]; i++) {
        double cost = transaction_cost(search, sample->list[i]);
        change += cost - search->cost[sample->list[i]];
        if (apply)
            search->cost[sample->list[i]] = cost;
    }
    change += choice_penalty(search, table, choice) - choice_penalty(search, table, old);
    if (apply)
        search->total += change;
    else
        search->choice[table] = old;
    return change;
}

static void recount(struct search *search)
{
    search->total = 0;
    for (uint32_t t = 0; t < search->sample.transactions; t++) {
        search->cost[t] = transaction_cost(search, t);
        search->total += search->cost[t];
    }
    for (uint32_t t = 0; t < search->input->schema->table_count; t++) {
        search->total += choice_penalty(search, t, search->choice[t]);
    }
}

/* ---- the search ---- */

static uint32_t class_of_choice(const struct search *search, uint32_t table, uint32_t choice)
{
    const struct cleave_profile *profile = search->input->profile;
    return profile->class_of[profile->base[table] + search->sample.candidates[table][choice]];
}

/* Takes a choice as the best so far when it saves more. */
static void consider(struct search *search, uint32_t table, uint32_t choice, uint32_t *best,
                     double *gain)
{
    if (choice == search->choice[table])
        return;
    double change = try_choice(search, table, choice, false);
    if (change < *gain) {
        *gain = change;
        *best = choice;
    }
}

/* Takes the best single change of each table in turn until none helps. */
static void descend(struct search *search)
{
    uint32_t tables = search->input->schema->table_count;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t t = 0; t < tables; t++) {
            if (must_replicate(search->input, t))
                continue;
            uint32_t best = search->choice[t], count = search->sample.candidate_count[t];
            double gain = -1e-9;
            for (uint32_t c = 0; c < count; c++)
                consider(search, t, c, &best, &gain);
            if (may_replicate(search->input, t)) {
                consider(search, t, REPLICATED, &best, &gain);
                for (uint32_t c = 0; c < count; c++) {
                    for (uint32_t d = c + 1; d < count; d++)
                        consider(search, t, pair_choice(c, d), &best, &gain);
                }
            }
            if (best != search->choice[t]) {
                try_choice(search, t, best, true);
                moved = true;
            }
        }
    }
}

/* Start `number`: 0 the best-ranked attribute of each table; 1.. the same, but every table that has
 * a candidate of the number-th most frequent class takes that. */
static bool start_from(struct search *search, uint32_t number)
{
    uint32_t tables = search->input->schema->table_count;
    const struct cleave_profile *profile = search->input->profile;
    for (uint32_t t = 0; t < tables; t++) {
        bool copy = must_replicate(search->input, t) || search->sample.candidate_count[t] == 0;
        search->choice[t] = copy ? REPLICATED : 0;
    }
    if (number == 0) {
        recount(search);
        return true;
    }
    /* Rank classes by the accesses of the tables that could follow them. */
    uint32_t total = profile->base[tables];
    double *weight = calloc((size_t)total + 1, sizeof *weight);
    if (!weight)
        return false;
    for (uint32_t t = 0; t < tables; t++) {
        for (uint32_t c = 0; c < search->sample.candidate_count[t]; c++)
            weight[class_of_choice(search, t, c)] +=
                (double)(profile->tables[t].reads + profile->tables[t].writes);
    }
    uint32_t chosen = 0;
    for (uint32_t n = 0; n < number; n++) {
        chosen = 0;
        for (uint32_t c = 1; c < total; c++) {
            if (weight[c] > weight[chosen])
                chosen = c;
        }
        if (n + 1 < number)
            weight[chosen] = -1;
    }
    bool any = weight[chosen] > 0;
    free(weight);
    for (uint32_t t = 0; any && t < tables; t++) {
        if (search->choice[t] == REPLICATED)
            continue;
        for (uint32_t c = 0; c < search->sample.candidate_count[t]; c++) {
            if (class_of_choice(search, t, c) == chosen) {
                search->choice[t] = c;
                break;
            }
        }
    }
    recount(search);
    return true;
}

/* Small amounts that decide between designs that cut alike. Copies cost storage: a share of a
 * transaction that grows with the table's share of all rows. A key of few values spreads badly; a
 * key that other tables share keeps rows together that later transactions may join. */
static void set_penalties(struct search *search)
{
    const struct cleave_schema *schema = search->input->schema;
    const struct cleave_profile *profile = search->input->profile;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        for (uint32_t c = 0; c < search->sample.candidate_count[t]; c++) {
            uint32_t number = profile->base[t] + search->sample.candidates[t][c];
            double spread =
                (double)profile->columns[number].distinct / (8.0 * search->input->shards);
            bool shared = false;
            for (uint32_t other = 0; other < profile->base[schema->table_count]; other++)
                shared |= (other < profile->base[t] || other >= profile->base[t + 1]) &&
                          profile->class_of[other] == profile->class_of[number] &&
                          profile->columns[other].accesses > 0;
            search->unease[t][c] = (spread < 1 ? 0.004 * (1 - spread) : 0) + (shared ? 0 : 0.005);
        }
    }
    double rows = 0;
    for (uint32_t t = 0; t < schema->table_count; t++)
        rows += schema->tables[t].rows;
    for (uint32_t t = 0; t < schema->table_count; t++)
        search->penalty[t] = 0.01 + (rows > 0 ? 0.5 * schema->tables[t].rows / rows : 0);
}

enum cleave_status cleave__design_search(const struct cleave_scheme_input *input, double pessimism,
                                         struct cleave_arena *arena, struct cleave_design *out,
                                         struct cleave_error *error)
{
    uint32_t tables = input->schema->table_count;
    struct search search = {.input = input};
    struct cleave_table_design *design = cleave__arena_zalloc(arena, tables * sizeof *design);
    uint32_t *best = calloc((size_t)tables + 1, sizeof *best);
    double best_cost = INFINITY;
    search.choice = calloc((size_t)tables + 1, sizeof *search.choice);
    search.penalty = calloc((size_t)tables + 1, sizeof *search.penalty);
    search.unease = calloc((size_t)tables + 1, sizeof *search.unease);
    bool ok = design && best && search.choice && search.penalty && search.unease &&
              sample_build(input, &search.sample);
    if (ok) {
        search.cost = calloc((size_t)search.sample.transactions + 1, sizeof *search.cost);
        ok = search.cost != NULL;
    }
    if (ok) {
        set_penalties(&search);
        for (uint32_t m = 0; m < MEET_MAX; m++)
            search.meet[m] =
                m == 0 ? 0 : pessimism * (1 - pow(1.0 / input->shards, m)) + 1e-3 * (1 - pessimism);
    }
    for (uint32_t s = 0; ok && s < STARTS; s++) {
        ok = start_from(&search, s);
        if (!ok)
            break;
        descend(&search);
        if (search.total < best_cost - 1e-9) {
            best_cost = search.total;
            memcpy(best, search.choice, tables * sizeof *best);
        }
    }
    for (uint32_t t = 0; ok && t < tables; t++) {
        bool shown = search.sample.candidate_count[t] > 0;
        design[t].replicated =
            best[t] == REPLICATED &&
            (shown || must_replicate(input, t) ||
             (input->profile->tables[t].accesses > 0 && may_replicate(input, t)));
        bool keyed = shown && best[t] != REPLICATED;
        design[t].key = keyed ? search.sample.candidates[t][first_of(best[t])] : CLEAVE_ABSENT;
        design[t].second = keyed && has_second(best[t])
                               ? search.sample.candidates[t][second_of(best[t])]
                               : CLEAVE_ABSENT;
    }
    uint32_t sampled = search.sample.transactions;
    sample_free(&search.sample);
    free(search.choice);
    free(search.cost);
    free(search.penalty);
    free(search.unease);
    free(best);
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the design search");
    out->tables = design;
    out->cost = sampled ? best_cost / sampled : 0;
    return CLEAVE_OK;
}

bool cleave__design_equal(const struct cleave_schema *schema, const struct cleave_design *a,
                          const struct cleave_design *b)
{
    for (uint32_t t = 0; t < schema->table_count; t++) {
        if (a->tables[t].replicated != b->tables[t].replicated ||
            a->tables[t].key != b->tables[t].key || a->tables[t].second != b->tables[t].second)
            return false;
    }
    return true;
}
