#include "tables/compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static enum cleave_status run_scheme(const struct cleave_case *kase,
                                     const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena,
                                     struct cleave_scheme_result *result,
                                     struct cleave_error *error)
{
    double start = cleave__clock_s();
    enum cleave_status status =
        result->scheme->place(input, arena, &result->layout, &result->notes, error);
    if (!status)
        status = cleave__lookup_build(&result->layout, &result->lookup, error);
    result->seconds = cleave__clock_s() - start;
    if (!status)
        status = cleave__evaluate(kase, input->steer, &result->layout, result->lookup, arena,
                                  &result->evaluation, error);
    return status;
}

/* ---- the recount ---- */

struct recount {
    struct cleave_comparison *comparison;
    struct cleave_oracle *oracle;
    const struct cleave_layout **layouts;
    unsigned char *verdicts;
    struct cleave_oracle_count *counts;
    const struct cleave_progress *progress;
    uint64_t done, total;
};

/* What the fast path says of one transaction of a workload. */
static bool fast_verdict(const struct cleave_lookup *lookup, const struct cleave_workload *workload,
                         uint32_t transaction)
{
    struct cleave_shardset set;
    cleave__touch(lookup, workload, transaction, &set);
    return cleave__shardset_count(&set) > 1;
}

static enum cleave_status recount_part(struct recount *recount, const struct cleave_kept *kept,
                                       const struct cleave_workload *workload, const char *part,
                                       struct cleave_error *error)
{
    struct cleave_comparison *comparison = recount->comparison;
    for (size_t i = 0; i < kept->list.count; i++) {
        const struct cleave_progress *progress = recount->progress;
        if (progress && progress->stop && *progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        if (progress && progress->report && recount->done % 64 == 0)
            progress->report(progress->context, "recounting", recount->done, recount->total);
        recount->done++;
        enum cleave_status status = cleave__oracle_count(recount->oracle, &kept->list.data[i],
                                                         recount->layouts, comparison->result_count,
                                                         recount->counts, recount->verdicts, error);
        if (status)
            return status;
        comparison->verified_transactions++;
        for (uint32_t r = 0; r < comparison->result_count; r++) {
            bool fast = fast_verdict(comparison->results[r].lookup, workload, kept->index.data[i]);
            if (recount->verdicts[r] == (fast ? 1 : 0))
                continue;
            comparison->verified = false;
            if (*comparison->disagreement)
                continue;
            const struct cleave_trace_statement *first = &kept->list.data[i].statements[0];
            char words[400];
            snprintf(words, sizeof words,
                     "%s, %s transaction %u: counted %s, recounted %s; it begins with %.200s",
                     comparison->results[r].scheme->name, part, kept->index.data[i],
                     fast ? "distributed" : "local",
                     recount->verdicts[r] == 1   ? "distributed"
                     : recount->verdicts[r] == 0 ? "local"
                                                 : "as touching no table",
                     first->text);
            comparison->disagreement = cleave__arena_copy(&comparison->arena, words, strlen(words));
            if (!comparison->disagreement)
                return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the recount");
        }
    }
    return CLEAVE_OK;
}

static enum cleave_status verify(const struct cleave_case *kase,
                                 struct cleave_comparison *comparison,
                                 const struct cleave_progress *progress, struct cleave_error *error)
{
    uint32_t count = comparison->result_count;
    struct recount recount = {.comparison = comparison, .progress = progress};
    recount.total = kase->kept_train.list.count + kase->kept_held_out.list.count;
    if (recount.total == 0)
        return CLEAVE_OK;
    recount.layouts = calloc((size_t)count + 1, sizeof *recount.layouts);
    recount.verdicts = calloc((size_t)count + 1, 1);
    recount.counts = calloc((size_t)count + 1, sizeof *recount.counts);
    enum cleave_status status = CLEAVE_OK;
    if (!recount.layouts || !recount.verdicts || !recount.counts)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the recount");
    if (!status)
        status = cleave__oracle_new(kase->schema, &recount.oracle, error);
    for (uint32_t r = 0; !status && r < count; r++)
        recount.layouts[r] = &comparison->results[r].layout;
    comparison->verified = true;
    if (!status)
        status = recount_part(&recount, &kase->kept_train, &kase->train, "training", error);
    if (!status)
        status = recount_part(&recount, &kase->kept_held_out, &kase->held_out, "held-out", error);
    cleave__oracle_free(recount.oracle);
    free(recount.layouts);
    free(recount.verdicts);
    free(recount.counts);
    return status;
}

enum cleave_status cleave__compare(const struct cleave_case *kase,
                                   const struct cleave_scheme *const *schemes, uint32_t count,
                                   uint32_t shards, uint64_t seed, const struct cleave_steer *steer,
                                   const struct cleave_progress *progress,
                                   struct cleave_comparison *out, struct cleave_error *error)
{
    struct cleave_comparison comparison = {.disagreement = ""};
    struct cleave_scheme_input input = {.schema = kase->schema,
                                        .workload = &kase->train,
                                        .profile = &kase->profile,
                                        .shards = shards,
                                        .seed = seed,
                                        .steer = steer,
                                        .progress = progress};
    enum cleave_status status = CLEAVE_OK;
    comparison.results =
        cleave__arena_zalloc(&comparison.arena, ((size_t)count + 1) * sizeof *comparison.results);
    if (!comparison.results)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the comparison");
    for (uint32_t i = 0; !status && i < count; i++) {
        struct cleave_scheme_result *result = &comparison.results[i];
        result->scheme = schemes[i];
        result->notes = "";
        comparison.result_count = i + 1;
        if (progress && progress->report)
            progress->report(progress->context, schemes[i]->name, i, count);
        status = run_scheme(kase, &input, &comparison.arena, result, error);
    }
    if (!status)
        status = verify(kase, &comparison, progress, error);
    if (status) {
        cleave__comparison_free(&comparison);
        return status;
    }
    *out = comparison;
    return CLEAVE_OK;
}

void cleave__comparison_free(struct cleave_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->result_count; i++)
        cleave__lookup_release(comparison->results[i].lookup);
    cleave__arena_free(&comparison->arena);
    *comparison = (struct cleave_comparison){0};
}
