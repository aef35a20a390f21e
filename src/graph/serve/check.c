#include "graph/serve/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/oracle/oracle.h"

static void wrong(struct cleave__served *out, uint64_t query, uint32_t source, const char *why)
{
    if (out->verified)
        snprintf(out->wrong, sizeof out->wrong, "query %llu, from user number %u: %.120s",
                 (unsigned long long)query, source, why);
    out->verified = false;
}

enum cleave_status cleave__check_answers(const struct cleave__graph_client *client,
                                         struct cleave__graph_oracle *oracle,
                                         struct cleave__served *out, struct cleave_error *error)
{
    const struct cleave__serving *serving = client->seat->world->serving;
    struct cleave_reader reader = {client->log.data, client->log.data + client->log.count, false};
    CLEAVE_VECTOR(uint32_t) users = {0};
    struct cleave__query query = serving->query;
    struct cleave_error why;
    while (cleave__left(&reader)) {
        uint64_t length = cleave__get64(&reader);
        cleave__get_bytes(&reader, 16); /* times */
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
        if (answer.failed || number >= serving->sources || !CLEAVE_RESERVE(&users, count)) {
            CLEAVE_VECTOR_FREE(&users);
            return cleave_error_set(error, answer.failed ? CLEAVE_CORRUPT : CLEAVE_NO_MEMORY,
                                    "answers cannot be checked");
        }
        for (uint32_t i = 0; i < count; i++)
            users.data[i] = cleave__get32(&answer);
        query.source = serving->source[number];
        cleave__graph_oracle_ask(oracle, &query);
        if (cleave__graph_oracle_accepts(oracle, users.data, count, &why))
            wrong(out, number, query.source, why.message);
        out->queries++;
        out->answers += count;
    }
    CLEAVE_VECTOR_FREE(&users);
    return CLEAVE_OK;
}
