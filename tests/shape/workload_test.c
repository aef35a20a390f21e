/* Workloads: interning, merging, copying, and what is left out and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "scheme/random_workload.h"

static const char ddl[] = "CREATE TABLE a (x int PRIMARY KEY, y text, z numeric)";

static uint64_t width(const struct cleave_workload *w, uint32_t t)
{
    return w->offsets.data[t + 1] - w->offsets.data[t];
}

static void test_interning(void **state)
{
    (void)state;
    const char *script[] = {
        "SELECT * FROM a WHERE x = 1",
        "select y from a where 1 = x; SELECT * FROM a WHERE x = 1 AND x = 1",
        "UPDATE a SET y = 'b' WHERE x = 1",
        "SELECT * FROM a WHERE x = 1; UPDATE a SET y = 'c' WHERE x = 1",
        "INSERT INTO a (x) VALUES (1)",
        "SELECT * FROM a WHERE y = '1'; SELECT * FROM a WHERE z = 1.0; SELECT * FROM a WHERE z = "
        "1.00",
        "SELECT * FROM a WHERE x = 1 OR x = 2; SELECT * FROM a WHERE x IN (2, 1)",
    };
    struct cleave_case *kase = database_open(ddl, script, 7, 0);
    const struct cleave_workload *w = &kase->train;
    assert_int_equal(w->transactions, 7);
    assert_int_equal(width(w, 0), 1);
    assert_int_equal(width(w, 1), 1);
    assert_int_equal(width(w, 3), 1); /* a write wins over a read of the same rows */
    assert_true(w->accesses.data[w->offsets.data[3]].write);
    assert_false(w->writes.data[0]);
    assert_true(w->writes.data[3]);
    assert_int_equal(w->accesses.data[0].box, w->accesses.data[w->offsets.data[2]].box);
    /* A row to be inserted is not the rows that have its key. */
    assert_int_not_equal(w->accesses.data[w->offsets.data[4]].box, w->accesses.data[0].box);
    assert_true(w->boxes.data[w->accesses.data[w->offsets.data[4]].box].insert);
    assert_int_equal(width(w, 5), 2);
    for (uint32_t t = 0; t < w->transactions; t++) {
        for (uint64_t i = w->offsets.data[t] + 1; i < w->offsets.data[t + 1]; i++)
            assert_true(w->accesses.data[i].box > w->accesses.data[i - 1].box);
    }
    cleave__case_free(kase);
}

static void test_left_out(void **state)
{
    (void)state;
    char *deep = malloc(4000);
    assert_non_null(deep);
    strcpy(deep, "SELECT ");
    memset(deep + 7, '(', 1500);
    strcpy(deep + 1507, "1");
    memset(deep + 1508, ')', 1500);
    deep[3008] = 0;
    const char *script[] = {
        "SELECT * FROM elsewhere WHERE x = 1",
        "SELECT * FROM elsewhere; SELECT * FROM a WHERE x = 2",
        "SELEC nonsense",
        "SELECT 1",
        "SELECT * FROM a WHERE x = 1 AND x = 2",
        deep,
        "SELECT nonsense FROM; UPDATE a SET y = 'b' WHERE x = 3",
    };
    struct cleave_case *kase = database_open(ddl, script, 7, 0);
    const struct cleave_workload *w = &kase->train;
    assert_int_equal(w->transactions, 2);
    assert_int_equal(w->empty_transactions, 5);
    assert_int_equal(w->statements, 9);
    assert_int_equal(w->foreign, 2);
    assert_int_equal(w->unparsed, 2);
    assert_int_equal(w->oversized, 1);
    assert_int_equal(kase->kept_train.list.count, 2);
    assert_int_equal(kase->kept_train.index.data[1], 1);
    cleave__case_free(kase);
    free(deep);
}

/* Equal boxes have equal bytes, and what is copied says the same as what it was copied from. */
static bool same_access(const struct cleave_workload *a, struct cleave_workload_access x,
                        const struct cleave_workload *b, struct cleave_workload_access y)
{
    const struct cleave_workload_box *p = &a->boxes.data[x.box], *q = &b->boxes.data[y.box];
    struct cleave_intern table = {0};
    struct cleave_box_bytes bytes = {0};
    uint32_t first = cleave__box_intern(&table, p->table, p->insert, &p->box, &bytes);
    uint32_t second = cleave__box_intern(&table, q->table, q->insert, &q->box, &bytes);
    cleave__intern_free(&table);
    CLEAVE_VECTOR_FREE(&bytes.out);
    return first == 0 && second == 0 && x.write == y.write && x.part == y.part;
}

/* Reads of several boxes are kept together; a box that is also read alone, or written, is no mere
 * part of them. */
static void test_unions(void **state)
{
    (void)state;
    static const char *const transactions[] = {
        "SELECT * FROM t WHERE a = 1 AND b = 2 OR a = 3 AND b = 4",
        "SELECT * FROM t WHERE a = 1 AND b = 2 OR a = 3 AND b = 4; "
        "SELECT * FROM t WHERE a = 1 AND b = 2; DELETE FROM t WHERE a = 3 AND b = 4",
        "DELETE FROM t WHERE a = 1 AND b = 2 OR a = 3 AND b = 4",
        "SELECT * FROM t WHERE a IN (1, 2, 3)"};
    struct cleave_case *kase =
        database_open("CREATE TABLE t (a int PRIMARY KEY, b int, c int);", transactions, 4, 0);
    const struct cleave_workload *w = &kase->train;
    assert_int_equal(w->transactions, 4);
    for (uint32_t t = 0; t < 4; t++) {
        uint64_t at = 0;
        uint32_t count = 0, parts = 0;
        const uint32_t *boxes = cleave__workload_union(w, t, &at, &count);
        for (uint64_t a = w->offsets.data[t]; a < w->offsets.data[t + 1]; a++)
            parts += w->accesses.data[a].part;
        assert_int_equal(boxes != NULL, t < 2);
        assert_int_equal(parts, t == 0 ? 2 : 0);
        if (!boxes)
            continue;
        assert_int_equal(count, 2);
        assert_int_not_equal(boxes[0], boxes[1]);
        assert_null(cleave__workload_union(w, t, &at, &count));
    }
    cleave__case_free(kase);
}

static bool copies_say_the_same(struct property_source *source, void *context)
{
    (void)context;
    struct random_workload drawn;
    random_workload_draw(source, &drawn);
    struct cleave_case *kase =
        database_open(drawn.ddl, (const char *const *)drawn.transactions, drawn.count, 0);
    const struct cleave_workload *from = &kase->train;
    struct cleave_workload halves[2];
    cleave__workload_init(&halves[0], kase->schema);
    cleave__workload_init(&halves[1], kase->schema);
    uint32_t cut = from->transactions ? (uint32_t)property_draw(source, from->transactions + 1) : 0;
    bool ok = true;
    for (uint32_t t = 0; ok && t < from->transactions; t++)
        ok = !cleave__workload_copy(&halves[t >= cut], from, t, NULL);
    ok = ok && halves[0].transactions == cut &&
         halves[0].transactions + halves[1].transactions == from->transactions;
    for (uint32_t t = 0; ok && t < from->transactions; t++) {
        const struct cleave_workload *to = &halves[t >= cut];
        uint32_t at = t >= cut ? t - cut : t;
        ok = width(to, at) == width(from, t) && to->writes.data[at] == from->writes.data[t];
        /* Accesses are sorted by box number, which differ: compare as sets. */
        for (uint64_t i = from->offsets.data[t]; ok && i < from->offsets.data[t + 1]; i++) {
            bool found = false;
            for (uint64_t j = to->offsets.data[at]; j < to->offsets.data[at + 1]; j++)
                found |= same_access(from, from->accesses.data[i], to, to->accesses.data[j]);
            ok = found;
        }
        uint64_t i = 0, j = 0;
        uint32_t n, m;
        const uint32_t *u, *v;
        while (ok && (u = cleave__workload_union(from, t, &i, &n))) {
            v = cleave__workload_union(to, at, &j, &m);
            ok = v && n == m;
            for (uint32_t b = 0; ok && b < n; b++)
                ok = same_access(from, (struct cleave_workload_access){.box = u[b]}, to,
                                 (struct cleave_workload_access){.box = v[b]});
        }
        ok = ok && i == j && !cleave__workload_union(to, at, &j, &m);
    }
    if (source->verbose)
        random_workload_print(&drawn);
    cleave__workload_free(&halves[0]);
    cleave__workload_free(&halves[1]);
    cleave__case_free(kase);
    random_workload_free(&drawn);
    return ok;
}

static void test_copies(void **state)
{
    (void)state;
    assert_true(property_run("workload copies", copies_say_the_same, NULL, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interning), cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_unions), cmocka_unit_test(test_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
