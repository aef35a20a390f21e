/* Shared by the generator tests; see reading.h. */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum cleave_status try_benchmark(const char *benchmark, const char *words, uint64_t seed,
                                 struct cleave_generator **out, struct cleave_error *error)
{
    struct cleave_benchmark_option options[16];
    uint32_t count = 0;
    char *copy = strdup(words), *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest)) && count < 16;) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = 0;
        options[count++] = (struct cleave_benchmark_option){word, equals + 1};
    }
    enum cleave_status status = cleave__generator_new(benchmark, options, count, seed, out, error);
    free(copy);
    return status;
}

struct cleave_generator *open_benchmark(const char *benchmark, const char *words, uint64_t seed)
{
    struct cleave_generator *generator = NULL;
    struct cleave_error error = {0};
    if (try_benchmark(benchmark, words, seed, &generator, &error) != CLEAVE_OK)
        fail_msg("%s %s: %s", benchmark, words, error.message);
    return generator;
}

struct cleave_trace_transaction next_transaction(struct cleave_generator *generator,
                                                 const char **kind)
{
    struct cleave_trace_transaction transaction = {0};
    assert_int_equal(cleave__generator_next(generator, &transaction, kind, NULL), CLEAVE_OK);
    assert_true(transaction.statement_count > 0);
    return transaction;
}

bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

long number_after(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    return at ? strtol(at + strlen(mark), NULL, 10) : -1;
}

uint32_t values_of(const char *text, long *out, uint32_t most)
{
    const char *c = strstr(text, "VALUES (");
    uint32_t count = 0;
    for (c = c ? c + 8 : ""; *c && *c != ')' && count < most;) {
        if (*c == '\'') {
            c = strchr(c + 1, '\'') + 1;
        } else if (*c >= '0' && *c <= '9') {
            out[count++] = strtol(c, NULL, 10);
            while ((*c >= '0' && *c <= '9') || *c == '.')
                c++;
        } else {
            c++;
        }
    }
    return count;
}

double chi_square(const uint32_t *counts, const double *shares, uint32_t cells)
{
    double total = 0, sum = 0;
    for (uint32_t i = 0; i < cells; i++)
        total += counts[i];
    for (uint32_t i = 0; i < cells; i++) {
        double expected = total * shares[i], off = counts[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}
