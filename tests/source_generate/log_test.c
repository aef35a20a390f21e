/* The bundled log, read back: its committed transactions are the generated ones, each once, however
 * its sessions interleave, however statements were sent, whatever was rolled back.
 *
 * usage: generate-log DATA-DIRECTORY */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "reading.h"

enum { TRANSACTIONS = 3000 };

static const char *data_directory;

/* A transaction as one string in which every literal and every parameter is its bare value. */
static char *canonical(const struct cleave_trace_transaction *transaction)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (uint32_t i = 0; i < transaction->statement_count; i++) {
        const struct cleave_trace_statement *s = &transaction->statements[i];
        for (const char *c = s->text; *c; c++) {
            if (*c == '$') {
                char *end;
                unsigned long number = strtoul(c + 1, &end, 10);
                assert_true(number >= 1 && number <= s->parameter_count);
                const struct cleave_parameter *p = &s->parameters[number - 1];
                assert_false(p->is_null || p->is_cut);
                fprintf(out, "%.*s", (int)p->length, p->text);
                c = end - 1;
            } else if (*c != '\'') {
                fputc(*c, out);
            }
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_log(void **state)
{
    (void)state;
    static char *logged[TRANSACTIONS + 1], *made[TRANSACTIONS];
    char path[1000];
    snprintf(path, sizeof path, "%s/tpcc-4w.log.xz", data_directory);
    const char *paths[] = {path};
    struct cleave_trace_options options = {0};
    struct cleave_error error = {0};
    struct cleave_trace *trace = NULL;
    if (cleave__trace_open(paths, 1, &options, &trace, &error) != CLEAVE_OK)
        fail_msg("%s", error.message);
    struct cleave_trace_transaction t;
    uint32_t count = 0;
    enum cleave_status status;
    while ((status = cleave__trace_next(trace, &t, &error)) == CLEAVE_OK) {
        assert_true(count < TRANSACTIONS);
        logged[count++] = canonical(&t);
    }
    assert_int_equal(status, CLEAVE_END);
    assert_int_equal(count, TRANSACTIONS);
    const struct cleave_trace_counters *counters = cleave__trace_counters(trace);
    assert_int_equal(counters->transactions, TRANSACTIONS);
    assert_int_equal(counters->transactions_rolled_back, 17); /* data/README.md says so too */
    assert_int_equal(counters->entries_bad, 0);
    assert_int_equal(counters->statements_lost, 0);

    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=4 items=1000 customers-per-district=300", 2026);
    uint64_t statements = 0;
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        struct cleave_trace_transaction next = next_transaction(g, NULL);
        statements += next.statement_count;
        made[i] = canonical(&next);
    }
    assert_int_equal(counters->statements_kept, statements);
    qsort(logged, TRANSACTIONS, sizeof logged[0], compare_texts);
    qsort(made, TRANSACTIONS, sizeof made[0], compare_texts);
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        assert_string_equal(logged[i], made[i]);
        free(logged[i]);
        free(made[i]);
    }
    cleave__generator_free(g);
    cleave__trace_close(trace);
}

static char *slurp(const char *name)
{
    char path[1000], *text = calloc(1, 100000);
    snprintf(path, sizeof path, "%s/%s", data_directory, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, 99999, file)] = 0;
    fclose(file);
    return text;
}

static void test_schema_and_sizes(void **state)
{
    (void)state;
    struct cleave_generator *g =
        open_benchmark("tpcc", "warehouses=4 items=1000 customers-per-district=300", 2026);
    char *ddl = slurp("tpcc-schema.sql"), *sizes = slurp("tpcc-sizes.yaml"), *written = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&written, &length);
    assert_int_equal(cleave__generator_write_sizes(g, stream, NULL), CLEAVE_OK);
    fclose(stream);
    assert_string_equal(ddl, cleave__generator_ddl(g));
    assert_string_equal(sizes, written);
    free(ddl);
    free(sizes);
    free(written);

    /* What the file says is what a reader of it gets. */
    char path[1000];
    snprintf(path, sizeof path, "%s/tpcc-schema.sql", data_directory);
    struct cleave_schema *schema = NULL;
    struct cleave_error error = {0};
    assert_int_equal(cleave__schema_read_ddl(path, &schema, &error), CLEAVE_OK);
    snprintf(path, sizeof path, "%s/tpcc-sizes.yaml", data_directory);
    if (cleave__sizes_read_yaml(schema, path, &error) != CLEAVE_OK)
        fail_msg("%s", error.message);
    const struct cleave_schema *own = cleave__generator_schema(g);
    assert_int_equal(schema->table_count, own->table_count);
    for (uint32_t i = 0; i < own->table_count; i++) {
        assert_true(schema->tables[i].rows == own->tables[i].rows);
        assert_true(schema->tables[i].row_bytes == own->tables[i].row_bytes);
    }
    cleave__schema_free(schema);
    cleave__generator_free(g);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 77;
    data_directory = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_schema_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
