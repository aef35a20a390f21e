/* log_line_prefix: compiled once, matched against every line, or guessed from sample lines. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_PREFIX_H
#define CLEAVE_TABLES_SOURCE_TRACE_PREFIX_H

#include <stdbool.h>
#include <stdint.h>

#include "cleave/status.h"
#include "tables/source/trace/lines.h"
#include "tables/source/trace/message.h"

enum { CLEAVE_PREFIX_OPS_MAX = 64, CLEAVE_PREFIX_TEXT_MAX = 256 };

struct cleave_prefix {
    bool free_form; /* no prefix known: the session is looked for in what precedes the severity */
    bool narrow;    /* a guess: names of users, databases and hosts are taken to have no blanks */
    bool syslog;    /* each line has a syslog header before it */
    uint32_t count;
    struct {
        char kind;         /* an escape's letter, or 0: literal text */
        bool padded;       /* %-10u, %10u */
        uint16_t at, size; /* of literal text, in `text` */
    } ops[CLEAVE_PREFIX_OPS_MAX];
    char text[CLEAVE_PREFIX_TEXT_MAX]; /* as written */
};

/* What a line's prefix and severity said. Spans lie in the line. */
struct cleave_prefix_match {
    struct cleave_span session_id, pid, user, database, remote, started, vxid;
    enum cleave_severity severity;
    size_t message; /* where the message begins */
};

/* CLEAVE_BAD_ARGUMENT names the escape that is not known. */
enum cleave_status cleave__prefix_compile(const char *text, struct cleave_prefix *out,
                                          struct cleave_error *error);
/* False when the line does not begin with the prefix (or, of a background process, its part before
 * %q) and a severity. */
bool cleave__prefix_match(const struct cleave_prefix *prefix, const char *line, size_t length,
                          struct cleave_prefix_match *out);
/* What syslog wrote before the server's own line. */
struct cleave_syslog {
    struct cleave_span pid;
    uint32_t chunk; /* from 1; 0 when the pieces are not numbered */
    size_t rest;    /* where the server's line begins */
};
bool cleave__syslog_header(const char *line, size_t length, struct cleave_syslog *out);
/* Length of "2026-11-30 02:21:31.845 UTC" at `text`; 0 when it does not begin with one. */
size_t cleave__prefix_timestamp(const char *text, size_t length);
/* Fits the best prefix to the lines of the look ahead; *fitting is how many lines match it. False
 * when no line looks like a server log's. */
bool cleave__prefix_guess(const struct cleave_trace_lines *lines, struct cleave_prefix *out,
                          size_t *fitting);

#endif
