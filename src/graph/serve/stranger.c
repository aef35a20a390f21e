/* What comes from other processes, before anybody acts on it. Whoever may publish where the actors
 * listen may send anything: what no process of this world would send is passed over and counted,
 * as if it had been lost. In an open world nothing changes, no user moves and nobody has copies, so
 * that little is expected, and all of it can be checked. */
#include "graph/serve/stranger.h"

static bool is_between(uint32_t actor, uint32_t first, uint32_t count)
{
    return actor >= first && actor - first < count;
}

bool cleave__stranger_read(const struct cleave__seat *shard, const struct cleave_message *message)
{
    const struct cleave__serving *serving = shard->world->serving;
    if (message->sort != CLEAVE_REQUEST || message->kind != CLEAVE__GRAPH_READ ||
        !is_between(message->sender, cleave__coordinator_actor(shard->world, 0),
                    serving->coordinators) ||
        message->length < 4 || message->length % 4 ||
        cleave__load32(message->body) & ~(uint32_t)(CLEAVE__READ_BRIEF | CLEAVE__READ_SOURCE))
        return false;
    for (size_t at = 4; at < message->length; at += 4) {
        uint32_t user = cleave__load32(message->body + at);
        if (user >= shard->world->graph->vertices || serving->owner[user] != shard->index)
            return false;
    }
    return true;
}

bool cleave__stranger_to_coordinator(const struct cleave__seat *coordinator,
                                     const struct cleave_message *message)
{
    const struct cleave__world *world = coordinator->world;
    const struct cleave__serving *serving = world->serving;
    switch (message->sort) {
    case CLEAVE_REPLY: /* ends a request, whatever it is: cleave__stranger_lists */
    case CLEAVE_TIMEOUT:
        return true;
    case CLEAVE_REQUEST: /* its content: cleave__question_read */
        return message->kind == CLEAVE__GRAPH_QUERY &&
               is_between(message->sender, cleave__client_actor(world, 0), serving->clients);
    case CLEAVE_MESSAGE:
        return message->kind == CLEAVE__GRAPH_BACK &&
               is_between(message->sender, cleave__shard_actor(0), serving->shards);
    default:
        return false;
    }
}

bool cleave__stranger_lists(const struct cleave__world *world, const uint32_t *asked,
                            uint32_t count, bool brief, const struct cleave_message *message)
{
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    if (message->kind != CLEAVE__GRAPH_LISTS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *head = cleave__get_bytes(&reader, 24);
        uint32_t degree = head ? cleave__load32(head + 4) : 0;
        if (!head || cleave__load32(head) != asked[i] || degree == CLEAVE__ELSEWHERE)
            return false;
        degree = brief ? 0 : degree;
        const uint8_t *targets = cleave__get_bytes(&reader, (uint64_t)degree * 4);
        for (uint32_t t = 0; t < degree; t++) {
            if (!targets || cleave__load32(targets + (size_t)t * 4) >= world->graph->vertices)
                return false;
        }
    }
    return !reader.failed && !cleave__left(&reader);
}

bool cleave__stranger_answer(const struct cleave__world *world, uint64_t number,
                             const struct cleave_message *message)
{
    enum { HEAD = 7 * 8 + 4 };
    if (message->kind != CLEAVE__GRAPH_ANSWER || message->length < HEAD ||
        cleave__load64(message->body) != number)
        return false;
    uint32_t users = cleave__load32(message->body + HEAD - 4);
    if (users > world->graph->vertices || message->length != HEAD + (size_t)users * 4)
        return false;
    for (uint32_t u = 0; u < users; u++) {
        if (cleave__load32(message->body + HEAD + (size_t)u * 4) >= world->graph->vertices)
            return false;
    }
    return true;
}

void cleave__stranger_refuse(const struct cleave__world *world,
                             const struct cleave_message *message)
{
    cleave__counter_add(world->watch->refused, 1);
    CLEAVE_LOG(world->serving->log, CLEAVE_LOG_WARN, "message refused",
               CLEAVE_FIELD_UNSIGNED("sender", message->sender),
               CLEAVE_FIELD_UNSIGNED("kind", message->kind),
               CLEAVE_FIELD_UNSIGNED("bytes", message->length));
}
