/* A world drawn from a seed: a stream at work while queries come and go, cells move in every kind
 * of operation, evaluators are slow or fail. */
#ifndef CLEAVE_TESTS_STREAM_SCENARIO_H
#define CLEAVE_TESTS_STREAM_SCENARIO_H

#include "stream/oracle/script.h"

enum { SCENARIO_FAULTS = 6, SCENARIO_EVALUATORS = 7 };

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
    struct cleave_fault faults[SCENARIO_FAULTS];
};

void scenario_draw(struct scenario *scenario, uint64_t seed,
                   const struct scenario_options *options);
void scenario_free(struct scenario *scenario);

/* Runs it and holds it against the script; what is wrong into `wrong` [200], empty if nothing is.
 */
void scenario_run(struct scenario *scenario, struct cleave__streamed *streamed,
                  struct cleave__stream_script_check *check, char *wrong);

#endif
