/* What the files of `cleave stream match` share: a run, and the printing of what it finds. */
#ifndef CLEAVE_CLI_STREAM_MATCH_H
#define CLEAVE_CLI_STREAM_MATCH_H

#include "cli/stream.h"
#include "cli/stream_row.h"
#include "stream/track/track.h"

enum { CLEAVE_BATCH = 256, CLEAVE_BATCH_BYTES = 8 << 20 };

struct cleave_match_arguments {
    struct cleave_options common;
    struct cleave_stream_space space;
    struct cleave_stream_files files;
    const struct cleave__matcher_ops *matcher;
    char *fields; /* of objects, to print; NULL: the whole row */
    uint64_t ttl_ms;
    uint32_t things_most;
    bool check, arrival;
};

/* A row of the batch at hand, in its arena. */
struct cleave_match_row {
    uint64_t line;
    const char *text; /* as it is printed */
    size_t length;
    const char *id;
    size_t id_length;
    uint64_t clock_ms; /* of the stream, with this object */
};

struct cleave_ending {
    uint64_t end_ms, id;
    uint32_t slot, check_slot;
};

struct cleave_match_run {
    const struct cleave_match_arguments *arguments;
    const struct cleave_progress *progress;
    struct cleave_stream_loaded loaded;
    struct cleave__space space;
    void *matcher, *checker;                     /* checker: NULL without --check */
    CLEAVE_VECTOR(struct cleave_ending) endings; /* by time */
    size_t ended;
    uint32_t events; /* that any query wants */
    struct cleave__tracker *tracker;
    struct cleave__track_events tracked;
    struct cleave__objects *objects;
    struct cleave_row_fields fields;
    /* The batch: */
    struct cleave_arena arena;
    struct cleave__object batch[CLEAVE_BATCH];
    struct cleave_match_row rows[CLEAVE_BATCH];
    uint32_t count;
    size_t batch_bytes;
    struct cleave__matches found, wanted;
    CLEAVE_VECTOR(uint64_t) inside;
    struct cleave_writer line; /* being printed */
    /* Counters: */
    uint64_t accepted, matched, matches, entered, left, expired, checked, clock_ms;
    bool closed;   /* output cannot be written any more, */
    int closed_by; /* for this reason (errno) */
};

/* All of it, from the arguments in `run` (else zeroes): the counters are printed unless quiet. */
enum cleave_status cleave__match_run(struct cleave_match_run *run, struct cleave_terminal *terminal,
                                     struct cleave_error *error);
void cleave__match_free(struct cleave_match_run *run);

/* How an object's row is printed, into the arena of the batch. False: no memory. */
bool cleave__match_row(struct cleave_match_run *run, struct cleave_match_row *row);
/* One line of output. `row` NULL: no object; then the thing's name, if it has one. */
enum cleave_status cleave__match_print(struct cleave_match_run *run, enum cleave__event event,
                                       uint64_t query, const struct cleave_match_row *row,
                                       const char *thing, size_t thing_length,
                                       struct cleave_error *error);
/* A write has failed just now. */
void cleave__match_closed(struct cleave_match_run *run);
/* Counters, to standard error. */
void cleave__match_summary(const struct cleave_match_run *run);

#endif
