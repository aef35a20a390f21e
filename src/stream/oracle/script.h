/* A script of objects and changes of queries, and what must be reported of it.
 *
 * It is the feed of a run, notes when each thing was sent and acknowledged, and holds the run's
 * matches against an unsharded matcher that has every query: a pair that matches
 *   must be reported   if the query was acknowledged before the object was sent, and its removal
 *                      was not sent before the object was acknowledged,
 *   must not           if the object was acknowledged before the query was sent, or the query's
 *                      removal before the object was sent,
 *   may be             else, once. */
#ifndef CLEAVE_STREAM_ORACLE_SCRIPT_H
#define CLEAVE_STREAM_ORACLE_SCRIPT_H

#include "stream/index/matcher.h"
#include "stream/serve/serve.h"

struct cleave__scripted_object {
    struct cleave__object object;
    uint64_t sent, acknowledged;
};

struct cleave__scripted_query { /* from one storing to its removal */
    struct cleave__query query;
    uint64_t sent, acknowledged, removal_sent, removed; /* 0: not */
};

struct cleave__stream_script_item {
    enum cleave__feed_kind kind;
    uint32_t index; /* of objects or queries */
};

struct cleave__stream_script {
    const struct cleave__space *space;
    struct cleave_arena arena; /* of arrays */
    CLEAVE_VECTOR(struct cleave__stream_script_item) items;
    CLEAVE_VECTOR(struct cleave__scripted_object) objects; /* of number i + 1 */
    CLEAVE_VECTOR(struct cleave__scripted_query) queries;
    /* By id: 1 + index of the query that has it, 0: none; in the script, when drawn, when sent,
     * when its removal is drawn. */
    CLEAVE_VECTOR(uint32_t) live, drawn, sent, removing;
    size_t at;
};

/* Starts as all zeroes but for `space`. */
void cleave__stream_script_free(struct cleave__stream_script *script);
/* Copies are kept. False: memory is out. Objects get their numbers here; ids of queries are small;
 * a query that is stored again must have been removed, one that is removed be there. */
bool cleave__stream_script_object(struct cleave__stream_script *script,
                                  const struct cleave__object *object);
bool cleave__stream_script_store(struct cleave__stream_script *script,
                                 const struct cleave__query *query);
bool cleave__stream_script_remove(struct cleave__stream_script *script, uint64_t id);
bool cleave__stream_script_wait(struct cleave__stream_script *script);

/* Give `script` as the feed. */
extern const struct cleave__feed_ops cleave__stream_script_feed;

struct cleave__stream_script_check {
    uint64_t must, may;           /* pairs that had to be reported; that could */
    uint64_t missing, unexpected; /* pairs */
    char wrong[200];              /* of the first that is wrong */
};

/* After a run that kept its matches. O(matcher). */
enum cleave_status cleave__stream_script_check(const struct cleave__stream_script *script,
                                               const struct cleave__streamed *streamed,
                                               const struct cleave__matcher_ops *matcher,
                                               struct cleave__stream_script_check *out,
                                               struct cleave_error *error);

#endif
