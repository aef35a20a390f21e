/* What routers tell each other of queries (Figure 10b): new keywords only (forward), every query's
 * (broadcast), nothing (none: objects go by place alone). As in the paper, a query comes alone
 * (streaming.batch of 1, unless told otherwise): in a batch of many there is always something new.
 */
#include "stream/compare/experiment.h"

static const double queries_x[] = {20000, 100000, 1000000};

static enum cleave_status run(const struct cleave__compare_setting *setting,
                              const struct cleave__compare_sink *sink, struct cleave_error *error)
{
    static const char *const names[] = {"forward", "broadcast", "none"};
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count; i++) {
        for (uint32_t s = 0; s < 3 && !status; s++) {
            struct cleave__stream_play play = setting->play;
            play.queries = (uint64_t)setting->x[i];
            play.streaming.summary = (enum cleave__streaming_summary)s;
            status = cleave__compare_play(&play, names[s], setting->x[i], sink, error);
        }
    }
    return status;
}

const struct cleave__compare_part cleave__compare_summary = {
    .experiment = "summary",
    .name = "queries",
    .figure = "10b",
    .summary = "keywords forwarded, broadcast, or not told at all",
    .x_key = "queries",
    .x_title = "queries",
    .x_whole = true,
    .x_low = 1,
    .x_high = 100000000,
    .x = queries_x,
    .x_count = sizeof queries_x / sizeof *queries_x,
    .figures = CLEAVE__COMPARE_BIT(QUERIES_PER_S) | CLEAVE__COMPARE_BIT(KEYWORD_MESSAGES) |
               CLEAVE__COMPARE_BIT(KEYWORDS) | CLEAVE__COMPARE_BIT(PRUNED) |
               CLEAVE__COMPARE_BIT(MESSAGES) | CLEAVE__COMPARE_BIT(BYTES),
    .y = CLEAVE__COMPARE_KEYWORD_MESSAGES,
    .run = run};
