/* The loop of seed 002: place, evaluate, refine, with a person's decisions in between.
 *
 * An iteration after a decision places anew. Without one it refines: when a node's storage cannot
 * hold the copies, the largest copied table is copied no more; else the heaviest groups are split
 * and the finer hypergraph is placed again, warm. The best placement is kept, whatever comes after.
 */
#include "tables/refine/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/route/explain.h"

enum cleave_status cleave__session_new(struct cleave_case *kase, uint32_t shards, uint64_t seed,
                                       const struct cleave_steer *steer,
                                       const struct cleave_progress *progress,
                                       struct cleave_session **out, struct cleave_error *error)
{
    struct cleave_session *session = calloc(1, sizeof *session);
    if (!session || !CLEAVE_PUSH(&session->decisions, *steer)) {
        free(session);
        cleave__case_free(kase);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the session");
    }
    session->kase = kase;
    session->dirty = true;
    session->input = (struct cleave_scheme_input){.schema = kase->schema,
                                                  .workload = &kase->train,
                                                  .profile = &kase->profile,
                                                  .shards = shards,
                                                  .seed = seed,
                                                  .steer = &session->effective,
                                                  .progress = progress};
    *out = session;
    return CLEAVE_OK;
}

enum cleave_status cleave_session_open(const struct cleave_session_source *source,
                                       struct cleave_session **out, struct cleave_error *error)
{
    if (source->shards < 1 || source->shards > CLEAVE_SHARDS_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "shards must be 1 to %d",
                                CLEAVE_SHARDS_MAX);
    if (source->benchmark_option_count > 64)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "more than 64 benchmark options");
    struct cleave_benchmark_option options[64];
    for (uint32_t i = 0; i < source->benchmark_option_count; i++)
        options[i] = (struct cleave_benchmark_option){source->benchmark_options[i][0],
                                                      source->benchmark_options[i][1]};
    struct cleave_case_source from = {
        .benchmark = source->benchmark,
        .benchmark_options = options,
        .benchmark_option_count = source->benchmark_option_count,
        .seed = source->seed,
        .transactions = source->transactions ? source->transactions : 1000,
        .held_out = source->held_out ? source->held_out : 1000,
        .schema_path = source->schema,
        .catalog = source->catalog,
        .sizes_path = source->sizes,
        .stats_path = source->stats,
        .traces = source->traces,
        .trace_count = source->trace_count,
        .held_out_fraction = source->held_out_fraction,
        .progress = source->progress,
    };
    struct cleave_case *kase;
    enum cleave_status status = cleave__case_load(&from, &kase, error);
    if (status)
        return status;
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    return cleave__session_new(kase, source->shards, source->seed, &steer, source->progress, out,
                               error);
}

void cleave_session_close(struct cleave_session *session)
{
    if (!session)
        return;
    for (size_t p = 0; p < session->placements.count; p++)
        cleave__lookup_release(session->placements.data[p].lookup);
    CLEAVE_VECTOR_FREE(&session->placements);
    CLEAVE_VECTOR_FREE(&session->decisions);
    if (session->placed)
        cleave__hgp_free(&session->hgp);
    cleave__case_free(session->kase);
    cleave__arena_free(&session->arena);
    free(session);
}

/* ---- one iteration ---- */

/* Splits the groups that a person named, unless a later decision merges them again. */
static enum cleave_status apply_splits(struct cleave_session *session, bool *any,
                                       struct cleave_error *error)
{
    const struct cleave_steer *steer = &session->effective;
    *any = false;
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_rule *rule = &steer->rules[r];
        bool merged = false;
        if (rule->kind != CLEAVE_SPLIT)
            continue;
        for (uint32_t later = r + 1; later < steer->rule_count; later++) {
            const struct cleave_rule *other = &steer->rules[later];
            merged |= other->kind == CLEAVE_MERGE && strcmp(other->a.table, rule->a.table) == 0 &&
                      strcmp(other->a.column, rule->a.column) == 0 &&
                      strcmp(other->a.value, rule->a.value) == 0;
        }
        uint32_t table, column;
        struct cleave_value value;
        if (merged || !cleave__selector_find(session->kase->schema, &rule->a, &session->arena,
                                             &table, &column, &value))
            continue;
        if (session->hgp.space.class_of_table[table] == CLEAVE_ABSENT ||
            session->hgp.design.tables[table].key != column)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "table %s is not partitioned by %s: its rows cannot be split "
                                    "by that column",
                                    rule->a.table, rule->a.column);
        enum cleave_status status = cleave__hgp_split_value(&session->hgp, table, &value, error);
        if (status)
            return status;
        *any = true;
    }
    return CLEAVE_OK;
}

static enum cleave_status place_anew(struct cleave_session *session, struct cleave_error *error)
{
    if (session->placed)
        cleave__hgp_free(&session->hgp);
    session->placed = false;
    session->dirty = true; /* until all of it went well */
    enum cleave_status status = cleave__hgp_begin(&session->input, &session->hgp, error);
    if (status)
        return status;
    session->placed = true;
    bool split, balanced;
    status = apply_splits(session, &split, error);
    if (!status && split)
        status = cleave__hgp_regroup(&session->hgp, &balanced, error);
    session->dirty = status != CLEAVE_OK;
    return status;
}

/* The table's entry among the decisions in force, or its place at the end. */
static uint32_t find_entry(const struct cleave_steer *steer, const struct cleave_schema *schema,
                           uint32_t table)
{
    uint32_t i = 0;
    while (i < steer->table_count && cleave__schema_table(schema, steer->tables[i].table,
                                                          strlen(steer->tables[i].table)) != table)
        i++;
    return i;
}

/* Forbids the largest table with copies its copies; false when there is none. */
static bool forbid_copy(struct cleave_session *session, const char **name)
{
    const struct cleave_schema *schema = session->kase->schema;
    uint32_t largest = CLEAVE_ABSENT;
    double most = -1;
    for (uint32_t t = 0; t < schema->table_count; t++) {
        double size = schema->tables[t].rows * cleave__row_weight(schema, t);
        uint32_t entry = find_entry(&session->effective, schema, t);
        bool wanted = entry < session->effective.table_count &&
                      session->effective.tables[entry].replicate != CLEAVE_REPLICATE_AUTO;
        bool copied = session->hgp.design.tables[t].replicated ||
                      session->hgp.space.second_class[t] != CLEAVE_ABSENT;
        if (copied && !wanted && size > most) {
            most = size;
            largest = t;
        }
    }
    if (largest == CLEAVE_ABSENT)
        return false;
    uint32_t count = session->effective.table_count;
    struct cleave_table_steer *tables =
        cleave__arena_zalloc(&session->arena, ((size_t)count + 1) * sizeof *tables);
    if (!tables)
        return false;
    if (count)
        memcpy(tables, session->effective.tables, count * sizeof *tables);
    uint32_t entry = find_entry(&session->effective, schema, largest);
    if (entry == count)
        tables[entry] = (struct cleave_table_steer){.table = schema->tables[largest].name};
    tables[entry].replicate = CLEAVE_REPLICATE_NEVER;
    session->effective.tables = tables;
    session->effective.table_count = entry == count ? count + 1 : count;
    *name = schema->tables[largest].name;
    return true;
}

/* Share of a table's rows whose row, seen at one point, another lookup table sends elsewhere. */
static double moved_share(const struct cleave_table *table, const uint32_t *columns,
                          const struct cleave_range *ranges, uint32_t count,
                          struct cleave_value *row, uint32_t t, const struct cleave_lookup *now,
                          const struct cleave_lookup *was)
{
    double share = 1;
    for (uint32_t r = 0; r < count; r++) {
        bool low = ranges[r].flags & CLEAVE_LOW_UNBOUNDED;
        row[columns[r]] = low ? ranges[r].high : ranges[r].low;
        share *= cleave__selectivity(table, columns[r], &ranges[r]);
    }
    struct cleave_shardset here = {{0}}, there = {{0}};
    cleave__lookup_row_shards(now, t, row, table->column_count, &here);
    cleave__lookup_row_shards(was, t, row, table->column_count, &there);
    bool moved = memcmp(&here, &there, sizeof here) != 0;
    for (uint32_t r = 0; r < count; r++)
        row[columns[r]] = (struct cleave_value){.kind = CLEAVE_NULL};
    return moved ? share : 0;
}

/* Share of one table's rows that live elsewhere than before: by the keys that the workload shows,
 * and by the exceptions of both placements. With two keys a copy is half a row. */
static double moved_in_table(const struct cleave_session *session,
                             const struct cleave__placement *now,
                             const struct cleave__placement *was, uint32_t t,
                             struct cleave_value *row)
{
    const struct cleave_table *table = &session->kase->schema->tables[t];
    const struct cleave_table_layout *a = &now->layout.tables[t], *b = &was->layout.tables[t];
    if (a->replicated && b->replicated)
        return 0;
    if (a->replicated != b->replicated || a->key_column != b->key_column || a->twice != b->twice ||
        (a->twice && a->second_column != b->second_column))
        return 1;
    double share = 0;
    for (uint32_t k = 0; k < (a->twice ? 2 : 1); k++) {
        const uint32_t *column = k ? &a->second_column : &a->key_column;
        const struct cleave_key_space *space = &session->hgp.space;
        uint32_t c = k ? space->second_class[t] : space->class_of_table[t];
        for (size_t v = 0; c != CLEAVE_ABSENT && v < space->vertices.count; v++) {
            const struct cleave_key_vertex *vertex = &space->vertices.data[v];
            struct cleave_range point = {vertex->value, vertex->value, 0};
            if (vertex->class == c)
                share += moved_share(table, column, &point, 1, row, t, now->lookup, was->lookup) /
                         (a->twice ? 2 : 1);
        }
    }
    for (int side = 0; side < 2; side++) {
        const struct cleave_table_layout *layout = side ? b : a;
        for (uint32_t e = 0; e < layout->exception_count; e++) {
            const struct cleave_exception *exception = &layout->exceptions[e];
            share += moved_share(table, exception->column, exception->range, exception->range_count,
                                 row, t, now->lookup, was->lookup) /
                     (a->exception_count && b->exception_count ? 2 : 1);
        }
    }
    return share < 1 ? share : 1;
}

static uint64_t moved_rows(const struct cleave_session *session,
                           const struct cleave__placement *now)
{
    if (session->placements.count == 0)
        return 0;
    const struct cleave__placement *was = &session->placements.data[session->placements.count - 1];
    double moved = 0;
    for (uint32_t t = 0; t < session->kase->schema->table_count; t++) {
        const struct cleave_table *table = &session->kase->schema->tables[t];
        if (table->view || table->column_count == 0)
            continue;
        struct cleave_value *row = calloc(table->column_count, sizeof *row);
        if (row)
            moved += table->rows * moved_in_table(session, now, was, t, row);
        free(row);
    }
    return (uint64_t)moved;
}

/* True when a beats b. */
static bool better(const struct cleave_session_result *a, const struct cleave_session_result *b,
                   bool strict)
{
    if (a->feasible != b->feasible)
        return a->feasible;
    if (strict && a->balanced != b->balanced)
        return a->balanced;
    if (a->train_distributed != b->train_distributed)
        return a->train_distributed < b->train_distributed;
    return a->skew_factor < b->skew_factor;
}

static enum cleave_status finish(struct cleave_session *session, const char *action,
                                 struct cleave_session_result *result, struct cleave_error *error)
{
    struct cleave__placement placement = {0};
    enum cleave_status status =
        cleave__hgp_layout(&session->hgp, &session->arena, &placement.layout, error);
    if (!status)
        status = cleave__lookup_build(&placement.layout, &placement.lookup, error);
    if (!status)
        status = cleave__evaluate(session->kase, &session->effective, &placement.layout,
                                  placement.lookup, &session->arena, &placement.evaluation, error);
    const char *notes = cleave__hgp_notes(&session->hgp, &session->arena);
    const char *words = cleave__arena_copy(&session->arena, action, strlen(action));
    if (!status &&
        (!notes || !words || !CLEAVE_RESERVE(&session->placements, session->placements.count + 1)))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the placement");
    if (status) {
        cleave__lookup_release(placement.lookup);
        session->dirty = true; /* the groups changed, and no placement shows it */
        return status;
    }
    const struct cleave_evaluation *e = &placement.evaluation;
    double epsilon = session->effective.epsilon * (1 + 1e-9);
    placement.result = (struct cleave_session_result){
        .iteration = (uint32_t)session->placements.count + 1,
        .train_transactions = e->train.transactions,
        .train_distributed = e->train.distributed,
        .held_out_transactions = e->held_out.transactions,
        .held_out_distributed = e->held_out.distributed,
        .skew_factor = e->skew_factor,
        .imbalance_size = e->imbalance_size,
        .imbalance_access = e->imbalance_access,
        .feasible = e->feasible,
        .infeasible = e->infeasible,
        .balanced = (session->effective.size_weight == 0 || e->imbalance_size <= epsilon) &&
                    (session->effective.access_weight == 0 || e->imbalance_access <= epsilon),
        .lookup_bytes = e->lookup_bytes,
        .moved_rows = moved_rows(session, &placement),
        .action = words,
        .notes = notes,
    };
    placement.result.good =
        e->feasible && (placement.result.balanced || !session->effective.strict);
    session->placements.data[session->placements.count++] = placement;
    if (better(&placement.result, &session->placements.data[session->best].result,
               session->effective.strict) ||
        session->placements.count == 1)
        session->best = (uint32_t)session->placements.count - 1;
    *result = placement.result;
    return CLEAVE_OK;
}

enum cleave_status cleave_session_iterate(struct cleave_session *session,
                                          struct cleave_session_result *result,
                                          struct cleave_error *error)
{
    char action[200];
    enum cleave_status status;
    if (session->dirty) {
        session->effective = *cleave__session_steer(session);
        status = place_anew(session, error);
        snprintf(action, sizeof action, "placed anew");
        if (!status)
            status = finish(session, action, result, error);
        /* Results under other decisions are not comparable: the best starts over. */
        if (!status)
            session->best = (uint32_t)session->placements.count - 1;
        return status;
    }
    const struct cleave_session_result *last =
        &session->placements.data[session->placements.count - 1].result;
    const char *table;
    if (!last->feasible && strstr(last->infeasible, "storage") && forbid_copy(session, &table)) {
        snprintf(action, sizeof action, "%s has no copies any more", table);
        status = place_anew(session, error);
    } else {
        const struct cleave_steer *steer = cleave__session_steer(session);
        uint32_t cut;
        bool balanced;
        status =
            cleave__hgp_split(&session->hgp, steer->split_top, steer->rank_by_ratio, &cut, error);
        if (!status && cut == 0)
            return cleave_error_set(error, CLEAVE_END, "no group is left that can be split");
        if (!status)
            status = cleave__hgp_regroup(&session->hgp, &balanced, error);
        snprintf(action, sizeof action, "split %u groups and placed them from where they were",
                 cut);
    }
    return status ? status : finish(session, action, result, error);
}

enum cleave_status cleave_session_run(struct cleave_session *session,
                                      bool (*each)(void *context,
                                                   const struct cleave_session_result *result),
                                      void *context, struct cleave_error *error)
{
    uint32_t budget = cleave__session_steer(session)->iterations;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < (budget ? budget : 1) && !status; i++) {
        struct cleave_session_result result;
        status = cleave_session_iterate(session, &result, error);
        if (!status && ((each && !each(context, &result)) || result.good))
            break;
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

bool cleave_session_result_at(const struct cleave_session *session, uint32_t i,
                              struct cleave_session_result *result)
{
    if (i >= session->placements.count)
        return false;
    *result = session->placements.data[i].result;
    return true;
}

bool cleave_session_best(const struct cleave_session *session, struct cleave_session_result *result)
{
    return cleave_session_result_at(session, session->best, result);
}

enum cleave_status cleave_session_write_lookup(const struct cleave_session *session,
                                               const char *path, struct cleave_error *error)
{
    if (session->placements.count == 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "nothing is placed yet: iterate first");
    return cleave__lookup_write(session->placements.data[session->best].lookup, path, error);
}

enum cleave_status cleave_session_explain(const struct cleave_session *session, char **text,
                                          struct cleave_error *error)
{
    if (session->placements.count == 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "nothing is placed yet: iterate first");
    return cleave__lookup_explain(session->placements.data[session->best].lookup, 0, text, error);
}
