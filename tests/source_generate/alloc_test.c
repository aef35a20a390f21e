/* Opening, generating and streaming rows while every allocation in turn fails.
 *
 * A stand-in takes the place of the DDL reader, since the SQL parser underneath it ends the process
 * when its own first allocations fail; the reader has tests of its own. */
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "failalloc.h"
#include "tables/source/generate.h"

enum cleave_status cleave__schema_parse_ddl(const char *text, size_t length, const char *name,
                                            struct cleave_schema **out, struct cleave_error *error)
{
    (void)text;
    (void)length;
    struct cleave_schema *schema = calloc(1, sizeof *schema);
    if (!schema)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", name);
    *out = schema;
    return CLEAVE_OK;
}

void cleave__schema_free(struct cleave_schema *schema)
{
    free(schema);
}

uint32_t cleave__schema_table(const struct cleave_schema *schema, const char *name, size_t length)
{
    (void)schema;
    (void)name;
    (void)length;
    return CLEAVE_ABSENT;
}

uint32_t cleave__schema_column(const struct cleave_table *table, const char *name, size_t length)
{
    (void)table;
    (void)name;
    (void)length;
    return CLEAVE_ABSENT;
}

struct attempt {
    const char *benchmark;
    struct cleave_benchmark_option options[4];
    uint32_t option_count;
};

static enum cleave_status keep(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error)
{
    (void)context;
    (void)row;
    (void)error;
    return CLEAVE_OK;
}

static bool generate(void *context)
{
    const struct attempt *attempt = context;
    struct cleave_generator *generator = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__generator_new(attempt->benchmark, attempt->options,
                                                      attempt->option_count, 3, &generator, &error);
    if (status != CLEAVE_OK)
        return status == CLEAVE_NO_MEMORY && !generator && error.status == CLEAVE_NO_MEMORY;
    bool good = true, broken = false;
    for (uint32_t i = 0; i < 60 && good; i++) {
        struct cleave_trace_transaction transaction;
        status = cleave__generator_next(generator, &transaction, NULL, &error);
        good =
            broken ? status == CLEAVE_NO_MEMORY : status == CLEAVE_OK || status == CLEAVE_NO_MEMORY;
        broken = broken || status != CLEAVE_OK;
    }
    status = cleave__generator_rows(generator, keep, NULL, &error);
    good = good && (status == CLEAVE_OK || status == CLEAVE_NO_MEMORY);
    cleave__generator_free(generator);
    return good;
}

static void test_allocations(void **state)
{
    (void)state;
    struct attempt attempts[] = {
        {"tpcc", {{"warehouses", "2"}, {"items", "20"}, {"customers-per-district", "12"}}, 3},
        {"tatp", {{"subscribers", "20"}}, 1},
        {"epinions", {{"users", "20"}, {"items", "10"}, {"communities", "3"}}, 3},
    };
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        assert_true(failalloc_run(attempts[i].benchmark, generate, &attempts[i], 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
