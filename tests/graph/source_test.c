/* Graphs from files: what is read, what is left out, what is refused and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/files.h"
#include "graph/source/stats.h"
#include "support/property.h"

static char path[] = "cleave-graph-XXXXXX", other[] = "cleave-label-XXXXXX";

static struct cleave__graph *read_text(const char *text, bool both)
{
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    files_put(path, text);
    if (cleave__graph_read(path, both, NULL, &g, &error))
        fail_msg("%s", error.message);
    if (cleave__graph_check(g, &error))
        fail_msg("%s", error.message);
    return g;
}

static void refused(const char *text, const char *wanted)
{
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    files_put(path, text);
    assert_int_equal(cleave__graph_read(path, false, NULL, &g, &error), CLEAVE_BAD_INPUT);
    assert_null(g);
    if (!strstr(error.message, wanted))
        fail_msg("'%s' does not say '%s'", error.message, wanted);
}

static void is_user(const struct cleave__graph *g, uint32_t v, const char *id)
{
    char buffer[24];
    size_t length;
    uint32_t found;
    const char *got = cleave__graph_id(g, v, buffer, &length);
    assert_int_equal(length, strlen(id));
    assert_memory_equal(got, id, length);
    assert_true(cleave__graph_find(g, id, length, &found));
    assert_int_equal(found, v);
}

static void numbers_are_sorted(void **state)
{
    (void)state;
    struct cleave__graph *g = read_text("# a comment\n% another\n18446744073709551615 7\r\n\n"
                                        "7\t30\n30, 7 ; 1.5\n7 30\n7 7\n",
                                        false);
    assert_int_equal(g->vertices, 3);
    is_user(g, 0, "7");
    is_user(g, 1, "30");
    is_user(g, 2, "18446744073709551615");
    assert_int_equal(cleave__graph_edges(g), 3);
    assert_int_equal(g->remarks.lines, 5);
    assert_int_equal(g->remarks.duplicates, 1);
    assert_int_equal(g->remarks.loops, 1);
    assert_int_equal(g->remarks.further_fields, 1);
    assert_int_equal(g->target[g->offset[2]], 0);
    uint32_t v;
    assert_false(cleave__graph_find(g, "8", 1, &v));
    assert_false(cleave__graph_find(g, "07", 2, &v));
    assert_false(cleave__graph_find(g, "x", 1, &v));
    cleave__graph_free(g);
}

static void words_keep_their_order(void **state)
{
    (void)state;
    struct cleave__graph *g =
        read_text("\xef\xbb\xbfzoe,\"ann, of b\"\n\"ann, of b\",007\n", false);
    assert_null(g->number);
    is_user(g, 0, "zoe");
    is_user(g, 1, "ann, of b");
    is_user(g, 2, "007");
    uint32_t v;
    assert_false(cleave__graph_find(g, "7", 1, &v));
    cleave__graph_free(g);
    /* One past 2^64 is a word. */
    g = read_text("18446744073709551616 1\n", false);
    assert_null(g->number);
    cleave__graph_free(g);
}

static void a_heading_is_seen(void **state)
{
    (void)state;
    struct cleave__graph *g = read_text("source,target\n1,2\n2,1\n", false);
    assert_true(g->remarks.header);
    assert_int_equal(g->vertices, 2);
    assert_int_equal(cleave__graph_edges(g), 2);
    assert_int_equal(g->remarks.lines, 2);
    cleave__graph_free(g);
    g = read_text("ann bob\nann 2\n", false); /* not when its words come again */
    assert_false(g->remarks.header);
    assert_int_equal(g->vertices, 3);
    cleave__graph_free(g);
    g = read_text("ann bob\n", false); /* nor when there is nothing else */
    assert_false(g->remarks.header);
    cleave__graph_free(g);
}

static void both_ways(void **state)
{
    (void)state;
    struct cleave__graph *g = read_text("1 2\n2 1\n3 3\n2 3\n", true);
    assert_int_equal(cleave__graph_edges(g), 4);
    assert_int_equal(g->remarks.duplicates, 1);
    assert_int_equal(g->remarks.loops, 1);
    struct cleave__graph_stats s;
    struct cleave_error error;
    assert_int_equal(cleave__graph_stats(g, &s, &error), 0);
    assert_int_equal(s.mutual, 4);
    assert_int_equal(s.components, 1);
    assert_int_equal(s.out_most, 2);
    cleave__graph_free(g);
}

static void metis_files(void **state)
{
    (void)state;
    char metis[] = "cleave-metis-XXXXXX.graph";
    int descriptor = mkstemps(metis, 6);
    assert_true(descriptor >= 0 && !close(descriptor));
    files_put(metis, "4 3\n2 3\n1\n1 4\n3\n");
    struct cleave__graph *g = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__graph_read(metis, false, NULL, &g, &error), 0);
    assert_int_equal(cleave__graph_check(g, &error), 0);
    assert_int_equal(g->vertices, 4);
    assert_int_equal(cleave__graph_edges(g), 6);
    is_user(g, 3, "4");
    cleave__graph_free(g);
    unlink(metis);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    refused("1 2\n3\n", ":2: only one field");
    refused("1 2\n\n\"3 4\n", ":3: a quote is not closed");
    refused("\"\" 4\n", ":1: a field must have");
    refused("# nothing\n", "no edges");
    refused("", "no edges");
    struct cleave__graph *g = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__graph_read("absent.file", false, NULL, &g, &error), CLEAVE_NOT_FOUND);
}

static void labels(void **state)
{
    (void)state;
    struct cleave__graph *g = read_text("1 2\n2 3\n3 4\n", false);
    struct cleave_error error;
    files_put(other, "3 red\n9 blue\n1 green\n4 red\n3 red\n");
    assert_int_equal(cleave__graph_read_labels(g, other, &error), 0);
    assert_int_equal(cleave__graph_check(g, &error), 0);
    assert_int_equal(g->labels, 3);
    assert_string_equal(g->label_text.entries[g->label[0]].bytes, "green");
    assert_string_equal(g->label_text.entries[g->label[1]].bytes, "-");
    assert_int_equal(g->label[0], 0); /* by first user */
    assert_int_equal(g->label[2], g->label[3]);
    assert_int_equal(g->remarks.stray_labels, 1);
    assert_int_equal(g->remarks.unlabelled, 1);
    files_put(other, "1 red\n1 blue\n");
    assert_int_equal(cleave__graph_read_labels(g, other, &error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, ":2: 1 has two labels"));
    assert_int_equal(g->labels, 3); /* as it was */
    files_put(other, "8 red\n");
    assert_int_equal(cleave__graph_read_labels(g, other, &error), CLEAVE_BAD_INPUT);
    cleave__graph_free(g);
}

static void owners(void **state)
{
    (void)state;
    struct cleave__graph *g = read_text("1 2\n2 3\n", false);
    struct cleave_error error;
    uint32_t owner[3] = {9, 9, 9};
    static const struct {
        const char *text, *wanted;
    } bad[] = {{"1 0\n2 1\n", "does not place user '3'"},
               {"1 0\n2 2\n3 0\n", ":2: '2' is no shard from 0 to 1"},
               {"1 0\n2 x\n3 0\n", ":2: 'x' is no shard"},
               {"1 0\n4 0\n", ":2: the graph has no user '4'"},
               {"1 0\n1 1\n", ":2: user '1' is on two shards"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        files_put(other, bad[i].text);
        assert_int_equal(cleave__graph_read_owner(g, other, 2, owner, &error), CLEAVE_BAD_INPUT);
        if (!strstr(error.message, bad[i].wanted))
            fail_msg("'%s' does not say '%s'", error.message, bad[i].wanted);
        assert_int_equal(owner[0], 9);
    }
    files_put(other, "3 0\n1 1\n2 0\n");
    assert_int_equal(cleave__graph_read_owner(g, other, 2, owner, &error), 0);
    const uint32_t wanted[] = {1, 0, 0};
    assert_memory_equal(owner, wanted, sizeof wanted);
    cleave__graph_free(g);
}

/* Edges written in any of the forms that are read, by any ids, come back as the same graph. */
static bool comes_back(struct property_source *source, void *context)
{
    (void)context;
    enum { MOST = 12 };
    static const char *const gaps[] = {" ", "\t", ",", " ; ", ", "};
    static const char *const ends[] = {"\n", "\r\n", " \n\n", ",7\n", "\n# more\n"};
    bool edge[MOST][MOST] = {{0}}, named[MOST] = {0}, both = property_draw(source, 2);
    bool words = property_draw(source, 2);
    char id[MOST][24];
    uint64_t repeated = 0, loops = 0, lines = 1 + property_draw(source, 30);
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    for (uint32_t v = 0; v < MOST; v++) { /* numbers differ by v, words by their first letter */
        uint64_t number = property_draw(source, UINT64_MAX / MOST) * MOST + v;
        if (words)
            snprintf(id[v], sizeof id[v], "%c user", 'a' + (int)v);
        else
            snprintf(id[v], sizeof id[v], "%llu", (unsigned long long)number);
    }
    for (uint64_t l = 0; l < lines; l++) {
        uint32_t a = (uint32_t)property_draw(source, MOST),
                 b = (uint32_t)property_draw(source, MOST);
        const char *quote = words ? "\"" : "";
        named[a] = named[b] = true;
        fprintf(f, "%s%s%s%s%s%s%s%s", quote, id[a], quote, gaps[property_draw(source, 5)], quote,
                id[b], quote, ends[property_draw(source, 5)]);
        loops += a == b;
        repeated += a != b && edge[a][b];
        edge[a][b] = edge[a][b] || a != b;
        edge[b][a] = edge[b][a] || (both && a != b);
    }
    if (fclose(f))
        abort();
    struct cleave__graph *g = NULL;
    struct cleave_error error = {0};
    bool ok = !cleave__graph_read(path, both, NULL, &g, &error) &&
              !cleave__graph_check(g, &error) && g->remarks.lines == lines &&
              g->remarks.loops == loops && g->remarks.duplicates == repeated &&
              (words ? !g->number : !!g->number);
    uint64_t edges = 0;
    for (uint32_t a = 0; a < MOST && ok; a++) {
        uint32_t v, to;
        ok = cleave__graph_find(g, id[a], strlen(id[a]), &v) == named[a];
        for (uint32_t b = 0; b < MOST && ok && named[a]; b++) {
            bool found = false;
            if (!cleave__graph_find(g, id[b], strlen(id[b]), &to))
                continue;
            for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
                found = found || g->target[i] == to;
            ok = found == edge[a][b];
            edges += edge[a][b];
        }
    }
    ok = ok && edges == cleave__graph_edges(g);
    if (source->verbose)
        print_message("%llu lines%s: %s\n", (unsigned long long)lines, both ? ", both ways" : "",
                      error.message);
    cleave__graph_free(g);
    return ok;
}

static void property(void **state)
{
    (void)state;
    assert_true(property_run("edge lists", comes_back, NULL, 500));
}

/* Each invariant is broken once, and must be seen. */
static void the_check_can_fail(void **state)
{
    (void)state;
    struct cleave_error error;
    struct cleave__graph *g = read_text("1 2\n1 3\n2 3\n", false);
    uint32_t held = g->target[0];
    g->target[0] = 2;
    assert_int_equal(cleave__graph_check(g, &error), CLEAVE_CORRUPT);
    g->target[0] = 0;
    assert_int_equal(cleave__graph_check(g, &error), CLEAVE_CORRUPT);
    g->target[0] = 3;
    assert_int_equal(cleave__graph_check(g, &error), CLEAVE_CORRUPT);
    g->target[0] = held;
    assert_int_equal(cleave__graph_check(g, &error), 0);
    g->number[1] = g->number[0];
    assert_int_equal(cleave__graph_check(g, &error), CLEAVE_CORRUPT);
    g->number[1] = 2;
    g->offset[1] = 4;
    assert_int_equal(cleave__graph_check(g, &error), CLEAVE_CORRUPT);
    cleave__graph_free(g);
}

static int set_up(void **state)
{
    (void)state;
    files_make(path);
    files_make(other);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path) || unlink(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_sorted),
        cmocka_unit_test(words_keep_their_order),
        cmocka_unit_test(a_heading_is_seen),
        cmocka_unit_test(both_ways),
        cmocka_unit_test(metis_files),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(labels),
        cmocka_unit_test(owners),
        cmocka_unit_test(property),
        cmocka_unit_test(the_check_can_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
