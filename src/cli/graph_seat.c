/* A client's seat in a graph that processes serve: one of so many, had by one process at a time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "cli/graph_far.h"

enum { BEAT_S = 3, SEATS_LOOKED_AT = 8, PAUSE_MS = 200 };

/* `keeper` renews what the seat's key says, until it leaves. It alone uses the bucket meanwhile. */
struct cleave_graph_seat {
    struct cleave__bucket *bucket;
    char key[40];
    uint64_t revision;
    pthread_t keeper;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t change;
    bool leaves;
    bool lost; /* somebody else has it */
};

/* A seat's value: when it is free again, ms since 1970. */
static void write_until(uint8_t until[8])
{
    cleave__store64(until, cleave__wall_ms() + CLEAVE_SEAT_KEPT_S * 1000);
}

/* CLEAVE_CONFLICT: somebody has it. */
static enum cleave_status take(struct cleave_graph_seat *seat, struct cleave_error *error)
{
    uint8_t until[8];
    struct cleave_writer there = {0};
    uint64_t revision;
    enum cleave_status status =
        cleave__bucket_get(seat->bucket, seat->key, &there, &revision, error);
    bool taken =
        !status && there.count == sizeof until && cleave__load64(there.data) >= cleave__wall_ms();
    free(there.data);
    write_until(until);
    if (taken)
        return CLEAVE_CONFLICT;
    if (status == CLEAVE_NOT_FOUND)
        return cleave__bucket_create(seat->bucket, seat->key, until, sizeof until, &seat->revision,
                                     error);
    return status ? status
                  : cleave__bucket_update(seat->bucket, seat->key, until, sizeof until, revision,
                                          &seat->revision, error);
}

/* Whether what stands there is what was said last, whose answer was lost with a server. */
static bool is_still_ours(struct cleave_graph_seat *seat, const uint8_t said[8])
{
    struct cleave_writer there = {0};
    struct cleave_error ignored;
    uint64_t revision;
    bool ours = !cleave__bucket_get(seat->bucket, seat->key, &there, &revision, &ignored) &&
                there.count == 8 && memcmp(there.data, said, 8) == 0;
    free(there.data);
    if (ours)
        seat->revision = revision;
    return ours;
}

static void *keep(void *context)
{
    struct cleave_graph_seat *seat = context;
    struct cleave_error ignored;
    uint8_t said[8] = {0};
    pthread_mutex_lock(&seat->lock);
    while (!seat->leaves && !seat->lost) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += BEAT_S;
        if (pthread_cond_timedwait(&seat->change, &seat->lock, &at) == 0)
            continue;
        pthread_mutex_unlock(&seat->lock);
        uint8_t until[8];
        write_until(until);
        /* What fails otherwise is tried again at the next beat. */
        enum cleave_status status =
            cleave__bucket_update(seat->bucket, seat->key, until, sizeof until, seat->revision,
                                  &seat->revision, &ignored);
        if (status == CLEAVE_CONFLICT && is_still_ours(seat, said))
            status = cleave__bucket_update(seat->bucket, seat->key, until, sizeof until,
                                           seat->revision, &seat->revision, &ignored);
        memcpy(said, until, sizeof said);
        pthread_mutex_lock(&seat->lock);
        seat->lost = status == CLEAVE_CONFLICT;
    }
    pthread_mutex_unlock(&seat->lock);
    return NULL;
}

static void leave(struct cleave_graph_seat *seat)
{
    struct cleave_error ignored;
    pthread_mutex_lock(&seat->lock);
    seat->leaves = true;
    pthread_cond_signal(&seat->change);
    pthread_mutex_unlock(&seat->lock);
    pthread_join(seat->keeper, NULL);
    if (!seat->lost)
        cleave__bucket_remove(seat->bucket, seat->key, &ignored);
    pthread_cond_destroy(&seat->change);
    pthread_mutex_destroy(&seat->lock);
    free(seat);
}

static enum cleave_status begin_keeping(struct cleave_graph_far *far,
                                        struct cleave_graph_seat *seat, struct cleave_error *error)
{
    pthread_mutex_init(&seat->lock, NULL);
    pthread_cond_init(&seat->change, NULL);
    if (pthread_create(&seat->keeper, NULL, keep, seat) == 0) {
        far->sits = seat;
        return CLEAVE_OK;
    }
    cleave__bucket_remove(seat->bucket, seat->key, error);
    free(seat);
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no thread for a client's seat");
}

enum cleave_status cleave__graph_far_sit(struct cleave_graph_far *far, uint32_t patience_s,
                                         const struct cleave_progress *progress,
                                         struct cleave_error *error)
{
    uint32_t count = far->agreement.clients;
    if (far->sits) {
        pthread_mutex_lock(&far->sits->lock);
        bool lost = far->sits->lost;
        pthread_mutex_unlock(&far->sits->lock);
        if (!lost)
            return CLEAVE_OK;
        cleave__graph_far_leave(far);
    }
    struct cleave_graph_seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a client's seat");
    seat->bucket = far->bucket;
    uint64_t from = cleave__mix64(cleave__clock_ns() ^ (uint64_t)getpid() << 32) % count;
    uint64_t began_ms = cleave__wall_ms();
    enum cleave_status status = CLEAVE_CONFLICT;
    for (uint64_t i = 0; status == CLEAVE_CONFLICT; i++) {
        /* All were looked at once: now a few at a time. */
        if (i >= count && i % SEATS_LOOKED_AT == 0) {
            if (cleave__wall_ms() - began_ms >= (uint64_t)patience_s * 1000)
                break;
            cleave__nap_ms(PAUSE_MS);
        }
        if (progress && progress->stop && *progress->stop) {
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
            break;
        }
        far->seat = (uint32_t)((from + i) % count);
        snprintf(seat->key, sizeof seat->key, "client.%u", far->seat);
        status = take(seat, error);
    }
    if (!status)
        return begin_keeping(far, seat, error);
    free(seat);
    if (status != CLEAVE_CONFLICT)
        return status;
    return cleave_error_set(error, CLEAVE_LIMIT,
                            "all %u seats of clients are taken, for %u s: try again later, or "
                            "serve the graph with more --clients under another --name",
                            count, patience_s);
}

void cleave__graph_far_leave(struct cleave_graph_far *far)
{
    if (far->sits)
        leave(far->sits);
    far->sits = NULL;
}
