/* What the partitioner produces, pinned: tests/quality.csv holds data, k, epsilon, objective, seed
 * and the cut, km1 and imbalance that came out. A change there is a change of the solver, to be
 * looked at. CLEAVE_QUALITY_WRITE=FILE writes the table as it is now instead of comparing.
 *
 * Data are shared hypergraphs by name, or "workload:VERTICES:SEED", generated here: skewed sizes,
 * accesses by counting, communities. Usage: quality_test QUALITY.CSV SHARED-DATA. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "cleave/partition.h"

enum { NETS_PER_VERTEX = 3, SKIP = 77 };

static struct cleave_hypergraph *workload(uint32_t n, uint64_t seed)
{
    uint32_t nets = NETS_PER_VERTEX * n, used = 0, groups = n / 40 + 2;
    uint64_t *offset = calloc(nets + 1, sizeof *offset);
    uint32_t *pin = calloc(6 * (size_t)nets, sizeof *pin);
    int64_t *weight = calloc(2 * (size_t)n, sizeof *weight);
    struct cleave_random random;
    struct cleave_hypergraph *h = NULL;
    cleave__random_seed(&random, seed);
    for (uint32_t e = 0; e < nets; e++) {
        uint64_t group = cleave__random_below(&random, groups);
        uint64_t size = 1 + cleave__random_below(&random, 6);
        for (uint64_t i = 0; i < size; i++) {
            if (cleave__random_below(&random, 25) == 0)
                group = cleave__random_below(&random, groups);
            /* The product of two draws favours the first members. */
            uint64_t member =
                cleave__random_below(&random, 40) * cleave__random_below(&random, 40) / 40;
            uint32_t v = (uint32_t)((group + member * groups) % n);
            pin[used++] = v;
            weight[2 * v + 1]++;
        }
        offset[e + 1] = used;
    }
    for (uint32_t v = 0; v < n; v++)
        weight[2 * v] = INT64_C(1) << cleave__random_below(&random, 7);
    struct cleave_error error;
    if (cleave_hypergraph_new(n, nets, offset, pin, 2, weight, NULL, &h, &error))
        fprintf(stderr, "%s\n", error.message);
    free(offset);
    free(pin);
    free(weight);
    return h;
}

/* NULL when the file is not there (*absent) or bad. */
static struct cleave_hypergraph *load(const char *data, const char *folder, bool *absent)
{
    uint32_t n;
    uint64_t seed;
    if (sscanf(data, "workload:%" SCNu32 ":%" SCNu64, &n, &seed) == 2)
        return workload(n, seed);
    char path[1000];
    struct cleave_error error;
    struct cleave_hypergraph *h = NULL;
    snprintf(path, sizeof path, "%s/hgr/%s.hgr.xz", folder, data);
    *absent = access(path, R_OK) != 0;
    if (!*absent && cleave_hypergraph_read_hgr(path, &h, &error))
        fprintf(stderr, "%s\n", error.message);
    return h;
}

/* "data,k,epsilon,objective,seed,cut,km1,imbalance" for the first five fields of `line`. */
static int run(const char *line, const char *folder, char *out, size_t size)
{
    char data[100], objective[10];
    uint32_t k;
    double epsilon;
    uint64_t seed;
    if (sscanf(line, "%99[^,],%" SCNu32 ",%lf,%9[^,],%" SCNu64, data, &k, &epsilon, objective,
               &seed) != 5) {
        fprintf(stderr, "not a row: %s", line);
        return 1;
    }
    bool absent = false;
    struct cleave_hypergraph *h = load(data, folder, &absent);
    if (!h)
        return absent ? SKIP : 1;
    uint32_t *block = malloc(h->vertices * sizeof *block);
    struct cleave_partition_options options = {.blocks = k,
                                               .epsilon = epsilon,
                                               .objective = strcmp(objective, "cut") ? CLEAVE_KM1
                                                                                     : CLEAVE_CUT,
                                               .starts = 1,
                                               .seed = seed};
    struct cleave_partition_result r = {0};
    struct cleave_error error = {0};
    enum cleave_status status = block ? cleave_partition(h, &options, block, &r, &error) : 1;
    if (status)
        fprintf(stderr, "%s: %s\n", data, error.message);
    int used = snprintf(out, size, "%s,%" PRIu32 ",%g,%s,%" PRIu64 ",%" PRId64 ",%" PRId64, data, k,
                        epsilon, objective, seed, r.cut, r.km1);
    for (uint32_t c = 0; c < h->weights; c++)
        used += snprintf(out + used, size - (size_t)used, "%c%.6f", c ? ' ' : ',', r.imbalance[c]);
    snprintf(out + used, size - (size_t)used, "\n");
    free(block);
    cleave_hypergraph_free(h);
    return status != CLEAVE_OK;
}

int main(int argc, char **argv)
{
    FILE *csv = argc == 3 ? fopen(argv[1], "r") : NULL;
    const char *write = getenv("CLEAVE_QUALITY_WRITE");
    FILE *fresh = write ? fopen(write, "w") : NULL;
    char line[400], now[400];
    int failed = 0;
    bool skipped = false;
    if (!csv || (write && !fresh)) {
        fprintf(stderr, "usage: quality_test QUALITY.CSV SHARED-DATA\n");
        return 1;
    }
    while (fgets(line, sizeof line, csv)) {
        if (!strncmp(line, "data,", 5)) {
            if (fresh)
                fputs(line, fresh);
            continue;
        }
        int status = run(line, argv[2], now, sizeof now);
        skipped |= status == SKIP;
        if (status) {
            failed += status != SKIP;
        } else if (fresh) {
            fputs(now, fresh);
        } else if (strcmp(line, now)) {
            printf("pinned: %snow:    %s", line, now);
            failed++;
        }
    }
    fclose(csv);
    if (fresh && fclose(fresh))
        failed++;
    return failed ? 1 : skipped ? SKIP : 0;
}
