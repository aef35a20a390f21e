#include "runtime/nats/bucket.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "runtime/nats/ask.h"

struct cleave__bucket {
    struct cleave__dial dial;
    jsCtx *js;
    kvStore *store;
    uint64_t patience_ns;
    bool alone;    /* one server has it */
    uint64_t last; /* the newest message of all keys that was heard of */
    char name[CLEAVE__SUBJECT_BYTES];
};

enum { PAUSE_MS = 100, ANSWER_MS = 2000 };
static const uint64_t patience_ns = UINT64_C(5000000000);

/* What the server has forbidden, which it says beside the answer that never comes; NULL: nothing.
 */
static const char *forbidden(const struct cleave__bucket *bucket)
{
    const char *text = NULL;
    if (!bucket->dial.connection ||
        natsConnection_GetLastError(bucket->dial.connection, &text) != NATS_NOT_PERMITTED)
        return NULL;
    return text && text[0] ? text : natsStatus_GetText(NATS_NOT_PERMITTED);
}

/* Nobody there, or no leader: may be over in a moment. False: it has been too long. */
static bool wait_for(const struct cleave__bucket *bucket, natsStatus status, uint64_t began_ns)
{
    if (!cleave__dial_passes(status) || forbidden(bucket) ||
        cleave__clock_ns() - began_ns > bucket->patience_ns)
        return false;
    cleave__nap_ms(PAUSE_MS);
    return true;
}

static enum cleave_status failed(const struct cleave__bucket *bucket, natsStatus status,
                                 jsErrCode code, struct cleave_error *error)
{
    char what[CLEAVE__SUBJECT_BYTES + 20];
    const char *text = forbidden(bucket);
    if (text)
        return cleave_error_set(error, CLEAVE_IO,
                                "the bucket %s: the NATS server does not permit it: %s; subjects "
                                "$JS.API.>, $KV.> and _INBOX.> are needed",
                                bucket->name, text);
    snprintf(what, sizeof what, "the bucket %s", bucket->name);
    return cleave__stream_refused(error, status, code, what);
}

enum cleave_status cleave__bucket_open(const struct cleave_nats_options *options, const char *name,
                                       bool make, struct cleave__bucket **out,
                                       struct cleave_error *error)
{
    struct cleave__bucket *bucket = calloc(1, sizeof *bucket);
    if (!bucket)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a bucket");
    bucket->patience_ns = options->patience_ns ? options->patience_ns : patience_ns;
    enum cleave_status status = cleave__dial_open(&bucket->dial, options, NULL, error);
    jsErrCode code = 0;
    if (!status) {
        cleave__nats_stream_name(bucket->dial.prefix, name, "", bucket->name);
        jsOptions asking;
        jsOptions_Init(&asking);
        asking.Wait = ANSWER_MS; /* so that patience is for several tries */
        natsStatus said = natsConnection_JetStream(&bucket->js, bucket->dial.connection, &asking);
        /* Whether JetStream is there at all is told more clearly so. */
        jsAccountInfo *account = NULL;
        uint64_t began_ns = cleave__clock_ns();
        while (!said && (said = js_GetAccountInfo(&account, bucket->js, NULL, &code)) &&
               (!code || code == JSClusterNotAvailErr) &&
               wait_for(bucket, code ? NATS_TIMEOUT : said, began_ns)) {
            said = NATS_OK; /* a cluster without a leader will have one */
            code = (jsErrCode)0;
        }
        jsAccountInfo_Destroy(account);
        kvConfig config;
        kvConfig_Init(&config);
        config.Bucket = bucket->name;
        config.StorageType = js_FileStorage;
        config.Replicas = options->replicas ? (int)options->replicas : 1;
        while (!said && (said = js_KeyValue(&bucket->store, bucket->js, bucket->name))) {
            if (said == NATS_NOT_FOUND && make)
                said = js_CreateKeyValue(&bucket->store, bucket->js, &config);
            if (!said || !wait_for(bucket, said, began_ns))
                break;
            said = NATS_OK;
        }
        kvStatus *about = NULL;
        if (!said && !kvStore_Status(&about, bucket->store))
            bucket->alone = kvStatus_Replicas(about) == 1;
        kvStatus_Destroy(about);
        /* One that is being made on a cluster has no leader to say so yet. */
        if (!make && !forbidden(bucket) && (said == NATS_NOT_FOUND || said == NATS_TIMEOUT))
            status =
                cleave_error_set(error, CLEAVE_NOT_FOUND, "there is no bucket %s", bucket->name);
        else if (said)
            status = failed(bucket, said, code, error);
    }
    if (status)
        cleave__bucket_close(bucket);
    else
        *out = bucket;
    return status;
}

void cleave__bucket_close(struct cleave__bucket *bucket)
{
    if (!bucket)
        return;
    kvStore_Destroy(bucket->store);
    jsCtx_Destroy(bucket->js);
    cleave__dial_close(&bucket->dial);
    free(bucket);
}

static natsStatus get(struct cleave__bucket *bucket, const char *key, struct cleave_writer *out,
                      uint64_t *revision)
{
    kvEntry *entry = NULL;
    natsStatus status;
    uint64_t began_ns = cleave__clock_ns();
    while ((status = kvStore_Get(&entry, bucket->store, key)) && wait_for(bucket, status, began_ns))
        ;
    if (status)
        return status;
    out->count = 0;
    out->failed = false;
    cleave__put_bytes(out, kvEntry_Value(entry), (size_t)kvEntry_ValueLen(entry));
    *revision = kvEntry_Revision(entry);
    kvEntry_Destroy(entry);
    return out->failed ? NATS_NO_MEMORY : NATS_OK;
}

enum cleave_status cleave__bucket_get(struct cleave__bucket *bucket, const char *key,
                                      struct cleave_writer *out, uint64_t *revision,
                                      struct cleave_error *error)
{
    natsStatus status = get(bucket, key, out, revision);
    if (status == NATS_NOT_FOUND)
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "the bucket %s has no '%s'", bucket->name,
                                key);
    return status ? failed(bucket, status, 0, error) : CLEAVE_OK;
}

/* Whether what could not be told to be done was: the value there now is ours, and newer. */
static natsStatus look_up(struct cleave__bucket *bucket, const char *key, const void *bytes,
                          size_t length, uint64_t last, uint64_t *revision, bool *done)
{
    struct cleave_writer there = {0};
    uint64_t at = 0;
    natsStatus status = get(bucket, key, &there, &at);
    *done = !status && at > last && there.count == length &&
            (!length || memcmp(there.data, bytes, length) == 0);
    if (*done)
        *revision = at;
    free(there.data);
    return status == NATS_NOT_FOUND ? NATS_OK : status;
}

/* The key's value, in place of the one of revision `last`.
 *
 * With replicas the server (2.9) compares a key's revision before it proposes a write, not when it
 * makes it: two that come together both win. It does compare the stream's last sequence number when
 * it makes it. So both are asked for, but of one server alone; where only the second was wrong,
 * another key was written meanwhile, and *passed is set: once more, behind `bucket->last`. */
static natsStatus replace(struct cleave__bucket *bucket, const char *key, const void *bytes,
                          size_t length, uint64_t last, uint64_t *now, bool *passed, bool *conflict)
{
    char subject[CLEAVE__SUBJECT_BYTES + 200];
    jsPubOptions options;
    jsPubAck *ack = NULL;
    jsErrCode code = 0;
    *passed = *conflict = false;
    snprintf(subject, sizeof subject, "$KV.%s.%s", bucket->name, key);
    jsPubOptions_Init(&options);
    if (bucket->last < last)
        bucket->last = last;
    options.ExpectLastSubjectSeq = last;
    if (!bucket->alone)
        options.ExpectLastSeq = bucket->last;
    natsStatus status = js_Publish(&ack, bucket->js, subject, bytes, (int)length, &options, &code);
    if (!status)
        *now = bucket->last = ack->Sequence;
    jsPubAck_Destroy(ack);
    const char *text = status ? nats_GetLastError(NULL) : NULL;
    const char *number = text ? strstr(text, "wrong last sequence: ") : NULL;
    if (number) {
        uint64_t said = strtoull(number + strlen("wrong last sequence: "), NULL, 10);
        kvEntry *entry = NULL;
        natsStatus got = kvStore_Get(&entry, bucket->store, key);
        *passed = !got && kvEntry_Revision(entry) == last;
        *conflict = got == NATS_NOT_FOUND || (!got && !*passed);
        kvEntry_Destroy(entry);
        if (said > bucket->last)
            bucket->last = said;
        if (got && !*conflict)
            return got;
    }
    return status;
}

enum { CROWD = 6, CROWD_NS = 500000, CROWD_MOST_NS = 64000000 };

/* Up to `*most`, which doubles: those that met part. */
static uint64_t crowd_pause_ns(uint64_t *most)
{
    uint64_t pause = cleave__mix64(cleave__clock_ns()) % *most;
    *most = *most * 2 < CROWD_MOST_NS ? *most * 2 : CROWD_MOST_NS;
    return pause;
}

size_t cleave__bucket_most(const struct cleave__bucket *bucket)
{
    return bucket->dial.payload_most - 1024;
}

/* `last` 0: it must not be there. */
static enum cleave_status change(struct cleave__bucket *bucket, const char *key, const void *bytes,
                                 size_t length, uint64_t last, uint64_t *revision,
                                 struct cleave_error *error)
{
    uint64_t began_ns = cleave__clock_ns();
    uint64_t pause_most_ns = CROWD_NS;
    bool unsure = false, done = false;
    if (length > cleave__bucket_most(bucket))
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the bucket %s: the value of %.40s has %zu bytes, which is too "
                                "large for the NATS server (max_payload): at most %zu",
                                bucket->name, key, length, cleave__bucket_most(bucket));
    for (;;) {
        uint64_t now = 0;
        bool passed = false, conflict = false;
        natsStatus status =
            last ? replace(bucket, key, bytes, length, last, &now, &passed, &conflict)
                 : kvStore_Create(&now, bucket->store, key, bytes, (int)length);
        if (!status) {
            *revision = now;
            return CLEAVE_OK;
        }
        /* Somebody else got on: only a crowd keeps this from coming to an end. */
        if (passed && cleave__clock_ns() - began_ns <= bucket->patience_ns * CROWD) {
            cleave__nap_ns(crowd_pause_ns(&pause_most_ns));
            continue;
        }
        const char *text = last ? NULL : nats_GetLastError(NULL);
        conflict = conflict ||
                   (text && (strstr(text, "wrong last sequence") || strstr(text, "key exists")));
        if (!conflict && !wait_for(bucket, status, began_ns))
            return failed(bucket, status, 0, error);
        if (!conflict) {
            unsure = true;
            continue;
        }
        if (unsure && (status = look_up(bucket, key, bytes, length, last, revision, &done)))
            return failed(bucket, status, 0, error);
        return done ? CLEAVE_OK
                    : cleave_error_set(error, CLEAVE_CONFLICT,
                                       "the bucket %s: '%s' was changed by somebody else",
                                       bucket->name, key);
    }
}

enum cleave_status cleave__bucket_create(struct cleave__bucket *bucket, const char *key,
                                         const void *bytes, size_t length, uint64_t *revision,
                                         struct cleave_error *error)
{
    return change(bucket, key, bytes, length, 0, revision, error);
}

enum cleave_status cleave__bucket_update(struct cleave__bucket *bucket, const char *key,
                                         const void *bytes, size_t length, uint64_t last,
                                         uint64_t *revision, struct cleave_error *error)
{
    return change(bucket, key, bytes, length, last, revision, error);
}

enum cleave_status cleave__bucket_remove(struct cleave__bucket *bucket, const char *key,
                                         struct cleave_error *error)
{
    natsStatus status;
    uint64_t began_ns = cleave__clock_ns();
    while ((status = kvStore_Delete(bucket->store, key)) && wait_for(bucket, status, began_ns))
        ;
    return status && status != NATS_NOT_FOUND ? failed(bucket, status, 0, error) : CLEAVE_OK;
}
