/* Design search: coordinate descent over (table -> key | two keys | replicated) from several
 * starts, with moves of whole classes, in the manner of large-neighbourhood designers
 * (Horticulture) and key-class designers (JECB). O(moves * sample accesses); the sample is at most
 * SAMPLE. */
#include "tables/scheme/hgp/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables/scheme/hgp/sample.h"

enum { STARTS = 5, MEET_MAX = 32, READ_MOSTLY = 10 };

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

/* ---- cost ---- */

struct search {
    const struct cleave_scheme_input *input;
    struct cleave_sample sample;
    double meet[MEET_MAX];               /* cost of a transaction that touches m + 1 values */
    uint32_t *choice;                    /* [tables]: candidate index, or REPLICATED */
    double *cost;                        /* [sample transactions], under `choice` */
    double *penalty;                     /* [tables]: a copy on every shard, against ties */
    double (*unease)[CLEAVE_CANDIDATES]; /* [tables]: of each key, against ties: too few values to
                                     spread, values that no other table shares */
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

static void meet(const struct cleave_sample *sample, const struct cleave_span *span,
                 struct meeting *meeting)
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
    const struct cleave_sample *sample = &search->sample;
    struct meeting meeting;
    meeting.count = 0;
    for (uint32_t a = sample->offsets[transaction]; a < sample->offsets[transaction + 1]; a++) {
        const struct cleave_sample_access *access = &sample->accesses[a];
        uint32_t choice = search->choice[access->table];
        if (choice == REPLICATED) {
            if (access->write)
                return 1;
            continue;
        }
        const struct cleave_span *span = &sample->spans.data[access->spans + first_of(choice)];
        if (has_second(choice)) {
            const struct cleave_span *other =
                &sample->spans.data[access->spans + second_of(choice)];
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
    const struct cleave_sample *sample = &search->sample;
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
            if (cleave__must_replicate(search->input, t))
                continue;
            uint32_t best = search->choice[t], count = search->sample.candidate_count[t];
            double gain = -1e-9;
            for (uint32_t c = 0; c < count; c++)
                consider(search, t, c, &best, &gain);
            if (cleave__may_replicate(search->input, t)) {
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
 * a candidate of the number-th most frequent class takes that. With `copies`, tables that are
 * mostly read start copied: one change at a time, the tables that join them may never get there. */
static bool start_from(struct search *search, uint32_t number, bool copies)
{
    uint32_t tables = search->input->schema->table_count;
    const struct cleave_profile *profile = search->input->profile;
    for (uint32_t t = 0; t < tables; t++) {
        bool copy = cleave__must_replicate(search->input, t) ||
                    search->sample.candidate_count[t] == 0 ||
                    (copies && cleave__may_replicate(search->input, t) &&
                     profile->tables[t].writes * READ_MOSTLY <= profile->tables[t].reads);
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
              cleave__sample_build(input, &search.sample);
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
    for (uint32_t s = 0; ok && s < 2 * STARTS; s++) {
        ok = start_from(&search, s / 2, s % 2);
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
            (shown || cleave__must_replicate(input, t) ||
             (input->profile->tables[t].accesses > 0 && cleave__may_replicate(input, t)));
        bool keyed = shown && best[t] != REPLICATED;
        design[t].key = keyed ? search.sample.candidates[t][first_of(best[t])] : CLEAVE_ABSENT;
        design[t].second = keyed && has_second(best[t])
                               ? search.sample.candidates[t][second_of(best[t])]
                               : CLEAVE_ABSENT;
    }
    uint32_t sampled = search.sample.transactions;
    cleave__sample_free(&search.sample);
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
