/* An actor's counts, for others to read while it runs: published to a registry of metrics
 * (base/metrics.h) after each message, by whoever runs the actor. So a reader on another thread
 * never touches the actor. Costs 7 relaxed stores a message, some 3 ns; nothing without a registry
 * but a comparison. */
#ifndef CLEAVE_RUNTIME_WATCH_H
#define CLEAVE_RUNTIME_WATCH_H

#include "base/metrics.h"

struct cleave_actor_stats;
struct cleave__watch;

/* Series labelled actor="name". `*out` is NULL where the registry has no room for more. */
enum cleave_status cleave__watch_new(struct cleave_metrics *metrics, const char *name,
                                     struct cleave__watch **out, struct cleave_error *error);
void cleave__watch_free(struct cleave__watch *watch);
void cleave__watch_publish(struct cleave__watch *watch, const struct cleave_actor_stats *stats);

#endif
