/* How far the size of queries' ranges and the number of their keywords matter (Figure 11): matchers
 * beside each other on one thread, timed here, and routers and evaluators with the index on the
 * transport that was asked for. All matchers must find the same in the objects that all of them
 * get. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "stream/compare/experiment.h"
#include "stream/serve/sink.h"

enum { BATCH = 64, PAIRS_MOST = 100000000, REPORT_EVERY = 16384 };

static const double range_x[] = {0.0001, 0.001, 0.005, 0.01, 0.015};
static const double words_x[] = {1, 2, 3, 4, 5, 6, 7};

struct trial {
    const struct cleave__stream_play *play;
    const struct cleave__matcher_ops *ops;
    uint64_t shared; /* objects that every matcher gets */
    /* of the shared ones */
    uint64_t digest, matches;
};

static enum cleave_status match_some(struct trial *t, void *matcher,
                                     struct cleave__stream_generator *generator, uint64_t count,
                                     uint64_t *number, double *took_s, uint64_t *candidates,
                                     struct cleave_error *error)
{
    struct cleave__object batch[BATCH];
    uint32_t looked[BATCH];
    struct cleave__matches matches = {0};
    struct cleave_arena arena = {0};
    struct cleave_arena_mark mark = cleave__arena_mark(&arena);
    const struct cleave_progress *progress = t->play->streaming.progress;
    enum cleave_status status = CLEAVE_OK;
    for (uint64_t done = 0; done < count && !status;) {
        uint32_t n = count - done < BATCH ? (uint32_t)(count - done) : BATCH;
        cleave__arena_rewind(&arena, mark);
        status = cleave__stream_next_objects(generator, n, &arena, batch, error);
        matches.items.count = 0;
        double begin = cleave__clock_s();
        if (!status)
            status = t->ops->match(matcher, batch, n, &matches, looked, error);
        *took_s += cleave__clock_s() - begin;
        for (uint32_t i = 0; i < n && !status; i++)
            *candidates += looked[i];
        for (size_t i = 0; i < matches.items.count && !status && *number < t->shared; i++) {
            struct cleave__query query;
            t->ops->query(matcher, matches.items.data[i].slot, &query);
            t->digest += cleave__match_digest(*number + matches.items.data[i].object, query.id);
            t->matches++;
        }
        done += n;
        *number += n;
        if (!status && done % REPORT_EVERY < BATCH && progress) {
            if (progress->report)
                progress->report(progress->context, t->ops->name, done, count);
            if (progress->stop && *progress->stop)
                status = cleave_error_set(error, CLEAVE_INTERRUPTED, "interrupted");
        }
    }
    CLEAVE_VECTOR_FREE(&matches.items);
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status try_matcher(struct trial *t, struct cleave__compare_row *row,
                                      struct cleave_error *error)
{
    const struct cleave__stream_play *play = t->play;
    struct cleave__stream_generator *generator;
    void *matcher = NULL;
    uint64_t number = 0, looked = 0;
    double stored_s = 0, took_s = 0;
    enum cleave_status status = cleave__stream_generator_new(play->made, &generator, error);
    if (status)
        return status;
    status = t->ops->create(&(struct cleave__matcher_options){&play->made->space}, &matcher, error);
    for (uint64_t i = 0; i < play->queries && !status; i++) {
        struct cleave__query query;
        uint32_t slot;
        cleave__stream_next_query(generator, 0, &query);
        double begin = cleave__clock_s();
        status = t->ops->add(matcher, &query, &slot, error);
        stored_s += cleave__clock_s() - begin;
    }
    bool all = t->ops == &cleave__matcher_index && play->objects > t->shared;
    if (!status)
        status = match_some(t, matcher, generator, t->shared, &number, &took_s, &looked, error);
    if (!status && all)
        status = match_some(t, matcher, generator, play->objects - t->shared, &number, &took_s,
                            &looked, error);
    if (!status) {
        row->value[CLEAVE__COMPARE_OBJECTS_PER_S] = took_s > 0 ? (double)number / took_s : 0;
        row->value[CLEAVE__COMPARE_QUERIES_PER_S] =
            stored_s > 0 ? (double)play->queries / stored_s : 0;
        row->value[CLEAVE__COMPARE_CANDIDATES] = number ? (double)looked / (double)number : 0;
        row->value[CLEAVE__COMPARE_MATCHES] = (double)t->matches;
        if (play->queries)
            row->value[CLEAVE__COMPARE_BYTES_A_QUERY] =
                (double)t->ops->bytes(matcher) / (double)play->queries;
    }
    if (matcher)
        t->ops->destroy(matcher);
    cleave__stream_generator_free(generator);
    return status;
}

static enum cleave_status run_one(const struct cleave__compare_setting *setting,
                                  const struct cleave__stream_options *made, double x,
                                  const struct cleave__compare_sink *sink,
                                  struct cleave_error *error)
{
    static const struct cleave__matcher_ops *const matchers[] = {
        &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan};
    struct cleave__stream_play play = setting->play;
    struct trial first = {0};
    enum cleave_status status = CLEAVE_OK;
    play.made = made;
    uint64_t shared = PAIRS_MOST / (play.queries + 1) + BATCH;
    shared = shared / BATCH * BATCH; /* whole batches */
    shared = shared < play.objects ? shared : play.objects;
    for (int m = 0; m < 3 && !status; m++) {
        struct trial trial = {.play = &play, .ops = matchers[m], .shared = shared};
        struct cleave__compare_row row;
        cleave__compare_row_init(&row, matchers[m]->name, x);
        status = try_matcher(&trial, &row, error);
        if (m == 0)
            first = trial;
        row.verified = trial.digest == first.digest && trial.matches == first.matches;
        if (!row.verified)
            snprintf(row.wrong, sizeof row.wrong, "%s and %s do not find the same", trial.ops->name,
                     first.ops->name);
        if (!status)
            status = cleave__compare_give(sink, &row, error);
    }
    cleave__compare_use(&play, &setting->costs, &cleave__matcher_index);
    return status ? status : cleave__compare_play(&play, "at work", x, sink, error);
}

static enum cleave_status run_range(const struct cleave__compare_setting *setting,
                                    const struct cleave__compare_sink *sink,
                                    struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_options made = *setting->play.made;
        made.range = sqrt(setting->x[i]);
        status = run_one(setting, &made, setting->x[i], sink, error);
    }
    return status;
}

static enum cleave_status run_words(const struct cleave__compare_setting *setting,
                                    const struct cleave__compare_sink *sink,
                                    struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_options made = *setting->play.made;
        made.keywords = (uint32_t)setting->x[i];
        status = run_one(setting, &made, setting->x[i], sink, error);
    }
    return status;
}

#define FIGURES                                                                                    \
    (CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(QUERIES_PER_S) |                     \
     CLEAVE__COMPARE_BIT(CANDIDATES) | CLEAVE__COMPARE_BIT(BYTES_A_QUERY) |                        \
     CLEAVE__COMPARE_BIT(MATCHES))

const struct cleave__compare_part cleave__compare_range = {
    .experiment = "index",
    .name = "range",
    .figure = "11a",
    .summary = "the size of queries' ranges, as a share of the space",
    .x_key = "share",
    .x_title = "range, a share of the space",
    .x_low = 1e-9,
    .x_high = 1,
    .x = range_x,
    .x_count = sizeof range_x / sizeof *range_x,
    .figures = FIGURES,
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .timed = true,
    .run = run_range};

const struct cleave__compare_part cleave__compare_words = {
    .experiment = "index",
    .name = "words",
    .figure = "11b",
    .summary = "how many keywords a query has",
    .x_key = "words",
    .x_title = "keywords of a query",
    .x_whole = true,
    .x_low = 1,
    .x_high = CLEAVE__STREAM_WORDS_MOST,
    .x = words_x,
    .x_count = sizeof words_x / sizeof *words_x,
    .figures = FIGURES,
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .timed = true,
    .run = run_words};
