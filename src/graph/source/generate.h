/* Graphs made up, the same for the same options and seed on every machine. One generator a file;
 * generate.c has the table. */
#ifndef CLEAVE_GRAPH_SOURCE_GENERATE_H
#define CLEAVE_GRAPH_SOURCE_GENERATE_H

#include "cleave/progress.h"
#include "graph/source/graph.h"

enum { CLEAVE__SIZES_MAX = 1024 };

struct cleave__generate_options {
    uint32_t users, communities;
    uint32_t degree;                               /* edges a user has; a mean for lfr and rmat */
    uint32_t local;                                /* of these, within the user's community */
    uint32_t hubs;                                 /* users that many follow */
    uint32_t to_hubs;                              /* of a user's edges, those to hubs */
    uint32_t sizes[CLEAVE__SIZES_MAX], size_count; /* of communities, for uneven */
    double mixing; /* lfr: share of edges that leave the community */
    uint64_t seed;
    const struct cleave_progress *progress; /* NULL: silent, not stoppable */
};

/* What a generator draws: edges in the order drawn, and who belongs where. */
struct cleave__drawn {
    uint32_t users;
    struct cleave__edges edges;
    uint32_t *community; /* [users], malloc'd; NULL: none, or withheld */
    uint32_t communities;
};

struct cleave__generator {
    const char *name, *summary, *uses; /* uses: the options it looks at, for people */
    enum cleave_status (*draw)(const struct cleave__generate_options *options,
                               struct cleave__drawn *drawn, struct cleave_error *error);
};

const struct cleave__generator *cleave__graph_generator_at(uint32_t index); /* NULL past the last */
const struct cleave__generator *cleave__graph_generator_find(const char *name);

/* Draws. CLEAVE_BAD_ARGUMENT when the options cannot be met, with what to change. Frees what it
 * drew on error; else free with cleave__drawn_free. O(edges) expected. */
enum cleave_status cleave__graph_draw(const struct cleave__generator *generator,
                                      const struct cleave__generate_options *options,
                                      struct cleave__drawn *drawn, struct cleave_error *error);
void cleave__drawn_free(struct cleave__drawn *drawn);
/* Draws and builds: ids are 1, 2, ...; labels are the communities' numbers from 0. */
enum cleave_status cleave__graph_generate(const struct cleave__generator *generator,
                                          const struct cleave__generate_options *options,
                                          struct cleave__graph **out, struct cleave_error *error);

/* The generators; `drawn` is all zeroes, and freed by the caller whatever comes. */
typedef enum cleave_status cleave__graph_drawer(const struct cleave__generate_options *options,
                                                struct cleave__drawn *drawn,
                                                struct cleave_error *error);
cleave__graph_drawer cleave__draw_communities, cleave__draw_uneven, cleave__draw_hub,
    cleave__draw_hidden, cleave__draw_rmat, cleave__draw_lfr;

/* What they share. False when memory is out. */
bool cleave__drawn_add(struct cleave__drawn *drawn, uint32_t from, uint32_t to);
enum cleave_status cleave__drawn_no_memory(struct cleave_error *error);
/* CLEAVE_INTERRUPTED when the caller asked to stop; tells progress now and then. */
enum cleave_status cleave__drawn_pulse(const struct cleave__generate_options *options,
                                       uint32_t user, uint32_t users, struct cleave_error *error);

#endif
