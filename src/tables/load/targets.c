/* The databases that rows go to, and the one distributed transaction over them.
 *
 * Shard 0 decides: all others are prepared, then shard 0 commits its part together with a row of a
 * table cleave_loads that names the transaction, then the others are committed, and the table goes.
 * So whoever finds a part that is still prepared knows: it is committed if shard 0 has that row,
 * else undone (the last agent of a two-phase commit; Gray and Reuter, 10.4.2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/load/inside.h"

enum { PART_SIZE = 56 };

/* Targets may be databases of one server, which share its names of prepared transactions. */
static void part_name(const struct cleave__load *load, const struct cleave__load_target *target,
                      char name[PART_SIZE])
{
    snprintf(name, PART_SIZE, "%s-%u", load->name, (unsigned)(target - load->targets));
}

enum cleave_status cleave__load_batch(struct cleave__load *load, struct cleave__load_target *target,
                                      const struct cleave_store_statement *statements,
                                      uint32_t count, enum cleave_batch_end end,
                                      struct cleave_store_answer *answers,
                                      struct cleave_arena *arena, struct cleave_error *error)
{
    char name[PART_SIZE];
    part_name(load, target, name);
    struct cleave_store_batch batch = {statements, count, end, name};
    enum cleave_status status = target->ops->send(target->session, &batch, error);
    return status ? status : target->ops->receive(target->session, arena, answers, NULL, error);
}

enum cleave_status cleave__load_one(struct cleave__load *load, struct cleave__load_target *target,
                                    const char *text, struct cleave_store_answer *answer,
                                    struct cleave_error *error)
{
    struct cleave_store_statement statement = {.text = text};
    return cleave__load_batch(load, target, &statement, 1, CLEAVE_BATCH_COMMIT, answer,
                              &load->arena, error);
}

/* The source among them: it would wait for itself to be dropped, or be. */
static enum cleave_status tell_apart(struct cleave__load *load, struct cleave_error *error)
{
    char(*identities)[CLEAVE_IDENTITY_SIZE] =
        cleave__arena_array(&load->arena, load->target_count, CLEAVE_IDENTITY_SIZE);
    enum cleave_status status = identities ? CLEAVE_OK : cleave__load_no_memory(error);
    for (uint32_t i = 0; !status && i < load->target_count; i++) {
        const char *url =
            load->targets[i].reference ? load->options->reference : load->options->shards[i];
        status = cleave__store_identity(url, load->targets[i].session, identities[i], error);
        for (uint32_t j = 0; !status && j < i; j++) {
            if (strcmp(identities[i], identities[j]) == 0)
                status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                          "%.150s and %.150s are the same database",
                                          load->targets[j].shown, load->targets[i].shown);
        }
        if (!status && load->identity[0] && strcmp(identities[i], load->identity) == 0)
            status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                      "%.150s is the source itself; load onto other databases",
                                      load->targets[i].shown);
    }
    return status;
}

/* Parts of an earlier load that was cut off; it may have had the shards in another order. */
static enum cleave_status recover(struct cleave__load *load, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < load->target_count; i++) {
        struct cleave__load_target *target = &load->targets[i];
        const char *const *names = NULL;
        uint32_t count = 0;
        status = target->ops->prepared(target->session, CLEAVE__LOAD_PREFIX, &load->arena, &names,
                                       &count, error);
        for (uint32_t n = 0; !status && n < count; n++) {
            bool decided = false;
            for (uint32_t d = 0; !status && d < load->target_count; d++)
                status =
                    cleave__load_has_decided(load, &load->targets[d], names[n], &decided, error);
            if (!status)
                status = target->ops->send_finish(target->session, names[n], decided, error);
            if (!status)
                status = target->ops->receive_finish(target->session, error);
            load->recovered += !status;
        }
    }
    return status;
}

/* What a replay has left prepared holds locks: dropping its tables would wait for it without end.
 */
static enum cleave_status check_settled(struct cleave__load *load,
                                        const struct cleave__load_target *target,
                                        struct cleave_error *error)
{
    const char *const *names = NULL;
    uint32_t count = 0;
    enum cleave_status status =
        target->ops->prepared(target->session, "cleave-", &load->arena, &names, &count, error);
    for (uint32_t n = 0; !status && n < count; n++) {
        if (strncmp(names[n], CLEAVE__LOAD_PREFIX, sizeof CLEAVE__LOAD_PREFIX - 1))
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%.200s has a transaction %.100s prepared; `cleave tables "
                                    "recover --everyone` settles it",
                                    target->shown, names[n]);
    }
    return status;
}

/* The tables must not exist, unless they are to be replaced. */
static enum cleave_status check_free(struct cleave__load *load,
                                     const struct cleave__load_target *target,
                                     struct cleave_error *error)
{
    const struct cleave_store_table *there;
    uint32_t count;
    enum cleave_status status =
        target->ops->tables(target->session, &load->arena, &there, &count, error);
    for (uint32_t i = 0; !status && !load->options->replace && i < count; i++) {
        for (uint32_t t = 0; t < load->table_count; t++) {
            if (strcmp(there[i].name, load->tables[t].source->name) == 0)
                return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                        "%.200s: table %.150s is there already; --replace drops it",
                                        target->shown, there[i].name);
        }
    }
    return status;
}

static enum cleave_status create(struct cleave__load *load, struct cleave__load_target *target,
                                 struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    struct cleave__load_script script = {.arena = &arena};
    enum cleave_status status = cleave__load_ddl_before(load, target, &script, error);
    uint32_t count = (uint32_t)script.statements.count;
    struct cleave_store_answer *answers =
        status ? NULL : cleave__arena_array(&arena, count, sizeof *answers);
    if (!status && !answers)
        status = cleave__load_no_memory(error);
    if (!status)
        status = cleave__load_batch(load, target, script.statements.data, count, CLEAVE_BATCH_OPEN,
                                    answers, &arena, error);
    CLEAVE_VECTOR_FREE(&script.statements);
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status remark_foreigns(struct cleave__load *load, struct cleave_error *error)
{
    for (uint32_t t = 0; t < load->table_count; t++) {
        const struct cleave__load_table *table = &load->tables[t];
        for (uint32_t f = 0; f < table->source->foreign_count; f++) {
            const struct cleave_foreign_key *foreign = &table->source->foreigns[f];
            if (cleave__load_is_local(load, table, foreign))
                continue;
            if (!cleave__load_remark(
                    load,
                    "foreign key of %.100s (%.100s%s) on %.100s: not on the shards; its rows "
                    "may be on two",
                    table->source->name, table->source->columns[foreign->columns[0]].name,
                    foreign->count > 1 ? ", ..." : "",
                    load->schema->tables[foreign->target_table].name))
                return cleave__load_no_memory(error);
        }
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__load_open(struct cleave__load *load, struct cleave_error *error)
{
    const struct cleave_load_options *options = load->options;
    uint32_t count = options->shard_count + (options->reference != NULL);
    load->targets = cleave__arena_zalloc(&load->arena, count * sizeof *load->targets);
    if (!load->targets)
        return cleave__load_no_memory(error);
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < count; i++) {
        struct cleave__load_target *target = &load->targets[load->target_count++];
        target->reference = i == options->shard_count;
        status = cleave__load_target_open(
            load, target, target->reference ? options->reference : options->shards[i], error);
    }
    if (!status)
        status = tell_apart(load, error);
    for (uint32_t i = 0; !status && i < count; i++)
        status = cleave__load_lock(load, &load->targets[i], error);
    if (!status)
        status = recover(load, error);
    for (uint32_t i = 0; !status && i < count; i++)
        status = check_settled(load, &load->targets[i], error);
    for (uint32_t i = 0; !status && i < count; i++)
        status = check_free(load, &load->targets[i], error);
    if (!status)
        status = remark_foreigns(load, error);
    for (uint32_t i = 0; !status && i < count; i++)
        status = create(load, &load->targets[i], error);
    return status;
}

/* What the last statements counted is what was sent. */
static enum cleave_status check_counts(const struct cleave__load *load, uint32_t number,
                                       const struct cleave_store_answer *counts,
                                       struct cleave_error *error)
{
    const struct cleave__load_target *target = &load->targets[number];
    for (uint32_t t = 0; t < load->table_count; t++) {
        const struct cleave__load_table *table = &load->tables[t];
        uint64_t wanted = target->reference ? table->rows : table->shard_rows[number];
        uint64_t there = strtoull(counts[t].values[0], NULL, 10);
        if (there != wanted)
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "%.150s: table %.100s has %llu rows, but %llu were sent",
                                    target->shown, table->source->name, (unsigned long long)there,
                                    (unsigned long long)wanted);
    }
    return CLEAVE_OK;
}

/* Indexes, foreign keys, counts, and the end: shard 0 commits once its counts are right, the others
 * are prepared first, since they can still be undone. `*asked`: shard 0 was told to commit. */
static enum cleave_status end_part(struct cleave__load *load, uint32_t number, bool *asked,
                                   struct cleave_error *error)
{
    struct cleave__load_target *target = &load->targets[number];
    struct cleave_arena arena = {0};
    struct cleave__load_script script = {.arena = &arena};
    struct cleave_store_answer *answers = NULL;
    char decision[160];
    struct cleave_store_statement last[2] = {
        {.text = "CREATE TABLE IF NOT EXISTS cleave_loads (name varchar(100) PRIMARY KEY)"},
        {.text = decision}};
    snprintf(decision, sizeof decision, "INSERT INTO cleave_loads VALUES ('%s')", load->name);
    enum cleave_status status = cleave__load_ddl_after(load, target, &script, error);
    uint32_t count = (uint32_t)script.statements.count;
    if (!status && !(answers = cleave__arena_array(&arena, count + 2, sizeof *answers)))
        status = cleave__load_no_memory(error);
    if (!status)
        status = cleave__load_batch(load, target, script.statements.data, count,
                                    number ? CLEAVE_BATCH_PREPARE : CLEAVE_BATCH_OPEN, answers,
                                    &arena, error);
    target->prepared = !status && number;
    if (!status)
        status = check_counts(load, number, answers + count - load->table_count, error);
    *asked = !status && !number;
    if (*asked)
        status = cleave__load_batch(load, target, last, load->target_count > 1 ? 2 : 0,
                                    CLEAVE_BATCH_COMMIT, answers, &arena, error);
    CLEAVE_VECTOR_FREE(&script.statements);
    cleave__arena_free(&arena);
    return status;
}

enum cleave_status cleave__load_commit(struct cleave__load *load, struct cleave_error *error)
{
    enum cleave_status status = cleave__load_stopped(load, "committing", 0, error);
    struct cleave_store_answer answer;
    struct cleave_error lost = {0};
    bool asked = false;
    for (uint32_t i = 1; !status && i < load->target_count; i++)
        status = end_part(load, i, &asked, error);
    if (status)
        return status;
    status = end_part(load, 0, &asked, &lost);
    if (status && error)
        *error = lost;
    if (status == CLEAVE_IO && asked) {
        bool decided = false;
        enum cleave_status found = cleave__load_find_out(load, &decided, &lost, error);
        for (uint32_t i = 0; found && i < load->target_count; i++)
            load->targets[i].prepared = false; /* the next load settles them */
        status = found ? found : decided ? CLEAVE_OK : status;
    }
    if (status)
        return status;
    for (uint32_t i = 1; i < load->target_count; i++) {
        struct cleave__load_target *target = &load->targets[i];
        struct cleave_error why;
        char name[PART_SIZE];
        part_name(load, target, name);
        target->prepared = false; /* it is decided: never to be undone */
        enum cleave_status one_status = target->ops->send_finish(target->session, name, true, &why);
        if (!one_status)
            one_status = target->ops->receive_finish(target->session, &why);
        if (one_status && !status)
            status = cleave_error_set(error, one_status,
                                      "%.300s; the load is decided: run it again with --replace "
                                      "once the shard is there",
                                      why.message);
    }
    if (!status && load->target_count > 1)
        status =
            cleave__load_one(load, &load->targets[0], "DROP TABLE cleave_loads", &answer, error);
    for (uint32_t i = 0; !status && i < load->target_count; i++) {
        if (!load->targets[i].sqlite)
            (void)cleave__load_one(load, &load->targets[i], "ANALYZE", &answer, NULL);
    }
    return status;
}

void cleave__load_undo(struct cleave__load *load)
{
    for (uint32_t i = 0; i < load->target_count; i++) {
        struct cleave__load_target *target = &load->targets[i];
        if (!target->session || !target->prepared)
            continue; /* closing the session undoes the rest */
        char name[PART_SIZE];
        part_name(load, target, name);
        if (!target->ops->send_finish(target->session, name, false, NULL))
            (void)target->ops->receive_finish(target->session, NULL);
    }
}
