/* Sessions and their transactions: log entries in, committed transactions out.
 *
 * The rules are the server's own:
 *  - a statement logged with its duration has run; one logged before it runs counts once the
 *    session goes on, and is struck out by an error that names it;
 *  - a string of several statements is one implicit transaction, until a BEGIN in it makes it an
 *    explicit one or a COMMIT in it ends it;
 *  - after an error an explicit transaction is aborted: its COMMIT rolls back, ROLLBACK TO revives
 *    it; a completed statement where only ROLLBACK can be means that the log left the end out;
 *  - a disconnect, a fatal error or a restart inside a transaction loses it;
 *  - PREPARE TRANSACTION sets it aside until COMMIT or ROLLBACK PREPARED; what is still set aside
 *    at the end counts as committed.
 * Memory: sessions are bounded by number (the longest silent one is ended when there are too many)
 * and by the text that they hold all together. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_SESSION_H
#define CLEAVE_TABLES_SOURCE_TRACE_SESSION_H

#include "tables/source/trace.h"
#include "tables/source/trace/message.h"
#include "tables/source/trace/work.h"

/* One log entry. Formats that give everything at once set detail and query; stderr gives those as
 * entries of their own. Absent parts have length 0. */
struct cleave_trace_entry {
    enum cleave_severity severity;
    struct cleave_span session; /* what tells sessions apart */
    struct cleave_span label;   /* what the caller is shown */
    struct cleave_span user, database;
    struct cleave_span message, detail, query;
    bool whole;    /* detail and query are here if the log has them */
    bool in_block; /* the virtual transaction id says: within a transaction block */
    uint32_t file;
};

struct cleave_sessions;

/* Counters are the caller's, and are added to. */
struct cleave_sessions *cleave__sessions_new(const struct cleave_trace_options *options,
                                             struct cleave_trace_counters *counters,
                                             struct cleave_trace_works *works);
void cleave__sessions_free(struct cleave_sessions *sessions);
/* Every function below yields false when memory is out. */
bool cleave__sessions_entry(struct cleave_sessions *sessions,
                            const struct cleave_trace_entry *entry);
/* Statements of a session that ran (plain SQL and tab files): the text is one string sent alone. */
bool cleave__sessions_string(struct cleave_sessions *sessions, struct cleave_span session,
                             struct cleave_span text, uint32_t file);
/* Ends one session (disconnect, end of file), or all of them. */
bool cleave__sessions_close(struct cleave_sessions *sessions, struct cleave_span session);
bool cleave__sessions_end(struct cleave_sessions *sessions);

#endif
