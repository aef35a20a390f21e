/* Tells which subscriptions a report concerns: build with
 *   cc match.c $(pkg-config --cflags --libs cleave) -o match */
#include <math.h>
#include <stdio.h>

#include <cleave/match.h>

int main(void)
{
    static const char *const harbour[] = {"ship", "harbour"};
    const struct cleave_match_number strong = {.name = "wind", .low = 20, .high = INFINITY};
    const struct cleave_match_query queries[] = {
        {.id = 1, .region = {CLEAVE_CIRCLE, .x0 = 178.5, .y0 = -18.1, .radius = 200e3}},
        {.id = 2, .region = {CLEAVE_RECTANGLE, 170, -30, -170, -10}, /* over the antimeridian */
         .keywords = harbour, .keyword_count = 2, .any_keyword = true},
        {.id = 3, .filters = &strong, .filter_count = 1}};
    const struct cleave_match_number wind = {.name = "wind", .value = 25};
    const struct cleave_match_object report = {
        .x = -179.9, .y = -18, .text = "Ship off Suva, heavy sea", .numbers = &wind, .number_count = 1};
    struct cleave_matcher *matcher;
    struct cleave_error error;
    const uint64_t *ids;
    size_t count;
    enum cleave_status status =
        cleave_matcher_new(&(struct cleave_matcher_options){0}, &matcher, &error);
    if (status)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (int i = 0; i < 3 && !status; i++)
        status = cleave_matcher_add(matcher, &queries[i], &error);
    if (!status)
        status = cleave_matcher_match(matcher, &report, &ids, &count, &error);
    for (size_t i = 0; !status && i < count; i++)
        printf("query %llu\n", (unsigned long long)ids[i]);
    if (status)
        fprintf(stderr, "%s\n", error.message);
    cleave_matcher_free(matcher);
    return status ? 1 : 0;
}
