/* What a long run counts, for Prometheus to read: counters, gauges and timings with labels.
 *
 * A registry is made by whoever measures; nothing is global. A *family* is a name with its help and
 * type, a *series* one set of labels of it; asking for a series that is there gives the same one.
 * Series live until the registry is freed, so that whoever counts keeps a pointer and never looks
 * anything up.
 *
 * A *balance* is an equation of families that must hold whenever nothing is under way ("accepted =
 * matched + unmatched + refused"); cleave__metrics_check says whether all do, and by how much the
 * first wrong one is off.
 *
 * A timing has fixed buckets that end where the reader wants them to, and counts without a lock.
 * base/histogram.h is for one thread, and its buckets end at no round number.
 *
 * Invariants: names are what Prometheus allows; a counter's ends in "_total"; no two families share
 * a line of text (a timing takes NAME, NAME_bucket, NAME_sum and NAME_count); values of labels are
 * UTF-8; a series is its family's only one with these labels.
 *
 * Thread rule: everything here may be called by any thread at any time, but for _free. Costs: an
 * increment is one atomic addition without ordering (2 ns alone, more where threads share the
 * series: give each its own where they count often), a timing two and a search (5 ns); asking for a
 * series O(series of the family), at most CLEAVE_METRICS_SERIES_MOST in all; 128 bytes a series and
 * its labels. */
#ifndef CLEAVE_BASE_METRICS_H
#define CLEAVE_BASE_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "cleave/status.h"

enum {
    CLEAVE_METRICS_SERIES_MOST = 20000,
    CLEAVE_METRICS_LABELS_MOST = 8,
    CLEAVE_METRICS_BOUNDS_MOST = 40,
    CLEAVE_METRICS_TERMS_MOST = 16, /* of a balance */
    CLEAVE_METRICS_NAME_MOST = 100,
    CLEAVE_METRICS_VALUE_MOST = 200 /* bytes of a label's value */
};

struct cleave_metrics;
struct cleave_counter {
    atomic_ullong value;
};
struct cleave_gauge {
    atomic_llong value;
};
struct cleave_timing;

struct cleave_label {
    const char *name, *value;
};

/* A family. The text is copied. */
struct cleave_metric {
    const char *name, *help;
    double scale;           /* what a unit counted is in the unit told: 1e-9 for ns as s; 0: 1 */
    const uint64_t *bounds; /* [bound_count] of a timing, rising, in units counted; NULL: */
    uint32_t bound_count;   /* 10 us to 100 s by 1, 2.5, 5, of ns */
};

enum cleave_status cleave__metrics_new(struct cleave_metrics **out, struct cleave_error *error);
void cleave__metrics_free(struct cleave_metrics *metrics);

/* `labels` [label_count] in an order that matters not. CLEAVE_BAD_ARGUMENT: a name that cannot be,
 * or another type, help, scale or bounds than the family has; CLEAVE_LIMIT: too many series. */
enum cleave_status cleave__metrics_counter(struct cleave_metrics *metrics,
                                           const struct cleave_metric *metric,
                                           const struct cleave_label *labels, uint32_t label_count,
                                           struct cleave_counter **out, struct cleave_error *error);
/* One without labels for each row, until one fails. */
struct cleave_counter_row {
    const char *name, *help;
    struct cleave_counter **out;
};
enum cleave_status cleave__metrics_counters(struct cleave_metrics *metrics,
                                            const struct cleave_counter_row *rows, size_t count,
                                            struct cleave_error *error);
enum cleave_status cleave__metrics_gauge(struct cleave_metrics *metrics,
                                         const struct cleave_metric *metric,
                                         const struct cleave_label *labels, uint32_t label_count,
                                         struct cleave_gauge **out, struct cleave_error *error);
enum cleave_status cleave__metrics_timing(struct cleave_metrics *metrics,
                                          const struct cleave_metric *metric,
                                          const struct cleave_label *labels, uint32_t label_count,
                                          struct cleave_timing **out, struct cleave_error *error);

/* All of these bear NULL, and do nothing: what is not measured costs a comparison. */
static inline void cleave__counter_add(struct cleave_counter *counter, uint64_t more)
{
    if (counter)
        atomic_fetch_add_explicit(&counter->value, more, memory_order_relaxed);
}
/* Of a count that one thread at a time keeps elsewhere: a store, cheaper than an addition. */
static inline void cleave__counter_set(struct cleave_counter *counter, uint64_t value)
{
    if (counter)
        atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}
static inline void cleave__gauge_set(struct cleave_gauge *gauge, int64_t value)
{
    if (gauge)
        atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}
static inline void cleave__gauge_add(struct cleave_gauge *gauge, int64_t more)
{
    if (gauge)
        atomic_fetch_add_explicit(&gauge->value, more, memory_order_relaxed);
}
void cleave__timing_add(struct cleave_timing *timing, uint64_t value);
static inline uint64_t cleave__counter_value(const struct cleave_counter *counter)
{
    return counter ? atomic_load_explicit(&counter->value, memory_order_relaxed) : 0;
}
static inline int64_t cleave__gauge_value(const struct cleave_gauge *gauge)
{
    return gauge ? atomic_load_explicit(&gauge->value, memory_order_relaxed) : 0;
}

/* "a_total = b_total + c_total + d": names of families, each standing for the sum of its series (0
 * when there is none yet), a timing for how many it counted. One that is there already is fine. */
enum cleave_status cleave__metrics_balance(struct cleave_metrics *metrics, const char *equation,
                                           struct cleave_error *error);
/* At a quiet moment: CLEAVE_CORRUPT and the figures of the first balance that does not hold. */
enum cleave_status cleave__metrics_check(struct cleave_metrics *metrics,
                                         struct cleave_error *error);
/* Whether the structures obey their invariants. */
bool cleave__metrics_sound(struct cleave_metrics *metrics);

/* Everything in Prometheus' text format 0.0.4, families in the order in which they came. Values are
 * read one by one while others count: each is right, all together are of no single moment. */
#define CLEAVE_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void cleave__metrics_write(struct cleave_metrics *metrics, struct cleave_writer *to);

#endif
