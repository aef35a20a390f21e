/* A client's answers, one after another, to whoever wants to know. */
#include "graph/serve/check.h"

enum cleave_status cleave__answers_tell(const struct cleave__serving *serving,
                                        const struct cleave__graph_client *client,
                                        struct cleave__served *out, struct cleave_error *error)
{
    struct cleave_reader reader = {client->log.data, client->log.data + client->log.count, false};
    CLEAVE_VECTOR(uint32_t) users = {0};
    enum cleave_status status = CLEAVE_OK;
    while (cleave__left(&reader) && !status) {
        uint64_t length = cleave__get64(&reader);
        const uint8_t *body = cleave__get_bytes(&reader, length);
        struct cleave_reader record = {body, body ? body + length : body, !body};
        struct cleave__graph_answer answer = {.number = cleave__get64(&record)};
        answer.hops = cleave__get64(&record);
        answer.requests = cleave__get64(&record);
        answer.remote_requests = cleave__get64(&record);
        answer.reads = cleave__get64(&record);
        answer.looks = cleave__get64(&record);
        answer.rounds = cleave__get64(&record);
        answer.users = cleave__get32(&record);
        const uint8_t *list = cleave__get_bytes(&record, (uint64_t)answer.users * 4);
        if (!list && answer.users) {
            status = cleave_error_set(error, CLEAVE_CORRUPT, "an answer that makes no sense");
            break;
        }
        users.count = 0;
        if (!CLEAVE_RESERVE(&users, answer.users)) {
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for an answer");
            break;
        }
        for (uint32_t i = 0; i < answer.users; i++)
            users.data[users.count++] = cleave__load32(list + (size_t)i * 4);
        answer.user = users.data;
        if (serving->told)
            serving->told(serving->told_to, &answer);
        if (!out)
            continue;
        out->queries++;
        out->answers += answer.users;
        out->hops += answer.hops;
        out->requests += answer.requests;
        out->remote_requests += answer.remote_requests;
        out->reads += answer.reads;
        out->looks += answer.looks;
        out->rounds += answer.rounds;
    }
    CLEAVE_VECTOR_FREE(&users);
    return status;
}
