/* Counts of a replay, for others to read while it runs. */
#ifndef CLEAVE_TABLES_REPLAY_WATCH_H
#define CLEAVE_TABLES_REPLAY_WATCH_H

#include "base/metrics.h"

/* All NULL where nobody reads. */
struct cleave__replay_watch {
    struct cleave_counter *read, *replayed, *refused, *empty; /* transactions, by the dispatcher */
    struct cleave_counter *failed;   /* replayed, and rolled back since a statement failed */
    struct cleave_counter *repeated; /* begun anew, by clients */
    struct cleave_timing *running;   /* ns, at a client */
};

enum cleave_status cleave__replay_watch_make(struct cleave__replay_watch *watch,
                                             struct cleave_metrics *metrics,
                                             struct cleave_error *error);

#endif
