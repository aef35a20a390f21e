/* Shards of other processes, as a coordinator has to do with them: one may be down for hours, and
 * must stop neither the queries that do not need it nor the coordinator itself.
 *
 * Each shard has its own window of requests under way, and its own queue. One that does not answer
 * gets a single request at a time, ever later: what is sent to a process that is not there uses up
 * the credit that it gave (runtime/nats), and whoever has none left is stopped. A shard says so
 * when it begins; then all that waits goes. A search whose client has stopped waiting is given up
 * at the next timeout of a shard that it waits for: the client has asked again.
 *
 * Invariant: a search's `out` counts its requests that are under way or in a queue; one that is
 * lost has no slot any more once it is 0. */
#include <string.h>

#include "graph/serve/coordinator.h"

enum { LONGER = 15 /* than a client waits at most, is how long a silent shard is left alone */ };

uint64_t cleave__far_pause_ns(const struct cleave__coordinator *c, uint32_t shard)
{
    const struct cleave__serving *serving = c->seat->world->serving;
    uint32_t silent = c->far[shard].silent;
    uint64_t pause_ns = cleave__pause_ns(serving->retry_ns,
                                         silent < CLEAVE__TRIES_MOST ? silent : CLEAVE__TRIES_MOST);
    uint64_t most_ns = serving->retry_most_ns * LONGER;
    return most_ns && pause_ns > most_ns ? most_ns : pause_ns;
}

static bool has_room(const struct cleave__coordinator *c, const struct cleave__far_shard *f)
{
    return f->under_way < (f->silent ? 1 : c->seat->world->window);
}

static bool send(struct cleave__coordinator *c, struct cleave_context *context,
                 struct cleave__far_shard *f, struct cleave__ask ask)
{
    f->under_way++;
    ask.silent = f->silent;
    return cleave__coordinator_send(c, context, ask);
}

bool cleave__far_ask(struct cleave__coordinator *c, struct cleave_context *context,
                     struct cleave__ask ask)
{
    struct cleave__far_shard *f = &c->far[ask.shard];
    return has_room(c, f) ? send(c, context, f, ask) : CLEAVE_PUSH(&f->waiting, ask);
}

/* One request less. */
static void lose(struct cleave__search *s)
{
    s->lost = true;
    if (--s->out == 0)
        s->busy = false;
}

/* Takes requests of searches that are given up out of a queue. */
static void sweep(struct cleave__coordinator *c, struct cleave__far_shard *f, uint64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->waiting.count; i++) {
        struct cleave__search *s = c->searches.data[f->waiting.data[i].search];
        if (s->lost || now_ns > s->until_ns)
            lose(s);
        else
            f->waiting.data[kept++] = f->waiting.data[i];
    }
    f->waiting.count = kept;
}

bool cleave__far_go_on(struct cleave__coordinator *c, struct cleave_context *context,
                       uint32_t shard)
{
    struct cleave__far_shard *f = &c->far[shard];
    size_t at = 0;
    bool good = true;
    for (; at < f->waiting.count && good && has_room(c, f); at++) {
        struct cleave__ask ask = f->waiting.data[at];
        struct cleave__search *s = c->searches.data[ask.search];
        if (s->lost) {
            lose(s);
            continue;
        }
        good = send(c, context, f, ask);
    }
    f->waiting.count -= at;
    if (at && f->waiting.count)
        memmove(f->waiting.data, f->waiting.data + at, f->waiting.count * sizeof *f->waiting.data);
    return good;
}

/* Told of a shard that is silent for longer than a hiccup, and of its return. */
enum { SILENT_TOLD = 4 };

void cleave__far_heard(struct cleave__coordinator *c, uint32_t shard)
{
    struct cleave__far_shard *f = &c->far[shard];
    if (f->silent >= SILENT_TOLD)
        CLEAVE_LOG(c->seat->world->serving->log, CLEAVE_LOG_INFO, "shard is back",
                   CLEAVE_FIELD_UNSIGNED("shard", shard));
    f->silent = 0;
}

static void not_heard(struct cleave__coordinator *c, uint32_t shard)
{
    struct cleave__far_shard *f = &c->far[shard];
    f->silent++;
    if (f->silent == SILENT_TOLD)
        CLEAVE_LOG(c->seat->world->serving->log, CLEAVE_LOG_WARN, "shard does not answer",
                   CLEAVE_FIELD_UNSIGNED("shard", shard),
                   CLEAVE_FIELD_UNSIGNED("requests", f->silent),
                   CLEAVE_FIELD_UNSIGNED("waiting", f->waiting.count));
}

bool cleave__far_answered(struct cleave__coordinator *c, struct cleave_context *context,
                          const struct cleave__ask *ask, bool in_time)
{
    struct cleave__far_shard *f = &c->far[ask->shard];
    struct cleave__search *s = c->searches.data[ask->search];
    uint64_t now_ns = cleave__context_now_ns(context);
    f->under_way--;
    if (in_time)
        cleave__far_heard(c, ask->shard);
    else if (ask->silent == f->silent)
        not_heard(c, ask->shard);
    if (s->lost || (!in_time && now_ns > s->until_ns)) {
        lose(s);
        if (!in_time)
            sweep(c, f, now_ns);
        if (!cleave__far_go_on(c, context, ask->shard))
            cleave__context_fail(context, CLEAVE_NO_MEMORY, "no memory for queries");
        return false;
    }
    s->out--;
    if (!in_time)
        sweep(c, f, now_ns);
    return true;
}
