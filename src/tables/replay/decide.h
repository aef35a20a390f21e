/* Who decides that a distributed transaction is committed, and how that is found out again.
 *
 * A transaction that writes has an *anchor*, one of its shards. The others prepare; then the anchor
 * commits its own work together with a row
 *
 *     cleave_decisions(coordinator, id, committed)
 *
 * in one local transaction, and that is the decision: it is durable when, and only if, the anchor's
 * work is. Then the others commit. (The last to be asked decides: Gray's "last agent"; it saves the
 * anchor a prepare, and a transaction on one shard is the same with nobody else.) Names of prepared
 * transactions tell coordinator, id and anchor.
 *
 * To find out what became of an id, one *fences* it: puts a row with committed = 0 unless there is
 * one, and reads it. Either the decision is there already, and the transaction is committed; or the
 * fence is there first, and the decision can never be made (its row would be there twice, so the
 * anchor's transaction fails): it is rolled back. So nothing is guessed, whatever is still under
 * way in a server after its client is gone, and a sweep can do no harm to a coordinator that lives.
 * An id is one attempt's and is never used again.
 *
 * What survives what: the row is as safe as the anchor's own rows. While the anchor is down its
 * transactions stay prepared elsewhere, and are finished by the sweep that follows its return. */
#ifndef CLEAVE_TABLES_REPLAY_DECIDE_H
#define CLEAVE_TABLES_REPLAY_DECIDE_H

#include "tables/replay/world.h"

enum { CLEAVE__COORDINATOR_MOST = 40 };

bool cleave__coordinator_valid(const char *name);

/* "cleave-COORDINATOR-ID-ANCHOR-SHARD": shards that are databases of one server share its names,
 * and a part tells whether it is found where it was left. */
void cleave__branch_name(const char *coordinator, uint64_t id, uint32_t anchor, uint32_t shard,
                         char name[CLEAVE_PREPARED_NAME_MOST + 1]);
/* False: not one of ours. */
bool cleave__branch_parse(const char *name, char coordinator[CLEAVE__COORDINATOR_MOST + 1],
                          uint64_t *id, uint32_t *anchor, uint32_t *shard);

/* The row that decides, as a statement; `text` [24] holds the id. */
void cleave__decision_statement(const char *coordinator, uint64_t id, char text[24],
                                struct cleave_store_parameter parameters[2],
                                struct cleave_store_statement *statement);
/* Fences and reads. */
enum cleave_status cleave__decision_find(struct cleave__port *anchor, const char *coordinator,
                                         uint64_t id, bool *committed, struct cleave_error *error);

struct cleave__recovery {
    uint32_t committed, rolled_back; /* prepared transactions, one a shard */
    uint32_t foreign;                /* of other coordinators, or not ours at all: left alone */
    uint64_t last_id; /* the greatest that the coordinator has used, as far as can be seen */
};

/* Every shard: the table is made if need be, and every transaction that this coordinator (or any:
 * `everyone`) has left prepared is finished as was decided. */
enum cleave_status cleave__recover(const struct cleave__replay_world *world, bool everyone,
                                   struct cleave__recovery *out, struct cleave_error *error);
/* While a run is under way: of this coordinator's runs before it, whose ids are below `below`, what
 * was prepared after the sweep that preceded it. Asks each shard once. */
enum cleave_status cleave__recover_late(const struct cleave__replay_world *world, uint64_t below,
                                        struct cleave_error *error);
/* Ids for a run, of which none was ever used or will be: CLEAVE__ID_RUN from `*base` on. Not even
 * one whose PREPARE was still on its way when the sweep looked: what is prepared after the sweep
 * waits for the next one, which finds no decision of its id. */
#define CLEAVE__ID_RUN (UINT64_C(1) << 32)
enum cleave_status cleave__decisions_reserve(const struct cleave__replay_world *world,
                                             const struct cleave__recovery *recovery,
                                             uint64_t *base, struct cleave_error *error);
/* Removes the decisions of a coordinator that has nothing under way, but for the last. */
enum cleave_status cleave__decisions_forget(const struct cleave__replay_world *world,
                                            struct cleave_error *error);

#endif
