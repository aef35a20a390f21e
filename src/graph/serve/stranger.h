/* In an open world: whether a message is one that a process of this world sends. Nothing here
 * changes anything but _refuse, which counts and logs. O(length of the message). */
#ifndef CLEAVE_GRAPH_SERVE_STRANGER_H
#define CLEAVE_GRAPH_SERVE_STRANGER_H

#include "graph/serve/world.h"

/* A coordinator's read of users that this shard has. */
bool cleave__stranger_read(const struct cleave__seat *shard, const struct cleave_message *message);
bool cleave__stranger_to_coordinator(const struct cleave__seat *coordinator,
                                     const struct cleave_message *message);
/* The records of `asked` [count], in this order, and nothing behind them. */
bool cleave__stranger_lists(const struct cleave__world *world, const uint32_t *asked,
                            uint32_t count, bool brief, const struct cleave_message *message);
/* The answer to this query. */
bool cleave__stranger_answer(const struct cleave__world *world, uint64_t number,
                             const struct cleave_message *message);
void cleave__stranger_refuse(const struct cleave__world *world,
                             const struct cleave_message *message);

#endif
