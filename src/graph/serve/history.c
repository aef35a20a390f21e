#include "graph/serve/history.h"

#include <stdlib.h>
#include <string.h>

bool cleave__history_add(struct cleave__history *history, struct cleave__user *list,
                         uint64_t sent_ns)
{
    return CLEAVE_PUSH(&history->user[list->number].version,
                       (struct cleave__version){list, sent_ns, UINT64_MAX, 0, UINT64_MAX});
}

bool cleave__history_open(struct cleave__history *history, const struct cleave__graph *graph)
{
    *history = (struct cleave__history){.vertices = graph->vertices};
    history->user = calloc((size_t)graph->vertices + 1, sizeof *history->user);
    for (uint32_t v = 0; history->user && v < graph->vertices; v++) {
        struct cleave__user *list = cleave__user_new(v, cleave__graph_degree(graph, v));
        if (!list || !cleave__history_add(history, list, 0)) {
            free(list);
            cleave__history_free(history);
            return false;
        }
        list->version = 1;
        list->label = graph->label ? graph->label[v] : 0;
        if (list->degree)
            memcpy(list->target, graph->target + graph->offset[v],
                   list->degree * sizeof *list->target);
        cleave__history_acknowledge(history, v, 0);
    }
    return history->user;
}

void cleave__history_free(struct cleave__history *history)
{
    for (uint32_t v = 0; history->user && v < history->vertices; v++) {
        for (size_t i = 0; i < history->user[v].version.count; i++)
            free(history->user[v].version.data[i].list);
        CLEAVE_VECTOR_FREE(&history->user[v].version);
    }
    free(history->user);
    *history = (struct cleave__history){0};
}

void cleave__history_acknowledge(struct cleave__history *history, uint32_t user, uint64_t now_ns)
{
    size_t last = history->user[user].version.count - 1;
    history->user[user].version.data[last].acknowledged_ns = now_ns;
}

const struct cleave__user *cleave__history_at(const struct cleave__history *history, uint32_t user,
                                              uint64_t version)
{
    if (user >= history->vertices || version < 1 || version > history->user[user].version.count)
        return NULL;
    return history->user[user].version.data[version - 1].list;
}

void cleave__history_saw(struct cleave__history *history, uint32_t user, uint64_t version,
                         uint64_t asked_ns, uint64_t answered_ns)
{
    struct cleave__version *v = &history->user[user].version.data[version - 1];
    if (asked_ns > v->asked_last_ns)
        v->asked_last_ns = asked_ns;
    if (answered_ns < v->answered_first_ns)
        v->answered_first_ns = answered_ns;
}

bool cleave__history_consistent(const struct cleave__history *history, uint32_t *user,
                                uint64_t *version)
{
    for (uint32_t u = 0; u < history->vertices; u++) {
        const struct cleave__version *v = history->user[u].version.data;
        size_t count = history->user[u].version.count;
        uint64_t older_asked_ns = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t low = v[i].sent_ns > older_asked_ns ? v[i].sent_ns : older_asked_ns;
            uint64_t high = v[i].acknowledged_ns;
            for (size_t j = i; j < count; j++)
                high = v[j].answered_first_ns < high ? v[j].answered_first_ns : high;
            if (low > high) {
                *user = u;
                *version = i + 1;
                return false;
            }
            if (v[i].asked_last_ns > older_asked_ns)
                older_asked_ns = v[i].asked_last_ns;
        }
    }
    return true;
}
