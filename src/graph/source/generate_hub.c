/* A few hubs whom everybody follows: the first `hubs` users. Each user follows `to_hubs` of them
 * and other users besides; drawn by the rule of graphshard lab, hubs first, listed in order. */
#include <stdlib.h>

#include "graph/source/generate.h"
#include "graph/source/standard_random.h"

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum cleave_status check(const struct cleave__generate_options *o,
                                struct cleave_error *error)
{
    if (o->to_hubs > o->degree)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%u of %u edges to hubs: it cannot be more", o->to_hubs, o->degree);
    if (o->hubs == 0 || o->hubs >= o->users)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%u hubs among %u users: must be at least 1 and fewer than users",
                                o->hubs, o->users);
    if (o->to_hubs >= o->hubs || o->degree - o->to_hubs >= o->users - o->hubs)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "a user cannot follow %u of %u hubs and %u of %u others but itself",
                                o->to_hubs, o->hubs, o->degree - o->to_hubs, o->users - o->hubs);
    return CLEAVE_OK;
}

enum cleave_status cleave__draw_hub(const struct cleave__generate_options *o,
                                    struct cleave__drawn *drawn, struct cleave_error *error)
{
    enum cleave_status status = check(o, error);
    if (status)
        return status;
    uint32_t n = o->users;
    uint32_t *target = malloc(((size_t)o->degree + 1) * sizeof *target);
    uint32_t *last = calloc((size_t)n + 1, sizeof *last); /* who chose it last, plus 1 */
    if (!target || !last || !CLEAVE_RESERVE(&drawn->edges.end, (size_t)n * o->degree * 2 + 1))
        status = cleave__drawn_no_memory(error);
    struct cleave__standard_random random;
    cleave__standard_seed(&random, o->seed);
    drawn->users = n;
    for (uint32_t user = 0; user < n && !status; user++) {
        for (uint32_t count = 0; count < o->degree;) {
            bool hub = count < o->to_hubs;
            uint32_t to = (uint32_t)cleave__standard_between(&random, hub ? 0 : o->hubs,
                                                             hub ? o->hubs - 1 : n - 1);
            if (to == user || last[to] == user + 1)
                continue;
            last[to] = user + 1;
            target[count++] = to;
        }
        qsort(target, o->degree, sizeof *target, compare);
        for (uint32_t i = 0; i < o->degree; i++)
            cleave__drawn_add(drawn, user, target[i]); /* there is room */
        status = cleave__drawn_pulse(o, user, n, error);
    }
    free(target);
    free(last);
    return status;
}
