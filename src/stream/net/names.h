/* What the queries of a world are called: a message each in the stream
 * PREFIX-log-queries, of which the last one of each query is kept:
 *
 *     {"id": 4611686018427387904, "name": "harbour"}    or    {"id": 17,
 * "removed": true} */
#ifndef CLEAVE_STREAM_NET_NAMES_H
#define CLEAVE_STREAM_NET_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

struct cleave__net_session;
struct cleave__net_names;

/* Makes the stream, if it is not there. */
enum cleave_status cleave__net_names_stream(const struct cleave__net_session *session,
                                            struct cleave_error *error);
enum cleave_status cleave__net_names_open(const struct cleave__net_session *session,
                                          struct cleave__net_names **out,
                                          struct cleave_error *error);
/* `name` NULL: it is removed. Does not wait. */
enum cleave_status cleave__net_names_put(struct cleave__net_names *names, uint64_t id,
                                         const char *name, size_t length,
                                         struct cleave_error *error);
/* Waits until all are there, and frees. NULL is fine. */
enum cleave_status cleave__net_names_close(struct cleave__net_names *names,
                                           struct cleave_error *error);

#endif
