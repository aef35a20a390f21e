/* Inside the registry of metrics: what metrics.c keeps and metrics_write.c reads. */
#ifndef CLEAVE_BASE_METRICS_REGISTRY_H
#define CLEAVE_BASE_METRICS_REGISTRY_H

#include <pthread.h>

#include "base/arena.h"
#include "base/metrics.h"
#include "base/vector.h"

enum cleave__metric_type { CLEAVE__METRIC_COUNTER, CLEAVE__METRIC_GAUGE, CLEAVE__METRIC_TIMING };

struct cleave_timing {
    const uint64_t *bounds; /* [bound_count] */
    uint32_t bound_count;
    atomic_ullong sum;       /* modulo 2^64 */
    atomic_ullong buckets[]; /* [bound_count + 1]: each on its own, not cumulative */
};

struct cleave__series {
    /* Alone on its cache line: others' counts must not slow it. */
    _Alignas(64) union {
        struct cleave_counter counter;
        struct cleave_gauge gauge;
    } value;
    struct cleave_timing *timing; /* of a timing */
    char *labels;                 /* as they are written: a="x",b="y"; in order of names */
};

struct cleave__family {
    char *name, *help;
    enum cleave__metric_type type;
    double scale;
    uint64_t *bounds;
    uint32_t bound_count;
    CLEAVE_VECTOR(struct cleave__series *) series;
};

struct cleave__balance {
    char *equation;
    char *terms[CLEAVE_METRICS_TERMS_MOST]; /* names */
    uint32_t left, count;                   /* of them */
};

struct cleave_metrics {
    pthread_mutex_t lock; /* of all but the values */
    struct cleave_arena text;
    CLEAVE_VECTOR(struct cleave__family *) families;
    CLEAVE_VECTOR(struct cleave__balance) balances;
    uint32_t series_count;
};

/* Under the lock. NULL: none of this name. */
struct cleave__family *cleave__metrics_find(const struct cleave_metrics *metrics, const char *name);
/* How many a timing counted. */
uint64_t cleave__timing_count(const struct cleave_timing *timing);
/* Whether the bytes are UTF-8 without NUL, as long as they are. */
bool cleave__utf8_valid(const char *text);

#endif
