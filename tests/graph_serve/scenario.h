/* Random worlds in which a graph is at work while everything changes: lists, owners, copies, a
 * split, and faults. A function of the seed. */
#ifndef CLEAVE_TESTS_GRAPH_SERVE_SCENARIO_H
#define CLEAVE_TESTS_GRAPH_SERVE_SCENARIO_H

#include "graph/serve/serve.h"
#include "runtime/sim/options.h"

enum { SCENARIO_FAULTS = 24 };

struct scenario {
    struct cleave__graph *graph;
    uint32_t *owner, *source;
    struct cleave__serving serving;
    struct cleave_fault faults[SCENARIO_FAULTS];
};

struct scenario_options {
    uint32_t queries;
    bool faulty;   /* with faults, on sim */
    bool threaded; /* on threads: times are real */
};

/* Never fails; free it. Not to be moved: `serving` points into it. */
void scenario_draw(struct scenario *scenario, uint64_t seed,
                   const struct scenario_options *options);
void scenario_free(struct scenario *scenario);

#endif
