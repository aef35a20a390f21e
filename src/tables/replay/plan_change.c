/* Changes over several shards: as they are on each, row by row, or giving back what they changed.
 */
#include <string.h>

#include "tables/replay/plan_work.h"
#include "tables/route/image.h"

/* Whether all that the change reads beside its own table is copied everywhere. */
static bool reads_copies_only(const struct cleave__plan_work *work, uint32_t target)
{
    for (uint32_t a = 0; a < work->analyzed->access_count; a++) {
        const struct cleave_access *access = &work->analyzed->accesses[a];
        if (access->write && access->table == target)
            continue;
        if (access->write || !cleave__lookup_replicated(work->lookup, access->table))
            return false;
    }
    return true;
}

/* One row, all of whose homes are known. */
static bool is_certain(const struct cleave_lookup *lookup, const struct cleave_statement *analyzed,
                       uint32_t target, struct cleave_shardset *shards)
{
    bool found = false;
    cleave__shardset_clear(shards);
    for (uint32_t a = 0; a < analyzed->access_count; a++) {
        const struct cleave_access *access = &analyzed->accesses[a];
        if (access->table != target || !access->write)
            continue;
        if (found || access->box_count != 1)
            return false;
        found = true;
        for (uint32_t k = 0; k < 1u + cleave__lookup_twice(lookup, target); k++) {
            struct cleave_shardset by = {{0}};
            cleave__lookup_box_by(lookup, target, &access->boxes[0], access->insert, k, &by);
            if (cleave__shardset_count(&by) != 1)
                return false;
            cleave__shardset_or(shards, &by);
        }
    }
    return found;
}

static enum cleave_status plan_rows(const struct cleave__plan_work *work, uint32_t target)
{
    const struct cleave__shape *shape = work->shape;
    struct cleave_shardset shards;
    if (shape->row_count == 1) {
        if (!is_certain(work->lookup, work->analyzed, target, &shards))
            return cleave__plan_refuse(work, "an INSERT of a row whose home is not certain");
        return cleave__plan_as_it_is(work, &shards, true);
    }
    if (work->out->parameter_count)
        return cleave__plan_refuse(work, "an INSERT with parameters of rows with several homes");
    const char **texts = cleave__arena_array(work->arena, shape->row_count, sizeof *texts);
    struct cleave__piece *pieces = cleave__plan_pieces(work, shape->row_count);
    if (!texts || !pieces)
        return cleave__plan_no_memory(work);
    if (!cleave__insert_split(work->out->text, strlen(work->out->text), shape->row_count,
                              work->arena, texts))
        return cleave__plan_refuse(work, "an INSERT whose rows could not be told apart");
    for (uint32_t r = 0; r < shape->row_count; r++) {
        struct cleave_statement one;
        enum cleave_status status = cleave__analyze(work->analyzer, texts[r], strlen(texts[r]),
                                                    NULL, 0, work->arena, &one, work->error);
        if (status)
            return status;
        if (!is_certain(work->lookup, &one, target, &shards))
            return cleave__plan_refuse(work, "an INSERT of a row whose home is not certain");
        pieces[r] = (struct cleave__piece){.text = texts[r], .copies = true, .shards = shards};
    }
    work->out->rule = CLEAVE__RULE_ROWS;
    return CLEAVE_OK;
}

/* The change, giving back every row that it changed. */
static enum cleave_status with_rows(const struct cleave__plan_work *work, enum cleave__rule rule,
                                    uint32_t target)
{
    const char *tail = work->shape->returning ? "\n, *" : "\nRETURNING *";
    size_t length = strlen(work->out->text), more = strlen(tail);
    char *text = cleave__arena_alloc(work->arena, length + more + 1);
    struct cleave__piece *piece = cleave__plan_pieces(work, 1);
    if (!text || !piece)
        return cleave__plan_no_memory(work);
    memcpy(text, work->out->text, length);
    memcpy(text + length, tail, more + 1);
    *piece = (struct cleave__piece){.text = text, .bound = true, .shards = work->shards};
    work->out->rule = rule;
    work->out->table = target;
    work->out->returning = work->shape->returning;
    return CLEAVE_OK;
}

/* Whether it sets a column that decides where rows live. */
bool cleave__plan_sets_home(const struct cleave__plan_work *work, uint32_t target)
{
    const struct cleave_table *table = &work->lookup->schema.tables[target];
    for (uint32_t s = 0; s < work->shape->set_count; s++) {
        const char *name = work->shape->set[s];
        uint32_t column = cleave__schema_column(table, name, strlen(name));
        if (column != CLEAVE_ABSENT && cleave__lookup_decides(work->lookup, target, column))
            return true;
    }
    return false;
}

enum cleave_status cleave__plan_change(const struct cleave__plan_work *work)
{
    const struct cleave__shape *shape = work->shape;
    uint32_t target =
        cleave__schema_table(&work->lookup->schema, shape->target, strlen(shape->target));
    if (target == CLEAVE_ABSENT || work->lookup->schema.tables[target].view)
        return cleave__plan_refuse(work, "a change of a view on several shards");
    if (shape->kind == CLEAVE__SHAPE_INSERT && !shape->values && shape->row_count == 0 &&
        !cleave__lookup_replicated(work->lookup, target))
        return cleave__plan_refuse(work, "an INSERT of a query's rows on several shards");
    if (!reads_copies_only(work, target))
        return cleave__plan_refuse(
            work, "a change on several shards that reads other rows of sharded tables");
    if (cleave__lookup_replicated(work->lookup, target))
        return cleave__plan_as_it_is(work, &work->shards, true);
    bool twice = cleave__lookup_twice(work->lookup, target);
    if (shape->kind == CLEAVE__SHAPE_INSERT) {
        if (shape->nested)
            return cleave__plan_refuse(work, "an INSERT with subqueries on several shards");
        if (shape->conflict)
            return cleave__plan_refuse(work, "an INSERT with ON CONFLICT on several shards");
        return plan_rows(work, target);
    }
    bool moves = shape->kind == CLEAVE__SHAPE_UPDATE && cleave__plan_sets_home(work, target);
    if ((moves || twice) && shape->nested)
        return cleave__plan_refuse(
            work, moves ? "an UPDATE of where rows live, with subqueries or FROM"
                        : "a change with subqueries or FROM of a table with two keys");
    if (moves && twice && work->lookup->schema.tables[target].primary.count == 0)
        return cleave__plan_refuse(
            work, "an UPDATE of where rows live, of a table with two keys and without a "
                  "primary key");
    if (moves || twice)
        return with_rows(work, moves ? CLEAVE__RULE_MOVE : CLEAVE__RULE_FIRST, target);
    return cleave__plan_as_it_is(work, &work->shards, false);
}
