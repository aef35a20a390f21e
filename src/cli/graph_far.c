#include "cli/graph_far.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void placed_key(char *key, size_t size, uint64_t hash)
{
    snprintf(key, size, "placed.%016" PRIx64, hash);
}

static enum cleave_status make_agreement(struct cleave_graph_far *far,
                                         const struct cleave__graph *graph, const char *placement,
                                         cleave__agreement_maker *make, void *context, bool *made,
                                         struct cleave_error *error)
{
    char key[60];
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
    placed_key(key, sizeof key, hash);
    if (!status)
        status =
            cleave__bucket_create(far->bucket, key, placement, strlen(placement), &revision, error);
    if (status == CLEAVE_CONFLICT)
        status = CLEAVE_OK; /* by whatever name: these are the owners */
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
        far->hash = hash;
        snprintf(far->prefix, sizeof far->prefix, "%s.graph.%016" PRIx64, name, hash);
        far->nats.prefix = far->prefix;
    }
    free(whole.data);
    return status;
}

enum cleave_status cleave__graph_far_open(struct cleave_graph_far *far,
                                          const struct cleave_nats_arguments *arguments,
                                          const struct cleave__graph *graph, const char *placement,
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
        status = make_agreement(far, graph, placement, make, context, &first, error);
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

enum cleave_status cleave__graph_far_placed(struct cleave_graph_far *far, const char *name,
                                            const char *placement, struct cleave_error *error)
{
    char key[60];
    struct cleave_writer there = {0};
    uint64_t revision;
    placed_key(key, sizeof key, far->hash);
    enum cleave_status status = cleave__bucket_get(far->bucket, key, &there, &revision, error);
    if (status == CLEAVE_NOT_FOUND) /* by a version that did not write it down */
        status = CLEAVE_OK;
    else if (!status &&
             (there.count != strlen(placement) || memcmp(there.data, placement, there.count) != 0))
        status = cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                  "the world '%s' was placed by '%.*s', not by '%.60s': give the "
                                  "same --placements, none, or another --name",
                                  name, (int)(there.count < 60 ? there.count : 60), there.data,
                                  placement);
    free(there.data);
    return status;
}

void cleave__graph_far_close(struct cleave_graph_far *far)
{
    cleave__graph_far_leave(far);
    cleave__bucket_close(far->bucket);
    cleave__agreement_free(&far->agreement);
    *far = (struct cleave_graph_far){0};
}
