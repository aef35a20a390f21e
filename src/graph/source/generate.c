/* The table of generators, and from what one draws to a graph. */
#include "graph/source/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cleave__generator generators[] = {
    {"communities", "users in equal communities, as in graphshard lab",
     "users, communities, degree, local", cleave__draw_communities},
    {"graphshard", "another name for it", "users, communities, degree, local",
     cleave__draw_communities},
    {"uneven", "communities of given sizes", "sizes, degree, local", cleave__draw_uneven},
    {"hub", "a few users whom everybody follows", "users, degree, hubs, to-hubs", cleave__draw_hub},
    {"hidden", "communities, with ids shuffled and labels withheld",
     "users, communities, degree, local", cleave__draw_hidden},
    {"rmat", "R-MAT: heavy tails, communities within communities", "users, degree",
     cleave__draw_rmat},
    {"lfr", "LFR: power laws of degrees and of community sizes", "users, degree, mixing",
     cleave__draw_lfr},
};

enum { GENERATORS = sizeof generators / sizeof *generators, PULSE_EDGES = 1 << 17 };
#define EDGES_MAX (UINT64_C(1) << 32)

const struct cleave__generator *cleave__graph_generator_at(uint32_t index)
{
    return index < GENERATORS ? &generators[index] : NULL;
}

const struct cleave__generator *cleave__graph_generator_find(const char *name)
{
    for (uint32_t i = 0; i < GENERATORS; i++) {
        if (!strcmp(generators[i].name, name))
            return &generators[i];
    }
    return NULL;
}

bool cleave__drawn_add(struct cleave__drawn *drawn, uint32_t from, uint32_t to)
{
    return CLEAVE_PUSH(&drawn->edges.end, from) && CLEAVE_PUSH(&drawn->edges.end, to);
}

enum cleave_status cleave__drawn_no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to draw a graph");
}

enum cleave_status cleave__drawn_pulse(const struct cleave__generate_options *options,
                                       uint32_t user, uint32_t users, struct cleave_error *error)
{
    const struct cleave_progress *p = options->progress;
    if (!p || user % (1 + PULSE_EDGES / (options->degree + 1)))
        return CLEAVE_OK;
    if (p->report)
        p->report(p->context, "drawing a graph", user, users);
    if (p->stop && *p->stop)
        return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    return CLEAVE_OK;
}

static uint64_t users_of(const struct cleave__generator *generator,
                         const struct cleave__generate_options *options)
{
    uint64_t users = 0;
    if (generator->draw != cleave__draw_uneven)
        return options->users;
    for (uint32_t i = 0; i < options->size_count; i++)
        users += options->sizes[i];
    return users;
}

void cleave__drawn_free(struct cleave__drawn *drawn)
{
    CLEAVE_VECTOR_FREE(&drawn->edges.end);
    free(drawn->community);
    *drawn = (struct cleave__drawn){0};
}

enum cleave_status cleave__graph_draw(const struct cleave__generator *generator,
                                      const struct cleave__generate_options *options,
                                      struct cleave__drawn *drawn, struct cleave_error *error)
{
    struct cleave__drawn fresh = {0};
    enum cleave_status status = CLEAVE_OK;
    if (options->users == 0 || options->users > CLEAVE__USERS_MAX)
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%u users: must be 1 to %u",
                                  options->users, CLEAVE__USERS_MAX);
    uint64_t users = users_of(generator, options);
    if (!status && options->degree > EDGES_MAX / (users + 1))
        status = cleave_error_set(
            error, CLEAVE_BAD_ARGUMENT, "%llu users with %u edges each: more than %llu edges",
            (unsigned long long)users, options->degree, (unsigned long long)EDGES_MAX);
    if (!status)
        status = generator->draw(options, &fresh, error);
    if (status)
        cleave__drawn_free(&fresh);
    else
        *drawn = fresh;
    return status;
}

/* Labels as text: the communities' numbers. False when memory is out. */
static bool name_labels(struct cleave__graph *g)
{
    for (uint32_t c = 0; c < g->labels; c++) {
        char name[16];
        int length = snprintf(name, sizeof name, "%u", c);
        if (cleave__intern_add(&g->label_text, name, (size_t)length) != c)
            return false;
    }
    return true;
}

enum cleave_status cleave__graph_generate(const struct cleave__generator *generator,
                                          const struct cleave__generate_options *options,
                                          struct cleave__graph **out, struct cleave_error *error)
{
    struct cleave__drawn drawn;
    struct cleave__graph *g = NULL;
    enum cleave_status status = cleave__graph_draw(generator, options, &drawn, error);
    if (status)
        return status;
    status = cleave__graph_build(drawn.users, &drawn.edges, false, &g, error);
    if (!status && drawn.community) {
        g->label = drawn.community;
        g->labels = drawn.communities;
        drawn.community = NULL;
        if (!name_labels(g))
            status = cleave__drawn_no_memory(error);
    }
    cleave__drawn_free(&drawn);
    if (status)
        cleave__graph_free(g);
    else
        *out = g;
    return status;
}
