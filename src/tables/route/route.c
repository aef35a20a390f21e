/* SQL to shards: split the text, analyse each statement, ask the lookup table, say why.
 *
 * Statements of transaction control touch nothing. Schema changes go to every shard. What may
 * touch more than its text tells (functions, DO, CALL, EXECUTE) goes to every shard too and is
 * not certain; neither is a statement that names tables the schema lacks. */
#include "tables/route/route.h"

#include <stdio.h>
#include <stdlib.h>

#include "tables/route/image.h"
#include "tables/route/words.h"
#include "tables/sql/analyze.h"
#include "tables/sql/split.h"

struct cleave_router {
    const struct cleave_lookup *lookup;
    struct cleave_analyzer *analyzer;
    struct cleave_arena arena;
};

enum cleave_status cleave__router_new(const struct cleave_lookup *lookup,
                                      struct cleave_router **out, struct cleave_error *error)
{
    struct cleave_router *router = calloc(1, sizeof *router);
    if (!router)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "router: out of memory");
    router->lookup = lookup;
    enum cleave_status status = cleave__lookup_analyzer(lookup, &router->analyzer, error);
    if (status != CLEAVE_OK) {
        free(router);
        return status;
    }
    *out = router;
    return CLEAVE_OK;
}

void cleave__router_free(struct cleave_router *router)
{
    if (!router)
        return;
    cleave__analyzer_free(router->analyzer);
    cleave__arena_free(&router->arena);
    free(router);
}

static void add_shards(struct cleave_words *words, const struct cleave_shardset *set,
                       uint32_t shards)
{
    uint32_t count = cleave__shardset_count(set);
    if (count == 0 || count == shards) {
        cleave__words_add(words, count == 0    ? "any one shard"
                                 : shards == 1 ? "shard 0"
                                               : "every shard");
        return;
    }
    cleave__words_add(words, count == 1 ? "shard " : "shards ");
    bool first = true;
    for (uint32_t i = 0; i < shards; i++) {
        if (!cleave__shardset_has(set, i))
            continue;
        uint32_t last = i;
        while (last + 1 < shards && cleave__shardset_has(set, last + 1))
            last++;
        cleave__words_add(words, first ? "%u" : ", %u", i);
        if (last > i)
            cleave__words_add(words, last == i + 1 ? ", %u" : "-%u", last);
        first = false;
        i = last;
    }
}

int cleave__shards_print(const struct cleave_shardset *set, uint32_t shards, char *buffer,
                         size_t size)
{
    struct cleave_words words = {.data = buffer, .size = size};
    if (size)
        buffer[0] = 0;
    add_shards(&words, set, shards);
    return words.length > INT32_MAX ? INT32_MAX : (int)words.length;
}

static void add_term(struct cleave_words *words, const struct cleave_table *table,
                     const struct cleave_term *term)
{
    const struct cleave_column *column = &table->columns[term->column];
    if (term->range_count == 1) {
        cleave__words_add(words, "%s ", column->name);
        cleave__words_range(words, &term->ranges[0], column->type);
        return;
    }
    cleave__words_add(words, "%s in %u ranges from ", column->name, term->range_count);
    cleave__words_value(words, &term->ranges[0].low, column->type, 40);
}

/* What decided for one box by one key: its term on the key column, on a derived one, or nothing. */
static void add_reason(struct cleave_words *words, const struct cleave_table_index *index,
                       const struct cleave_table *table, const struct cleave_access *access,
                       bool second)
{
    const struct cleave_box *box = &access->boxes[0];
    const struct cleave_term *key = NULL, *derived = NULL, *other = NULL;
    uint32_t column = second ? index->second_column : index->key_column;
    uint32_t derived_count = access->insert || second ? 0 : index->derived_count;
    for (uint32_t i = 0; i < box->term_count; i++) {
        const struct cleave_term *term = &box->terms[i];
        if (term->column == column)
            key = term;
        for (uint32_t d = 0; d < derived_count; d++)
            derived = term->column == index->derived[d].column ? term : derived;
        for (uint32_t r = 1; r < index->relevant_count; r++)
            other = term->column == index->relevant[r] ? term : other;
    }
    if (key || derived) {
        cleave__words_add(words, " by ");
        add_term(words, table, key ? key : derived);
        if (other && other != key && index->exceptions.group_count) {
            cleave__words_add(words, " and ");
            add_term(words, table, other);
        }
    } else {
        cleave__words_add(words, access->insert ? " without a value for %s" : " with any %s",
                          table->columns[column].name);
    }
}

static void add_more(struct cleave_words *words, const struct cleave_access *access)
{
    if (access->box_count > 1)
        cleave__words_add(words, " (and %u more)", access->box_count - 1);
}

/* The copies that an access of a table with two keys touches, and why. */
static void add_copies(struct cleave_words *words, const struct cleave_lookup *lookup,
                       const struct cleave_access *access)
{
    const struct cleave_table *table = &lookup->schema.tables[access->table];
    const struct cleave_table_index *index = &lookup->tables[access->table];
    if (access->write) {
        add_reason(words, index, table, access, false);
        cleave__words_add(words, " and");
        add_reason(words, index, table, access, true);
        add_more(words, access);
        cleave__words_add(words, ", both copies");
        return;
    }
    struct cleave_shardset by[2] = {{{0}}, {{0}}};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < access->box_count; i++)
            cleave__lookup_box_by(lookup, access->table, &access->boxes[i], access->insert, k,
                                  &by[k]);
    }
    bool second = cleave__shardset_count(&by[1]) < cleave__shardset_count(&by[0]);
    add_reason(words, index, table, access, second);
    add_more(words, access);
    cleave__words_add(words, ", from the copy by %s",
                      table->columns[second ? index->second_column : index->key_column].name);
}

static void explain_access(struct cleave_words *words, const struct cleave_lookup *lookup,
                           const struct cleave_access *access)
{
    const struct cleave_table *table = &lookup->schema.tables[access->table];
    const struct cleave_table_index *index = &lookup->tables[access->table];
    cleave__words_add(words, "%s%s %s", words->length ? "; " : "",
                      access->insert  ? "insert into"
                      : access->write ? "write"
                      : access->locks ? "lock"
                                      : "read",
                      table->name);
    if (access->box_count == 0) {
        cleave__words_add(words, ": nothing (its conditions exclude each other)");
        return;
    }
    if (index->replicated) {
        cleave__words_add(words, access->write ? ": on every shard, written on all"
                                               : ": on every shard, any one serves");
        return;
    }
    struct cleave_touch touch = {0};
    cleave__lookup_accesses(lookup, access, 1, &touch);
    if (index->twice) {
        add_copies(words, lookup, access);
    } else {
        add_reason(words, index, table, access, false);
        add_more(words, access);
    }
    cleave__words_add(words, ": ");
    add_shards(words, &touch.shards, lookup->shards);
}

static void take_statement(const struct cleave_lookup *lookup,
                           const struct cleave_statement *statement, struct cleave_words *words,
                           struct cleave_sql_route *route)
{
    cleave__lookup_accesses(lookup, statement->accesses, statement->access_count, &route->touch);
    for (uint32_t i = 0; i < statement->access_count; i++)
        explain_access(words, lookup, &statement->accesses[i]);
    const char *all = NULL;
    if (statement->kind == CLEAVE_STATEMENT_SCHEMA) {
        all = "schema change: every shard";
        route->touch.writes = true;
    } else if (statement->opaque) {
        all = "may touch anything: every shard";
        route->touch.writes = true;
        route->certain = false;
    } else if (statement->unknown_tables) {
        /* Where they are is not known, so nowhere may be left out. */
        cleave__words_add(words, "%s%u table%s not in the schema", words->length ? "; " : "",
                          statement->unknown_tables, statement->unknown_tables == 1 ? "" : "s");
        all = "every shard";
        route->touch.writes |= statement->kind == CLEAVE_STATEMENT_DML;
        route->certain = false;
    }
    if (all) {
        cleave__words_add(words, "%s%s", words->length ? "; " : "", all);
        cleave__shardset_fill(&route->touch.shards, lookup->shards);
        route->touch.distributed = lookup->shards > 1;
    }
}

static bool is_control(enum cleave_verb verb)
{
    switch (verb) {
    case CLEAVE_VERB_BEGIN:
    case CLEAVE_VERB_COMMIT:
    case CLEAVE_VERB_ROLLBACK:
    case CLEAVE_VERB_ROLLBACK_TO:
    case CLEAVE_VERB_SAVEPOINT:
    case CLEAVE_VERB_RELEASE:
        return true;
    default:
        return false;
    }
}

static enum cleave_status route_pieces(struct cleave_router *router, const char *text,
                                       size_t length, const struct cleave_parameter *parameters,
                                       uint32_t parameter_count, struct cleave_words *words,
                                       struct cleave_sql_route *route, struct cleave_error *error)
{
    const char *at = text, *end = text + length;
    struct cleave_piece piece;
    while (cleave__split_next(&at, end, &piece)) {
        struct cleave_arena_mark mark = cleave__arena_mark(&router->arena);
        struct cleave_statement statement = {0};
        if (is_control(piece.verb))
            continue;
        enum cleave_status status =
            cleave__analyze(router->analyzer, piece.text, piece.length, parameters, parameter_count,
                            &router->arena, &statement, error);
        if (status == CLEAVE_OK) {
            take_statement(router->lookup, &statement, words, route);
            route->statements++;
        }
        cleave__arena_rewind(&router->arena, mark);
        if (status != CLEAVE_OK)
            return status;
    }
    return CLEAVE_OK;
}

/* One line, whatever the values hold, and marked when it was cut. */
static void settle_words(const struct cleave_words *words, struct cleave_sql_route *route)
{
    if (words->length == 0)
        snprintf(route->why, sizeof route->why, "touches no table");
    if (words->length >= sizeof route->why)
        memcpy(route->why + sizeof route->why - 4, "...", 4);
    for (char *c = route->why; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
}

void cleave__route_explain(const struct cleave_lookup *lookup, const struct cleave_access *accesses,
                           uint32_t access_count, struct cleave_sql_route *route)
{
    struct cleave_words words = {.data = route->why, .size = sizeof route->why};
    route->why[0] = 0;
    for (uint32_t i = 0; i < access_count; i++)
        explain_access(&words, lookup, &accesses[i]);
    settle_words(&words, route);
}

enum cleave_status cleave__route_sql(struct cleave_router *router, const char *text, size_t length,
                                     const struct cleave_parameter *parameters,
                                     uint32_t parameter_count, struct cleave_sql_route *out,
                                     struct cleave_error *error)
{
    struct cleave_sql_route route = {.certain = true};
    struct cleave_words words = {.data = route.why, .size = sizeof route.why};
    enum cleave_status status =
        route_pieces(router, text, length, parameters, parameter_count, &words, &route, error);
    if (status != CLEAVE_OK)
        return status;
    route.touch.distributed = cleave__shardset_count(&route.touch.shards) > 1;
    settle_words(&words, &route);
    *out = route;
    return CLEAVE_OK;
}
