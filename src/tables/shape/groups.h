/* Tuple groups: the rows of one min-term predicate, cut as finely as the workload can tell apart.
 *
 * For each table one or two attributes are looked at. The constants on the first cut its domain
 * into elementary intervals; within each, the constants on the second (of the boxes that reach
 * there) cut again; pieces that the same boxes touch are one group. Contradictions never arise (a
 * piece is an interval, not a conjunction of predicates) and implied predicates vanish in it, so
 * 2^n min-terms are never enumerated: at most (accesses to a table) pieces are. Source: seed 002,
 * section 3.2. */
#ifndef CLEAVE_TABLES_SHAPE_GROUPS_H
#define CLEAVE_TABLES_SHAPE_GROUPS_H

#include "tables/shape/cuts.h"
#include "tables/shape/profile.h"

struct cleave_group {
    uint32_t table;
    struct cleave_range first;           /* on the first attribute */
    uint32_t second_start, second_count; /* pieces on the second, in groups->pieces; 0: all of it */
    bool rest;       /* holds rows that no transaction singled out on the second attribute */
    uint64_t access; /* transactions that touch it */
    double rows;     /* estimated */
};

struct cleave_attributes {
    uint32_t first, second; /* columns; CLEAVE_ABSENT: none */
};

struct cleave_groups {
    CLEAVE_VECTOR(struct cleave_group) list;
    CLEAVE_VECTOR(struct cleave_range) pieces;
    struct cleave_attributes *attributes; /* [tables]; second is dropped where it cut too finely */
    uint32_t *table_start;                /* [tables + 1]: groups of a table are contiguous */
    uint64_t *box_offset;                 /* [boxes + 1] */
    uint32_t *box_group;                  /* groups a box touches */
};

/* A box that no transaction touches, but that cuts like one: `box` has at most two terms, columns 0
 * and 1 meaning the first and second attribute. Rows it covers always get a group. */
struct cleave_phantom {
    uint32_t table;
    struct cleave_box box;
};

/* `attributes` [tables] says what to look at (first CLEAVE_ABSENT: the table is left out; its boxes
 * touch no group). A table whose pieces would pass `limit` is cut by its first attribute alone, or
 * left out. Ranges borrow from the workload. Frees nothing on success: see _free. */
enum cleave_status cleave__groups_build(const struct cleave_workload *workload,
                                        const struct cleave_profile *profile, bool derived,
                                        const struct cleave_attributes *attributes,
                                        const struct cleave_phantom *phantoms,
                                        uint32_t phantom_count, uint32_t limit,
                                        struct cleave_groups *out, struct cleave_error *error);
void cleave__groups_free(struct cleave_groups *groups);

#endif
