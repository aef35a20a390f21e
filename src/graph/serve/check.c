#include "graph/serve/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/oracle/oracle.h"

struct cleave__answer_check {
    const struct cleave__world *world;
    struct cleave__history *history;
    struct cleave__graph_oracle *oracle; /* of the graph as it was, or of `seen` */
    struct cleave__graph_oracle *last;   /* of the graph as it is in the end */
    struct cleave__graph seen, final;    /* the world's graph with other lists */
    size_t seen_room;
    const struct cleave__user **list; /* [vertices]: that the query at hand read, or NULL */
    uint32_t *queue;                  /* [vertices] */
    uint32_t *distance;               /* [vertices] */
    CLEAVE_VECTOR(uint32_t) users;
};

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to check answers");
}

/* Puts the lists into `graph`; those that are NULL are empty. False: memory is out. */
static bool fill(struct cleave__answer_check *check, struct cleave__graph *graph, size_t *room)
{
    uint64_t at = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        graph->offset[v] = at;
        at += check->list[v] ? check->list[v]->degree : 0;
    }
    graph->offset[graph->vertices] = at;
    if (at > *room || !graph->target) {
        uint32_t *larger = realloc(graph->target, (at + 1) * sizeof *larger);
        if (!larger)
            return false;
        graph->target = larger;
        *room = at;
    }
    for (uint32_t v = 0; v < graph->vertices; v++) {
        if (check->list[v] && check->list[v]->degree)
            memcpy(graph->target + graph->offset[v], check->list[v]->target,
                   check->list[v]->degree * sizeof *graph->target);
    }
    return true;
}

enum cleave_status cleave__answer_check_new(const struct cleave__world *world,
                                            struct cleave__history *history,
                                            struct cleave__answer_check **out,
                                            struct cleave_error *error)
{
    struct cleave__answer_check *check = calloc(1, sizeof *check);
    size_t n = (size_t)world->graph->vertices + 1, room = 0;
    enum cleave_status status = CLEAVE_OK;
    if (!check)
        return no_memory(error);
    check->world = world;
    check->history = history;
    check->seen = check->final = *world->graph;
    check->seen.offset = check->final.offset = NULL;
    check->seen.target = check->final.target = NULL;
    if (history) {
        check->list = calloc(n, sizeof *check->list);
        check->queue = calloc(n, sizeof *check->queue);
        check->distance = calloc(n, sizeof *check->distance);
        check->seen.offset = calloc(n, sizeof *check->seen.offset);
        check->final.offset = calloc(n, sizeof *check->final.offset);
        if (!check->list || !check->queue || !check->distance || !check->seen.offset ||
            !check->final.offset)
            status = no_memory(error);
        for (uint32_t v = 0; v + 1 < n && !status; v++)
            check->list[v] = cleave__history_now(history, v);
        if (!status && !fill(check, &check->final, &room))
            status = no_memory(error);
        if (!status)
            memset(check->list, 0, n * sizeof *check->list);
        if (!status)
            status = cleave__graph_oracle_new(&check->final, &check->last, error);
    }
    if (!status)
        status =
            cleave__graph_oracle_new(history ? &check->seen : world->graph, &check->oracle, error);
    if (status)
        cleave__answer_check_free(check);
    else
        *out = check;
    return status;
}

void cleave__answer_check_free(struct cleave__answer_check *check)
{
    if (!check)
        return;
    cleave__graph_oracle_free(check->oracle);
    cleave__graph_oracle_free(check->last);
    free(check->seen.offset);
    free(check->seen.target);
    free(check->final.offset);
    free(check->final.target);
    free(check->list);
    free(check->queue);
    free(check->distance);
    CLEAVE_VECTOR_FREE(&check->users);
    free(check);
}

static void wrong(struct cleave__served *out, uint64_t query, uint32_t source, const char *why)
{
    if (out->verified)
        snprintf(out->wrong, sizeof out->wrong, "query %llu, from user number %u: %.120s",
                 (unsigned long long)query, source, why);
    out->verified = false;
}

/* Whether the query read all lists that it needs, by the lists that it read. */
static bool complete(struct cleave__answer_check *check, const struct cleave__query *query)
{
    uint32_t count = 1, n = check->seen.vertices;
    bool looks = cleave__query_needs_user(query), all = true;
    memset(check->distance, 0xff, n * sizeof *check->distance);
    check->queue[0] = query->source;
    check->distance[query->source] = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t v = check->queue[at], d = check->distance[v];
        const struct cleave__user *list = check->list[v];
        if (!list && (d < query->hops || looks))
            all = false;
        for (uint32_t i = 0; list && d < query->hops && i < list->degree; i++) {
            if (check->distance[list->target[i]] != UINT32_MAX)
                continue;
            check->distance[list->target[i]] = d + 1;
            check->queue[count++] = list->target[i];
        }
    }
    return all;
}

/* Reads what the query has read into `list`. False: something that never was. */
static bool take_notes(struct cleave__answer_check *check, struct cleave_reader *answer)
{
    for (uint32_t left = cleave__get32(answer); left; left--) {
        uint32_t user = cleave__get32(answer);
        uint64_t version = cleave__get64(answer), asked_ns = cleave__get64(answer);
        uint64_t answered_ns = cleave__get64(answer);
        const struct cleave__user *list = cleave__history_at(check->history, user, version);
        if (!list || check->list[user])
            return false;
        check->list[user] = list;
        cleave__history_saw(check->history, user, version, asked_ns, answered_ns);
    }
    return !answer->failed;
}

/* An answer given while lists may change. */
static enum cleave_status check_tracked(struct cleave__answer_check *check,
                                        const struct cleave__query *query, uint64_t number,
                                        struct cleave_reader *answer, struct cleave__served *out,
                                        struct cleave_error *error)
{
    const struct cleave__serving *serving = check->world->serving;
    struct cleave_error why;
    uint32_t count = (uint32_t)check->users.count;
    memset(check->list, 0, ((size_t)check->seen.vertices + 1) * sizeof *check->list);
    if (!take_notes(check, answer)) {
        wrong(out, number, query->source, "read a list that never was, or one twice");
        return CLEAVE_OK;
    }
    if (!fill(check, &check->seen, &check->seen_room))
        return no_memory(error);
    bool enough = serving->executor == CLEAVE__SERVE_EARLY && query->limit && !query->top &&
                  count == query->limit;
    if (!enough && !complete(check, query))
        wrong(out, number, query->source, "did not read all lists that it needs");
    cleave__graph_oracle_ask(check->oracle, query);
    if (cleave__graph_oracle_accepts(check->oracle, check->users.data, count, &why))
        wrong(out, number, query->source, why.message);
    if (number < serving->sources)
        return CLEAVE_OK;
    cleave__graph_oracle_ask(check->last, query);
    if (cleave__graph_oracle_accepts(check->last, check->users.data, count, &why))
        wrong(out, number, query->source, why.message);
    out->final_queries++;
    return CLEAVE_OK;
}

enum cleave_status cleave__answer_check_client(struct cleave__answer_check *check,
                                               const struct cleave__graph_client *client,
                                               struct cleave__served *out,
                                               struct cleave_error *error)
{
    const struct cleave__serving *serving = check->world->serving;
    struct cleave_reader reader = {client->log.data, client->log.data + client->log.count, false};
    struct cleave__query query = serving->query;
    struct cleave_error why;
    enum cleave_status status = CLEAVE_OK;
    while (cleave__left(&reader) && !status) {
        const struct cleave_progress *progress = serving->progress;
        if (progress && progress->stop && *progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        uint64_t length = cleave__get64(&reader);
        const uint8_t *body = cleave__get_bytes(&reader, length);
        struct cleave_reader answer = {body, body ? body + length : body, !body};
        uint64_t number = cleave__get64(&answer);
        out->hops += cleave__get64(&answer);
        out->requests += cleave__get64(&answer);
        out->remote_requests += cleave__get64(&answer);
        out->reads += cleave__get64(&answer);
        out->looks += cleave__get64(&answer);
        out->rounds += cleave__get64(&answer);
        uint32_t count = cleave__get32(&answer);
        check->users.count = 0;
        if (answer.failed || number >= (uint64_t)serving->sources + serving->finals)
            return cleave_error_set(error, CLEAVE_CORRUPT, "an answer that makes no sense");
        if (!CLEAVE_RESERVE(&check->users, count))
            return no_memory(error);
        for (uint32_t i = 0; i < count; i++)
            check->users.data[check->users.count++] = cleave__get32(&answer);
        query.source = cleave__source_of(serving, number);
        out->queries++;
        out->answers += count;
        if (check->history) {
            status = check_tracked(check, &query, number, &answer, out, error);
            continue;
        }
        cleave__graph_oracle_ask(check->oracle, &query);
        if (cleave__graph_oracle_accepts(check->oracle, check->users.data, count, &why))
            wrong(out, number, query.source, why.message);
    }
    return status;
}

void cleave__answer_check_history(struct cleave__answer_check *check, struct cleave__served *out)
{
    uint32_t user;
    uint64_t version;
    if (!check->history || cleave__history_consistent(check->history, &user, &version))
        return;
    if (out->verified)
        snprintf(
            out->wrong, sizeof out->wrong,
            "change %llu of user number %u has no moment: an older list was read after a newer "
            "one, or after it was made",
            (unsigned long long)version, user);
    out->verified = false;
}
