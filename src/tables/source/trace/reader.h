/* The trace's insides, shared by the readers of the formats. A reader takes one line at a time and
 * passes log entries or statements on to the sessions; finish() is called at the end of the last
 * file (and, for formats whose entries do not cross files, at the end of each). */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_READER_H
#define CLEAVE_TABLES_SOURCE_TRACE_READER_H

#include "tables/source/trace.h"
#include "tables/source/trace/lines.h"
#include "tables/source/trace/prefix.h"
#include "tables/source/trace/session.h"
#include "tables/source/trace/work.h"
#include "tables/sql/split.h"

struct cleave_templates;

/* An entry that grows line by line. */
struct cleave_trace_pending {
    bool open;
    CLEAVE_VECTOR(char) text;  /* the message, or a whole csv record */
    CLEAVE_VECTOR(char) names; /* key, label, user, database, one behind the other */
    size_t key, label, user, database;
    enum cleave_severity severity;
    bool in_block, dropped; /* dropped: grew past the limit, the rest is not kept */
    uint64_t used;          /* syslog: when it last grew */
    size_t pid;             /* syslog: length of the pid, in front of `names` */
    bool quoted;            /* csv: within quotes at the end of what is here */
    uint32_t file;
};

/* Syslog mixes the pieces of different processes' messages: so many may be open at once. */
enum { CLEAVE_SYSLOG_OPEN_MAX = 32 };

struct cleave_trace {
    struct cleave_trace_options options;
    enum cleave_trace_format format;
    struct cleave_prefix prefix;
    struct cleave_trace_lines lines;
    struct cleave_trace_counters counters;
    struct cleave_trace_works works;
    struct cleave_sessions *sessions;
    struct cleave_trace_pending pending;
    struct cleave_trace_pending *syslog; /* [CLEAVE_SYSLOG_OPEN_MAX]; NULL: not from syslog */
    uint64_t syslog_clock;
    CLEAVE_VECTOR(char) scratch; /* unescaped fields */
    struct cleave_splitter splitter;
    bool copying;                       /* sql: within the data of a COPY */
    struct cleave_templates *templates; /* tab */
    bool blocks;                        /* tab: the trace has its own BEGIN */
    uint32_t file;                      /* of the last line */
    uint64_t line;                      /* its number */
    bool begun, ended;
    char describe[512];
};

enum cleave_status cleave__trace_no_memory(const struct cleave_trace *trace,
                                           struct cleave_error *error);

/* An entry that makes no sense: counted, and told to whoever asks. */
void cleave__trace_bad(struct cleave_trace *trace, const char *text, size_t length);
/* Which format the look ahead is in. */
enum cleave_status cleave__trace_detect(struct cleave_trace *trace, struct cleave_error *error);

bool cleave__stderr_line(struct cleave_trace *trace, const struct cleave_trace_line *line);
bool cleave__stderr_finish(struct cleave_trace *trace);
void cleave__stderr_free(struct cleave_trace *trace);
bool cleave__csvlog_line(struct cleave_trace *trace, const struct cleave_trace_line *line);
bool cleave__csvlog_finish(struct cleave_trace *trace);
/* One line is a whole csvlog record, or begins like one. */
bool cleave__csvlog_looks(const char *line, size_t length);
bool cleave__jsonlog_line(struct cleave_trace *trace, const struct cleave_trace_line *line);
bool cleave__jsonlog_looks(const char *line, size_t length);
bool cleave__sql_line(struct cleave_trace *trace, const struct cleave_trace_line *line);
bool cleave__sql_finish(struct cleave_trace *trace);
/* "id TAB statement", the statement one of SQL's. */
bool cleave__tab_looks(const char *line, size_t length);
bool cleave__tab_line(struct cleave_trace *trace, const struct cleave_trace_line *line);
bool cleave__tab_finish(struct cleave_trace *trace);
/* Learns where transactions begin from the look ahead. */
bool cleave__tab_learn(struct cleave_trace *trace);
void cleave__tab_free(struct cleave_trace *trace);

/* "12/345" names a transaction, "12/0" and "" do not. */
bool cleave__vxid_in_block(struct cleave_span vxid);

#endif
