#include "graph/serve/agreement.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/random.h"

enum { MAGIC = 0x61677663 /* "cvga" */, VERSION = 1 };

static uint64_t add(uint64_t hash, uint64_t number)
{
    return cleave__mix64(hash ^ number) + UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t cleave__graph_fingerprint(const struct cleave__graph *graph)
{
    char buffer[24];
    size_t length;
    uint64_t hash = add(add(VERSION, graph->vertices), cleave__graph_edges(graph));
    for (uint32_t v = 0; v < graph->vertices; v++) {
        const char *id = cleave__graph_id(graph, v, buffer, &length);
        hash = add(add(hash, XXH3_64bits(id, length)), graph->offset[v + 1]);
        for (uint64_t e = graph->offset[v]; e < graph->offset[v + 1]; e++)
            hash = add(hash, graph->target[e]);
        if (graph->label)
            hash = add(hash, graph->label[v]);
    }
    for (uint32_t l = 0; graph->label && l < graph->label_text.count; l++)
        hash = add(hash, XXH3_64bits(graph->label_text.entries[l].bytes,
                                     graph->label_text.entries[l].length));
    return hash;
}

void cleave__agreement_free(struct cleave__agreement *agreement)
{
    free(agreement->owner);
    agreement->owner = NULL;
}

void cleave__agreement_write(const struct cleave__agreement *a, struct cleave_writer *to)
{
    uint8_t width = a->shards <= 256 ? 1 : a->shards <= 65536 ? 2 : 4;
    cleave__put32(to, MAGIC);
    cleave__put32(to, VERSION);
    cleave__put64(to, a->fingerprint);
    cleave__put32(to, a->vertices);
    cleave__put32(to, a->shards);
    cleave__put32(to, a->coordinators);
    cleave__put32(to, a->clients);
    cleave__put32(to, a->mailbox_most);
    cleave__put64(to, a->retry_ns);
    cleave__put64(to, a->retry_most_ns);
    cleave__put8(to, width);
    uint8_t *at = cleave__put_space(to, (size_t)a->vertices * width);
    for (uint32_t v = 0; at && v < a->vertices; v++, at += width) {
        if (width == 1)
            *at = (uint8_t)a->owner[v];
        else if (width == 2)
            cleave__store16(at, (uint16_t)a->owner[v]);
        else
            cleave__store32(at, a->owner[v]);
    }
}

static bool makes_sense(const struct cleave__agreement *a, uint8_t width)
{
    const uint64_t hour_ns = UINT64_C(3600000000000);
    return (width == 1 || width == 2 || width == 4) && a->shards && a->coordinators && a->clients &&
           a->shards <= CLEAVE__SEATS_MOST && a->coordinators <= CLEAVE__SEATS_MOST &&
           a->clients <= CLEAVE__SEATS_MOST && a->mailbox_most <= 1 << 20 && a->retry_ns &&
           a->retry_ns <= hour_ns && a->retry_most_ns <= hour_ns;
}

enum cleave_status cleave__agreement_read(const uint8_t *bytes, size_t length,
                                          const struct cleave__graph *graph,
                                          struct cleave__agreement *out, struct cleave_error *error)
{
    struct cleave_reader reader = {bytes, bytes + length, false};
    struct cleave__agreement a = {0};
    uint32_t magic = cleave__get32(&reader), version = cleave__get32(&reader);
    if (!reader.failed && magic == MAGIC && version != VERSION)
        return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                "this world was made by another version of cleave (format %u, "
                                "here %d)",
                                version, VERSION);
    a.fingerprint = cleave__get64(&reader);
    a.vertices = cleave__get32(&reader);
    a.shards = cleave__get32(&reader);
    a.coordinators = cleave__get32(&reader);
    a.clients = cleave__get32(&reader);
    a.mailbox_most = cleave__get32(&reader);
    a.retry_ns = cleave__get64(&reader);
    a.retry_most_ns = cleave__get64(&reader);
    uint8_t width = cleave__get8(&reader);
    if (reader.failed || magic != MAGIC || !makes_sense(&a, width) ||
        cleave__left(&reader) != (uint64_t)a.vertices * width)
        return cleave_error_set(error, CLEAVE_CORRUPT, "what this world agreed on makes no sense");
    if (a.fingerprint != cleave__graph_fingerprint(graph) || a.vertices != graph->vertices)
        return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                "this world is of another graph (%u users; here %u): give the same "
                                "edges, labels and options, or another --name",
                                a.vertices, graph->vertices);
    a.owner = malloc(((size_t)a.vertices + 1) * sizeof *a.owner);
    if (!a.owner)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the owners");
    const uint8_t *at = reader.at;
    for (uint32_t v = 0; v < a.vertices; v++, at += width) {
        a.owner[v] = width == 1 ? *at : width == 2 ? cleave__load16(at) : cleave__load32(at);
        if (a.owner[v] >= a.shards) {
            free(a.owner);
            return cleave_error_set(error, CLEAVE_CORRUPT,
                                    "what this world agreed on makes no sense: a user is on no "
                                    "shard");
        }
    }
    *out = a;
    return CLEAVE_OK;
}

uint64_t cleave__agreement_hash(const uint8_t *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

void cleave__agreement_apply(const struct cleave__agreement *a, struct cleave__serving *serving)
{
    serving->shards = a->shards;
    serving->coordinators = a->coordinators;
    serving->clients = a->clients;
    serving->mailbox_most = a->mailbox_most;
    serving->retry_ns = a->retry_ns;
    serving->retry_most_ns = a->retry_most_ns;
    serving->owner = a->owner;
}
