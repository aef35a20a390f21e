/* R-MAT (Chakrabarti, Zhan and Faloutsos 2004): an edge falls into a quarter of the adjacency
 * matrix, of that into a quarter, and so on, with the probabilities .57 .19 .19 .05 of Graph500.
 * Where users are no power of two, edges past them are drawn again. Repeated edges and loops are
 * drawn too, and dropped when the graph is built. */
#include "base/random.h"
#include "graph/source/generate.h"

/* In parts of 100. */
enum { UPPER_LEFT = 57, UPPER_RIGHT = 19, LOWER_LEFT = 19 };

static void draw_edge(struct cleave_random *random, uint32_t bits, uint32_t *from, uint32_t *to)
{
    *from = *to = 0;
    for (uint32_t b = 0; b < bits; b++) {
        uint64_t part = cleave__random_below(random, 100);
        bool lower = part >= UPPER_LEFT + UPPER_RIGHT;
        bool right = lower ? part >= UPPER_LEFT + UPPER_RIGHT + LOWER_LEFT : part >= UPPER_LEFT;
        *from = *from * 2 + lower;
        *to = *to * 2 + right;
    }
}

enum cleave_status cleave__draw_rmat(const struct cleave__generate_options *options,
                                     struct cleave__drawn *drawn, struct cleave_error *error)
{
    uint32_t n = options->users, bits = 0;
    struct cleave_random random;
    cleave__random_seed(&random, options->seed);
    while ((UINT64_C(1) << bits) < n)
        bits++;
    drawn->users = n;
    for (uint32_t user = 0; user < n; user++) {
        enum cleave_status status = cleave__drawn_pulse(options, user, n, error);
        if (status)
            return status;
        for (uint32_t i = 0; i < options->degree; i++) {
            uint32_t from, to;
            do {
                draw_edge(&random, bits, &from, &to);
            } while (from >= n || to >= n);
            if (!cleave__drawn_add(drawn, from, to))
                return cleave__drawn_no_memory(error);
        }
    }
    return CLEAVE_OK;
}
