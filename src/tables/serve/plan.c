#include "tables/serve/plan.h"

bool cleave__plan_add(struct cleave_plan *plan, const struct cleave_plan_part *parts,
                      uint32_t count, bool writes, uint32_t gathers)
{
    if (!CLEAVE_RESERVE(&plan->offsets, plan->offsets.count + 2) ||
        !CLEAVE_RESERVE(&plan->parts, plan->parts.count + count) ||
        !CLEAVE_RESERVE(&plan->gathers, plan->gathers.count + 1) ||
        !CLEAVE_PUSH(&plan->writes, writes))
        return false;
    if (plan->offsets.count == 0)
        plan->offsets.data[plan->offsets.count++] = 0;
    for (uint32_t i = 0; i < count; i++)
        plan->parts.data[plan->parts.count++] = parts[i];
    plan->offsets.data[plan->offsets.count++] = plan->parts.count;
    plan->gathers.data[plan->gathers.count++] = gathers;
    plan->transactions++;
    return true;
}

void cleave__plan_free(struct cleave_plan *plan)
{
    CLEAVE_VECTOR_FREE(&plan->offsets);
    CLEAVE_VECTOR_FREE(&plan->parts);
    CLEAVE_VECTOR_FREE(&plan->writes);
    CLEAVE_VECTOR_FREE(&plan->gathers);
}

/* Adds the accesses of one transaction up by shard; `set` are the shards that it touches. How many
 * are gathered. */
static uint32_t share_out(const struct cleave_lookup *lookup,
                          const struct cleave_workload *workload, uint32_t transaction,
                          const struct cleave_shardset *set, uint32_t accesses[CLEAVE_SHARDS_MAX])
{
    uint32_t first = cleave__shardset_first(set), gathers = 0;
    for (uint64_t a = workload->offsets.data[transaction];
         a < workload->offsets.data[transaction + 1]; a++) {
        struct cleave_workload_access access = workload->accesses.data[a];
        const struct cleave_workload_box *box = &workload->boxes.data[access.box];
        struct cleave_shardset to;
        cleave__shardset_clear(&to);
        if (!cleave__lookup_replicated(lookup, box->table))
            cleave__lookup_box(lookup, box->table, &box->box, box->insert, access.write, &to);
        else if (access.write)
            to = *set;
        uint32_t on = 0;
        for (uint32_t s = first; s < cleave__lookup_shards(lookup); s++) {
            if (cleave__shardset_has(&to, s) && cleave__shardset_has(set, s)) {
                accesses[s]++;
                on++;
            }
        }
        gathers += !access.write && on > 1;
        if (!on) /* a copy will do, or it is served together with others */
            accesses[first]++;
    }
    return gathers;
}

enum cleave_status cleave__plan_make(const struct cleave_lookup *lookup,
                                     const struct cleave_workload *workload, uint32_t most,
                                     struct cleave_plan *out, struct cleave_error *error)
{
    struct cleave_plan plan = {.shards = cleave__lookup_shards(lookup)};
    struct cleave_plan_part parts[CLEAVE_SHARDS_MAX];
    for (uint32_t t = 0; t < workload->transactions && t < most; t++) {
        struct cleave_shardset set;
        uint32_t accesses[CLEAVE_SHARDS_MAX] = {0}, count = 0;
        cleave__touch(lookup, workload, t, &set);
        if (cleave__shardset_count(&set) == 0) /* any shard will do: they take turns */
            cleave__shardset_add(&set, t % plan.shards);
        uint32_t gathers = share_out(lookup, workload, t, &set, accesses);
        for (uint32_t s = 0; s < plan.shards; s++) {
            if (cleave__shardset_has(&set, s))
                parts[count++] = (struct cleave_plan_part){s, accesses[s] ? accesses[s] : 1};
        }
        if (!cleave__plan_add(&plan, parts, count, workload->writes.data[t], gathers)) {
            cleave__plan_free(&plan);
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the simulation");
        }
    }
    *out = plan;
    return CLEAVE_OK;
}
