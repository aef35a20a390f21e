/* Routes statements by a lookup table: build with
 *   cc route.c $(pkg-config --cflags --libs cleave) -o route
 *   ./route placement.cleave "SELECT * FROM orders WHERE o_w_id = \$1" 7 */
#include <stdio.h>
#include <string.h>

#include <cleave/lookup.h>

int main(int argc, char **argv)
{
    struct cleave_error error = {0};
    struct cleave_lookup *lookup = NULL;
    struct cleave_router *router = NULL;
    struct cleave_route route;
    struct cleave_text parameters[16];
    if (argc < 3 || argc > 3 + 16)
        return fprintf(stderr, "usage: route FILE SQL [PARAMETER...]\n"), 2;
    for (int i = 3; i < argc; i++)
        parameters[i - 3] = (struct cleave_text){argv[i], strlen(argv[i])};
    enum cleave_status status = cleave_lookup_open(argv[1], &lookup, &error);
    if (status == CLEAVE_OK)
        status = cleave_router_new(lookup, &router, &error);
    if (status == CLEAVE_OK)
        status = cleave_router_route(router, argv[2], strlen(argv[2]), parameters,
                                     (uint32_t)(argc - 3), &route, &error);
    if (status == CLEAVE_OK) {
        for (uint32_t s = 0; s < cleave_lookup_shards(lookup); s++)
            if (cleave_route_has(&route, s))
                printf("shard %u\n", s);
        printf("%s%s\n", route.count ? "" : "any one shard; ", route.why);
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    cleave_router_free(router);
    cleave_lookup_close(lookup);
    return status == CLEAVE_OK ? 0 : 1;
}
