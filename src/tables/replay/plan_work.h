/* Inside planning: one statement, and what is made of it. */
#ifndef CLEAVE_TABLES_REPLAY_PLAN_WORK_H
#define CLEAVE_TABLES_REPLAY_PLAN_WORK_H

#include "tables/replay/plan.h"
#include "tables/sql/analyze.h"

/* One statement being planned. */
struct cleave__plan_work {
    struct cleave_analyzer *analyzer;
    const struct cleave_lookup *lookup;
    struct cleave_arena *arena;
    const struct cleave_statement *analyzed;
    const struct cleave__shape *shape;
    struct cleave_shardset shards; /* its own */
    struct cleave__planned_statement *out;
    struct cleave_error *error;
};

static inline enum cleave_status cleave__plan_no_memory(const struct cleave__plan_work *work)
{
    return cleave_error_set(work->error, CLEAVE_NO_MEMORY, "no memory for a plan");
}

static inline enum cleave_status cleave__plan_refuse(const struct cleave__plan_work *work,
                                                     const char *why)
{
    return cleave_error_set(work->error, CLEAVE_UNSUPPORTED, "%s", why);
}

/* plan.c: room for pieces, zeroed; NULL: memory is out. */
struct cleave__piece *cleave__plan_pieces(const struct cleave__plan_work *work, uint32_t count);
/* The statement as it is, on these shards. */
enum cleave_status cleave__plan_as_it_is(const struct cleave__plan_work *work,
                                         const struct cleave_shardset *shards, bool copies);
/* plan_query.c, plan_change.c: statements whose own shards are several; `all` are the
 * transaction's. */
enum cleave_status cleave__plan_query(const struct cleave__plan_work *work,
                                      const struct cleave_shardset *all);
enum cleave_status cleave__plan_change(const struct cleave__plan_work *work);

/* Whether it sets a column that decides where rows live. */
bool cleave__plan_sets_home(const struct cleave__plan_work *work, uint32_t target);

/* plan_foreign.c: what an access reads besides, by foreign keys, at the end of `out`; `removes`: of
 * a DELETE. At most so many for one access. False: memory is out. */
uint32_t cleave__foreign_most(const struct cleave_schema *schema);
bool cleave__foreign_accesses(const struct cleave_schema *schema,
                              const struct cleave_access *access, bool removes,
                              struct cleave_arena *arena, struct cleave_access *out,
                              uint32_t *count);

#endif
