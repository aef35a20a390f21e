/* The workload hypergraph under a design: one vertex for each value (or interval) of a key class,
 * standing for all the rows of all the tables that follow it; one net a transaction.
 *
 * This is the tuple-group hypergraph with every group contracted into the key value that its rule
 * sends it by, so a placement of it is a rule that unseen rows of the same keys obey too. */
#ifndef CLEAVE_TABLES_SCHEME_HGP_KEYS_H
#define CLEAVE_TABLES_SCHEME_HGP_KEYS_H

#include "tables/scheme/hgp/design.h"
#include "tables/shape/cuts.h"

struct cleave_key_vertex {
    uint32_t class;            /* index of the key class */
    struct cleave_value value; /* the value; or the low end of an interval */
    uint64_t access;
    double size; /* rows or bytes */
};

struct cleave_key_class {
    uint32_t root;                       /* column number of the class's root */
    bool intervals;                      /* vertices are intervals of an integer domain, in order */
    uint32_t first_vertex, vertex_count; /* when intervals: contiguous */
    struct cleave_cuts cuts;             /* when intervals */
};

enum cleave_transaction_kind {
    CLEAVE_TRANSACTION_TIED, /* its vertices decide */
    CLEAVE_TRANSACTION_LOST, /* distributed whatever the placement (open key, write to a copy) */
};

struct cleave_key_space {
    const struct cleave_scheme_input *input;
    const struct cleave_design *design;
    uint32_t class_count;
    struct cleave_key_class *classes;
    uint32_t *class_of_table; /* [tables]: CLEAVE_ABSENT: replicated or never shown */
    uint32_t *second_class;   /* [tables]: of the second copy's key; CLEAVE_ABSENT: one copy */
    bool twice;               /* some table has a second copy */
    CLEAVE_VECTOR(struct cleave_key_vertex) vertices;
    struct cleave_intern index; /* (class, value hash) -> position in index_vertex = vertex */
    uint64_t *offsets;          /* [transactions + 1] */
    CLEAVE_VECTOR(uint32_t) pins;
    unsigned char *kinds;      /* [transactions] */
    double size_total;         /* of all placed tables, unseen rows included */
    struct cleave_arena arena; /* values that rules name */
};

enum cleave_status cleave__keys_build(const struct cleave_scheme_input *input,
                                      const struct cleave_design *design,
                                      struct cleave_key_space *out, struct cleave_error *error);
void cleave__keys_free(struct cleave_key_space *space);

/* Vertex of a value of a class; CLEAVE_ABSENT when the workload never shows it. */
uint32_t cleave__keys_find(const struct cleave_key_space *space, uint32_t class,
                           const struct cleave_value *value);

/* Places the vertices, no shard past its share by more than epsilon if that can be. shard[vertex] =
 * CLEAVE_ABSENT leaves a value to the map's default (hash). `used` [transactions] (NULL: all) picks
 * the transactions that count. */
enum cleave_status cleave__keys_place(const struct cleave_key_space *space,
                                      const unsigned char *used, double epsilon, uint32_t *shard,
                                      bool *balanced, struct cleave_error *error);
/* Work of the busiest shard, the unsharded database's being 1: transactions that touch it, a part
 * of a distributed one weighed by the steer's `coordination`. A lost transaction touches all.
 * Counts the transactions with used[t] == want (used NULL: all). */
double cleave__keys_busiest(const struct cleave_key_space *space, const uint32_t *shard,
                            const unsigned char *used, unsigned char want);
/* Distributed transactions among those with used[t] == want (used NULL: all). */
uint64_t cleave__keys_count(const struct cleave_key_space *space, const uint32_t *shard,
                            const unsigned char *used, unsigned char want);
/* The shard a vertex's rows live on: its own, or the default's. */
uint32_t cleave__keys_shard(const struct cleave_key_space *space, const uint32_t *shard,
                            uint32_t vertex);
/* marks[vertex] = 1 for those that a person pinned, tied or parted, else 0. */
void cleave__keys_mark_ruled(const struct cleave_key_space *space, unsigned char *marks);
/* The vertex that a selector means, when its column is its table's key; else CLEAVE_ABSENT. */
uint32_t cleave__keys_selected(const struct cleave_key_space *space,
                               const struct cleave_selector *selector, struct cleave_arena *arena);
/* Which column and value a selector means; false when the schema lacks them. Column CLEAVE_ABSENT:
 * the whole table. `value` borrows or lives in `arena`. */
bool cleave__selector_find(const struct cleave_schema *schema,
                           const struct cleave_selector *selector, struct cleave_arena *arena,
                           uint32_t *table, uint32_t *column, struct cleave_value *value);
#endif
