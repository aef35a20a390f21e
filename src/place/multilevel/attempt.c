/* The ways an attempt can go; see the driver (multilevel.c) for when. */
#include "place/multilevel/driver.h"

enum { TABU_STEPS_MAX = 20000, TABU_WORK = 3000000, PACK_TABU_MAX = 4000000, EXACT_NODES = 200000 };

static uint32_t coarsest_size(const struct cleave__driver *d)
{
    return 160 * (cleave__blocks_of(d) > 2 ? cleave__blocks_of(d) : 2);
}

/* Work on block[] as a state with a cache of so many bytes. */
static enum cleave_status on_state(struct cleave__attempt *a, size_t room,
                                   enum cleave_status (*work)(struct cleave__attempt *,
                                                              struct cleave__state *))
{
    const struct cleave__driver *d = a->driver;
    struct cleave_arena_mark mark = cleave__arena_mark(&a->search.arena);
    struct cleave__state state;
    enum cleave_status status = CLEAVE_NO_MEMORY;
    if (cleave__state_init(&state, &a->search.arena, cleave__level_of(d), &d->problem.target,
                           a->block, room))
        status = work(a, &state);
    cleave__arena_rewind(&a->search.arena, mark);
    return status;
}

static enum cleave_status tabu_on(struct cleave__attempt *a, struct cleave__state *state)
{
    uint64_t steps = cleave__tabu_iterations(state->level, state->target, a->tabu_work);
    enum cleave_status status =
        cleave__refine_tabu(&a->search, state, steps < TABU_STEPS_MAX ? steps : TABU_STEPS_MAX);
    return status ? status : cleave__refine_fm(&a->search, state, 3);
}

static enum cleave_status tabu(struct cleave__attempt *a, uint64_t work)
{
    a->tabu_work = work;
    return on_state(a, cleave__full_room(cleave__level_of(a->driver), cleave__blocks_of(a->driver)),
                    tabu_on);
}

/* By recursive bipartition. */
enum cleave_status cleave__attempt_toward(struct cleave__attempt *a,
                                          const struct cleave__target *target)
{
    const struct cleave__cycle cycle = {.coarsest = coarsest_size(a->driver),
                                        .initial = cleave__bisect,
                                        .within = a->within,
                                        .flow_rounds = a->search.effort.flow_rounds};
    return cleave__multilevel(&a->search, &a->driver->problem.free_level, target, &cycle, a->block);
}

enum cleave_status cleave__attempt_fresh(struct cleave__attempt *a)
{
    const struct cleave__driver *d = a->driver;
    enum cleave_status status = cleave__attempt_toward(a, &d->problem.target);
    return !status && d->small && !cleave__level_of(d)->home ? tabu(a, TABU_WORK) : status;
}

/* Coarsening and refinement once more, within block[]'s own blocks or finer. */
enum cleave_status cleave__attempt_cycle(struct cleave__attempt *a)
{
    const struct cleave__driver *d = a->driver;
    const struct cleave__cycle again = {.coarsest = coarsest_size(d),
                                        .within = a->within ? a->within : a->block,
                                        .flow_rounds = a->search.effort.flow_rounds};
    return cleave__multilevel(&a->search, cleave__level_of(d), &d->problem.target, &again,
                              a->block);
}

enum cleave_status cleave__attempt_search(struct cleave__attempt *a)
{
    enum cleave_status status = cleave__attempt_cycle(a);
    return !status && a->driver->small ? tabu(a, TABU_WORK) : status;
}

enum cleave_status cleave__attempt_keep(struct cleave__attempt *a)
{
    (void)a;
    return CLEAVE_OK;
}

static enum cleave_status exact_on(struct cleave__attempt *a, struct cleave__state *state)
{
    return cleave__exact(&a->search, state, EXACT_NODES, &a->proven);
}

enum cleave_status cleave__attempt_exact(struct cleave__attempt *a)
{
    return on_state(a, 0, exact_on);
}

static enum cleave_status pack_on(struct cleave__attempt *a, struct cleave__state *state)
{
    enum cleave_status status = cleave__pack(&a->search, state);
    return status ? status : cleave__refine(&a->search, state);
}

/* Nothing so far keeps the limits: pack from scratch, then win back cost. */
enum cleave_status cleave__attempt_pack(struct cleave__attempt *a)
{
    enum cleave_status status = on_state(a, a->search.room, pack_on);
    return !status && cleave__moves_of(a->driver) <= PACK_TABU_MAX ? tabu(a, 2 * TABU_WORK)
                                                                   : status;
}

static enum cleave_status repair_on(struct cleave__attempt *a, struct cleave__state *state)
{
    return cleave__refine(&a->search, state);
}

enum cleave_status cleave__attempt_repair(struct cleave__attempt *a)
{
    return on_state(a, a->search.room, repair_on);
}

static enum cleave_status score_on(struct cleave__attempt *a, struct cleave__state *state)
{
    a->score = state->score;
    a->affordable = state->moved <= state->target->budget;
    return CLEAVE_OK;
}

static enum cleave_status probe_on(struct cleave__attempt *a, struct cleave__state *state)
{
    enum cleave_status status = cleave__pack(&a->search, state);
    return status ? status : cleave__rebalance(&a->search, state);
}

/* Packed without regard to nets, and repaired: how near the limits can a placement come? */
enum cleave_status cleave__attempt_probe(struct cleave__attempt *a)
{
    const struct cleave__level *level = cleave__level_of(a->driver);
    for (uint32_t v = 0; v < level->vertices; v++)
        a->block[v] = level->fixed[v] != CLEAVE_FREE ? (uint32_t)level->fixed[v]
                      : level->home                  ? level->home[v]
                                                     : 0;
    return on_state(a, 0, probe_on);
}

void cleave__attempt_run(struct cleave__attempt *a)
{
    a->status = a->run(a);
    if (!a->status)
        a->status = on_state(a, 0, score_on);
}
