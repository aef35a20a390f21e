/* Streams of JetStream: their names, that one is there, and one clear line for what is refused. */
#ifndef CLEAVE_RUNTIME_NATS_JETSTREAM_H
#define CLEAVE_RUNTIME_NATS_JETSTREAM_H

#include "runtime/nats/dial.h"

enum { CLEAVE__SUBJECT_BYTES = 200 };

/* PREFIX-KIND-NAME, or PREFIX-KIND for an empty name; CLEAVE__SUBJECT_BYTES. */
void cleave__nats_stream_name(const char *prefix, const char *kind, const char *name, char *out);

struct cleave__stream_wish {
    char name[CLEAVE__SUBJECT_BYTES], subject[CLEAVE__SUBJECT_BYTES];
    uint64_t window_ns; /* how long ids are known; 0: as the servers have it */
    bool rolls_up;
    bool last_only; /* of each subject, its last message */
};

/* Makes sure that a stream is there: one that is stays as somebody wanted it. Waits for servers
 * that go and come back, and for a leader. */
enum cleave_status cleave__stream_make(const struct cleave__dial *dial, jsCtx *js,
                                       const struct cleave__stream_wish *wish,
                                       struct cleave_error *error);

/* Waits a little and returns true, if it is worth while to try again what was first tried at
 * `began_ns`. */
bool cleave__stream_again(natsStatus status, jsErrCode code, uint64_t began_ns);

/* Fills `error` for what JetStream says no to. */
enum cleave_status cleave__stream_refused(struct cleave_error *error, natsStatus status,
                                          jsErrCode code, const char *what);

#endif
