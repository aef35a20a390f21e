/* Sweeps while the run goes on, when the dispatcher finds that nothing has come back for a while: a
 * part that a dead coordinator's server prepared after the sweep before this run keeps its locks,
 * and clients may wait for them. */
#include <stdlib.h>

#include "tables/replay/dispatcher.h"

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    (void)error;
    *self = (void *)argument; /* the world: nothing of its own */
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    (void)self;
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    const struct cleave__replay_world *world = self;
    struct cleave_error ignored; /* a shard that is gone is waited for by those who need it */
    (void)context, (void)message;
    (void)cleave__recover_late(world, world->base_id, &ignored);
}

const struct cleave_actor_ops cleave__late_ops = {"late", create, destroy, receive, NULL};
