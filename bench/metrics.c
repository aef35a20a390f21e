/* What counting costs: an increment of a counter of one's own, of one that two threads share, the
 * store of a count kept elsewhere, a timing; the text of many series; a log's line.
 *
 *   bench/metrics        (5 s)
 *
 * Best of five rounds each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/metrics.h"

enum { TIMES = 5000000, SERIES = 1000, ROUNDS = 5 };

struct task {
    struct cleave_counter *counter;
    struct cleave_timing *timing;
    struct cleave_log *log;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *add(void *context)
{
    const struct task *task = context;
    for (int i = 0; i < TIMES; i++)
        cleave__counter_add(task->counter, 1);
    return NULL;
}

static void *store(void *context)
{
    const struct task *task = context;
    for (uint64_t i = 0; i < TIMES; i++) {
        cleave__counter_set(task->counter, i);
        __asm__ volatile("" ::: "memory"); /* each is made */
    }
    return NULL;
}

static void *time_it(void *context)
{
    const struct task *task = context;
    for (uint64_t i = 0; i < TIMES; i++)
        cleave__timing_add(task->timing, (i * 7919) % 1000000000);
    return NULL;
}

static size_t nowhere(void *context, const char *bytes, size_t length)
{
    *(uint64_t *)context += length;
    (void)bytes;
    return length;
}

static uint64_t next_second(void *context)
{
    return *(uint64_t *)context * 1000; /* so that nothing is held back */
}

static void *log_it(void *context)
{
    const struct task *task = context;
    for (int i = 0; i < TIMES / 50; i++)
        CLEAVE_LOG(task->log, CLEAVE_LOG_INFO, "it happened",
                   CLEAVE_FIELD_TEXT("who", "evaluator 3"), CLEAVE_FIELD_INTEGER("i", i));
    return NULL;
}

static void measure(const char *what, void *(*work)(void *), struct task *task, int threads,
                    double times)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[2];
        double began = now_s();
        for (int t = 0; t < threads; t++) {
            if (pthread_create(&thread[t], NULL, work, task))
                exit(1);
        }
        for (int t = 0; t < threads; t++)
            pthread_join(thread[t], NULL);
        double took = now_s() - began;
        best = took < best ? took : best;
    }
    printf("%-40s %8.1f ns\n", what, best / times * 1e9);
}

int main(void)
{
    struct cleave_metrics *metrics;
    struct cleave_error error;
    struct task task = {0};
    struct cleave_counter *more;
    uint64_t written = 0;
    if (cleave__metrics_new(&metrics, &error) ||
        cleave__metrics_counter(metrics, &(struct cleave_metric){.name = "a_total", .help = "h"},
                                NULL, 0, &task.counter, &error) ||
        cleave__metrics_timing(metrics,
                               &(struct cleave_metric){.name = "t", .help = "h", .scale = 1e-9},
                               NULL, 0, &task.timing, &error) ||
        cleave__log_new(&(struct cleave_log_options){.level = CLEAVE_LOG_INFO,
                                                     .write = nowhere,
                                                     .context = &written,
                                                     .now_ms = next_second},
                        &task.log, &error))
        return 1;
    measure("counter, its own", add, &task, 1, TIMES);
    measure("counter, shared by two threads", add, &task, 2, TIMES);
    measure("count kept elsewhere, stored", store, &task, 1, TIMES);
    measure("timing", time_it, &task, 1, TIMES);
    measure("a line of the log", log_it, &task, 1, TIMES / 50.0);
    for (int i = 0; i < SERIES; i++) {
        char value[20];
        snprintf(value, sizeof value, "%d", i);
        struct cleave_label label = {"i", value};
        if (cleave__metrics_counter(metrics,
                                    &(struct cleave_metric){.name = "many_total", .help = "h"},
                                    &label, 1, &more, &error))
            return 1;
    }
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        struct cleave_writer text = {0};
        double began = now_s();
        cleave__metrics_write(metrics, &text);
        double took = now_s() - began;
        best = took < best ? took : best;
        free(text.data);
    }
    printf("%-40s %8.1f us\n", "the text of 1000 series", best * 1e6);
    cleave__log_free(task.log);
    cleave__metrics_free(metrics);
    return 0;
}
