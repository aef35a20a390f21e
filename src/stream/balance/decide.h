/* Whether to rebalance, and how: the operation that lowers the greatest load by the most, for what
 * its transfer costs.
 *
 * From the costliest evaluator X (cost c), if anything helps it, else from the next, of the first
 * 8:
 *
 *   split             one half goes to an idle evaluator.       gain c - max(halves)
 *   split and merge   Z gives all it has to Y beside it and,    gain c - max(halves, Y + Z)
 *                     idle now, takes one half of X
 *   horizontal shift  rows go over a border that X and Y wholly share: c - (c + Y) / 2, or, if X's
 *   vertical shift    columns do so     outermost line alone is more than that, c - (Y + line);
 *                     an estimate, X finds the line
 *   corner shift      X's strip beside a smaller neighbour Y    gain c - max(c - strip, Y + strip)
 *                     makes Y longer
 *
 * The overhead is beta times the queries to transfer; in a shift as if X's lay as its cost does.
 * Done is what has the greatest gain - overhead, if that is above 0. Every operation leaves
 * rectangles that tile the grid.
 *
 * Evaluators send sums only (cleave__balance_report): they have the figures, and find the line.
 * central.h does the same from figures of every cell, to compare what is sent.
 *
 * Idea: Tornado's decentralized load balancing; the outermost lines are ours. Pure functions. */
#ifndef CLEAVE_STREAM_BALANCE_DECIDE_H
#define CLEAVE_STREAM_BALANCE_DECIDE_H

#include "base/bytes.h"
#include "stream/balance/aggregates.h"

enum { CLEAVE__CORNERS_MOST = 8 };

/* What an evaluator says of itself. */
struct cleave__balance_report {
    struct cleave__cells cells; /* its partition; idle: CLEAVE__NO_CELLS and all else 0 */
    uint64_t cost, queries;
    bool can_split;
    struct cleave__balance_part split; /* the half that would go */
    uint32_t corner_count;
    struct {
        uint32_t neighbour;
        struct cleave__balance_part part;
    } corners[CLEAVE__CORNERS_MOST];
    /* By side: cleave__aggregates_edge, so that no shift is asked for that cannot help. */
    uint64_t edge[CLEAVE__SIDES];
    /* 1 << side for each side where a shift was asked for and nothing was found: not to be asked
     * again. The evaluator forgets these when its costs decay or its partition changes. */
    uint32_t refused;
};

/* X(name, text) */
#define CLEAVE_BALANCE_LIST(X)                                                                     \
    X(NONE, "none")                                                                                \
    X(SPLIT, "split")                                                                              \
    X(SPLIT_MERGE, "split-merge")                                                                  \
    X(HORIZONTAL, "horizontal")                                                                    \
    X(VERTICAL, "vertical")                                                                        \
    X(CORNER, "corner")

enum cleave__balance_kind {
#define X(name, text) CLEAVE__BALANCE_##name,
    CLEAVE_BALANCE_LIST(X)
#undef X
        CLEAVE__BALANCE_KINDS
};

struct cleave__balance_step {
    uint32_t from, to;
    struct cleave__cells cells;
};

struct cleave__balance_decision {
    enum cleave__balance_kind kind;
    double gain, overhead;
    /* One after the other. A shift has one step, whose cells are CLEAVE__NO_CELLS: evaluator `from`
     * finds them with cleave__aggregates_shift(..., side, neighbour_cost, ...). */
    uint32_t step_count;
    struct cleave__balance_step steps[2];
    enum cleave__side side;
    uint64_t neighbour_cost;
};

struct cleave__balance_options {
    double beta;    /* cost of transferring one query; 0 or more */
    uint32_t spare; /* so many evaluators stay idle: a split alone needs one more */
    uint32_t kinds; /* 1 << kind for each that is allowed; 0: all */
};

/* Of evaluator `self`, where `partitions` [evaluators] are everybody's. O(its columns + rows +
 * evaluators). */
void cleave__balance_report_make(const struct cleave__aggregates *aggregates, uint32_t self,
                                 const struct cleave__cells *partitions, uint32_t evaluators,
                                 struct cleave__balance_report *out);
/* As bytes; a report that is read makes sense for a grid of columns x rows, or fails. */
void cleave__balance_report_write(const struct cleave__balance_report *report,
                                  struct cleave_writer *writer);
bool cleave__balance_report_read(struct cleave_reader *reader, uint32_t columns, uint32_t rows,
                                 struct cleave__balance_report *out);

/* Reports [evaluators] of one moment: their cells tile the grid. O(evaluators^2). */
struct cleave__balance_decision
cleave__balance_decide(const struct cleave__balance_report *reports, uint32_t evaluators,
                       const struct cleave__balance_options *options);

/* "split-merge" and so on. */
const char *cleave__balance_kind_name(enum cleave__balance_kind kind);

#endif
