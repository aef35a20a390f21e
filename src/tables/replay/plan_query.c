/* Queries over several shards: as they are on each, or gathered. */
#include <stdlib.h>
#include <string.h>

#include "tables/replay/plan_work.h"
#include "tables/route/image.h"

static enum cleave_status check_gather(const struct cleave__plan_work *work)
{
    const struct cleave__shape *shape = work->shape;
    if (shape->qualified)
        return cleave__plan_refuse(work, "a query over several shards that names schemas");
    for (uint32_t r = 0; r < shape->relation_count; r++) {
        uint32_t table = cleave__schema_table(&work->lookup->schema, shape->relations[r],
                                              strlen(shape->relations[r]));
        if (table == CLEAVE_ABSENT || work->lookup->schema.tables[table].view ||
            strcmp(work->lookup->schema.tables[table].name, shape->relations[r]) != 0)
            return cleave__plan_refuse(
                work, "a query over several shards that names a view or a partition");
    }
    return CLEAVE_OK;
}

/* The shards that serve a read, and by which key. */
static bool serving(const struct cleave_lookup *lookup, const struct cleave_access *access,
                    struct cleave_shardset *shards)
{
    struct cleave_shardset by[2] = {{{0}}, {{0}}};
    bool twice = cleave__lookup_twice(lookup, access->table);
    for (uint32_t b = 0; b < access->box_count; b++) {
        for (uint32_t k = 0; k < 1u + twice; k++)
            cleave__lookup_box_by(lookup, access->table, &access->boxes[b], access->insert, k,
                                  &by[k]);
    }
    bool second = twice && cleave__shardset_count(&by[1]) < cleave__shardset_count(&by[0]);
    *shards = by[second];
    return second;
}

/* Both copies of a table stand side by side. */
static int by_table(const void *a, const void *b)
{
    const struct cleave__piece *x = a, *y = b;
    if (x->table != y->table)
        return x->table < y->table ? -1 : 1;
    return (int)x->second - (int)y->second;
}

static enum cleave_status gather(const struct cleave__plan_work *work,
                                 const struct cleave_shardset *all)
{
    const struct cleave_statement *analyzed = work->analyzed;
    enum cleave_status status = check_gather(work);
    if (status)
        return status;
    uint32_t most = analyzed->access_count, count = 0;
    struct cleave__piece *pieces = cleave__plan_pieces(work, most);
    const struct cleave_access **same = cleave__arena_array(work->arena, most + 1, sizeof *same);
    if (!pieces || !same)
        return cleave__plan_no_memory(work);
    for (uint32_t a = 0; a < most; a++) {
        const struct cleave_access *access = &analyzed->accesses[a];
        struct cleave__piece piece = {.table = access->table};
        bool replicated = cleave__lookup_replicated(work->lookup, access->table);
        piece.second = !replicated && serving(work->lookup, access, &piece.shards);
        bool done = false;
        for (uint32_t p = 0; p < count; p++)
            done = done || (pieces[p].table == piece.table && pieces[p].second == piece.second);
        if (done)
            continue;
        uint32_t same_count = 0;
        for (uint32_t b = a; b < most; b++) {
            const struct cleave_access *other = &analyzed->accesses[b];
            struct cleave_shardset shards = {{0}};
            if (other->table != access->table || other->box_count == 0)
                continue;
            if (!replicated && serving(work->lookup, other, &shards) != piece.second)
                continue;
            cleave__shardset_or(&piece.shards, &shards);
            same[same_count++] = other;
        }
        if (replicated || cleave__shardset_count(&piece.shards) == 0)
            cleave__shardset_add(&piece.shards, cleave__shardset_first(all));
        piece.text = cleave__fetch_text(&work->lookup->schema.tables[piece.table], same, same_count,
                                        work->arena);
        if (!piece.text)
            return cleave__plan_no_memory(work);
        for (uint32_t p = 0; p < count; p++) {
            if (pieces[p].table == piece.table &&
                work->lookup->schema.tables[piece.table].primary.count == 0)
                return cleave__plan_refuse(
                    work, "a query over several shards of both copies of a table without "
                          "a primary key");
        }
        pieces[count++] = piece;
    }
    if (count)
        qsort(pieces, count, sizeof *pieces, by_table);
    work->out->piece_count = count;
    work->out->rule = CLEAVE__RULE_GATHER;
    return CLEAVE_OK;
}

enum cleave_status cleave__plan_query(const struct cleave__plan_work *work,
                                      const struct cleave_shardset *all)
{
    const struct cleave__shape *shape = work->shape;
    if (work->analyzed->kind != CLEAVE_STATEMENT_QUERY)
        return cleave__plan_refuse(work, "a change in a WITH on several shards");
    if (shape->rowwise && work->analyzed->access_count == 1) {
        uint32_t table = cleave__schema_table(&work->lookup->schema, shape->relations[0],
                                              strlen(shape->relations[0]));
        if (table == work->analyzed->accesses[0].table &&
            !cleave__lookup_twice(work->lookup, table))
            return cleave__plan_as_it_is(work, &work->shards, false);
    }
    return gather(work, all);
}
