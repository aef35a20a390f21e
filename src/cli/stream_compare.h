/* What `cleave stream compare` was asked for, and what it has found. */
#ifndef CLEAVE_CLI_STREAM_COMPARE_H
#define CLEAVE_CLI_STREAM_COMPARE_H

#include "cli/stream_play.h"
#include "cli/sweep.h"
#include "report/plot.h"
#include "report/report.h"
#include "stream/compare/calibrate.h"
#include "stream/compare/experiment.h"

enum { CLEAVE_STREAM_PARTS_MAX = 8 };

struct cleave_stream_compare_arguments {
    struct cleave_options common;
    struct cleave_stream_space space;
    struct cleave_stream_made made;
    struct cleave_stream_play_arguments play;
    const char *experiment; /* NULL: none was named */
    const struct cleave__compare_part *parts[CLEAVE_STREAM_PARTS_MAX];
    uint32_t part_count;
    char *sweep; /* as given */
    struct cleave_sweep x;
    const char *plot;
    bool calibrate;                    /* costs are measured first */
    struct cleave__stream_costs costs; /* service: of play, once that is settled */
};

/* The table and the plot of one part. */
struct cleave_stream_compared {
    const struct cleave__compare_part *part;
    struct cleave_report_column columns[CLEAVE__COMPARE_FIGURES + 3];
    enum cleave__compare_figure figures[CLEAVE__COMPARE_FIGURES];
    uint32_t figure_count;
    struct cleave_report report;
    struct cleave_plot plot;
    bool verified;
    char wrong[400];
};

/* Takes the experiment's name off argv, sets its usual workload, parses the rest. */
void cleave__stream_compare_parse(int argc, char **argv,
                                  struct cleave_stream_compare_arguments *arguments);

void cleave__stream_compared_init(struct cleave_stream_compared *compared,
                                  const struct cleave__compare_part *part);
void cleave__stream_compared_free(struct cleave_stream_compared *compared);
/* A sink's row, with the struct cleave_stream_compared as its context. */
bool cleave__stream_compared_row(void *compared, const struct cleave__compare_row *row);
/* Prints what --json, --csv or neither asked for. */
enum cleave_status
cleave__stream_compared_print(const struct cleave_stream_compare_arguments *arguments,
                              const struct cleave_stream_compared *compared,
                              struct cleave_error *error);
enum cleave_status
cleave__stream_costs_print(const struct cleave_stream_compare_arguments *arguments,
                           struct cleave_error *error);
/* Into --plot's file; with several parts, into one for each: FILE-PART.svg. */
enum cleave_status
cleave__stream_compared_draw(const struct cleave_stream_compare_arguments *arguments,
                             struct cleave_stream_compared *compared, struct cleave_error *error);

#endif
