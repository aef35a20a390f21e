#include "stream/net/names.h"

#include <inttypes.h>
#include <jansson.h>
#include <nats/nats.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json.h"
#include "runtime/nats/jetstream.h"
#include "stream/net/process.h"

enum { UNDER_WAY_MOST = 4096, WAIT_MS = 30000, TRIES_MOST = 5 };

struct cleave__net_names {
    struct cleave__dial dial;
    jsCtx *js;
    const char *prefix;
    atomic_uint refused; /* that the servers did not take, again and again */
};

/* A message that was not taken is sent again, as it is; a few times. */
static void refused(jsCtx *js, jsPubAckErr *about, void *context)
{
    struct cleave__net_names *names = context;
    natsMsg *message = about->Msg;
    const char *tries = NULL;
    char next[2] = "1";
    if (natsMsgHeader_Get(message, "Cleave-Try", &tries) == NATS_OK && tries)
        next[0] = (char)(tries[0] + 1);
    if (next[0] > '0' + TRIES_MOST) {
        atomic_fetch_add(&names->refused, 1);
        return;
    }
    natsMsgHeader_Set(message, "Cleave-Try", next);
    if (js_PublishMsgAsync(js, &about->Msg, NULL) != NATS_OK)
        atomic_fetch_add(&names->refused, 1);
}

static enum cleave_status failed(const struct cleave__net_names *names, const char *why,
                                 struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_IO, "the names of queries in world '%s': %s",
                            names->prefix, why);
}

enum cleave_status cleave__net_names_open(const struct cleave__net_session *session,
                                          struct cleave__net_names **out,
                                          struct cleave_error *error)
{
    struct cleave__net_names *names = calloc(1, sizeof *names);
    jsOptions options;
    if (!names)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for names");
    names->prefix = session->nats.prefix;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = UNDER_WAY_MOST;
    options.PublishAsync.ErrHandler = refused;
    options.PublishAsync.ErrHandlerClosure = names;
    enum cleave_status status = cleave__dial_open(&names->dial, &session->nats, NULL, error);
    if (!status &&
        natsConnection_JetStream(&names->js, names->dial.connection, &options) != NATS_OK)
        status = failed(names, "no memory", error);
    if (status)
        cleave__net_names_close(names, NULL);
    else
        *out = names;
    return status;
}

enum cleave_status cleave__net_names_put(struct cleave__net_names *names, uint64_t id,
                                         const char *name, size_t length,
                                         struct cleave_error *error)
{
    char subject[300];
    json_t *root = json_object();
    json_object_set_new(root, "id", cleave__json_unsigned(id));
    json_object_set_new(root, name ? "name" : "removed",
                        name ? cleave__json_text(name, length) : json_true());
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (!text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for names");
    if (strlen(text) > names->dial.payload_most - 1024) {
        free(text);
        return cleave_error_set(error, CLEAVE_LIMIT,
                                "the query '%.40s...' has a name of %zu bytes: too long for a "
                                "message of the NATS servers (max_payload)",
                                name ? name : "", length);
    }
    snprintf(subject, sizeof subject, "%.200s.l.queries.%" PRIu64, names->prefix, id);
    natsStatus s = js_PublishAsync(names->js, subject, text, (int)strlen(text), NULL);
    free(text);
    return s == NATS_OK ? CLEAVE_OK : failed(names, natsStatus_GetText(s), error);
}

enum cleave_status cleave__net_names_close(struct cleave__net_names *names,
                                           struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    if (!names)
        return CLEAVE_OK;
    if (names->js && error) {
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = WAIT_MS;
        natsStatus s = js_PublishAsyncComplete(names->js, &options);
        if (s != NATS_OK)
            status = failed(names, natsStatus_GetText(s), error);
        else if (atomic_load(&names->refused))
            status = failed(names, "the servers did not take them all; try again", error);
    }
    jsCtx_Destroy(names->js);
    cleave__dial_close(&names->dial);
    free(names);
    return status;
}

enum cleave_status cleave__net_names_stream(const struct cleave__net_session *session,
                                            struct cleave_error *error)
{
    struct cleave__net_names *names;
    struct cleave__stream_wish wish = {.last_only = true};
    enum cleave_status status = cleave__net_names_open(session, &names, error);
    if (status)
        return status;
    cleave__nats_stream_name(names->prefix, "log", "queries", wish.name);
    snprintf(wish.subject, sizeof wish.subject, "%.180s.l.queries.>", names->prefix);
    status = cleave__stream_make(&names->dial, names->js, &wish, error);
    cleave__net_names_close(names, NULL);
    return status;
}
