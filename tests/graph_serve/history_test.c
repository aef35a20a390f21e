/* Whether changes have moments: the rule against trying all moments, on small random histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/serve/history.h"
#include "support/property.h"

enum { VERSIONS = 3, READS = 4, TIMES = 10 };

struct read {
    uint64_t version, asked, answered;
};

/* By trying: version v is there from moment[v - 1] to moment[v], both included. */
static bool possible(const uint64_t *sent, const uint64_t *acknowledged, const struct read *read,
                     uint32_t reads)
{
    for (uint64_t second = sent[1]; second <= acknowledged[1]; second++) {
        for (uint64_t third = sent[2]; third <= acknowledged[2]; third++) {
            const uint64_t from[VERSIONS] = {0, second, third};
            const uint64_t to[VERSIONS] = {second, third, UINT64_MAX};
            bool all = true;
            for (uint32_t r = 0; r < reads && all; r++) {
                uint64_t v = read[r].version - 1;
                all = from[v] <= read[r].answered && to[v] >= read[r].asked;
            }
            if (all)
                return true;
        }
    }
    return false;
}

static struct cleave__history open_history(void)
{
    struct cleave__edges edges = {0};
    struct cleave__graph *graph;
    struct cleave__history history;
    struct cleave_error error;
    if (!CLEAVE_PUSH(&edges.end, 0) || !CLEAVE_PUSH(&edges.end, 0) ||
        cleave__graph_build(1, &edges, false, &graph, &error) ||
        !cleave__history_open(&history, graph))
        abort();
    CLEAVE_VECTOR_FREE(&edges.end);
    cleave__graph_free(graph);
    return history;
}

static bool rule_as_trying(struct property_source *source, void *context)
{
    uint32_t *yes = context;
    struct cleave__history history = open_history();
    uint64_t sent[VERSIONS] = {0}, acknowledged[VERSIONS] = {0}, version;
    struct read read[READS];
    uint32_t user, reads = (uint32_t)property_draw(source, READS + 1);
    for (uint32_t v = 1; v < VERSIONS; v++) {
        sent[v] = acknowledged[v - 1] + property_draw(source, TIMES / 2);
        acknowledged[v] = sent[v] + property_draw(source, TIMES / 2);
        if (!cleave__history_add(&history, cleave__user_new(0, 0), sent[v]))
            abort();
        cleave__history_acknowledge(&history, 0, acknowledged[v]);
    }
    for (uint32_t r = 0; r < reads; r++) {
        read[r].version = 1 + property_draw(source, VERSIONS);
        read[r].asked = property_draw(source, TIMES * 2);
        read[r].answered = read[r].asked + property_draw(source, TIMES);
        cleave__history_saw(&history, 0, read[r].version, read[r].asked, read[r].answered);
    }
    bool expected = possible(sent, acknowledged, read, reads);
    bool ok = cleave__history_consistent(&history, &user, &version) == expected;
    yes[expected]++;
    cleave__history_free(&history);
    return ok;
}

static void rule(void **state)
{
    uint32_t yes[2] = {0};
    (void)state;
    assert_true(property_run("history", rule_as_trying, yes, 20000));
    assert_true(yes[0] > 2000 && yes[1] > 2000);
}

/* What a register must not do: go back. */
static void older_after_newer(void **state)
{
    struct cleave__history history = open_history();
    uint32_t user;
    uint64_t version;
    (void)state;
    assert_true(cleave__history_add(&history, cleave__user_new(0, 0), 10));
    cleave__history_acknowledge(&history, 0, 100);
    cleave__history_saw(&history, 0, 2, 20, 30);
    assert_true(cleave__history_consistent(&history, &user, &version));
    cleave__history_saw(&history, 0, 1, 25, 50); /* both at once: either */
    assert_true(cleave__history_consistent(&history, &user, &version));
    cleave__history_saw(&history, 0, 1, 40, 50);
    assert_false(cleave__history_consistent(&history, &user, &version));
    assert_true(user == 0 && version == 2);
    assert_null(cleave__history_at(&history, 0, 3));
    assert_null(cleave__history_at(&history, 1, 1));
    assert_null(cleave__history_at(&history, 0, 0));
    cleave__history_free(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rule), cmocka_unit_test(older_after_newer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
