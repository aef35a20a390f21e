/* For developers: a generated benchmark as files, or run against a real PostgreSQL.
 *
 *   replay-trace ddl|rows|sizes|trace BENCHMARK [--seed S] [--transactions N] [name=value ...]
 *   replay-trace run|check BENCHMARK --connection C [--clients N] [--rollbacks P] [the same ...]
 *
 * `run` forks the clients; each makes the whole trace from the seed and runs the transactions of
 * its share of the terminals, so that sessions interleave in the server's log. Clients speak
 * differently in turn: simple statements, unnamed extended statements with parameters, named
 * prepared ones. P percent of NewOrder are rolled back and then done again, and a transaction that
 * the server chose to end a deadlock is retried: what is committed is the trace.
 * `check` runs the trace alone and compares what the server answers with what later statements of
 * the transaction took for granted (check_trace.h). */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_trace.h"
#include "tables/source/generate.h"

enum { OPTIONS_MAX = 32, PARAMETERS_MAX = 400, SHAPES_MAX = 1000, TRIES = 20 };

struct settings {
    const char *command, *benchmark, *connection;
    uint64_t seed;
    unsigned long transactions, clients, rollbacks;
    struct cleave_benchmark_option options[OPTIONS_MAX];
    uint32_t option_count;
};

struct client {
    PGconn *connection;
    unsigned protocol;        /* 0 simple, 1 unnamed, 2 named */
    char *shapes[SHAPES_MAX]; /* texts of prepared statements */
    unsigned shape_count;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "replay-trace: %s: %s\n", what, why);
    exit(1);
}

/* ---- literals to parameters ---- */

struct bound {
    char *text;   /* with $1, $2, ... */
    char *buffer; /* the parameters' bytes */
    const char *values[PARAMETERS_MAX];
    int count;
};

static void bind_literals(const char *sql, struct bound *out)
{
    size_t length = strlen(sql);
    out->text = malloc(length * 3 + 1);
    out->buffer = malloc(length * 2 + 1);
    if (!out->text || !out->buffer)
        fail(sql, "out of memory");
    out->count = 0;
    char *text = out->text, *value = out->buffer;
    bool in_word = false;
    for (const char *c = sql; *c;) {
        bool digit = *c >= '0' && *c <= '9';
        if (out->count < PARAMETERS_MAX && (*c == '\'' || (digit && !in_word))) {
            out->values[out->count++] = value;
            if (*c == '\'') {
                for (c++; *c && (*c != '\'' || c[1] == '\''); c++) {
                    c += *c == '\'';
                    *value++ = *c;
                }
                c++;
            } else {
                while ((*c >= '0' && *c <= '9') || *c == '.')
                    *value++ = *c++;
            }
            *value++ = 0;
            text += sprintf(text, "$%d", out->count);
            continue;
        }
        in_word = digit || *c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        *text++ = *c++;
    }
    *text = 0;
}

static PGresult *run_prepared(struct client *client, const struct bound *bound)
{
    char name[16];
    unsigned i = 0;
    while (i < client->shape_count && strcmp(client->shapes[i], bound->text) != 0)
        i++;
    snprintf(name, sizeof name, "s%u", i + 1);
    if (i == client->shape_count) {
        if (i == SHAPES_MAX)
            return PQexecParams(client->connection, bound->text, bound->count, NULL, bound->values,
                                NULL, NULL, 0);
        PGresult *result = PQprepare(client->connection, name, bound->text, 0, NULL);
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            return result;
        PQclear(result);
        client->shapes[client->shape_count++] = strdup(bound->text);
    }
    return PQexecPrepared(client->connection, name, bound->count, bound->values, NULL, NULL, 0);
}

static PGresult *run_statement(struct client *client, const char *sql)
{
    if (client->protocol == 0)
        return PQexec(client->connection, sql);
    struct bound bound;
    bind_literals(sql, &bound);
    PGresult *result = client->protocol == 1
                           ? PQexecParams(client->connection, bound.text, bound.count, NULL,
                                          bound.values, NULL, NULL, 0)
                           : run_prepared(client, &bound);
    free(bound.text);
    free(bound.buffer);
    return result;
}

/* ---- a transaction ---- */

static void control(struct client *client, const char *sql)
{
    PGresult *result = PQexec(client->connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail(sql, PQerrorMessage(client->connection));
    PQclear(result);
}

/* False: a deadlock or a serialization failure; anything else that fails is fatal. */
static bool attempt(struct client *client, const struct cleave_trace_transaction *transaction,
                    const char *end)
{
    control(client, "BEGIN");
    for (uint32_t i = 0; i < transaction->statement_count; i++) {
        PGresult *result = run_statement(client, transaction->statements[i].text);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
            if (!state || strncmp(state, "40", 2) != 0)
                fail(transaction->statements[i].text, PQerrorMessage(client->connection));
            PQclear(result);
            control(client, "ROLLBACK");
            return false;
        }
        PQclear(result);
    }
    control(client, end);
    return true;
}

static void commit(struct client *client, const struct cleave_trace_transaction *transaction)
{
    for (int i = 0; i < TRIES; i++) {
        if (attempt(client, transaction, "COMMIT"))
            return;
    }
    fail(transaction->session, "still deadlocked after many tries");
}

static struct cleave_generator *open_generator(const struct settings *settings)
{
    struct cleave_error error = {0};
    struct cleave_generator *generator = NULL;
    if (cleave__generator_new(settings->benchmark, settings->options, settings->option_count,
                              settings->seed, &generator, &error) != CLEAVE_OK)
        fail(settings->benchmark, error.message);
    return generator;
}

static PGconn *connect_to(const struct settings *settings)
{
    PGconn *connection = PQconnectdb(settings->connection);
    if (PQstatus(connection) != CONNECTION_OK)
        fail("connection", PQerrorMessage(connection));
    return connection;
}

static unsigned long share_of(const char *session, unsigned long clients)
{
    unsigned long hash = 5381;
    for (const char *c = session; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    return hash % clients;
}

static void run_client(const struct settings *settings, unsigned long index)
{
    struct client client = {.connection = connect_to(settings), .protocol = (unsigned)(index % 3)};
    struct cleave_generator *generator = open_generator(settings);
    struct cleave_error error = {0};
    for (unsigned long i = 0; i < settings->transactions; i++) {
        struct cleave_trace_transaction transaction;
        const char *kind;
        if (cleave__generator_next(generator, &transaction, &kind, &error) != CLEAVE_OK)
            fail("trace", error.message);
        if (share_of(transaction.session, settings->clients) != index)
            continue;
        if (strcmp(kind, "NewOrder") == 0 && i * 7919 % 100 < settings->rollbacks)
            attempt(&client, &transaction, "ROLLBACK");
        commit(&client, &transaction);
    }
    cleave__generator_free(generator);
    PQfinish(client.connection);
    for (unsigned i = 0; i < client.shape_count; i++)
        free(client.shapes[i]);
}

static int run(const struct settings *settings)
{
    int failures = 0;
    for (unsigned long i = 0; i < settings->clients; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork", "no more processes");
        if (child == 0) {
            run_client(settings, i);
            exit(0);
        }
    }
    int status;
    while (wait(&status) > 0)
        failures += status != 0;
    return failures ? 1 : 0;
}

static int check(const struct settings *settings)
{
    PGconn *connection = connect_to(settings);
    struct cleave_generator *generator = open_generator(settings);
    struct cleave_error error = {0};
    unsigned long wrong = 0;
    for (unsigned long i = 0; i < settings->transactions; i++) {
        struct cleave_trace_transaction transaction;
        if (cleave__generator_next(generator, &transaction, NULL, &error) != CLEAVE_OK)
            fail("trace", error.message);
        wrong += check_transaction(connection, &transaction);
    }
    printf("%lu transactions, %lu answers differ\n", settings->transactions, wrong);
    cleave__generator_free(generator);
    PQfinish(connection);
    return wrong ? 1 : 0;
}

static int write_files(const struct settings *settings)
{
    struct cleave_generator *generator = open_generator(settings);
    struct cleave_error error = {0};
    enum cleave_status status = CLEAVE_OK;
    if (strcmp(settings->command, "ddl") == 0) {
        fputs(cleave__generator_ddl(generator), stdout);
    } else if (strcmp(settings->command, "rows") == 0) {
        status = cleave__generator_write_rows(generator, CLEAVE_ROWS_COPY, stdout, &error);
    } else if (strcmp(settings->command, "sizes") == 0) {
        status = cleave__generator_write_sizes(generator, stdout, &error);
    } else {
        struct cleave_trace_transaction transaction;
        for (unsigned long i = 0; i < settings->transactions && status == CLEAVE_OK; i++) {
            status = cleave__generator_next(generator, &transaction, NULL, &error);
            if (status == CLEAVE_OK)
                status = cleave__generator_write_transaction(&transaction, stdout, &error);
        }
    }
    cleave__generator_free(generator);
    if (status != CLEAVE_OK)
        fail(settings->command, error.message);
    return 0;
}

int main(int argc, char **argv)
{
    struct settings settings = {.connection = "", .seed = 1, .transactions = 1000, .clients = 1};
    if (argc < 3)
        fail("usage", "replay-trace ddl|rows|sizes|trace|run|check BENCHMARK [...]");
    settings.command = argv[1];
    settings.benchmark = argv[2];
    for (int i = 3; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (strncmp(argv[i], "--", 2) != 0 && equals && settings.option_count < OPTIONS_MAX) {
            *equals = 0;
            settings.options[settings.option_count++] =
                (struct cleave_benchmark_option){argv[i], equals + 1};
            continue;
        }
        if (i + 1 == argc)
            fail(argv[i], "not understood");
        const char *name = argv[i], *value = argv[++i];
        unsigned long number = strtoul(value, NULL, 10);
        if (strcmp(name, "--connection") == 0)
            settings.connection = value;
        else if (strcmp(name, "--seed") == 0)
            settings.seed = number;
        else if (strcmp(name, "--transactions") == 0)
            settings.transactions = number;
        else if (strcmp(name, "--clients") == 0 && number > 0)
            settings.clients = number;
        else if (strcmp(name, "--rollbacks") == 0)
            settings.rollbacks = number;
        else
            fail(name, "not understood");
    }
    if (strcmp(settings.command, "run") == 0)
        return run(&settings);
    if (strcmp(settings.command, "check") == 0)
        return check(&settings);
    return write_files(&settings);
}
