/* Every benchmark alike: the registry, options, determinism, rows against the schema, writers, and
 * the parts the generators are made of. */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "property.h"
#include "reading.h"
#include "tables/source/generate_common.h"

#include <xxhash.h>

static const char *const small[][2] = {
    {"tpcc", "warehouses=2 items=100 customers-per-district=20"},
    {"tatp", "subscribers=300"},
    {"epinions", "users=200 items=100"},
    {"epinions", "users=200 items=100 communities=7"},
};
enum { SMALL = sizeof small / sizeof small[0] };

static void test_registry(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (const struct cleave_benchmark *b; (b = cleave__benchmark_at(count)); count++) {
        assert_true(strlen(b->name) > 0 && strlen(b->summary) > 0);
        for (uint32_t i = 0; b->options[i][0]; i++)
            assert_true(strlen(b->options[i][1]) > 0);
        cleave__generator_free(open_benchmark(b->name, "", 1));
    }
    assert_int_equal(count, 3);
    assert_null(cleave__benchmark_at(UINT32_MAX));
}

static void test_bad_options(void **state)
{
    (void)state;
    static const struct {
        const char *benchmark, *words;
        enum cleave_status status;
        const char *says;
    } cases[] = {
        {"tpc", "", CLEAVE_NOT_FOUND, "tpcc, tatp, epinions"},
        {"", "", CLEAVE_NOT_FOUND, "tpcc"},
        {"tpcc", "warehouse=3", CLEAVE_BAD_ARGUMENT, "warehouses"},
        {"tpcc", "warehouses=0", CLEAVE_BAD_ARGUMENT, "from 1 to 100000"},
        {"tpcc", "warehouses=100001", CLEAVE_BAD_ARGUMENT, "warehouses=100001"},
        {"tpcc", "warehouses=", CLEAVE_BAD_ARGUMENT, "whole number"},
        {"tpcc", "warehouses=-1", CLEAVE_BAD_ARGUMENT, "whole number"},
        {"tpcc", "warehouses=2x", CLEAVE_BAD_ARGUMENT, "whole number"},
        {"tpcc", "warehouses=99999999999999999999999", CLEAVE_BAD_ARGUMENT, "whole number"},
        {"tpcc", "warehouses=2 warehouses=3", CLEAVE_BAD_ARGUMENT, "twice"},
        {"tpcc", "remote-item=101", CLEAVE_BAD_ARGUMENT, "0 to 100"},
        {"tpcc", "stock-level=both", CLEAVE_BAD_ARGUMENT, "list, join"},
        {"tpcc", "mix=1/2/3/4", CLEAVE_BAD_ARGUMENT, "5 whole weights"},
        {"tpcc", "mix=1/2/3/4/5/6", CLEAVE_BAD_ARGUMENT, "5 whole weights"},
        {"tpcc", "mix=1/2/3/4/", CLEAVE_BAD_ARGUMENT, "5 whole weights"},
        {"tpcc", "mix=0/0/0/0/0", CLEAVE_BAD_ARGUMENT, "sum"},
        {"tpcc", "mix=10000/1/0/0/0", CLEAVE_BAD_ARGUMENT, "sum"},
        {"tpcc", "mix=", CLEAVE_BAD_ARGUMENT, "5 whole weights"},
        {"tatp", "subscribers=0", CLEAVE_BAD_ARGUMENT, "subscribers"},
        {"tatp", "distribution=zipf", CLEAVE_BAD_ARGUMENT, "nonuniform, uniform"},
        {"epinions", "mix=1/1", CLEAVE_BAD_ARGUMENT, "schism, benchbase"},
        {"epinions", "users=10 items=10 reviews=51", CLEAVE_BAD_ARGUMENT, "from 0 to 50"},
        {"epinions", "users=10 items=5 communities=6", CLEAVE_BAD_ARGUMENT, "from 0 to 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cleave_generator *generator = NULL;
        struct cleave_error error = {0};
        assert_int_equal(try_benchmark(cases[i].benchmark, cases[i].words, 1, &generator, &error),
                         cases[i].status);
        assert_null(generator);
        assert_int_equal(error.status, cases[i].status);
        if (!strstr(error.message, cases[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].words, error.message, cases[i].says);
    }
    struct cleave_benchmark_option none = {"warehouses", NULL};
    struct cleave_generator *generator = NULL;
    assert_int_equal(cleave__generator_new("tpcc", &none, 1, 1, &generator, NULL),
                     CLEAVE_BAD_ARGUMENT);
    assert_int_equal(cleave__generator_new(NULL, NULL, 0, 1, &generator, NULL), CLEAVE_NOT_FOUND);
}

/* ---- determinism ---- */

static uint64_t hash_trace(struct cleave_generator *generator, uint32_t transactions)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < transactions; i++) {
        const char *kind;
        struct cleave_trace_transaction t = next_transaction(generator, &kind);
        hash = XXH64(kind, strlen(kind), hash);
        hash = XXH64(t.session, strlen(t.session), hash);
        for (uint32_t j = 0; j < t.statement_count; j++) {
            assert_int_equal(strlen(t.statements[j].text), t.statements[j].length);
            assert_int_equal(t.statements[j].parameter_count, 0);
            hash = XXH64(t.statements[j].text, t.statements[j].length, hash);
        }
    }
    return hash;
}

static enum cleave_status hash_row(void *context, const struct cleave_generated_row *row,
                                   struct cleave_error *error)
{
    (void)error;
    uint64_t *hash = context;
    *hash = XXH64(row->name, strlen(row->name), *hash);
    for (uint32_t i = 0; i < row->count; i++) {
        const char *value = row->values[i] ? row->values[i] : "\\N";
        *hash = XXH64(value, strlen(value) + 1, *hash);
    }
    return CLEAVE_OK;
}

static uint64_t hash_rows(struct cleave_generator *generator)
{
    uint64_t hash = 0;
    assert_int_equal(cleave__generator_rows(generator, hash_row, &hash, NULL), CLEAVE_OK);
    return hash;
}

static void test_same_seed_same_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SMALL; i++) {
        struct cleave_generator *a = open_benchmark(small[i][0], small[i][1], 42);
        struct cleave_generator *b = open_benchmark(small[i][0], small[i][1], 42);
        struct cleave_generator *c = open_benchmark(small[i][0], small[i][1], 43);
        uint64_t before = hash_rows(a), one = hash_trace(a, 500);
        assert_true(one == hash_trace(b, 500));
        assert_true(one != hash_trace(c, 500));
        assert_true(before == hash_rows(a)); /* the initial database stays what it was */
        assert_true(before == hash_rows(b));
        assert_true(before != hash_rows(c));
        assert_true(hash_trace(a, 500) == hash_trace(b, 500)); /* held out: the same stream */
        cleave__generator_free(a);
        cleave__generator_free(b);
        cleave__generator_free(c);
    }
}

/* Pinned bytes: a change here changes every figure that was ever taken with a seed. */
static void test_pinned(void **state)
{
    (void)state;
    static const struct {
        const char *benchmark, *words;
        uint64_t trace, rows;
    } pins[] = {
#include "pins.inc"
    };
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        struct cleave_generator *g = open_benchmark(pins[i].benchmark, pins[i].words, 1);
        uint64_t trace = hash_trace(g, 2000), rows = hash_rows(g);
        if (trace != pins[i].trace || rows != pins[i].rows)
            fail_msg("{\"%s\", \"%s\", UINT64_C(0x%llx), UINT64_C(0x%llx)}", pins[i].benchmark,
                     pins[i].words, (unsigned long long)trace, (unsigned long long)rows);
        cleave__generator_free(g);
    }
}

/* ---- rows against the schema ---- */

struct counting {
    const struct cleave_schema *schema;
    double rows[16];
    uint32_t last_table, tables_seen;
};

static enum cleave_status count_row(void *context, const struct cleave_generated_row *row,
                                    struct cleave_error *error)
{
    (void)error;
    struct counting *counting = context;
    assert_true(row->table < counting->schema->table_count);
    const struct cleave_table *table = &counting->schema->tables[row->table];
    assert_string_equal(table->name, row->name);
    assert_int_equal(table->column_count, row->count);
    struct cleave_arena arena = {0};
    for (uint32_t i = 0; i < row->count; i++) {
        struct cleave_value value;
        if (!row->values[i]) {
            assert_false(table->columns[i].not_null);
            continue;
        }
        assert_int_equal(cleave__value_parse(table->columns[i].type, row->values[i],
                                             strlen(row->values[i]), &arena, &value),
                         CLEAVE_OK);
    }
    cleave__arena_free(&arena);
    if (row->table != counting->last_table) {
        assert_true(counting->rows[row->table] == 0); /* one run of rows a table */
        counting->last_table = row->table;
        counting->tables_seen++;
    }
    counting->rows[row->table]++;
    return CLEAVE_OK;
}

static void test_rows_fit_schema(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SMALL; i++) {
        struct cleave_generator *g = open_benchmark(small[i][0], small[i][1], 5);
        struct counting counting = {.schema = cleave__generator_schema(g),
                                    .last_table = CLEAVE_ABSENT};
        assert_int_equal(cleave__generator_rows(g, count_row, &counting, NULL), CLEAVE_OK);
        assert_int_equal(counting.tables_seen, counting.schema->table_count);
        for (uint32_t t = 0; t < counting.schema->table_count; t++) {
            const struct cleave_table *table = &counting.schema->tables[t];
            assert_true(table->size_origin == CLEAVE_SIZE_GIVEN && table->row_bytes > 0);
            double off = counting.rows[t] / table->rows;
            if (off < 0.85 || off > 1.15) /* where the count is random, the schema has the mean */
                fail_msg("%s: %g rows, the schema says %g", table->name, counting.rows[t],
                         table->rows);
            if (strcmp(table->name, "history") != 0)
                assert_true(table->primary.count > 0);
        }
        cleave__generator_free(g);
    }
}

static enum cleave_status stop_at_third(void *context, const struct cleave_generated_row *row,
                                        struct cleave_error *error)
{
    (void)row;
    uint32_t *count = context;
    return ++*count == 3 ? cleave_error_set(error, CLEAVE_INTERRUPTED, "enough") : CLEAVE_OK;
}

static void test_rows_stop(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SMALL; i++) {
        struct cleave_generator *g = open_benchmark(small[i][0], small[i][1], 5);
        struct cleave_error error = {0};
        uint32_t count = 0;
        assert_int_equal(cleave__generator_rows(g, stop_at_third, &count, &error),
                         CLEAVE_INTERRUPTED);
        assert_int_equal(count, 3);
        assert_string_equal(error.message, "enough");
        cleave__generator_free(g);
    }
}

/* ---- writers ---- */

static void test_writers(void **state)
{
    (void)state;
    struct cleave_generator *g = open_benchmark(small[0][0], small[0][1], 5);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(cleave__generator_write_rows(g, CLEAVE_ROWS_COPY, stream, NULL), CLEAVE_OK);
    fclose(stream);
    assert_non_null(strstr(text, "COPY warehouse (w_id, w_name, "));
    uint32_t blocks = 0;
    for (const char *c = text; (c = strstr(c, "\n\\.\n")); c++)
        blocks++;
    assert_int_equal(blocks, 9);
    assert_non_null(strstr(text, "\t\\N\t")); /* orders not yet delivered */
    free(text);

    stream = open_memstream(&text, &length);
    assert_int_equal(cleave__generator_write_rows(g, CLEAVE_ROWS_INSERT, stream, NULL), CLEAVE_OK);
    fclose(stream);
    assert_non_null(
        strstr(text, "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES\n(1, 1,"));
    assert_non_null(strstr(text, ", NULL, "));
    assert_string_equal(text + length - 4, ");\n\n");
    free(text);

    stream = open_memstream(&text, &length);
    const char *kind;
    struct cleave_trace_transaction t = next_transaction(g, &kind);
    assert_int_equal(cleave__generator_write_transaction(&t, stream, NULL), CLEAVE_OK);
    fclose(stream);
    assert_true(starts(text, "BEGIN;\n"));
    assert_string_equal(text + length - 9, ";\nCOMMIT;\n" + 1);
    free(text);

    stream = open_memstream(&text, &length);
    assert_int_equal(cleave__generator_write_sizes(g, stream, NULL), CLEAVE_OK);
    fclose(stream);
    assert_non_null(strstr(text, "tables:\n  warehouse: {rows: 2, row_bytes: 89}\n"));
    free(text);

    stream = fopen("/dev/full", "w");
    if (stream) {
        struct cleave_error error = {0};
        assert_int_equal(cleave__generator_write_rows(g, CLEAVE_ROWS_COPY, stream, &error),
                         CLEAVE_IO);
        assert_true(strlen(error.message) > 0);
        fclose(stream);
    }
    cleave__generator_free(g);
}

/* ---- parts ---- */

static bool permutation_holds(struct property_source *source, void *context)
{
    (void)context;
    uint32_t count = 1 + (uint32_t)property_draw(source, 3000);
    struct cleave_permutation p = cleave__permutation(property_draw(source, 1u << 30), count);
    uint8_t *seen = calloc(count, 1);
    bool holds = true;
    for (uint32_t i = 0; i < count && holds; i++) {
        uint32_t at = cleave__permutation_at(&p, i);
        holds = at < count && !seen[at]++ && cleave__permutation_find(&p, at) == i;
    }
    if (!holds && source->verbose)
        printf("count %u\n", count);
    free(seen);
    return holds;
}

static void test_permutation(void **state)
{
    (void)state;
    assert_true(property_run("a permutation is a bijection with its inverse", permutation_holds,
                             NULL, 200));
    struct cleave_permutation p = cleave__permutation(7, UINT32_MAX);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(cleave__permutation_find(&p, cleave__permutation_at(&p, i * 4000000)) ==
                    i * 4000000);
}

static bool changes_hold(struct property_source *source, void *context)
{
    (void)context;
    enum { KEYS = 64 };
    uint32_t expected[KEYS];
    bool known[KEYS] = {false};
    struct cleave_change_map map = {0};
    uint32_t steps = (uint32_t)property_draw(source, 2000);
    bool holds = true;
    for (uint32_t i = 0; i < steps && holds; i++) {
        uint32_t key = (uint32_t)property_draw(source, KEYS), value = i * 31;
        holds = cleave__change_set(&map, (uint64_t)key << 40, value);
        expected[key] = value;
        known[key] = true;
        key = (uint32_t)property_draw(source, KEYS);
        const uint32_t *found = cleave__change_find(&map, (uint64_t)key << 40);
        holds = holds && (found != NULL) == known[key] && (!found || *found == expected[key]);
    }
    cleave__change_free(&map);
    return holds;
}

static void test_changes(void **state)
{
    (void)state;
    assert_true(property_run("a change map is a map", changes_hold, NULL, 100));
    struct cleave_change_map map = {0};
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(cleave__change_set(&map, i, i));
    assert_int_equal(map.count, 100000);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(*cleave__change_find(&map, i), i);
    assert_null(cleave__change_find(&map, 100000));
    cleave__change_free(&map);
}

static void test_stamp(void **state)
{
    (void)state;
    static const struct {
        int64_t milliseconds;
        const char *text;
    } cases[] = {
        {0, "2026-01-01 00:00:00"},
        {10, "2026-01-01 00:00:00.01"},
        {100, "2026-01-01 00:00:00.1"},
        {110000, "2026-01-01 00:01:50"},
        {-1, "2025-12-31 23:59:59.999"},
        {INT64_C(58) * 86400000 + 3723004, "2026-02-28 01:02:03.004"},
        {INT64_C(59) * 86400000, "2026-03-01 00:00:00"},
        {INT64_C(789) * 86400000, "2028-02-29 00:00:00"},
        {INT64_C(-20454) * 86400000, "1970-01-01 00:00:00"},
        {INT64_C(-9497) * 86400000, "2000-01-01 00:00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CLEAVE_STAMP_BYTES];
        cleave__content_stamp(cases[i].milliseconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_filler(void **state)
{
    (void)state;
    uint32_t lengths[17] = {0};
    for (uint64_t hash = 0; hash < 20000; hash++) {
        char text[512];
        cleave__content_letters(cleave__mix64(hash), 8, 16, text);
        size_t length = strlen(text);
        assert_true(length >= 8 && length <= 16 &&
                    strspn(text, "abcdefghijklmnopqrstuvwxyz") == length);
        lengths[length]++;
        cleave__content_words(cleave__mix64(hash), 300, 500, text);
        length = strlen(text);
        assert_true(length >= 300 && length <= 500 && text[length - 1] != ' ');
        cleave__content_digits(hash, 16, text);
        assert_true(strlen(text) == 16 && strspn(text, "0123456789") == 16);
    }
    for (uint32_t i = 8; i <= 16; i++)
        assert_true(lengths[i] > 2000 && lengths[i] < 2450);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_same_seed_same_bytes),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_rows_fit_schema),
        cmocka_unit_test(test_rows_stop),
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_stamp),
        cmocka_unit_test(test_filler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
