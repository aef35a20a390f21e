#include "stream/net/presence.h"

#include <inttypes.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "runtime/nats/dial.h"

enum {
    EVERY_MS = 2000,  /* between looks, and before the first */
    ANSWER_MS = 1000, /* how long answers are waited for */
    SLICE_MS = 50,
    SUBJECT_BYTES = 200,
    NAME_BYTES = 32,
    LIST_BYTES = 300,
    TOLD_MOST = 8
};

struct other {
    char name[NAME_BYTES];
    bool heard, missing;
    uint32_t silent; /* looks in a row without an answer */
    struct cleave_gauge *gauge;
};

struct cleave__net_presence {
    struct cleave__net_presence_options about;
    struct cleave__dial dial;
    natsSubscription *subscription;
    char subject[SUBJECT_BYTES], name[NAME_BYTES];
    struct other *others;
    uint32_t count;
    bool looked; /* once at least */
    struct cleave_gauge *missing;
    pthread_t thread;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t change;
    bool runs, over;
};

/* Somebody asks. */
static void answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                   void *closure)
{
    const struct cleave__net_presence *p = closure;
    const char *reply = natsMsg_GetReply(message);
    (void)subscription;
    if (reply)
        natsConnection_PublishString(connection, reply, p->name);
    natsMsg_Destroy(message);
}

static bool is_over(struct cleave__net_presence *p, long wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&p->lock);
    if (!p->over && wait_ms)
        pthread_cond_timedwait(&p->change, &p->lock, &until);
    bool over = p->over;
    pthread_mutex_unlock(&p->lock);
    return over;
}

/* Of those that are expected; false: all have answered. */
static bool hear(struct cleave__net_presence *p, const char *name, size_t length)
{
    bool all = true;
    for (uint32_t i = 0; i < p->count; i++) {
        struct other *o = &p->others[i];
        if (strlen(o->name) == length && !memcmp(o->name, name, length))
            o->heard = true;
        all = all && o->heard;
    }
    return !all;
}

/* Asks once. False: nothing was learnt. */
static bool ask(struct cleave__net_presence *p)
{
    natsConnection *connection = p->dial.connection;
    natsSubscription *answers = NULL;
    natsInbox *inbox = NULL;
    bool more = true, learnt = false;
    if (natsConnection_Status(connection) != NATS_CONN_STATUS_CONNECTED)
        return false;
    natsStatus s = natsInbox_Create(&inbox);
    if (!s)
        s = natsConnection_SubscribeSync(&answers, connection, inbox);
    if (!s)
        s = natsConnection_PublishRequestString(connection, p->subject, inbox, "");
    for (uint32_t i = 0; i < p->count; i++)
        p->others[i].heard = false;
    for (int waited = 0; !s && more && waited < ANSWER_MS && !is_over(p, 0);) {
        natsMsg *message = NULL;
        natsStatus got = natsSubscription_NextMsg(&message, answers, SLICE_MS);
        if (got == NATS_OK)
            more = hear(p, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
        else if (got == NATS_TIMEOUT)
            waited += SLICE_MS;
        else if (got == NATS_NO_RESPONDERS)
            break; /* not one is there */
        else
            s = got;
        natsMsg_Destroy(message);
    }
    /* A server that went away meanwhile says nothing of the others. */
    learnt = !s && natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED;
    cleave__dial_unsubscribe(&p->dial, answers);
    natsInbox_Destroy(inbox);
    return learnt;
}

static void count_missing(struct cleave__net_presence *p, struct other *o)
{
    const struct cleave_label label = {"process", o->name};
    if (p->about.metrics && !o->gauge)
        cleave__metrics_gauge(
            p->about.metrics,
            &(struct cleave_metric){.name = "cleave_stream_process_missing",
                                    .help = "1 while this process of the world does not answer"},
            &label, 1, &o->gauge, NULL);
    cleave__gauge_set(o->gauge, o->missing);
}

/* Tells what has changed. Who was there is missing after two looks in vain. */
static void judge(struct cleave__net_presence *p)
{
    char names[LIST_BYTES] = "";
    size_t length = 0;
    uint32_t missing = 0;
    bool changed = false;
    for (uint32_t i = 0; i < p->count; i++) {
        struct other *o = &p->others[i];
        o->silent = o->heard ? 0 : o->silent + 1;
        bool now = o->silent >= (p->looked ? 2 : 1) || (o->missing && o->silent);
        if (now != o->missing) {
            o->missing = now;
            changed = true;
            count_missing(p, o);
        }
        if (o->missing && missing++ < TOLD_MOST)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length ? ", " : "", o->name);
    }
    if (missing > TOLD_MOST)
        snprintf(names + length, sizeof names - length, " and %" PRIu32 " more",
                 missing - TOLD_MOST);
    p->looked = true;
    cleave__gauge_set(p->missing, missing);
    if (changed && p->about.missing)
        p->about.missing(p->about.context, missing ? names : NULL);
}

static void *watch(void *context)
{
    struct cleave__net_presence *p = context;
    while (!is_over(p, EVERY_MS)) {
        if (ask(p) && !is_over(p, 0))
            judge(p);
    }
    return NULL;
}

static void expect(struct cleave__net_presence *p, const char *kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct other *o = &p->others[p->count];
        snprintf(o->name, sizeof o->name, "%s %" PRIu32, kind, i);
        if (strcmp(o->name, p->name) != 0)
            p->count++;
    }
}

enum cleave_status cleave__net_presence_open(const struct cleave__net_presence_options *options,
                                             struct cleave__net_presence **out,
                                             struct cleave_error *error)
{
    const struct cleave__net_world *w = &options->session->world;
    struct cleave__net_presence *p = calloc(1, sizeof *p);
    struct other *others = calloc((size_t)w->evaluators + w->routers + 3, sizeof *others);
    if (!p || !others) {
        free(p);
        free(others);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a look at the others");
    }
    p->about = *options;
    p->others = others;
    snprintf(p->name, sizeof p->name, "%.30s", options->name ? options->name : "");
    snprintf(p->subject, sizeof p->subject, "%.150s.here", options->session->nats.prefix);
    expect(p, "balancer", 1);
    expect(p, "router", w->routers);
    expect(p, "evaluator", w->evaluators);
    expect(p, "tracker", w->track);
    memset(&p->others[p->count], 0, sizeof *p->others);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, NULL);
    enum cleave_status status = cleave__dial_open(&p->dial, &options->session->nats, NULL, error);
    if (!status && options->name) {
        natsStatus s =
            natsConnection_Subscribe(&p->subscription, p->dial.connection, p->subject, answer, p);
        if (!s)
            s = cleave__dial_sync(&p->dial);
        if (s)
            status = cleave__dial_error(error, s, p->subject);
    }
    if (!status && options->metrics && options->missing)
        status = cleave__metrics_gauge(
            options->metrics,
            &(struct cleave_metric){.name = "cleave_stream_processes_missing",
                                    .help = "Processes of the world that do not answer"},
            NULL, 0, &p->missing, error);
    if (!status && options->missing) {
        p->runs = pthread_create(&p->thread, NULL, watch, p) == 0;
        if (!p->runs)
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no thread to look at the others");
    }
    if (status)
        cleave__net_presence_close(p);
    else
        *out = p;
    return status;
}

void cleave__net_presence_close(struct cleave__net_presence *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
    if (p->runs)
        pthread_join(p->thread, NULL);
    if (p->dial.connection)
        natsConnection_Close(p->dial.connection); /* no callback is under way afterwards */
    natsSubscription_Destroy(p->subscription);
    cleave__dial_close(&p->dial);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    free(p->others);
    free(p);
}

void cleave__net_presence_server(const struct cleave__net_presence *p, char *out, size_t size)
{
    char url[200] = "";
    natsConnection_GetConnectedUrl(p->dial.connection, url, sizeof url);
    cleave__dial_url(url, out, size);
}
