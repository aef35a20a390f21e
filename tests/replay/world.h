/* A benchmark placed by a scheme, loaded onto real stores, and replayed. */
#ifndef CLEAVE_TESTS_REPLAY_WORLD_H
#define CLEAVE_TESTS_REPLAY_WORLD_H

#include "cluster/cluster.h"
#include "tables/compare/compare.h"
#include "tables/replay/replay.h"

enum { WORLD_SHARDS_MAX = 8 };

struct replay_world {
    char folder[100];
    uint32_t shards;
    char texts[WORLD_SHARDS_MAX + 1][300];
    const char *urls[WORLD_SHARDS_MAX];
    const char *reference;
    struct cleave_cluster *cluster; /* NULL: SQLite */
};

/* SQLite files in a new folder. */
void world_sqlite(struct replay_world *world, uint32_t shards);
/* PostgreSQL servers, one a shard and one for the reference. False: there is no PostgreSQL here,
 * which was said. */
bool world_postgres(struct replay_world *world, uint32_t shards);
/* Every table is gone. */
void world_empty(struct replay_world *world);
/* Removes the files, ends the servers. */
void world_remove(struct replay_world *world);
/* Statements with semicolons between, in one transaction. */
void world_run(const char *url, const char *statements);
/* The only value of a query's answer. */
void world_ask(const char *url, const char *query, char *out, size_t size);

struct world_list { /* transactions as texts, statements with semicolons between */
    const char *const *texts;
    uint32_t count, next;
    struct cleave_trace_statement statements[64];
    char copy[8192];
};
struct cleave_replay_source world_source(struct world_list *list);
struct cleave_replay_source world_generated(struct cleave_generator *generator);

#endif
