/* Puts eight tables on two servers, so that few queries need both: build with
 *   cc partition.c $(pkg-config --cflags --libs cleave) -o partition */
#include <stdio.h>

#include <cleave/partition.h>

int main(void)
{
    /* A net is a query: the tables it reads (pins), how often it runs (its weight). */
    static const uint64_t offsets[] = {0, 3, 6, 8, 10, 12};
    static const uint32_t pins[] = {0, 1, 2, 4, 5, 6, 2, 3, 6, 7, 3, 4};
    static const int64_t often[] = {50, 40, 30, 20, 1};
    /* A vertex is a table. It has two weights, both to be balanced: its size and its load. */
    static const int64_t weights[] = {4, 9, 3, 8, 5, 2, 4, 1, 4, 8, 5, 3, 4, 6, 3, 3};
    static const uint32_t apart[][2] = {{1, 5}}; /* never on one server */
    struct cleave_hypergraph *hypergraph;
    struct cleave_error error;
    if (cleave_hypergraph_new(8, 5, offsets, pins, 2, weights, often, &hypergraph, &error))
        return fprintf(stderr, "%s\n", error.message), 1;

    struct cleave_partition_options options = {
        .blocks = 2, .epsilon = 0.1, .objective = CLEAVE_KM1, .apart = apart, .apart_count = 1};
    struct cleave_partition_result result;
    uint32_t block[8];
    enum cleave_status status = cleave_partition(hypergraph, &options, block, &result, &error);
    if (status == CLEAVE_OK || status == CLEAVE_UNSATISFIABLE) { /* then the nearest answer */
        for (uint32_t v = 0; v < 8; v++)
            printf("table %u: server %u\n", v, block[v]);
        printf("weight of queries on both servers: %lld\n", (long long)result.cut);
    }
    if (status)
        fprintf(stderr, "%s\n", error.message);
    cleave_hypergraph_free(hypergraph);
    return status == CLEAVE_OK ? 0 : 1;
}
