/* One HGP placement in the making, kept between iterations so that refinement starts warm. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_HGP_H
#define CLEAVE_TABLES_SCHEME_HGP_HGP_H

#include "tables/scheme/hgp/emit.h"

struct cleave_hgp {
    const struct cleave_scheme_input *input; /* borrowed */
    struct cleave_arena arena;               /* design and phantoms */
    struct cleave_design design;
    struct cleave_key_space space;
    uint32_t *shard;           /* of key vertices */
    bool balanced;             /* whole keys fit the balance aimed at */
    bool relaxed;              /* that was given up, see relax in hgp.c */
    struct cleave_moves moves; /* when `grouped` */
    bool grouped;
    CLEAVE_VECTOR(struct cleave_phantom) phantoms; /* cuts made by refinement */
    bool residual; /* phantoms for the rows no transaction singles out are in place */
};

/* Designs, places whole keys, moves groups. `out` is at a fixed address until _free. */
enum cleave_status cleave__hgp_begin(const struct cleave_scheme_input *input,
                                     struct cleave_hgp *out, struct cleave_error *error);
/* Cuts the `count` highest-ranked groups in two halves (by size, or by size / access); `*cut` says
 * how many could be. */
enum cleave_status cleave__hgp_split(struct cleave_hgp *hgp, uint32_t count, bool by_ratio,
                                     uint32_t *cut, struct cleave_error *error);
/* Cuts the rows of one table with one key value in two halves. CLEAVE_NOT_FOUND when they cannot.
 */
enum cleave_status cleave__hgp_split_value(struct cleave_hgp *hgp, uint32_t table,
                                           const struct cleave_value *value,
                                           struct cleave_error *error);
/* Places the groups anew, starting from where they are, under the balance aimed at. */
enum cleave_status cleave__hgp_regroup(struct cleave_hgp *hgp, bool *balanced,
                                       struct cleave_error *error);
/* Lines of words about what was decided and why, in `arena`; NULL when memory is out. */
const char *cleave__hgp_notes(const struct cleave_hgp *hgp, struct cleave_arena *arena);
enum cleave_status cleave__hgp_layout(const struct cleave_hgp *hgp, struct cleave_arena *arena,
                                      struct cleave_layout *layout, struct cleave_error *error);
void cleave__hgp_free(struct cleave_hgp *hgp);

/* Target share of each shard from what is known of its node: [shards] into `share`. False when the
 * nodes are alike (share untouched). */
bool cleave__node_shares(const struct cleave_steer *steer, uint32_t shards, double *share);

#endif
