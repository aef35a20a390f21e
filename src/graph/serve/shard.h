/* The state of a shard: what it owns, the cache in front of it, copies of others' hubs, changes
 * under way, and its end of moves.
 *
 * Reads are linearizable, copies and moves notwithstanding: a change to a user that has copies is
 * made only after every other shard has said that it will not answer from its copy; after it the
 * new list is sent to them. A copy's *floor* is the least version that it may have; a shard that
 * restarts has forgotten copies and floors, and takes no list sent to whom it was before (its
 * *life*). */
#ifndef CLEAVE_GRAPH_SERVE_SHARD_H
#define CLEAVE_GRAPH_SERVE_SHARD_H

#include "graph/serve/world.h"
#include "move/move.h"

struct cleave__change {
    uint32_t user, other, op; /* enum cleave__change_op */
    uint64_t version;         /* that the user has then */
};

/* A change that waits for copies to be out of use; or, without one, copies being made. */
struct cleave__pending {
    uint32_t serial;
    struct cleave__change change;
    struct cleave_promise promise;
    uint32_t waiting; /* for so many shards */
    uint64_t *life;   /* [shards] that have answered; 0: not yet */
};

struct cleave__held { /* for a change to the same user to be over */
    struct cleave__change change;
    struct cleave_promise promise;
};

struct cleave__shard {
    const struct cleave__seat *seat;
    struct cleave__users own;    /* whom this shard answers for */
    struct cleave__users copies; /* `version` is the floor where not `valid` */
    struct cleave__cache *cache; /* values are copies of records, by pointer; or NULL */
    struct cleave__move_end end;
    uint64_t life;
    uint32_t serial;
    CLEAVE_VECTOR(struct cleave__pending) pending;
    CLEAVE_VECTOR(struct cleave__held) held;
    /* counted */
    uint64_t reads, copy_reads, elsewhere, forwarded, changes, copy_messages, copy_bytes;
};

/* Every structure's invariants. */
bool cleave__shard_check(const struct cleave__shard *shard, const char **why);

/* shard_change.c */
void cleave__shard_change(struct cleave__shard *shard, struct cleave_context *context,
                          struct cleave_promise promise, const struct cleave__change *change);
/* A user to be copied to every other shard: u32. */
void cleave__shard_replicate(struct cleave__shard *shard, struct cleave_context *context,
                             const struct cleave_message *message);
void cleave__shard_invalidate(struct cleave__shard *shard, struct cleave_context *context,
                              const struct cleave_message *message);
void cleave__shard_update(struct cleave__shard *shard, struct cleave_context *context,
                          const struct cleave_message *message);
/* An answer to an invalidation, or none. */
void cleave__shard_invalidated(struct cleave__shard *shard, struct cleave_context *context,
                               const struct cleave_message *message);
/* What is read how often. (shard_load.c) */
void cleave__shard_tell_load(struct cleave__shard *shard, struct cleave_context *context,
                             const struct cleave_message *message);
bool cleave__shard_busy(const struct cleave__shard *shard, uint32_t user);
bool cleave__change_read(struct cleave_reader *reader, struct cleave__change *out);
void cleave__change_write(const struct cleave__change *change, struct cleave_writer *writer);

/* shard_keep.c: the ends of moves, and what outlives a crash. */
extern const struct cleave__move_ops cleave__shard_move_ops;
void cleave__shard_save(void *shard, struct cleave_context *context);
bool cleave__shard_load(struct cleave__shard *shard, const uint8_t *saved, size_t length);

#endif
