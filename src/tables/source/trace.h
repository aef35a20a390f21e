/* Traces: files of statements -> committed transactions, in bounded memory.
 *
 * Formats (detected from content, or forced): plain SQL; `id TAB statement`; PostgreSQL csvlog,
 * jsonlog, stderr with any log_line_prefix (given or guessed). Plain, gz, bz2, xz, zst or "-".
 * What counts: statements of a transaction that committed; parse/bind/execute count once (the
 * execute); statements undone by an error do not count; ROLLBACK TO does not undo accesses. Text
 * of open transactions is held; one session may hold at most CLEAVE_TRANSACTION_MAX bytes. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_H
#define CLEAVE_TABLES_SOURCE_TRACE_H

#include "cleave/progress.h"
#include "cleave/status.h"
#include "tables/sql/parameter.h"

#include <stdint.h>

enum cleave_trace_format {
    CLEAVE_TRACE_AUTO,
    CLEAVE_TRACE_SQL,
    CLEAVE_TRACE_TAB,
    CLEAVE_TRACE_CSVLOG,
    CLEAVE_TRACE_JSONLOG,
    CLEAVE_TRACE_STDERR,
};

enum { CLEAVE_TRANSACTION_MAX = 64 << 20 };

struct cleave_trace_options {
    enum cleave_trace_format format;
    const char *line_prefix; /* log_line_prefix; NULL: guessed from the first lines */
    const char
        *database;    /* keep only sessions of this database, where the log names it; NULL: all */
    const char *user; /* likewise */
    const struct cleave_progress *progress;
    /* An entry that could not be understood, as it comes: its file, its (last) line, its beginning;
     * NULL: nobody asks. */
    void (*bad)(void *context, const char *path, uint64_t line, const char *text, size_t length);
    void *bad_context;
};

struct cleave_trace_statement {
    const char *text; /* one statement, without its semicolon; NUL-terminated */
    size_t length;
    const struct cleave_parameter *parameters; /* $1.. */
    uint32_t parameter_count;
};

struct cleave_trace_transaction {
    const char *session;                             /* session id, pid, or the id of a tab trace */
    uint32_t file;                                   /* index of the file it ended in */
    const struct cleave_trace_statement *statements; /* no transaction control among them */
    uint32_t statement_count;
};

/* What was read and what was left out, by kind. After CLEAVE_END, and checked by
 * cleave__trace_counters_check:
 *   lines      = lines_entry + lines_continued + lines_passed
 *   entries    = entries_statement + entries_error + entries_other + entries_bad
 *   statements = the sum of statements_*
 *   transactions >= transactions_autocommit + transactions_implicit (the rest stood in BEGIN,
 *   COMMIT), and transactions <= statements_kept. */
#define CLEAVE_TRACE_COUNTERS(X)                                                                   \
    X(bytes, "bytes read (unpacked)")                                                              \
    X(lines, "lines read")                                                                         \
    X(lines_entry, "lines that begin an entry")                                                    \
    X(lines_continued, "lines that go on with one")                                                \
    X(lines_passed, "blank lines, psql commands, COPY data, lines that fit no entry")              \
    X(entries, "log entries")                                                                      \
    X(entries_statement, "entries that carry statements")                                          \
    X(entries_error, "errors")                                                                     \
    X(entries_other, "entries that carry no statement")                                            \
    X(entries_bad, "entries that could not be understood")                                         \
    X(statements, "statements seen")                                                               \
    X(statements_control, "BEGIN, COMMIT, SAVEPOINT and the like")                                 \
    X(statements_parse_bind, "parse, bind and fetch steps of a statement counted at its execute")  \
    X(statements_failed, "statements that failed")                                                 \
    X(statements_rolled_back, "statements of rolled-back transactions")                            \
    X(statements_lost, "statements of transactions cut off by a disconnect or the log's end")      \
    X(statements_empty, "empty statements")                                                        \
    X(statements_filtered, "statements of other databases or users")                               \
    X(statements_oversized, "statements past the size limit")                                      \
    X(statements_unbound, "EXECUTE of a prepared statement the log does not show")                 \
    X(statements_kept, "statements in committed transactions")                                     \
    X(transactions, "committed transactions")                                                      \
    X(transactions_autocommit, "of them single statements outside BEGIN")                          \
    X(transactions_implicit, "of them several statements sent as one string")                      \
    X(transactions_rolled_back, "rolled-back transactions")                                        \
    X(transactions_lost, "transactions cut off")                                                   \
    X(transactions_oversized, "transactions past the size limit")                                  \
    X(parameters_cut, "parameters that the log cut short")

struct cleave_trace_counters {
#define X(name, text) uint64_t name;
    CLEAVE_TRACE_COUNTERS(X)
#undef X
};

struct cleave_trace;

/* Files are read in order; sessions do not continue across files of the tab format, they do for
 * server logs (rotation). `paths` and `options` are borrowed until close. */
enum cleave_status cleave__trace_open(const char *const *paths, uint32_t path_count,
                                      const struct cleave_trace_options *options,
                                      struct cleave_trace **out, struct cleave_error *error);
/* The next committed transaction that has at least one statement; valid until the next call.
 * CLEAVE_END after the last. A damaged entry is counted and passed over; errors are only for what
 * makes going on senseless (I/O, unreadable compression, no format fits) and name file and line. */
enum cleave_status cleave__trace_next(struct cleave_trace *trace,
                                      struct cleave_trace_transaction *out,
                                      struct cleave_error *error);
/* CLEAVE_CORRUPT with the first equation that does not hold. */
enum cleave_status cleave__trace_counters_check(const struct cleave_trace_counters *counters,
                                                struct cleave_error *error);
const struct cleave_trace_counters *cleave__trace_counters(const struct cleave_trace *trace);
/* The line that was read last, from 1, and in which file: where the last transaction ended, or soon
 * after. */
uint64_t cleave__trace_line(const struct cleave_trace *trace, const char **path);
/* "stderr, prefix '%t [%p]: '", for people. */
const char *cleave__trace_describe(const struct cleave_trace *trace);
void cleave__trace_close(struct cleave_trace *trace);

#endif
