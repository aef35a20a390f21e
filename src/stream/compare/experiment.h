/* The comparisons behind `cleave stream compare`: Tornado's experiments (its Figures 8 to 13), each
 * in *parts*, one for a figure. A part runs its ways over the values of one thing that is varied
 * (`x`), and gives a row for each run: figures by number, those that it has.
 *
 * Every row's answer is held against another one of the same run (the unsharded matcher's, another
 * locator's, another matcher's); a row with a wrong one says so and is no error. What is timed here
 * and not on sim says so in its part. Rows borrow nothing. */
#ifndef CLEAVE_STREAM_COMPARE_EXPERIMENT_H
#define CLEAVE_STREAM_COMPARE_EXPERIMENT_H

#include "stream/compare/calibrate.h"

/* X(name, key, title, decimals, scale): as a column of a report */
#define CLEAVE_COMPARE_LIST(X)                                                                     \
    X(OBJECTS_PER_S, "objects_per_s", "objects/s", 0, 1)                                           \
    X(QUERIES_PER_S, "queries_per_s", "queries/s", 0, 1)                                           \
    X(P50_MS, "p50_ms", "p50 ms", 3, 1)                                                            \
    X(P99_MS, "p99_ms", "p99 ms", 3, 1)                                                            \
    X(BUSIEST, "busiest", "busiest", 2, 1)                                                         \
    X(BUSIEST_LOAD, "busiest_load", "its load", 0, 1)                                              \
    X(PRUNED, "pruned", "pruned %", 1, 100)                                                        \
    X(CANDIDATES, "candidates_per_object", "candidates", 3, 1)                                     \
    X(MESSAGES, "messages", "messages", 0, 1)                                                      \
    X(BYTES, "bytes", NULL, 0, 1)                                                                  \
    X(KEYWORD_MESSAGES, "keyword_messages", "keyword messages", 0, 1)                              \
    X(KEYWORDS, "keywords", "keywords", 0, 1)                                                      \
    X(REBALANCES, "rebalances", "moves", 0, 1)                                                     \
    X(MOVED_QUERIES, "moved_queries", "queries moved", 0, 1)                                       \
    X(LOAD_BYTES, "load_bytes", "load bytes", 0, 1)                                                \
    X(LOAD_ROUNDS, "load_rounds", "looks", 0, 1)                                                   \
    X(LOAD_BYTES_A_ROUND, "load_bytes_a_look", "bytes a look", 0, 1)                               \
    X(NS, "ns", "ns", 1, 1)                                                                        \
    X(MET, "evaluators_met", "evaluators met", 1, 1)                                               \
    X(BYTES_A_QUERY, "bytes_a_query", "bytes a query", 0, 1)                                       \
    X(MATCHES, "matches", "matches", 0, 1)

enum cleave__compare_figure {
#define X(name, key, title, decimals, scale) CLEAVE__COMPARE_##name,
    CLEAVE_COMPARE_LIST(X)
#undef X
        CLEAVE__COMPARE_FIGURES
};

/* Figures that a part has, as bits. */
#define CLEAVE__COMPARE_BIT(name) (UINT32_C(1) << CLEAVE__COMPARE_##name)

struct cleave__compare_row {
    const char *way; /* static */
    double x;
    double value[CLEAVE__COMPARE_FIGURES]; /* NaN: none */
    bool verified;
    char wrong[200];
};

struct cleave__compare_setting {
    struct cleave__stream_play play;   /* made, objects and queries set; the rest as it is to be */
    struct cleave__stream_costs costs; /* told to sim, by matcher */
    const double *x;                   /* [x_count] */
    uint32_t x_count;
};

/* A false return ends the part: memory is out. */
struct cleave__compare_sink {
    bool (*row)(void *context, const struct cleave__compare_row *row);
    void *context;
};

struct cleave__compare_part {
    const char *experiment, *name;
    const char *figure; /* of the seed */
    const char *summary, *x_key, *x_title;
    bool x_whole;         /* x is a whole number */
    double x_low, x_high; /* that make sense */
    const double *x;      /* [x_count]: the usual ones */
    uint32_t x_count;
    uint32_t figures; /* bits */
    enum cleave__compare_figure y;
    bool timed; /* on this machine: other figures each time */
    enum cleave_status (*run)(const struct cleave__compare_setting *setting,
                              const struct cleave__compare_sink *sink, struct cleave_error *error);
};

/* All parts, in the order of the figures, ended by NULL. */
extern const struct cleave__compare_part *const cleave__compare_parts[];

extern const struct cleave__compare_part cleave__compare_ways, cleave__compare_band,
    cleave__compare_points, cleave__compare_ranges, cleave__compare_routers,
    cleave__compare_summary, cleave__compare_range, cleave__compare_words, cleave__compare_together,
    cleave__compare_evaluators, cleave__compare_scale, cleave__compare_bytes;

/* Has a run use a matcher, and sim know its costs. */
void cleave__compare_use(struct cleave__stream_play *play, const struct cleave__stream_costs *costs,
                         const struct cleave__matcher_ops *matcher);
/* All figures NaN. */
void cleave__compare_row_init(struct cleave__compare_row *row, const char *way, double x);
/* Plays and gives the row of it. */
enum cleave_status cleave__compare_play(const struct cleave__stream_play *play, const char *way,
                                        double x, const struct cleave__compare_sink *sink,
                                        struct cleave_error *error);
enum cleave_status cleave__compare_give(const struct cleave__compare_sink *sink,
                                        const struct cleave__compare_row *row,
                                        struct cleave_error *error);

#endif
