/* Predicted execution: a workload played on simulated shards, in virtual time.
 *
 * Clients in closed loop: each has one transaction under way and begins the next when it is
 * answered; client c of C plays transactions c, c + C, c + 2C, ... Each has a connection of its own
 * to every shard, served by a backend of its own there; the backends of a machine share its
 * processors and its link, as PostgreSQL's processes do. A machine has one shard, or several in
 * turn (shard s is on machine s % machines). A transaction goes to one of its parts, which
 * coordinates:
 *
 * - one part: its accesses, and a log flush if it writes;
 * - several, reading: the parts work side by side, then the answer;
 * - several, writing: two-phase commit as `cleave tables replay` does it. The other parts work and
 *   prepare, which is some work more and a flush, while the coordinator works. When all are
 *   prepared it flushes its commit, which is the decision, and the others commit, with a flush each
 *   and the same work again; when all have said so the client is answered.
 * - what is read from several shards at once is brought together by the coordinator when all have
 *   answered, which is work too.
 *
 * Work holds a processor of the machine while it lasts. A flush does not: it is waited for, and
 * those of several backends go side by side, as they do where a log is flushed for all who wait.
 *
 * Left out: locks, and so waiting for other transactions and aborts; caches; failures. Lock times
 * grow with a transaction's duration, so distributed transactions are rather flattered. A request
 * or answer carries 100 bytes an access and 64 besides.
 *
 * The same seed gives the same figures on every machine. Memory: shards x clients backends. */
#ifndef CLEAVE_TABLES_SERVE_SIMULATE_H
#define CLEAVE_TABLES_SERVE_SIMULATE_H

#include "cleave/progress.h"
#include "runtime/distribution.h"
#include "runtime/sim/options.h"
#include "tables/serve/plan.h"

struct cleave_simulation {
    uint32_t clients;  /* at least 1 */
    uint32_t machines; /* 0, or more than shards: one for each shard */
    /* Unequal machines: those beyond the list are like its last one. None: as the next two say. */
    uint32_t host_count;
    const struct cleave_host *hosts;
    uint32_t processors;                /* of a machine; 0: one for each backend */
    uint64_t bytes_per_s;               /* a machine's outgoing link; 0: no limit */
    struct cleave_distribution work;    /* processor time of an access, */
    struct cleave_distribution prepare; /* of preparing a part, and of committing it afterwards, */
    struct cleave_distribution gather;  /* and of bringing together what a query read */
    struct cleave_distribution flush;   /* the time that a log flush takes */
    struct cleave_distribution network; /* delay of a message between machines */
    uint64_t transactions;              /* to play; the plan is repeated as need be. 0: once */
    uint64_t seed;
};

struct cleave_simulated {
    uint64_t transactions, distributed, accesses; /* accesses of all parts */
    double tx_per_s;
    double p50_ms, p99_ms; /* from a client's request to its answer */
    double busiest;        /* the share of time that the busiest machine's processors worked */
};

/* The usual: 16 clients a shard, a machine each of 4 processors and 1 Gbit/s, 100 us an access or
 * to prepare or gather, 200 us a flush, lognormal delays of 200 us, 10,000 transactions; with many
 * shards fewer clients and transactions, so that it stays within some hundred megabytes and
 * seconds. */
struct cleave_simulation cleave__simulation_usual(uint32_t shards);

enum cleave_status cleave__simulate(const struct cleave_plan *plan,
                                    const struct cleave_simulation *simulation,
                                    const struct cleave_progress *progress,
                                    struct cleave_simulated *out, struct cleave_error *error);

#endif
