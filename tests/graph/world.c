#include "graph/world.h"

#include <stdio.h>
#include <stdlib.h>

struct cleave__graph *world_graph(struct property_source *source)
{
    uint32_t n = 1 + (uint32_t)property_draw(source, 30);
    uint32_t edges = (uint32_t)property_draw(source, 90);
    struct cleave__edges list = {0};
    struct cleave__graph *g;
    struct cleave_error error;
    for (uint32_t e = 0; e < 2 * edges; e++) {
        if (!CLEAVE_PUSH(&list.end, (uint32_t)property_draw(source, n)))
            abort();
    }
    if (cleave__graph_build(n, &list, property_draw(source, 2), &g, &error))
        abort();
    CLEAVE_VECTOR_FREE(&list.end);
    if (property_draw(source, 2)) {
        g->label = malloc(n * sizeof *g->label);
        g->labels = n < 3 ? n : 3;
        for (uint32_t v = 0; g->label && v < n; v++)
            g->label[v] = (uint32_t)property_draw(source, g->labels);
    }
    if (cleave__graph_check(g, &error))
        abort();
    return g;
}

struct cleave__query world_query(struct property_source *source, const struct cleave__graph *graph)
{
    struct cleave__query q = {
        .source = (uint32_t)property_draw(source, graph->vertices),
        .hops = 1 + (uint32_t)property_draw(source, 5),
        .exactly = property_draw(source, 2),
        .by_label = graph->label && property_draw(source, 3) == 1,
        .by_degree = property_draw(source, 3) == 1,
        .by_id = property_draw(source, 3) == 1,
        .degree_low = (uint32_t)property_draw(source, 4),
        .degree_high = (uint32_t)property_draw(source, 12),
        .id_low = property_draw(source, 20),
        .id_high = property_draw(source, 40),
        .limit = property_draw(source, 2) ? property_draw(source, 12) : 0,
    };
    q.label = q.by_label ? (uint32_t)property_draw(source, graph->labels) : 0;
    q.top = q.limit && property_draw(source, 3) == 1;
    return q;
}

void world_print(const struct cleave__graph *g, const struct cleave__query *q)
{
    for (uint32_t v = 0; v < g->vertices; v++) {
        printf("%u%s:", v, g->label ? "" : " (no label)");
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
            printf(" %u", g->target[i]);
        printf("\n");
    }
    printf("from %u, %u hops%s%s%s%s, limit %llu%s\n", q->source, q->hops,
           q->exactly ? " exactly" : "", q->by_label ? ", label" : "",
           q->by_degree ? ", degree" : "", q->by_id ? ", id" : "", (unsigned long long)q->limit,
           q->top ? " top" : "");
}
