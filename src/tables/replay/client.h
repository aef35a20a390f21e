/* A client: takes planned transactions one at a time and runs each to its end on real shards.
 *
 * It has a session of its own to every shard. What a transaction does on them goes out to all at
 * once and is received from one after the other, in *rounds*: usually one, and one more for each
 * UPDATE that moves rows. The last round also prepares (decide.h). A turn blocks until the
 * transaction is committed everywhere, so that between turns nothing of a client is under way: that
 * is where pieces of tables may change shard.
 *
 * A shard that is gone is waited for as long as the world's patience, and the transaction is begun
 * anew, unless its decision was made. So is one that a store gave up for another's sake (a
 * serialization failure, a deadlock), a few times. A statement that fails rolls all of it back on
 * every shard; that is an outcome, not the end of the replay. */
#ifndef CLEAVE_TABLES_REPLAY_CLIENT_H
#define CLEAVE_TABLES_REPLAY_CLIENT_H

#include "base/histogram.h"
#include "runtime/actor.h"
#include "tables/replay/decide.h"
#include "tables/replay/wire.h"

struct cleave__replay_seat { /* a client's argument */
    const struct cleave__replay_world *world;
    uint32_t client;
};

enum cleave__branch_state {
    CLEAVE__BRANCH_NONE, /* nothing there: not begun, or over */
    CLEAVE__BRANCH_OPEN,
    CLEAVE__BRANCH_PREPARED,
    CLEAVE__BRANCH_UNKNOWN /* asked to prepare, and then lost */
};

/* The transaction's part on one shard. */
struct cleave__branch {
    char name[CLEAVE_PREPARED_NAME_MOST + 1]; /* when it is prepared; its batch holds it */
    struct cleave__port port;
    enum cleave__branch_state state;
    bool took_part, sent;
    CLEAVE_VECTOR(struct cleave_store_statement) statements; /* of this round */
    struct cleave_store_batch batch;
    struct cleave_store_answer *answers;
    uint32_t cursor; /* answers taken */
    uint32_t own;    /* of the statements: the one that decides; CLEAVE_ABSENT: none */
};

/* Rows fetched for a GATHER, until it is evaluated. */
struct cleave__fetched {
    uint32_t statement, shard;
    const struct cleave__piece *piece;
    const struct cleave_store_answer *answer;
};

struct cleave__replay_client {
    const struct cleave__replay_seat *seat;
    const struct cleave__replay_world *world;
    uint32_t shards;
    struct cleave__branch *branches; /* [shards] */
    struct cleave_arena arena;       /* of the transaction */
    const struct cleave__planned *planned;
    struct cleave__outcome outcome;
    struct cleave_store_parameter **parameters; /* [statements] of the transaction */
    uint64_t attempts, id;                      /* of this attempt */
    bool refused; /* this attempt: a store refused a statement, or its end */
    uint32_t anchor;
    CLEAVE_VECTOR(struct cleave__fetched) fetched;

    /* client_gather.c */
    struct cleave__port scratch;
    bool *scratch_tables; /* [tables]: made in this session */
    struct cleave_arena catalog_arena;
    const struct cleave_store_table *catalog; /* SQLite: how the shards declare their columns */
    uint32_t catalog_count;

    /* read after the run */
    struct cleave_histogram latency_ns;
    uint64_t unknown; /* outcomes that had to be found out */
};

extern const struct cleave_actor_ops cleave__replay_client_ops;

/* ---- inside ---- */

/* One statement more for a shard, in this round. */
enum cleave_status cleave__client_push(struct cleave__replay_client *client, uint32_t shard,
                                       const struct cleave_store_statement *statement,
                                       struct cleave_error *error);
/* Sends what was pushed, and receives it. `last`: ends the transaction, or prepares it. */
enum cleave_status cleave__client_play(struct cleave__replay_client *client, bool last,
                                       struct cleave_error *error);
/* client_commit.c: after the last round of one that writes on several shards: decides, and commits
 * everywhere. CLEAVE_IO: it is not decided, and may be begun anew. */
enum cleave_status cleave__client_commit(struct cleave__replay_client *client,
                                         struct cleave_error *error);
/* The only shard's answer did not come: whether it was committed. */
enum cleave_status cleave__client_find_out(struct cleave__replay_client *client, bool *committed,
                                           struct cleave_error *error);
/* Nothing of this attempt is left anywhere. */
enum cleave_status cleave__client_abort(struct cleave__replay_client *client,
                                        struct cleave_error *error);
/* client_rows.c: rules FIRST and MOVE; the latter pushes what moves rows. */
enum cleave_status cleave__client_take_rows(struct cleave__replay_client *client,
                                            const struct cleave__planned_statement *statement,
                                            struct cleave__digest *digest,
                                            struct cleave_error *error);
/* Where a row of an answer belongs; its table's columns begin at `first` of the answer's. */
enum cleave_status cleave__row_homes(const struct cleave_lookup *lookup, uint32_t table,
                                     const struct cleave_store_answer *answer, uint32_t row,
                                     uint32_t first, struct cleave_shardset *all,
                                     uint32_t by_key[2], struct cleave_error *error);
/* A text as a value of a column, as loading reads it; what is not of its type is text. */
void cleave__text_value(const struct cleave_column *column, const char *text,
                        struct cleave_arena *arena, struct cleave_value *out);
/* client_gather.c: evaluates what was fetched for one statement. */
enum cleave_status cleave__client_gather(struct cleave__replay_client *client, uint32_t statement,
                                         struct cleave__digest *digest, struct cleave_error *error);
void cleave__client_gather_free(struct cleave__replay_client *client);

/* "name", or "schema"."name", into `writer`. */
void cleave__put_name(struct cleave_writer *writer, const char *name);
void cleave__put_table(struct cleave_writer *writer, const char *name);

#endif
