/* The inside of src/tables/load. */
#ifndef CLEAVE_TABLES_LOAD_INSIDE_H
#define CLEAVE_TABLES_LOAD_INSIDE_H

#include "base/vector.h"
#include "store/store.h"
#include "tables/load/load.h"
#include "tables/route/image.h"
#include "tables/route/words.h"

#define CLEAVE__LOAD_PREFIX "cleave-load-" /* of prepared transactions */

/* Behind a default, or an identity column. */
struct cleave__load_sequence {
    const char *name, *type; /* name: in quotes, with its schema */
    char identity;           /* 'a' always, 'd' by default; '-': it is a default's */
    int64_t next, increment, min, max, cache;
    uint32_t stride; /* on shards: how many share its values */
};

struct cleave__load_column {
    const char *name, *type_name;
    enum cleave_type type;
    uint32_t lookup_column;
    bool not_null, exact;  /* exact: a decimal number, not a float */
    const char *collation; /* quoted, with its schema; NULL: that of the type */
    const char *fallback;  /* DEFAULT, PostgreSQL's; NULL: none */
    const char *generated; /* GENERATED ALWAYS AS; such a column is not filled */
    const struct cleave__load_sequence *sequence; /* NULL: none */
};

/* A text per object: a CHECK constraint, CREATE INDEX, or CREATE TYPE (name: its schema). */
struct cleave__load_extra {
    const char *name, *text;
};

struct cleave__load_table {
    const struct cleave_table *source; /* keys, foreign keys; columns in its order */
    uint32_t lookup_table;
    struct cleave__load_column *columns;
    uint32_t column_count;
    CLEAVE_VECTOR(struct cleave__load_extra) checks;
    CLEAVE_VECTOR(struct cleave__load_extra) indexes;
    uint32_t *filled; /* [filled_count] columns that rows have, in order */
    uint32_t filled_count;
    uint32_t *keys; /* [key_count] places in `filled` that routing reads */
    uint32_t key_count;
    uint64_t rows, *shard_rows; /* [shards] */
};

struct cleave__load_target { /* a shard, or (the last one) the reference */
    const struct cleave_store_ops *ops;
    struct cleave_store_session *session;
    const char *shown;
    uint32_t number; /* of the shard */
    bool reference, sqlite, filling, prepared;
};

struct cleave__load {
    const struct cleave_lookup *lookup;
    const struct cleave_load_options *options;
    struct cleave_arena arena;
    struct cleave_schema *owned; /* the schema, when it was read for this */
    const struct cleave_schema *schema;
    const struct cleave_store_ops *ops; /* of the source; NULL: generated */
    struct cleave_store_session *session;
    const char *shown; /* the source, in messages */
    struct cleave__load_table *tables;
    uint32_t table_count;
    struct cleave__load_target *targets;
    uint32_t target_count;
    CLEAVE_VECTOR(struct cleave__load_extra) types;
    CLEAVE_VECTOR(const char *) remarks;
    char identity[CLEAVE_IDENTITY_SIZE]; /* of the source; "": a benchmark */
    char name[40]; /* of the prepared transactions: this, and their targets' numbers */
    uint32_t recovered;
    bool copies; /* tables of one shard onto another, which knows who it is: this number */
    uint32_t first_number;
};

enum cleave_status cleave__load_no_memory(struct cleave_error *error);
enum cleave_status cleave__load_stopped(const struct cleave__load *load, const char *stage,
                                        uint64_t done, struct cleave_error *error);
bool cleave__load_remark(struct cleave__load *load, const char *format, ...) CLEAVE_PRINTF(2, 3);

/* source.c, source_sqlite.c: the source's schema, and what of it a schema does not tell. */
enum cleave_status cleave__load_source(struct cleave__load *load, struct cleave_error *error);
enum cleave_status cleave__load_source_sqlite(struct cleave__load *load,
                                              struct cleave_error *error);
/* A query's rows on the source, values valid during the call. */
enum cleave_status cleave__load_query(struct cleave__load *load, const char *query,
                                      enum cleave_status (*each)(void *context, uint32_t columns,
                                                                 const char *const *values,
                                                                 struct cleave_error *error),
                                      void *context, struct cleave_error *error);

/* tables.c: the source's tables against the lookup table's. */
enum cleave_status cleave__load_tables(struct cleave__load *load, struct cleave_error *error);

/* By the source's names; NULL: the lookup table has none of them. */
struct cleave__load_column *cleave__load_column_named(struct cleave__load *load, const char *table,
                                                      const char *column);
/* A table's name (c, of schema n) as a schema has it, in SQL. */
#define CLEAVE__LOAD_NAME                                                                          \
    "CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname"

/* objects.c: types, sequences, and remarks of what is not brought. */
enum cleave_status cleave__load_objects(struct cleave__load *load, struct cleave_error *error);
void cleave__load_put_type(struct cleave_words *words, const struct cleave__load_extra *type);
void cleave__load_put_sequence(struct cleave_words *words, const struct cleave__load_target *target,
                               const struct cleave__load_sequence *sequence);
void cleave__load_put_identity(struct cleave_words *words, const struct cleave__load_target *target,
                               const struct cleave__load_sequence *sequence);

/* targets.c: sessions, what is there already, one distributed transaction. */
enum cleave_status cleave__load_open(struct cleave__load *load, struct cleave_error *error);
/* One statement in a transaction of its own; the answer is in the load's arena. */
enum cleave_status cleave__load_one(struct cleave__load *load, struct cleave__load_target *target,
                                    const char *text, struct cleave_store_answer *answer,
                                    struct cleave_error *error);
enum cleave_status cleave__load_batch(struct cleave__load *load, struct cleave__load_target *target,
                                      const struct cleave_store_statement *statements,
                                      uint32_t count, enum cleave_batch_end end,
                                      struct cleave_store_answer *answers,
                                      struct cleave_arena *arena, struct cleave_error *error);
enum cleave_status cleave__load_commit(struct cleave__load *load, struct cleave_error *error);
void cleave__load_undo(struct cleave__load *load);

/* alone.c: sessions of a load, and no other load at the same databases. */
enum cleave_status cleave__load_target_open(struct cleave__load *load,
                                            struct cleave__load_target *target, const char *url,
                                            struct cleave_error *error);
/* Waits a while for another load that has just been killed. CLEAVE_CONFLICT: it is at work. */
enum cleave_status cleave__load_lock(struct cleave__load *load, struct cleave__load_target *target,
                                     struct cleave_error *error);
/* Shard 0 was lost as it was told to commit: `*decided` is whether it did. It has a new session
 * then. On an error nobody knows (`why` is that of the commit). */
enum cleave_status cleave__load_find_out(struct cleave__load *load, bool *decided,
                                         const struct cleave_error *why,
                                         struct cleave_error *error);
/* Whether a target has committed the load of that name as its shard 0; else `*decided` stays. */
enum cleave_status cleave__load_has_decided(struct cleave__load *load,
                                            struct cleave__load_target *target, const char *name,
                                            bool *decided, struct cleave_error *error);

/* ddl.c: statements, in `arena`. */
struct cleave__load_script {
    CLEAVE_VECTOR(struct cleave_store_statement) statements;
    struct cleave_arena *arena;
};
enum cleave_status cleave__load_ddl_before(struct cleave__load *load,
                                           const struct cleave__load_target *target,
                                           struct cleave__load_script *script,
                                           struct cleave_error *error);
enum cleave_status cleave__load_ddl_after(struct cleave__load *load,
                                          const struct cleave__load_target *target,
                                          struct cleave__load_script *script,
                                          struct cleave_error *error);
/* Whether rows of both ends of a foreign key are on one shard, always. */
bool cleave__load_is_local(const struct cleave__load *load, const struct cleave__load_table *table,
                           const struct cleave_foreign_key *foreign);

/* rows.c: every row to its shards. */
enum cleave_status cleave__load_rows(struct cleave__load *load, struct cleave_error *error);

#endif
