/* Graphshard lab's graph: communities of consecutive users; each user follows `local` others of its
 * own community and the rest of its `degree` elsewhere. Drawn by the rule of graphshard lab, draw
 * for draw, so that its figures can be repeated: targets are drawn until enough differ, first those
 * within, then those without. `communities` makes equal sizes and lists a user's targets in order;
 * `uneven` takes sizes and keeps the order of drawing, as the lab does. */
#include <stdlib.h>

#include "graph/source/generate.h"
#include "graph/source/standard_random.h"

static enum cleave_status check(const struct cleave__generate_options *o, const uint32_t *size,
                                uint32_t communities, uint32_t users, struct cleave_error *error)
{
    if (o->local > o->degree)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "local is %u of a degree of %u: it cannot be more", o->local,
                                o->degree);
    for (uint32_t c = 0; c < communities; c++) {
        if (size[c] == 0)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "community %u has no users: give more users, or fewer "
                                    "communities",
                                    c);
        if (o->local >= size[c])
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "community %u has %u users: none can follow %u others of them",
                                    c, size[c], o->local);
        if (o->degree - o->local > users - size[c])
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "outside community %u are %u users: none can follow %u of them",
                                    c, users - size[c], o->degree - o->local);
    }
    return CLEAVE_OK;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Draws from [low, high] until `until` of target[] are chosen; `not_low` to `not_high` and what was
 * chosen before are drawn again. `last` [users]: the user who chose this target last, plus 1. */
static uint32_t choose(struct cleave__standard_random *random, uint32_t user, uint32_t low,
                       uint32_t high, uint32_t not_low, uint32_t not_high, uint32_t *target,
                       uint32_t count, uint32_t until, uint32_t *last)
{
    while (count < until) {
        /* The lab numbers users from 1; a shift of both bounds draws the same. */
        uint32_t to = (uint32_t)cleave__standard_between(random, low, high);
        if (to == user || (to >= not_low && to <= not_high) || last[to] == user + 1)
            continue;
        last[to] = user + 1;
        target[count++] = to;
    }
    return count;
}

static enum cleave_status draw(const struct cleave__generate_options *o, const uint32_t *size,
                               uint32_t communities, bool in_order, struct cleave__drawn *drawn,
                               struct cleave_error *error)
{
    uint64_t users = 0;
    for (uint32_t c = 0; c < communities; c++)
        users += size[c];
    if (users > CLEAVE__USERS_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "more than %u users",
                                CLEAVE__USERS_MAX);
    uint32_t n = (uint32_t)users;
    enum cleave_status status = check(o, size, communities, n, error);
    if (status)
        return status;
    uint32_t *target = malloc(((size_t)o->degree + 1) * sizeof *target);
    uint32_t *last = calloc((size_t)n + 1, sizeof *last);
    drawn->community = malloc(((size_t)n + 1) * sizeof *drawn->community);
    if (!target || !last || !drawn->community ||
        !CLEAVE_RESERVE(&drawn->edges.end, (size_t)n * o->degree * 2 + 1))
        status = cleave__drawn_no_memory(error);
    struct cleave__standard_random random;
    cleave__standard_seed(&random, o->seed);
    drawn->users = n;
    drawn->communities = communities;
    for (uint32_t c = 0, first = 0; c < communities && !status; first += size[c++]) {
        uint32_t end = first + size[c] - 1;
        for (uint32_t user = first; user <= end && !status; user++) {
            uint32_t count = choose(&random, user, first, end, UINT32_MAX, UINT32_MAX, target, 0,
                                    o->local, last);
            choose(&random, user, 0, n - 1, first, end, target, count, o->degree, last);
            if (in_order)
                qsort(target, o->degree, sizeof *target, compare);
            drawn->community[user] = c;
            for (uint32_t i = 0; i < o->degree; i++)
                cleave__drawn_add(drawn, user, target[i]); /* there is room */
            status = cleave__drawn_pulse(o, user, n, error);
        }
    }
    free(target);
    free(last);
    return status;
}

enum cleave_status cleave__draw_communities(const struct cleave__generate_options *options,
                                            struct cleave__drawn *drawn, struct cleave_error *error)
{
    uint32_t count = options->communities;
    if (count == 0 || count > options->users)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%u communities of %u users: must be 1 to the number of users",
                                count, options->users);
    uint32_t *size = malloc(count * sizeof *size);
    if (!size)
        return cleave__drawn_no_memory(error);
    for (uint32_t c = 0; c < count; c++)
        size[c] = options->users / count + (c < options->users % count);
    enum cleave_status status = draw(options, size, count, true, drawn, error);
    free(size);
    return status;
}

enum cleave_status cleave__draw_uneven(const struct cleave__generate_options *options,
                                       struct cleave__drawn *drawn, struct cleave_error *error)
{
    if (options->size_count == 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "uneven communities of which sizes? Give them");
    return draw(options, options->sizes, options->size_count, false, drawn, error);
}
