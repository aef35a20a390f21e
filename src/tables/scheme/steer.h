/* What a person decides about a placement: options, limits and constraints. This is what a
 * constraints file (YAML) holds, what steering changes, and what every placing reads.
 *
 * All pointers live in the caller's arena. Start from CLEAVE_STEER_DEFAULTS. */
#ifndef CLEAVE_TABLES_SCHEME_STEER_H
#define CLEAVE_TABLES_SCHEME_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "tables/sql/value.h"

enum cleave_replicate { CLEAVE_REPLICATE_AUTO, CLEAVE_REPLICATE_ALWAYS, CLEAVE_REPLICATE_NEVER };

/* A group of rows by name: table `table`, rows whose `column` holds `value` (as SQL text); column
 * NULL: the whole table. */
struct cleave_selector {
    const char *table, *column, *value;
};

enum cleave_rule_kind { CLEAVE_PIN, CLEAVE_TOGETHER, CLEAVE_APART, CLEAVE_SPLIT, CLEAVE_MERGE };

struct cleave_rule {
    enum cleave_rule_kind kind;
    struct cleave_selector a, b; /* b for TOGETHER, APART and MERGE */
    uint32_t shard;              /* for PIN */
};

struct cleave_table_steer {
    const char *table;
    enum cleave_replicate replicate;
    const char *key; /* partition by this column; NULL: chosen */
};

struct cleave_node { /* one shard's machine; 0 means no limit, share 0 means equal */
    double storage_bytes, accesses, network, share;
};

struct cleave_steer {
    bool replication;    /* tables may be replicated */
    bool derived_keys;   /* columns that spell another's number may route */
    bool exceptions;     /* rows may leave their rule when that saves transactions */
    uint32_t attributes; /* k: the most accessed attributes that cut a table into groups */
    double epsilon;      /* balance aimed at, size and accesses each */
    bool strict;         /* balance before distributed transactions */
    double alpha, beta;  /* of the skew factor */
    double size_weight, access_weight; /* 0 leaves that balance out */
    uint32_t iterations, split_top;    /* refine: budget, groups split an iteration */
    bool rank_by_ratio;                /* refine: rank by size / access, else by size */
    double coordination;               /* work of a distributed transaction's part, local = 1 */
    struct cleave_node *nodes; /* [node_count], by shard; fewer than shards: rest unlimited */
    uint32_t node_count;
    struct cleave_table_steer *tables;
    uint32_t table_count;
    struct cleave_rule *rules;
    uint32_t rule_count;
};

#define CLEAVE_STEER_DEFAULTS                                                                      \
    {                                                                                              \
        .replication = true, .derived_keys = true, .exceptions = true, .attributes = 2,            \
        .epsilon = 0.10, .alpha = 0.5, .beta = 0.5, .size_weight = 1, .access_weight = 1,          \
        .iterations = 10, .split_top = 20, .coordination = 2.0                                     \
    }

#endif
