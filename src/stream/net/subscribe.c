/* An ordered consumer, made anew from the next message whenever the servers
 * lose it. */
#include "stream/net/subscribe.h"

#include <nats/nats.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/nats/jetstream.h"

enum { WAIT_MS = 100, SILENT_MS = 2000, AGAIN_MS = 250, NAME_BYTES = CLEAVE__SUBJECT_BYTES };

struct follower {
    const struct cleave__net_following *about;
    struct cleave__dial dial;
    jsCtx *js;
    natsSubscription *subscription;
    char stream[NAME_BYTES], subjects[NAME_BYTES];
    uint64_t next, last; /* sequence numbers: the next one wanted; until_end: the last one */
    uint64_t came_ms, asked_ms;
};

static bool stopped(const struct follower *f)
{
    const struct cleave_progress *progress = f->about->progress;
    return progress && progress->stop && *progress->stop;
}

/* What there is at the start. */
static enum cleave_status look(struct follower *f, struct cleave_error *error)
{
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    uint64_t began_ns = cleave__clock_ns();
    natsStatus s;
    while ((code = (jsErrCode)0, s = js_GetStreamInfo(&info, f->js, f->stream, NULL, &code)) &&
           !stopped(f) && cleave__stream_again(s, code, began_ns))
        ;
    if (s == NATS_NOT_FOUND)
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "there is no world '%s' on these servers (no stream %s): start its "
                                "balancer first",
                                f->about->nats->prefix, f->stream);
    if (s != NATS_OK)
        return cleave__stream_refused(error, s, code, f->stream);
    f->last = info->State.LastSeq;
    f->next = f->about->from ? f->about->from : f->last + 1;
    if (f->next < info->State.FirstSeq)
        f->next = info->State.FirstSeq;
    jsStreamInfo_Destroy(info);
    return CLEAVE_OK;
}

static void drop(struct follower *f)
{
    cleave__dial_unsubscribe(&f->dial, f->subscription);
    f->subscription = NULL;
}

/* False: not now. */
static bool subscribe(struct follower *f)
{
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = f->stream;
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = f->next;
    if (js_SubscribeSync(&f->subscription, f->js, f->subjects, NULL, &options, NULL) != NATS_OK)
        return false;
    natsSubscription_SetPendingLimits(f->subscription, -1, -1);
    f->came_ms = cleave__clock_ms();
    return true;
}

static enum cleave_status take(struct follower *f, natsMsg *message, struct cleave_error *error)
{
    jsMsgMetaData *meta = NULL;
    if (natsMsg_GetMetaData(&meta, message) != NATS_OK)
        return CLEAVE_OK; /* the servers' own word */
    uint64_t sequence = meta->Sequence.Stream;
    jsMsgMetaData_Destroy(meta);
    if (sequence < f->next)
        return CLEAVE_OK;
    f->next = sequence + 1;
    f->came_ms = cleave__clock_ms();
    const char *subject = strrchr(natsMsg_GetSubject(message), '.');
    return f->about->each(f->about->context, sequence, subject ? subject + 1 : "",
                          natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message), error);
}

static bool at_end(const struct follower *f, uint64_t since_ms)
{
    if (f->about->until_end && f->next > f->last)
        return true;
    return f->about->idle_ns && cleave__clock_ms() - since_ms >= f->about->idle_ns / 1000000;
}

/* Whether there is something that has not come: then the consumer may be gone.
 */
static bool lags(struct follower *f)
{
    jsStreamInfo *info = NULL;
    bool behind = true;
    if (js_GetStreamInfo(&info, f->js, f->stream, NULL, NULL) == NATS_OK)
        behind = info->State.LastSeq >= f->next;
    jsStreamInfo_Destroy(info);
    return behind;
}

static enum cleave_status follow(struct follower *f, struct cleave_error *error)
{
    uint64_t since_ms = cleave__clock_ms(); /* of the last message, or the start */
    enum cleave_status status = CLEAVE_OK;
    while (!status) {
        natsMsg *message = NULL;
        if (stopped(f))
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        if (at_end(f, since_ms))
            return CLEAVE_OK;
        if (!f->subscription && !subscribe(f)) {
            cleave__nap_ms(AGAIN_MS);
            continue;
        }
        natsStatus s = natsSubscription_NextMsg(&message, f->subscription, 0);
        if (s == NATS_TIMEOUT) {
            if (f->about->idle && !f->about->idle(f->about->context))
                return CLEAVE_OK;
            s = natsSubscription_NextMsg(&message, f->subscription, WAIT_MS);
        }
        if (s == NATS_OK) {
            status = take(f, message, error);
            natsMsg_Destroy(message);
            since_ms = f->came_ms;
        } else if (s != NATS_TIMEOUT) {
            drop(f);
            cleave__nap_ms(AGAIN_MS);
        } else if (cleave__clock_ms() - f->came_ms > SILENT_MS) {
            f->came_ms = cleave__clock_ms();
            if (lags(f))
                drop(f);
        }
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

enum cleave_status cleave__net_follow(const struct cleave__net_following *about,
                                      struct cleave_error *error)
{
    static const char *const logs[] = {"matches", "queries"};
    struct follower f = {.about = about};
    snprintf(f.subjects, sizeof f.subjects, "%s.l.%s.>", about->nats->prefix, logs[about->log]);
    cleave__nats_stream_name(about->nats->prefix, "log", logs[about->log], f.stream);
    enum cleave_status status = cleave__dial_open(&f.dial, about->nats, NULL, error);
    if (!status && natsConnection_JetStream(&f.js, f.dial.connection, NULL) != NATS_OK)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a subscription");
    if (!status)
        status = look(&f, error);
    if (!status)
        status = follow(&f, error);
    drop(&f);
    jsCtx_Destroy(f.js);
    cleave__dial_close(&f.dial);
    return status;
}
