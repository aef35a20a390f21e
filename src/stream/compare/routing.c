/* How objects find their evaluators (Figures 8 and 10a): the A-Grid with textual summaries beside
 * uniform partitions, the hash of keywords, and native broadcast, which has the routers' machines
 * as evaluators too and matches by trying every query. */
#include "stream/compare/experiment.h"

enum { PAIRS_MOST = 200000000 };

static const double ways_x[] = {4, 8, 16, 32};
static const double band_x[] = {0, 0.25, 0.5, 0.75, 0.9, 1};
static const double routers_x[] = {1, 3, 5, 7, 9, 11, 13, 15};

/* As many objects as can be tried with every query in some seconds; at least a message for each
 * evaluator. */
static uint64_t objects_to_scan(const struct cleave__stream_play *play)
{
    uint64_t most = play->queries ? PAIRS_MOST / play->queries : play->objects;
    uint64_t least = 256 * (uint64_t)play->streaming.evaluators;
    most = most > least ? most : least;
    return most < play->objects ? most : play->objects;
}

static enum cleave_status run_ways(const struct cleave__compare_setting *setting,
                                   const struct cleave__compare_sink *sink,
                                   struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_play agrid = setting->play;
        double x = setting->x[i];
        agrid.streaming.evaluators = (uint32_t)x;
        struct cleave__stream_play uniform = agrid, text = agrid, native = agrid;
        uniform.first = CLEAVE__FIRST_UNIFORM;
        text.streaming.routing = CLEAVE__ROUTING_TEXT;
        native.streaming.routing = CLEAVE__ROUTING_BROADCAST;
        native.streaming.evaluators += native.streaming.routers;
        cleave__compare_use(&native, &setting->costs, &cleave__matcher_scan);
        native.objects = objects_to_scan(&native);
        status = cleave__compare_play(&agrid, "agrid", x, sink, error);
        if (!status)
            status = cleave__compare_play(&uniform, "uniform", x, sink, error);
        if (!status)
            status = cleave__compare_play(&text, "text", x, sink, error);
        if (!status)
            status = cleave__compare_play(&native, "broadcast", x, sink, error);
    }
    return status;
}

static enum cleave_status run_band(const struct cleave__compare_setting *setting,
                                   const struct cleave__compare_sink *sink,
                                   struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_options made = *setting->play.made;
        struct cleave__stream_play both = setting->play;
        made.band = setting->x[i];
        both.made = &made;
        struct cleave__stream_play spatial = both;
        spatial.streaming.summary = CLEAVE__SUMMARY_NONE;
        status = cleave__compare_play(&both, "place and words", made.band, sink, error);
        if (!status)
            status = cleave__compare_play(&spatial, "place alone", made.band, sink, error);
    }
    return status;
}

static enum cleave_status run_routers(const struct cleave__compare_setting *setting,
                                      const struct cleave__compare_sink *sink,
                                      struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < setting->x_count && !status; i++) {
        struct cleave__stream_play play = setting->play;
        play.streaming.routers = (uint32_t)setting->x[i];
        status = cleave__compare_play(&play, "agrid", setting->x[i], sink, error);
    }
    return status;
}

const struct cleave__compare_part cleave__compare_ways = {
    .experiment = "routing",
    .name = "ways",
    .figure = "8a, 8b",
    .summary = "A-Grid, uniform partitions, hash of keywords, native broadcast",
    .x_key = "evaluators",
    .x_title = "evaluators",
    .x_whole = true,
    .x_low = 1,
    .x_high = 1000,
    .x = ways_x,
    .x_count = sizeof ways_x / sizeof *ways_x,
    .figures = CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(QUERIES_PER_S) |
               CLEAVE__COMPARE_BIT(P50_MS) | CLEAVE__COMPARE_BIT(P99_MS) |
               CLEAVE__COMPARE_BIT(BUSIEST) | CLEAVE__COMPARE_BIT(BUSIEST_LOAD) |
               CLEAVE__COMPARE_BIT(PRUNED) | CLEAVE__COMPARE_BIT(CANDIDATES) |
               CLEAVE__COMPARE_BIT(MESSAGES) | CLEAVE__COMPARE_BIT(BYTES),
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_ways};

const struct cleave__compare_part cleave__compare_band = {
    .experiment = "routing",
    .name = "band",
    .figure = "8c",
    .summary = "how frequent the queries' keywords are, from the rarest words (0) on",
    .x_key = "band",
    .x_title = "how frequent queries' keywords are",
    .x_low = 0,
    .x_high = 1,
    .x = band_x,
    .x_count = sizeof band_x / sizeof *band_x,
    .figures = CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(PRUNED) |
               CLEAVE__COMPARE_BIT(CANDIDATES) | CLEAVE__COMPARE_BIT(BUSIEST_LOAD) |
               CLEAVE__COMPARE_BIT(MESSAGES) | CLEAVE__COMPARE_BIT(MATCHES),
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_band};

const struct cleave__compare_part cleave__compare_routers = {
    .experiment = "routing",
    .name = "routers",
    .figure = "10a",
    .summary = "how many routers keep the evaluators busy",
    .x_key = "routers",
    .x_title = "routers",
    .x_whole = true,
    .x_low = 1,
    .x_high = 1000,
    .x = routers_x,
    .x_count = sizeof routers_x / sizeof *routers_x,
    .figures = CLEAVE__COMPARE_BIT(OBJECTS_PER_S) | CLEAVE__COMPARE_BIT(QUERIES_PER_S) |
               CLEAVE__COMPARE_BIT(P50_MS) | CLEAVE__COMPARE_BIT(P99_MS) |
               CLEAVE__COMPARE_BIT(MESSAGES),
    .y = CLEAVE__COMPARE_OBJECTS_PER_S,
    .run = run_routers};
