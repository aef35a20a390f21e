/* The list of parts, and the row of a run. */
#include "stream/compare/experiment.h"

#include <math.h>
#include <stdio.h>

const struct cleave__compare_part *const cleave__compare_parts[] = {&cleave__compare_ways,
                                                                    &cleave__compare_band,
                                                                    &cleave__compare_points,
                                                                    &cleave__compare_ranges,
                                                                    &cleave__compare_routers,
                                                                    &cleave__compare_summary,
                                                                    &cleave__compare_range,
                                                                    &cleave__compare_words,
                                                                    &cleave__compare_together,
                                                                    &cleave__compare_evaluators,
                                                                    &cleave__compare_scale,
                                                                    &cleave__compare_bytes,
                                                                    NULL};

void cleave__compare_use(struct cleave__stream_play *play, const struct cleave__stream_costs *costs,
                         const struct cleave__matcher_ops *matcher)
{
    play->streaming.matcher = matcher;
    play->streaming.service = costs->service;
    if (matcher == &cleave__matcher_scan)
        play->streaming.service.match_candidate_ns = costs->scan_candidate_ns;
    else if (matcher == &cleave__matcher_cells)
        play->streaming.service.match_candidate_ns = costs->cells_candidate_ns;
}

void cleave__compare_row_init(struct cleave__compare_row *row, const char *way, double x)
{
    *row = (struct cleave__compare_row){.way = way, .x = x, .verified = true};
    for (int i = 0; i < CLEAVE__COMPARE_FIGURES; i++)
        row->value[i] = (double)NAN;
}

enum cleave_status cleave__compare_give(const struct cleave__compare_sink *sink,
                                        const struct cleave__compare_row *row,
                                        struct cleave_error *error)
{
    return sink->row(sink->context, row)
               ? CLEAVE_OK
               : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
}

static double per(double sum, uint64_t count)
{
    return count ? sum / (double)count : 0;
}

static void fill(const struct cleave__stream_play *play, const struct cleave__stream_played *played,
                 struct cleave__compare_row *row)
{
    const struct cleave__streamed *r = &played->run;
    uint32_t evaluators = play->streaming.evaluators;
    uint64_t most = 0, all = 0, moves = 0;
    double *v = row->value;
    for (uint32_t e = 0; e < evaluators; e++) {
        most = r->load[e] > most ? r->load[e] : most;
        all += r->load[e];
    }
    for (size_t i = 0; i < r->rebalance_count; i++)
        moves += r->rebalances[i].done;
    v[CLEAVE__COMPARE_OBJECTS_PER_S] = r->objects_per_s;
    v[CLEAVE__COMPARE_QUERIES_PER_S] = r->queries_per_s;
    v[CLEAVE__COMPARE_P50_MS] = (double)r->p50_ns * 1e-6;
    v[CLEAVE__COMPARE_P99_MS] = (double)r->p99_ns * 1e-6;
    v[CLEAVE__COMPARE_BUSIEST] = all ? (double)most * evaluators / (double)all : 1;
    v[CLEAVE__COMPARE_BUSIEST_LOAD] = (double)most;
    v[CLEAVE__COMPARE_PRUNED] = per((double)r->pruned, r->objects);
    v[CLEAVE__COMPARE_CANDIDATES] = per((double)r->candidates, r->objects);
    v[CLEAVE__COMPARE_MESSAGES] = (double)r->messages;
    v[CLEAVE__COMPARE_BYTES] = (double)r->bytes;
    v[CLEAVE__COMPARE_KEYWORD_MESSAGES] = (double)r->keyword_messages;
    v[CLEAVE__COMPARE_KEYWORDS] = (double)r->keywords;
    v[CLEAVE__COMPARE_REBALANCES] = (double)moves;
    v[CLEAVE__COMPARE_MOVED_QUERIES] = (double)r->moved_queries;
    v[CLEAVE__COMPARE_LOAD_BYTES] = (double)r->load_bytes;
    v[CLEAVE__COMPARE_LOAD_ROUNDS] = (double)(r->load_messages / evaluators);
    v[CLEAVE__COMPARE_LOAD_BYTES_A_ROUND] =
        per((double)r->load_bytes * evaluators, r->load_messages);
    v[CLEAVE__COMPARE_MATCHES] = (double)r->matches;
    row->verified = played->verified || !played->against;
    if (!row->verified)
        snprintf(row->wrong, sizeof row->wrong, "%s", played->wrong);
}

enum cleave_status cleave__compare_play(const struct cleave__stream_play *play, const char *way,
                                        double x, const struct cleave__compare_sink *sink,
                                        struct cleave_error *error)
{
    struct cleave__stream_played played;
    struct cleave__compare_row row;
    enum cleave_status status = cleave__stream_play(play, &played, error);
    if (status)
        return status;
    cleave__compare_row_init(&row, way, x);
    fill(play, &played, &row);
    cleave__stream_played_free(&played);
    return cleave__compare_give(sink, &row, error);
}
