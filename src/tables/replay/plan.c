/* Transactions to plans: shards as counting has them, then a rule for every statement. */
#include "tables/replay/plan_work.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "tables/route/image.h"

struct cleave__planner {
    const struct cleave_lookup *lookup;
    struct cleave_analyzer *analyzer;
    struct cleave_parser *parser;
    struct cleave_arena arena;                    /* of the shapes */
    CLEAVE_VECTOR(struct cleave__shape *) shapes; /* by template; NULL: not read yet */
};

enum { SHAPES_MOST = 100000 };

enum cleave_status cleave__planner_new(const struct cleave_lookup *lookup,
                                       struct cleave__planner **out, struct cleave_error *error)
{
    struct cleave__planner *planner = calloc(1, sizeof *planner);
    if (!planner)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for plans");
    planner->lookup = lookup;
    enum cleave_status status = cleave__lookup_analyzer(lookup, &planner->analyzer, error);
    if (!status)
        status = cleave__parser_new(&planner->parser, error);
    if (status) {
        cleave__planner_free(planner);
        return status;
    }
    *out = planner;
    return CLEAVE_OK;
}

void cleave__planner_free(struct cleave__planner *planner)
{
    if (!planner)
        return;
    cleave__analyzer_free(planner->analyzer);
    cleave__parser_free(planner->parser);
    cleave__arena_free(&planner->arena);
    CLEAVE_VECTOR_FREE(&planner->shapes);
    free(planner);
}

struct cleave_analyzer *cleave__planner_analyzer(struct cleave__planner *planner)
{
    return planner->analyzer;
}

static enum cleave_status shape_of(struct cleave__planner *planner, struct cleave__plan_work *work)
{
    uint32_t id = work->analyzed->template_id;
    bool kept = id < SHAPES_MOST;
    while (kept && planner->shapes.count <= id) {
        if (!CLEAVE_PUSH(&planner->shapes, NULL))
            return cleave__plan_no_memory(work);
    }
    if (kept && planner->shapes.data[id]) {
        work->shape = planner->shapes.data[id];
        return CLEAVE_OK;
    }
    struct cleave_arena *arena = kept ? &planner->arena : work->arena;
    struct cleave__shape *shape = cleave__arena_zalloc(arena, sizeof *shape);
    if (!shape)
        return cleave__plan_no_memory(work);
    enum cleave_status status = cleave__shape_read(
        planner->parser, work->out->text, strlen(work->out->text), arena, shape, work->error);
    if (status)
        return status;
    if (kept)
        planner->shapes.data[id] = shape;
    work->shape = shape;
    return CLEAVE_OK;
}

struct cleave__piece *cleave__plan_pieces(const struct cleave__plan_work *work, uint32_t count)
{
    struct cleave__piece *pieces = cleave__arena_zalloc(work->arena, (count + 1) * sizeof *pieces);
    work->out->pieces = pieces;
    work->out->piece_count = pieces ? count : 0;
    return pieces;
}

enum cleave_status cleave__plan_as_it_is(const struct cleave__plan_work *work,
                                         const struct cleave_shardset *shards, bool copies)
{
    struct cleave__piece *piece = cleave__plan_pieces(work, 1);
    if (!piece)
        return cleave__plan_no_memory(work);
    *piece = (struct cleave__piece){
        .text = work->out->text, .bound = true, .copies = copies, .shards = *shards};
    work->out->rule = CLEAVE__RULE_ROWS;
    return CLEAVE_OK;
}

/* ---- all of it ---- */

static void note_homes(const struct cleave__plan_work *work)
{
    const char *name = work->shape->set_count ? work->shape->target : NULL;
    uint32_t target =
        name ? cleave__schema_table(&work->lookup->schema, name, strlen(name)) : CLEAVE_ABSENT;
    if (target == CLEAVE_ABSENT || work->lookup->schema.tables[target].view)
        return;
    work->out->rehomes = cleave__plan_sets_home(work, target);
    work->out->table = target;
}

static enum cleave_status plan_statement(struct cleave__planner *planner,
                                         struct cleave__plan_work *work,
                                         const struct cleave_shardset *all)
{
    if (work->analyzed->kind == CLEAVE_STATEMENT_OTHER) {
        work->out->rule = CLEAVE__RULE_PASS;
        return CLEAVE_OK;
    }
    enum cleave_status status = shape_of(planner, work);
    if (status)
        return status;
    work->out->keys = work->shape->keys;
    work->out->key_count = work->shape->key_count;
    note_homes(work);
    struct cleave_shardset one = {{0}};
    uint32_t count = cleave__shardset_count(&work->shards);
    if (count == 0)
        cleave__shardset_add(&one, cleave__shardset_first(all));
    if (count <= 1)
        return cleave__plan_as_it_is(work, count ? &work->shards : &one, false);
    switch (work->shape->kind) {
    case CLEAVE__SHAPE_QUERY:
        return cleave__plan_query(work, all);
    case CLEAVE__SHAPE_INSERT:
    case CLEAVE__SHAPE_UPDATE:
    case CLEAVE__SHAPE_DELETE:
        return cleave__plan_change(work);
    case CLEAVE__SHAPE_OTHER:
        break;
    }
    return cleave__plan_refuse(work, "a kind of statement that cannot be run on several shards");
}

static const char *unfit(const struct cleave_statement *analyzed)
{
    if (analyzed->kind == CLEAVE_STATEMENT_SCHEMA)
        return "a schema change";
    if (analyzed->kind == CLEAVE_STATEMENT_COPY)
        return "COPY";
    if (analyzed->opaque)
        return "it may touch more than it says";
    if (analyzed->unknown_tables)
        return "it names a table that the lookup table lacks";
    return NULL;
}

/* Copies the trace's statement; its analysis borrows the copy. */
static enum cleave_status
take_statement(struct cleave__planner *planner, const struct cleave_trace_statement *from,
               struct cleave_arena *arena, struct cleave__planned_statement *out,
               struct cleave_statement *analyzed, struct cleave_error *error)
{
    uint32_t count = from->parameter_count;
    struct cleave_parameter *parameters = cleave__arena_array(arena, count + 1, sizeof *parameters);
    const char **texts = cleave__arena_zalloc(arena, (count + 1) * sizeof *texts);
    out->text = cleave__arena_copy(arena, from->text, from->length);
    if (!parameters || !texts || !out->text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
    for (uint32_t p = 0; p < count; p++) {
        parameters[p] = from->parameters[p];
        if (parameters[p].is_cut)
            return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                    "a parameter that the log cut short");
        if (parameters[p].is_null)
            continue;
        texts[p] = cleave__arena_copy(arena, parameters[p].text, parameters[p].length);
        if (!texts[p])
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
        parameters[p].text = texts[p];
    }
    out->parameter_count = count;
    out->parameters = texts;
    enum cleave_status status = cleave__analyze(planner->analyzer, out->text, from->length,
                                                parameters, count, arena, analyzed, error);
    if (status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT)
        status = cleave_error_set(error, CLEAVE_UNSUPPORTED, "it cannot be understood");
    const char *why = status ? NULL : unfit(analyzed);
    return why ? cleave_error_set(error, CLEAVE_UNSUPPORTED, "%s", why) : status;
}

static enum cleave_status say_which(enum cleave_status status, uint32_t at, const char *text,
                                    struct cleave_error *error)
{
    if (status != CLEAVE_UNSUPPORTED || !error)
        return status;
    char why[200];
    snprintf(why, sizeof why, "%.199s", error->message);
    return cleave_error_set(error, CLEAVE_UNSUPPORTED, "statement %u, \"%.200s\": %s", at + 1, text,
                            why);
}

enum cleave_status cleave__planner_plan(struct cleave__planner *planner,
                                        const struct cleave_trace_transaction *transaction,
                                        uint64_t turn, struct cleave_arena *arena,
                                        struct cleave__planned *out, struct cleave_error *error)
{
    uint32_t count = transaction->statement_count;
    struct cleave__planned planned = {.statement_count = count};
    struct cleave_statement *analyzed = cleave__arena_array(arena, count + 1, sizeof *analyzed);
    struct cleave_touch *touches = cleave__arena_zalloc(arena, (count + 1) * sizeof *touches);
    planned.statements = cleave__arena_zalloc(arena, (count + 1) * sizeof *planned.statements);
    if (!analyzed || !touches || !planned.statements)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
    for (uint32_t s = 0; s < count; s++) {
        enum cleave_status status = take_statement(planner, &transaction->statements[s], arena,
                                                   &planned.statements[s], &analyzed[s], error);
        if (status)
            return say_which(status, s, transaction->statements[s].text, error);
        cleave__lookup_accesses(planner->lookup, analyzed[s].accesses, analyzed[s].access_count,
                                &touches[s]);
        cleave__shardset_or(&planned.shards, &touches[s].shards);
        planned.access_count += analyzed[s].access_count;
    }
    if (cleave__shardset_count(&planned.shards) == 0)
        cleave__shardset_add(&planned.shards,
                             (uint32_t)(turn % cleave__lookup_copies(planner->lookup)));
    const struct cleave_schema *schema = &planner->lookup->schema;
    planned.accesses = cleave__arena_array(
        arena, planned.access_count * (1 + (size_t)cleave__foreign_most(schema)) + 1,
        sizeof *planned.accesses);
    if (!planned.accesses)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
    planned.access_count = 0;
    for (uint32_t s = 0; s < count; s++) {
        struct cleave__plan_work work = {
            planner->analyzer, planner->lookup,        arena, &analyzed[s], NULL,
            touches[s].shards, &planned.statements[s], error};
        enum cleave_status status = plan_statement(planner, &work, &planned.shards);
        if (status)
            return say_which(status, s, planned.statements[s].text, error);
        for (uint32_t a = 0; a < analyzed[s].access_count; a++) {
            if (analyzed[s].accesses[a].box_count == 0)
                continue;
            const struct cleave_access *access = &analyzed[s].accesses[a];
            planned.accesses[planned.access_count++] = *access;
            planned.writes = planned.writes || access->write;
            bool removes = work.shape && work.shape->kind == CLEAVE__SHAPE_DELETE;
            if (!cleave__foreign_accesses(schema, access, removes, arena, planned.accesses,
                                          &planned.access_count))
                return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
        }
    }
    *out = planned;
    return CLEAVE_OK;
}

bool cleave__planned_check(const struct cleave_lookup *lookup,
                           const struct cleave__planned *planned)
{
    uint32_t shards = cleave__lookup_shards(lookup);
    if (cleave__shardset_count(&planned->shards) == 0)
        return false;
    for (uint32_t s = 0; s < planned->statement_count; s++) {
        const struct cleave__planned_statement *statement = &planned->statements[s];
        if (statement->rule >= CLEAVE__RULES ||
            (statement->rule == CLEAVE__RULE_PASS && statement->piece_count))
            return false;
        for (uint32_t p = 0; p < statement->piece_count; p++) {
            const struct cleave__piece *piece = &statement->pieces[p];
            if (!piece->text || cleave__shardset_count(&piece->shards) == 0)
                return false;
            for (uint32_t i = 0; i < CLEAVE_SHARDS_MAX; i++) {
                if (cleave__shardset_has(&piece->shards, i) &&
                    (i >= shards || !cleave__shardset_has(&planned->shards, i)))
                    return false;
            }
        }
    }
    return true;
}
