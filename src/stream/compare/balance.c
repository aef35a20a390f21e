/* What balancing is good for, and what it takes (Figure 13). The first partitions are made for the
 * workload as it is; then all coordinates are multiplied by a scale, so that a part of the space
 * has everything. */
#include "stream/compare/experiment.h"

static const double scale_x[] = {0.4, 0.5, 0.6, 0.7};
static const double bytes_x[] = {32, 64, 128, 256};

static enum cleave_status run_scale(const struct cleave__compare_setting *setting,
                                    const struct cleave__compare_sink *sink,
                                    struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_options made = *setting->play.made;
        struct cleave__stream_play fixed = setting->play;
        made.scale *= setting->x[i];
        fixed.planned = setting->play.made;
        fixed.made = &made;
        struct cleave__stream_play adaptive = fixed;
        fixed.streaming.balance = CLEAVE__BALANCE_STATIC;
        fixed.spare = 0;
        adaptive.streaming.balance = CLEAVE__BALANCE_ADAPTIVE;
        adaptive.spare = adaptive.streaming.evaluators > 1;
        status = cleave__compare_play(&adaptive, "adaptive", setting->x[i], sink, error);
        if (!status)
            status = cleave__compare_play(&fixed, "static", setting->x[i], sink, error);
    }
    return status;
}

static enum cleave_status run_bytes(const struct cleave__compare_setting *setting,
                                    const struct cleave__compare_sink *sink,
                                    struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_options made = *setting->play.made;
        struct cleave__stream_play sums = setting->play;
        made.scale *= 0.5;
        sums.planned = setting->play.made;
        sums.made = &made;
        sums.streaming.balance = CLEAVE__BALANCE_ADAPTIVE;
        sums.grid_side = (uint32_t)setting->x[i];
        sums.objects /= 4; /* looks enough */
        sums.spare = sums.streaming.evaluators > 1;
        struct cleave__stream_play cells = sums;
        cells.streaming.centralized = true;
        status = cleave__compare_play(&sums, "decentralized", setting->x[i], sink, error);
        if (!status)
            status = cleave__compare_play(&cells, "centralized", setting->x[i], sink, error);
    }
    return status;
}

const struct cleave__compare_part cleave__compare_scale = {
    .experiment = "balance",
    .name = "scale",
    .figure = "13a",
    .summary = "everything in a part of the space: adaptive and static partitions",
    .x_key = "scale",
    .x_title = "scale factor",
    .x_low = 0.001,
    .x_high = 1,
    .x = scale_x,
    .x_count = sizeof scale_x / sizeof *scale_x,
    .figures = CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(P50_MS) |
               CLEAVE__COMPARE_BIT(P99_MS) | CLEAVE__COMPARE_BIT(BUSIEST) |
               CLEAVE__COMPARE_BIT(REBALANCES) | CLEAVE__COMPARE_BIT(MOVED_QUERIES),
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_scale};

const struct cleave__compare_part cleave__compare_bytes = {
    .experiment = "balance",
    .name = "bytes",
    .figure = "13b",
    .summary = "what evaluators tell the balancer: sums, or figures of every cell (at half scale)",
    .x_key = "grid",
    .x_title = "cells in a row and in a column",
    .x_whole = true,
    .x_low = 2,
    .x_high = CLEAVE__GRID_SIDE_MOST,
    .x = bytes_x,
    .x_count = sizeof bytes_x / sizeof *bytes_x,
    .figures = CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(LOAD_BYTES) |
               CLEAVE__COMPARE_BIT(LOAD_ROUNDS) | CLEAVE__COMPARE_BIT(LOAD_BYTES_A_ROUND) |
               CLEAVE__COMPARE_BIT(BUSIEST) | CLEAVE__COMPARE_BIT(REBALANCES),
    .y = CLEAVE__COMPARE_LOAD_BYTES_A_ROUND,
    .run = run_bytes};
