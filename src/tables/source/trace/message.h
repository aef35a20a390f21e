/* What the text of a PostgreSQL log message says: which statement ran, in which step of the
 * protocol, with which parameters. Pure functions over borrowed text. */
#ifndef CLEAVE_TABLES_SOURCE_TRACE_MESSAGE_H
#define CLEAVE_TABLES_SOURCE_TRACE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "tables/sql/parameter.h"

struct cleave_span {
    const char *text;
    size_t length;
};

enum cleave_severity {
    CLEAVE_SEVERITY_NONE, /* not a severity word */
    CLEAVE_SEVERITY_LOG,
    CLEAVE_SEVERITY_ERROR,
    CLEAVE_SEVERITY_FATAL,  /* PANIC too */
    CLEAVE_SEVERITY_NOTICE, /* WARNING, INFO, DEBUG too: says nothing about statements */
    CLEAVE_SEVERITY_DETAIL,
    CLEAVE_SEVERITY_STATEMENT,
    CLEAVE_SEVERITY_ASIDE, /* HINT, CONTEXT, QUERY, LOCATION, BACKTRACE */
};

/* The severity word at the start of `text`; *length is its length. */
enum cleave_severity cleave__severity_of(const char *text, size_t size, size_t *length);

enum cleave_message_kind {
    CLEAVE_MESSAGE_OTHER,     /* tells nothing about statements */
    CLEAVE_MESSAGE_SIMPLE,    /* a string of the simple protocol: one or several statements */
    CLEAVE_MESSAGE_EXECUTE,   /* the execute step of the extended protocol: one statement */
    CLEAVE_MESSAGE_FETCH,     /* a further portion of an execute's result */
    CLEAVE_MESSAGE_PARSE,     /* the parse or bind step */
    CLEAVE_MESSAGE_DURATION,  /* the statement logged before is done */
    CLEAVE_MESSAGE_CONNECT,   /* a session begins */
    CLEAVE_MESSAGE_AUTHORIZE, /* a session's user and database */
    CLEAVE_MESSAGE_DISCONNECT,
    CLEAVE_MESSAGE_RESTART, /* the server starts: every session is gone */
};

struct cleave_message {
    enum cleave_message_kind kind;
    bool done; /* logged with its duration, after it ran; else logged before it runs */
    struct cleave_span text;
};

/* Reads a LOG message. */
struct cleave_message cleave__message_of(struct cleave_span text);
/* The value of `key=` in a "connection authorized" message; length 0 when absent. */
struct cleave_span cleave__message_field(struct cleave_span text, const char *key);

/* Parameters found, and the bytes that unquoting made. `parameters` point into `bytes`. */
struct cleave_bindings {
    CLEAVE_VECTOR(struct cleave_parameter) parameters;
    CLEAVE_VECTOR(char) bytes;
    uint64_t cut; /* of them cut short by the log */
};
void cleave__bindings_free(struct cleave_bindings *bindings);
/* True for a DETAIL of the form "parameters: $1 = ..." (either case); *rest is what follows. */
bool cleave__detail_is_parameters(struct cleave_span detail, struct cleave_span *rest);
bool cleave__detail_is_prepare(struct cleave_span detail, struct cleave_span *rest);
/* Reads "$1 = '6', $2 = NULL, ..."; stops at the first thing that is not of that form and marks
 * what it could not read as cut. False when memory is out. */
bool cleave__bindings_of_detail(struct cleave_bindings *bindings, struct cleave_span text);
/* Reads the argument list of EXECUTE name (...): constants become parameters, with a cast or
 * without; any other expression becomes a parameter of unknown value. */
bool cleave__bindings_of_arguments(struct cleave_bindings *bindings, struct cleave_span text);

#endif
