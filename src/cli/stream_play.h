/* Options of a run of a stream: who is at work, how they route and balance, what it costs on sim.
 */
#ifndef CLEAVE_CLI_STREAM_PLAY_H
#define CLEAVE_CLI_STREAM_PLAY_H

#include "cli/stream.h"
#include "stream/compare/play.h"

enum { CLEAVE_STREAM_FAULTS_MAX = 1000 };

struct cleave_stream_play_arguments {
    struct cleave__stream_play play; /* all but the workload */
    uint64_t objects, queries;       /* to make up */
    bool generate;                   /* --generate was given */
    uint32_t fault_count, router_faults, balancer_crashes;
    uint64_t fault_within_ns, retry_ns;
    struct cleave_fault faults[CLEAVE_STREAM_FAULTS_MAX];
};

extern const struct argp cleave__stream_play_argp; /* its input: as above */

/* Before parsing: defaults. */
void cleave__stream_play_default(struct cleave_stream_play_arguments *arguments);
/* After it: the seed, faults. */
void cleave__stream_play_settle(struct cleave_stream_play_arguments *arguments, uint64_t seed,
                                const struct cleave_progress *progress);
void cleave__stream_play_release(struct cleave_stream_play_arguments *arguments);

#endif
