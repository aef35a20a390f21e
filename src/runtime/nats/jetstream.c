#include "runtime/nats/jetstream.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { PAUSE_MS = 100 };

void cleave__nats_stream_name(const char *prefix, const char *kind, const char *name, char *out)
{
    snprintf(out, CLEAVE__SUBJECT_BYTES, "%s-%s%s%s", prefix, kind, name[0] ? "-" : "", name);
    for (char *c = out; *c; c++)
        *c = *c == '.' ? '-' : *c;
}

enum cleave_status cleave__stream_refused(struct cleave_error *error, natsStatus status,
                                          jsErrCode code, const char *what)
{
    switch (code) {
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "%s: JetStream is off on the NATS server: start it with -js, or "
                                "`jetstream {}` in its configuration",
                                what);
    case JSStreamReplicasNotSupportedErr:
    case JSClusterNoPeersErr:
        return cleave_error_set(error, CLEAVE_UNSATISFIABLE,
                                "%s: the NATS cluster has too few servers with JetStream for so "
                                "many replicas",
                                what);
    case JSInsufficientResourcesErr:
    case JSStorageResourcesExceededErr:
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "%s: the NATS server has no storage left for it", what);
    default:
        if (status == NATS_NO_RESPONDERS)
            return cleave__stream_refused(error, status, JSNotEnabledErr, what);
        const char *detail = nats_GetLastError(NULL); /* buckets give no code */
        if (detail && strstr(detail, "replicas > 1 not supported"))
            return cleave__stream_refused(error, status, JSStreamReplicasNotSupportedErr, what);
        return cleave__dial_error(error, status, what);
    }
}

/* For how long it is worth while to try again: a cluster that has just begun has no leader yet, or
 * not all its servers. */
static uint64_t patience_ns(natsStatus status, jsErrCode code)
{
    const uint64_t second = 1000000000;
    if (code == JSClusterNoPeersErr || (!code && status == NATS_NO_RESPONDERS))
        return 2 * second; /* or there never will be any */
    bool passes = code == JSClusterNotAvailErr || (!code && cleave__dial_passes(status));
    return passes ? 15 * second : 0;
}

bool cleave__stream_again(natsStatus status, jsErrCode code, uint64_t began_ns)
{
    if (cleave__clock_ns() - began_ns >= patience_ns(status, code))
        return false;
    cleave__nap_ms(PAUSE_MS);
    return true;
}

enum cleave_status cleave__stream_make(const struct cleave__dial *dial, jsCtx *js,
                                       const struct cleave__stream_wish *wish,
                                       struct cleave_error *error)
{
    const char *subjects[] = {wish->subject};
    char what[CLEAVE__SUBJECT_BYTES + 20];
    jsStreamConfig stream;
    jsErrCode code = 0;
    jsStreamConfig_Init(&stream);
    stream.Name = wish->name;
    stream.Subjects = subjects;
    stream.SubjectsLen = 1;
    stream.Storage = js_FileStorage;
    stream.Replicas = dial->options->replicas ? dial->options->replicas : 1;
    stream.Duplicates = (int64_t)wish->window_ns;
    stream.AllowRollup = wish->rolls_up;
    if (wish->last_only)
        stream.MaxMsgsPerSubject = 1;
    uint64_t began_ns = cleave__clock_ns();
    natsStatus status;
    while ((code = (jsErrCode)0, status = js_AddStream(NULL, js, &stream, NULL, &code)) &&
           cleave__stream_again(status, code, began_ns))
        ;
    if (status && code == JSStreamNameExistErr) {
        /* There already, with other replicas or another window. */
        while (
            (code = (jsErrCode)0, status = js_GetStreamInfo(NULL, js, wish->name, NULL, &code)) &&
            cleave__stream_again(status, code, began_ns))
            ;
    }
    snprintf(what, sizeof what, "the stream %s", wish->name);
    return status ? cleave__stream_refused(error, status, code, what) : CLEAVE_OK;
}
