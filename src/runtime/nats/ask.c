#include "runtime/nats/ask.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { FIRST_DELAY_NS = 250000000, MOST_DELAY_NS = 2000000000 };

void cleave__ask_free(struct cleave__ask *ask)
{
    free(ask->bytes);
    free(ask);
}

void cleave__asks_free(struct cleave__nats *nats)
{
    size_t at = 0;
    uint64_t token, value;
    while (cleave__map_next(&nats->asks, &at, &token, &value))
        cleave__ask_free((struct cleave__ask *)(uintptr_t)value);
    cleave__map_free(&nats->asks);
}

/* ---- out ---- */

static natsStatus set_number(natsMsg *message, const char *header, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return natsMsgHeader_Set(message, header, text);
}

/* A message of its own, so that the ask may be answered and freed as soon as it has left. */
static natsMsg *make_message(const struct cleave__ask *ask)
{
    struct cleave__nats *nats = ask->nats;
    char reply[CLEAVE__SUBJECT_BYTES];
    natsMsg *message = NULL;
    snprintf(reply, sizeof reply, "%s.r.%" PRIu64 ".%" PRIu64, nats->dial.prefix, nats->life,
             ask->token);
    natsStatus s =
        natsMsg_Create(&message, ask->subject, reply, (const char *)ask->bytes, (int)ask->size);
    if (!s && ask->id[0])
        s = natsMsgHeader_Set(message, "Nats-Msg-Id", ask->id);
    if (!s && ask->expects)
        s = set_number(message, "Nats-Expected-Last-Sequence", ask->expected);
    if (!s && ask->rolls_up)
        s = natsMsgHeader_Set(message, "Nats-Rollup", "sub");
    if (!s)
        return message;
    natsMsg_Destroy(message);
    cleave__runtime_no_memory(nats->crew.runtime);
    return NULL;
}

static void send_message(struct cleave__nats *nats, natsMsg *message)
{
    natsStatus s = message ? natsConnection_PublishMsg(nats->dial.connection, message) : NATS_OK;
    if (s == NATS_NO_MEMORY)
        cleave__runtime_no_memory(nats->crew.runtime);
    else if (s == NATS_MAX_PAYLOAD)
        cleave__nats_fail(nats, CLEAVE_LIMIT,
                          "a message of %d bytes to %s is too large for the NATS server",
                          natsMsg_GetDataLength(message), natsMsg_GetSubject(message));
    /* Whatever else it is, it is sent again. */
    natsMsg_Destroy(message);
}

void cleave__ask_begin(struct cleave__ask *ask)
{
    struct cleave__nats *nats = ask->nats;
    natsMsg *message = NULL;
    atomic_fetch_add(&nats->crew.active, 1);
    pthread_mutex_lock(&nats->asks_lock);
    ask->token = ++nats->asks_made;
    ask->delay_ns = FIRST_DELAY_NS;
    ask->at_ns = cleave__crew_now_ns(&nats->crew) + ask->delay_ns;
    uint64_t *slot = cleave__map_put(&nats->asks, ask->token);
    if (slot) {
        *slot = (uintptr_t)ask;
        message = make_message(ask);
    }
    pthread_mutex_unlock(&nats->asks_lock);
    if (slot) {
        send_message(nats, message);
    } else {
        cleave__runtime_no_memory(nats->crew.runtime);
        cleave__ask_free(ask);
    }
}

void cleave__asks_repeat(struct cleave__nats *nats)
{
    uint64_t now_ns = cleave__crew_now_ns(&nats->crew), token, value;
    size_t at = 0;
    pthread_mutex_lock(&nats->asks_lock);
    while (cleave__map_next(&nats->asks, &at, &token, &value)) {
        struct cleave__ask *ask = (struct cleave__ask *)(uintptr_t)value;
        if (ask->at_ns > now_ns)
            continue;
        ask->delay_ns = ask->delay_ns * 2 < MOST_DELAY_NS ? ask->delay_ns * 2 : MOST_DELAY_NS;
        ask->at_ns = now_ns + ask->delay_ns;
        send_message(nats, make_message(ask));
    }
    pthread_mutex_unlock(&nats->asks_lock);
}

void cleave__asks_finish(struct cleave__nats *nats, uint64_t most_ns)
{
    uint64_t until_ns = cleave__crew_now_ns(&nats->crew) + most_ns;
    size_t left = 1;
    while (left && cleave__crew_now_ns(&nats->crew) < until_ns) {
        pthread_mutex_lock(&nats->asks_lock);
        left = nats->asks.count;
        pthread_mutex_unlock(&nats->asks_lock);
        if (left)
            cleave__nap_ns(200000);
    }
}

/* ---- in ---- */

enum verdict { ANSWERED, AGAIN, STRANGE /* not of JetStream: as none */, REFUSED };
/* Of servers after those that libnats knows: 409, the same id is under way; as WrongLastSequence,
 * which does not say what it is. */
enum { DUPLICATE_UNDER_WAY = 10158, WRONG_LAST_SEQUENCE = 10164 };

/* What the server says; the text of a refusal into `text`. */
static enum verdict read_ack(const char *bytes, size_t size, struct cleave__ack *ack, char *text,
                             size_t text_size)
{
    json_error_t wrong;
    json_t *root = json_loadb(bytes, size, 0, &wrong);
    json_t *error = json_object_get(root, "error");
    enum verdict verdict = ANSWERED;
    bool says = error ? json_is_integer(json_object_get(error, "code"))
                      : json_integer_value(json_object_get(root, "seq")) > 0 ||
                            json_is_true(json_object_get(root, "success"));
    if (!says) {
        verdict = STRANGE;
    } else if (error) {
        json_int_t code = json_integer_value(json_object_get(error, "code"));
        json_int_t detail = json_integer_value(json_object_get(error, "err_code"));
        const char *said = json_string_value(json_object_get(error, "description"));
        ack->conflict = detail == JSStreamWrongLastSequenceErr || detail == WRONG_LAST_SEQUENCE;
        /* Without a leader, or starting. */
        bool passes = code == 503 && detail != JSInsufficientResourcesErr &&
                      detail != JSStorageResourcesExceededErr && detail != JSStreamStoreFailedErr;
        passes = passes || detail == DUPLICATE_UNDER_WAY;
        verdict = ack->conflict ? ANSWERED : passes ? AGAIN : REFUSED;
        bool full = detail == JSInsufficientResourcesErr ||
                    detail == JSStorageResourcesExceededErr || detail == JSStreamStoreFailedErr;
        snprintf(text, text_size, "%.100s%s", said ? said : "without a reason",
                 full ? ": make room on the servers (disk, max_file_store), and start this again"
                      : "");
    } else {
        json_int_t sequence = json_integer_value(json_object_get(root, "seq"));
        ack->sequence = sequence > 0 ? (uint64_t)sequence : 0;
        ack->known = json_is_true(json_object_get(root, "duplicate"));
    }
    json_decref(root);
    return verdict;
}

/* The token is the last part of the subject. */
static uint64_t token_of(const natsMsg *message)
{
    const char *dot = strrchr(natsMsg_GetSubject(message), '.');
    return dot ? strtoull(dot + 1, NULL, 10) : 0;
}

void cleave__asks_arrive(natsConnection *connection, natsSubscription *subscription,
                         natsMsg *message, void *closure)
{
    struct cleave__nats *nats = ((struct cleave__ear *)closure)->nats;
    struct cleave__ack ack = {0};
    char text[200] = "";
    (void)connection, (void)subscription;
    enum verdict verdict =
        natsMsg_IsNoResponders(message)
            ? AGAIN
            : read_ack(natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message), &ack, text,
                       sizeof text);
    uint64_t token = token_of(message);
    natsMsg_Destroy(message);
    pthread_mutex_lock(&nats->asks_lock);
    uint64_t *slot = cleave__map_find(&nats->asks, token);
    struct cleave__ask *ask = slot ? (struct cleave__ask *)(uintptr_t)*slot : NULL;
    bool told = verdict == ANSWERED || verdict == REFUSED;
    if (ask && told)
        cleave__map_remove(&nats->asks, token);
    pthread_mutex_unlock(&nats->asks_lock);
    if (verdict == STRANGE)
        cleave__nats_refuse(nats);
    if (!ask || !told)
        return;
    if (verdict == REFUSED)
        cleave__nats_fail(nats, CLEAVE_IO, "JetStream refuses a message to %s: %s", ask->subject,
                          text);
    else
        ask->done(ask, &ack);
    cleave__ask_free(ask);
    if (atomic_fetch_sub(&nats->crew.active, 1) == 1)
        cleave__crew_call(&nats->crew);
}
