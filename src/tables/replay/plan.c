/* Transactions to plans: shards as counting has them, then a rule for every statement. */
#include "tables/replay/plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "tables/route/image.h"
#include "tables/sql/analyze.h"

struct cleave__planner {
    const struct cleave_lookup *lookup;
    struct cleave_analyzer *analyzer;
    struct cleave_parser *parser;
    struct cleave_arena arena;                    /* of the shapes */
    CLEAVE_VECTOR(struct cleave__shape *) shapes; /* by template; NULL: not read yet */
};

enum { SHAPES_MOST = 100000 };

/* Columns that decide where rows live must be among those by which new rows are described, from the
 * first INSERT on: the analyzer takes up what a predicate has named. */
static enum cleave_status name_columns(struct cleave__planner *planner, struct cleave_error *error)
{
    const struct cleave_lookup *lookup = planner->lookup;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t t = 0; t < lookup->schema.table_count && !status; t++) {
        const struct cleave_table *table = &lookup->schema.tables[t];
        for (uint32_t c = 0; c < table->column_count && !table->view && !status; c++) {
            if (!cleave__lookup_decides(lookup, t, c))
                continue;
            char text[400];
            struct cleave_arena arena = {0};
            struct cleave_statement statement;
            /* A name with a dot is SCHEMA.TABLE. */
            const char *dot = strchr(table->name, '.');
            int n =
                snprintf(text, sizeof text, "SELECT 1 FROM \"%.*s%s%s\" WHERE \"%s\" = '1'",
                         dot ? (int)(dot - table->name) : (int)strlen(table->name), table->name,
                         dot ? "\".\"" : "", dot ? dot + 1 : "", table->columns[c].name);
            if (n > 0 && (size_t)n < sizeof text)
                status = cleave__analyze(planner->analyzer, text, (size_t)n, NULL, 0, &arena,
                                         &statement, error);
            cleave__arena_free(&arena);
        }
    }
    return status == CLEAVE_BAD_INPUT ? CLEAVE_OK : status; /* a name with quotes in it */
}

enum cleave_status cleave__planner_new(const struct cleave_lookup *lookup,
                                       struct cleave__planner **out, struct cleave_error *error)
{
    struct cleave__planner *planner = calloc(1, sizeof *planner);
    if (!planner)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for plans");
    planner->lookup = lookup;
    enum cleave_status status = cleave__analyzer_new(&lookup->schema, &planner->analyzer, error);
    if (!status)
        status = cleave__parser_new(&planner->parser, error);
    if (!status)
        status = name_columns(planner, error);
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

/* One statement being planned. */
struct work {
    struct cleave__planner *planner;
    const struct cleave_lookup *lookup;
    struct cleave_arena *arena;
    const struct cleave_statement *analyzed;
    const struct cleave__shape *shape;
    struct cleave_shardset shards; /* its own */
    struct cleave__planned_statement *out;
    struct cleave_error *error;
};

static enum cleave_status no_memory(const struct work *work)
{
    return cleave_error_set(work->error, CLEAVE_NO_MEMORY, "no memory for a plan");
}

static enum cleave_status refuse(const struct work *work, const char *why)
{
    return cleave_error_set(work->error, CLEAVE_UNSUPPORTED, "%s", why);
}

static enum cleave_status shape_of(struct work *work)
{
    struct cleave__planner *planner = work->planner;
    uint32_t id = work->analyzed->template_id;
    bool kept = id < SHAPES_MOST;
    while (kept && planner->shapes.count <= id) {
        if (!CLEAVE_PUSH(&planner->shapes, NULL))
            return no_memory(work);
    }
    if (kept && planner->shapes.data[id]) {
        work->shape = planner->shapes.data[id];
        return CLEAVE_OK;
    }
    struct cleave_arena *arena = kept ? &planner->arena : work->arena;
    struct cleave__shape *shape = cleave__arena_zalloc(arena, sizeof *shape);
    if (!shape)
        return no_memory(work);
    enum cleave_status status = cleave__shape_read(
        planner->parser, work->out->text, strlen(work->out->text), arena, shape, work->error);
    if (status)
        return status;
    if (kept)
        planner->shapes.data[id] = shape;
    work->shape = shape;
    return CLEAVE_OK;
}

static struct cleave__piece *add_pieces(const struct work *work, uint32_t count)
{
    struct cleave__piece *pieces = cleave__arena_zalloc(work->arena, (count + 1) * sizeof *pieces);
    work->out->pieces = pieces;
    work->out->piece_count = pieces ? count : 0;
    return pieces;
}

/* The statement as it is, on these shards. */
static enum cleave_status as_it_is(const struct work *work, const struct cleave_shardset *shards,
                                   bool copies)
{
    struct cleave__piece *piece = add_pieces(work, 1);
    if (!piece)
        return no_memory(work);
    *piece = (struct cleave__piece){
        .text = work->out->text, .bound = true, .copies = copies, .shards = *shards};
    work->out->rule = CLEAVE__RULE_ROWS;
    return CLEAVE_OK;
}

/* ---- queries ---- */

static enum cleave_status check_gather(const struct work *work)
{
    const struct cleave__shape *shape = work->shape;
    if (shape->qualified)
        return refuse(work, "a query over several shards that names schemas");
    for (uint32_t r = 0; r < shape->relation_count; r++) {
        uint32_t table = cleave__schema_table(&work->lookup->schema, shape->relations[r],
                                              strlen(shape->relations[r]));
        if (table == CLEAVE_ABSENT || work->lookup->schema.tables[table].view ||
            strcmp(work->lookup->schema.tables[table].name, shape->relations[r]) != 0)
            return refuse(work, "a query over several shards that names a view or a partition");
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

static enum cleave_status gather(const struct work *work, const struct cleave_shardset *all)
{
    const struct cleave_statement *analyzed = work->analyzed;
    enum cleave_status status = check_gather(work);
    if (status)
        return status;
    uint32_t most = analyzed->access_count, count = 0;
    struct cleave__piece *pieces = add_pieces(work, most);
    const struct cleave_access **same = cleave__arena_array(work->arena, most + 1, sizeof *same);
    if (!pieces || !same)
        return no_memory(work);
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
            return no_memory(work);
        for (uint32_t p = 0; p < count; p++) {
            if (pieces[p].table == piece.table &&
                work->lookup->schema.tables[piece.table].primary.count == 0)
                return refuse(work, "a query over several shards of both copies of a table without "
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

static enum cleave_status plan_query(const struct work *work, const struct cleave_shardset *all)
{
    const struct cleave__shape *shape = work->shape;
    if (work->analyzed->kind != CLEAVE_STATEMENT_QUERY)
        return refuse(work, "a change in a WITH on several shards");
    if (shape->rowwise && work->analyzed->access_count == 1) {
        uint32_t table = cleave__schema_table(&work->lookup->schema, shape->relations[0],
                                              strlen(shape->relations[0]));
        if (table == work->analyzed->accesses[0].table &&
            !cleave__lookup_twice(work->lookup, table))
            return as_it_is(work, &work->shards, false);
    }
    return gather(work, all);
}

/* ---- changes ---- */

/* Whether all that the change reads beside its own table is copied everywhere. */
static bool reads_copies_only(const struct work *work, uint32_t target)
{
    for (uint32_t a = 0; a < work->analyzed->access_count; a++) {
        const struct cleave_access *access = &work->analyzed->accesses[a];
        if (access->write && access->table == target)
            continue;
        if (access->write || access->table == target ||
            !cleave__lookup_replicated(work->lookup, access->table))
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

static enum cleave_status plan_rows(const struct work *work, uint32_t target)
{
    const struct cleave__shape *shape = work->shape;
    struct cleave_shardset shards;
    if (shape->row_count == 1) {
        if (!is_certain(work->lookup, work->analyzed, target, &shards))
            return refuse(work, "an INSERT of a row whose home is not certain");
        return as_it_is(work, &shards, true);
    }
    if (work->out->parameter_count)
        return refuse(work, "an INSERT with parameters of rows with several homes");
    const char **texts = cleave__arena_array(work->arena, shape->row_count, sizeof *texts);
    struct cleave__piece *pieces = add_pieces(work, shape->row_count);
    if (!texts || !pieces)
        return no_memory(work);
    if (!cleave__insert_split(work->out->text, strlen(work->out->text), shape->row_count,
                              work->arena, texts))
        return refuse(work, "an INSERT whose rows could not be told apart");
    for (uint32_t r = 0; r < shape->row_count; r++) {
        struct cleave_statement one;
        enum cleave_status status =
            cleave__analyze(work->planner->analyzer, texts[r], strlen(texts[r]), NULL, 0,
                            work->arena, &one, work->error);
        if (status)
            return status;
        if (!is_certain(work->lookup, &one, target, &shards))
            return refuse(work, "an INSERT of a row whose home is not certain");
        pieces[r] = (struct cleave__piece){.text = texts[r], .copies = true, .shards = shards};
    }
    work->out->rule = CLEAVE__RULE_ROWS;
    return CLEAVE_OK;
}

/* The change, giving back every row that it changed. */
static enum cleave_status with_rows(const struct work *work, enum cleave__rule rule,
                                    uint32_t target)
{
    const char *tail = work->shape->returning ? "\n, *" : "\nRETURNING *";
    size_t length = strlen(work->out->text), more = strlen(tail);
    char *text = cleave__arena_alloc(work->arena, length + more + 1);
    struct cleave__piece *piece = add_pieces(work, 1);
    if (!text || !piece)
        return no_memory(work);
    memcpy(text, work->out->text, length);
    memcpy(text + length, tail, more + 1);
    *piece = (struct cleave__piece){.text = text, .bound = true, .shards = work->shards};
    work->out->rule = rule;
    work->out->table = target;
    work->out->returning = work->shape->returning;
    return CLEAVE_OK;
}

/* Whether it sets a column that decides where rows live. */
static bool sets_home(const struct work *work, uint32_t target)
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

static enum cleave_status plan_change(const struct work *work)
{
    const struct cleave__shape *shape = work->shape;
    uint32_t target =
        cleave__schema_table(&work->lookup->schema, shape->target, strlen(shape->target));
    if (target == CLEAVE_ABSENT || work->lookup->schema.tables[target].view)
        return refuse(work, "a change of a view on several shards");
    if (!reads_copies_only(work, target))
        return refuse(work, "a change on several shards that reads other rows of sharded tables");
    if (cleave__lookup_replicated(work->lookup, target))
        return as_it_is(work, &work->shards, true);
    bool twice = cleave__lookup_twice(work->lookup, target);
    if (shape->kind == CLEAVE__SHAPE_INSERT) {
        if (!shape->values || shape->nested)
            return refuse(work, "an INSERT of a query's rows on several shards");
        if (shape->conflict)
            return refuse(work, "an INSERT with ON CONFLICT on several shards");
        return plan_rows(work, target);
    }
    bool moves = shape->kind == CLEAVE__SHAPE_UPDATE && sets_home(work, target);
    if ((moves || twice) && shape->nested)
        return refuse(work, moves ? "an UPDATE of where rows live, with subqueries or FROM"
                                  : "a change with subqueries or FROM of a table with two keys");
    if (moves && twice && work->lookup->schema.tables[target].primary.count == 0)
        return refuse(work, "an UPDATE of where rows live, of a table with two keys and without a "
                            "primary key");
    if (moves || twice)
        return with_rows(work, moves ? CLEAVE__RULE_MOVE : CLEAVE__RULE_FIRST, target);
    return as_it_is(work, &work->shards, false);
}

/* ---- all of it ---- */

static void note_homes(const struct work *work)
{
    const char *name = work->shape->set_count ? work->shape->target : NULL;
    uint32_t target = name ? cleave__schema_table(&work->lookup->schema, name, strlen(name))
                           : CLEAVE_ABSENT;
    if (target == CLEAVE_ABSENT || work->lookup->schema.tables[target].view)
        return;
    work->out->rehomes = sets_home(work, target);
    work->out->table = target;
}

static enum cleave_status plan_statement(struct work *work, const struct cleave_shardset *all)
{
    if (work->analyzed->kind == CLEAVE_STATEMENT_OTHER) {
        work->out->rule = CLEAVE__RULE_PASS;
        return CLEAVE_OK;
    }
    enum cleave_status status = shape_of(work);
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
        return as_it_is(work, count ? &work->shards : &one, false);
    switch (work->shape->kind) {
    case CLEAVE__SHAPE_QUERY:
        return plan_query(work, all);
    case CLEAVE__SHAPE_INSERT:
    case CLEAVE__SHAPE_UPDATE:
    case CLEAVE__SHAPE_DELETE:
        return plan_change(work);
    case CLEAVE__SHAPE_OTHER:
        break;
    }
    return refuse(work, "a kind of statement that cannot be run on several shards");
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
    planned.accesses =
        cleave__arena_array(arena, planned.access_count + 1, sizeof *planned.accesses);
    if (!planned.accesses)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
    planned.access_count = 0;
    for (uint32_t s = 0; s < count; s++) {
        struct work work = {planner,           planner->lookup,        arena, &analyzed[s], NULL,
                            touches[s].shards, &planned.statements[s], error};
        enum cleave_status status = plan_statement(&work, &planned.shards);
        if (status)
            return say_which(status, s, planned.statements[s].text, error);
        for (uint32_t a = 0; a < analyzed[s].access_count; a++) {
            if (analyzed[s].accesses[a].box_count == 0)
                continue;
            planned.accesses[planned.access_count++] = analyzed[s].accesses[a];
            planned.writes = planned.writes || analyzed[s].accesses[a].write;
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
