/* Finding or making a world, and publishers' seats in it. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/nats/bucket.h"
#include "stream/net/process.h"
#include "stream/net/things.h"

enum {
    WAIT_MS = 200,
    SEAT_EVERY_MS = 2000,
    MARGIN_MS = 1000,
    SHORT_BYTES = 64,
    WORD_BYTES = 32 << 10,
    CELLS_MORE_BYTES = 24,
    NOT_NOTE_BYTES = 512
};

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

/* The text of a new world, once it is known how much the servers take. */
static enum cleave_status describe(const struct cleave__net_session *session,
                                   const struct cleave__net_world *create, char **wanted,
                                   struct cleave_error *error)
{
    struct cleave__net_world world = *create;
    size_t most = cleave__bucket_most(session->bucket);
    world.word_bytes = most / 2 < WORD_BYTES ? (uint32_t)(most / 2) : WORD_BYTES;
    enum cleave_status status = cleave__net_world_write(&world, wanted, error);
    /* The map of now may need more than the first one. */
    size_t need = status ? 0 : strlen(*wanted) + (size_t)world.evaluators * CELLS_MORE_BYTES;
    if (need > most)
        status = cleave_error_set(error, CLEAVE_LIMIT,
                                  "a world of %" PRIu32 " evaluators needs a server that takes "
                                  "messages of %zu bytes (max_payload), not of %zu",
                                  world.evaluators, need + 1024, most + 1024);
    return status;
}

/* CLEAVE_NOT_FOUND: there is none, and none is to be made. */
static enum cleave_status find_world(struct cleave__net_session *session,
                                     const struct cleave__net_world *create, char **made,
                                     struct cleave_error *error)
{
    struct cleave_writer text = {0};
    uint64_t revision;
    enum cleave_status status = CLEAVE_OK;
    if (!session->bucket)
        status =
            cleave__bucket_open(&session->nats, "world", create != NULL, &session->bucket, error);
    if (!status && create && !*made)
        status = describe(session, create, made, error);
    const char *wanted = *made;
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
    enum cleave_status status = find_world(session, create, &wanted, error);
    /* A bucket that is being made, or whose leader is gone, answers nothing for a while. */
    while ((status == CLEAVE_NOT_FOUND || (status == CLEAVE_IO && session->bucket)) && progress) {
        if (progress->report)
            progress->report(progress->context, "waiting for the world's balancer", 0, 0);
        if (progress->stop && *progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        else
            cleave__nap_ms(WAIT_MS);
        if (status != CLEAVE_INTERRUPTED)
            status = find_world(session, create, &wanted, error);
    }
    if (status == CLEAVE_NOT_FOUND)
        cleave_error_set(error, CLEAVE_NOT_FOUND,
                         "there is no world '%s' on these servers: start its balancer first",
                         nats->prefix);
    free(wanted);
    if (!status && (size_t)session->world.word_bytes * 2 > cleave__bucket_most(session->bucket))
        status = cleave_error_set(error, CLEAVE_LIMIT,
                                  "world '%s' needs servers that take messages of %" PRIu32
                                  " bytes (max_payload), as "
                                  "when it was made; these take %zu",
                                  nats->prefix, session->world.word_bytes * 2 + 1024,
                                  cleave__bucket_most(session->bucket) + 1024);
    if (status) {
        cleave__net_session_close(session);
        return status;
    }
    session->nats.replicas = session->world.replicas;
    *out = session;
    return CLEAVE_OK;
}

size_t cleave__net_note_most(const struct cleave__net_session *session)
{
    size_t most = cleave__bucket_most(session->bucket) - NOT_NOTE_BYTES;
    return most < CLEAVE__NOTE_MOST ? most : CLEAVE__NOTE_MOST;
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
    const char *world;
    char key[40];
    uint64_t number, revision;
    pthread_t thread;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t change;
    bool over, asked;  /* to end; to look now */
    bool lost;         /* the seat is another's */
    uint64_t until_ms; /* on the clock that goes on while the machine sleeps: it is ours */
};

static uint64_t waking_ms(void)
{
    return cleave__clock_of(CLOCK_BOOTTIME) / 1000000;
}

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
    bool held = strtoull(end, NULL, 10) > cleave__wall_ms();
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
    seat_text(hold->number, cleave__wall_ms() + CLEAVE__NET_SEAT_MS, mine);
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

/* A holder that was not heard of for too long has no seat from here on, should it come back: what
 * stood there last, at `revision`, is taken away. CLEAVE_CONFLICT: it did come back. */
static enum cleave_status evict(struct cleave__bucket *bucket, const char *key, uint64_t revision,
                                struct cleave_error *error)
{
    char nobody[SHORT_BYTES];
    uint64_t written;
    seat_text(0, 0, nobody);
    return cleave__bucket_update(bucket, key, nobody, strlen(nobody), revision, &written, error);
}

/* Whose seat it is; a holder that was not heard of for too long loses it. */
static enum cleave_status look_hard(struct cleave__bucket *bucket, const char *key,
                                    uint64_t *holder, struct cleave_error *error)
{
    for (;;) {
        char text[SHORT_BYTES];
        uint64_t revision;
        *holder = 0;
        enum cleave_status status = get_short(bucket, key, text, &revision, error);
        if (status)
            return status == CLEAVE_NOT_FOUND ? CLEAVE_OK : status;
        *holder = holder_of(text);
        const char *until = strchr(text, ' ');
        if (*holder || !until || strtoull(until, NULL, 10) == 0)
            return CLEAVE_OK;
        status = evict(bucket, key, revision, error);
        if (status != CLEAVE_CONFLICT)
            return status;
        cleave__nap_ms(1); /* what was got may be of a replica that is behind */
    }
}

/* Whether no earlier session is at work. Each has its seat before it has its number, so that
 * whoever has a lower one is seen here. */
static enum cleave_status look_around(struct cleave__net_hold *hold, uint32_t publishers,
                                      uint32_t mine, bool *first, struct cleave_error *error)
{
    *first = true;
    for (uint32_t i = 0; i < publishers; i++) {
        char key[sizeof hold->key];
        uint64_t holder = 0;
        snprintf(key, sizeof key, "publisher.%" PRIu32, i);
        enum cleave_status status =
            i == mine ? CLEAVE_OK : look_hard(hold->bucket, key, &holder, error);
        if (status)
            return status;
        *first = *first && (!holder || holder > hold->number);
    }
    return CLEAVE_OK;
}

/* Whether what stands at the seat, which is not what was known to stand there, is the holder's own:
 * it said so, and the answer was lost with a server. */
static bool is_still_ours(struct cleave__net_hold *hold)
{
    struct cleave_error error;
    char text[SHORT_BYTES];
    uint64_t revision;
    if (get_short(hold->bucket, hold->key, text, &revision, &error) ||
        strtoull(text, NULL, 10) != hold->number)
        return false;
    hold->revision = revision;
    return true;
}

/* Says that the holder lives. Not under the lock: it may take long. */
static void renew(struct cleave__net_hold *hold, bool over)
{
    struct cleave_error error;
    char mine[SHORT_BYTES];
    uint64_t began_ms = waking_ms();
    seat_text(hold->number, over ? 0 : cleave__wall_ms() + CLEAVE__NET_SEAT_MS, mine);
    enum cleave_status status;
    int tries = 0;
    do {
        status = cleave__bucket_update(hold->bucket, hold->key, mine, strlen(mine), hold->revision,
                                       &hold->revision, &error);
    } while (status == CLEAVE_CONFLICT && is_still_ours(hold) && ++tries < 10);
    pthread_mutex_lock(&hold->lock);
    if (!status)
        hold->until_ms = began_ms + CLEAVE__NET_SEAT_MS - MARGIN_MS;
    hold->lost = hold->lost || (status == CLEAVE_CONFLICT && !over);
    pthread_cond_broadcast(&hold->change);
    pthread_mutex_unlock(&hold->lock);
}

static void *keep_seat(void *context)
{
    struct cleave__net_hold *hold = context;
    bool over = false;
    while (!over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += SEAT_EVERY_MS / 1000;
        pthread_mutex_lock(&hold->lock);
        while (!hold->over && !hold->asked &&
               pthread_cond_timedwait(&hold->change, &hold->lock, &until) != ETIMEDOUT)
            ;
        over = hold->over;
        hold->asked = false;
        bool lost = hold->lost;
        pthread_mutex_unlock(&hold->lock);
        /* In vain while servers are away; the seat is free then for a while, as it should be. */
        if (!lost)
            renew(hold, over);
    }
    return NULL;
}

enum cleave_status cleave__net_seat_check(struct cleave__net_hold *hold,
                                          const struct cleave_progress *progress,
                                          struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    pthread_mutex_lock(&hold->lock);
    while (!hold->lost && waking_ms() >= hold->until_ms && !status) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        hold->asked = true;
        pthread_cond_broadcast(&hold->change);
        pthread_cond_timedwait(&hold->change, &hold->lock, &until);
        if (progress && progress->stop && *progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    if (!status && hold->lost)
        status = cleave_error_set(error, CLEAVE_CONFLICT,
                                  "this publisher gave no sign of life for %d s, and its seat in "
                                  "world '%s' is not its own any more: what is not acknowledged "
                                  "must be published again",
                                  CLEAVE__NET_SEAT_MS / 1000, hold->world);
    pthread_mutex_unlock(&hold->lock);
    return status;
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
    uint64_t began_ms = 0;
    bool again = !status;
    for (int tries = 0; again && tries < 10; tries++) {
        hold->number = 0;
        status = find_seat(hold, session->world.publishers, &found.number, error);
        if (!status)
            status = count_up(hold->bucket, "sessions", &hold->number, error);
        began_ms = waking_ms();
        if (!status)
            status = claim(hold, hold->revision, error);
        again = status == CLEAVE_CONFLICT; /* it took so long that another has the seat */
    }
    if (!status)
        status = look_around(hold, session->world.publishers, found.number, &found.first, error);
    hold->until_ms = began_ms + CLEAVE__NET_SEAT_MS - MARGIN_MS;
    hold->world = session->nats.prefix;
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
    pthread_cond_broadcast(&hold->change);
    pthread_mutex_unlock(&hold->lock);
    pthread_join(hold->thread, NULL);
    pthread_cond_destroy(&hold->change);
    pthread_mutex_destroy(&hold->lock);
    cleave__bucket_close(hold->bucket);
    free(hold);
}
