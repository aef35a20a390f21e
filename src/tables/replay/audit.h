/* What the shards hold, against the reference: every row where the lookup table says, each copy the
 * same, no row more or less. And nothing that waits to be committed.
 *
 * Rows are summed up table by table, so memory is bounded; a table is read once from every store.
 */
#ifndef CLEAVE_TABLES_REPLAY_AUDIT_H
#define CLEAVE_TABLES_REPLAY_AUDIT_H

#include "tables/replay/world.h"

struct cleave_audit {
    uint64_t tables, rows; /* of the reference, or (without one) by first homes */
    uint64_t misplaced;    /* rows on a shard that is none of theirs */
    uint64_t different;    /* tables whose rows are not the reference's, or whose copies differ */
    uint64_t prepared;     /* transactions that wait, on all shards */
    char first[300];       /* what was found first; "" */
};

/* `reference` may be NULL. Nothing else may change the stores meanwhile. */
enum cleave_status cleave__replay_audit(const struct cleave_lookup *lookup, const char *const *urls,
                                        const char *reference, struct cleave_audit *out,
                                        struct cleave_error *error);
bool cleave__audit_right(const struct cleave_audit *audit);

#endif
