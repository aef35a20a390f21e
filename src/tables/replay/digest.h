/* An answer summed up, so that two stores' can be compared without sending rows about.
 *
 * SQL leaves the order of rows open, but for what ORDER BY says of it: so rows are compared as a
 * multiset, and those keys of ORDER BY that are columns of the answer, in sequence, besides. */
#ifndef CLEAVE_TABLES_REPLAY_DIGEST_H
#define CLEAVE_TABLES_REPLAY_DIGEST_H

#include "base/bytes.h"
#include "store/store.h"

struct cleave__digest { /* starts as all zeroes: no rows */
    uint64_t affected;  /* rows changed; or returned */
    uint64_t rows;
    uint64_t multiset; /* of the rows */
    uint64_t sequence; /* of their keys */
};

/* One row more. `keys` are indices of columns. */
void cleave__digest_row(struct cleave__digest *digest, const char *const *values, uint32_t columns,
                        const uint32_t *keys, uint32_t key_count);
/* All rows of an answer, whose first `columns` columns count, and what it affected. `names` are
 * keys of ORDER BY; from the first on that is not one column of the answer they are left out. */
void cleave__digest_answer(struct cleave__digest *digest, const struct cleave_store_answer *answer,
                           uint32_t columns, const char *const *names, uint32_t name_count);
bool cleave__digest_equal(const struct cleave__digest *a, const struct cleave__digest *b);
void cleave__digest_write(const struct cleave__digest *digest, struct cleave_writer *writer);
void cleave__digest_read(struct cleave__digest *digest, struct cleave_reader *reader);

#endif
