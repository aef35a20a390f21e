/* A world drawn from a seed: a stream at work while queries come and go, cells move in every kind
 * of operation, evaluators are slow or fail.
 *
 * Every other world, drawn from a second source, is odd: queries wider than everything or with half
 * of all words, filters, ends within a moment, few ids that come again and again, many routers, a
 * grid of one row, moves without a pause, messages that are very late together with faults,
 * machines of routers and of the sink that hold messages.
 *
 * Every third is sharp: few queries, of few words and at least one, so that summaries keep many
 * objects away; routers that crash often and briefly. */
#ifndef CLEAVE_TESTS_STREAM_SCENARIO_H
#define CLEAVE_TESTS_STREAM_SCENARIO_H

#include "base/random.h"
#include "stream/oracle/script.h"

enum {
    SCENARIO_FAULTS = 6,
    SCENARIO_MORE_FAULTS = 3,
    SCENARIO_CRASHES = 16,
    SCENARIO_EVALUATORS = 7
};

struct scenario_options {
    uint32_t items;
    bool faulty;                               /* crashes, losses, partitions, slowness */
    bool threaded;                             /* on the threads transport */
    const struct cleave__matcher_ops *matcher; /* NULL: one or another */
};

struct scenario {
    struct cleave__stream_script script;
    struct cleave__streaming streaming;
    struct cleave__space space;
    struct cleave__cells cells[SCENARIO_EVALUATORS];
    struct cleave_fault faults[SCENARIO_FAULTS + SCENARIO_MORE_FAULTS + SCENARIO_CRASHES];
    struct scenario_odd {
        struct cleave_random random;
        struct cleave_random sharply;
        bool world, wide, wordy, filters, brief, late, sharp;
        uint32_t ids; /* 0: as usual */
    } odd;
};

void scenario_draw(struct scenario *scenario, uint64_t seed,
                   const struct scenario_options *options);
void scenario_free(struct scenario *scenario);

/* Runs it and holds it against the script; what is wrong into `wrong` [200], empty if nothing is.
 */
void scenario_run(struct scenario *scenario, struct cleave__streamed *streamed,
                  struct cleave__stream_script_check *check, char *wrong);

#endif
