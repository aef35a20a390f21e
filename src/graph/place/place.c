/* The table of placements, and carrying one out. */
#include "graph/place/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "graph/source/read.h"

enum kind { BY_HASH, ON_EDGES, ON_TRAVERSALS };

static const struct {
    struct cleave__graph_placement info;
    enum kind kind;
    const char *placer;
} placements[] = {
    {{"hash", "id modulo shards; text ids by a hash of their bytes"}, BY_HASH, NULL},
    {{"community", "communities dealt out in turn"}, ON_EDGES, "community"},
    {{"balanced", "whole communities, the largest first, to the least loaded"},
     ON_EDGES,
     "balanced"},
    {{"balanced-split", "the same, those too large divided"}, ON_EDGES, "balanced-split"},
    {{"ldg", "in one pass, where neighbours are and room is"}, ON_EDGES, "ldg"},
    {{"fennel", "in one pass, by neighbours less a rising price of size"}, ON_EDGES, "fennel"},
    {{"restream", "ten passes of either, the best kept"}, ON_EDGES, "restream"},
    {{"multilevel", "the partitioner on edges: few hops"}, ON_EDGES, "multilevel"},
    {{"traversals", "the partitioner on what queries read: few remote requests"},
     ON_TRAVERSALS,
     "multilevel"},
    {{"range", "consecutive users"}, ON_EDGES, "range"},
    {{"round-robin", "users dealt out in turn"}, ON_EDGES, "round-robin"},
};

enum { PLACEMENTS = sizeof placements / sizeof *placements };

const struct cleave__graph_placement *cleave__graph_placement_at(uint32_t index)
{
    return index < PLACEMENTS ? &placements[index].info : NULL;
}

static uint32_t find(const char *name)
{
    uint32_t i = 0;
    while (i < PLACEMENTS && strcmp(placements[i].info.name, name))
        i++;
    return i;
}

bool cleave__graph_placement_exists(const char *name)
{
    return find(name) < PLACEMENTS;
}

static enum cleave_status shape(const struct cleave__graph_place_request *r, enum kind kind,
                                struct cleave_hypergraph **out, struct cleave_error *error)
{
    unsigned balance = r->balance ? r->balance : CLEAVE__BALANCE_VERTICES;
    uint64_t *reads = NULL;
    enum cleave_status status = CLEAVE_OK;
    if (balance & CLEAVE__BALANCE_READS) {
        reads = malloc(((size_t)r->graph->vertices + 1) * sizeof *reads);
        status = reads ? cleave__graph_reads(r->graph, r->query, r->source, r->sources, reads,
                                             r->progress, error)
                       : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to count reads");
    }
    if (!status && kind == ON_TRAVERSALS)
        status = cleave__graph_shape_traversals(r->graph, r->query, r->source, r->sources, balance,
                                                reads, r->progress, out, error);
    else if (!status)
        status = cleave__graph_shape_edges(r->graph, balance, reads, out, error);
    free(reads);
    return status;
}

enum cleave_status cleave__graph_place_shape(const struct cleave__graph_place_request *request,
                                             const char *name, struct cleave_hypergraph **out,
                                             struct cleave_error *error)
{
    uint32_t i = find(name);
    return shape(request, i < PLACEMENTS ? placements[i].kind : ON_EDGES, out, error);
}

static void by_hash(const struct cleave__graph *g, uint32_t shards, uint32_t *owner)
{
    for (uint32_t v = 0; v < g->vertices; v++) {
        uint64_t h = g->number ? g->number[v]
                               : XXH3_64bits(g->text.entries[v].bytes, g->text.entries[v].length);
        owner[v] = (uint32_t)(h % shards);
    }
}

static enum cleave_status divide(const struct cleave__graph_place_request *r,
                                 const struct cleave_hypergraph *h, uint32_t row, uint32_t *owner,
                                 bool *balanced, struct cleave_error *error)
{
    struct cleave_partition_options options = {
        .blocks = r->shards,
        .epsilon = r->epsilon,
        .objective = placements[row].kind == ON_TRAVERSALS ? CLEAVE_KM1 : CLEAVE_CUT,
        .preset = r->preset,
        .placer = placements[row].placer,
        .starts = r->starts,
        .threads = r->threads,
        .seed = r->seed,
        .progress = r->progress,
        .community = r->graph->label};
    struct cleave_error inner;
    enum cleave_status status = cleave_partition(h, &options, owner, NULL, &inner);
    *balanced = status == CLEAVE_OK;
    if (!status || status == CLEAVE_UNSATISFIABLE)
        return CLEAVE_OK; /* the nearest will do: it is shown how far off it is */
    return cleave_error_set(error, status, "%s", inner.message);
}

/* Is every shard within epsilon of its share, for placements that no placer made? */
static bool within(const struct cleave__graph_place_request *r, const uint32_t *owner)
{
    uint64_t *users = calloc(r->shards, sizeof *users), most = 0;
    for (uint32_t v = 0; users && v < r->graph->vertices; v++)
        most = ++users[owner[v]] > most ? users[owner[v]] : most;
    bool known = users != NULL;
    free(users);
    return known && (double)most <= (1 + r->epsilon) * ceil((double)r->graph->vertices / r->shards);
}

enum cleave_status cleave__graph_place(const struct cleave__graph_place_request *request,
                                       const char *name, uint32_t *owner,
                                       struct cleave__graph_placed *placed,
                                       struct cleave_error *error)
{
    double start = cleave__clock_s();
    uint32_t row = name[0] == '@' ? PLACEMENTS : find(name);
    enum cleave_status status = CLEAVE_OK;
    bool balanced = false;
    if (request->shards < 1 || request->shards > 1024)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%u shards: must be 1 to 1024",
                                request->shards);
    if (name[0] == '@') {
        status = cleave__graph_read_owner(request->graph, name + 1, request->shards, owner, error);
        balanced = !status && within(request, owner);
    } else if (row == PLACEMENTS) {
        return cleave_error_set(error, CLEAVE_NOT_FOUND,
                                "no placement is called '%.60s' (@FILE names a file)", name);
    } else if (placements[row].kind == BY_HASH) {
        by_hash(request->graph, request->shards, owner);
        balanced = within(request, owner);
    } else {
        struct cleave_hypergraph *h = NULL;
        status = shape(request, placements[row].kind, &h, error);
        if (!status)
            status = divide(request, h, row, owner, &balanced, error);
        cleave_hypergraph_free(h);
    }
    if (!status && placed)
        *placed = (struct cleave__graph_placed){balanced, cleave__clock_s() - start};
    return status;
}
