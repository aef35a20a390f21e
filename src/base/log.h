/* Structured records of what happens, one line each: logfmt or JSON.
 *
 *     CLEAVE_LOG(log, CLEAVE_LOG_INFO, "listening", CLEAVE_FIELD_TEXT("address", "127.0.0.1"),
 *                CLEAVE_FIELD_UNSIGNED("port", port));
 *     time=2026-12-01T01:51:32.123Z level=info event=listening address=127.0.0.1 port=9100
 *
 * The library never prints: a log writes to a sink that the command hands in, which may lose lines
 * (a full disk, a reader that went away) but must neither wait for long nor end the process. What
 * was lost is counted and told once lines get through again.
 *
 * An event has a name of its own for each place that tells something ("peer gone"); what differs
 * goes into fields. Of one event, CLEAVE_LOG_BURST records a second get through; the rest is
 * counted and told as `repeated=812` on one record, when the event comes again later, at another
 * record, or at the end. Secrets do not belong into fields; a URL goes in as CLEAVE_FIELD_URL,
 * which cuts its password out.
 *
 * Invariants: a line is at most CLEAVE_LOG_LINE_MOST bytes, which a pipe takes in one piece (longer
 * values are cut and end in "..."), is UTF-8 (what is not becomes U+FFFD), and holds no control
 * character but its newline.
 *
 * Thread rule: any thread, any time, but for _free. Cost: a level that is off one comparison; a
 * record some 0.5 us and the sink's time, under a lock. */
#ifndef CLEAVE_BASE_LOG_H
#define CLEAVE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

enum { CLEAVE_LOG_LINE_MOST = 4096, CLEAVE_LOG_BURST = 10 };

enum cleave_log_level { CLEAVE_LOG_DEBUG, CLEAVE_LOG_INFO, CLEAVE_LOG_WARN, CLEAVE_LOG_ERROR };
enum cleave_log_format { CLEAVE_LOG_TEXT, CLEAVE_LOG_JSON };

struct cleave_log_options {
    enum cleave_log_level level; /* the least that is told */
    enum cleave_log_format format;
    /* How many of the bytes were written; a line is torn if not all were. */
    size_t (*write)(void *context, const char *bytes, size_t length);
    void *context;
    uint64_t (*now_ms)(void *context); /* since 1970; NULL: the system's clock */
};

enum cleave_log_field_type {
    CLEAVE_LOG_FIELD_TEXT,
    CLEAVE_LOG_FIELD_URL,
    CLEAVE_LOG_FIELD_INTEGER,
    CLEAVE_LOG_FIELD_UNSIGNED,
    CLEAVE_LOG_FIELD_REAL,
    CLEAVE_LOG_FIELD_BOOLEAN
};
struct cleave_log_field {
    const char *name; /* of small letters, digits, "_" */
    enum cleave_log_field_type type;
    union {
        const char *text; /* NULL is written as "" */
        int64_t integer;
        uint64_t number;
        double real;
        bool boolean;
    } value;
};
#define CLEAVE__FIELD(name_, type_, member, ...)                                                   \
    ((struct cleave_log_field){                                                                    \
        .name = (name_), .type = CLEAVE_LOG_FIELD_##type_, .value.member = (__VA_ARGS__)})
#define CLEAVE_FIELD_TEXT(name, ...) CLEAVE__FIELD(name, TEXT, text, __VA_ARGS__)
#define CLEAVE_FIELD_URL(name, ...) CLEAVE__FIELD(name, URL, text, __VA_ARGS__)
#define CLEAVE_FIELD_INTEGER(name, ...) CLEAVE__FIELD(name, INTEGER, integer, __VA_ARGS__)
#define CLEAVE_FIELD_UNSIGNED(name, ...) CLEAVE__FIELD(name, UNSIGNED, number, __VA_ARGS__)
#define CLEAVE_FIELD_REAL(name, ...) CLEAVE__FIELD(name, REAL, real, __VA_ARGS__)
#define CLEAVE_FIELD_BOOLEAN(name, ...) CLEAVE__FIELD(name, BOOLEAN, boolean, __VA_ARGS__)

struct cleave_log;

enum cleave_status cleave__log_new(const struct cleave_log_options *options,
                                   struct cleave_log **out, struct cleave_error *error);
/* Tells what was held back first. */
void cleave__log_free(struct cleave_log *log);

/* `log` may be NULL. */
bool cleave__log_tells(const struct cleave_log *log, enum cleave_log_level level);
void cleave__log_write(struct cleave_log *log, enum cleave_log_level level, const char *event,
                       const struct cleave_log_field *fields, uint32_t count);
#define CLEAVE_LOG(log, level, event, ...)                                                         \
    do {                                                                                           \
        if (cleave__log_tells(log, level)) {                                                       \
            const struct cleave_log_field cleave__fields[] = {__VA_ARGS__};                        \
            cleave__log_write(log, level, event, cleave__fields,                                   \
                              sizeof cleave__fields / sizeof *cleave__fields);                     \
        }                                                                                          \
    } while (0)
/* Tells what was held back and is due. Where nothing else is logged, call it now and then. */
void cleave__log_settle(struct cleave_log *log);
/* Lines that the sink did not take whole. */
uint64_t cleave__log_lost(struct cleave_log *log);
bool cleave__log_check(struct cleave_log *log);

/* Where the password of a URL is: its bytes are [*from, *to), both 0 if there is none. */
void cleave__url_password(const char *url, size_t *from, size_t *to);

#endif
