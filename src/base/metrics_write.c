/* What the registry tells: Prometheus' text format 0.0.4, and whether the balances hold. */
#include <stdlib.h>

#include "base/metrics_registry.h"
#include "base/text.h"

static void write_help(const char *help, struct cleave_writer *to)
{
    for (; *help; help++) {
        if (*help == '\n')
            cleave__put_bytes(to, "\\n", 2);
        else if (*help == '\\')
            cleave__put_bytes(to, "\\\\", 2);
        else
            cleave__put8(to, (uint8_t)*help);
    }
}

static void write_line(struct cleave_writer *to, const char *name, const char *end,
                       const char *labels, const char *bound)
{
    cleave__put_format(to, "%s%s", name, end);
    if (*labels || bound) {
        cleave__put8(to, '{');
        cleave__put_bytes(to, labels, strlen(labels));
        if (bound)
            cleave__put_format(to, "%sle=\"%s\"", *labels ? "," : "", bound);
        cleave__put8(to, '}');
    }
    cleave__put8(to, ' ');
}

/* Whole numbers in full: a double would round those past 2^53. */
static void write_unsigned(struct cleave_writer *to, uint64_t value, double scale)
{
    if (scale == 1)
        cleave__put_format(to, "%llu", (unsigned long long)value);
    else
        cleave__put_real(to, (double)value * scale);
    cleave__put8(to, '\n');
}

static void write_timing(struct cleave_writer *to, const struct cleave__family *family,
                         const struct cleave__series *series)
{
    const struct cleave_timing *timing = series->timing;
    uint64_t count = 0;
    for (uint32_t b = 0; b <= timing->bound_count; b++) {
        struct cleave_writer bound = {0};
        if (b < timing->bound_count)
            cleave__put_real(&bound, (double)timing->bounds[b] * family->scale);
        else
            cleave__put_bytes(&bound, "+Inf", 4);
        cleave__put8(&bound, 0);
        to->failed = to->failed || bound.failed;
        count += atomic_load_explicit(&timing->buckets[b], memory_order_relaxed);
        if (!to->failed)
            write_line(to, family->name, "_bucket", series->labels, (const char *)bound.data);
        write_unsigned(to, count, 1);
        free(bound.data);
    }
    write_line(to, family->name, "_sum", series->labels, NULL);
    write_unsigned(to, atomic_load_explicit(&timing->sum, memory_order_relaxed), family->scale);
    write_line(to, family->name, "_count", series->labels, NULL);
    write_unsigned(to, count, 1);
}

static void write_gauge(struct cleave_writer *to, int64_t value, double scale)
{
    if (scale == 1)
        cleave__put_format(to, "%lld", (long long)value);
    else
        cleave__put_real(to, (double)value * scale);
    cleave__put8(to, '\n');
}

void cleave__metrics_write(struct cleave_metrics *metrics, struct cleave_writer *to)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    pthread_mutex_lock(&metrics->lock);
    for (size_t f = 0; f < metrics->families.count && !to->failed; f++) {
        const struct cleave__family *family = metrics->families.data[f];
        cleave__put_format(to, "# HELP %s ", family->name);
        write_help(family->help, to);
        cleave__put_format(to, "\n# TYPE %s %s\n", family->name, types[family->type]);
        for (size_t s = 0; s < family->series.count; s++) {
            const struct cleave__series *series = family->series.data[s];
            if (family->type == CLEAVE__METRIC_TIMING) {
                write_timing(to, family, series);
                continue;
            }
            write_line(to, family->name, "", series->labels, NULL);
            if (family->type == CLEAVE__METRIC_COUNTER)
                write_unsigned(to, cleave__counter_value(&series->value.counter), family->scale);
            else
                write_gauge(to, cleave__gauge_value(&series->value.gauge), family->scale);
        }
    }
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- balances ---- */

/* The next word of an equation, in `word`; false at the end or when it is too long. */
static bool next_word(const char **at, char *word, size_t size)
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    if (!length || length >= size)
        return false;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length;
    return true;
}

enum cleave_status cleave__metrics_balance(struct cleave_metrics *metrics, const char *equation,
                                           struct cleave_error *error)
{
    struct cleave__balance balance = {0};
    char word[CLEAVE_METRICS_NAME_MOST + 1];
    const char *at = equation;
    bool sound = true, memory = true;
    pthread_mutex_lock(&metrics->lock);
    for (size_t b = 0; b < metrics->balances.count; b++) {
        if (!strcmp(metrics->balances.data[b].equation, equation)) {
            pthread_mutex_unlock(&metrics->lock);
            return CLEAVE_OK;
        }
    }
    for (bool name = true; sound && memory; name = !name) {
        sound = next_word(&at, word, sizeof word);
        if (!sound)
            break;
        if (name) {
            sound =
                balance.count < CLEAVE_METRICS_TERMS_MOST && strcmp(word, "=") && strcmp(word, "+");
            char *copy = sound ? cleave__arena_copy(&metrics->text, word, strlen(word)) : NULL;
            memory = !sound || copy;
            if (copy)
                balance.terms[balance.count++] = copy;
            if (!at[strspn(at, " ")])
                break;
        } else if (!strcmp(word, "=") && !balance.left) {
            balance.left = balance.count;
        } else {
            sound = !strcmp(word, "+");
        }
    }
    sound = sound && balance.left && balance.left < balance.count;
    if (sound && memory) {
        balance.equation = cleave__arena_copy(&metrics->text, equation, strlen(equation));
        memory = balance.equation && CLEAVE_PUSH(&metrics->balances, balance);
    }
    pthread_mutex_unlock(&metrics->lock);
    if (!memory)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for metrics");
    if (!sound)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "'%.200s' is no balance: write NAME + NAME = NAME + NAME",
                                equation);
    return CLEAVE_OK;
}

static uint64_t sum_of(const struct cleave_metrics *metrics, const char *name)
{
    const struct cleave__family *family = cleave__metrics_find(metrics, name);
    uint64_t sum = 0;
    for (size_t s = 0; family && s < family->series.count; s++) {
        const struct cleave__series *series = family->series.data[s];
        sum += family->type == CLEAVE__METRIC_COUNTER
                   ? cleave__counter_value(&series->value.counter)
               : family->type == CLEAVE__METRIC_GAUGE
                   ? (uint64_t)cleave__gauge_value(&series->value.gauge)
                   : cleave__timing_count(series->timing);
    }
    return sum;
}

enum cleave_status cleave__metrics_check(struct cleave_metrics *metrics, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    pthread_mutex_lock(&metrics->lock);
    for (size_t b = 0; b < metrics->balances.count && !status; b++) {
        const struct cleave__balance *balance = &metrics->balances.data[b];
        uint64_t side[2] = {0, 0};
        struct cleave_writer figures = {0};
        for (uint32_t t = 0; t < balance->count; t++) {
            uint64_t sum = sum_of(metrics, balance->terms[t]);
            side[t >= balance->left] += sum;
            cleave__put_format(&figures, "%s%lld",
                               !t                   ? ""
                               : t == balance->left ? " = "
                                                    : " + ",
                               (long long)sum);
        }
        cleave__put8(&figures, 0);
        if (side[0] != side[1])
            status = cleave_error_set(
                error, CLEAVE_CORRUPT, "counters do not add up: %.200s, but %.200s (off by %lld)",
                balance->equation, figures.failed ? "?" : (const char *)figures.data,
                (long long)(side[0] - side[1]));
        free(figures.data);
    }
    pthread_mutex_unlock(&metrics->lock);
    return status;
}
