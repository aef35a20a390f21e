/* The registry: families and series, found or made under a lock that counting never takes. */
#include <assert.h>
#include <stdlib.h>

#include "base/metrics_registry.h"
#include "base/text.h"

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for metrics");
}

enum cleave_status cleave__metrics_new(struct cleave_metrics **out, struct cleave_error *error)
{
    struct cleave_metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return no_memory(error);
    pthread_mutex_init(&metrics->lock, NULL);
    *out = metrics;
    return CLEAVE_OK;
}

void cleave__metrics_free(struct cleave_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t f = 0; f < metrics->families.count; f++) {
        struct cleave__family *family = metrics->families.data[f];
        for (size_t s = 0; s < family->series.count; s++) {
            free(family->series.data[s]->timing);
            free(family->series.data[s]);
        }
        CLEAVE_VECTOR_FREE(&family->series);
    }
    CLEAVE_VECTOR_FREE(&metrics->families);
    CLEAVE_VECTOR_FREE(&metrics->balances);
    cleave__arena_free(&metrics->text);
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

/* ---- what may be asked for ---- */

static bool is_name(const char *name, bool colons)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(colons && c == ':') && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return length > 0 && length <= CLEAVE_METRICS_NAME_MOST;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), more = strlen(end);
    return length > more && !strcmp(name + length - more, end);
}

bool cleave__utf8_valid(const char *text)
{
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        n = cleave__utf8_length(text, left);
        if (!n)
            return false;
    }
    return true;
}

static enum cleave_status check_labels(const struct cleave_metric *metric,
                                       enum cleave__metric_type type,
                                       const struct cleave_label *labels, uint32_t count,
                                       struct cleave_error *error)
{
    if (count > CLEAVE_METRICS_LABELS_MOST)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "metric %s: more than %d labels",
                                metric->name, CLEAVE_METRICS_LABELS_MOST);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = labels[i].name;
        if (!is_name(name, false) || !strncmp(name, "__", 2) ||
            (type == CLEAVE__METRIC_TIMING && !strcmp(name, "le")))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "metric %s: no label can have the name '%.100s'", metric->name,
                                    name);
        for (uint32_t j = 0; j < i; j++) {
            if (!strcmp(name, labels[j].name))
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "metric %s: two labels '%s'",
                                        metric->name, name);
        }
        if (strlen(labels[i].value) > CLEAVE_METRICS_VALUE_MOST ||
            !cleave__utf8_valid(labels[i].value))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "metric %s: the value of label %s is not UTF-8 of at most %d "
                                    "bytes",
                                    metric->name, name, CLEAVE_METRICS_VALUE_MOST);
    }
    return CLEAVE_OK;
}

static enum cleave_status check_metric(const struct cleave_metric *metric,
                                       enum cleave__metric_type type, struct cleave_error *error)
{
    if (!is_name(metric->name, true))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no metric can have the name '%.150s'",
                                metric->name);
    if ((type == CLEAVE__METRIC_COUNTER) != ends_with(metric->name, "_total"))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "metric %s: counters end in _total, others do not", metric->name);
    if (!metric->help || !cleave__utf8_valid(metric->help))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "metric %s: its help is not UTF-8",
                                metric->name);
    bool rising = metric->bound_count <= CLEAVE_METRICS_BOUNDS_MOST;
    for (uint32_t i = 1; rising && i < metric->bound_count; i++)
        rising = metric->bounds[i] > metric->bounds[i - 1];
    if (!rising || (metric->bound_count && type != CLEAVE__METRIC_TIMING) || metric->scale < 0)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "metric %s: bounds rise, are at most %d, and are a timing's",
                                metric->name, CLEAVE_METRICS_BOUNDS_MOST);
    return CLEAVE_OK;
}

/* ---- families ---- */

struct cleave__family *cleave__metrics_find(const struct cleave_metrics *metrics, const char *name)
{
    for (size_t f = 0; f < metrics->families.count; f++) {
        if (!strcmp(metrics->families.data[f]->name, name))
            return metrics->families.data[f];
    }
    return NULL;
}

/* Whether a timing of the one name writes lines of the other. */
static bool shares_lines(const char *timing, const char *other)
{
    static const char *const end[] = {"_bucket", "_sum", "_count"};
    size_t length = strlen(timing);
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        if (!strncmp(other, timing, length) && !strcmp(other + length, end[i]))
            return true;
    }
    return false;
}

static enum cleave_status check_apart(const struct cleave_metrics *metrics,
                                      const struct cleave_metric *metric,
                                      enum cleave__metric_type type, struct cleave_error *error)
{
    for (size_t f = 0; f < metrics->families.count; f++) {
        const struct cleave__family *other = metrics->families.data[f];
        if ((type == CLEAVE__METRIC_TIMING && shares_lines(metric->name, other->name)) ||
            (other->type == CLEAVE__METRIC_TIMING && shares_lines(other->name, metric->name)))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "metrics %s and %s share a line of text", metric->name,
                                    other->name);
    }
    return CLEAVE_OK;
}

static struct cleave__family *family_new(struct cleave_metrics *metrics,
                                         const struct cleave_metric *metric,
                                         enum cleave__metric_type type)
{
    struct cleave_arena *arena = &metrics->text;
    struct cleave__family *family = cleave__arena_zalloc(arena, sizeof *family);
    if (!family)
        return NULL;
    family->type = type;
    family->scale = metric->scale > 0 ? metric->scale : 1;
    family->bound_count = metric->bound_count;
    family->name = cleave__arena_copy(arena, metric->name, strlen(metric->name));
    family->help = cleave__arena_copy(arena, metric->help, strlen(metric->help));
    family->bounds = cleave__arena_array(arena, metric->bound_count, sizeof *family->bounds);
    if (!family->name || !family->help || !family->bounds ||
        !CLEAVE_PUSH(&metrics->families, family))
        return NULL;
    if (metric->bound_count)
        memcpy(family->bounds, metric->bounds, metric->bound_count * sizeof *family->bounds);
    return family;
}

static bool fits(const struct cleave__family *family, const struct cleave_metric *metric,
                 enum cleave__metric_type type)
{
    return family->type == type && !strcmp(family->help, metric->help) &&
           family->scale == (metric->scale > 0 ? metric->scale : 1) &&
           family->bound_count == metric->bound_count &&
           (!metric->bound_count ||
            !memcmp(family->bounds, metric->bounds, metric->bound_count * sizeof *metric->bounds));
}

/* ---- series ---- */

/* The labels as they are written, in the order of their names. */
static void write_labels(const struct cleave_label *labels, uint32_t count,
                         struct cleave_writer *to)
{
    const struct cleave_label *sorted[CLEAVE_METRICS_LABELS_MOST];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at && strcmp(labels[i].name, sorted[at - 1]->name) < 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &labels[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        cleave__put_format(to, "%s%s=\"", i ? "," : "", sorted[i]->name);
        for (const char *c = sorted[i]->value; *c; c++) {
            if (*c == '\n')
                cleave__put_bytes(to, "\\n", 2);
            else if (*c == '\\' || *c == '"')
                cleave__put_bytes(to, (char[]){'\\', *c}, 2);
            else
                cleave__put_bytes(to, c, 1);
        }
        cleave__put8(to, '"');
    }
    cleave__put8(to, 0);
}

static struct cleave__series *series_new(struct cleave_metrics *metrics,
                                         struct cleave__family *family, const char *labels)
{
    struct cleave__series *series = aligned_alloc(64, sizeof *series);
    if (!series)
        return NULL;
    memset(series, 0, sizeof *series);
    if (family->type == CLEAVE__METRIC_TIMING) {
        size_t buckets = (size_t)family->bound_count + 1;
        series->timing =
            calloc(1, sizeof *series->timing + buckets * sizeof *series->timing->buckets);
        if (series->timing) {
            series->timing->bounds = family->bounds;
            series->timing->bound_count = family->bound_count;
        }
    }
    series->labels = cleave__arena_copy(&metrics->text, labels, strlen(labels));
    if (!series->labels || (family->type == CLEAVE__METRIC_TIMING && !series->timing) ||
        !CLEAVE_PUSH(&family->series, series)) {
        free(series->timing);
        free(series);
        return NULL;
    }
    metrics->series_count++;
    return series;
}

/* Under the lock. */
static enum cleave_status find_or_make(struct cleave_metrics *metrics,
                                       const struct cleave_metric *metric,
                                       enum cleave__metric_type type, const char *labels,
                                       struct cleave__series **out, struct cleave_error *error)
{
    struct cleave__family *family = cleave__metrics_find(metrics, metric->name);
    if (family && !fits(family, metric, type))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "metric %s is there with another type, help, scale or bounds",
                                metric->name);
    for (size_t s = 0; family && s < family->series.count; s++) {
        if (!strcmp(family->series.data[s]->labels, labels)) {
            *out = family->series.data[s];
            return CLEAVE_OK;
        }
    }
    if (metrics->series_count >= CLEAVE_METRICS_SERIES_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "metric %s: more than %d series", metric->name,
                                CLEAVE_METRICS_SERIES_MOST);
    if (!family) {
        enum cleave_status status = check_apart(metrics, metric, type, error);
        if (status)
            return status;
        family = family_new(metrics, metric, type);
        if (!family)
            return no_memory(error);
    }
    struct cleave__series *series = series_new(metrics, family, labels);
    if (!series)
        return no_memory(error);
    *out = series;
    return CLEAVE_OK;
}

static enum cleave_status series_of(struct cleave_metrics *metrics,
                                    const struct cleave_metric *metric,
                                    enum cleave__metric_type type,
                                    const struct cleave_label *labels, uint32_t label_count,
                                    struct cleave__series **out, struct cleave_error *error)
{
    enum cleave_status status = check_metric(metric, type, error);
    if (!status)
        status = check_labels(metric, type, labels, label_count, error);
    if (status)
        return status;
    struct cleave_writer text = {0};
    write_labels(labels, label_count, &text);
    if (text.failed) {
        status = no_memory(error);
    } else {
        pthread_mutex_lock(&metrics->lock);
        status = find_or_make(metrics, metric, type, (const char *)text.data, out, error);
        pthread_mutex_unlock(&metrics->lock);
    }
    free(text.data);
    return status;
}

enum cleave_status cleave__metrics_counter(struct cleave_metrics *metrics,
                                           const struct cleave_metric *metric,
                                           const struct cleave_label *labels, uint32_t label_count,
                                           struct cleave_counter **out, struct cleave_error *error)
{
    struct cleave__series *series;
    enum cleave_status status =
        series_of(metrics, metric, CLEAVE__METRIC_COUNTER, labels, label_count, &series, error);
    if (!status)
        *out = &series->value.counter;
    return status;
}

enum cleave_status cleave__metrics_counters(struct cleave_metrics *metrics,
                                            const struct cleave_counter_row *rows, size_t count,
                                            struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const struct cleave_metric metric = {.name = rows[i].name, .help = rows[i].help};
        status = cleave__metrics_counter(metrics, &metric, NULL, 0, rows[i].out, error);
    }
    return status;
}

enum cleave_status cleave__metrics_gauge(struct cleave_metrics *metrics,
                                         const struct cleave_metric *metric,
                                         const struct cleave_label *labels, uint32_t label_count,
                                         struct cleave_gauge **out, struct cleave_error *error)
{
    struct cleave__series *series;
    enum cleave_status status =
        series_of(metrics, metric, CLEAVE__METRIC_GAUGE, labels, label_count, &series, error);
    if (!status)
        *out = &series->value.gauge;
    return status;
}

/* Of ns, 10 us to 100 s. */
static const uint64_t usual_bounds[] = {
    10000,       25000,       50000,       100000,      250000,     500000,
    1000000,     2500000,     5000000,     10000000,    25000000,   50000000,
    100000000,   250000000,   500000000,   1000000000,  2500000000, 5000000000,
    10000000000, 25000000000, 50000000000, 100000000000};

enum cleave_status cleave__metrics_timing(struct cleave_metrics *metrics,
                                          const struct cleave_metric *metric,
                                          const struct cleave_label *labels, uint32_t label_count,
                                          struct cleave_timing **out, struct cleave_error *error)
{
    struct cleave_metric whole = *metric;
    struct cleave__series *series;
    if (!whole.bounds) {
        whole.bounds = usual_bounds;
        whole.bound_count = sizeof usual_bounds / sizeof *usual_bounds;
    }
    enum cleave_status status =
        series_of(metrics, &whole, CLEAVE__METRIC_TIMING, labels, label_count, &series, error);
    if (!status)
        *out = series->timing;
    return status;
}

void cleave__timing_add(struct cleave_timing *timing, uint64_t value)
{
    if (!timing)
        return;
    uint32_t low = 0, high = timing->bound_count; /* the first bound that value does not exceed */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (timing->bounds[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    atomic_fetch_add_explicit(&timing->buckets[low], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&timing->sum, value, memory_order_relaxed);
}

uint64_t cleave__timing_count(const struct cleave_timing *timing)
{
    uint64_t count = 0;
    for (uint32_t b = 0; b <= timing->bound_count; b++)
        count += atomic_load_explicit(&timing->buckets[b], memory_order_relaxed);
    return count;
}

bool cleave__metrics_sound(struct cleave_metrics *metrics)
{
    uint32_t count = 0;
    bool sound = true;
    pthread_mutex_lock(&metrics->lock);
    for (size_t f = 0; f < metrics->families.count && sound; f++) {
        const struct cleave__family *family = metrics->families.data[f];
        sound = cleave__metrics_find(metrics, family->name) == family &&
                (family->type == CLEAVE__METRIC_COUNTER) == ends_with(family->name, "_total");
        for (size_t s = 0; s < family->series.count && sound; s++) {
            const struct cleave__series *series = family->series.data[s];
            sound = (family->type == CLEAVE__METRIC_TIMING) == (series->timing != NULL) &&
                    cleave__utf8_valid(series->labels) && !strchr(series->labels, '\n');
            for (size_t t = 0; t < s && sound; t++)
                sound = strcmp(series->labels, family->series.data[t]->labels) != 0;
        }
        count += (uint32_t)family->series.count;
    }
    sound = sound && count == metrics->series_count;
    pthread_mutex_unlock(&metrics->lock);
    return sound;
}
