/* A workload in memory: transactions as lists of interned boxes.
 *
 * A box that several statements touch is stored once, whatever transaction it is in; so memory
 * grows with distinct regions, plus 8 bytes for each (transaction, region) pair. Reads of several
 * boxes are kept as such besides (4 bytes a box and one more), for tables with two keys: which
 * copies serve a read is decided for all its boxes together (route/layout.h). */
#ifndef CLEAVE_TABLES_SHAPE_WORKLOAD_H
#define CLEAVE_TABLES_SHAPE_WORKLOAD_H

#include "base/intern.h"
#include "base/vector.h"
#include "tables/source/generate.h"
#include "tables/source/trace.h"
#include "tables/sql/analyze.h"

struct cleave_workload_box {
    uint32_t table;
    bool insert;
    struct cleave_box box;
};

struct cleave_workload_access {
    uint32_t box;
    bool write;
    bool part; /* read only as one of several boxes: `unions` has them */
};

struct cleave_workload {
    const struct cleave_schema *schema; /* borrowed */
    struct cleave_arena arena;
    struct cleave_intern interned; /* serialised boxes; id = box */
    CLEAVE_VECTOR(struct cleave_workload_box) boxes;
    CLEAVE_VECTOR(uint64_t) offsets;                       /* [transactions + 1] */
    CLEAVE_VECTOR(struct cleave_workload_access) accesses; /* distinct boxes of one transaction */
    CLEAVE_VECTOR(uint32_t) unions;        /* each read of several boxes: their number, then they */
    CLEAVE_VECTOR(uint64_t) union_offsets; /* [transactions + 1] */
    CLEAVE_VECTOR(bool) writes;            /* [transactions]: it writes something */
    uint32_t transactions;
    /* What was left out, by kind. */
    uint64_t statements, unparsed, oversized, foreign, opaque, empty_transactions;
};

void cleave__workload_init(struct cleave_workload *workload, const struct cleave_schema *schema);
void cleave__workload_free(struct cleave_workload *workload);
/* Adds one transaction. Statements that cannot be parsed are counted; a transaction that touches no
 * table of the schema is counted and left out (`*added` false; may be NULL). */
enum cleave_status cleave__workload_add(struct cleave_workload *workload,
                                        struct cleave_analyzer *analyzer,
                                        const struct cleave_trace_transaction *transaction,
                                        bool *added, struct cleave_error *error);

/* Adds a copy of one transaction of another workload of the same schema. */
enum cleave_status cleave__workload_copy(struct cleave_workload *workload,
                                         const struct cleave_workload *from, uint32_t transaction,
                                         struct cleave_error *error);

/* The next of a transaction's reads of several boxes: `*at` starts at 0. NULL: no more. */
const uint32_t *cleave__workload_union(const struct cleave_workload *workload, uint32_t transaction,
                                       uint64_t *at, uint32_t *count);

/* Boxes as bytes: equal exactly when the boxes say the same. `tag` goes in front (a table number,
 * or anything that keeps kinds apart). Id in `table`; CLEAVE_INTERN_NONE when memory is out.
 * `scratch` starts as all zeroes and is freed with CLEAVE_VECTOR_FREE(&scratch.out). */
struct cleave_box_bytes {
    CLEAVE_VECTOR(unsigned char) out;
    bool failed;
};
uint32_t cleave__box_intern(struct cleave_intern *table, uint32_t tag, bool insert,
                            const struct cleave_box *box, struct cleave_box_bytes *scratch);

#endif
