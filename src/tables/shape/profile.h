/* What a workload shows about tables and columns: how often each is accessed, which columns carry
 * the same values (classes), and which columns tell another's value (derived keys).
 *
 * Columns of all tables are numbered in one row: column c of table t is `base[t] + c`. */
#ifndef CLEAVE_TABLES_SHAPE_PROFILE_H
#define CLEAVE_TABLES_SHAPE_PROFILE_H

#include "tables/shape/workload.h"

enum { CLEAVE_WIDEST_RANK = 64 };

struct cleave_column_profile {
    uint64_t accesses; /* (transaction, box) pairs whose box constrains the column */
    uint64_t points;   /* of them: to single values */
    uint32_t distinct; /* distinct values among the points */
    bool integers;     /* every constant seen is an INTEGER */
};

struct cleave_table_profile {
    uint64_t accesses;      /* (transaction, box) pairs */
    uint64_t reads, writes; /* transactions that only read it; that write it */
};

/* `column`'s text holds `key_column`'s number, prefix and suffix cut off: learned from transactions
 * that show both, all of which agreed. */
struct cleave_derivation {
    uint32_t table, column, key_column;
    const char *prefix, *suffix;
    uint64_t support;
};

struct cleave_profile {
    struct cleave_arena arena;
    uint32_t *base; /* [tables + 1] */
    struct cleave_column_profile *columns;
    struct cleave_table_profile *tables;
    uint32_t *class_of;         /* [columns]: the least column number of its class */
    uint64_t *box_transactions; /* [boxes]: transactions that touch the box */
    struct cleave_derivation *derivations;
    uint32_t derivation_count;
};

enum cleave_status cleave__profile_build(const struct cleave_workload *workload,
                                         struct cleave_profile *out, struct cleave_error *error);
void cleave__profile_free(struct cleave_profile *profile);

/* The table's columns by how often they are accessed, most first; ties (within 2 %) go to the one
 * with fewer distinct constants, then to the lower number. Only columns accessed at all. Writes at
 * most `limit` columns, returns how many. */
uint32_t cleave__profile_rank(const struct cleave_profile *profile, uint32_t table, uint32_t *out,
                              uint32_t limit);

/* Bytes (or rows, where bytes are unknown for some table) a row of the table counts for. */
double cleave__row_weight(const struct cleave_schema *schema, uint32_t table);

/* The term of a box on a column, or NULL. */
const struct cleave_term *cleave__box_term(const struct cleave_box *box, uint32_t column);
/* True when every range of the term is a point. */
bool cleave__term_is_points(const struct cleave_term *term);
/* Reads the decimal number between prefix and suffix. */
bool cleave__derived_number(const struct cleave_value *value, const char *prefix,
                            const char *suffix, int64_t *out);

#endif
