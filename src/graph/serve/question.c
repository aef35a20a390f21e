/* What a query asks, as a coordinator of another process is told. Strangers' bytes: whatever they
 * are, what comes out is a query that the graph can be asked, or none. */
#include <string.h>

#include "graph/serve/world.h"

enum cleave__serving_executor cleave__serving_executor_of(const char *name)
{
    return !strcmp(name, "direct")    ? CLEAVE__SERVE_DIRECT
           : !strcmp(name, "batched") ? CLEAVE__SERVE_BATCHED
                                      : CLEAVE__SERVE_EARLY;
}

enum {
    EXACTLY = 1,
    BY_LABEL = 2,
    BY_DEGREE = 4,
    BY_ID = 8,
    TOP = 16,
};

void cleave__question_write(const struct cleave__query *query,
                            enum cleave__serving_executor executor, struct cleave_writer *writer)
{
    cleave__put8(writer, (uint8_t)executor);
    cleave__put8(writer,
                 (uint8_t)((query->exactly ? EXACTLY : 0) | (query->by_label ? BY_LABEL : 0) |
                           (query->by_degree ? BY_DEGREE : 0) | (query->by_id ? BY_ID : 0) |
                           (query->top ? TOP : 0)));
    cleave__put32(writer, query->hops);
    cleave__put32(writer, query->label);
    cleave__put32(writer, query->degree_low);
    cleave__put32(writer, query->degree_high);
    cleave__put64(writer, query->id_low);
    cleave__put64(writer, query->id_high);
    cleave__put64(writer, query->limit);
}

bool cleave__question_read(struct cleave_reader *reader, const struct cleave__graph *graph,
                           struct cleave__query *query, enum cleave__serving_executor *executor)
{
    struct cleave__query q = {.source = query->source};
    uint8_t how = cleave__get8(reader), flags = cleave__get8(reader);
    q.exactly = flags & EXACTLY;
    q.by_label = flags & BY_LABEL;
    q.by_degree = flags & BY_DEGREE;
    q.by_id = flags & BY_ID;
    q.top = flags & TOP;
    q.hops = cleave__get32(reader);
    q.label = cleave__get32(reader);
    q.degree_low = cleave__get32(reader);
    q.degree_high = cleave__get32(reader);
    q.id_low = cleave__get64(reader);
    q.id_high = cleave__get64(reader);
    q.limit = cleave__get64(reader);
    if (reader->failed || cleave__left(reader) || how > CLEAVE__SERVE_EARLY || flags >= 2 * TOP ||
        cleave__query_check(graph, &q, NULL))
        return false;
    *query = q;
    *executor = (enum cleave__serving_executor)how;
    return true;
}
