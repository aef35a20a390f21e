#include "tables/replay/decide.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cleave__coordinator_valid(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    }
    return length > 0 && length <= CLEAVE__COORDINATOR_MOST;
}

void cleave__branch_name(const char *coordinator, uint64_t id, uint32_t anchor, uint32_t shard,
                         char name[CLEAVE_PREPARED_NAME_MOST + 1])
{
    snprintf(name, CLEAVE_PREPARED_NAME_MOST + 1, "cleave-%s-%" PRIu64 "-%" PRIu32 "-%" PRIu32,
             coordinator, id, anchor, shard);
}

bool cleave__branch_parse(const char *name, char coordinator[CLEAVE__COORDINATOR_MOST + 1],
                          uint64_t *id, uint32_t *anchor, uint32_t *shard)
{
    unsigned long long number;
    unsigned first, second;
    int end = 0;
    char again[CLEAVE_PREPARED_NAME_MOST + 1];
    if (sscanf(name, "cleave-%40[A-Za-z0-9_]-%20llu-%10u-%10u%n", coordinator, &number, &first,
               &second, &end) != 4 ||
        name[end])
        return false;
    *id = number;
    *anchor = first;
    *shard = second;
    cleave__branch_name(coordinator, number, first, second, again);
    return strcmp(name, again) == 0;
}

void cleave__decision_statement(const char *coordinator, uint64_t id, char text[24],
                                struct cleave_store_parameter parameters[2],
                                struct cleave_store_statement *statement)
{
    snprintf(text, 24, "%" PRIu64, id);
    parameters[0] = (struct cleave_store_parameter){coordinator};
    parameters[1] = (struct cleave_store_parameter){text};
    *statement = (struct cleave_store_statement){
        "INSERT INTO cleave_decisions (coordinator, id, committed) VALUES ($1, $2, 1)", parameters,
        2};
}

enum cleave_status cleave__decision_find(struct cleave__port *anchor, const char *coordinator,
                                         uint64_t id, bool *committed, struct cleave_error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, id);
    const struct cleave_store_parameter parameters[2] = {{coordinator}, {text}};
    const struct cleave_store_statement statements[2] = {
        {"INSERT INTO cleave_decisions (coordinator, id, committed) VALUES ($1, $2, 0) ON CONFLICT "
         "DO NOTHING",
         parameters, 2},
        {"SELECT committed FROM cleave_decisions WHERE coordinator = $1 AND id = $2", parameters,
         2}};
    const struct cleave_store_batch batch = {statements, 2, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answers[2];
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(anchor, &batch, &arena, answers, error);
    if (!status && (answers[1].rows != 1 || answers[1].columns != 1 || !answers[1].values[0]))
        status = cleave_error_set(error, CLEAVE_CORRUPT,
                                  "%s: what became of transaction %" PRIu64
                                  " cannot be found out: its decision is not there after it was "
                                  "put there",
                                  cleave__port_shown(anchor, (char[CLEAVE__SHOWN_SIZE]){0}), id);
    if (!status)
        *committed = strcmp(answers[1].values[0], "1") == 0;
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status make_table(struct cleave__port *port, struct cleave_error *error)
{
    const struct cleave_store_statement statement = {
        "CREATE TABLE IF NOT EXISTS cleave_decisions (coordinator varchar(40) NOT NULL, id bigint "
        "NOT NULL, committed smallint NOT NULL, PRIMARY KEY (coordinator, id))",
        NULL, 0};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, &answer, error);
    /* Two who make it at once: on PostgreSQL one of them fails, and then it is there. */
    if (status == CLEAVE_BAD_INPUT)
        status = cleave__port_batch(port, &batch, &arena, &answer, error);
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status last_of(struct cleave__port *port, const char *coordinator,
                                  uint64_t *last, struct cleave_error *error)
{
    const struct cleave_store_parameter parameter = {coordinator};
    const struct cleave_store_statement statement = {
        "SELECT max(id) FROM cleave_decisions WHERE coordinator = $1", &parameter, 1};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, &answer, error);
    if (!status && answer.rows == 1 && answer.values[0]) {
        uint64_t id = strtoull(answer.values[0], NULL, 10);
        *last = id > *last ? id : *last;
    }
    cleave__arena_free(&arena);
    return status;
}

/* One prepared transaction of one shard. */
static enum cleave_status settle(const struct cleave__replay_world *world,
                                 struct cleave__port *ports, uint32_t shard, const char *name,
                                 bool everyone, struct cleave__recovery *recovery,
                                 struct cleave_error *error)
{
    char coordinator[CLEAVE__COORDINATOR_MOST + 1];
    uint64_t id;
    uint32_t anchor, part;
    bool ours = cleave__branch_parse(name, coordinator, &id, &anchor, &part) &&
                anchor < cleave__lookup_shards(world->lookup);
    bool mine = ours && strcmp(coordinator, world->coordinator) == 0;
    if (mine && id > recovery->last_id)
        recovery->last_id = id;
    if (!mine && !(ours && everyone)) {
        recovery->foreign++;
        return CLEAVE_OK;
    }
    if (part != shard) /* its anchor would be looked for in the wrong place */
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "%.200s is shard %u here, but was shard %u of %.100s, which it has "
                                "prepared; give the shards in the order of that replay",
                                cleave__port_shown(&ports[shard], (char[CLEAVE__SHOWN_SIZE]){0}),
                                shard, part, name);
    bool committed;
    enum cleave_status status =
        cleave__decision_find(&ports[anchor], coordinator, id, &committed, error);
    if (!status)
        status = cleave__port_finish(&ports[shard], name, committed, error);
    if (!status && committed)
        recovery->committed++;
    else if (!status)
        recovery->rolled_back++;
    return status;
}

enum cleave_status cleave__recover(const struct cleave__replay_world *world, bool everyone,
                                   struct cleave__recovery *out, struct cleave_error *error)
{
    uint32_t shards = cleave__lookup_shards(world->lookup);
    struct cleave__recovery recovery = {0};
    struct cleave__port *ports = calloc(shards, sizeof *ports);
    struct cleave_arena arena = {0};
    enum cleave_status status = CLEAVE_OK;
    if (!ports)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    for (uint32_t s = 0; s < shards && !status; s++) {
        cleave__port_init(&ports[s], world->urls[s]);
        status = cleave__port_await(&ports[s], world, error);
        if (!status)
            status = make_table(&ports[s], error);
        if (!status)
            status = last_of(&ports[s], world->coordinator, &recovery.last_id, error);
    }
    for (uint32_t s = 0; s < shards && !status; s++) {
        const char *const *names;
        uint32_t count;
        status = ports[s].ops->prepared(ports[s].session, "", &arena, &names, &count, error);
        for (uint32_t n = 0; n < count && !status; n++)
            status = settle(world, ports, s, names[n], everyone, &recovery, error);
    }
    for (uint32_t s = 0; s < shards; s++)
        cleave__port_close(&ports[s]);
    cleave__arena_free(&arena);
    free(ports);
    if (!status)
        *out = recovery;
    return status;
}

enum cleave_status cleave__recover_late(const struct cleave__replay_world *world, uint64_t below,
                                        struct cleave_error *error)
{
    uint32_t shards = cleave__lookup_shards(world->lookup);
    struct cleave__recovery recovery = {0};
    struct cleave__port *ports = calloc(shards, sizeof *ports);
    struct cleave_arena arena = {0};
    enum cleave_status status =
        ports ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    for (uint32_t s = 0; ports && s < shards; s++)
        cleave__port_init(&ports[s], world->urls[s]);
    for (uint32_t s = 0; s < shards && !status; s++) {
        const char *const *names;
        uint32_t count;
        status = cleave__port_open(&ports[s], error);
        if (!status)
            status =
                ports[s].ops->prepared(ports[s].session, "cleave-", &arena, &names, &count, error);
        for (uint32_t n = 0; !status && n < count; n++) {
            char coordinator[CLEAVE__COORDINATOR_MOST + 1];
            uint64_t id;
            uint32_t anchor, part;
            if (cleave__branch_parse(names[n], coordinator, &id, &anchor, &part) && id < below)
                status = settle(world, ports, s, names[n], false, &recovery, error);
        }
    }
    for (uint32_t s = 0; ports && s < shards; s++)
        cleave__port_close(&ports[s]);
    cleave__arena_free(&arena);
    free(ports);
    return status;
}

enum cleave_status cleave__decisions_reserve(const struct cleave__replay_world *world,
                                             const struct cleave__recovery *recovery,
                                             uint64_t *base, struct cleave_error *error)
{
    struct cleave__port port;
    bool committed;
    uint64_t last = recovery->last_id;
    if (last > INT64_MAX - 2 * CLEAVE__ID_RUN)
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the coordinator \"%s\" has used up its ids; take another name, "
                                "with --coordinator",
                                world->coordinator);
    cleave__port_init(&port, world->urls[0]);
    /* The last of them, fenced: the next run begins behind it. */
    enum cleave_status status =
        cleave__decision_find(&port, world->coordinator, last + CLEAVE__ID_RUN, &committed, error);
    cleave__port_close(&port);
    if (!status)
        *base = last + 1;
    return status;
}

enum cleave_status cleave__decisions_forget(const struct cleave__replay_world *world,
                                            struct cleave_error *error)
{
    const struct cleave_store_parameter parameter = {world->coordinator};
    const struct cleave_store_statement statement = {
        "DELETE FROM cleave_decisions WHERE coordinator = $1 AND id < (SELECT max(id) FROM "
        "cleave_decisions WHERE coordinator = $1)",
        &parameter, 1};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t s = 0; s < cleave__lookup_shards(world->lookup) && !status; s++) {
        struct cleave__port port;
        struct cleave_store_answer answer;
        struct cleave_arena arena = {0};
        cleave__port_init(&port, world->urls[s]);
        status = cleave__port_batch(&port, &batch, &arena, &answer, error);
        cleave__port_close(&port);
        cleave__arena_free(&arena);
    }
    return status;
}
