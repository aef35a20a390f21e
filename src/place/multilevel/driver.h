/* The driver's own: attempts (one way to a partition each) and the pool of the best they found. */
#ifndef CLEAVE_PLACE_MULTILEVEL_DRIVER_H
#define CLEAVE_PLACE_MULTILEVEL_DRIVER_H

#include "place/multilevel/problem.h"
#include "place/multilevel/search.h"

enum { CLEAVE__POOL = 8 };

struct cleave__solution {
    uint32_t *block; /* [level vertices] */
    struct cleave__score score;
};

struct cleave__driver {
    struct cleave__search search;
    struct cleave__problem problem;
    const struct cleave_partition_options *options;
    struct cleave__solution pool[CLEAVE__POOL];
    uint32_t pooled;       /* best first */
    uint32_t *community;   /* [level vertices]; may be NULL */
    uint32_t done, rounds; /* of the work, for the progress */
    bool proven;           /* the best is the best there is */
    const int64_t *strict; /* the limits proper, while others are aimed at; the floors likewise */
    const int64_t *strict_floor;
    bool small; /* so small that tabu search over everything pays */
};

/* On its own memory and random numbers. */
struct cleave__attempt {
    struct cleave__search search;
    const struct cleave__driver *driver;
    enum cleave_status (*run)(struct cleave__attempt *attempt);
    uint32_t *block;        /* [level vertices]: what it starts from, then what it found */
    const uint32_t *within; /* [level vertices]: what may merge; NULL: any */
    struct cleave__score score;
    uint64_t tabu_work; /* single steps */
    uint32_t merge;     /* merged.c: blocks for each one asked for */
    bool affordable;
    bool proven; /* nothing can be better */
    enum cleave_status status;
};

static inline const struct cleave__level *cleave__level_of(const struct cleave__driver *d)
{
    return d->problem.level;
}

static inline uint32_t cleave__blocks_of(const struct cleave__driver *d)
{
    return d->problem.target.blocks;
}

static inline size_t cleave__block_bytes(const struct cleave__driver *d)
{
    return cleave__level_of(d)->vertices * sizeof(uint32_t);
}

/* What a step of tabu search looks at. */
static inline uint64_t cleave__moves_of(const struct cleave__driver *d)
{
    const struct cleave__level *level = cleave__level_of(d);
    return (uint64_t)level->vertices * cleave__blocks_of(d) * (1 + level->weights);
}

/* attempt.c: runs it and scores what it found. */
void cleave__attempt_run(struct cleave__attempt *attempt);
/* The ways. */
enum cleave_status cleave__attempt_fresh(struct cleave__attempt *attempt);  /* from nothing */
enum cleave_status cleave__attempt_keep(struct cleave__attempt *attempt);   /* block[] as it is */
enum cleave_status cleave__attempt_cycle(struct cleave__attempt *attempt);  /* a V-cycle */
enum cleave_status cleave__attempt_search(struct cleave__attempt *attempt); /* and tabu search */
enum cleave_status cleave__attempt_exact(struct cleave__attempt *attempt);
enum cleave_status cleave__attempt_pack(struct cleave__attempt *attempt);  /* by weights alone */
enum cleave_status cleave__attempt_probe(struct cleave__attempt *attempt); /* the same, unrefined */
enum cleave_status cleave__attempt_repair(struct cleave__attempt *attempt); /* to the limits */

/* A partition from nothing that keeps `target`'s limits, not the driver's. */
enum cleave_status cleave__attempt_toward(struct cleave__attempt *attempt,
                                          const struct cleave__target *target);

/* merged.c: more blocks than asked for, merged. */
enum cleave_status cleave__attempt_merged(struct cleave__attempt *attempt);
/* Is much of what `block` cuts in nets that coarsening does not see? O(pins). */
bool cleave__merging_pays(const struct cleave__driver *driver, const uint32_t *block);

/* Memory and random numbers of its own, by `stream`; false when there is none. */
bool cleave__attempt_ready(struct cleave__driver *driver, struct cleave__attempt *attempt,
                           uint64_t stream);
/* Runs it with all threads, outside the pool; a->status, a->score. */
void cleave__attempt_alone(struct cleave__driver *driver, struct cleave__attempt *attempt);
/* Runs attempts that are ready, with `run` and block[], and pools what they find, in order. */
enum cleave_status cleave__attempts_run(struct cleave__driver *driver,
                                        struct cleave__attempt *attempt, uint32_t count);
/* One attempt from `from`, or from what is in its block[]. */
enum cleave_status cleave__attempt_one(struct cleave__driver *driver,
                                       struct cleave__attempt *attempt,
                                       enum cleave_status (*run)(struct cleave__attempt *),
                                       uint64_t stream, const uint32_t *from);

/* relax.c: limits that cannot be kept, or hardly, are loosened for the search and tried again at
 * its end. */
enum cleave_status cleave__attempt_loose(struct cleave__attempt *attempt);
bool cleave__limits_doubtful(const struct cleave__driver *driver);
enum cleave_status cleave__limits_relax(struct cleave__driver *driver,
                                        struct cleave__attempt *attempt);
enum cleave_status cleave__limits_tighten(struct cleave__driver *driver,
                                          struct cleave__attempt *attempt);

#endif
