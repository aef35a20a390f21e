/* Live repartition: tables go from one placement to another, piece by piece (route/mix.h), while
 * transactions run.
 *
 * Two parts. The *gate* (shift_gate.c) is the dispatcher's: it knows which pieces each transaction
 * touches, holds back those that touch the pieces being switched, and notes what was written. The
 * *mover* (shift.c) is an actor with sessions of its own. For some pieces at a time:
 *
 * 1. Copy. Rows whose home changes are read where A has them and put into staging tables
 *    cleave_incoming_N (N: the table's number) where B wants them, in short transactions, while
 *    transactions on these pieces go on. From before the first is read, every transaction's end
 *    notes the boxes that it wrote.
 * 2. Catch up. What lies in the noted boxes is taken out of staging and copied again, in rounds,
 *    until little is left.
 * 3. Hold. Transactions that touch the pieces wait; those under way end. Then the last catching up.
 * 4. Switch. One distributed transaction: rows leave their old shards, staging becomes rows, and
 *    cleave_moves(plan, piece) on shard 0, the anchor, says that it is done. The map flips, and
 *    what was held is planned anew.
 * 5. Staging is emptied.
 *
 * So at each moment a row is in the tables of exactly the shards where the mix says, and no
 * transaction runs by a map of which a piece that it touches has flipped since.
 *
 * Why it is not src/move: docs/adr/0009.
 *
 * After a crash at any point: staging is thrown away, pieces in cleave_moves have moved, and a
 * switch that was under way is finished or undone as decided (decide.h; the mover has a
 * coordinator's name of its own). A shard that is gone makes the mover begin these pieces again
 * once it is back. */
#ifndef CLEAVE_TABLES_REPLAY_SHIFT_H
#define CLEAVE_TABLES_REPLAY_SHIFT_H

#include "base/map.h"
#include "runtime/actor.h"
#include "tables/replay/decide.h"
#include "tables/replay/plan.h"
#include "tables/replay/replay.h"
#include "tables/route/mix.h"

enum cleave__shift_kind {
    CLEAVE__SHIFT_GO = 0x7360, /* dispatcher to mover: begin */
    CLEAVE__SHIFT_NOTE,        /* asks: forget all notes; note writes to these pieces from now on */
    CLEAVE__SHIFT_TAKE,        /* asks for the notes so far */
    CLEAVE__SHIFT_HOLD,        /* asks to hold these pieces back; answered once none is under way */
    CLEAVE__SHIFT_MOVED,       /* says: these pieces have moved; lets go */
    CLEAVE__SHIFT_NOTES,       /* the answer to each: what was noted */
    CLEAVE__SHIFT_STEP         /* the mover to itself */
};

/* A bug on purpose, for tests. */
enum cleave__shift_plant {
    CLEAVE__SHIFT_PLANT_NOTHING,
    CLEAVE__SHIFT_PLANT_NO_CATCH_UP, /* notes are thrown away */
    CLEAVE__SHIFT_PLANT_NO_DRAIN     /* a hold does not wait for what is under way */
};

/* ---- the gate ---- */

struct cleave__shift_gate;

/* `mix` is borrowed. */
enum cleave_status cleave__shift_gate_new(struct cleave__mix *mix, uint32_t window,
                                          enum cleave__shift_plant plant,
                                          struct cleave__shift_gate **out,
                                          struct cleave_error *error);
void cleave__shift_gate_free(struct cleave__shift_gate *gate);
/* A transaction in a slot of the window (below `window`) was planned. */
void cleave__shift_gate_plan(struct cleave__shift_gate *gate, uint32_t slot,
                             const struct cleave__planned *planned);
/* Whether a piece has moved since; plan it again. */
bool cleave__shift_gate_outdated(const struct cleave__shift_gate *gate, uint32_t slot);
/* It can be planned under the last map alone: holds it until then. */
void cleave__shift_gate_wait(struct cleave__shift_gate *gate, uint32_t slot);
bool cleave__shift_gate_may_begin(const struct cleave__shift_gate *gate, uint32_t slot);
void cleave__shift_gate_begin(struct cleave__shift_gate *gate, uint32_t slot);
/* What may not begin waits here, under its number in the order; _released gives one back that may
 * begin now, the first that came; CLEAVE_MIX_NONE: none. */
bool cleave__shift_gate_hold(struct cleave__shift_gate *gate, uint32_t slot, uint32_t number);
uint32_t cleave__shift_gate_released(struct cleave__shift_gate *gate);
/* It is over, committed everywhere. `distributed`: more than one shard took part. False: memory is
 * out. */
bool cleave__shift_gate_end(struct cleave__shift_gate *gate, struct cleave_context *context,
                            uint32_t slot, const struct cleave__planned *planned, bool distributed);
/* A message of the mover's; more transactions may begin after it. False: memory is out, or it makes
 * no sense. */
bool cleave__shift_gate_receive(struct cleave__shift_gate *gate, struct cleave_context *context,
                                const struct cleave_message *message);
uint64_t cleave__shift_gate_held(const struct cleave__shift_gate *gate);
bool cleave__shift_gate_check(const struct cleave__shift_gate *gate);

/* ---- the mover ---- */

struct cleave__shift_seat {                   /* its argument */
    const struct cleave__replay_world *world; /* of the replay; its lookup is the mix's face */
    struct cleave__mix *mix;
    const char *coordinator;
    char plan[20];                  /* which two placements, cut how: 16 hexadecimal digits */
    const char *command;            /* that goes on with it, in words */
    uint64_t base_id;               /* of its distributed transactions */
    uint32_t batch_rows, move_rows; /* a copying transaction's, and a switch's, about */
    uint32_t dispatcher;            /* actor */
};

/* The plan's name: the same for the same two lookup tables, cut alike. */
void cleave__shift_name(const struct cleave_lookup *from, const struct cleave_lookup *to,
                        uint32_t pieces, char name[20]);
/* Before anything runs: settles what an earlier run left, makes the tables, empties staging, and
 * moves in `mix` what has moved already. CLEAVE_BAD_INPUT: a shard's tables are not the schema's.
 */
enum cleave_status cleave__shift_prepare(struct cleave__shift_seat *seat,
                                         struct cleave_error *error);
/* Takes the staging tables away. */
enum cleave_status cleave__shift_clean(const struct cleave__shift_seat *seat,
                                       struct cleave_error *error);

struct cleave__shift_note { /* rows of a table that were written */
    uint32_t table;
    struct cleave_shardset shards; /* where A may have them */
    const char *condition;         /* in SQL */
};

enum cleave__shift_phase {
    CLEAVE__SHIFT_WAITING,
    CLEAVE__SHIFT_COPYING,
    CLEAVE__SHIFT_CATCHING_UP,
    CLEAVE__SHIFT_HOLDING,
    CLEAVE__SHIFT_OVER
};

struct cleave__shift_port { /* one shard's two sessions: rows are read while others are written */
    struct cleave__port source, target;
    uint32_t filling; /* table + 1 whose rows are being written; 0: none */
    bool open;        /* a transaction of the target's */
};

struct cleave__shift_key { /* of the rows that are moving, as a store prints it */
    uint32_t table;
    bool null;
    const char *text;
    uint32_t home; /* under B */
};

struct cleave__shift_task { /* rows of a table to copy from a shard */
    uint32_t table, shard;
    uint32_t first, count; /* of the whole numbers listed; count 0: all rows */
    bool nulls;            /* and those without a key */
};

struct cleave__shift {
    const struct cleave__shift_seat *seat;
    struct cleave__mix *mix;
    const struct cleave_lookup *from, *to;
    const struct cleave_schema *schema;
    uint32_t shards, pieces, words;
    struct cleave__shift_port *ports; /* [shards] */
    enum cleave__shift_phase phase;

    /* what there is to move */
    struct cleave__map *keys; /* [pieces], at the first of a run: whole numbers seen -> rows */
    uint64_t *piece_rows;     /* [pieces] */
    uint64_t *piece_gain;     /* [pieces]: distributed transactions that touched it */
    bool *unlisted;           /* [pieces], at the first of a run: list its keys again */
    bool *decides;            /* columns that decide homes, table after table */
    uint32_t *column_base;    /* [tables] */

    /* the pieces that move now */
    uint64_t *set;                  /* [words] */
    CLEAVE_VECTOR(int64_t) numbers; /* keys of tasks */
    CLEAVE_VECTOR(struct cleave__shift_task) tasks;
    size_t next_task;
    struct cleave_arena arena; /* of the keys below */
    struct cleave_intern seen; /* table, text */
    CLEAVE_VECTOR(struct cleave__shift_key) moving;
    CLEAVE_VECTOR(struct cleave__shift_note) notes;
    struct cleave_arena note_arena;
    uint32_t rounds;
    uint64_t attempts, held_since_ns, began_ns;
    uint64_t retry_until_ns;

    struct cleave_shift_result result;
};

extern const struct cleave_actor_ops cleave__shift_ops;

/* ---- inside ---- */

/* shift_list.c: counts rows by piece, and lists keys that are whole numbers. `only`: of this run of
 * pieces; CLEAVE_MIX_NONE: of all. */
enum cleave_status cleave__shift_list(struct cleave__shift *shift, uint32_t only,
                                      struct cleave_error *error);
/* Chooses the next pieces; false: none is left. */
bool cleave__shift_choose(struct cleave__shift *shift);
/* The tasks that copy them. */
enum cleave_status cleave__shift_make_tasks(struct cleave__shift *shift,
                                            struct cleave_error *error);

/* shift_copy.c */
enum cleave_status cleave__shift_copy(struct cleave__shift *shift,
                                      const struct cleave__shift_task *task,
                                      struct cleave_error *error);
/* Copies what the notes say anew, and forgets them. */
enum cleave_status cleave__shift_catch_up(struct cleave__shift *shift, struct cleave_error *error);
/* Empties staging everywhere. */
enum cleave_status cleave__shift_empty(struct cleave__shift *shift, struct cleave_error *error);
bool cleave__shift_moves(const struct cleave__shift *shift, uint32_t table);
/* Whether rows of a moving table that stay where they are are left alone. */
bool cleave__shift_lean(const struct cleave__shift *shift, uint32_t table);
/* A table's columns, by commas, but for those that `left_out` (or NULL) says; the name of its
 * staging table. */
void cleave__shift_put_columns(struct cleave_writer *writer, const struct cleave_table *table,
                               const bool *left_out);
void cleave__shift_staging(uint32_t table, char name[40]);

/* shift_switch.c: CLEAVE_IO: nothing was done. */
enum cleave_status cleave__shift_switch(struct cleave__shift *shift, struct cleave_error *error);

/* A statement without parameters in a transaction of its own. */
enum cleave_status cleave__shift_run(struct cleave__port *port, const char *text,
                                     struct cleave_error *error);

#endif
