/* HGP on random small workloads: its layouts are valid, counted right, the same for the same seed,
 * never made worse by exceptions, and obey what a person decided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "scheme/random_workload.h"

static const uint32_t shard_counts[] = {2, 1, 3, 5, 16};
enum { SHARD_COUNTS = sizeof shard_counts / sizeof *shard_counts };

static bool two_copies(const struct cleave_layout *layout)
{
    for (uint32_t t = 0; t < layout->schema->table_count; t++) {
        if (layout->tables[t].twice)
            return true;
    }
    return false;
}

/* The oracle's recount of one part against the fast counts, per scheme. */
static bool recount(const struct cleave_case *kase, const struct cleave_comparison *comparison)
{
    struct cleave_oracle *oracle;
    struct cleave_error error;
    struct cleave_oracle_count counts[8] = {{0}};
    const struct cleave_layout *layouts[8];
    for (uint32_t r = 0; r < comparison->result_count; r++)
        layouts[r] = &comparison->results[r].layout;
    if (cleave__oracle_new(kase->schema, &oracle, &error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < kase->kept_train.list.count; i++)
        ok = !cleave__oracle_count(oracle, &kase->kept_train.list.data[i], layouts,
                                   comparison->result_count, counts, NULL, &error);
    cleave__oracle_free(oracle);
    for (uint32_t r = 0; ok && r < comparison->result_count; r++) {
        const struct cleave_count *fast = &comparison->results[r].evaluation.train;
        ok = counts[r].transactions == fast->transactions &&
             counts[r].distributed == fast->distributed &&
             counts[r].read_only_distributed == fast->read_only_distributed &&
             counts[r].write_distributed == fast->write_distributed;
    }
    return ok;
}

static bool same_lookup(const struct cleave_lookup *a, const struct cleave_lookup *b)
{
    size_t lengths[2];
    unsigned char *bytes[2] = {database_bytes(a, &lengths[0]), database_bytes(b, &lengths[1])};
    bool same = lengths[0] == lengths[1] && memcmp(bytes[0], bytes[1], lengths[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return same;
}

static struct cleave_steer draw_steer(struct property_source *source)
{
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    steer.replication = property_draw(source, 4) != 3;
    steer.derived_keys = property_draw(source, 4) != 3;
    steer.attributes = 2 - (uint32_t)(property_draw(source, 4) == 3);
    steer.epsilon = property_draw(source, 4) == 3 ? 0 : 0.1;
    steer.size_weight = property_draw(source, 4) != 3;
    steer.access_weight = property_draw(source, 4) != 3;
    steer.strict = property_draw(source, 4) == 3;
    return steer;
}

/* Everything at once on one random case; says what went wrong. */
static const char *check_case(struct property_source *source, struct cleave_case *kase)
{
    uint32_t shards = shard_counts[property_draw(source, SHARD_COUNTS)];
    struct cleave_steer steer = draw_steer(source);
    const struct cleave_scheme *schemes[8];
    uint32_t count = 0;
    while (cleave__scheme_at(count)) {
        schemes[count] = cleave__scheme_at(count);
        count++;
    }
    struct cleave_comparison all, again, plain;
    struct cleave_error error = {.message = ""};
    if (cleave__compare(kase, schemes, count, shards, 7, &steer, NULL, &all, &error)) {
        printf("%s\n", error.message);
        return "comparing";
    }
    const char *wrong = NULL;
    bool twice = two_copies(&all.results[0].layout);
    if (kase->kept_train.list.count && !all.verified) {
        printf("%s\n", all.disagreement);
        wrong = "not verified";
    }
    if (!recount(kase, &all))
        wrong = "the recount's sums";
    const struct cleave_evaluation *e = &all.results[0].evaluation;
    if (shards == 1 && (e->train.distributed || e->held_out.distributed))
        wrong = "distributed over one shard";
    if (e->train.distributed > e->train.transactions || e->train.parts < e->train.transactions)
        wrong = "counts out of range";
    if (cleave__compare(kase, schemes, 1, shards, 7, &steer, NULL, &again, &error))
        wrong = "comparing again";
    if (!wrong && !same_lookup(all.results[0].lookup, again.results[0].lookup))
        wrong = "another lookup table for the same seed";
    cleave__comparison_free(&again);
    steer.exceptions = false;
    if (cleave__compare(kase, schemes, 1, shards, 7, &steer, NULL, &plain, &error))
        wrong = "comparing without exceptions";
    if (!wrong && !twice && !steer.strict &&
        e->train.distributed > plain.results[0].evaluation.train.distributed)
        wrong = "exceptions made it worse";
    cleave__comparison_free(&plain);
    cleave__comparison_free(&all);
    return wrong;
}

static bool any_workload(struct property_source *source, void *context)
{
    (void)context;
    struct random_workload w;
    random_workload_draw(source, &w);
    uint32_t train = 1 + w.count / 2;
    struct cleave_case *kase = database_open(w.ddl, (const char *const *)w.transactions, train,
                                             w.count > train ? w.count - train : 0);
    const char *wrong = check_case(source, kase);
    if (source->verbose) {
        random_workload_print(&w);
        printf("%s\n", wrong ? wrong : "ok");
    }
    cleave__case_free(kase);
    random_workload_free(&w);
    return !wrong;
}

static void test_any(void **state)
{
    (void)state;
    assert_true(property_run("hgp on any workload", any_workload, NULL, 15));
}

/* ---- what a person decided ---- */

static uint32_t shard_of(const struct cleave_case *kase, const struct cleave_lookup *lookup,
                         const char *table, enum random_key kind, uint64_t n, int64_t second)
{
    char text[80];
    random_workload_key(kind, n, text, sizeof text);
    for (char *c = strstr(text, "''"); c; c = NULL)
        memmove(c, c + 1, strlen(c)); /* as a value, not as SQL */
    uint32_t t = database_table(kase, table);
    struct cleave_value row[8] = {{0}};
    struct cleave_arena arena = {0};
    uint32_t c =
        database_column(kase, table, t == database_table(kase, "account") ? "id" : "account");
    if (cleave__value_parse(kase->schema->tables[t].columns[c].type, text, strlen(text), &arena,
                            &row[c]))
        abort();
    if (second >= 0)
        row[database_column(kase, table, "n")] =
            (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = second};
    uint32_t shard = cleave__lookup_row(lookup, t, row, kase->schema->tables[t].column_count);
    cleave__arena_free(&arena);
    return shard;
}

struct drawn_rule {
    char value[80], other[80];
    uint64_t n, m;
    struct cleave_rule rule;
};

static struct cleave_steer rule_steer(struct property_source *source, enum random_key kind,
                                      uint32_t shards, struct drawn_rule *drawn,
                                      struct cleave_table_steer *tables)
{
    struct cleave_steer steer = draw_steer(source);
    drawn->n = property_draw(source, 14); /* two of them the workload never shows */
    drawn->m = property_draw(source, 14);
    random_workload_key(kind, drawn->n, drawn->value, sizeof drawn->value);
    random_workload_key(kind, drawn->m, drawn->other, sizeof drawn->other);
    char *quotes[2] = {strstr(drawn->value, "''"), strstr(drawn->other, "''")};
    for (int i = 0; i < 2; i++) {
        if (quotes[i])
            memmove(quotes[i], quotes[i] + 1, strlen(quotes[i]));
    }
    const struct cleave_selector a = {"account", "id", drawn->value};
    const struct cleave_selector b = {"visit", "account", drawn->other};
    enum cleave_rule_kind kinds[] = {CLEAVE_PIN, CLEAVE_TOGETHER, CLEAVE_APART};
    drawn->rule = (struct cleave_rule){kinds[property_draw(source, 3)], a, b,
                                       (uint32_t)property_draw(source, shards)};
    steer.rules = &drawn->rule;
    steer.rule_count = 1;
    tables[0] = (struct cleave_table_steer){"account", CLEAVE_REPLICATE_NEVER, "id"};
    tables[1] = (struct cleave_table_steer){"visit", CLEAVE_REPLICATE_NEVER, "account"};
    tables[2] = (struct cleave_table_steer){
        "catalog", property_draw(source, 2) ? CLEAVE_REPLICATE_ALWAYS : CLEAVE_REPLICATE_NEVER,
        NULL};
    steer.tables = tables;
    steer.table_count = 3;
    return steer;
}

static const char *check_rule(const struct cleave_case *kase, const struct random_workload *w,
                              const struct drawn_rule *drawn, uint32_t shards, bool copied,
                              const struct cleave_layout *layout,
                              const struct cleave_lookup *lookup)
{
    uint32_t account = database_table(kase, "account"), visit = database_table(kase, "visit");
    if (layout->tables[database_table(kase, "catalog")].replicated != copied)
        return "replicate was not honoured";
    if (layout->tables[account].replicated || layout->tables[visit].replicated)
        return "a table was copied that must not be";
    if (layout->tables[account].key_column != 0 || layout->tables[visit].key_column != 0)
        return "another key than the one given";
    bool shared = layout->tables[account].map == layout->tables[visit].map;
    for (int64_t n = -1; n < 6; n++) {
        uint32_t here = shard_of(kase, lookup, "account", w->key, drawn->n, -1);
        uint32_t there = shard_of(kase, lookup, "visit", w->key, drawn->m, n);
        if (drawn->rule.kind == CLEAVE_PIN && here != drawn->rule.shard)
            return "the pin was not honoured";
        if (drawn->rule.kind == CLEAVE_PIN && shared &&
            shard_of(kase, lookup, "visit", w->key, drawn->n, n) != drawn->rule.shard)
            return "rows that follow the key are not where it is pinned";
        if (drawn->rule.kind == CLEAVE_TOGETHER && here != there)
            return "not together";
        bool same = shared && drawn->n == drawn->m;
        if (drawn->rule.kind == CLEAVE_APART && !same && shards > 1 && here == there)
            return "not apart";
    }
    return NULL;
}

static bool obeys(struct property_source *source, void *context)
{
    (void)context;
    struct random_workload w;
    random_workload_draw(source, &w);
    struct cleave_case *kase =
        database_open(w.ddl, (const char *const *)w.transactions, w.count, 0);
    uint32_t shards = shard_counts[property_draw(source, SHARD_COUNTS)];
    struct drawn_rule drawn;
    struct cleave_table_steer tables[3];
    struct cleave_steer steer = rule_steer(source, w.key, shards, &drawn, tables);
    struct cleave_scheme_input input = database_input(kase, shards, 3, &steer);
    struct cleave_arena arena = {0};
    struct cleave_layout layout;
    struct cleave_lookup *lookup = NULL;
    struct cleave_error error = {.message = ""};
    const char *notes = "", *wrong = NULL;
    if (cleave__place_hgp(&input, &arena, &layout, &notes, &error) ||
        cleave__lookup_build(&layout, &lookup, &error))
        wrong = error.message;
    else if (!two_copies(&layout))
        wrong = check_rule(kase, &w, &drawn, shards, tables[2].replicate == CLEAVE_REPLICATE_ALWAYS,
                           &layout, lookup);
    if (source->verbose) {
        random_workload_print(&w);
        printf("%u shards; rule %d: account.id = %s, visit.account = %s, shard %u: %s\n%s", shards,
               (int)drawn.rule.kind, drawn.value, drawn.other, drawn.rule.shard,
               wrong ? wrong : "ok", notes ? notes : "");
    }
    cleave__lookup_release(lookup);
    cleave__arena_free(&arena);
    cleave__case_free(kase);
    random_workload_free(&w);
    return !wrong;
}

static void test_obeys(void **state)
{
    (void)state;
    assert_true(property_run("hgp obeys", obeys, NULL, 25));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_obeys), cmocka_unit_test(test_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
