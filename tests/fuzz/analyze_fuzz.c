/* Any bytes as a statement against a fixed schema, twice, the second time with parameters: results
 * obey the rules of access.h, and binding a cached template gives what compiling it gave. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables/sql/analyze.h"

static const char ddl[] =
    "CREATE TABLE a (x int PRIMARY KEY, y bigint, z numeric(6,2), t text, f boolean, d date);"
    "CREATE TABLE b (x int REFERENCES a, y int, u uuid, c char(3), s timestamptz, r real,"
    " UNIQUE (x, y));"
    "CREATE TABLE s.c (x int, j jsonb, m mood);"
    "CREATE VIEW va AS SELECT x, y AS why FROM a WHERE z = 1.5 LIMIT 3;"
    "CREATE VIEW vb AS SELECT * FROM va LEFT JOIN b USING (x) UNION SELECT 1, 2, NULL;";

static void check_statement(const struct cleave_schema *schema,
                            const struct cleave_statement *statement)
{
    for (uint32_t i = 0; i < statement->access_count; i++) {
        const struct cleave_access *access = &statement->accesses[i];
        assert(access->table < schema->table_count && !schema->tables[access->table].view);
        assert(!access->insert || access->write);
        for (uint32_t b = 0; b < access->box_count; b++) {
            const struct cleave_box *box = &access->boxes[b];
            for (uint32_t t = 0; t < box->term_count; t++) {
                const struct cleave_term *term = &box->terms[t];
                assert(term->column < schema->tables[access->table].column_count);
                assert(t == 0 || box->terms[t - 1].column < term->column);
                assert(term->range_count > 0);
                for (uint32_t r = 0; r < term->range_count; r++) {
                    assert(!cleave__range_is_empty(&term->ranges[r]));
                    assert(r == 0 ||
                           !cleave__range_overlaps(&term->ranges[r - 1], &term->ranges[r]));
                }
            }
        }
    }
}

/* The same boxes, up to where values are stored. */
static bool same(const struct cleave_statement *a, const struct cleave_statement *b)
{
    if (a->access_count != b->access_count || a->opaque != b->opaque)
        return false;
    for (uint32_t i = 0; i < a->access_count; i++) {
        if (a->accesses[i].insert) /* described by more columns the second time */
            continue;
        if (a->accesses[i].box_count != b->accesses[i].box_count)
            return false;
        for (uint32_t k = 0; k < a->accesses[i].box_count; k++) {
            const struct cleave_box *x = &a->accesses[i].boxes[k], *y = &b->accesses[i].boxes[k];
            if (x->term_count != y->term_count)
                return false;
            for (uint32_t t = 0; t < x->term_count; t++) {
                if (x->terms[t].range_count != y->terms[t].range_count)
                    return false;
                for (uint32_t r = 0; r < x->terms[t].range_count; r++) {
                    if (!cleave__range_covers(&x->terms[t].ranges[r], &y->terms[t].ranges[r]) ||
                        !cleave__range_covers(&y->terms[t].ranges[r], &x->terms[t].ranges[r]))
                        return false;
                }
            }
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cleave_schema *schema;
    static struct cleave_analyzer *analyzer;
    static unsigned runs;
    if (!schema && cleave__schema_parse_ddl(ddl, sizeof ddl - 1, "ddl", &schema, NULL))
        abort();
    if (runs++ % 4096 == 0) { /* what is found must not depend on how long it ran */
        cleave__analyzer_free(analyzer);
        analyzer = NULL;
        if (cleave__analyzer_new(schema, &analyzer, NULL))
            abort();
    }
    const struct cleave_parameter parameters[] = {
        {.text = "5", .length = 1},
        {.text = "{1,\"2\",NULL}", .length = 12},
        {.text = "2020-01-01 10:00+02", .length = 19},
        {.is_null = true},
        {.text = "12", .length = 2, .is_cut = true},
    };
    const char *text = (const char *)data;
    struct cleave_arena arena = {0};
    struct cleave_statement first = {0}, second = {0}, bound = {0};
    struct cleave_error error;
    enum cleave_status status =
        cleave__analyze(analyzer, text, size, NULL, 0, &arena, &first, &error);
    assert(status == CLEAVE_OK || status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT);
    assert(status == CLEAVE_OK || (*error.message && !strchr(error.message, '\n')));
    if (status == CLEAVE_OK) {
        check_statement(schema, &first);
        assert(cleave__analyze(analyzer, text, size, NULL, 0, &arena, &second, NULL) == CLEAVE_OK);
        assert(first.template_id == second.template_id && same(&first, &second));
        assert(cleave__analyze(analyzer, text, size, parameters, 5, &arena, &bound, NULL) ==
               CLEAVE_OK);
        check_statement(schema, &bound);
    }
    cleave__arena_free(&arena);
    return 0;
}
