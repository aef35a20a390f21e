/* From a placed key space and moved groups to a layout. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_EMIT_H
#define CLEAVE_TABLES_SCHEME_HGP_EMIT_H

#include "tables/scheme/hgp/moves.h"

/* `moves` may be NULL (no exceptions). All of the layout lives in `arena`. */
enum cleave_status cleave__hgp_emit(const struct cleave_key_space *space, const uint32_t *key_shard,
                                    const struct cleave_moves *moves, struct cleave_arena *arena,
                                    struct cleave_layout *layout, struct cleave_error *error);

#endif
