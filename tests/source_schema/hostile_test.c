/* DDL that is large, deep or made to break readers: one clear line each, in bounded time and
 * memory; and every allocation failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "describe.h"
#include "failalloc.h"
#include "tables/source/sizes.h"

struct text {
    char *bytes;
    size_t length;
    FILE *stream;
};

static void start(struct text *text)
{
    text->stream = open_memstream(&text->bytes, &text->length);
    assert_non_null(text->stream);
}

static enum cleave_status parse(struct text *text, struct cleave_schema **out,
                                struct cleave_error *error)
{
    fclose(text->stream);
    enum cleave_status status =
        cleave__schema_parse_ddl(text->bytes, text->length, "t.sql", out, error);
    free(text->bytes);
    return status;
}

static void refuse(struct text *text, enum cleave_status status, const char *message)
{
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    assert_int_equal(parse(text, &schema, &error), status);
    assert_null(schema);
    if (strncmp(error.message, message, strlen(message)) != 0)
        assert_string_equal(error.message, message);
}

static struct cleave_schema *accept(struct text *text)
{
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    if (parse(text, &schema, &error))
        fail_msg("%s", error.message);
    assert_true(schema_check(schema));
    return schema;
}

static void test_columns(void **state)
{
    (void)state;
    struct text text;
    start(&text);
    fprintf(text.stream, "CREATE TABLE t (\n");
    for (int i = 0; i < 1600; i++)
        fprintf(text.stream, "%sc%d int", i ? ",\n" : "", i);
    fprintf(text.stream, ");");
    struct cleave_schema *schema = accept(&text);
    assert_int_equal(schema->tables[0].column_count, 1600);
    cleave__schema_free(schema);

    start(&text);
    fprintf(text.stream, "CREATE TABLE t (\n");
    for (int i = 0; i < 1601; i++)
        fprintf(text.stream, "%sc%d int", i ? ",\n" : "", i);
    fprintf(text.stream, ");");
    refuse(&text, CLEAVE_LIMIT, "t.sql:1602: \"t\" has more than 1600 columns, PostgreSQL's limit");

    start(&text);
    fprintf(text.stream, "CREATE TABLE t (a int, UNIQUE (");
    for (int i = 0; i < 100; i++)
        fprintf(text.stream, "%sa", i ? ", " : "");
    fprintf(text.stream, "));");
    refuse(&text, CLEAVE_LIMIT, "t.sql:1: a key of \"t\" has 100 columns; PostgreSQL allows 32");
}

/* As large as the largest real schemas, keys and references all over. */
static void test_many_tables(void **state)
{
    (void)state;
    enum { TABLES = 2000 };
    struct text text;
    start(&text);
    for (int i = 0; i < TABLES; i++)
        fprintf(text.stream,
                "CREATE TABLE s%d.t%d (id int, part int, other int, note text, PRIMARY KEY (id, "
                "part));\n",
                i % 7, i);
    for (int i = 0; i < TABLES; i++)
        fprintf(text.stream,
                "ALTER TABLE ONLY s%d.t%d ADD FOREIGN KEY (part, other) REFERENCES s%d.t%d;\n",
                i % 7, i, (i + 1) % TABLES % 7, (i + 1) % TABLES);
    struct cleave_schema *schema = accept(&text);
    assert_int_equal(schema->table_count, TABLES);
    uint32_t last = cleave__schema_table(schema, "t1999", 5);
    assert_int_equal(schema->tables[last].foreigns[0].target_table,
                     cleave__schema_table(schema, "s0.t0", 5));
    cleave__schema_free(schema);
}

static void test_depth(void **state)
{
    (void)state;
    struct text text;
    start(&text);
    fprintf(text.stream, "CREATE TABLE t (a int CHECK (");
    for (int i = 0; i < 100000; i++)
        fputc('(', text.stream);
    refuse(&text, CLEAVE_LIMIT, "t.sql:1: statement nests deeper than");
    start(&text);
    fprintf(text.stream, "CREATE VIEW v AS SELECT 1");
    for (int i = 0; i < 50000; i++)
        fprintf(text.stream, " + 1");
    refuse(&text, CLEAVE_LIMIT, "t.sql:1: ");
    start(&text);
    for (int i = 0; i < 50000; i++)
        fprintf(text.stream, "/*");
    refuse(&text, CLEAVE_BAD_INPUT, "t.sql:1: a comment opens here and never closes");
    /* Partitions of partitions of ... */
    start(&text);
    fprintf(text.stream, "CREATE TABLE p0 (a int) PARTITION BY LIST (a);\n");
    for (int i = 1; i < 5000; i++)
        fprintf(text.stream, "CREATE TABLE p%d PARTITION OF p%d DEFAULT PARTITION BY LIST (a);\n",
                i, i - 1);
    fprintf(text.stream, "ALTER TABLE p4999 ATTACH PARTITION p0 DEFAULT;\n");
    refuse(&text, CLEAVE_BAD_INPUT, "t.sql:5001: \"p0\" cannot become a partition of \"p4999\"");
    /* A lattice of inheritance: 2^30 paths. */
    start(&text);
    fprintf(text.stream, "CREATE TABLE a0 (x int); CREATE TABLE b0 (y int);\n");
    for (int i = 1; i < 30; i++)
        fprintf(text.stream,
                "CREATE TABLE a%d () INHERITS (a%d, b%d); CREATE TABLE b%d () INHERITS (a%d, "
                "b%d);\n",
                i, i - 1, i - 1, i, i - 1, i - 1);
    fprintf(text.stream, "ALTER TABLE a0 ADD COLUMN z int; ALTER TABLE a0 RENAME z TO zz;\n"
                         "ALTER TABLE a29 ADD COLUMN own int; ALTER TABLE a0 INHERIT a29;\n"
                         "ALTER TABLE a0 ADD COLUMN round int;\n");
    struct cleave_schema *schema = accept(&text);
    uint32_t last = cleave__schema_table(schema, "b29", 3);
    assert_int_not_equal(cleave__schema_column(&schema->tables[last], "zz", 2), CLEAVE_ABSENT);
    cleave__schema_free(schema);
}

/* 100 MB on one line: an INSERT is passed over, a CREATE TABLE is refused; neither is held. */
static void test_length(void **state)
{
    (void)state;
    enum { MEGABYTES = 100 };
    static char block[1 << 20];
    struct rusage before, after;
    memset(block, 'x', sizeof block);
    for (int round = 0; round < 3; round++) {
        char path[] = "/tmp/cleave-schema-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        FILE *stream = fdopen(file, "w");
        fputs(round == 0   ? "CREATE TABLE t (a int);\nINSERT INTO t VALUES ('"
              : round == 1 ? "CREATE TABLE t (a int DEFAULT '"
                           : "COPY t FROM stdin;\n",
              stream);
        for (int i = 0; i < MEGABYTES; i++)
            fwrite(block, 1, sizeof block, stream);
        fputs(round == 2 ? "\n\\.\nCREATE TABLE t (a int);" : "');", stream);
        fclose(stream);
        struct cleave_schema *schema = NULL;
        struct cleave_error error = {0};
        getrusage(RUSAGE_SELF, &before);
        enum cleave_status status = cleave__schema_read_ddl(path, &schema, &error);
        getrusage(RUSAGE_SELF, &after);
        remove(path);
        assert_int_equal(status, round == 1 ? CLEAVE_LIMIT : CLEAVE_OK);
        if (round == 1)
            assert_non_null(strstr(error.message, ":1: a statement longer than 1048576 bytes: "
                                                  "CREATE TABLE t (a int DEFAULT 'xxx"));
        assert_true(after.ru_maxrss - before.ru_maxrss < 30 * 1024); /* KiB */
        cleave__schema_free(schema);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    /* Latin-1 and broken UTF-8 in names and comments do no harm. */
    struct text text;
    start(&text);
    fprintf(text.stream,
            "-- \xe9\xff\nCREATE TABLE \"\xe9t\xff\" (\"\xc3\" int DEFAULT '\xe2\x82');");
    struct cleave_schema *schema = accept(&text);
    assert_string_equal(schema->tables[0].name, "\xe9t\xff");
    cleave__schema_free(schema);
    /* Names are cut at 63 bytes, as PostgreSQL does. */
    start(&text);
    fprintf(text.stream, "CREATE TABLE ");
    for (int i = 0; i < 2000; i++)
        fputc('n', text.stream);
    fprintf(text.stream, " (a int);");
    schema = accept(&text);
    assert_int_equal(strlen(schema->tables[0].name), 63);
    cleave__schema_free(schema);
    start(&text);
    fprintf(text.stream, "\xff\xfe"
                         "C R E A T E");
    refuse(&text, CLEAVE_BAD_INPUT, "t.sql:1: not a PostgreSQL statement: ");
    start(&text);
    fprintf(text.stream, "%s", "%s%n CREATE TABLE t (a int)");
    refuse(&text, CLEAVE_BAD_INPUT, "t.sql:1: not a PostgreSQL statement: %s%n CREATE TABLE");
    start(&text);
    fprintf(text.stream, "<html><body>404</body></html>\n");
    refuse(&text, CLEAVE_BAD_INPUT, "t.sql:1: not a PostgreSQL statement: <html>");
}

static const char everything[] =
    "SET search_path = a, public; CREATE DOMAIN d AS int; CREATE TYPE e AS ENUM ('x');"
    "CREATE TABLE t (id serial PRIMARY KEY, b d UNIQUE, c e, up int REFERENCES t);"
    "CREATE TABLE u (LIKE t INCLUDING ALL, x text); CREATE TABLE i (y int) INHERITS (t);"
    "ALTER TABLE t ADD COLUMN z text DEFAULT 'q', DROP COLUMN c, ALTER z TYPE varchar(9);"
    "CREATE UNIQUE INDEX k ON t (z); CREATE VIEW v AS SELECT * FROM t;"
    "CREATE MATERIALIZED VIEW m AS SELECT id, count(*) FROM t GROUP BY 1;"
    "CREATE TABLE p (r int) PARTITION BY LIST (r); CREATE TABLE p1 PARTITION OF p DEFAULT;"
    "ALTER TABLE t RENAME TO tt; ALTER TABLE u RENAME x TO xx; DROP TABLE i;";
static const char yaml[] = "tables: {tt: 7, u: {rows: 3, row_bytes: 2}}";
static const char json[] =
    "{\"tablename\":\"u\",\"reltuples\":5,\"attname\":\"xx\",\"n_distinct\":2,"
    "\"most_common_vals\":[\"a\"],\"most_common_freqs\":[0.5],"
    "\"histogram_bounds\":\"{b,\\\"c d\\\"}\"}";
static const char csv[] = "tablename,attname,histogram_bounds\nu,xx,\"{a,\"\"b c\"\"}\"\n";

static bool attempt(void *context)
{
    unsigned *attempts = context;
    ++*attempts;
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    enum cleave_status status =
        cleave__schema_parse_ddl(everything, strlen(everything), "t", &schema, &error);
    if (!status) {
        status = cleave__sizes_parse_yaml(schema, yaml, strlen(yaml), "y", &error);
        if (!status)
            status = cleave__sizes_parse_stats(schema, json, strlen(json), "j", &error);
        if (!status)
            status = cleave__sizes_parse_stats(schema, csv, strlen(csv), "c", &error);
        cleave__schema_free(schema);
    }
    if (status && status != CLEAVE_NO_MEMORY && status != CLEAVE_BAD_INPUT)
        printf("%d: %s\n", (int)status, error.message);
    /* A failed allocation within an array literal shows as bad input; all else is no memory. */
    return status == CLEAVE_OK || status == CLEAVE_NO_MEMORY || status == CLEAVE_BAD_INPUT;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    unsigned attempts = 0;
    assert_true(failalloc_run_thread("schema", attempt, &attempts, 1));
    printf("%u attempts\n", attempts);
    assert_true(attempts > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_many_tables),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_length),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
