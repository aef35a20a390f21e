/* Communities that must be found: the graph of `communities` with its users renumbered at random
 * and nobody told who belongs where. */
#include <stdlib.h>

#include "base/random.h"
#include "graph/source/generate.h"

enum cleave_status cleave__draw_hidden(const struct cleave__generate_options *options,
                                       struct cleave__drawn *drawn, struct cleave_error *error)
{
    enum cleave_status status = cleave__draw_communities(options, drawn, error);
    if (status)
        return status;
    uint32_t *name = malloc(((size_t)drawn->users + 1) * sizeof *name);
    if (!name)
        return cleave__drawn_no_memory(error);
    for (uint32_t v = 0; v < drawn->users; v++)
        name[v] = v;
    struct cleave_random random;
    cleave__random_seed(&random, options->seed);
    cleave__random_shuffle(&random, name, drawn->users);
    for (size_t i = 0; i < drawn->edges.end.count; i++)
        drawn->edges.end.data[i] = name[drawn->edges.end.data[i]];
    free(name);
    free(drawn->community);
    drawn->community = NULL;
    drawn->communities = 0;
    return CLEAVE_OK;
}
