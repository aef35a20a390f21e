/* Counting: each distinct box is routed once, by each key of its table; a transaction is the union
 * of its boxes. Reads of a table with two keys are served as layout.h says. */
#include "tables/compare/count.h"

#include <stdlib.h>
#include <string.h>

/* Where a box goes, in 4 bytes: one shard, nowhere to go but any (a replicated read), every shard
 * (a replicated write is known by its access), or a set kept aside. */
enum { ANY = UINT32_MAX, SET_BIT = 1u << 31 };

struct routes {
    uint32_t *code[2]; /* [boxes], by the first key and by the second; the latter is NULL when no
                          table has two, and ANY for tables that have one */
    CLEAVE_VECTOR(struct cleave_shardset) sets;
};

static bool route_box(const struct cleave_lookup *lookup, const struct cleave_workload_box *box,
                      bool second, struct routes *routes, uint32_t *code)
{
    struct cleave_shardset set;
    cleave__shardset_clear(&set);
    cleave__lookup_box_by(lookup, box->table, &box->box, box->insert, second, &set);
    if (cleave__shardset_count(&set) == 1) {
        *code = cleave__shardset_first(&set);
        return true;
    }
    *code = SET_BIT | (uint32_t)routes->sets.count;
    return CLEAVE_PUSH(&routes->sets, set);
}

static bool route_boxes(const struct cleave_lookup *lookup, const struct cleave_workload *workload,
                        struct routes *routes)
{
    size_t count = workload->boxes.count;
    bool twice = false;
    for (uint32_t t = 0; t < workload->schema->table_count; t++)
        twice = twice || cleave__lookup_twice(lookup, t);
    routes->code[0] = malloc((count + 1) * sizeof(uint32_t));
    routes->code[1] = twice ? malloc((count + 1) * sizeof(uint32_t)) : NULL;
    if (!routes->code[0] || (twice && !routes->code[1]))
        return false;
    for (size_t b = 0; b < count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b];
        routes->code[0][b] = ANY;
        if (twice)
            routes->code[1][b] = ANY;
        if (cleave__lookup_replicated(lookup, box->table))
            continue;
        if (!route_box(lookup, box, false, routes, &routes->code[0][b]))
            return false;
        if (cleave__lookup_twice(lookup, box->table) &&
            !route_box(lookup, box, true, routes, &routes->code[1][b]))
            return false;
    }
    return true;
}

static void add_code(const struct routes *routes, uint32_t code, struct cleave_shardset *set)
{
    if (code & SET_BIT)
        cleave__shardset_or(set, &routes->sets.data[code & ~SET_BIT]);
    else
        cleave__shardset_add(set, code);
}

/* An access to a table with two keys: `count` boxes together. */
static void serve(const struct routes *routes, const uint32_t *boxes, uint32_t count, bool write,
                  struct cleave_shardset *set)
{
    struct cleave_shardset by[2];
    for (uint32_t k = 0; k < 2; k++) {
        cleave__shardset_clear(&by[k]);
        for (uint32_t i = 0; i < count; i++)
            add_code(routes, routes->code[k][boxes[i]], &by[k]);
    }
    cleave__lookup_serve(&by[0], &by[1], write, set);
}

static void touch(const struct routes *routes, const struct cleave_workload *workload,
                  uint32_t transaction, uint32_t shards, struct cleave_shardset *set)
{
    const uint32_t *second = routes->code[1];
    cleave__shardset_clear(set);
    uint64_t end = workload->offsets.data[transaction + 1];
    for (uint64_t a = workload->offsets.data[transaction]; a < end; a++) {
        struct cleave_workload_access access = workload->accesses.data[a];
        uint32_t code = routes->code[0][access.box];
        if (code == ANY) {
            if (access.write)
                cleave__shardset_fill(set, shards);
        } else if (!second || second[access.box] == ANY) {
            add_code(routes, code, set);
        } else if (access.write || !access.part) {
            serve(routes, &access.box, 1, access.write, set);
        }
    }
    uint64_t at = 0;
    uint32_t count;
    for (const uint32_t *boxes;
         second && (boxes = cleave__workload_union(workload, transaction, &at, &count));) {
        if (second[boxes[0]] != ANY)
            serve(routes, boxes, count, false, set);
    }
}

void cleave__touch(const struct cleave_lookup *lookup, const struct cleave_workload *workload,
                   uint32_t transaction, struct cleave_shardset *out)
{
    cleave__shardset_clear(out);
    for (uint64_t a = workload->offsets.data[transaction];
         a < workload->offsets.data[transaction + 1]; a++) {
        struct cleave_workload_access access = workload->accesses.data[a];
        const struct cleave_workload_box *box = &workload->boxes.data[access.box];
        if (!cleave__lookup_replicated(lookup, box->table)) {
            if (access.write || !access.part || !cleave__lookup_twice(lookup, box->table))
                cleave__lookup_box(lookup, box->table, &box->box, box->insert, access.write, out);
        } else if (access.write) {
            cleave__shardset_fill(out, cleave__lookup_shards(lookup));
        }
    }
    uint64_t at = 0;
    uint32_t count;
    for (const uint32_t *boxes;
         (boxes = cleave__workload_union(workload, transaction, &at, &count));) {
        if (!cleave__lookup_twice(lookup, workload->boxes.data[boxes[0]].table))
            continue;
        struct cleave_shardset by[2];
        for (uint32_t k = 0; k < 2; k++) {
            cleave__shardset_clear(&by[k]);
            for (uint32_t i = 0; i < count; i++) {
                const struct cleave_workload_box *box = &workload->boxes.data[boxes[i]];
                cleave__lookup_box_by(lookup, box->table, &box->box, box->insert, k, &by[k]);
            }
        }
        cleave__lookup_serve(&by[0], &by[1], false, out);
    }
}

enum cleave_status cleave__count(const struct cleave_lookup *lookup,
                                 const struct cleave_workload *workload, double coordination,
                                 struct cleave_arena *arena, struct cleave_count *out,
                                 struct cleave_error *error)
{
    uint32_t shards = cleave__lookup_shards(lookup);
    struct routes routes = {0};
    struct cleave_count count = {.transactions = workload->transactions};
    count.accesses = cleave__arena_zalloc(arena, shards * sizeof *count.accesses);
    count.work = cleave__arena_zalloc(arena, shards * sizeof *count.work);
    bool ok = count.accesses && count.work && route_boxes(lookup, workload, &routes);
    for (uint32_t t = 0; ok && t < workload->transactions; t++) {
        struct cleave_shardset set;
        touch(&routes, workload, t, shards, &set);
        uint32_t parts = cleave__shardset_count(&set);
        if (parts == 0) { /* any shard will do: they take turns */
            cleave__shardset_add(&set, t % shards);
            parts = 1;
        }
        count.parts += parts;
        bool distributed = parts > 1;
        count.distributed += distributed;
        count.write_distributed += distributed && workload->writes.data[t];
        count.read_only_distributed += distributed && !workload->writes.data[t];
        for (uint32_t s = 0; s < shards; s++) {
            if (!cleave__shardset_has(&set, s))
                continue;
            count.accesses[s] += 1;
            count.work[s] += distributed ? coordination : 1;
        }
    }
    free(routes.code[0]);
    free(routes.code[1]);
    CLEAVE_VECTOR_FREE(&routes.sets);
    if (!ok)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for counting");
    *out = count;
    return CLEAVE_OK;
}

double cleave__imbalance(const double *load, uint32_t count)
{
    double total = 0, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += load[i];
        most = load[i] > most ? load[i] : most;
    }
    return total > 0 ? most * count / total - 1 : 0;
}
