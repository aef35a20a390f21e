#include "tables/replay/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

enum { SET_SIZE = 20 };

/* One statement whose answer lives in `arena`. */
static enum cleave_status ask(struct cleave__port *port, const char *text,
                              const struct cleave_store_parameter *parameters, uint32_t count,
                              struct cleave_arena *arena, struct cleave_store_answer *answer,
                              struct cleave_error *error)
{
    const struct cleave_store_statement statement = {text, parameters, count};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    return cleave__port_batch(port, &batch, arena, answer, error);
}

enum cleave_status cleave__port_has(struct cleave__port *port, const char *table, bool *has,
                                    struct cleave_error *error)
{
    const struct cleave_store_parameter parameter = {table};
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    enum cleave_status status =
        ask(port,
            port->ops == &cleave__sqlite
                ? "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1"
                : "SELECT 1 FROM pg_tables WHERE tablename = $1 AND schemaname = current_schema()",
            &parameter, 1, &arena, &answer, error);
    if (!status)
        *has = answer.rows > 0;
    cleave__arena_free(&arena);
    return status;
}

struct generated {
    const struct cleave_schema *schema;
    bool **flags;
};

static enum cleave_status take_generated(void *context, uint32_t columns, const char *const *values,
                                         struct cleave_error *error)
{
    struct generated *generated = context;
    uint32_t t = cleave__schema_table(generated->schema, values[0], strlen(values[0]));
    (void)columns, (void)error;
    if (t == CLEAVE_ABSENT)
        return CLEAVE_OK;
    uint32_t c = cleave__schema_column(&generated->schema->tables[t], values[1], strlen(values[1]));
    if (c != CLEAVE_ABSENT)
        generated->flags[t][c] = true;
    return CLEAVE_OK;
}

enum cleave_status cleave__claim_generated(const struct cleave__replay_world *world,
                                           struct cleave_arena *arena, const bool *const **out,
                                           struct cleave_error *error)
{
    const struct cleave_schema *schema = cleave__lookup_schema(world->lookup);
    struct generated generated = {
        schema, cleave__arena_array(arena, schema->table_count + 1, sizeof(bool *))};
    struct cleave__port port;
    cleave__port_init(&port, world->urls[0]);
    bool made = generated.flags;
    for (uint32_t t = 0; made && t < schema->table_count; t++)
        made =
            (generated.flags[t] = cleave__arena_zalloc(arena, schema->tables[t].column_count + 1));
    if (!made)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    enum cleave_status status =
        port.ops == &cleave__sqlite ? CLEAVE_OK : cleave__port_open(&port, error);
    if (!status && port.ops != &cleave__sqlite)
        status = port.ops->scan(
            port.session,
            "SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname, "
            "a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace "
            "n ON n.oid = c.relnamespace WHERE a.attgenerated <> '' AND NOT a.attisdropped",
            take_generated, &generated, error);
    cleave__port_close(&port);
    if (!status)
        *out = (const bool *const *)generated.flags;
    return status;
}

struct place { /* what a shard says of itself */
    char set[SET_SIZE];
    long shard; /* below 0: the reference */
    bool known;
};

static enum cleave_status read_place(struct cleave__port *port, struct place *place,
                                     struct cleave_error *error)
{
    struct cleave_store_answer answer;
    struct cleave_arena arena = {0};
    bool has = false;
    enum cleave_status status = cleave__port_has(port, "cleave_shard", &has, error);
    if (status || !has)
        return status;
    status = ask(port, "SELECT load, shard FROM cleave_shard", NULL, 0, &arena, &answer, error);
    if (!status && answer.rows == 1 && answer.values[0] && answer.values[1]) {
        snprintf(place->set, sizeof place->set, "%s", answer.values[0]);
        place->shard = strtol(answer.values[1], NULL, 10);
        place->known = true;
    }
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status write_place(struct cleave__port *port, const char *set, uint32_t shard,
                                      struct cleave_error *error)
{
    char number[12];
    snprintf(number, sizeof number, "%" PRIu32, shard);
    const struct cleave_store_parameter parameters[2] = {{set}, {number}};
    const struct cleave_store_statement statements[3] = {
        {"CREATE TABLE IF NOT EXISTS cleave_shard (load varchar(16) NOT NULL, shard integer NOT "
         "NULL)",
         NULL, 0},
        {"DELETE FROM cleave_shard", NULL, 0},
        {"INSERT INTO cleave_shard (load, shard) VALUES ($1, $2)", parameters, 2}};
    const struct cleave_store_batch batch = {statements, 3, CLEAVE_BATCH_COMMIT, NULL};
    struct cleave_store_answer answers[3];
    struct cleave_arena arena = {0};
    enum cleave_status status = cleave__port_batch(port, &batch, &arena, answers, error);
    cleave__arena_free(&arena);
    return status;
}

/* The shards' own words against the order in which they are given; `*set` [SET_SIZE]: whose they
 * are, "" when none knows. */
static enum cleave_status compare(struct cleave__port *ports, const struct place *places,
                                  uint32_t shards, char *set, struct cleave_error *error)
{
    uint32_t first = shards;
    for (uint32_t s = 0; s < shards; s++) {
        if (!places[s].known)
            continue;
        const char *shown = cleave__port_shown(&ports[s], (char[CLEAVE__SHOWN_SIZE]){0});
        if (places[s].shard < 0)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%s is given as shard %u, but was loaded as the unsharded "
                                    "reference (its table cleave_shard says so)",
                                    shown, s);
        if (places[s].shard != (long)s)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%s is given as shard %u, but was loaded as shard %ld (its "
                                    "table cleave_shard says so); give the shards in the order in "
                                    "which they were loaded",
                                    shown, s, places[s].shard);
        if (first < shards && strcmp(places[s].set, places[first].set) != 0)
            return cleave_error_set(
                error, CLEAVE_BAD_INPUT,
                "%s and %s were not loaded together (their tables cleave_shard "
                "say so); give the shards of one load",
                cleave__port_shown(&ports[first], (char[CLEAVE__SHOWN_SIZE]){0}), shown);
        first = first < shards ? first : s;
    }
    snprintf(set, SET_SIZE, "%s", first < shards ? places[first].set : "");
    return CLEAVE_OK;
}

enum cleave_status cleave__claim_places(const struct cleave__replay_world *world, bool adopt,
                                        struct cleave_error *error)
{
    uint32_t shards = cleave__lookup_shards(world->lookup);
    struct cleave__port *ports = calloc(shards, sizeof *ports);
    struct place *places = calloc(shards, sizeof *places);
    char set[SET_SIZE] = "";
    enum cleave_status status =
        ports && places ? CLEAVE_OK
                        : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the shards");
    for (uint32_t s = 0; s < shards && !status; s++) {
        cleave__port_init(&ports[s], world->urls[s]);
        status = cleave__port_await(&ports[s], world, error);
        if (!status)
            status = read_place(&ports[s], &places[s], error);
    }
    if (!status)
        status = compare(ports, places, shards, set, error);
    if (!status && !*set) {
        uint64_t draw;
        if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
            status = cleave_error_set(error, CLEAVE_IO, "the system gives no random numbers");
        snprintf(set, sizeof set, "%016" PRIx64, draw);
    }
    for (uint32_t s = 0; s < shards && adopt && !status; s++) {
        if (!places[s].known)
            status = write_place(&ports[s], set, s, error);
    }
    for (uint32_t s = 0; ports && s < shards; s++)
        cleave__port_close(&ports[s]);
    free(ports);
    free(places);
    return status;
}

enum cleave_status cleave__claim_name(const struct cleave__replay_world *world,
                                      struct cleave__port *port, struct cleave_error *error)
{
    enum { NAP_NS = 100000000 };
    struct cleave_error why;
    uint64_t until_ns = cleave__clock_ns() + CLEAVE__CLAIM_S * UINT64_C(1000000000);
    cleave__port_init(port, world->urls[0]);
    enum cleave_status status = cleave__port_open(port, error);
    if (status)
        return status;
    while ((status = port->ops->hold(port->session, world->coordinator, &why)) == CLEAVE_CONFLICT &&
           cleave__clock_ns() < until_ns && !(world->stop && *world->stop))
        cleave__nap_ns(NAP_NS);
    if (status)
        cleave__port_close(port);
    if (status == CLEAVE_CONFLICT)
        return cleave_error_set(error, status,
                                "another replay or repartition is running under this name: %.300s; "
                                "wait until it ends, or give this one a name of its own with "
                                "--coordinator",
                                why.message);
    if (status && error)
        *error = why;
    return status;
}

enum cleave_status cleave__claim_whole(const struct cleave__replay_world *world, const char *plan,
                                       struct cleave_error *error)
{
    const struct cleave_store_parameter parameter = {plan ? plan : ""};
    struct cleave_store_answer answer;
    struct cleave__port port;
    struct cleave_arena arena = {0};
    bool has = false;
    cleave__port_init(&port, world->urls[0]);
    enum cleave_status status = cleave__port_has(&port, "cleave_plan", &has, error);
    if (!status && has)
        status =
            ask(&port,
                "SELECT p.command, count(*) FROM cleave_plan p JOIN cleave_moves m ON m.plan = "
                "p.plan WHERE p.whole = 0 AND p.plan <> $1 GROUP BY p.command",
                &parameter, 1, &arena, &answer, error);
    if (!status && has && answer.rows)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "the shards are half way from one placement to another (%.20s "
                                  "pieces have moved): go on first, with `%.350s` and the shards",
                                  answer.values[1], answer.values[0]);
    cleave__port_close(&port);
    cleave__arena_free(&arena);
    return status;
}
