/* Finding or making a world, and publishers' seats in it. */
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/nats/bucket.h"
#include "stream/net/process.h"
#include "stream/net/things.h"

enum { WAIT_MS = 200, SEAT_EVERY_MS = 2000, SHORT_BYTES = 64 };

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static uint64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the world ---- */

static enum cleave_status take_world(struct cleave__net_session *session, const char *text,
                                     size_t length, const char *wanted, struct cleave_error *error)
{
    enum cleave_status status = cleave__net_world_read(text, length, &session->world, error);
    if (status || !wanted)
        return status;
    if (strlen(wanted) == length && !memcmp(wanted, text, length))
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                            "world '%s' is there already and was made with other options; leave "
                            "them out, or give it another name",
                            session->nats.prefix);
}

/* CLEAVE_NOT_FOUND: there is none, and none is to be made. */
static enum cleave_status find_world(struct cleave__net_session *session, const char *wanted,
                                     struct cleave_error *error)
{
    struct cleave_writer text = {0};
    uint64_t revision;
    enum cleave_status status = CLEAVE_OK;
    if (!session->bucket)
        status =
            cleave__bucket_open(&session->nats, "world", wanted != NULL, &session->bucket, error);
    if (!status)
        status = cleave__bucket_get(session->bucket, "world", &text, &revision, error);
    if (status == CLEAVE_NOT_FOUND && wanted) {
        status = cleave__bucket_create(session->bucket, "world", wanted, strlen(wanted), &revision,
                                       error);
        if (!status)
            return cleave__net_world_read(wanted, strlen(wanted), &session->world, error);
        if (status == CLEAVE_CONFLICT) /* somebody was faster */
            status = cleave__bucket_get(session->bucket, "world", &text, &revision, error);
    }
    if (!status)
        status = take_world(session, (const char *)text.data, text.count, wanted, error);
    free(text.data);
    return status;
}

enum cleave_status cleave__net_session_open(const struct cleave_nats_options *nats,
                                            const struct cleave__net_world *create,
                                            const struct cleave_progress *progress,
                                            struct cleave__net_session **out,
                                            struct cleave_error *error)
{
    struct cleave__net_session *session = calloc(1, sizeof *session);
    char *wanted = NULL;
    if (!session)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a session");
    session->nats = *nats;
    if (create)
        session->nats.replicas = create->replicas;
    enum cleave_status status =
        create ? cleave__net_world_write(create, &wanted, error) : CLEAVE_OK;
    if (!status)
        status = find_world(session, wanted, error);
    /* A bucket that is being made, or whose leader is gone, answers nothing for a while. */
    while ((status == CLEAVE_NOT_FOUND || (status == CLEAVE_IO && session->bucket)) && progress) {
        if (progress->report)
            progress->report(progress->context, "waiting for the world's balancer", 0, 0);
        if (progress->stop && *progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        else
            sleep_ms(WAIT_MS);
        if (status != CLEAVE_INTERRUPTED)
            status = find_world(session, wanted, error);
    }
    if (status == CLEAVE_NOT_FOUND)
        cleave_error_set(error, CLEAVE_NOT_FOUND,
                         "there is no world '%s' on these servers: start its balancer first",
                         nats->prefix);
    free(wanted);
    if (status) {
        cleave__net_session_close(session);
        return status;
    }
    session->nats.replicas = session->world.replicas;
    *out = session;
    return CLEAVE_OK;
}

void cleave__net_session_close(struct cleave__net_session *session)
{
    if (!session)
        return;
    cleave__bucket_close(session->bucket);
    cleave__net_world_free(&session->world);
    free(session);
}

/* ---- seats ---- */

struct cleave__net_hold {
    struct cleave__bucket *bucket; /* of its own: the session's is another thread's */
    char key[40];
    uint64_t number, revision;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool over;
};

/* A short text. */
static enum cleave_status get_short(struct cleave__bucket *bucket, const char *key,
                                    char text[SHORT_BYTES], uint64_t *revision,
                                    struct cleave_error *error)
{
    struct cleave_writer value = {0};
    enum cleave_status status = cleave__bucket_get(bucket, key, &value, revision, error);
    if (!status)
        snprintf(text, SHORT_BYTES, "%.*s", (int)(value.count < SHORT_BYTES ? value.count : 0),
                 (const char *)value.data);
    free(value.data);
    return status;
}

/* The next of a counter that begins at 1. */
static enum cleave_status count_up(struct cleave__bucket *bucket, const char *key, uint64_t *out,
                                   struct cleave_error *error)
{
    for (;;) {
        char text[SHORT_BYTES], next[24];
        uint64_t revision = 0, number = 1, written;
        enum cleave_status status = get_short(bucket, key, text, &revision, error);
        if (!status)
            number = strtoull(text, NULL, 10) + 1;
        if (status && status != CLEAVE_NOT_FOUND)
            return status;
        snprintf(next, sizeof next, "%" PRIu64, number);
        status = status ? cleave__bucket_create(bucket, key, next, strlen(next), &written, error)
                        : cleave__bucket_update(bucket, key, next, strlen(next), revision, &written,
                                                error);
        if (!status)
            *out = number;
        if (status != CLEAVE_CONFLICT)
            return status;
    }
}

/* What stands at a seat: "SESSION UNTIL_MS". */
static void seat_text(uint64_t session, uint64_t until_ms, char text[SHORT_BYTES])
{
    snprintf(text, SHORT_BYTES, "%" PRIu64 " %" PRIu64, session, until_ms);
}

/* Of what stands at a seat: whose it is; 0: nobody's any more. Who has no session yet counts as
 * the first one. */
static uint64_t holder_of(const char *text)
{
    char *end;
    uint64_t session = strtoull(text, &end, 10);
    bool held = strtoull(end, NULL, 10) > clock_ms();
    return !held ? 0 : session ? session : 1;
}

/* Whose seat `key` is; 0: nobody's. `revision` 0: nothing stands there. */
static enum cleave_status look(struct cleave__bucket *bucket, const char *key, uint64_t *holder,
                               uint64_t *revision, struct cleave_error *error)
{
    char text[SHORT_BYTES];
    *holder = *revision = 0;
    enum cleave_status status = get_short(bucket, key, text, revision, error);
    if (!status)
        *holder = holder_of(text);
    return status == CLEAVE_NOT_FOUND ? CLEAVE_OK : status;
}

/* CLEAVE_CONFLICT: somebody was faster. */
static enum cleave_status claim(struct cleave__net_hold *hold, uint64_t revision,
                                struct cleave_error *error)
{
    struct cleave__bucket *bucket = hold->bucket;
    char mine[SHORT_BYTES];
    seat_text(hold->number, clock_ms() + CLEAVE__NET_SEAT_MS, mine);
    if (!hold->number) { /* nobody else's text */
        size_t length = strlen(mine);
        snprintf(mine + length, sizeof mine - length, " %d %p", (int)getpid(), (void *)hold);
    }
    return revision ? cleave__bucket_update(bucket, hold->key, mine, strlen(mine), revision,
                                            &hold->revision, error)
                    : cleave__bucket_create(bucket, hold->key, mine, strlen(mine), &hold->revision,
                                            error);
}

/* Takes the first seat that is free. */
static enum cleave_status find_seat(struct cleave__net_hold *hold, uint32_t publishers,
                                    uint32_t *number, struct cleave_error *error)
{
    for (uint32_t i = 0; i < publishers; i++) {
        uint64_t holder, revision;
        snprintf(hold->key, sizeof hold->key, "publisher.%" PRIu32, i);
        enum cleave_status status = look(hold->bucket, hold->key, &holder, &revision, error);
        if (!status && holder)
            continue;
        if (!status)
            status = claim(hold, revision, error);
        if (!status)
            *number = i;
        if (status != CLEAVE_CONFLICT)
            return status;
    }
    return cleave_error_set(error, CLEAVE_LIMIT,
                            "all %" PRIu32 " seats of publishers are taken: one is free %d s "
                            "after its holder has died",
                            publishers, CLEAVE__NET_SEAT_MS / 1000);
}

/* Whether no earlier session is at work. Each has its seat before it has its number, so that
 * whoever has a lower one is seen here. */
static enum cleave_status look_around(struct cleave__net_hold *hold, uint32_t publishers,
                                      uint32_t mine, bool *first, struct cleave_error *error)
{
    *first = true;
    for (uint32_t i = 0; i < publishers; i++) {
        char key[sizeof hold->key];
        uint64_t holder = 0, revision;
        snprintf(key, sizeof key, "publisher.%" PRIu32, i);
        enum cleave_status status =
            i == mine ? CLEAVE_OK : look(hold->bucket, key, &holder, &revision, error);
        if (status)
            return status;
        *first = *first && (!holder || holder > hold->number);
    }
    return CLEAVE_OK;
}

static void *keep_seat(void *context)
{
    struct cleave__net_hold *hold = context;
    struct cleave_error error;
    pthread_mutex_lock(&hold->lock);
    while (!hold->over) {
        struct timespec until;
        char mine[SHORT_BYTES];
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += SEAT_EVERY_MS / 1000;
        pthread_cond_timedwait(&hold->change, &hold->lock, &until);
        /* In vain while servers are away; the seat is free then for a while, as it
         * should be. */
        seat_text(hold->number, hold->over ? 0 : clock_ms() + CLEAVE__NET_SEAT_MS, mine);
        cleave__bucket_update(hold->bucket, hold->key, mine, strlen(mine), hold->revision,
                              &hold->revision, &error);
    }
    pthread_mutex_unlock(&hold->lock);
    return NULL;
}

enum cleave_status cleave__net_seat_take(struct cleave__net_session *session,
                                         struct cleave__net_hold **out,
                                         struct cleave__net_seat *seat, struct cleave_error *error)
{
    struct cleave__net_hold *hold = calloc(1, sizeof *hold);
    if (!hold)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a publisher's seat");
    enum cleave_status status =
        cleave__bucket_open(&session->nats, "world", false, &hold->bucket, error);
    struct cleave__net_seat found = {0};
    bool again = !status;
    for (int tries = 0; again && tries < 10; tries++) {
        hold->number = 0;
        status = find_seat(hold, session->world.publishers, &found.number, error);
        if (!status)
            status = count_up(hold->bucket, "sessions", &hold->number, error);
        if (!status)
            status = claim(hold, hold->revision, error);
        again = status == CLEAVE_CONFLICT; /* it took so long that another has the seat */
    }
    if (!status)
        status = look_around(hold, session->world.publishers, found.number, &found.first, error);
    found.session = hold->number;
    found.base = hold->number << CLEAVE__NET_NUMBER_BITS;
    pthread_mutex_init(&hold->lock, NULL);
    pthread_cond_init(&hold->change, NULL);
    if (!status && pthread_create(&hold->thread, NULL, keep_seat, hold))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no thread for a publisher's seat");
    if (status) {
        pthread_cond_destroy(&hold->change);
        pthread_mutex_destroy(&hold->lock);
        cleave__bucket_close(hold->bucket);
        free(hold);
        return status;
    }
    *seat = found;
    *out = hold;
    return CLEAVE_OK;
}

void cleave__net_seat_release(struct cleave__net_hold *hold)
{
    if (!hold)
        return;
    pthread_mutex_lock(&hold->lock);
    hold->over = true;
    pthread_cond_signal(&hold->change);
    pthread_mutex_unlock(&hold->lock);
    pthread_join(hold->thread, NULL);
    pthread_cond_destroy(&hold->change);
    pthread_mutex_destroy(&hold->lock);
    cleave__bucket_close(hold->bucket);
    free(hold);
}
