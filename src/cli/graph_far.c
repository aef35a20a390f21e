#include "cli/graph_far.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

/* The agreement is larger than a message may be: pieces of this size, named by the hash of the
 * whole, and at last, by whoever is first, a key that names the hash. */
enum { PIECE_BYTES = 256 * 1024, HEAD_BYTES = 16 };

static void piece_key(char *key, size_t size, uint64_t hash, uint64_t piece)
{
    snprintf(key, size, "map.%016" PRIx64 ".%" PRIu64, hash, piece);
}

static enum cleave_status write_pieces(struct cleave_graph_far *far,
                                       const struct cleave_writer *whole, uint64_t hash,
                                       struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (size_t at = 0, piece = 0; at < whole->count && !status; at += PIECE_BYTES, piece++) {
        char key[60];
        uint64_t revision;
        size_t left = whole->count - at;
        piece_key(key, sizeof key, hash, piece);
        status = cleave__bucket_create(far->bucket, key, whole->data + at,
                                       left < PIECE_BYTES ? left : PIECE_BYTES, &revision, error);
        if (status == CLEAVE_CONFLICT)
            status = CLEAVE_OK; /* somebody else wrote the same */
    }
    return status;
}

static enum cleave_status make_agreement(struct cleave_graph_far *far,
                                         const struct cleave__graph *graph,
                                         cleave__agreement_maker *make, void *context, bool *made,
                                         struct cleave_error *error)
{
    struct cleave__agreement a = {0};
    struct cleave_writer whole = {0};
    uint8_t head[HEAD_BYTES];
    uint64_t revision;
    enum cleave_status status = make(context, graph, &a, error);
    if (status)
        return status;
    a.vertices = graph->vertices;
    a.fingerprint = cleave__graph_fingerprint(graph);
    cleave__agreement_write(&a, &whole);
    cleave__agreement_free(&a);
    if (whole.failed) {
        free(whole.data);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the owners");
    }
    uint64_t hash = cleave__agreement_hash(whole.data, whole.count);
    cleave__store64(head, hash);
    cleave__store64(head + 8, whole.count);
    status = write_pieces(far, &whole, hash, error);
    if (!status)
        status = cleave__bucket_create(far->bucket, "world", head, sizeof head, &revision, error);
    *made = !status;
    if (status == CLEAVE_CONFLICT)
        status = CLEAVE_OK; /* somebody else was first */
    free(whole.data);
    return status;
}

static enum cleave_status corrupt(const char *name, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_CORRUPT,
                            "what the world '%s' agreed on is damaged: serve it under another "
                            "--name",
                            name);
}

/* CLEAVE_NOT_FOUND: there is none yet. */
static enum cleave_status read_agreement(struct cleave_graph_far *far, const char *name,
                                         const struct cleave__graph *graph,
                                         struct cleave_error *error)
{
    struct cleave_writer head = {0}, whole = {0}, part = {0};
    uint64_t revision, hash = 0, length = 0;
    enum cleave_status status = cleave__bucket_get(far->bucket, "world", &head, &revision, error);
    if (!status && head.count == HEAD_BYTES) {
        hash = cleave__load64(head.data);
        length = cleave__load64(head.data + 8);
    }
    if (!status && (!length || length > (UINT64_C(1) << 34)))
        status = corrupt(name, error);
    free(head.data);
    for (uint64_t piece = 0; !status && whole.count < length; piece++) {
        char key[60];
        piece_key(key, sizeof key, hash, piece);
        status = cleave__bucket_get(far->bucket, key, &part, &revision, error);
        if (status == CLEAVE_NOT_FOUND || (!status && !part.count))
            status = corrupt(name, error);
        if (!status)
            cleave__put_bytes(&whole, part.data, part.count);
        if (whole.failed)
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the owners");
    }
    free(part.data);
    if (!status &&
        (whole.count != length || cleave__agreement_hash(whole.data, whole.count) != hash))
        status = corrupt(name, error);
    if (!status)
        status = cleave__agreement_read(whole.data, whole.count, graph, &far->agreement, error);
    if (!status) {
        snprintf(far->prefix, sizeof far->prefix, "%s.graph.%016" PRIx64, name, hash);
        far->nats.prefix = far->prefix;
    }
    free(whole.data);
    return status;
}

enum cleave_status cleave__graph_far_open(struct cleave_graph_far *far,
                                          const struct cleave_nats_arguments *arguments,
                                          const struct cleave__graph *graph,
                                          cleave__agreement_maker *make, void *context, bool *made,
                                          struct cleave_error *error)
{
    bool first = false;
    *far = (struct cleave_graph_far){.nats = cleave__nats_arguments(arguments)};
    far->keeping = far->nats;
    enum cleave_status status =
        cleave__bucket_open(&far->keeping, "graph", make != NULL, &far->bucket, error);
    if (!status)
        status = read_agreement(far, arguments->name, graph, error);
    if (status == CLEAVE_NOT_FOUND && make) {
        status = make_agreement(far, graph, make, context, &first, error);
        if (!status)
            status = read_agreement(far, arguments->name, graph, error);
    } else if (status == CLEAVE_NOT_FOUND) {
        status = cleave_error_set(error, CLEAVE_NOT_FOUND,
                                  "nobody serves a graph under the name '%s' there: cleave graph "
                                  "serve",
                                  arguments->name);
    }
    if (status)
        cleave__graph_far_close(far);
    else if (made)
        *made = first;
    return status;
}

static void seat_key(char *key, size_t size, uint32_t seat)
{
    snprintf(key, size, "client.%u", seat);
}

/* CLEAVE_CONFLICT: somebody has it. A seat's value: when it is free again, ms since 1970. */
static enum cleave_status take_seat(struct cleave_graph_far *far, uint32_t seat, uint64_t now_ms,
                                    struct cleave_error *error)
{
    char key[40];
    uint8_t until[8];
    struct cleave_writer there = {0};
    uint64_t revision;
    seat_key(key, sizeof key, seat);
    cleave__store64(until, now_ms + CLEAVE_SEAT_KEPT_S * 1000);
    if (far->seated)
        return cleave__bucket_update(far->bucket, key, until, sizeof until, far->seat_revision,
                                     &far->seat_revision, error);
    enum cleave_status status =
        cleave__bucket_create(far->bucket, key, until, sizeof until, &far->seat_revision, error);
    if (status != CLEAVE_CONFLICT)
        return status;
    status = cleave__bucket_get(far->bucket, key, &there, &revision, error);
    bool left = !status && (there.count != sizeof until || cleave__load64(there.data) < now_ms);
    free(there.data);
    if (status == CLEAVE_NOT_FOUND || (!status && !left))
        return CLEAVE_CONFLICT;
    return status ? status
                  : cleave__bucket_update(far->bucket, key, until, sizeof until, revision,
                                          &far->seat_revision, error);
}

enum cleave_status cleave__graph_far_sit(struct cleave_graph_far *far, struct cleave_error *error)
{
    struct timespec now;
    uint32_t count = far->agreement.clients;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (far->seated)
        return take_seat(far, far->seat, now_ms, error);
    uint64_t from = cleave__mix64((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32) % count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = (uint32_t)((from + i) % count);
        enum cleave_status status = take_seat(far, seat, now_ms, error);
        if (status == CLEAVE_CONFLICT)
            continue;
        far->seated = !status;
        far->seat = seat;
        return status;
    }
    return cleave_error_set(error, CLEAVE_LIMIT,
                            "all %u seats of clients are taken: try again later (one that was left "
                            "by a crash is free after %d s)",
                            count, CLEAVE_SEAT_KEPT_S);
}

void cleave__graph_far_close(struct cleave_graph_far *far)
{
    char key[40];
    struct cleave_error ignored;
    if (far->seated) {
        seat_key(key, sizeof key, far->seat);
        cleave__bucket_remove(far->bucket, key, &ignored);
    }
    cleave__bucket_close(far->bucket);
    cleave__agreement_free(&far->agreement);
    *far = (struct cleave_graph_far){0};
}
