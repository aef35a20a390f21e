/* The contract on a file; what is SQLite's alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "contract.h"
#include "store/words.h"
#include "support/failalloc.h"

static char folder[] = "/tmp/cleave-store-XXXXXX";

static void path_of(const char *name, char path[100])
{
    snprintf(path, 100, "%s/%s", folder, name);
}

static void urls(void **state)
{
    static const char *const shown[][2] = {
        {"postgresql://u:p@h:1/d", "postgresql://u@h:1/d"},
        {"postgres://u:p:@/?w@h:1/d", "postgres://u@h:1/d"},
        {"postgres://h:1/d?x=a@b", "postgres://h:1/d?x=a@b"},
        {"postgres://u@h/d?password=x&sslpassword=y&a=b",
         "postgres://u@h/d?password=&sslpassword=&a=b"},
        {"host=h password = 'a\\'b c' user=u", "host=h password = user=u"},
        {"password=x", "password="},
        {"user=u password='open", "user=u password="},
        {"sqlite:a:b@c", "sqlite:a:b@c"},
    };
    struct cleave_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        assert_string_equal(cleave__store_shown(shown[i][0], &arena), shown[i][1]);
    assert_string_equal(cleave__store_url("a{}/{}{", 103, &arena), "a103/103{");
    assert_string_equal(cleave__store_url("{}", 0, &arena), "0");
    assert_ptr_equal(cleave__store_of("dbname=x"), &cleave__postgres);
    assert_ptr_equal(cleave__store_of("./dbname=x"), &cleave__sqlite);
    assert_ptr_equal(cleave__store_of("postgresql://"), &cleave__postgres);
    cleave__arena_free(&arena);
}

static void locks_are_cut(void **state)
{
    static const char *const texts[][2] = {
        {"SELECT 1 FOR UPDATE", "SELECT 1"},
        {"SELECT a FROM t FOR NO KEY UPDATE OF t, \"u\".v NOWAIT LIMIT 1",
         "SELECT a FROM t LIMIT 1"},
        {"SELECT a FROM t WHERE a IN (SELECT b FROM u FOR KEY SHARE SKIP LOCKED)",
         "SELECT a FROM t WHERE a IN (SELECT b FROM u )"},
        {"SELECT 'it''s FOR UPDATE', E'\\' FOR UPDATE', $$ FOR UPDATE $$, \"FOR UPDATE\" -- FOR "
         "UPDATE",
         NULL},
        {"SELECT substring(a FOR 3) /* FOR /* FOR UPDATE */ SHARE */ FROM t", NULL},
        {"SELECT a FOR", NULL},
        {"SELECT 'open FOR UPDATE", NULL},
        {"$", NULL},
        {"$a FOR UPDATE", "$a"},
    };
    struct cleave_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *cut = cleave__store_unlocked(texts[i][0], &arena);
        char line[100];
        cleave__store_line(cut, line, sizeof line);
        if (texts[i][1])
            assert_string_equal(line, texts[i][1]);
        else
            assert_ptr_equal(cut, texts[i][0]);
        assert_int_equal(strlen(cut), strlen(texts[i][0]));
    }
    cleave__arena_free(&arena);
}

/* A file that nothing was put into is not left; one that is no database is refused. */
static void files(void **state)
{
    char path[100];
    struct client client;
    struct stat there;
    struct cleave_store_session *session;
    (void)state;
    path_of("new.db", path);
    client_open(&client, path);
    assert_int_equal(
        client_batch(&client, CLEAVE_BATCH_COMMIT, NULL, "SELECT * FROM none", NULL, NULL, NULL),
        CLEAVE_BAD_INPUT);
    client_close(&client);
    assert_int_equal(stat(path, &there), -1);
    path_of("text", path);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "not a database\n");
    fclose(file);
    struct cleave_error error;
    assert_int_equal(cleave__sqlite.open(path, &session, &error), CLEAVE_IO);
    assert_non_null(strstr(error.message, "not a database"));
    unlink(path);
    path_of("no/folder", path);
    assert_int_equal(cleave__sqlite.open(path, &session, &error), CLEAVE_IO);
    assert_non_null(strstr(error.message, "No such file"));
    assert_int_equal(cleave__sqlite.open("sqlite:", &session, &error), CLEAVE_BAD_ARGUMENT);
}

/* Something that conflicts ran between the doing and the doing again: found, and nothing done. */
static void conflicts(void **state)
{
    char path[100];
    struct client a, b;
    (void)state;
    path_of("conflict.db", path);
    client_open(&a, path);
    client_open(&b, path);
    client_do(&a, "CREATE TABLE t (x int)");
    client_do(&a, "INSERT INTO t VALUES (1), (2)");
    client_batch(&a, CLEAVE_BATCH_PREPARE, "p", "DELETE FROM t WHERE x < 9", NULL, NULL, NULL);
    client_batch(&a, CLEAVE_BATCH_OPEN, NULL, "UPDATE t SET x = x + 1", NULL, NULL, NULL);
    client_do(&b, "INSERT INTO t VALUES (3)");
    assert_int_equal(client_batch(&a, CLEAVE_BATCH_COMMIT, NULL, NULL, NULL, NULL, NULL),
                     CLEAVE_CORRUPT);
    assert_int_equal(client_finish(&a, "p", true), CLEAVE_CORRUPT);
    assert_string_equal(client_value(&b, "SELECT sum(x) FROM t"), "6");
    assert_int_equal(client_finish(&a, "p", false), CLEAVE_OK);
    client_close(&a);
    client_close(&b);
    unlink(path);
}

static enum cleave_status ignore(void *context, uint32_t columns, const char *const *values,
                                 struct cleave_error *error)
{
    (void)context;
    (void)columns;
    (void)values;
    (void)error;
    return CLEAVE_OK;
}

/* All that can be asked of a store, once; stops at the first failure. */
static enum cleave_status everything(struct cleave_store_session *session,
                                     struct cleave_arena *arena, struct cleave_error *error)
{
    const struct cleave_store_ops *ops = &cleave__sqlite;
    struct cleave_store_parameter parameter = {"5"};
    struct cleave_store_statement statements[] = {
        {"CREATE TABLE t (a int, b text)", NULL, 0},
        {"INSERT INTO t VALUES ($1, 'x') RETURNING a", &parameter, 1},
        {"SELECT a, b, x'00' FROM t FOR UPDATE", NULL, 0}};
    struct cleave_store_answer answers[3];
    struct cleave_store_batch open = {statements, 3, CLEAVE_BATCH_OPEN, NULL};
    struct cleave_store_batch prepare = {statements + 1, 2, CLEAVE_BATCH_PREPARE, "name"};
    const char *values[] = {"1", NULL}, *columns[] = {"a", "b"}, *const * names;
    const struct cleave_store_table *tables;
    uint32_t count;
    enum cleave_status status = ops->send(session, &open, error);
    if (!status)
        status = ops->receive(session, arena, answers, NULL, error);
    if (!status)
        status = ops->fill_begin(session, "t", columns, 2, error);
    if (!status)
        status = ops->fill_row(session, values, 2, error);
    if (!status)
        status = ops->fill_end(session, error);
    if (!status)
        status = ops->tables(session, arena, &tables, &count, error);
    if (!status)
        status = ops->scan(session, "SELECT *, x'0102' FROM t", ignore, NULL, error);
    if (!status)
        status = ops->send(session, &prepare, error);
    if (!status)
        status = ops->receive(session, arena, answers, NULL, error);
    if (!status)
        status = ops->prepared(session, "", arena, &names, &count, error);
    if (!status)
        status = ops->send_finish(session, "name", true, error);
    return status ? status : ops->receive_finish(session, error);
}

static bool attempt(void *context)
{
    char url[120];
    struct cleave_store_session *session;
    struct cleave_error error;
    struct cleave_arena arena = {0};
    bool right = true;
    snprintf(url, sizeof url, "sqlite:%s", (const char *)context);
    enum cleave_status status = cleave__sqlite.open(url, &session, &error);
    if (!status) {
        status = everything(session, &arena, &error);
        cleave__sqlite.close(session);
    }
    right = status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
    if (!right)
        printf("status %d: %s\n", status, error.message);
    cleave__arena_free(&arena);
    unlink(context);
    return right;
}

static void without_memory(void **state)
{
    char path[100];
    (void)state;
    path_of("memory.db", path);
    assert_true(failalloc_run("sqlite store", attempt, path, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),      cmocka_unit_test(locks_are_cut),  cmocka_unit_test(files),
        cmocka_unit_test(conflicts), cmocka_unit_test(without_memory),
    };
    char path[100], url[120];
    if (!mkdtemp(folder))
        return 1;
    path_of("store.db", path);
    snprintf(url, sizeof url, "sqlite:%s", path);
    int failures = contract_run(url) + contract_run_random(url) +
                   cmocka_run_group_tests_name("file", tests, NULL, NULL);
    unlink(path);
    failures += rmdir(folder) != 0; /* nothing is left */
    return failures;
}
