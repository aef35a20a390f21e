/* Edge lists. Ids are interned as they come; when all of them turn out to be numbers, users are
 * numbered anew in their order, so that the order of lines does not matter. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleave/hypergraph.h"
#include "graph/source/fields.h"
#include "graph/source/read.h"

enum { REPORT_EVERY = 1 << 16 };

struct reading {
    struct cleave__fields fields;
    struct cleave_intern ids;
    struct cleave__edges edges;
    struct cleave__graph_remarks remarks;
    uint32_t words;            /* ids that are no numbers */
    uint64_t first_line_again; /* uses of the first line's ids on later lines */
    bool first_is_words;
};

struct numbered {
    uint64_t number;
    uint32_t id;
};

static int compare(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static enum cleave_status no_memory(const char *path, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%.200s: no memory for the graph", path);
}

static enum cleave_status add(struct reading *r, const char *text, size_t length,
                              struct cleave_error *error)
{
    uint32_t before = r->ids.count;
    uint32_t id = cleave__intern_add(&r->ids, text, length);
    uint64_t number;
    if (id == CLEAVE_INTERN_NONE || !CLEAVE_PUSH(&r->edges.end, id))
        return no_memory(r->fields.path, error);
    if (r->ids.count > before)
        r->words += !cleave__graph_number(text, length, &number);
    r->first_line_again += r->remarks.lines > 0 && id < 2;
    return CLEAVE_OK;
}

static enum cleave_status read_lines(struct reading *r, const struct cleave_progress *progress,
                                     struct cleave_error *error)
{
    enum cleave_status status;
    while (!(status = cleave__fields_next(&r->fields, "source and target", error))) {
        status = add(r, r->fields.first, r->fields.first_length, error);
        if (!status)
            status = add(r, r->fields.second, r->fields.second_length, error);
        if (status)
            return status;
        if (r->remarks.lines == 0)
            r->first_is_words = r->words == 2;
        r->remarks.lines++;
        r->remarks.further_fields += r->fields.further;
        if (progress && r->remarks.lines % REPORT_EVERY == 0) {
            if (progress->report)
                progress->report(progress->context, "reading edges", r->remarks.lines, 0);
            if (progress->stop && *progress->stop)
                return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        }
    }
    return status == CLEAVE_END ? CLEAVE_OK : status;
}

/* Numbers users by their ids. `skip`: the first two ids are names of columns. */
static enum cleave_status by_number(struct reading *r, uint32_t skip, struct cleave__graph **out,
                                    bool both, struct cleave_error *error)
{
    uint32_t n = r->ids.count - skip;
    struct numbered *order = malloc(((size_t)n + 1) * sizeof *order);
    uint32_t *place = malloc(((size_t)r->ids.count + 1) * sizeof *place);
    enum cleave_status status = CLEAVE_OK;
    if (!order || !place)
        status = no_memory(r->fields.path, error);
    for (uint32_t i = 0; !status && i < n; i++) {
        const struct cleave_intern_entry *e = &r->ids.entries[i + skip];
        order[i].id = i + skip;
        cleave__graph_number(e->bytes, e->length, &order[i].number);
    }
    if (!status) {
        qsort(order, n, sizeof *order, compare);
        for (uint32_t v = 0; v < n; v++)
            place[order[v].id] = v;
        for (size_t i = 0; i < r->edges.end.count; i++)
            r->edges.end.data[i] = place[r->edges.end.data[i]];
        status = cleave__graph_build(n, &r->edges, both, out, error);
    }
    for (uint32_t v = 0; !status && v < n; v++)
        (*out)->number[v] = order[v].number;
    free(order);
    free(place);
    return status;
}

static enum cleave_status by_text(struct reading *r, struct cleave__graph **out, bool both,
                                  struct cleave_error *error)
{
    enum cleave_status status = cleave__graph_build(r->ids.count, &r->edges, both, out, error);
    if (status)
        return status;
    free((*out)->number);
    (*out)->number = NULL;
    (*out)->text = r->ids;
    r->ids = (struct cleave_intern){0};
    return CLEAVE_OK;
}

static enum cleave_status finish(struct reading *r, bool both, struct cleave__graph **out,
                                 struct cleave_error *error)
{
    uint32_t skip = 0;
    if (r->remarks.lines > 1 && r->first_is_words && r->words == 2 && !r->first_line_again) {
        skip = 2;
        r->remarks.header = true;
        r->remarks.lines--;
        r->edges.end.count -= 2;
        memmove(r->edges.end.data, r->edges.end.data + 2, r->edges.end.count * sizeof(uint32_t));
    }
    struct cleave__graph *graph = NULL;
    enum cleave_status status = r->words == skip ? by_number(r, skip, &graph, both, error)
                                                 : by_text(r, &graph, both, error);
    if (status)
        return status;
    graph->remarks.lines = r->remarks.lines;
    graph->remarks.header = r->remarks.header;
    graph->remarks.further_fields = r->remarks.further_fields;
    *out = graph;
    return CLEAVE_OK;
}

static enum cleave_status read_list(const char *path, bool both,
                                    const struct cleave_progress *progress,
                                    struct cleave__graph **out, struct cleave_error *error)
{
    struct reading r = {0};
    enum cleave_status status = cleave__fields_open(&r.fields, path, error);
    if (status)
        return status;
    status = read_lines(&r, progress, error);
    cleave__fields_close(&r.fields);
    if (!status && r.remarks.lines == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%.200s: no edges", r.fields.path);
    if (!status)
        status = finish(&r, both, out, error);
    cleave__intern_free(&r.ids);
    CLEAVE_VECTOR_FREE(&r.edges.end);
    return status;
}

static enum cleave_status read_metis(const char *path, struct cleave__graph **out,
                                     struct cleave_error *error)
{
    struct cleave_hypergraph *h;
    enum cleave_status status = cleave_hypergraph_read_graph(path, &h, error);
    if (status)
        return status;
    struct cleave__edges edges = {0};
    if (h->vertices == 0)
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%.200s: no vertices", path);
    else if (!CLEAVE_RESERVE(&edges.end, h->net_offset[h->nets] + 1))
        status = no_memory(path, error);
    for (uint32_t e = 0; !status && e < h->nets; e++) {
        /* A repeated neighbour makes two nets; both pins are always there. */
        for (uint64_t i = h->net_offset[e]; i < h->net_offset[e + 1]; i++)
            edges.end.data[edges.end.count++] = h->pin[i];
    }
    if (!status)
        status = cleave__graph_build(h->vertices, &edges, true, out, error);
    CLEAVE_VECTOR_FREE(&edges.end);
    cleave_hypergraph_free(h);
    return status;
}

static bool is_metis(const char *path)
{
    static const char *const packed[] = {".gz", ".bz2", ".xz", ".zst"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t tail = strlen(packed[i]);
        if (length > tail && !strcmp(path + length - tail, packed[i])) {
            length -= tail;
            break;
        }
    }
    return length > 6 && !memcmp(path + length - 6, ".graph", 6);
}

enum cleave_status cleave__graph_read(const char *path, bool both,
                                      const struct cleave_progress *progress,
                                      struct cleave__graph **out, struct cleave_error *error)
{
    return is_metis(path) ? read_metis(path, out, error)
                          : read_list(path, both, progress, out, error);
}
