/* What the processes of a graph's world agree on: whose list is where, how many of each kind there
 * are, and that it is the same graph. Whoever starts first writes it down for the others; after
 * that it stays. Its hash is a part of the world's subjects, so that processes which agree on
 * something else never hear each other.
 *
 * Bytes (little-endian): u32 magic, u32 version, u64 fingerprint of the graph, u32 vertices,
 * shards, coordinators, clients, mailbox_most, u64 retry_ns, retry_most_ns, u8 width of an owner
 * (1, 2, 4), the owners. */
#ifndef CLEAVE_GRAPH_SERVE_AGREEMENT_H
#define CLEAVE_GRAPH_SERVE_AGREEMENT_H

#include "base/bytes.h"
#include "graph/serve/serve.h"

enum { CLEAVE__SEATS_MOST = 10000 }; /* of a kind */

struct cleave__agreement {
    uint64_t fingerprint;
    uint32_t vertices, shards, coordinators, clients, mailbox_most;
    uint64_t retry_ns, retry_most_ns;
    uint32_t *owner; /* [vertices]; malloc'd */
};

/* Of its edges, ids and labels; the same on every machine. O(vertices + edges). */
uint64_t cleave__graph_fingerprint(const struct cleave__graph *graph);

void cleave__agreement_free(struct cleave__agreement *agreement);
void cleave__agreement_write(const struct cleave__agreement *agreement, struct cleave_writer *to);
/* CLEAVE_CORRUPT: these are no such bytes; CLEAVE_BAD_INPUT: they are another graph's. */
enum cleave_status cleave__agreement_read(const uint8_t *bytes, size_t length,
                                          const struct cleave__graph *graph,
                                          struct cleave__agreement *out,
                                          struct cleave_error *error);
uint64_t cleave__agreement_hash(const uint8_t *bytes, size_t length);
/* Into a serving of a process of this world; borrows the owners. */
void cleave__agreement_apply(const struct cleave__agreement *agreement,
                             struct cleave__serving *serving);

#endif
