/* More evaluators (Figures 11c and 12): with queries in proportion, and for the same queries. */
#include "stream/compare/experiment.h"

static const double together_x[] = {4, 8, 12, 16, 20, 25};
static const double evaluators_x[] = {4, 9, 16, 25, 36, 64, 100};

static enum cleave_status run(const struct cleave__compare_setting *setting, bool together,
                              const struct cleave__compare_sink *sink, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_play play = setting->play;
        play.streaming.evaluators = (uint32_t)setting->x[i];
        /* The workload's queries are for 25 evaluators: the paper's 5 million are, its 1 million
         * for 4. */
        if (together)
            play.queries = play.queries * play.streaming.evaluators / 25;
        status = cleave__compare_play(&play, "agrid", setting->x[i], sink, error);
    }
    return status;
}

static enum cleave_status run_together(const struct cleave__compare_setting *setting,
                                       const struct cleave__compare_sink *sink,
                                       struct cleave_error *error)
{
    return run(setting, true, sink, error);
}

static enum cleave_status run_evaluators(const struct cleave__compare_setting *setting,
                                         const struct cleave__compare_sink *sink,
                                         struct cleave_error *error)
{
    return run(setting, false, sink, error);
}

#define FIGURES                                                                                    \
    (CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(QUERIES_PER_S) |                     \
     CLEAVE__COMPARE_BIT(P50_MS) | CLEAVE__COMPARE_BIT(P99_MS) | CLEAVE__COMPARE_BIT(BUSIEST) |    \
     CLEAVE__COMPARE_BIT(MESSAGES))

const struct cleave__compare_part cleave__compare_together = {
    .experiment = "scale",
    .name = "together",
    .figure = "11c, 12a",
    .summary = "evaluators, and queries in proportion (--generate tells those of 25)",
    .x_key = "evaluators",
    .x_title = "evaluators, with queries in proportion",
    .x_whole = true,
    .x_low = 1,
    .x_high = 1000,
    .x = together_x,
    .x_count = sizeof together_x / sizeof *together_x,
    .figures = FIGURES,
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_together};

const struct cleave__compare_part cleave__compare_evaluators = {
    .experiment = "scale",
    .name = "evaluators",
    .figure = "12b",
    .summary = "evaluators, for the same queries",
    .x_key = "evaluators",
    .x_title = "evaluators",
    .x_whole = true,
    .x_low = 1,
    .x_high = 1000,
    .x = evaluators_x,
    .x_count = sizeof evaluators_x / sizeof *evaluators_x,
    .figures = FIGURES,
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_evaluators};
