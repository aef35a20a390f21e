/* The trace: lines go to the reader of the detected format, readers feed the sessions, sessions
 * fill the queue, cleave__trace_next empties it. Everything behind this file lives in trace/. */
#include "tables/source/trace.h"

#include <stdlib.h>
#include <string.h>

#include "tables/source/trace/reader.h"

enum cleave_status cleave__trace_no_memory(const struct cleave_trace *t, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory while reading the trace",
                            t->lines.path_count ? t->lines.paths[t->file] : "trace");
}

enum cleave_status cleave__trace_open(const char *const *paths, uint32_t path_count,
                                      const struct cleave_trace_options *options,
                                      struct cleave_trace **out, struct cleave_error *error)
{
    static const struct cleave_trace_options none;
    if (!path_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no trace file given");
    if (options && (unsigned)options->format > CLEAVE_TRACE_STDERR)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "no such trace format");
    struct cleave_trace *t = calloc(1, sizeof *t);
    if (!t)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", paths[0]);
    t->options = options ? *options : none;
    t->lines.paths = paths;
    t->lines.path_count = path_count;
    t->lines.progress = t->options.progress;
    t->sessions = cleave__sessions_new(&t->options, &t->counters, &t->works);
    enum cleave_status status =
        t->sessions ? cleave__trace_detect(t, error) : cleave__trace_no_memory(t, error);
    if (status) {
        cleave__trace_close(t);
        return status;
    }
    *out = t;
    return CLEAVE_OK;
}

void cleave__trace_bad(struct cleave_trace *t, const char *text, size_t length)
{
    const char *path;
    t->counters.entries++;
    t->counters.entries_bad++;
    uint64_t line = cleave__trace_line(t, &path);
    if (t->options.bad)
        t->options.bad(t->options.bad_context, path, line, text, length);
}

uint64_t cleave__trace_line(const struct cleave_trace *t, const char **path)
{
    *path = t->lines.path_count ? t->lines.paths[t->file] : "the trace";
    return t->line;
}

static bool read_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    switch (t->format) {
    case CLEAVE_TRACE_CSVLOG:
        return cleave__csvlog_line(t, line);
    case CLEAVE_TRACE_JSONLOG:
        return cleave__jsonlog_line(t, line);
    case CLEAVE_TRACE_STDERR:
        return cleave__stderr_line(t, line);
    case CLEAVE_TRACE_TAB:
        return cleave__tab_line(t, line);
    default:
        if (t->begun && line->file != t->file && !cleave__sql_finish(t))
            return false;
        return cleave__sql_line(t, line);
    }
}

static bool finish(struct cleave_trace *t)
{
    switch (t->format) {
    case CLEAVE_TRACE_CSVLOG:
        return cleave__csvlog_finish(t) && cleave__sessions_end(t->sessions);
    case CLEAVE_TRACE_JSONLOG:
        return cleave__sessions_end(t->sessions);
    case CLEAVE_TRACE_STDERR:
        return cleave__stderr_finish(t) && cleave__sessions_end(t->sessions);
    case CLEAVE_TRACE_TAB:
        return cleave__tab_finish(t);
    default:
        return cleave__sql_finish(t);
    }
}

enum cleave_status cleave__trace_next(struct cleave_trace *t, struct cleave_trace_transaction *out,
                                      struct cleave_error *error)
{
    for (;;) {
        if (cleave__work_give(&t->works, out))
            return CLEAVE_OK;
        if (t->ended)
            return cleave_error_set(error, CLEAVE_END, "end of the trace");
        struct cleave_trace_line line;
        enum cleave_status status = cleave__trace_lines_next(&t->lines, &line, error);
        t->counters.bytes = t->lines.total;
        if (status == CLEAVE_END) {
            t->ended = true;
            if (!finish(t))
                return cleave__trace_no_memory(t, error);
            continue;
        }
        if (status)
            return status;
        t->counters.lines++;
        t->line = line.number;
        if (t->format != CLEAVE_TRACE_SQL || !t->begun) /* SQL: see read_line */
            t->file = line.file;
        if (!read_line(t, &line))
            return cleave__trace_no_memory(t, error);
        t->file = line.file;
        t->begun = true;
    }
}

enum cleave_status cleave__trace_counters_check(const struct cleave_trace_counters *c,
                                                struct cleave_error *error)
{
    const struct {
        const char *what;
        uint64_t whole, parts;
    } sums[] = {
        {"lines", c->lines, c->lines_entry + c->lines_continued + c->lines_passed},
        {"entries", c->entries,
         c->entries_statement + c->entries_error + c->entries_other + c->entries_bad},
        {"statements", c->statements,
         c->statements_control + c->statements_parse_bind + c->statements_failed +
             c->statements_rolled_back + c->statements_lost + c->statements_empty +
             c->statements_filtered + c->statements_oversized + c->statements_unbound +
             c->statements_kept},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (sums[i].whole != sums[i].parts)
            return cleave_error_set(
                error, CLEAVE_CORRUPT, "trace counters: %llu %s, but their kinds add up to %llu",
                (unsigned long long)sums[i].whole, sums[i].what, (unsigned long long)sums[i].parts);
    }
    if (c->transactions < c->transactions_autocommit + c->transactions_implicit ||
        c->transactions > c->statements_kept)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "trace counters: %llu transactions do not fit their kinds",
                                (unsigned long long)c->transactions);
    return CLEAVE_OK;
}

const struct cleave_trace_counters *cleave__trace_counters(const struct cleave_trace *t)
{
    return &t->counters;
}

const char *cleave__trace_describe(const struct cleave_trace *t)
{
    return t->describe;
}

void cleave__trace_close(struct cleave_trace *t)
{
    if (!t)
        return;
    cleave__tab_free(t);
    cleave__stderr_free(t);
    cleave__sessions_free(t->sessions);
    cleave__works_free(&t->works);
    cleave__trace_lines_free(&t->lines);
    CLEAVE_VECTOR_FREE(&t->pending.text);
    CLEAVE_VECTOR_FREE(&t->pending.names);
    CLEAVE_VECTOR_FREE(&t->scratch);
    free(t);
}
