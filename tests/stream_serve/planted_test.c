/* Built with a bug in it (meson.build says which): some world must show it, which the same worlds
 * do not without (faults_test.c). */
#include <inttypes.h>
#include <stdio.h>

#include "stream_serve/scenario.h"

int main(void)
{
    enum { WORLDS = 3000 }; /* from where the bug was seen to show, to be quick */
    for (uint64_t seed = CLEAVE_PLANT_FIRST; seed < CLEAVE_PLANT_FIRST + WORLDS; seed++) {
        struct scenario scenario;
        struct cleave__streamed streamed;
        struct cleave__stream_script_check check;
        char wrong[200];
        scenario_draw(&scenario, seed, &(struct scenario_options){400, seed % 2, false, NULL});
        scenario_run(&scenario, &streamed, &check, wrong);
        cleave__streamed_free(&streamed);
        scenario_free(&scenario);
        if (wrong[0]) {
            printf("seed %" PRIu64 ", found: %s\n", seed, wrong);
            return 0;
        }
    }
    printf("the bug was not found in %d worlds\n", WORLDS);
    return 1;
}
