/* Counting: each distinct box is routed once; a transaction is the union of its boxes. */
#include "tables/compare/count.h"

#include <stdlib.h>
#include <string.h>

/* Where a box goes, in 4 bytes: one shard, nowhere to go but any (a replicated read), every shard
 * (a replicated write is known by its access), or a set kept aside. */
enum { ANY = UINT32_MAX, SET_BIT = 1u << 31 };

struct routes {
    uint32_t *code; /* [boxes] */
    CLEAVE_VECTOR(struct cleave_shardset) sets;
};

static bool route_boxes(const struct cleave_lookup *lookup, const struct cleave_workload *workload,
                        struct routes *routes)
{
    routes->code = malloc((workload->boxes.count + 1) * sizeof *routes->code);
    if (!routes->code)
        return false;
    for (size_t b = 0; b < workload->boxes.count; b++) {
        const struct cleave_workload_box *box = &workload->boxes.data[b];
        if (cleave__lookup_replicated(lookup, box->table)) {
            routes->code[b] = ANY;
            continue;
        }
        struct cleave_shardset set;
        cleave__shardset_clear(&set);
        cleave__lookup_box(lookup, box->table, &box->box, box->insert, &set);
        uint32_t size = cleave__shardset_count(&set);
        if (size == 1) {
            routes->code[b] = cleave__shardset_first(&set);
            continue;
        }
        routes->code[b] = SET_BIT | (uint32_t)routes->sets.count;
        if (!CLEAVE_PUSH(&routes->sets, set))
            return false;
    }
    return true;
}

static void touch(const struct routes *routes, const struct cleave_workload *workload,
                  uint32_t transaction, uint32_t shards, struct cleave_shardset *set)
{
    cleave__shardset_clear(set);
    uint64_t end = workload->offsets.data[transaction + 1];
    for (uint64_t a = workload->offsets.data[transaction]; a < end; a++) {
        struct cleave_workload_access access = workload->accesses.data[a];
        uint32_t code = routes->code[access.box];
        if (code == ANY) {
            if (access.write)
                cleave__shardset_fill(set, shards);
        } else if (code & SET_BIT) {
            cleave__shardset_or(set, &routes->sets.data[code & ~SET_BIT]);
        } else {
            cleave__shardset_add(set, code);
        }
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
    free(routes.code);
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
