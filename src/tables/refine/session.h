/* Inside of a steering session (include/cleave/tables.h): shared by session.c and decisions.c. */
#ifndef CLEAVE_TABLES_REFINE_SESSION_H
#define CLEAVE_TABLES_REFINE_SESSION_H

#include "cleave/tables.h"
#include "tables/compare/compare.h"
#include "tables/scheme/hgp/hgp.h"

struct cleave__placement {
    struct cleave_layout layout;
    struct cleave_lookup *lookup;
    struct cleave_evaluation evaluation;
    struct cleave_session_result result;
};

struct cleave_session {
    struct cleave_case *kase;
    struct cleave_arena arena; /* decisions, layouts, words: all for the session's life */
    struct cleave_scheme_input input;
    CLEAVE_VECTOR(struct cleave_steer) decisions; /* a stack of snapshots; the last one holds */
    struct cleave_steer effective; /* that, and what feasibility forced: see iterate */
    uint32_t forced;               /* tables that storage forbids to copy */
    struct cleave_hgp hgp;
    bool placed, dirty; /* hgp holds a placement; a decision came after it */
    CLEAVE_VECTOR(struct cleave__placement) placements;
    uint32_t best;
};

/* Takes over `kase`; shards and seed as in the source. */
enum cleave_status cleave__session_new(struct cleave_case *kase, uint32_t shards, uint64_t seed,
                                       const struct cleave_steer *steer,
                                       const struct cleave_progress *progress,
                                       struct cleave_session **out, struct cleave_error *error);

/* The decisions in force. */
const struct cleave_steer *cleave__session_steer(const struct cleave_session *session);

#endif
