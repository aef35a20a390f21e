/* What a publisher brings: standing queries of a file, then objects as they come; or made up. */
#ifndef CLEAVE_CLI_STREAM_FEED_H
#define CLEAVE_CLI_STREAM_FEED_H

#include "base/map.h"
#include "cli/stream.h"
#include "cli/stream_row.h"
#include "stream/net/dictionary.h"
#include "stream/net/names.h"
#include "stream/net/process.h"
#include "stream/serve/feed.h"

enum { CLEAVE_FEED_BATCH = 256 };

struct cleave_stream_feed {
    /* Set before; borrowed. */
    const struct cleave_stream_files *files;
    struct cleave__net_session *session;
    struct cleave__net_seat seat;
    struct cleave__net_hold *hold; /* of it */
    const struct cleave_progress *progress;
    bool remove; /* the queries end; by their names, wherever they are */
    bool arrival;
    char *fields;                              /* of objects, to go along; NULL: the whole row */
    const struct cleave__stream_options *made; /* instead of files */
    uint64_t made_objects, made_queries;

    struct cleave__dictionary words, names; /* of terms, of fields */
    struct cleave_stream_loaded loaded;
    struct cleave_reader queries; /* of loaded.bytes */
    /* Queries whose names stand already end first, everywhere: the old one may be where the new
     * one is not. */
    struct cleave__map standing; /* ids */
    struct cleave_reader ending; /* of loaded.bytes */
    bool ended_first;
    struct cleave__objects *objects;
    struct cleave_row_fields shown;
    struct cleave__stream_generator *generator;
    bool waited, rested, ended;
    uint64_t clock_ms, number;
    /* Rows at hand. */
    struct cleave_arena arena;
    struct cleave__object batch[CLEAVE_FEED_BATCH];
    uint32_t count, at;
    enum cleave_status later; /* a fault behind them */
    struct cleave_error later_error;
    struct cleave_writer note;
};

/* Reads the queries and has their words numbered. */
enum cleave_status cleave__stream_feed_open(struct cleave_stream_feed *feed,
                                            struct cleave_error *error);
void cleave__stream_feed_close(struct cleave_stream_feed *feed);
extern const struct cleave__feed_ops cleave__stream_feed_ops;

#endif
