/* The nats transport's operations: a crew, a connection, and a subscription for each actor. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "runtime/nats/saved.h"

void cleave__nats_fail(struct cleave__nats *nats, enum cleave_status status, const char *format,
                       ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cleave__runtime_fail(nats->crew.runtime, status, "%s", text);
    cleave__crew_call(&nats->crew);
}

/* ---- what the library tells ---- */

void cleave__nats_superseded(struct cleave__nats *nats, const struct cleave__actor *actor)
{
    cleave__nats_fail(nats, CLEAVE_CONFLICT,
                      "%s: another process that began later is this actor now; this one stops",
                      actor->name);
}

static void on_disconnected(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    atomic_store(&nats->disconnects, true);
    atomic_store(&nats->disconnected_ns, cleave__crew_now_ns(&nats->crew) + 1);
}

static void on_reconnected(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    atomic_store(&nats->disconnected_ns, 0);
    cleave__nats_mark(nats);
}

static void on_closed(natsConnection *connection, void *closure)
{
    struct cleave__nats *nats = closure;
    (void)connection;
    if (!atomic_load(&nats->closing))
        cleave__nats_fail(nats, CLEAVE_IO, "the NATS servers refuse to take the connection back");
    pthread_mutex_lock(&nats->ears_lock);
    nats->closed = true;
    pthread_cond_broadcast(&nats->ears_change);
    pthread_mutex_unlock(&nats->ears_lock);
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
                     void *closure)
{
    struct cleave__nats *nats = closure;
    const char *text = NULL;
    (void)subscription;
    if (status != NATS_NOT_PERMITTED && status != NATS_SLOW_CONSUMER)
        return;
    natsConnection_GetLastError(connection, &text);
    cleave__nats_fail(nats, CLEAVE_IO,
                      "the NATS server does not permit it: %s; subjects %s.> are "
                      "needed",
                      text && text[0] ? text : natsStatus_GetText(status), nats->dial.prefix);
}

/* ---- subscriptions ---- */

static void on_complete(void *closure)
{
    struct cleave__ear *ear = closure;
    pthread_mutex_lock(&ear->nats->ears_lock);
    ear->nats->ears_open--;
    pthread_cond_broadcast(&ear->nats->ears_change);
    pthread_mutex_unlock(&ear->nats->ears_lock);
}

static enum cleave_status listen_to(struct cleave__nats *nats, const char *subject,
                                    const char *group, uint32_t member, natsMsgHandler handler,
                                    struct cleave_error *error)
{
    struct cleave__ear *ear = calloc(1, sizeof *ear);
    if (!ear || !CLEAVE_PUSH(&nats->ears, ear)) {
        free(ear);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a subscription");
    }
    *ear = (struct cleave__ear){.nats = nats, .member = member};
    natsStatus status =
        group ? natsConnection_QueueSubscribe(&ear->subscription, nats->dial.connection, subject,
                                              group, handler, ear)
              : natsConnection_Subscribe(&ear->subscription, nats->dial.connection, subject,
                                         handler, ear);
    if (!status)
        status = natsSubscription_SetPendingLimits(ear->subscription, -1, -1);
    if (!status) {
        pthread_mutex_lock(&nats->ears_lock);
        nats->ears_open++;
        pthread_mutex_unlock(&nats->ears_lock);
        status = natsSubscription_SetOnCompleteCB(ear->subscription, on_complete, ear);
    }
    return status ? cleave__dial_error(error, status, subject) : CLEAVE_OK;
}

/* Logs, and what durable actors saved, of actors from `first` on. */
static enum cleave_status open_streams(struct cleave__nats *nats, size_t first,
                                       struct cleave_error *error)
{
    bool durable = nats->options->durable;
    enum cleave_status status = CLEAVE_OK;
    jsCtx *js = NULL;
    for (size_t a = first; !status && a < nats->boxes.count; a++) {
        const struct cleave__box *box = nats->boxes.data[a];
        bool saves = durable && a && cleave__nats_is_here(box);
        if (!saves && box->actor->sort != CLEAVE__ACTOR_LOG)
            continue;
        if (!js) {
            natsStatus said = natsConnection_JetStream(&js, nats->dial.connection, NULL);
            status = said ? cleave__dial_error(error, said, "JetStream") : CLEAVE_OK;
        }
        if (!status)
            status = saves ? cleave__saved_open(box->wire, js, error)
                           : cleave__log_open(nats, js, box, error);
    }
    jsCtx_Destroy(js);
    return status;
}

/* Of those that were added since the last run. */
static enum cleave_status listen(struct cleave__nats *nats, struct cleave_error *error)
{
    char subject[CLEAVE__SUBJECT_BYTES];
    size_t count = nats->boxes.count;
    if (nats->heard_up_to == count)
        return CLEAVE_OK;
    enum cleave_status status = open_streams(nats, nats->heard_up_to, error);
    if (!status && nats->heard_up_to == 0) {
        snprintf(subject, sizeof subject, "%s.p.%llu", nats->dial.prefix,
                 (unsigned long long)nats->life);
        status = listen_to(nats, subject, NULL, 0, cleave__nats_arrive, error);
        snprintf(subject, sizeof subject, "%s.r.%llu.*", nats->dial.prefix,
                 (unsigned long long)nats->life);
        if (!status)
            status = listen_to(nats, subject, NULL, 0, cleave__asks_arrive, error);
        /* Where nobody is elsewhere, one subscription does. */
        nats->heard_all = !nats->remotes;
        snprintf(subject, sizeof subject, "%s.a.*", nats->dial.prefix);
        if (!status && nats->heard_all)
            status = listen_to(nats, subject, NULL, 0, cleave__nats_arrive, error);
    }
    for (size_t a = nats->heard_up_to; !status && !nats->heard_all && a < count; a++) {
        const struct cleave__box *box = nats->boxes.data[a];
        if (a && cleave__nats_is_here(box))
            status = listen_to(nats, box->wire->subject, NULL, 0, cleave__nats_arrive, error);
    }
    natsStatus said = status ? NATS_OK : cleave__dial_sync(&nats->dial);
    if (said)
        status = cleave__dial_error(error, said, "subscribing at the NATS server");
    /* An older process that still is one of these actors ends. */
    for (size_t a = nats->heard_up_to ? nats->heard_up_to : 1; !status && a < count; a++) {
        if (cleave__nats_is_here(nats->boxes.data[a]) && (a == 1 || !nats->heard_all))
            cleave__nats_announce(nats, nats->boxes.data[a]);
    }
    if (!status)
        nats->heard_up_to = (uint32_t)count;
    return status;
}

/* ---- operations ---- */

enum { FINISH_NS = 2000000000 };

/* What JetStream is to keep is kept, if it does not take too long. No callback is under way
 * afterwards, nor will be. */
static void hush(void *state)
{
    struct cleave__nats *nats = state;
    if (atomic_load(&nats->closing))
        return;
    if (nats->dial.connection && !cleave__runtime_failed(nats->crew.runtime))
        cleave__asks_finish(nats, FINISH_NS);
    atomic_store(&nats->closing, true);
    cleave__nats_keep_no_more(nats);
    if (!nats->dial.connection)
        return;
    if (natsConnection_Status(nats->dial.connection) == NATS_CONN_STATUS_CONNECTED)
        natsConnection_FlushTimeout(nats->dial.connection, 1000); /* what was sent leaves */
    for (size_t e = 0; e < nats->ears.count; e++)
        natsSubscription_Unsubscribe(nats->ears.data[e]->subscription);
    natsConnection_Close(nats->dial.connection);
    pthread_mutex_lock(&nats->ears_lock);
    while (nats->ears_open || !nats->closed)
        pthread_cond_wait(&nats->ears_change, &nats->ears_lock);
    pthread_mutex_unlock(&nats->ears_lock);
}

static void close_nats(void *state)
{
    struct cleave__nats *nats = state;
    hush(nats);
    for (size_t e = 0; e < nats->ears.count; e++) {
        natsSubscription_Destroy(nats->ears.data[e]->subscription);
        free(nats->ears.data[e]);
    }
    CLEAVE_VECTOR_FREE(&nats->ears);
    cleave__asks_free(nats);
    CLEAVE_VECTOR_FREE(&nats->boxes);
    cleave__dial_close(&nats->dial);
    pthread_cond_destroy(&nats->ears_change);
    pthread_mutex_destroy(&nats->ears_lock);
    pthread_mutex_destroy(&nats->asks_lock);
    pthread_mutex_destroy(&nats->publish_lock);
    pthread_mutex_destroy(&nats->lock);
    cleave__crew_close(&nats->crew);
    free(nats);
}

static enum cleave_status open_nats(struct cleave_runtime *runtime, void **state,
                                    struct cleave_error *error)
{
    struct cleave__nats *nats = aligned_alloc(_Alignof(struct cleave__nats), sizeof *nats);
    if (!nats)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the nats transport");
    memset(nats, 0, sizeof *nats);
    nats->options = &runtime->options.nats;
    nats->life = cleave__wall_ns();
    /* One way for all that a durable actor sends keeps its order. */
    nats->loops = nats->options->loop || nats->options->durable;
    nats->crew.hooks = &cleave__nats_hooks;
    nats->crew.serves = nats->options->serve;
    nats->crew.open = nats->options->serve;
    enum cleave_status status = cleave__crew_open(&nats->crew, runtime, error);
    if (status) {
        free(nats);
        return status;
    }
    pthread_mutex_init(&nats->lock, NULL);
    pthread_mutex_init(&nats->ears_lock, NULL);
    pthread_mutex_init(&nats->asks_lock, NULL);
    pthread_mutex_init(&nats->publish_lock, NULL);
    pthread_cond_init(&nats->ears_change, NULL);
    const struct cleave__dial_calls calls = {nats, on_disconnected, on_reconnected, on_closed,
                                             on_error};
    status = cleave__dial_open(&nats->dial, nats->options, &calls, error);
    if (!status && runtime->options.metrics)
        status = cleave__metrics_counters(
            runtime->options.metrics,
            &(struct cleave_counter_row){"cleave_nats_messages_refused_total",
                                         "Messages that could not be read, or nobody's",
                                         &nats->told_refused},
            1, error);
    if (!status && !cleave__nats_keep(nats))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no thread for the nats transport");
    if (status)
        close_nats(nats);
    else
        *state = nats;
    return status;
}

static void drop(void *state, struct cleave__actor *actor)
{
    struct cleave__nats *nats = state;
    struct cleave__box *box = actor->mail;
    if (!box)
        return;
    pthread_mutex_lock(&nats->lock);
    if (actor->number < nats->boxes.count && nats->boxes.data[actor->number] == box) {
        nats->boxes.data[actor->number] = NULL;
        if (actor->number + 1 == nats->boxes.count)
            nats->boxes.count--;
    }
    pthread_mutex_unlock(&nats->lock);
    if (box->wire) {
        cleave__links_free(&box->wire->links);
        cleave__saved_free(box->wire->saved);
        free(box->wire->overflow.data);
        CLEAVE_VECTOR_FREE(&box->wire->dirty);
        CLEAVE_VECTOR_FREE(&box->wire->touched);
        free(box->wire->subject);
        free(box->wire);
    }
    cleave__crew_drop(state, actor);
}

static char *subject_of(const struct cleave__nats *nats, const struct cleave__actor *actor)
{
    char *subject = malloc(CLEAVE__SUBJECT_BYTES);
    if (!subject)
        return NULL;
    if (actor->sort == CLEAVE__ACTOR_GROUP)
        snprintf(subject, CLEAVE__SUBJECT_BYTES, "%s.g.%.60s", nats->dial.prefix, actor->name);
    else if (actor->sort == CLEAVE__ACTOR_LOG)
        snprintf(subject, CLEAVE__SUBJECT_BYTES, "%s.l.%.60s", nats->dial.prefix, actor->name);
    else
        snprintf(subject, CLEAVE__SUBJECT_BYTES, "%s.a.%u", nats->dial.prefix, actor->number);
    return subject;
}

static enum cleave_status add(void *state, struct cleave__actor *actor, struct cleave_error *error)
{
    struct cleave__nats *nats = state;
    enum cleave_status status = cleave__crew_add(state, actor, error);
    if (status)
        return status;
    struct cleave__box *box = actor->mail;
    struct cleave__wire *wire = calloc(1, sizeof *wire);
    box->wire = wire;
    if (wire) {
        wire->nats = nats;
        wire->box = box;
        wire->subject = subject_of(nats, actor);
    }
    pthread_mutex_lock(&nats->lock);
    bool good = wire && wire->subject && CLEAVE_PUSH(&nats->boxes, box);
    pthread_mutex_unlock(&nats->lock);
    if (!good)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an actor");
    if (actor->sort == CLEAVE__ACTOR_ELSEWHERE || actor->sort == CLEAVE__ACTOR_GROUP) {
        nats->remotes = true;
        nats->crew.open = true;
    }
    /* Numbers of requests are never those of an earlier life: it would have had to ask more than
     * once a nanosecond. Answers to such are late. */
    actor->last_number = actor->crash_number = nats->life;
    return CLEAVE_OK;
}

static enum cleave_status join(void *state, struct cleave__actor *actor,
                               struct cleave__actor *group, struct cleave_error *error)
{
    struct cleave__nats *nats = state;
    const struct cleave__box *box = group->mail;
    return listen_to(nats, box->wire->subject, group->name, actor->number, cleave__nats_arrive,
                     error);
}

static enum cleave_status run(void *state, uint64_t until_ns,
                              const struct cleave_progress *progress, struct cleave_error *error)
{
    enum cleave_status status = listen(state, error);
    return status ? status : cleave__crew_run(state, until_ns, progress, error);
}

static bool check(void *state)
{
    struct cleave__nats *nats = state;
    bool good = true;
    pthread_mutex_lock(&nats->lock);
    for (size_t b = 0; b < nats->boxes.count && good; b++) {
        struct cleave__box *box = nats->boxes.data[b];
        if (!box)
            continue;
        pthread_mutex_lock(&box->lock);
        good = cleave__links_check(&box->wire->links) &&
               (box->wire->overflow_messages > 0) == (box->wire->overflow.count > 0);
        pthread_mutex_unlock(&box->lock);
    }
    pthread_mutex_unlock(&nats->lock);
    return good && cleave__crew_check(state);
}

static uint64_t lost(void *state, const struct cleave__actor *receiver, uint32_t sender)
{
    struct cleave__nats *nats = state;
    struct cleave__box *box = receiver->mail;
    if (atomic_load(&nats->disconnects))
        return UINT64_MAX;
    pthread_mutex_lock(&box->lock);
    const struct cleave__link *link = cleave__links_find(&box->wire->links, sender);
    uint64_t count = link ? link->lost : 0;
    pthread_mutex_unlock(&box->lock);
    return count;
}

const struct cleave_transport_ops cleave__nats = {.name = "nats",
                                                  .open = open_nats,
                                                  .close = close_nats,
                                                  .add = add,
                                                  .drop = drop,
                                                  .offer = cleave__nats_offer,
                                                  .now_ns = cleave__crew_now_ns,
                                                  .timer_set = cleave__crew_timer_set,
                                                  .timer_cancel = cleave__crew_timer_cancel,
                                                  .run = run,
                                                  .check = check,
                                                  .reaches_out = true,
                                                  .join = join,
                                                  .hush = hush,
                                                  .save = cleave__nats_save,
                                                  .lost = lost};
