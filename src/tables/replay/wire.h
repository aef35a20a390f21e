/* What the actors of a replay say to each other, as bytes. */
#ifndef CLEAVE_TABLES_REPLAY_WIRE_H
#define CLEAVE_TABLES_REPLAY_WIRE_H

#include "base/bytes.h"
#include "tables/replay/digest.h"
#include "tables/replay/plan.h"

enum cleave__replay_kind {
    CLEAVE__REPLAY_RUN =
        0x7250,             /* dispatcher to client, or to the reference: a planned transaction */
    CLEAVE__REPLAY_DONE,    /* the answer: an outcome */
    CLEAVE__REPLAY_STOPPED, /* or: it could not be done; a line of words */
    CLEAVE__REPLAY_LATE     /* dispatcher to the late sweep: look now */
};

/* A planned transaction without its accesses. Texts end with a NUL within the message, so that what
 * is read borrows it. */
void cleave__planned_write(const struct cleave__planned *planned, uint64_t number,
                           struct cleave_writer *writer);
/* False: it makes no sense, or memory is out. */
bool cleave__planned_read(struct cleave_reader *reader, uint32_t shards, struct cleave_arena *arena,
                          uint64_t *number, struct cleave__planned *out);

struct cleave__outcome {
    uint64_t number;
    uint64_t ns;       /* from being taken up to the last answer */
    uint32_t parts;    /* sessions that took part */
    uint32_t prepared; /* of them by PREPARE */
    uint32_t retries;
    bool lost;                     /* committed, but its answers went down with a connection */
    const char *failure;           /* NULL, or why a statement failed: all of it was rolled back */
    struct cleave_shardset shards; /* that took part */
    uint32_t statement_count;
    struct cleave__digest *digests; /* [statement_count] */
};

void cleave__outcome_write(const struct cleave__outcome *outcome, struct cleave_writer *writer);
bool cleave__outcome_read(struct cleave_reader *reader, struct cleave_arena *arena,
                          struct cleave__outcome *out);

#endif
