/* Tuple groups against the rule: which groups are better off on another shard than the one their
 * key sends them to. Such groups become the layout's exceptions. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_MOVES_H
#define CLEAVE_TABLES_SCHEME_HGP_MOVES_H

#include "tables/scheme/hgp/keys.h"
#include "tables/shape/groups.h"

/* Groups with a shard each, and the transactions that touch them. */
struct cleave_moves {
    const struct cleave_key_space *space;
    struct cleave_groups groups;
    uint32_t *rule;  /* [groups]: where the key map sends it; CLEAVE_ABSENT: to several shards */
    bool *held;      /* [groups]: a rule speaks of its key; it stays where that goes */
    uint32_t *shard; /* [groups]: where it goes; differs from `rule` for exceptions */
    uint64_t *transaction_offset; /* [transactions + 1]: distinct groups of a transaction */
    uint32_t *transaction_group;
    uint64_t *group_offset; /* [groups + 1]: the transpose */
    uint32_t *group_transaction;
    unsigned char *lost;   /* [transactions]: distributed whatever the groups do */
    double *size, *access; /* [shards] load, as the groups stand */
};

/* Which second attribute the groups of each table are cut by: the most accessed column that is
 * neither the key nor derived from it. `attributes` [tables]. */
void cleave__moves_attributes(const struct cleave_key_space *space,
                              struct cleave_attributes *attributes);

/* Groups under the key placement `key_shard`. */
enum cleave_status cleave__moves_build(const struct cleave_key_space *space,
                                       const uint32_t *key_shard,
                                       const struct cleave_phantom *phantoms,
                                       uint32_t phantom_count, struct cleave_moves *out,
                                       struct cleave_error *error);
void cleave__moves_free(struct cleave_moves *moves);

/* Moves singled-out groups of cut transactions where that makes more transactions local than it
 * cuts, while no shard grows past its limit; then takes back every move that saves nothing. Returns
 * the transactions saved. */
uint64_t cleave__moves_improve(struct cleave_moves *moves);

/* Distributed transactions as the groups stand. */
uint64_t cleave__moves_count(const struct cleave_moves *moves);

#endif
