/* Statements a second: analysed through templates, against parsing each with libpg_query.
 *
 * usage: analyze SCHEMA.sql TRACE...
 * TRACE files hold one statement a line, or `id TAB statement`. Both sides see the same statements
 * in the same run, in turns, on one core; the best of three rounds counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pg_query.h>

#include "base/input.h"
#include "base/vector.h"
#include "tables/sql/analyze.h"

struct statement {
    char *text;
    size_t length;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const struct cleave_error *error)
{
    fprintf(stderr, "analyze: %s\n", error->message);
    return 1;
}

int main(int argc, char **argv)
{
    struct cleave_error error;
    struct cleave_schema *schema;
    struct cleave_analyzer *analyzer;
    CLEAVE_VECTOR(struct statement) list = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: analyze SCHEMA.sql TRACE...\n");
        return 2;
    }
    if (cleave__schema_read_ddl(argv[1], &schema, &error))
        return fail(&error);
    for (int i = 2; i < argc; i++) {
        struct cleave_input *input;
        const char *line;
        size_t length;
        if (cleave__input_open(argv[i], &input, &error))
            return fail(&error);
        while (cleave__input_line(input, 1 << 20, &line, &length, &error) == CLEAVE_OK) {
            const char *tab = memchr(line, '\t', length < 12 ? length : 12);
            if (tab) {
                length -= (size_t)(tab + 1 - line);
                line = tab + 1;
            }
            char *copy = length ? strndup(line, length) : NULL;
            if (copy && !CLEAVE_PUSH(&list, (struct statement){copy, length}))
                return 1;
        }
        cleave__input_close(input);
    }
    double best_parse = 1e9, best_analyze = 1e9;
    size_t failed = 0, accesses = 0, boxes = 0;
    struct cleave_analyzer_stats stats = {0};
    for (int round = 0; round < 3; round++) {
        double start = now();
        for (size_t i = 0; i < list.count; i++) {
            PgQueryProtobufParseResult result = pg_query_parse_protobuf(list.data[i].text);
            pg_query_free_protobuf_parse_result(result);
        }
        double parse = now() - start;
        if (cleave__analyzer_new(schema, &analyzer, &error))
            return fail(&error);
        struct cleave_arena arena = {0};
        failed = accesses = boxes = 0;
        start = now();
        for (size_t i = 0; i < list.count; i++) {
            struct cleave_statement statement;
            struct cleave_arena_mark mark = cleave__arena_mark(&arena);
            if (cleave__analyze(analyzer, list.data[i].text, list.data[i].length, NULL, 0, &arena,
                                &statement, &error)) {
                failed++;
            } else {
                accesses += statement.access_count;
                for (uint32_t a = 0; a < statement.access_count; a++)
                    boxes += statement.accesses[a].box_count;
            }
            cleave__arena_rewind(&arena, mark);
        }
        double analyze = now() - start;
        cleave__arena_free(&arena);
        cleave__analyzer_stats(analyzer, &stats);
        cleave__analyzer_free(analyzer);
        best_parse = parse < best_parse ? parse : best_parse;
        best_analyze = analyze < best_analyze ? analyze : best_analyze;
    }
    double count = (double)list.count;
    printf("statements %zu, failed %zu, accesses %zu, boxes %zu, templates %u in %zu bytes\n",
           list.count, failed, accesses, boxes, stats.templates, stats.template_bytes);
    printf("parsed   %9.0f statements/s\n", count / best_parse);
    printf("analysed %9.0f statements/s\n", count / best_analyze);
    printf("ratio    %9.1f\n", best_parse / best_analyze);
    for (size_t i = 0; i < list.count; i++)
        free(list.data[i].text);
    CLEAVE_VECTOR_FREE(&list);
    cleave__schema_free(schema);
    return 0;
}
