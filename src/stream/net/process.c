/* Processes that serve, and that publish: the same actors, of which each spawns
 * its own. */
#include "stream/net/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/nats/bucket.h"
#include "stream/net/presence.h"
#include "stream/net/tracker.h"
#include "stream/serve/feeder.h"

enum { HEADS_BYTES = 512 /* of a frame and its envelope, and more */, MAP_TRIES = 10 };

/* Everything one process needs, to be freed together. */
struct part {
    struct cleave__net_session *session;
    enum cleave__net_role role;
    uint32_t seat;
    struct cleave__streaming streaming;
    struct cleave__stream_world world;
    struct cleave__stream_watch watch;
    struct cleave__stream_seat own; /* the argument of its actor */
    struct cleave__log_sink_seat sink;
    struct cleave__net_tracker_seat tracker;
    struct cleave_runtime *runtime;
    uint32_t actor;        /* its number */
    uint64_t map_revision; /* of the balancer's */
};

static enum cleave_status declare(struct part *part, const struct cleave_actor_ops *ops,
                                  const void *argument, bool own, uint32_t index, uint32_t *out,
                                  struct cleave_error *error)
{
    char name[60];
    snprintf(name, sizeof name, "%s %u", ops->name, index);
    if (!own)
        return cleave__runtime_remote(part->runtime, name, out, error);
    struct cleave_spawn_options options = {
        .name = name, .mailbox_most = cleave__stream_mailbox_most(&part->world)};
    enum cleave_status status =
        cleave__runtime_spawn(part->runtime, ops, argument, &options, out, error);
    if (!status && argument == &part->own)
        part->actor = *out;
    return status;
}

/* `count` of a kind, of which this process has one if it is of that role. */
static enum cleave_status declare_kind(struct part *part, const struct cleave_actor_ops *ops,
                                       uint32_t count, enum cleave__net_role role,
                                       const void *argument, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t actor;
        bool own = part->role == role && part->seat == i;
        status = declare(part, ops, argument, own, i, &actor, error);
    }
    return status;
}

static enum cleave_status declare_all(struct part *part, struct cleave_error *error)
{
    const struct cleave__net_world *w = &part->session->world;
    uint32_t group;
    enum cleave_status status = declare_kind(part, &cleave__evaluator_ops, w->evaluators,
                                             CLEAVE__NET_EVALUATOR, &part->own, error);
    if (!status)
        status = declare_kind(part, &cleave__router_ops, w->routers, CLEAVE__NET_ROUTER, &part->own,
                              error);
    if (!status)
        status = declare_kind(part, &cleave__log_sink_ops, w->evaluators, CLEAVE__NET_EVALUATOR,
                              &part->sink, error);
    if (!status)
        status = declare_kind(part, &cleave__feeder_ops, w->publishers, CLEAVE__NET_PUBLISHER,
                              &part->own, error);
    if (!status)
        status =
            declare_kind(part, &cleave__balancer_ops, 1, CLEAVE__NET_BALANCER, &part->own, error);
    if (!status)
        status = cleave__runtime_group(part->runtime, "routers", &group, error);
    if (!status && part->role == CLEAVE__NET_ROUTER)
        status = cleave__runtime_join(part->runtime, part->actor, group, error);
    if (!status)
        status = cleave__runtime_log(part->runtime, "matches", &part->sink.log, error);
    part->tracker.log = part->sink.log;
    if (!status && w->track)
        status = declare(part, &cleave__net_tracker_ops, &part->tracker,
                         part->role == CLEAVE__NET_TRACKER, 0, &part->sink.tracker, error);
    return status;
}

/* ---- the balancer's map ---- */

/* The map stands in the bucket for all to see. An older balancer may write it once more after this
 * one has fenced it (saved.h): it ends with its next save, and its word does not stay. */
static enum cleave_status moved(void *context, const struct cleave__cells *cells,
                                struct cleave_error *error)
{
    struct part *part = context;
    struct cleave__bucket *bucket = part->session->bucket;
    char *text;
    enum cleave_status status =
        cleave__net_map_write(cells, part->session->world.evaluators, &text, error);
    if (status)
        return status;
    for (int tries = 0; tries < MAP_TRIES; tries++) {
        struct cleave_writer other = {0};
        uint64_t revision = part->map_revision;
        status = revision ? cleave__bucket_update(bucket, "map", text, strlen(text), revision,
                                                  &part->map_revision, error)
                          : cleave__bucket_create(bucket, "map", text, strlen(text),
                                                  &part->map_revision, error);
        if (status != CLEAVE_CONFLICT)
            break;
        status = cleave__bucket_get(bucket, "map", &other, &part->map_revision, error);
        free(other.data);
        if (status)
            break;
    }
    free(text);
    /* Servers that are away: with the next one. */
    return status == CLEAVE_IO || status == CLEAVE_NOT_FOUND ? CLEAVE_OK : status;
}

static enum cleave_status find_map(struct part *part, struct cleave_error *error)
{
    struct cleave_writer text = {0};
    enum cleave_status status =
        cleave__bucket_get(part->session->bucket, "map", &text, &part->map_revision, error);
    free(text.data);
    if (status == CLEAVE_NOT_FOUND)
        status = moved(part, part->session->world.partitions, error);
    return status;
}

/* ---- running ---- */

static enum cleave_status begin(struct part *part, struct cleave_metrics *metrics, bool durable,
                                struct cleave_error *error)
{
    struct cleave__streaming *s = &part->streaming;
    cleave__net_world_streaming(&part->session->world, s);
    s->transport = &cleave__nats;
    s->apart = true;
    s->whole_most = cleave__bucket_most(part->session->bucket) - HEADS_BYTES;
    s->feeders = part->session->world.publishers;
    s->metrics = metrics;
    s->seed = cleave__wall_ns();
    if (part->role == CLEAVE__NET_BALANCER) {
        s->moved = moved;
        s->moved_context = part;
    }
    enum cleave_status status = cleave__stream_world_make(s, &part->world, error);
    part->world.watch = &part->watch;
    if (!status && metrics)
        status = cleave__stream_watch_make(&part->watch, s, error);
    part->own = (struct cleave__stream_seat){&part->world, part->seat};
    part->sink = (struct cleave__log_sink_seat){.world = &part->world, .index = part->seat};
    part->tracker.world = &part->world;
    part->tracker.most = part->sink.most = cleave__bucket_most(part->session->bucket);
    struct cleave_runtime_options options = {.transport = &cleave__nats,
                                             .seed = s->seed,
                                             .metrics = metrics,
                                             .checksums = true,
                                             .nats = part->session->nats};
    options.nats.serve = true;
    options.nats.durable = durable;
    if (!status)
        status = cleave__runtime_new(&options, &part->runtime, error);
    if (!status)
        status = declare_all(part, error);
    return status;
}

/* It is at work: what is sent to it comes. Others may ask whether it is there. */
static enum cleave_status begin_work(struct part *part, const struct cleave__net_part *about,
                                     struct cleave__net_presence **presence,
                                     struct cleave_error *error)
{
    static const char *const kinds[] = {"router", "evaluator", "balancer", "tracker"};
    char name[60], server[200];
    enum cleave_status status = cleave__runtime_run(part->runtime, 1, about->progress, error);
    if (status)
        return status;
    snprintf(name, sizeof name, "%s %u", kinds[about->role], about->seat);
    const struct cleave__net_presence_options options = {
        .session = part->session,
        .name = name,
        .missing = about->role == CLEAVE__NET_BALANCER ? about->missing : NULL,
        .context = about->context,
        .metrics = about->metrics};
    status = cleave__net_presence_open(&options, presence, error);
    if (status || !about->ready)
        return status;
    cleave__net_presence_server(*presence, server, sizeof server);
    about->ready(about->context, name, server);
    return CLEAVE_OK;
}

enum cleave_status cleave__net_serve(struct cleave__net_session *session,
                                     const struct cleave__net_part *about,
                                     struct cleave_error *error)
{
    const struct cleave__net_world *w = &session->world;
    uint32_t seats = about->role == CLEAVE__NET_ROUTER      ? w->routers
                     : about->role == CLEAVE__NET_EVALUATOR ? w->evaluators
                                                            : 1;
    struct part part = {.session = session, .role = about->role, .seat = about->seat};
    struct cleave__net_presence *presence = NULL;
    if (about->seat >= seats)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "there is no seat %u: world '%s' has %u of that kind, from 0",
                                about->seat, session->nats.prefix, seats);
    if (about->role == CLEAVE__NET_TRACKER && !w->track)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "world '%s' tracks nothing: its balancer makes it so by --track",
                                session->nats.prefix);
    enum cleave_status status = begin(&part, about->metrics, true, error);
    if (!status && about->role == CLEAVE__NET_BALANCER)
        status = find_map(&part, error);
    if (!status)
        status = begin_work(&part, about, &presence, error);
    if (!status)
        status = cleave__runtime_run(part.runtime, 0, about->progress, error);
    cleave__net_presence_close(presence);
    cleave__runtime_free(part.runtime);
    return status == CLEAVE_INTERRUPTED ? CLEAVE_OK : status;
}

static double per_second(uint64_t count, uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)count * 1e9 / (double)(to_ns - from_ns) : 0;
}

enum cleave_status
cleave__net_publish(struct cleave__net_session *session, const struct cleave__net_seat *seat,
                    const struct cleave__feed_ops *ops, void *feed, struct cleave_metrics *metrics,
                    const struct cleave_progress *progress, struct cleave__net_published *out,
                    struct cleave_error *error)
{
    struct part part = {
        .session = session,
        .role = CLEAVE__NET_PUBLISHER,
        .seat = seat->number,
        .streaming = {
            .feed_ops = ops, .feed = feed, .first_version = seat->base, .others = !seat->first}};
    enum cleave_status status = begin(&part, metrics, false, error);
    if (!status)
        status =
            cleave__runtime_post(part.runtime, part.actor, CLEAVE__STREAM_OVER, NULL, 0, error);
    if (!status)
        status = cleave__runtime_run(part.runtime, 0, progress, error);
    if (part.actor) { /* what was acknowledged, whatever came then */
        struct cleave__feeder *f = cleave__runtime_state(part.runtime, part.actor);
        out->objects = f->objects_acknowledged;
        out->queries = f->queries_acknowledged;
        out->removals = f->removals_acknowledged;
        out->repeated = f->repeated;
        out->objects_per_s = per_second(out->objects, f->first_object_ns, f->last_object_ns);
        out->queries_per_s =
            per_second(f->queries + f->removals, f->first_query_ns, f->last_query_ns);
        out->ack_ns = f->ack_ns;
        f->ack_ns = (struct cleave_histogram){0};
    }
    cleave__runtime_free(part.runtime);
    return status;
}
