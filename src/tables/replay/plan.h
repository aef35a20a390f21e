/* A transaction of a trace -> what to run on which shard, and how the answers come together.
 *
 * The shards of a transaction are exactly those that counting says (route/lookup.h): a statement
 * goes to the shards of its own boxes, a read of copied tables to one that takes part anyway. What
 * a statement then needs for the unsharded database's answer is its *rule*:
 *
 * - PASS: nothing is run (SET and the like);
 * - ROWS: its pieces' rows, one after the other, and the sum of what they affected; of a piece that
 *   writes copies, those of one shard;
 * - FIRST: a change of a table with two keys on several shards: it gives back every changed row,
 * and those count that lie on the shard of their first key;
 * - MOVE: an UPDATE that can change where rows live: it gives back every changed row, and those
 *   whose home is elsewhere now are removed here and inserted there;
 * - GATHER: a query over several shards. Its pieces fetch every row that it may read (the analyzer
 *   never misses one); it is then run, unchanged, on tables that hold just these.
 *
 * A transaction with a statement that none of them fits is refused as a whole, before anything is
 * done: a change that reads another sharded table on several shards, an INSERT whose rows' homes
 * are not certain, schema changes, COPY, and what may touch more than its text says. */
#ifndef CLEAVE_TABLES_REPLAY_PLAN_H
#define CLEAVE_TABLES_REPLAY_PLAN_H

#include "base/bytes.h"
#include "tables/replay/shape.h"
#include "tables/route/lookup.h"
#include "tables/source/trace.h"

enum cleave__rule {
    CLEAVE__RULE_PASS,
    CLEAVE__RULE_ROWS,
    CLEAVE__RULE_FIRST,
    CLEAVE__RULE_MOVE,
    CLEAVE__RULE_GATHER,
    CLEAVE__RULES
};

struct cleave__piece {
    const char *text;
    bool bound;     /* takes the statement's parameters */
    bool copies;    /* the shards do the same: one answer counts */
    bool second;    /* GATHER: rows are taken by their home of the second key */
    uint32_t table; /* GATHER: whose rows these are */
    struct cleave_shardset shards;
};

struct cleave__planned_statement {
    const char *text; /* as the trace has it: the reference runs it, and so does GATHER */
    uint32_t parameter_count;
    const char *const *parameters; /* NULL: SQL's NULL */
    enum cleave__rule rule;
    uint32_t piece_count;
    struct cleave__piece *pieces;
    bool rehomes;       /* sets a column that decides where rows live, whatever its rule */
    uint32_t table;     /* FIRST, MOVE, `rehomes`: the table that is changed */
    bool returning;     /* FIRST, MOVE: columns of its own come before the row's */
    uint32_t key_count; /* ORDER BY: the first keys that are columns of the answer */
    const char **keys;
};

struct cleave__planned {
    bool writes;
    struct cleave_shardset shards; /* one at least */
    uint32_t statement_count;
    struct cleave__planned_statement *statements;
    uint32_t access_count; /* of all statements, for what must keep its order */
    struct cleave_access *accesses;
};

struct cleave__planner;

/* `lookup` is borrowed. */
enum cleave_status cleave__planner_new(const struct cleave_lookup *lookup,
                                       struct cleave__planner **out, struct cleave_error *error);
void cleave__planner_free(struct cleave__planner *planner);
/* The analyzer that plans are made with, for whoever counts by the same boxes. */
struct cleave_analyzer *cleave__planner_analyzer(struct cleave__planner *planner);

/* `out` lives in `arena` and borrows nothing. `turn` decides where it goes when any shard will do.
 * CLEAVE_UNSUPPORTED: refused; the error names the statement and why. */
enum cleave_status cleave__planner_plan(struct cleave__planner *planner,
                                        const struct cleave_trace_transaction *transaction,
                                        uint64_t turn, struct cleave_arena *arena,
                                        struct cleave__planned *out, struct cleave_error *error);
/* Whether a plan obeys what is said above. */
bool cleave__planned_check(const struct cleave_lookup *lookup,
                           const struct cleave__planned *planned);

/* ---- inside ---- */

/* plan_fetch.c: a query that fetches the rows of some boxes of a table; more rows are no harm.
 * NULL: memory is out. */
const char *cleave__fetch_text(const struct cleave_table *table,
                               const struct cleave_access *const *accesses, uint32_t access_count,
                               struct cleave_arena *arena);
/* What it says of one box, as a condition. False, and nothing is written: it says nothing. */
bool cleave__fetch_box(struct cleave_writer *writer, const struct cleave_table *table,
                       const struct cleave_box *box);
/* plan_split.c: cuts INSERT ... VALUES (..), (..) into as many of one row each. False: it cannot.
 */
bool cleave__insert_split(const char *text, size_t length, uint32_t row_count,
                          struct cleave_arena *arena, const char **texts);

#endif
