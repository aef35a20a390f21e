/* What the design search looks at: a sample of transactions, each access with the values it gives
 * for every candidate key of its table. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_SAMPLE_H
#define CLEAVE_TABLES_SCHEME_HGP_SAMPLE_H

#include "tables/scheme/hgp/design.h"
#include "tables/shape/cuts.h"

enum { CLEAVE_CANDIDATES = 6 };

struct cleave_span {
    uint32_t first, count; /* into `values`; count CLEAVE_ABSENT: the key is left open */
};

struct cleave_sample_access {
    uint32_t table;
    uint32_t spans; /* index of the box's first span; one a candidate of its table */
    bool write;
};

/* Classes that are often given as ranges: their domain is cut into cells of equal weight, and a
 * value or range counts as the cells it meets. */
struct cleave_sample_cells {
    uint32_t root;
    struct cleave_cuts cuts;
};

struct cleave_sample {
    uint32_t transactions;
    uint32_t *offsets; /* [transactions + 1] into accesses */
    struct cleave_sample_access *accesses;
    CLEAVE_VECTOR(struct cleave_span) spans;
    CLEAVE_VECTOR(uint64_t) values; /* class and value, hashed together */
    CLEAVE_VECTOR(struct cleave_sample_cells) cells;
    uint32_t *candidate_count; /* [tables] */
    uint32_t (*candidates)[CLEAVE_CANDIDATES];
    uint32_t *first, *list; /* table -> sample transactions that touch it */
};

/* False when memory is out. Either way _free it. */
bool cleave__sample_build(const struct cleave_scheme_input *input, struct cleave_sample *sample);
void cleave__sample_free(struct cleave_sample *sample);

/* What a person fixed of a table. */
bool cleave__may_replicate(const struct cleave_scheme_input *input, uint32_t table);
bool cleave__must_replicate(const struct cleave_scheme_input *input, uint32_t table);

#endif
