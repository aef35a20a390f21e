/* The log: what gets through, what is held back, what the sink lost. */
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log_line.h"
#include "base/random.h"

enum { KNOWN = 64, NAME_MOST = 60, WINDOW_MS = 1000 };

/* An event of which some came lately. */
struct known {
    char event[NAME_MOST]; /* cut; "" is free */
    enum cleave_log_level level;
    uint64_t since_ms; /* its window began */
    uint32_t told;     /* in the window */
    uint64_t held;     /* back, in the window */
};

struct cleave_log {
    struct cleave_log_options options;
    pthread_mutex_t lock;
    struct cleave__log_line line;
    struct known known[KNOWN];
    uint64_t held;         /* of all events */
    uint64_t lost, untold; /* lines; of these, not yet told */
    bool torn;             /* the sink stands in the middle of a line */
};

enum cleave_status cleave__log_new(const struct cleave_log_options *options,
                                   struct cleave_log **out, struct cleave_error *error)
{
    struct cleave_log *log = calloc(1, sizeof *log);
    if (!log)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a log");
    log->options = *options;
    pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return CLEAVE_OK;
}

static uint64_t now_ms(const struct cleave_log *log)
{
    return log->options.now_ms ? log->options.now_ms(log->options.context) : cleave__wall_ms();
}

static bool sink(struct cleave_log *log, const char *bytes, size_t length)
{
    size_t written = log->options.write(log->options.context, bytes, length);
    if (written)
        log->torn = bytes[written - 1] != '\n';
    return written == length;
}

/* The line at hand. */
static void emit_line(struct cleave_log *log)
{
    if ((log->torn && !sink(log, "\n", 1)) || !sink(log, log->line.text, log->line.length)) {
        log->lost++;
        log->untold++;
    }
}

static void emit(struct cleave_log *log, uint64_t at_ms, enum cleave_log_level level,
                 const char *event, const struct cleave_log_field *fields, uint32_t count,
                 uint64_t repeated)
{
    uint64_t untold = log->untold;
    cleave__log_format(&log->line, log->options.format, at_ms, level, event, fields, count,
                       repeated);
    emit_line(log);
    if (!untold || log->untold > untold)
        return;
    log->untold = 0; /* lines get through again */
    cleave__log_format(&log->line, log->options.format, at_ms, CLEAVE_LOG_WARN, "log lines lost",
                       &CLEAVE_FIELD_UNSIGNED("count", untold), 1, 0);
    emit_line(log);
    if (log->untold)
        log->untold += untold;
}

static void tell_held(struct cleave_log *log, struct known *known, uint64_t at_ms)
{
    uint64_t held = known->held;
    log->held -= held;
    known->held = 0;
    if (held)
        emit(log, at_ms, known->level, known->event, NULL, 0, held);
}

static void settle(struct cleave_log *log, uint64_t at_ms, bool all)
{
    for (uint32_t i = 0; i < KNOWN && log->held; i++) {
        struct known *known = &log->known[i];
        if (known->held && (all || at_ms - known->since_ms >= WINDOW_MS))
            tell_held(log, known, at_ms);
    }
}

/* The event's place; of two events that share one, the later has it. */
static struct known *known_of(struct cleave_log *log, const char *event, uint64_t at_ms)
{
    uint64_t hash = 0;
    char name[NAME_MOST] = "";
    strncpy(name, event, sizeof name - 1);
    for (const char *c = name; *c; c++)
        hash = cleave__mix64(hash ^ (unsigned char)*c);
    struct known *known = &log->known[hash % KNOWN];
    if (strcmp(known->event, name)) {
        tell_held(log, known, at_ms);
        memcpy(known->event, name, sizeof name);
        known->since_ms = at_ms;
        known->told = 0;
    }
    return known;
}

bool cleave__log_tells(const struct cleave_log *log, enum cleave_log_level level)
{
    return log && level >= log->options.level;
}

void cleave__log_write(struct cleave_log *log, enum cleave_log_level level, const char *event,
                       const struct cleave_log_field *fields, uint32_t count)
{
    if (!cleave__log_tells(log, level))
        return;
    pthread_mutex_lock(&log->lock);
    uint64_t at_ms = now_ms(log);
    settle(log, at_ms, false);
    struct known *known = known_of(log, event, at_ms);
    if (at_ms - known->since_ms >= WINDOW_MS) { /* a clock set back begins a window, too */
        tell_held(log, known, at_ms);
        known->since_ms = at_ms;
        known->told = 0;
    }
    known->level = level;
    if (known->told < CLEAVE_LOG_BURST) {
        known->told++;
        emit(log, at_ms, level, event, fields, count, 0);
    } else {
        known->held++;
        log->held++;
    }
    pthread_mutex_unlock(&log->lock);
}

void cleave__log_settle(struct cleave_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    settle(log, now_ms(log), false);
    pthread_mutex_unlock(&log->lock);
}

uint64_t cleave__log_lost(struct cleave_log *log)
{
    pthread_mutex_lock(&log->lock);
    uint64_t lost = log->lost;
    pthread_mutex_unlock(&log->lock);
    return lost;
}

bool cleave__log_check(struct cleave_log *log)
{
    uint64_t held = 0;
    bool sound = true;
    pthread_mutex_lock(&log->lock);
    for (uint32_t i = 0; i < KNOWN; i++) {
        const struct known *known = &log->known[i];
        held += known->held;
        sound = sound && known->told <= CLEAVE_LOG_BURST &&
                (!known->held || (known->event[0] && known->told == CLEAVE_LOG_BURST));
    }
    sound = sound && held == log->held && log->untold <= log->lost;
    pthread_mutex_unlock(&log->lock);
    return sound;
}

void cleave__log_free(struct cleave_log *log)
{
    if (!log)
        return;
    settle(log, now_ms(log), true);
    pthread_mutex_destroy(&log->lock);
    free(log);
}
