/* A program that embeds libcleave as installed: it splits eight vertices in two and says the cut.
 */
#include <cleave/partition.h>
#include <stdio.h>

int main(void)
{
    /* Two squares, joined by one net. */
    static const uint64_t offsets[] = {0, 4, 8, 10};
    static const uint32_t pins[] = {0, 1, 2, 3, 4, 5, 6, 7, 3, 4};
    struct cleave_error error;
    struct cleave_hypergraph *hypergraph;
    if (cleave_hypergraph_new(8, 3, offsets, pins, 1, NULL, NULL, &hypergraph, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    struct cleave_partition_options options = {.blocks = 2, .epsilon = 0.03, .seed = 1};
    struct cleave_partition_result result;
    uint32_t block[8];
    if (cleave_partition(hypergraph, &options, block, &result, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("cut %lld\n", (long long)result.cut);
    cleave_hypergraph_free(hypergraph);
    return 0;
}
