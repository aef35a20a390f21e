/* A lookup table that stands between two others: rows live where one says, those of the *pieces*
 * that have moved where the other says. So a database can go from placement A ("from") to placement
 * B ("to") piece by piece while statements are routed.
 *
 * A piece is a set of rows that moves as one:
 * - of a table that is split by one key under both, the rows whose value of B's key column has the
 *   same hash, modulo a number of pieces; tables that share a key map of B share the pieces, so
 * that rows which belong together (a warehouse, a subscriber) move together. A row that nobody has
 * seen yet has a piece like any other;
 * - of a table whose kind changes (copied everywhere, or by two keys, under one of them), or that
 * is copied on more or fewer shards, the whole table;
 * - a table whose rows live at the same place under both has none.
 *
 * A mix answers through the calls of lookup.h (cleave__mix_lookup), exactly where A and B are: a
 * box that pins the key of B goes by the sides of its pieces, any other touches the shards of both
 * as long as some pieces have moved and others not. Its tables are numbered as A's and B's, which
 * must be of the same schema. It has as many shards as the larger of them.
 *
 * A table that is copied everywhere is read on whichever shard takes part. So when B has more
 * shards than A, tables that A copies are one piece, which moves first (cleave__mix_ready; _check);
 * and when it has fewer, tables that B copies have copies on all of A's shards until everything has
 * moved. Those on shards that B does not have are then no longer read, and are the mover's to
 * remove.
 *
 * Thread rule: one thread moves pieces; any may ask meanwhile about rows and boxes that the piece
 * being moved does not touch. Costs: a row, and a box, some 20 ns more than a lookup table's. */
#ifndef CLEAVE_TABLES_ROUTE_MIX_H
#define CLEAVE_TABLES_ROUTE_MIX_H

#include "tables/route/lookup.h"

enum { CLEAVE_MIX_PIECES_MOST = 65536, CLEAVE_MIX_NONE = UINT32_MAX };

enum cleave__mix_kind {
    CLEAVE__MIX_STILL, /* no row moves */
    CLEAVE__MIX_KEYED, /* pieces by key */
    CLEAVE__MIX_WHOLE  /* one piece */
};

struct cleave__mix_table {
    enum cleave__mix_kind kind;
    uint32_t first, count; /* its pieces; tables that share a key map of B have the same */
    uint32_t key_column;   /* KEYED: B's */
};

struct cleave__mix;

/* `pieces`: how many by key, for each key map of B; at least 1. Both lookups are borrowed.
 * CLEAVE_BAD_ARGUMENT: they are of different schemas; CLEAVE_LIMIT: too many pieces. */
enum cleave_status cleave__mix_new(const struct cleave_lookup *from, const struct cleave_lookup *to,
                                   uint32_t pieces, struct cleave__mix **out,
                                   struct cleave_error *error);
void cleave__mix_free(struct cleave__mix *mix);

/* Its face: for the calls of lookup.h that ask (not write, not _bytes), as long as the mix lives.
 */
const struct cleave_lookup *cleave__mix_lookup(const struct cleave__mix *mix);
const struct cleave_lookup *cleave__mix_from(const struct cleave__mix *mix);
const struct cleave_lookup *cleave__mix_to(const struct cleave__mix *mix);

const struct cleave__mix_table *cleave__mix_table(const struct cleave__mix *mix, uint32_t table);
uint32_t cleave__mix_pieces(const struct cleave__mix *mix);
bool cleave__mix_moved(const struct cleave__mix *mix, uint32_t piece);
/* Whether the order allows the piece to move now. */
bool cleave__mix_ready(const struct cleave__mix *mix, uint32_t piece);
/* From now on its rows live where B says. */
void cleave__mix_move(struct cleave__mix *mix, uint32_t piece);
/* All have. */
bool cleave__mix_done(const struct cleave__mix *mix);

/* The piece of a row (values as of cleave__lookup_row); CLEAVE_MIX_NONE: of a table without. */
uint32_t cleave__mix_piece(const struct cleave__mix *mix, uint32_t table,
                           const struct cleave_value *values, uint32_t value_count);
/* Adds to `set` [(pieces + 63) / 64], bits, the pieces that rows of a box may lie in: those of the
 * keys that it pins, else all of its table. */
void cleave__mix_box_pieces(const struct cleave__mix *mix, uint32_t table,
                            const struct cleave_box *box, bool insert, uint64_t *set);

bool cleave__mix_check(const struct cleave__mix *mix);

/* ---- inside: what the calls of lookup.h do for a mix ---- */

const struct cleave_lookup *cleave__mix_side(const struct cleave__mix *mix, uint32_t table,
                                             const struct cleave_value *values,
                                             uint32_t value_count);
/* Of a table that is not KEYED: which of the two answers for it now. NULL: it is KEYED. */
const struct cleave_lookup *cleave__mix_whole_side(const struct cleave__mix *mix, uint32_t table);
void cleave__mix_box(const struct cleave__mix *mix, uint32_t table, const struct cleave_box *box,
                     bool insert, struct cleave_shardset *shards);
/* On how many shards a table has copies that a side copies everywhere. */
uint32_t cleave__mix_copied(const struct cleave__mix *mix, const struct cleave_lookup *side);
uint32_t cleave__mix_copies(const struct cleave__mix *mix);

#endif
