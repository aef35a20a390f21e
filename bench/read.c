/* How fast traces are read, and what parsing every statement would cost instead.
 *
 *   bench/read read [--parse] FILE...      one line of figures: MB/s, statements/s, peak memory
 *   bench/read grow FILE MEGABYTES         a longer log, to standard output
 *
 * `read` runs on one core: reading, splitting and the transaction rules. --parse also sends each
 * statement through libpg_query's parser (nothing else), in the same run, for comparison.
 * `grow` repeats a stderr log; in each copy every "[pid]" is another process, so that sessions do
 * not run into each other. bench/read.sh uses both to show that memory stays flat. */
#include <pg_query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/input.h"
#include "tables/source/trace.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* VmHWM, the most memory that this process ever held, in KiB. */
static long peak_kib(void)
{
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtol(line + 6, NULL, 10);
    }
    if (status)
        fclose(status);
    return peak;
}

static int read_traces(char **paths, int count, int parse)
{
    struct cleave_trace *trace = NULL;
    struct cleave_error error;
    struct cleave_trace_transaction x;
    double start = now(), parsing = 0;
    unsigned long statements = 0, refused = 0;
    enum cleave_status status =
        cleave__trace_open((const char *const *)paths, (uint32_t)count, NULL, &trace, &error);
    while (!status && !(status = cleave__trace_next(trace, &x, &error))) {
        statements += x.statement_count;
        double before = parse ? now() : 0;
        for (uint32_t i = 0; parse && i < x.statement_count; i++) {
            PgQueryProtobufParseResult tree = pg_query_parse_protobuf(x.statements[i].text);
            refused += tree.error != NULL;
            pg_query_free_protobuf_parse_result(tree);
        }
        if (parse)
            parsing += now() - before;
    }
    if (status != CLEAVE_END) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const struct cleave_trace_counters *c = cleave__trace_counters(trace);
    double reading = now() - start - parsing;
    printf("{\"format\": \"%s\", \"bytes\": %llu, \"transactions\": %llu, \"statements\": %lu, "
           "\"seconds\": %.3f, \"mb_per_s\": %.1f, \"statements_per_s\": %.0f",
           cleave__trace_describe(trace), (unsigned long long)c->bytes,
           (unsigned long long)c->transactions, statements, reading,
           (double)c->bytes / 1e6 / reading, (double)statements / reading);
    if (parse)
        printf(", \"parse_seconds\": %.3f, \"parsed_per_s\": %.0f, \"refused\": %lu", parsing,
               (double)statements / parsing, refused);
    printf(", \"peak_kib\": %ld}\n", peak_kib());
    cleave__trace_close(trace);
    return 0;
}

/* Adds `shift` to the number between the first "[" and "]" of the line, if there is one. */
static void put_shifted(const char *line, size_t length, unsigned long shift)
{
    const char *open = length && line[0] != '\t' ? memchr(line, '[', length) : NULL;
    while (open) {
        char *end = NULL;
        unsigned long pid = strtoul(open + 1, &end, 10);
        if (end > open + 1 && *end == ']') {
            fwrite(line, 1, (size_t)(open + 1 - line), stdout);
            printf("%lu", pid + shift);
            length -= (size_t)(end - line);
            line = end;
            break;
        }
        open = memchr(open + 1, '[', length - (size_t)(open + 1 - line));
    }
    fwrite(line, 1, length, stdout);
    putchar('\n');
}

static int grow(const char *path, double megabytes)
{
    double written = 0;
    for (unsigned long copy = 0; written < megabytes * 1e6; copy++) {
        struct cleave_input *input = NULL;
        struct cleave_error error;
        const char *line;
        size_t length;
        enum cleave_status status = cleave__input_open(path, &input, &error);
        while (!status && !(status = cleave__input_line(input, 1 << 20, &line, &length, &error)) &&
               written < megabytes * 1e6) {
            put_shifted(line, length, copy * 100000);
            written += (double)length + 1;
        }
        cleave__input_close(input);
        if (status && status != CLEAVE_END) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        if (ferror(stdout))
            return 1;
    }
    return 0;
}

int main(int count, char **arguments)
{
    int parse = count > 2 && strcmp(arguments[2], "--parse") == 0;
    if (count > 2 + parse && strcmp(arguments[1], "read") == 0)
        return read_traces(arguments + 2 + parse, count - 2 - parse, parse);
    if (count == 4 && strcmp(arguments[1], "grow") == 0)
        return grow(arguments[2], strtod(arguments[3], NULL));
    fputs("usage: read read [--parse] FILE... | read grow FILE MEGABYTES\n", stderr);
    return 2;
}
