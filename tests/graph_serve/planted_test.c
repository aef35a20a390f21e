/* Built with a bug in it (meson.build says which): some world must show a wrong answer, which the
 * same worlds do not without. */
#include <inttypes.h>
#include <stdio.h>

#include "graph_serve/scenario.h"

int main(void)
{
    enum { WORLDS = 200 };
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct scenario scenario;
        struct cleave__served served;
        struct cleave_error error;
        scenario_draw(&scenario, seed, &(struct scenario_options){120, seed % 2, false});
        enum cleave_status status =
            cleave__graph_serve(scenario.graph, &scenario.serving, &served, &error);
        scenario_free(&scenario);
        if (status) {
            printf("seed %" PRIu64 ": %s\n", seed, error.message);
            return 1;
        }
        if (!served.verified) {
            printf("seed %" PRIu64 ", found: %s\n", seed, served.wrong);
            return 0;
        }
    }
    printf("the bug was not found in %d worlds\n", WORLDS);
    return 1;
}
