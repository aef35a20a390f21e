/* The design: for each table, the column that decides a row's shard, or two columns with a copy of
 * the row by each, or a copy on every shard.
 *
 * Searched on a sample of the training transactions, before any value is placed: two values of
 * one class (see profile.h) meet on one shard, values apart meet by chance only. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_DESIGN_H
#define CLEAVE_TABLES_SCHEME_HGP_DESIGN_H

#include "tables/scheme/scheme.h"

struct cleave_table_design {
    bool replicated;
    uint32_t key;    /* column; CLEAVE_ABSENT for a table the workload never shows */
    uint32_t second; /* column of a second copy's key; CLEAVE_ABSENT: one copy */
};

struct cleave_design {
    struct cleave_table_design *tables; /* [schema tables] */
    double cost; /* expected share of distributed transactions in the sample */
};

/* `pessimism` in 0..1: what it costs when a transaction touches different values that a good map
 * may still bring together: 1 as if they were scattered by hash, 0 as if they always met. */
enum cleave_status cleave__design_search(const struct cleave_scheme_input *input, double pessimism,
                                         struct cleave_arena *arena, struct cleave_design *out,
                                         struct cleave_error *error);
bool cleave__design_equal(const struct cleave_schema *schema, const struct cleave_design *a,
                          const struct cleave_design *b);

/* The single values a box gives for the key of its table: by the key's own term, or by a derived
 * column. Calls `each` for every one; false when the box leaves the key open (or `each` does). */
bool cleave__box_key_points(const struct cleave_profile *profile, bool derived, uint32_t table,
                            const struct cleave_box *box, uint32_t key,
                            bool (*each)(void *context, const struct cleave_value *value),
                            void *context);

#endif
