/* Distributions from text: the kind, a colon, its parameters. The samples' file is read through
 * base/input, so that it may be packed. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/vector.h"
#include "runtime/distribution.h"

/* A decimal number: digits, with or without a point. strtod would take "nan", "0x1" and the
 * locale's comma, and round as libm likes; nine places after the point are enough for
 * nanoseconds. Returns the end, NULL if there is no number. */
static const char *read_number(const char *at, double *out)
{
    double value = 0, place = 1;
    bool any = false;
    for (; *at >= '0' && *at <= '9'; at++, any = true)
        value = value * 10 + (*at - '0');
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++, any = true) {
            value = value * 10 + (*at - '0');
            place *= 10;
        }
    }
    *out = value / place;
    return any ? at : NULL;
}

static const char *read_time(const char *at, uint64_t *out_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double value, ns = -1;
    at = read_number(at, &value);
    for (size_t i = 0; at && ns < 0 && i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(at, units[i].name, length) == 0) {
            ns = value * units[i].ns;
            at += length;
        }
    }
    if (at && ns < 0 && value == 0)
        ns = 0;
    if (!at || !(ns >= 0 && ns <= (double)CLEAVE_DISTRIBUTION_MOST_NS))
        return NULL;
    *out_ns = (uint64_t)(ns + 0.5);
    return at;
}

enum cleave_status cleave__duration_parse(const char *text, uint64_t *out_ns,
                                          struct cleave_error *error)
{
    uint64_t ns;
    const char *end = read_time(text, &ns);
    if (!end || *end)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "'%.60s' is no time: a number and ns, us, ms or s, such as 2.5ms, "
                                "at most 1000000s",
                                text);
    *out_ns = ns;
    return CLEAVE_OK;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* One sample of a line of the file; *skip says that the line is empty or a comment. */
static bool read_sample(const char *line, size_t length, uint64_t *out, bool *skip)
{
    char text[64];
    while (length && (*line == ' ' || *line == '\t'))
        line++, length--;
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    *skip = length == 0 || *line == '#';
    if (*skip)
        return true;
    if (length >= sizeof text || memchr(line, 0, length))
        return false;
    memcpy(text, line, length);
    text[length] = 0;
    const char *end = read_time(text, out);
    return end && !*end;
}

static enum cleave_status read_samples(const char *path, struct cleave_distribution *out,
                                       struct cleave_error *error)
{
    struct cleave_input *input;
    enum cleave_status status = cleave__input_open(path, &input, error);
    if (status)
        return status;
    CLEAVE_VECTOR(uint64_t) samples = {0};
    const char *line;
    size_t length;
    while (!status && !(status = cleave__input_line(input, 1000, &line, &length, error))) {
        uint64_t sample;
        bool skip;
        if (!read_sample(line, length, &sample, &skip))
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s:%llu: no time: one sample a line, a number and ns, us, "
                                      "ms or s",
                                      path, (unsigned long long)cleave__input_line_number(input));
        else if (!skip && !CLEAVE_PUSH(&samples, sample))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the samples");
    }
    if (status == CLEAVE_LIMIT)
        cleave_error_set(error, status, "%s:%llu: no time: the line is over 1000 bytes", path,
                         (unsigned long long)cleave__input_line_number(input));
    cleave__input_close(input);
    if (status == CLEAVE_END)
        status = samples.count ? CLEAVE_OK
                               : cleave_error_set(error, CLEAVE_BAD_INPUT,
                                                  "%s: no samples: one time a line", path);
    if (status) {
        CLEAVE_VECTOR_FREE(&samples);
        return status;
    }
    qsort(samples.data, samples.count, sizeof *samples.data, by_value);
    *out = (struct cleave_distribution){
        .kind = CLEAVE_EMPIRICAL, .samples = samples.data, .sample_count = samples.count};
    return CLEAVE_OK;
}

static bool read_parameters(const char *at, struct cleave_distribution *d)
{
    if (!(at = read_time(at, &d->low_ns)))
        return false;
    d->high_ns = d->low_ns;
    if (d->kind == CLEAVE_CONSTANT)
        return *at == 0;
    if (*at++ != ',')
        return false;
    if (d->kind == CLEAVE_UNIFORM)
        return (at = read_time(at, &d->high_ns)) && *at == 0 && d->high_ns >= d->low_ns;
    at = read_number(at, &d->shape);
    if (!at || *at || !(d->shape >= 0 && d->shape <= 100))
        return false;
    return d->kind == CLEAVE_LOGNORMAL || d->shape >= 0.01;
}

enum cleave_status cleave__distribution_parse(const char *text, struct cleave_distribution *out,
                                              struct cleave_error *error)
{
    static const struct {
        const char *name;
        enum cleave_distribution_kind kind;
        const char *form;
    } kinds[] = {{"constant:", CLEAVE_CONSTANT, "constant:2ms"},
                 {"uniform:", CLEAVE_UNIFORM, "uniform:1ms,3ms (least, most)"},
                 {"lognormal:", CLEAVE_LOGNORMAL, "lognormal:1ms,0.5 (median, sigma up to 100)"},
                 {"pareto:", CLEAVE_PARETO, "pareto:1ms,1.5 (least, alpha 0.01 to 100)"},
                 {"empirical:", CLEAVE_EMPIRICAL, "empirical:FILE"}};
    struct cleave_distribution d = {.kind = CLEAVE_CONSTANT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0)
            continue;
        if (kinds[i].kind == CLEAVE_EMPIRICAL)
            return read_samples(text + length, out, error);
        d.kind = kinds[i].kind;
        if (!read_parameters(text + length, &d))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "'%.60s' is not understood: write it like %s; times have ns, "
                                    "us, ms or s",
                                    text, kinds[i].form);
        *out = d;
        return CLEAVE_OK;
    }
    if (*text >= '0' && *text <= '9' && read_parameters(text, &d)) {
        *out = d;
        return CLEAVE_OK;
    }
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "'%.60s' is no distribution: constant:2ms, uniform:1ms,3ms, "
                            "lognormal:1ms,0.5, pareto:1ms,1.5 or empirical:FILE",
                            text);
}
