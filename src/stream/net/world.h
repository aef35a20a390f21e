/* What all processes of a stream's world on NATS agree on: its space, who is at
 * work, how queries are spread at first. It stands in the world's key-value
 * bucket, as JSON, under the key `world`; who creates it decides, all others
 * take it from there.
 *
 *     {"version": 2, "space": "globe", "bounds": [-180, -90, 180, 90], "grid":
 * [64, 64], "evaluators": 4, "routers": 2, "publishers": 16, "matcher":
 * "index", "summary": "forward", "balance": "adaptive", "balance_every_ns":
 * ..., "beta": 1, "batch": 256, "window": 8, "retry_ns": ..., "replicas": 3,
 * "track": false, "word_bytes": 32768, "partitions": [[x0, y0, x1, y1] or null, ...]} */
#ifndef CLEAVE_STREAM_NET_WORLD_H
#define CLEAVE_STREAM_NET_WORLD_H

#include "stream/serve/serve.h"

enum { CLEAVE__PUBLISHERS_MOST = 256 };

struct cleave__net_world {
    struct cleave__space space;
    struct cleave__grid grid;
    uint32_t evaluators, routers, publishers;
    const struct cleave__matcher_ops *matcher;
    enum cleave__streaming_summary summary;
    enum cleave__streaming_balance balance;
    uint64_t balance_every_ns;
    double beta;
    uint32_t batch, window;
    uint64_t retry_ns;
    uint32_t replicas;
    bool track;                       /* there is a tracker: who enters and leaves is told */
    uint32_t word_bytes;              /* of a full chunk of words (dictionary.h) */
    struct cleave__cells *partitions; /* [evaluators], malloc'd */
};

void cleave__net_world_free(struct cleave__net_world *world);
/* malloc'd text. */
enum cleave_status cleave__net_world_write(const struct cleave__net_world *world, char **out,
                                           struct cleave_error *error);
/* CLEAVE_BAD_INPUT says what is wrong, key by key. The caller frees `out`. */
enum cleave_status cleave__net_world_read(const char *text, size_t length,
                                          struct cleave__net_world *out,
                                          struct cleave_error *error);
/* Fills what is of the world in; borrowed from it: space, partitions. */
void cleave__net_world_streaming(const struct cleave__net_world *world,
                                 struct cleave__streaming *out);
/* The map of now alone: the same text as `partitions` above. */
enum cleave_status cleave__net_map_write(const struct cleave__cells *cells, uint32_t count,
                                         char **out, struct cleave_error *error);

#endif
