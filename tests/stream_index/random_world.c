/* See random_world.h. The simplest draws (zeros) give one place, one word, one level. */
#include "random_world.h"

#include <stdlib.h>

struct random_world random_world(struct property_source *source)
{
    struct random_world world = {.space = {CLEAVE__PLANE, {0, 0, 1000, 1000}}};
    if (property_draw(source, 3) == 2)
        world.space = cleave__globe;
    world.vocabulary = 1 + (uint32_t)property_draw(source, property_draw(source, 2) ? 60 : 6);
    world.stride = property_draw(source, 4) == 3 ? 70000001 : 1;
    world.most_terms = 1 + (uint32_t)property_draw(source, 6);
    world.places = (uint32_t)property_draw(source, 3) * 3;
    world.filters = property_draw(source, 4) == 3;
    world.ends = property_draw(source, 4) == 3;
    world.circles = property_draw(source, 3) == 2;
    return world;
}

static uint32_t *random_terms(struct property_source *source, const struct random_world *world,
                              struct cleave_arena *arena, uint32_t most, uint32_t *count)
{
    uint32_t wanted = (uint32_t)property_draw(source, most + 1);
    if (wanted > world->vocabulary)
        wanted = world->vocabulary;
    uint32_t *terms = cleave__arena_array(arena, wanted + 1, sizeof *terms), at = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t room = world->vocabulary - at - (wanted - i - 1);
        at += (uint32_t)property_draw(source, room < 8 ? room : room - room / 4);
        terms[i] = at++ * world->stride;
    }
    *count = wanted;
    return terms;
}

static double random_coordinate(struct property_source *source, const struct random_world *world,
                                double low, double high)
{
    if (world->places)
        return low +
               (high - low) * (double)property_draw(source, world->places + 1) / world->places;
    /* Now and then outside the bounds of the grid. */
    double share = (double)property_draw(source, 100001) / 100000;
    bool outside = world->space.kind == CLEAVE__PLANE && property_draw(source, 16) == 15;
    return low + (high - low) * (outside ? share * 3 - 1 : share);
}

struct cleave__query random_query(struct property_source *source, const struct random_world *world,
                                  struct cleave_arena *arena, uint64_t id)
{
    struct cleave__query query = {.id = id, .subscriber = id * 3, .end_ms = CLEAVE__NEVER};
    const struct cleave__box *b = &world->space.bounds;
    double x = random_coordinate(source, world, b->x0, b->x1);
    double y = random_coordinate(source, world, b->y0, b->y1);
    static const double sizes[] = {0.1, 0, 0.001, 0.3, 1};
    double size = sizes[property_draw(source, 5)] * (b->x1 - b->x0);
    query.events = (uint32_t)property_draw(source, 16);
    query.predicate = (enum cleave__predicate)property_draw(source, 2);
    if (world->circles && property_draw(source, 2)) {
        query.region = (struct cleave__region){.kind = CLEAVE__CIRCLE, .x0 = x, .y0 = y};
        query.region.radius = world->space.kind == CLEAVE__GLOBE ? size * 55000 : size / 2;
    } else {
        double height = property_draw(source, 3) == 2 ? size / 50 : size;
        query.region = (struct cleave__region){
            .kind = CLEAVE__RECTANGLE, .x0 = x, .y0 = y, .x1 = x + size, .y1 = y + height};
        if (world->space.kind == CLEAVE__GLOBE && query.region.y1 > 90)
            query.region.y1 = 90;
    }
    if (cleave__region_prepare(&world->space, &query.region, NULL) != CLEAVE_OK)
        abort();
    query.terms = random_terms(source, world, arena, world->most_terms, &query.term_count);
    if (world->ends && property_draw(source, 2))
        query.end_ms = property_draw(source, 10);
    if (world->filters && property_draw(source, 2)) {
        query.filter_count = 1 + (uint32_t)property_draw(source, 2);
        struct cleave__filter *filters =
            cleave__arena_array(arena, query.filter_count, sizeof *filters);
        for (uint32_t i = 0; i < query.filter_count; i++)
            filters[i] = (struct cleave__filter){(uint32_t)property_draw(source, 3), 0,
                                                 (double)property_draw(source, 10)};
        query.filters = filters;
    }
    return query;
}

struct cleave__object random_object(struct property_source *source,
                                    const struct random_world *world, struct cleave_arena *arena)
{
    const struct cleave__box *b = &world->space.bounds;
    struct cleave__object object = {.number = 1};
    object.x = random_coordinate(source, world, b->x0, b->x1);
    object.y = random_coordinate(source, world, b->y0, b->y1);
    if (!cleave__space_point(&world->space, &object.x, &object.y))
        abort();
    object.time_ms = property_draw(source, 10);
    object.terms = random_terms(source, world, arena, world->most_terms * 2, &object.term_count);
    if (world->filters) {
        struct cleave__measure *measures = cleave__arena_array(arena, 2, sizeof *measures);
        measures[0] = (struct cleave__measure){0, (double)property_draw(source, 10)};
        measures[1] = (struct cleave__measure){1, (double)property_draw(source, 10)};
        object.measures = measures;
        object.measure_count = (uint32_t)property_draw(source, 3);
    }
    return object;
}
