/* The contract on a server, and what is PostgreSQL's alone: a server's death with a prepared
 * transaction, errors of a server that is wrong or full. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "cluster/cluster.h"
#include "contract.h"

enum { SKIPPED = 77 };

static const char *url;
static struct cleave_cluster *cluster;

static void opens_not(const char *wrong, enum cleave_status status, const char *line)
{
    struct cleave_store_session *session;
    struct cleave_error error;
    const struct cleave_store_ops *ops = cleave__store_of(wrong);
    assert_ptr_equal(ops, &cleave__postgres);
    assert_int_equal(ops->open(wrong, &session, &error), status);
    if (!strstr(error.message, line) || strchr(error.message, '\n'))
        fail_msg("%s", error.message);
    assert_null(strstr(error.message, "s3cret"));
}

static void wrong_urls(void **state)
{
    char text[300];
    uint16_t port = cleave__cluster_server(cluster, 0)->port;
    (void)state;
    snprintf(text, sizeof text, "postgresql://nobody:s3cret@127.0.0.1:%u/cleave", port);
    opens_not(text, CLEAVE_IO, "role \"nobody\" does not exist");
    snprintf(text, sizeof text,
             "host=127.0.0.1 password = 's3cret\\' ' port=%u user=cleave "
             "dbname=nowhere",
             port);
    opens_not(text, CLEAVE_IO, "database \"nowhere\" does not exist");
    opens_not("postgresql://cleave:s3cret@127.0.0.1:1/cleave", CLEAVE_IO, "Connection refused");
    opens_not("postgresql://cleave:s3cret/x@127.0.0.1:1/cleave", CLEAVE_BAD_ARGUMENT,
              "not a PostgreSQL URL");
    opens_not("postgresql://127.0.0.1:1/cleave?password=s3cret&colour=red", CLEAVE_BAD_ARGUMENT,
              "not a PostgreSQL URL");
}

/* A server that says it is PostgreSQL 9.6, once: what a client is told before its first statement.
 */
static void *old_server(void *context)
{
    static const unsigned char hello[] = "R\0\0\0\x08\0\0\0\0" /* you are in */
                                         "S\0\0\0\x1a"
                                         "server_version\0"
                                         "9.6.24\0"
                                         "K\0\0\0\x0c\0\0\0\1\0\0\0\1" /* cancel key */
                                         "Z\0\0\0\5I";                 /* ready */
    unsigned char bytes[4096];
    int client = accept(*(int *)context, NULL, NULL);
    for (;;) {
        ssize_t got = recv(client, bytes, sizeof bytes, 0);
        if (got < 8)
            break;
        bool asks_to_encrypt = got == 8; /* a start without parameters */
        if (send(client, asks_to_encrypt ? (const void *)"N" : hello,
                 asks_to_encrypt ? 1 : sizeof hello - 1, MSG_NOSIGNAL) < 0)
            break;
        if (!asks_to_encrypt)
            break;
    }
    (void)!recv(client, bytes, sizeof bytes, 0);
    close(client);
    return NULL;
}

static void too_old(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    pthread_t thread;
    char text[100];
    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
    assert_int_equal(pthread_create(&thread, NULL, old_server, &listener), 0);
    snprintf(text, sizeof text, "postgresql://u:s3cret@127.0.0.1:%u/d", ntohs(address.sin_port));
    opens_not(text, CLEAVE_UNSUPPORTED, "the server is PostgreSQL 9.6; 12 or later is needed");
    pthread_join(thread, NULL);
    close(listener);
}

static void restart_with(const char *prepared)
{
    char text[80];
    struct cleave_error error;
    PGconn *connection = PQconnectdb(url);
    snprintf(text, sizeof text, "ALTER SYSTEM SET max_prepared_transactions = %s", prepared);
    PGresult *result = PQexec(connection, text);
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(connection);
    assert_int_equal(cleave__cluster_kill(cluster, 0, &error), CLEAVE_OK);
    if (cleave__cluster_start(cluster, 0, &error))
        fail_msg("%s", error.message);
}

/* None at all, and too few: what to raise is told, and not what PostgreSQL's code of the error,
 * that of all memory, would suggest. */
static void no_prepared_transactions(void **state)
{
    struct client client;
    (void)state;
    restart_with("0");
    client_open(&client, url);
    assert_int_equal(
        client_batch(&client, CLEAVE_BATCH_PREPARE, "some", "SELECT 1", NULL, NULL, NULL),
        CLEAVE_UNSUPPORTED);
    assert_non_null(strstr(client.error.message, "max_prepared_transactions"));
    client_close(&client);
    restart_with("1");
    client_open(&client, url);
    assert_int_equal(
        client_batch(&client, CLEAVE_BATCH_PREPARE, "one", "SELECT 1", NULL, NULL, NULL),
        CLEAVE_OK);
    assert_int_equal(
        client_batch(&client, CLEAVE_BATCH_PREPARE, "two", "SELECT 1", NULL, NULL, NULL),
        CLEAVE_LIMIT);
    assert_non_null(strstr(client.error.message, "raise max_prepared_transactions"));
    assert_int_equal(client_finish(&client, "one", false), CLEAVE_OK);
    client_close(&client);
    restart_with("30");
}

/* kill -9 of the server: what was prepared is there again, what was not is gone, and the session
 * says so. */
static void dies(void **state)
{
    struct client before, after;
    struct cleave_error error;
    const char *const *names;
    uint32_t count;
    (void)state;
    client_open(&before, url);
    client_do(&before, "CREATE TABLE life (id int PRIMARY KEY)");
    assert_int_equal(client_batch(&before, CLEAVE_BATCH_PREPARE, "life-1",
                                  "INSERT INTO life VALUES (1)", NULL, NULL, NULL),
                     CLEAVE_OK);
    assert_int_equal(client_batch(&before, CLEAVE_BATCH_OPEN, NULL, "INSERT INTO life VALUES (2)",
                                  NULL, NULL, NULL),
                     CLEAVE_OK);
    assert_int_equal(cleave__cluster_kill(cluster, 0, &error), CLEAVE_OK);
    assert_false(cleave__cluster_server(cluster, 0)->runs);
    opens_not(url, CLEAVE_IO, "Connection refused");
    if (cleave__cluster_start(cluster, 0, &error))
        fail_msg("%s", error.message);
    assert_int_equal(client_batch(&before, CLEAVE_BATCH_COMMIT, NULL, "SELECT 1", NULL, NULL, NULL),
                     CLEAVE_IO);
    client_close(&before);
    client_open(&after, url);
    assert_int_equal(
        after.ops->prepared(after.session, "life", &after.arena, &names, &count, &after.error),
        CLEAVE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(client_value(&after, "SELECT count(*) FROM life"), "0");
    assert_int_equal(client_finish(&after, names[0], true), CLEAVE_OK);
    assert_string_equal(client_value(&after, "SELECT max(id) FROM life"), "1");
    client_do(&after, "DROP TABLE life");
    client_close(&after);
}

/* A long batch with long answers: neither side waits for the other. */
static void long_batches(void **state)
{
    enum { COUNT = 3000, LENGTH = 8000 };
    static struct cleave_store_statement statements[COUNT];
    static struct cleave_store_answer answers[COUNT];
    static char text[LENGTH + 1];
    struct cleave_store_parameter parameter = {text};
    struct client client;
    (void)state;
    memset(text, 'x', LENGTH);
    for (int i = 0; i < COUNT; i++)
        statements[i] = (struct cleave_store_statement){"SELECT $1::text || $1", &parameter, 1};
    struct cleave_store_batch batch = {statements, COUNT, CLEAVE_BATCH_COMMIT, NULL};
    client_open(&client, url);
    assert_int_equal(client.ops->send(client.session, &batch, &client.error), CLEAVE_OK);
    if (client.ops->receive(client.session, &client.arena, answers, NULL, &client.error))
        fail_msg("%s", client.error.message);
    assert_int_equal(strlen(answers[COUNT - 1].values[0]), 2 * LENGTH);
    client_close(&client);
}

int main(void)
{
    char folder[] = "/tmp/cleave-store-XXXXXX";
    struct cleave_error error;
    if (!mkdtemp(folder))
        return 1;
    struct cleave_cluster_options options = {
        .folder = folder, .postgres = 1, .connections_most = 30};
    enum cleave_status status = cleave__cluster_up(&options, &cluster, &error);
    if (status) {
        printf("%s\n", error.message);
        rmdir(folder);
        return status == CLEAVE_NOT_FOUND ? SKIPPED : 1;
    }
    url = cleave__cluster_server(cluster, 0)->url;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_urls),
        cmocka_unit_test(too_old),
        cmocka_unit_test(long_batches),
        cmocka_unit_test(dies),
        cmocka_unit_test(no_prepared_transactions),
    };
    int failures = contract_run(url) + contract_run_random(url) +
                   cmocka_run_group_tests_name("server", tests, NULL, NULL);
    if (cleave__cluster_down(cluster, &error)) {
        printf("%s\n", error.message);
        failures++;
    }
    cleave__cluster_free(cluster);
    return failures;
}
