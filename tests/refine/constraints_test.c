/* Constraints files: what they say is taken, written files read back the same, and whatever else
 * they hold is refused in one clear line with nothing changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "support/property.h"
#include "tables/refine/constraints.h"

static const char ddl[] = "CREATE TABLE house (w int PRIMARY KEY, name text);"
                          "CREATE TABLE stock (w int, i int, PRIMARY KEY (w, i));"
                          "CREATE TABLE day (at date PRIMARY KEY);"
                          "CREATE VIEW shown AS SELECT w FROM house";

static struct cleave_schema *schema;
static const char path[] = "constraints-test.yaml";

static void write_file(const char *text, size_t length)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, length, out), length);
    fclose(out);
}

static enum cleave_status read_text(const char *text, size_t length, struct cleave_arena *arena,
                                    struct cleave_steer *steer, struct cleave_error *error)
{
    write_file(text, length);
    enum cleave_status status = cleave__constraints_read(path, schema, 4, arena, steer, error);
    remove(path);
    return status;
}

static void accepted(const char *text, void (*check)(const struct cleave_steer *steer))
{
    struct cleave_arena arena = {0};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_error error = {.message = ""};
    if (read_text(text, strlen(text), &arena, &steer, &error))
        fail_msg("%s", error.message);
    check(&steer);
    cleave__arena_free(&arena);
}

/* One line that names the file and holds `words`; the steer as it was. */
static void refused_bytes(const char *text, size_t length, const char *words)
{
    struct cleave_arena arena = {0};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS, before = steer;
    struct cleave_error error = {.message = ""};
    enum cleave_status status = read_text(text, length, &arena, &steer, &error);
    if (status != CLEAVE_BAD_INPUT && status != CLEAVE_LIMIT)
        fail_msg("accepted (%d): %.60s", (int)status, text);
    if (!strstr(error.message, path) || strchr(error.message, '\n') ||
        !strstr(error.message, words))
        fail_msg("'%s' lacks '%s' or the file's name", error.message, words);
    assert_memory_equal(&steer, &before, sizeof steer);
    cleave__arena_free(&arena);
}

static void refused(const char *text, const char *words)
{
    refused_bytes(text, strlen(text), words);
}

static void check_all(const struct cleave_steer *s)
{
    assert_true(s->epsilon == 0.2 && s->strict && !s->replication && !s->derived_keys);
    assert_true(!s->exceptions && s->attributes == 3 && s->alpha == 0.25 && s->beta == 0.75);
    assert_true(s->size_weight == 2 && s->access_weight == 0 && s->iterations == 7);
    assert_true(s->split_top == 9 && s->rank_by_ratio && s->coordination == 3);
    assert_int_equal(s->node_count, 3);
    assert_true(s->nodes[2].storage_bytes == 2e9 && s->nodes[2].share == 2);
    assert_true(s->nodes[0].storage_bytes == 0 && s->nodes[1].network == 20000);
    assert_int_equal(s->table_count, 2);
    assert_string_equal(s->tables[0].table, "house");
    assert_int_equal(s->tables[0].replicate, CLEAVE_REPLICATE_ALWAYS);
    assert_string_equal(s->tables[1].key, "i");
    assert_int_equal(s->tables[1].replicate, CLEAVE_REPLICATE_AUTO);
    assert_int_equal(s->rule_count, 4);
    assert_int_equal(s->rules[0].kind, CLEAVE_PIN);
    assert_int_equal(s->rules[0].shard, 3);
    assert_string_equal(s->rules[1].b.value, "5");
    assert_null(s->rules[2].a.column);
    assert_string_equal(s->rules[3].a.value, "2024-02-29");
}

static void test_all(void **state)
{
    (void)state;
    accepted(
        "epsilon: 0.2\nstrict: true\nreplication: false\nderived_keys: false\n"
        "exceptions: false\nattributes: 3\nalpha: 0.25\nweights: {size: 2, access: 0}\n"
        "iterations: 7\nsplit_top: 9\nrank_by_ratio: true\ncoordination: 3\n"
        "nodes:\n  - {shard: 2, storage_bytes: 2e9, share: 2}\n  - {shard: 1, network: 20000}\n"
        "tables:\n  - {table: house, replicate: always}\n  - {table: public.stock, key: i}\n"
        "rules:\n  - {kind: pin, table: stock, column: w, value: 3, shard: 3}\n"
        "  - {kind: together, table: house, column: w, value: '4', with: {table: stock, "
        "column: w, value: 5}}\n"
        "  - {kind: pin, table: house, shard: 0}\n"
        "  - {kind: split, table: day, column: at, value: 2024-02-29}\n",
        check_all);
}

static void check_defaults(const struct cleave_steer *steer)
{
    struct cleave_steer defaults = CLEAVE_STEER_DEFAULTS;
    assert_memory_equal(steer, &defaults, sizeof defaults);
}

static void test_nothing(void **state)
{
    (void)state;
    accepted("{}\n", check_defaults);
    accepted("# only words\n---\n{}\n", check_defaults);
    accepted("rules: []\ntables: []\nnodes: []\n", check_defaults);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"epsilon: wide\n", "wide"},
        {"epsilon: -0.1\n", "epsilon"},
        {"epsilon: .nan\n", ""},
        {"epsilon: nan\n", ""},
        {"epsilon: 1e999\n", ""},
        {"epsilon: [1]\n", ""},
        {"epsilon: {a: 1}\n", ""},
        {"strict: perhaps\n", ""},
        {"epsilonn: 1\n", "epsilonn"},
        {"attributes: 0\n", "attributes"},
        {"attributes: 9\n", "attributes"},
        {"attributes: -1\n", ""},
        {"attributes: 99999999999999999999\n", ""},
        {"alpha: 2\n", "alpha"},
        {"coordination: 0\n", "coordination"},
        {"weights: {size: -1, access: 1}\n", "weights"},
        {"weights: {size: 1}\n", "access"},
        {"weights: 3\n", ""},
        {"nodes: [{shard: 4}]\n", "not below 4"},
        {"nodes: [{shard: 4294967295}]\n", "not below 4"},
        {"nodes: [{shard: 18446744073709551616}]\n", ""},
        {"nodes: [{shard: -1}]\n", ""},
        {"nodes: [{storage_bytes: 5}]\n", "shard"},
        {"nodes: [{shard: 1, storage_bytes: -5}]\n", "node 1"},
        {"nodes: [{shard: 1, share: inf}]\n", ""},
        {"nodes: {shard: 1}\n", ""},
        {"tables: [{table: castle}]\n", "castle"},
        {"tables: [{table: shown, replicate: always}]\n", "shown"},
        {"tables: [{table: house, replicate: often}]\n", "often"},
        {"tables: [{table: house, key: x}]\n", "'x'"},
        {"tables: [{key: w}]\n", "table"},
        {"rules: [{kind: pin, table: house, column: w, value: 3}]\n", "shard"},
        {"rules: [{kind: pin, table: house, column: w, value: 3, shard: 4}]\n", "0 to 3"},
        {"rules: [{kind: pin, table: house, column: w, value: three, shard: 1}]\n", "three"},
        {"rules: [{kind: pin, table: house, column: w, shard: 1}]\n", "house.w"},
        {"rules: [{kind: pin, table: day, column: at, value: 2024-02-30, shard: 1}]\n",
         "2024-02-30"},
        {"rules: [{kind: hold, table: house}]\n", "hold"},
        {"rules: [{table: house}]\n", "kind"},
        {"rules: [{kind: together, table: house, column: w, value: 1}]\n", "two groups"},
        {"rules: [{kind: apart, table: house, column: w, value: 1, with: {column: w}}]\n", "table"},
        {"rules: [{kind: apart, table: house, column: w, value: 1, with: {table: castle}}]\n",
         "castle"},
        {"rules: pin\n", ""},
        {"- 1\n- 2\n", ""},
        {"just words\n", ""},
        {"a: [\n", ""},
        {"epsilon: 1\nepsilon: 2\n\t- x\n", ""},
        {"epsilon: &a 0.1\nalpha: *a\n", ""},
        {"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nrules: *c\n", ""},
        {"epsilon: *nowhere\n", ""},
        {"!!binary \"aaaa\"\n", ""},
        {"\xff\xfe epsilon: 1\n", ""},
        {"epsilon: \"\x80\"\n", ""},
        {"\x1b[31mred: 1\n", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
    refused_bytes("epsilon: 0.1\0\nstrict: true\n", 27, "");
    refused_bytes("rules: [{kind: pin, table: \"ho\\0use\", shard: 1}]\n", 49, "");
}

/* Files made to be costly. */
static void test_costly(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    char *text = malloc(4 * MANY + 100);
    assert_non_null(text);
    strcpy(text, "rules: ");
    memset(text + 7, '[', MANY);
    memset(text + 7 + MANY, ']', MANY);
    refused_bytes(text, 7 + 2 * MANY, "");
    for (size_t i = 0; i < MANY; i++)
        memcpy(text + 4 * i, "{a: ", 4);
    refused_bytes(text, 4 * MANY, "");
    strcpy(text, "epsilon: ");
    memset(text + 9, '9', 2 * MANY);
    refused_bytes(text, 9 + 2 * MANY, "");
    memset(text, 'k', 2 * MANY);
    memcpy(text + 2 * MANY, ": 1\n", 5);
    refused_bytes(text, 2 * MANY + 4, "");
    free(text);
    text = malloc((16 << 20) + 100);
    assert_non_null(text);
    memset(text, '#', (16 << 20) + 100);
    refused_bytes(text, (16 << 20) + 100, "");
    free(text);
    /* No file, a folder, a device that ends at once. */
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_arena arena = {0};
    struct cleave_error error;
    const char *paths[] = {"no/such/file.yaml", "/"};
    for (int i = 0; i < 2; i++) {
        assert_int_not_equal(cleave__constraints_read(paths[i], schema, 4, &arena, &steer, &error),
                             CLEAVE_OK);
        assert_non_null(strstr(error.message, paths[i]));
    }
    cleave__arena_free(&arena);
}

/* ---- written files read back the same ---- */

static const char *pick(struct property_source *source, const char *const *list, uint64_t count)
{
    return list[property_draw(source, count)];
}

static double number(struct property_source *source, double scale)
{
    static const double numbers[] = {0, 1, 0.1, 1.0 / 3, 1e-7, 0.123456789012345678, 123456.75};
    return numbers[property_draw(source, 7)] * scale;
}

static void draw_selector(struct property_source *source, bool whole, struct cleave_selector *out)
{
    static const char *const names[] = {"it's", "a: b", "# no", "",     " x ", "é\"\\",
                                        "null", "1",    "- y",  "true", "~",   "line\nbreak"};
    switch (property_draw(source, whole ? 4 : 3)) {
    case 0:
        *out = (struct cleave_selector){"house", "w", property_draw(source, 2) ? "-3" : "17"};
        break;
    case 1:
        *out = (struct cleave_selector){"house", "name", pick(source, names, 12)};
        break;
    case 2:
        *out = (struct cleave_selector){"day", "at", "2024-02-29"};
        break;
    default:
        *out = (struct cleave_selector){"stock", NULL, NULL};
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_rows(const struct cleave_selector *a, const struct cleave_selector *b)
{
    return same_text(a->table, b->table) && same_text(a->column, b->column) &&
           same_text(a->value, b->value);
}

static bool same_steer(const struct cleave_steer *a, const struct cleave_steer *b)
{
    bool same = a->replication == b->replication && a->derived_keys == b->derived_keys &&
                a->exceptions == b->exceptions && a->attributes == b->attributes &&
                a->epsilon == b->epsilon && a->strict == b->strict && a->alpha == b->alpha &&
                a->size_weight == b->size_weight && a->access_weight == b->access_weight &&
                a->iterations == b->iterations && a->split_top == b->split_top &&
                a->rank_by_ratio == b->rank_by_ratio && a->coordination == b->coordination &&
                a->node_count == b->node_count && a->table_count == b->table_count &&
                a->rule_count == b->rule_count;
    for (uint32_t n = 0; same && n < a->node_count; n++)
        same = memcmp(&a->nodes[n], &b->nodes[n], sizeof *a->nodes) == 0;
    for (uint32_t t = 0; same && t < a->table_count; t++)
        same = same_text(a->tables[t].table, b->tables[t].table) &&
               same_text(a->tables[t].key, b->tables[t].key) &&
               a->tables[t].replicate == b->tables[t].replicate;
    for (uint32_t r = 0; same && r < a->rule_count; r++)
        same = a->rules[r].kind == b->rules[r].kind && same_rows(&a->rules[r].a, &b->rules[r].a) &&
               same_rows(&a->rules[r].b, &b->rules[r].b) &&
               (a->rules[r].kind != CLEAVE_PIN || a->rules[r].shard == b->rules[r].shard);
    return same;
}

static bool reads_back(struct property_source *source, void *context)
{
    (void)context;
    struct cleave_node nodes[4] = {{0}};
    struct cleave_table_steer tables[2] = {{"house", CLEAVE_REPLICATE_NEVER, NULL},
                                           {"stock", CLEAVE_REPLICATE_AUTO, "i"}};
    struct cleave_rule rules[4] = {{0}};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS, back = CLEAVE_STEER_DEFAULTS;
    steer.replication = property_draw(source, 2);
    steer.derived_keys = property_draw(source, 2);
    steer.exceptions = property_draw(source, 2);
    steer.attributes = 1 + (uint32_t)property_draw(source, 8);
    steer.epsilon = number(source, 1);
    steer.strict = property_draw(source, 2);
    steer.alpha = number(source, 1) > 1 ? 0.7 : number(source, 1e-6);
    steer.size_weight = number(source, 10);
    steer.access_weight = number(source, 10);
    steer.iterations = (uint32_t)property_draw(source, UINT32_MAX);
    steer.split_top = (uint32_t)property_draw(source, 50);
    steer.rank_by_ratio = property_draw(source, 2);
    steer.coordination = 1 + number(source, 1);
    steer.nodes = nodes;
    steer.node_count = (uint32_t)property_draw(source, 5);
    for (uint32_t n = 0; n < steer.node_count; n++)
        nodes[n] = (struct cleave_node){number(source, 1e12), number(source, 1e3),
                                        number(source, 1), number(source, 1)};
    steer.tables = tables;
    steer.table_count = (uint32_t)property_draw(source, 3);
    steer.rules = rules;
    steer.rule_count = (uint32_t)property_draw(source, 5);
    for (uint32_t r = 0; r < steer.rule_count; r++) {
        rules[r].kind = (enum cleave_rule_kind)property_draw(source, 5);
        bool pair = rules[r].kind == CLEAVE_TOGETHER || rules[r].kind == CLEAVE_APART;
        draw_selector(source, rules[r].kind == CLEAVE_PIN, &rules[r].a);
        if (pair)
            draw_selector(source, false, &rules[r].b);
        rules[r].shard = (uint32_t)property_draw(source, 4);
    }
    struct cleave_arena arena = {0};
    struct cleave_error error = {.message = ""};
    if (cleave__steer_check(&steer, schema, 4, &error))
        return true; /* decisions that contradict each other are never written */
    bool ok = !cleave__constraints_write(path, &steer, &error) &&
              !cleave__constraints_read(path, schema, 4, &arena, &back, &error) &&
              same_steer(&steer, &back);
    if (source->verbose) {
        printf("%s\n", error.message);
        if (system("cat constraints-test.yaml"))
            printf("no file\n");
    }
    remove(path);
    cleave__arena_free(&arena);
    return ok;
}

static void test_round_trip(void **state)
{
    (void)state;
    assert_true(property_run("constraints read back", reads_back, NULL, 500));
}

static void test_unwritable(void **state)
{
    (void)state;
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    struct cleave_error error;
    assert_int_not_equal(cleave__constraints_write("/dev/full", &steer, &error), CLEAVE_OK);
    assert_int_not_equal(cleave__constraints_write("no/such/folder/x", &steer, &error), CLEAVE_OK);
    assert_non_null(strstr(error.message, "no/such/folder"));
}

int main(void)
{
    if (cleave__schema_parse_ddl(ddl, strlen(ddl), "test", &schema, NULL))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_costly),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_unwritable),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cleave__schema_free(schema);
    return failed;
}
