/* A JetStream key-value bucket: small values that several processes agree on (the partition map,
 * who has which seat), changed by compare-and-set on a revision.
 *
 * A change whose acknowledgement is lost is looked up, not guessed: what these say about a change
 * is so. A get may be answered by a replica that is a moment behind, on which an update then meets
 * CLEAVE_CONFLICT: get again.
 *
 * Thread rule: one thread at a time. Each call goes to the server and back (some 0.1 ms, with three
 * replicas 1 ms), and again for `patience_ns` (0: 5 s) while there is none. */
#ifndef CLEAVE_RUNTIME_NATS_BUCKET_H
#define CLEAVE_RUNTIME_NATS_BUCKET_H

#include "base/bytes.h"
#include "cleave/status.h"
#include "runtime/nats/options.h"

struct cleave__bucket;

/* PREFIX-NAME. If it is not there it is made, or (not `make`) it is CLEAVE_NOT_FOUND. `options` are
 * borrowed until closed. */
enum cleave_status cleave__bucket_open(const struct cleave_nats_options *options, const char *name,
                                       bool make, struct cleave__bucket **out,
                                       struct cleave_error *error);
/* Bytes that a value has at most. */
size_t cleave__bucket_most(const struct cleave__bucket *bucket);
void cleave__bucket_close(struct cleave__bucket *bucket);

/* The value into `out`, which is emptied first, and its revision. CLEAVE_NOT_FOUND: no such key. */
enum cleave_status cleave__bucket_get(struct cleave__bucket *bucket, const char *key,
                                      struct cleave_writer *out, uint64_t *revision,
                                      struct cleave_error *error);
/* CLEAVE_CONFLICT: there already. */
enum cleave_status cleave__bucket_create(struct cleave__bucket *bucket, const char *key,
                                         const void *bytes, size_t length, uint64_t *revision,
                                         struct cleave_error *error);
/* CLEAVE_CONFLICT: its revision is not `last` any more. */
enum cleave_status cleave__bucket_update(struct cleave__bucket *bucket, const char *key,
                                         const void *bytes, size_t length, uint64_t last,
                                         uint64_t *revision, struct cleave_error *error);
/* Nothing happens if it is not there. */
enum cleave_status cleave__bucket_remove(struct cleave__bucket *bucket, const char *key,
                                         struct cleave_error *error);

#endif
