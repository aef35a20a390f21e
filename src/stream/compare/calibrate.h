/* What the parts of the work cost on this machine, one thread: for sim, which is told such costs.
 *
 * Each is measured by doing just that on the workload: reading an object and finding its evaluator;
 * the same for a query and its keywords; matching, with the candidates apart from the objects;
 * storing; a request and its answer between two actors of the threads transport. The best of
 * some passes, rounded up to a nanosecond. */
#ifndef CLEAVE_STREAM_COMPARE_CALIBRATE_H
#define CLEAVE_STREAM_COMPARE_CALIBRATE_H

#include "stream/compare/play.h"

struct cleave__stream_costs {
    struct cleave__streaming_service service;
    uint64_t scan_candidate_ns, cells_candidate_ns;
};

/* For the made workload of `play` (objects at most a million are used), its evaluators and grid. */
enum cleave_status cleave__stream_calibrate(const struct cleave__stream_play *play,
                                            struct cleave__stream_costs *out,
                                            struct cleave_error *error);

#endif
