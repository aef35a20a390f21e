/* The partitioner against every assignment there is, on instances of up to twelve vertices: it
 * calls satisfiable exactly what is, never breaks a promise, and finds the optimum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cleave/partition.h"
#include "support/property.h"

enum { VERTICES = 12, NETS = 14, BLOCKS = 5, WEIGHTS = 3, ASSIGNMENTS = 70000 };

struct instance {
    uint32_t n, nets, k, W;
    uint64_t offset[NETS + 1];
    uint32_t pin[NETS * VERTICES];
    int64_t weight[VERTICES * WEIGHTS], net_weight[NETS];
    double epsilon[WEIGHTS], share[BLOCKS];
    int32_t fixed[VERTICES];
    uint32_t together[VERTICES], apart[3][2], apart_count;
    bool has_shares, has_fixed, has_together, has_epsilons, has_floors, has_start;
    double underweight[WEIGHTS];
    uint32_t start[VERTICES];
    int64_t budget; /* 0: none */
    enum cleave_preset preset;
    enum cleave_objective objective;
    uint64_t seed;
};

static void draw(struct property_source *s, struct instance *x)
{
    memset(x, 0, sizeof *x);
    x->k = 1 + (uint32_t)property_draw(s, BLOCKS);
    x->n = 1 + (uint32_t)property_draw(s, VERTICES);
    double assignments = 1;
    for (uint32_t v = 0; v < x->n; v++) {
        assignments *= x->k;
        if (assignments > ASSIGNMENTS)
            x->n = v;
    }
    x->W = 1 + (uint32_t)property_draw(s, WEIGHTS);
    x->nets = (uint32_t)property_draw(s, NETS + 1);
    uint32_t used = 0;
    for (uint32_t e = 0; e < x->nets; e++) {
        uint32_t size = (uint32_t)property_draw(s, 5);
        for (uint32_t i = 0; i < size; i++)
            x->pin[used++] = (uint32_t)property_draw(s, x->n);
        x->offset[e + 1] = used;
        x->net_weight[e] = property_between(s, 0, 4);
    }
    int64_t heaviest = property_draw(s, 2) ? 20 : 2;
    for (uint32_t i = 0; i < x->n * x->W; i++)
        x->weight[i] = property_between(s, 0, heaviest);
    static const double epsilons[] = {0.03, 0, 0.1, 0.3, 1};
    x->has_epsilons = property_draw(s, 2);
    for (uint32_t c = 0; c < WEIGHTS; c++)
        x->epsilon[c] = epsilons[property_draw(s, 5)];
    x->has_shares = property_draw(s, 3) == 1;
    for (uint32_t b = 0; b < x->k; b++)
        x->share[b] = 1 + (double)property_draw(s, 4);
    x->has_fixed = property_draw(s, 3) == 1;
    for (uint32_t v = 0; v < x->n; v++)
        x->fixed[v] = property_draw(s, 4) == 1 ? (int32_t)property_draw(s, x->k) : CLEAVE_FREE;
    x->has_together = property_draw(s, 3) == 1;
    for (uint32_t v = 0; v < x->n; v++)
        x->together[v] = (uint32_t)property_draw(s, 4) * 1000003u;
    x->apart_count = x->n > 1 ? (uint32_t)property_draw(s, 4) : 0;
    for (uint32_t i = 0; i < x->apart_count; i++) {
        x->apart[i][0] = (uint32_t)property_draw(s, x->n);
        x->apart[i][1] = (x->apart[i][0] + 1 + (uint32_t)property_draw(s, x->n - 1)) % x->n;
    }
    x->objective = (enum cleave_objective)property_draw(s, 3);
    static const double underweights[] = {1, 0.5, 0.1, 0};
    x->has_floors = property_draw(s, 3) == 1;
    for (uint32_t c = 0; c < WEIGHTS; c++)
        x->underweight[c] = underweights[property_draw(s, 4)];
    x->has_start = property_draw(s, 3) == 1;
    for (uint32_t v = 0; v < x->n; v++)
        x->start[v] = (uint32_t)property_draw(s, x->k);
    /* Groups move as wholes and count as such, which is more than what a budget forbids. */
    x->budget = x->has_start && !x->has_together ? property_between(s, 0, 30) : 0;
    x->preset = (enum cleave_preset)property_draw(s, 3);
    x->seed = property_draw(s, 1000);
}

static void print(const struct instance *x)
{
    printf("k %u, n %u, W %u, %s, seed %llu\n", x->k, x->n, x->W,
           x->objective == CLEAVE_CUT   ? "cut"
           : x->objective == CLEAVE_KM1 ? "km1"
                                        : "soed",
           (unsigned long long)x->seed);
    for (uint32_t e = 0; e < x->nets; e++) {
        printf("net of weight %lld:", (long long)x->net_weight[e]);
        for (uint64_t i = x->offset[e]; i < x->offset[e + 1]; i++)
            printf(" %u", x->pin[i]);
        printf("\n");
    }
    for (uint32_t v = 0; v < x->n; v++) {
        printf("vertex %u:", v);
        for (uint32_t c = 0; c < x->W; c++)
            printf(" %lld", (long long)x->weight[v * x->W + c]);
        if (x->has_fixed)
            printf(" fixed %d", x->fixed[v]);
        if (x->has_together)
            printf(" group %u", x->together[v]);
        if (x->has_start)
            printf(" start %u", x->start[v]);
        printf("\n");
    }
    for (uint32_t c = 0; c < x->W; c++)
        printf("epsilon %g\n", x->epsilon[x->has_epsilons ? c : 0]);
    for (uint32_t c = 0; c < x->W && x->has_floors; c++)
        printf("underweight %g\n", x->underweight[c]);
    if (x->budget)
        printf("budget %lld\n", (long long)x->budget);
    for (uint32_t b = 0; b < x->k && x->has_shares; b++)
        printf("share %g\n", x->share[b]);
    for (uint32_t i = 0; i < x->apart_count; i++)
        printf("apart %u %u\n", x->apart[i][0], x->apart[i][1]);
}

/* Written from the words of the header, without the library. */
static bool satisfies(const struct instance *x, const uint32_t *block, bool no_empty)
{
    double whole = 0;
    for (uint32_t b = 0; b < x->k; b++)
        whole += x->has_shares ? x->share[b] : 1;
    for (uint32_t c = 0; c < x->W; c++) {
        int64_t total = 0, load[BLOCKS] = {0};
        for (uint32_t v = 0; v < x->n; v++) {
            total += x->weight[v * x->W + c];
            load[block[v]] += x->weight[v * x->W + c];
        }
        for (uint32_t b = 0; b < x->k; b++) {
            /* Shares are whole numbers here, so the quota is exact. */
            int64_t part = x->has_shares ? (int64_t)x->share[b] : 1, all = (int64_t)whole;
            int64_t quota = (part * total + all - 1) / all;
            double epsilon = x->epsilon[x->has_epsilons ? c : 0];
            if ((double)load[b] > (1 + epsilon) * (double)quota)
                return false;
            int64_t fair = part * total / all;
            if (x->has_floors && load[b] < (int64_t)((1 - x->underweight[c]) * (double)fair))
                return false;
        }
    }
    int64_t moved = 0;
    for (uint32_t v = 0; v < x->n && x->budget; v++)
        moved += block[v] != x->start[v] ? x->weight[v * x->W] : 0;
    if (x->budget && moved > x->budget)
        return false;
    uint32_t members[BLOCKS] = {0};
    for (uint32_t v = 0; v < x->n; v++) {
        members[block[v]]++;
        if (x->has_fixed && x->fixed[v] != CLEAVE_FREE && (uint32_t)x->fixed[v] != block[v])
            return false;
        for (uint32_t u = 0; u < v && x->has_together; u++) {
            if (x->together[u] && x->together[u] == x->together[v] && block[u] != block[v])
                return false;
        }
    }
    for (uint32_t i = 0; i < x->apart_count; i++) {
        if (block[x->apart[i][0]] == block[x->apart[i][1]])
            return false;
    }
    for (uint32_t b = 0; b < x->k && no_empty; b++) {
        if (!members[b])
            return false;
    }
    return true;
}

static int64_t cost(const struct instance *x, const uint32_t *block)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < x->nets; e++) {
        bool in[BLOCKS] = {0};
        int64_t touched = 0;
        for (uint64_t i = x->offset[e]; i < x->offset[e + 1]; i++) {
            touched += !in[block[x->pin[i]]];
            in[block[x->pin[i]]] = true;
        }
        if (touched > 1)
            sum += x->net_weight[e] * (x->objective == CLEAVE_CUT   ? 1
                                       : x->objective == CLEAVE_KM1 ? touched - 1
                                                                    : touched);
    }
    return sum;
}

/* Can every block without a fixed vertex have a free vertex or group of its own? */
static bool must_fill(const struct instance *x)
{
    bool occupied[BLOCKS] = {0};
    uint32_t empty = x->k, units = 0;
    for (uint32_t v = 0; v < x->n; v++) {
        bool seated = x->has_fixed && x->fixed[v] != CLEAVE_FREE, first = true;
        if (seated) {
            empty -= !occupied[x->fixed[v]];
            occupied[x->fixed[v]] = true;
        }
        for (uint32_t u = 0; u < x->n && x->has_together && x->together[v]; u++) {
            if (x->together[u] != x->together[v])
                continue;
            first &= u >= v;
            seated |= x->has_fixed && x->fixed[u] != CLEAVE_FREE;
        }
        units += first && !seated;
    }
    return empty <= units;
}

static int64_t brute_force(const struct instance *x, bool no_empty)
{
    uint32_t block[VERTICES] = {0};
    int64_t best = -1;
    for (;;) {
        if (satisfies(x, block, no_empty)) {
            int64_t here = cost(x, block);
            if (best < 0 || here < best)
                best = here;
        }
        uint32_t v = 0;
        while (v < x->n && ++block[v] == x->k)
            block[v++] = 0;
        if (v == x->n)
            return best;
    }
}

static bool agrees(struct property_source *source, void *context)
{
    (void)context;
    struct instance x;
    draw(source, &x);
    if (source->verbose)
        print(&x);
    struct cleave_hypergraph *h;
    struct cleave_error error = {0};
    if (cleave_hypergraph_new(x.n, x.nets, x.offset, x.pin, x.W, x.weight, x.net_weight, &h,
                              &error))
        return false;
    struct cleave_partition_options o = {.blocks = x.k,
                                         .epsilon = x.epsilon[0],
                                         .epsilons = x.has_epsilons ? x.epsilon : NULL,
                                         .objective = x.objective,
                                         .preset = x.preset,
                                         .underweight = x.has_floors ? x.underweight : NULL,
                                         .warm_start = x.has_start ? x.start : NULL,
                                         .migration_budget = x.budget,
                                         .target_share = x.has_shares ? x.share : NULL,
                                         .fixed = x.has_fixed ? x.fixed : NULL,
                                         .together = x.has_together ? x.together : NULL,
                                         .apart = x.apart,
                                         .apart_count = x.apart_count,
                                         .seed = x.seed};
    uint32_t block[VERTICES];
    struct cleave_partition_result r, recount;
    enum cleave_status status = cleave_partition(h, &o, block, &r, &error);
    bool no_empty = must_fill(&x);
    int64_t best = brute_force(&x, no_empty);
    int64_t found = x.objective == CLEAVE_CUT ? r.cut : x.objective == CLEAVE_KM1 ? r.km1 : r.soed;
    bool ok = !cleave_hypergraph_check(h, &error) &&
              !cleave_partition_measure(h, &o, block, &recount, &error) && recount.cut == r.cut &&
              recount.km1 == r.km1 && recount.balanced == r.balanced;
    if (best < 0)
        ok = ok && status == CLEAVE_UNSATISFIABLE;
    else
        ok = ok && status == CLEAVE_OK && satisfies(&x, block, no_empty) && found == best &&
             found == cost(&x, block);
    if (!ok && source->verbose)
        printf("optimum %lld, status %d (%s), found %lld\n", (long long)best, status, error.message,
               (long long)found);
    cleave_hypergraph_free(h);
    return ok;
}

static void finds_optimum(void **state)
{
    (void)state;
    assert_true(property_run("partition agrees with brute force", agrees, NULL, 1500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_optimum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
