/* The graph itself: checking it and its ids. */
#include "graph/source/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void cleave__graph_free(struct cleave__graph *graph)
{
    if (!graph)
        return;
    free(graph->offset);
    free(graph->target);
    free(graph->number);
    free(graph->label);
    cleave__intern_free(&graph->text);
    cleave__intern_free(&graph->label_text);
    free(graph);
}

static enum cleave_status broken(struct cleave_error *error, uint32_t v, const char *what)
{
    return cleave_error_set(error, CLEAVE_CORRUPT, "user number %" PRIu32 ": %s", v, what);
}

enum cleave_status cleave__graph_check(const struct cleave__graph *graph,
                                       struct cleave_error *error)
{
    const struct cleave__graph *g = graph;
    if (g->offset[0] != 0)
        return broken(error, 0, "the first list does not begin at 0");
    if (!g->number && g->text.count != g->vertices)
        return broken(error, g->text.count, "ids and users differ in number");
    for (uint32_t v = 0; v < g->vertices; v++) {
        if (g->offset[v + 1] < g->offset[v])
            return broken(error, v, "its list ends before it begins");
        if (g->number && v && g->number[v] <= g->number[v - 1])
            return broken(error, v, "ids do not rise");
        if (g->label && g->label[v] >= g->labels)
            return broken(error, v, "its label is out of range");
        for (uint64_t i = g->offset[v]; i < g->offset[v + 1]; i++) {
            if (g->target[i] >= g->vertices)
                return broken(error, v, "it follows nobody that there is");
            if (g->target[i] == v)
                return broken(error, v, "it follows itself");
            if (i > g->offset[v] && g->target[i] <= g->target[i - 1])
                return broken(error, v, "its targets do not rise");
        }
    }
    return CLEAVE_OK;
}

bool cleave__graph_number(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    if (length == 0 || length > 20 || (text[0] == '0' && length > 1))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool cleave__graph_find(const struct cleave__graph *graph, const char *id, size_t length,
                        uint32_t *out)
{
    if (!graph->number) {
        uint32_t found = cleave__intern_find(&graph->text, id, length);
        if (found == CLEAVE_INTERN_NONE)
            return false;
        *out = found;
        return true;
    }
    uint64_t number;
    if (!cleave__graph_number(id, length, &number))
        return false;
    uint32_t low = 0, high = graph->vertices;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->number[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == graph->vertices || graph->number[low] != number)
        return false;
    *out = low;
    return true;
}

const char *cleave__graph_id(const struct cleave__graph *graph, uint32_t v, char *buffer,
                             size_t *length)
{
    if (!graph->number) {
        *length = graph->text.entries[v].length;
        return graph->text.entries[v].bytes;
    }
    *length = (size_t)snprintf(buffer, 24, "%" PRIu64, graph->number[v]);
    return buffer;
}
