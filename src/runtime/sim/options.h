/* The world that the sim transport plays: machines, their network, and what goes wrong.
 *
 * A *node* is a machine: its actors share `servers` processors (first come, first served) and an
 * outgoing link of `bytes_per_s`. A message from node to node waits for the link, takes its bytes'
 * time, then a delay drawn from `remote`; within a node a delay drawn from `local`. Channels stay
 * in order: a message never overtakes an earlier one of its channel. Then it waits in the mailbox
 * until the actor is idle and the node has a free processor, and takes the actor's service time.
 *
 * Faults on demand, each from `at_ns` for `for_ns`:
 * - crash: an actor, or all of some nodes. State, mailbox, timers and open requests are gone, and
 * so is whatever arrives while it is down; then it is made anew and started with what it saved.
 * - hold, lose: messages between the nodes inside and those outside wait for the end, in order, or
 *   are lost.
 * - slow: messages to and from the nodes take `extra_ns` more.
 * A loss by a fault is counted, and is not an error. */
#ifndef CLEAVE_RUNTIME_SIM_OPTIONS_H
#define CLEAVE_RUNTIME_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "runtime/distribution.h"

enum cleave_fault_kind {
    CLEAVE_FAULT_CRASH,
    CLEAVE_FAULT_HOLD,
    CLEAVE_FAULT_LOSE,
    CLEAVE_FAULT_SLOW,
    CLEAVE_FAULT_KINDS
};

struct cleave_fault {
    enum cleave_fault_kind kind;
    uint64_t at_ns, for_ns;          /* a crash for UINT64_MAX: no restart */
    uint32_t actor;                  /* a crash of this actor alone; 0: of nodes */
    uint32_t first_node, node_count; /* these nodes, against all others */
    uint64_t extra_ns;               /* of slow */
};

/* What a node has. All zeroes: as many processors as actors, no limit of the network. */
struct cleave_host {
    uint32_t servers;
    uint64_t bytes_per_s;
};

/* One event, as the trace tells it. In a file: the fields in this order, little-endian, without
 * gaps (cleave__trace_encode). */
struct cleave_trace_event {
    uint64_t at_ns;
    uint8_t what;    /* enum cleave_trace_what */
    uint32_t actor;  /* the one it happens to */
    uint32_t sender; /* of a message */
    uint32_t kind, length;
    uint64_t sequence; /* of a message; of a fault its number */
};
enum cleave_trace_what {
    CLEAVE_TRACE_SENT,    /* by `sender` */
    CLEAVE_TRACE_PARKED,  /* met a full mailbox */
    CLEAVE_TRACE_ARRIVED, /* in the mailbox */
    CLEAVE_TRACE_TAKEN,   /* service begins */
    CLEAVE_TRACE_LOST,    /* by a fault */
    CLEAVE_TRACE_TIMER,
    CLEAVE_TRACE_CRASH,
    CLEAVE_TRACE_RESTART
};
enum { CLEAVE_TRACE_EVENT_BYTES = 8 + 1 + 4 + 4 + 4 + 4 + 8 };
void cleave__trace_encode(const struct cleave_trace_event *event,
                          uint8_t to[CLEAVE_TRACE_EVENT_BYTES]);

/* All zeroes: no delays. Arrays are borrowed as long as the runtime lives. */
struct cleave_sim_options {
    struct cleave_distribution local, remote;
    const struct cleave_host *nodes; /* of node 0, 1, ...; nodes beyond are all zeroes */
    uint32_t node_count;
    const struct cleave_fault *faults;
    size_t fault_count;
    /* Told every event, in order. */
    void (*trace)(void *context, const struct cleave_trace_event *event);
    void *trace_context;
    bool check_always; /* every structure's check after every event: slow, for tests */
};

/* `count` faults drawn from the seed: kinds among `kinds` (bits 1 << kind), begins within
 * `horizon_ns`, lengths up to a tenth of it, random ranges of nodes 0 .. node_count - 1. */
void cleave__faults_draw(uint64_t seed, unsigned kinds, uint64_t horizon_ns, uint32_t node_count,
                         struct cleave_fault *faults, size_t count);

#endif
