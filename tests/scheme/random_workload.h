/* Random small databases with workloads, as SQL text. */
#ifndef CLEAVE_TESTS_SCHEME_RANDOM_WORKLOAD_H
#define CLEAVE_TESTS_SCHEME_RANDOM_WORKLOAD_H

#include <stddef.h>

#include "support/property.h"

enum { RANDOM_TRANSACTIONS = 48, RANDOM_DDL = 4096 };

enum random_key { RANDOM_INTEGER, RANDOM_TEXT, RANDOM_UUID, RANDOM_TIMESTAMP, RANDOM_KEYS };

/* Tables: account (id), owner and its visits (account, n, note, at), an audit (at, who: no primary
 * key, NULLs), a catalog (id, name) that is mostly read, a view over visits. */
struct random_workload {
    enum random_key key; /* type of account.id */
    bool foreign_keys, ranges, reads_only, writes_only;
    char ddl[RANDOM_DDL];
    char *transactions[RANDOM_TRANSACTIONS];
    uint32_t count;
};

void random_workload_draw(struct property_source *source, struct random_workload *out);
void random_workload_free(struct random_workload *workload);
void random_workload_print(const struct random_workload *workload);
/* The nth key value as SQL text, unquoted. */
void random_workload_key(enum random_key kind, uint64_t n, char *buffer, size_t size);

#endif
