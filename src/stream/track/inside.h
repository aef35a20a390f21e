/* What the files of the tracker share.
 *
 * Things and known queries are in pools, by number, free ones in a list; maps lead there from their
 * ids. Things are in a list by when they were last seen, and those that wait in a list by since
 * when. A known query's `held` counts the places that name it, in sets and in messages that wait:
 * one that has ended goes when the last of them has. */
#ifndef CLEAVE_STREAM_TRACK_INSIDE_H
#define CLEAVE_STREAM_TRACK_INSIDE_H

#include "base/map.h"
#include "stream/track/track.h"

#define CLEAVE__NO_THING UINT32_MAX

struct cleave__known {
    uint64_t id;
    uint32_t held;
    bool live;
};

/* Numbers of known queries, rising. */
struct cleave__places {
    uint32_t *items;
    uint32_t count, capacity;
};

struct cleave__early {
    uint64_t sequence, time_ms;
    uint32_t *items, count; /* rising; malloc'd, NULL if none */
};

struct cleave__links {
    uint32_t before, after;
};

struct cleave__thing {
    uint64_t id; /* 0: free; `seen.after` is the next free one */
    uint64_t next, seen_ms, wait_ms;
    struct cleave__links seen, wait;
    struct cleave__places inside;
    struct cleave__early *early; /* by sequence */
    uint32_t early_count, early_capacity;
    char *name;
    size_t name_length;
};

struct cleave__ends {
    uint32_t first, last;
};

struct cleave__tracker {
    struct cleave__track_options options;
    struct cleave__track_counts counts;
    struct cleave__map thing_of, known_of; /* id -> number */
    CLEAVE_VECTOR(struct cleave__thing) things;
    CLEAVE_VECTOR(struct cleave__known) known;
    CLEAVE_VECTOR(uint32_t) free_known; /* room for all */
    uint32_t free_thing;
    struct cleave__ends seen, wait;
    uint64_t clock_ms, held, thing_count;
    size_t bytes; /* of sets, messages that wait, names */
    CLEAVE_VECTOR(uint32_t) scratch;
};

#endif
