/* Schemes: ways to lay tables out over shards. One algorithm a file, one registry row each; all are
 * counted alike, through the lookup table their layout makes. */
#ifndef CLEAVE_TABLES_SCHEME_SCHEME_H
#define CLEAVE_TABLES_SCHEME_SCHEME_H

#include "cleave/progress.h"
#include "tables/route/layout.h"
#include "tables/scheme/steer.h"
#include "tables/shape/profile.h"

struct cleave_scheme_input {
    const struct cleave_schema *schema;
    const struct cleave_workload *workload; /* the training transactions */
    const struct cleave_profile *profile;   /* of that workload */
    uint32_t shards;
    uint64_t seed;
    const struct cleave_steer *steer; /* constraints and options; never NULL */
    const struct cleave_progress *progress;
};

struct cleave_scheme {
    const char *name;    /* "HGP" */
    const char *summary; /* one line */
    /* Fills `layout` (schema and shards set, pointers in `arena`). `notes` (may be NULL) receives
     * lines of words about what was decided and why, in `arena`. */
    enum cleave_status (*place)(const struct cleave_scheme_input *input, struct cleave_arena *arena,
                                struct cleave_layout *layout, const char **notes,
                                struct cleave_error *error);
};

/* Rows 0.. until NULL: HGP, SH, PKH, PKR, PKRR, CMRR, AllR. */
const struct cleave_scheme *cleave__scheme_at(uint32_t index);
/* By name, case not minded; NULL when there is none. */
const struct cleave_scheme *cleave__scheme_find(const char *name);

/* The schemes, each in its own file. */
enum cleave_status cleave__place_hgp(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_sh(const struct cleave_scheme_input *input,
                                    struct cleave_arena *arena, struct cleave_layout *layout,
                                    const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_pkh(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_pkr(const struct cleave_scheme_input *input,
                                     struct cleave_arena *arena, struct cleave_layout *layout,
                                     const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_pkrr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_cmrr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error);
enum cleave_status cleave__place_allr(const struct cleave_scheme_input *input,
                                      struct cleave_arena *arena, struct cleave_layout *layout,
                                      const char **notes, struct cleave_error *error);

/* A layout with one map (hash default) and every table keyed by its first primary-key column (or
 * its first column): what schemes start from. False when memory is out. */
bool cleave__layout_start(const struct cleave_schema *schema, uint32_t shards,
                          struct cleave_arena *arena, struct cleave_layout *layout);
/* Where a key map sends a value. O(log entries). */
uint32_t cleave__map_shard(const struct cleave_key_map *map, uint32_t shards,
                           const struct cleave_value *key);

#endif
