/* Standing queries and the objects that match them, in one process: geofences, alerts,
 * subscriptions by place, words and numbers. The index is that of `cleave stream`
 * (docs/stream-index.md).
 *
 * A query has an object that lies in its region (borders belong to it), has all of its keywords, or
 * one of them, keeps its filters, and is not of its end or later. What a query does not say does
 * not matter. Words are compared by Unicode's rules (NFKC, case folded): docs/stream.md.
 *
 * Thread rule: one thread at a time uses a matcher; any number of matchers may be used at once.
 * Everything is copied on the way in. */
#ifndef CLEAVE_MATCH_H
#define CLEAVE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

struct cleave_matcher;

/* A plane, with the box that most of it happens in (what lies outside is right, and slower); or the
 * globe: x is longitude, y latitude, in degrees. */
struct cleave_matcher_options {
    bool plane;
    double x0, y0, x1, y1; /* of a plane */
};

enum cleave_region_kind {
    CLEAVE_EVERYWHERE,
    CLEAVE_RECTANGLE, /* from (x0, y0) to (x1, y1); on the globe x0 > x1 crosses the antimeridian */
    CLEAVE_CIRCLE     /* around (x0, y0); radius in the plane's units, on the globe in metres */
};

struct cleave_match_region {
    enum cleave_region_kind kind;
    double x0, y0, x1, y1, radius;
};

struct cleave_match_number {
    const char *name; /* "magnitude" */
    double value;     /* of an object */
    double low, high; /* of a query: both included; infinities are fine */
};

/* Arrays may be NULL when their count is 0. Texts are UTF-8, NUL-terminated. */
struct cleave_match_query {
    uint64_t id; /* not 0; no other query of the matcher has it */
    struct cleave_match_region region;
    const char *const *keywords; /* [keyword_count] */
    size_t keyword_count;
    bool any_keyword;                          /* one is enough */
    const struct cleave_match_number *filters; /* [filter_count], at most 16 */
    size_t filter_count;
    uint64_t end_ms; /* 0: never */
};

struct cleave_match_object {
    double x, y;
    uint64_t time_ms;            /* compared with queries' ends */
    const char *text;            /* cut into words; or NULL */
    const char *const *keywords; /* [keyword_count]: each a word as it is */
    size_t keyword_count;
    const struct cleave_match_number *numbers; /* [number_count], at most 64 */
    size_t number_count;
};

CLEAVE_API enum cleave_status cleave_matcher_new(const struct cleave_matcher_options *options,
                                                 struct cleave_matcher **out,
                                                 struct cleave_error *error);
/* NULL is fine. */
CLEAVE_API void cleave_matcher_free(struct cleave_matcher *matcher);
/* CLEAVE_BAD_INPUT says what is wrong with the query; CLEAVE_BAD_ARGUMENT: its id is taken, or 0.
 * About a microsecond. */
CLEAVE_API enum cleave_status cleave_matcher_add(struct cleave_matcher *matcher,
                                                 const struct cleave_match_query *query,
                                                 struct cleave_error *error);
/* CLEAVE_NOT_FOUND: there is none. */
CLEAVE_API enum cleave_status cleave_matcher_remove(struct cleave_matcher *matcher, uint64_t id,
                                                    struct cleave_error *error);
/* The ids of all queries that have the object, rising, in *ids [*count]: the matcher's, until its
 * next call. CLEAVE_BAD_INPUT: no place, or a text that is not UTF-8. */
CLEAVE_API enum cleave_status cleave_matcher_match(struct cleave_matcher *matcher,
                                                   const struct cleave_match_object *object,
                                                   const uint64_t **ids, size_t *count,
                                                   struct cleave_error *error);
CLEAVE_API size_t cleave_matcher_count(const struct cleave_matcher *matcher); /* of queries */
CLEAVE_API size_t cleave_matcher_bytes(const struct cleave_matcher *matcher); /* of memory */

#endif
