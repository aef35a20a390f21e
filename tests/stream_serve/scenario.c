#include "stream_serve/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US, WORDS = 24, IDS = 40 };

static uint32_t below(struct cleave_random *random, uint32_t bound)
{
    return (uint32_t)cleave__random_below(random, bound);
}

static void need(bool ok)
{
    if (!ok)
        abort();
}

/* Some distinct words, rising; small ones more often. */
static uint32_t draw_words(struct cleave_random *random, uint32_t most, uint32_t *out)
{
    uint32_t count = 0, wanted = below(random, most + 1);
    for (uint32_t w = 0; w < WORDS && count < wanted; w++) {
        if (below(random, WORDS) < (w < 3 ? 6u : 2u))
            out[count++] = w;
    }
    return count;
}

/* Something odd, about so seldom, in odd worlds. */
static bool odd(struct scenario *s, bool kind, uint32_t seldom)
{
    return kind && below(&s->odd.random, seldom) == 0;
}

static double coordinate(struct cleave_random *random, double low, double high)
{
    /* Often near borders of cells, at times outside. */
    double x = low + (high - low) * (double)below(random, 65) / 64;
    return below(random, 2) ? x : x + (cleave__random_real(random) - 0.5) * (high - low) / 8;
}

static void draw_point(struct scenario *s, struct cleave_random *random, double *x, double *y)
{
    bool hot = below(random, 2);
    do {
        *x = coordinate(random, s->space.bounds.x0, s->space.bounds.x1);
        *y = coordinate(random, s->space.bounds.y0, s->space.bounds.y1);
        if (hot) {
            *x = s->space.bounds.x0 + (*x - s->space.bounds.x0) / 4;
            *y = s->space.bounds.y0 + (*y - s->space.bounds.y0) / 4;
        }
    } while (!cleave__space_point(&s->space, x, y));
}

/* A region with everything in it, or all but a little. */
static void draw_wide(struct scenario *s, struct cleave__region *region)
{
    const struct cleave__box *bounds = &s->space.bounds;
    struct cleave_random *random = &s->odd.random;
    double width = bounds->x1 - bounds->x0, height = bounds->y1 - bounds->y0;
    bool globe = s->space.kind == CLEAVE__GLOBE;
    *region = (struct cleave__region){CLEAVE__RECTANGLE, bounds->x0, bounds->y0,
                                      bounds->x1,        bounds->y1, 0};
    switch (below(random, 4)) {
    case 0: /* past all borders, or to the poles and over the antimeridian */
        region->x0 += globe ? 300 : -width;
        region->x1 -= globe ? 100 : -width;
        region->y1 += globe ? 0 : height;
        break;
    case 1: /* a line, a point at times */
        region->x0 = region->x1 = coordinate(random, bounds->x0, bounds->x1);
        region->y0 = below(random, 2) ? region->y1 : region->y0;
        break;
    case 2: /* round a pole, or a corner */
        *region = (struct cleave__region){CLEAVE__CIRCLE,      bounds->x0, bounds->y1, 0, 0,
                                          globe ? 4e6 : height};
        break;
    default:
        break;
    }
}

/* In sharp worlds: so many of few words. */
static uint32_t draw_sharp_words(struct scenario *s, uint32_t wanted, uint32_t *out)
{
    enum { FEW = 12 };
    uint32_t count = 0;
    for (uint32_t w = 0; w < FEW && count < wanted; w++) {
        if (below(&s->odd.sharply, FEW - w) < wanted - count)
            out[count++] = w;
    }
    return count;
}

static void draw_sharp_query(struct scenario *s, struct cleave__query *query, uint32_t *terms)
{
    if (!s->odd.sharp)
        return;
    query->term_count = draw_sharp_words(s, 2, terms);
    query->predicate = below(&s->odd.sharply, 5) ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS;
    if (below(&s->odd.sharply, 2)) {
        query->region =
            (struct cleave__region){CLEAVE__RECTANGLE,  s->space.bounds.x0, s->space.bounds.y0,
                                    s->space.bounds.x1, s->space.bounds.y1, 0};
    }
}

/* In place of what was drawn, at times. */
static void draw_odd_query(struct scenario *s, struct cleave__query *query, uint64_t time_ms,
                           uint32_t *terms, struct cleave__filter *filter)
{
    struct cleave_random *random = &s->odd.random;
    if (odd(s, s->odd.wide, 3))
        draw_wide(s, &query->region);
    if (odd(s, s->odd.brief, 2))
        query->end_ms = time_ms + below(random, 6);
    if (odd(s, s->odd.wordy, 3)) {
        query->term_count = 0;
        for (uint32_t w = 0; w < WORDS; w++) {
            if (below(random, 2))
                terms[query->term_count++] = w;
        }
        query->predicate = CLEAVE__OVERLAPS;
    }
    if (odd(s, s->odd.filters, 2)) {
        *filter = (struct cleave__filter){below(random, 2), below(random, 8), 8};
        query->filters = filter;
        query->filter_count = 1;
    }
}

static void draw_query(struct scenario *s, struct cleave_random *random, uint64_t id,
                       uint64_t time_ms)
{
    uint32_t terms[WORDS];
    struct cleave__query query = {.id = id,
                                  .end_ms = below(random, 3) ? CLEAVE__NEVER
                                                             : time_ms + below(random, 60),
                                  .predicate = (enum cleave__predicate)below(random, 2),
                                  .events = CLEAVE__EVENT_MATCH,
                                  .terms = terms};
    struct cleave__region *region = &query.region;
    double side = (s->space.bounds.y1 - s->space.bounds.y0) / (1 + below(random, 20));
    draw_point(s, random, &region->x0, &region->y0);
    if (below(random, 4) == 0) {
        region->kind = CLEAVE__CIRCLE;
        region->radius = s->space.kind == CLEAVE__GLOBE ? side * 50000 : side / 2;
    } else {
        region->x1 = region->x0 + side * cleave__random_real(random);
        region->y1 = region->y0 + side * cleave__random_real(random);
        if (s->space.kind == CLEAVE__GLOBE && region->y1 > 90)
            region->y1 = 90;
    }
    query.term_count = draw_words(random, 3, terms);
    struct cleave__filter filter;
    draw_odd_query(s, &query, time_ms, terms, &filter);
    draw_sharp_query(s, &query, terms);
    need(cleave__region_prepare(&s->space, region, NULL) == CLEAVE_OK);
    need(cleave__stream_script_store(&s->script, &query));
}

static void draw_script(struct scenario *s, struct cleave_random *random, uint32_t items)
{
    uint64_t time_ms = 1000;
    for (uint32_t i = 0; i < items; i++) {
        uint64_t id = 1 + below(random, IDS);
        if (s->odd.ids || s->odd.sharp)
            id = 1 + id % (s->odd.ids ? s->odd.ids : 3);
        time_ms += below(random, 3);
        if (below(random, 3) == 0) {
            bool live = s->script.live.count > id && s->script.live.data[id];
            if (live)
                need(cleave__stream_script_remove(&s->script, id));
            else
                draw_query(s, random, id, time_ms);
        } else if (below(random, 60) == 0) {
            need(cleave__stream_script_wait(&s->script));
        } else {
            uint32_t terms[WORDS];
            struct cleave__object object = {.time_ms = time_ms, .terms = terms};
            object.term_count = draw_words(random, 5, terms);
            if (s->odd.sharp)
                object.term_count = draw_sharp_words(s, 5, terms);
            draw_point(s, random, &object.x, &object.y);
            struct cleave__measure measure = {0, 0};
            if (s->odd.filters && below(&s->odd.random, 8)) {
                measure =
                    (struct cleave__measure){below(&s->odd.random, 2), below(&s->odd.random, 10)};
                object.measures = &measure;
                object.measure_count = 1;
            }
            need(cleave__stream_script_object(&s->script, &object));
        }
    }
}

/* A random k-d tiling; some evaluators may stay idle. */
static void draw_cells(struct scenario *s, struct cleave_random *random, uint32_t evaluators)
{
    uint32_t count = 1, wanted = 1 + below(random, evaluators);
    const struct cleave__grid *grid = &s->streaming.grid;
    for (uint32_t e = 0; e < evaluators; e++)
        s->cells[e] = CLEAVE__NO_CELLS;
    s->cells[0] = (struct cleave__cells){0, 0, grid->columns - 1, grid->rows - 1};
    for (int tries = 0; count < wanted && tries < 100; tries++) {
        struct cleave__cells *cells = &s->cells[below(random, count)];
        bool wide = below(random, 2);
        uint32_t lines = wide ? cells->x1 - cells->x0 + 1 : cells->y1 - cells->y0 + 1;
        if (lines < 2)
            continue;
        struct cleave__cells strip = cleave__cells_strip(
            *cells, wide ? CLEAVE__LEFT : CLEAVE__BELOW, 1 + below(random, lines - 1));
        need(cleave__cells_cut(*cells, strip, cells));
        s->cells[count++] = strip;
    }
    s->streaming.evaluators = evaluators;
    s->streaming.partitions = s->cells;
}

/* Machines, of routers too, that are slow for a while, or whose messages wait. */
static void draw_slowness(struct scenario *s, struct cleave_random *random, uint64_t horizon_ns)
{
    struct cleave__streaming *streaming = &s->streaming;
    streaming->fault_count = below(random, SCENARIO_FAULTS);
    streaming->faults = s->faults;
    for (size_t i = 0; i < streaming->fault_count; i++)
        s->faults[i] = (struct cleave_fault){
            .kind = below(random, 2) ? CLEAVE_FAULT_SLOW : CLEAVE_FAULT_HOLD,
            .at_ns = cleave__random_below(random, horizon_ns),
            .for_ns = 1 + cleave__random_below(random, horizon_ns / 4),
            .first_node = below(random, streaming->evaluators + streaming->routers),
            .node_count = 1,
            .extra_ns = (1 + below(random, 10)) * streaming->delay.low_ns};
}

/* Crashes of evaluators, cuts that hold or lose messages between some of them and all others,
 * slowness anywhere. */
static void draw_faults(struct scenario *s, struct cleave_random *random, uint64_t seed,
                        uint64_t horizon_ns)
{
    struct cleave__streaming *streaming = &s->streaming;
    unsigned kinds = 1 + below(random, (1u << CLEAVE_FAULT_KINDS) - 1);
    streaming->fault_count = 1 + below(random, SCENARIO_FAULTS);
    cleave__faults_draw(seed, kinds, horizon_ns, streaming->evaluators, s->faults,
                        streaming->fault_count);
    streaming->faults = s->faults;
    /* Rarely before an answer could be there. */
    streaming->retry_ns = (6 + below(random, 30)) * streaming->delay.low_ns;
    for (size_t i = 0; i < streaming->fault_count; i++) {
        struct cleave_fault *fault = &s->faults[i];
        if (fault->kind == CLEAVE_FAULT_CRASH && below(random, 4)) {
            fault->node_count = 0;
            fault->actor = 1 + below(random, streaming->evaluators);
        }
    }
}

/* What of a world may be odd; before all that comes of it is drawn. */
static void draw_odd(struct scenario *s, uint64_t seed)
{
    struct cleave_random *random = &s->odd.random;
    cleave__random_seed(&s->odd.sharply, seed ^ UINT64_C(0x7368617270));
    s->odd.sharp = below(&s->odd.sharply, 3) == 0;
    cleave__random_seed(random, seed ^ UINT64_C(0x6f6464));
    s->odd.world = below(random, 2);
    if (!s->odd.world)
        return;
    s->odd.wide = below(random, 2);
    s->odd.wordy = below(random, 2);
    s->odd.filters = below(random, 3) == 0;
    s->odd.brief = below(random, 3) == 0;
    s->odd.late = below(random, 3) == 0;
    s->odd.ids = below(random, 3) ? 0 : 1 + below(random, 6);
}

static void draw_odd_world(struct scenario *s, uint64_t unit_ns)
{
    struct cleave_random *random = &s->odd.random;
    struct cleave__streaming *streaming = &s->streaming;
    struct cleave__grid *grid = &streaming->grid;
    if (!s->odd.world)
        return;
    if (below(random, 4) == 0)
        streaming->routers = 1 + below(random, 12);
    if (below(random, 4) == 0)
        streaming->balance_every_ns = 1 + unit_ns / 50;
    if (below(random, 4) == 0)
        streaming->batch = 1 + below(random, 64);
    if (below(random, 4) == 0)
        streaming->window = 1 + below(random, 20);
    if (below(random, 6) == 0)
        *grid =
            cleave__grid_make(s->space.bounds.x0, s->space.bounds.y0, s->space.bounds.x1,
                              s->space.bounds.y1, below(random, 2) ? grid->columns : 1, grid->rows);
    if (below(random, 4) == 0)
        streaming->delay.low_ns = 1 + below(random, 20 * US); /* quicker than any work */
}

/* Machines of routers, or the one that never fails, which hold messages or are slow, too. */
static void draw_more_faults(struct scenario *s, uint64_t horizon_ns)
{
    struct cleave_random *random = &s->odd.random;
    struct cleave__streaming *streaming = &s->streaming;
    uint32_t more = s->odd.world ? below(random, SCENARIO_MORE_FAULTS + 1) : 0;
    if (s->odd.world && below(random, 8) == 0) /* long before any answer could be there */
        streaming->retry_ns = 1 + below(random, 20 * US);
    for (uint32_t i = 0; i < more; i++)
        s->faults[streaming->fault_count++] = (struct cleave_fault){
            .kind = below(random, 2) ? CLEAVE_FAULT_SLOW : CLEAVE_FAULT_HOLD,
            .at_ns = cleave__random_below(random, horizon_ns),
            .for_ns = 1 + cleave__random_below(random, horizon_ns / 4),
            .first_node = streaming->evaluators + below(random, streaming->routers + 1),
            .node_count = 1,
            .extra_ns = (1 + below(random, 10)) * streaming->delay.low_ns};
}

/* Crashes of routers, the balancer, the feeder too; from a source of its own. In sharp worlds they
 * are many and brief, and machines hold messages meanwhile: what one router knows another does not.
 */
static void draw_crashes(struct scenario *s, uint64_t seed, uint64_t horizon_ns)
{
    struct cleave_random random;
    struct cleave__streaming *streaming = &s->streaming;
    cleave__random_seed(&random, seed ^ UINT64_C(0x726576697665));
    if (below(&random, 4) == 0)
        return;
    uint32_t count = 1 + below(&random, s->odd.sharp ? SCENARIO_CRASHES : 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t who = below(&random, s->odd.sharp ? 32 : 8);
        struct cleave_fault fault = {
            .kind = CLEAVE_FAULT_CRASH,
            .at_ns = cleave__random_below(&random, horizon_ns),
            .for_ns = 1 + cleave__random_below(&random, horizon_ns / (1 + below(&random, 40))),
            .actor = cleave__stream_actor(streaming,
                                          who == 0  ? CLEAVE__ROLE_FEEDER
                                          : who < 3 ? CLEAVE__ROLE_BALANCER
                                                    : CLEAVE__ROLE_ROUTER,
                                          0)};
        if (who >= 3)
            fault.actor += below(&random, streaming->routers);
        if (s->odd.sharp)
            fault.for_ns = 1 + cleave__random_below(&random, (streaming->delay.low_ns >> 3)
                                                                 << below(&random, 8));
        if (s->odd.sharp && below(&random, 3) == 0) {
            fault.kind = below(&random, 2) ? CLEAVE_FAULT_HOLD : CLEAVE_FAULT_LOSE;
            fault.actor = 0;
            fault.first_node = below(&random, streaming->evaluators + streaming->routers);
            fault.node_count = 1;
        }
        s->faults[streaming->fault_count++] = fault;
    }
}

void scenario_draw(struct scenario *s, uint64_t seed, const struct scenario_options *options)
{
    struct cleave_random random;
    cleave__random_seed(&random, seed);
    *s = (struct scenario){0};
    s->space = cleave__globe;
    if (below(&random, 3))
        s->space = (struct cleave__space){CLEAVE__PLANE, {-100, 50, 900, 1050}};
    s->script.space = &s->space;
    draw_odd(s, seed);
    uint32_t columns = 2 + below(&random, 15), rows = 2 + below(&random, 15);
    uint64_t unit_ns = options->threaded ? 20 * US : MS;
    s->streaming = (struct cleave__streaming){
        .transport = options->threaded ? &cleave__threads : &cleave__sim,
        .threads = 2,
        .seed = seed,
        .space = &s->space,
        .grid = cleave__grid_make(s->space.bounds.x0, s->space.bounds.y0, s->space.bounds.x1,
                                  s->space.bounds.y1, columns, rows),
        .routers = 1 + below(&random, 4),
        .matcher = options->matcher    ? options->matcher
                   : below(&random, 2) ? &cleave__matcher_index
                                       : &cleave__matcher_cells,
        .summary = below(&random, 8) ? CLEAVE__SUMMARY_FORWARD
                                     : (enum cleave__streaming_summary)below(&random, 3),
        .balance = below(&random, 5) ? CLEAVE__BALANCE_FORCED : CLEAVE__BALANCE_ADAPTIVE,
        .balance_every_ns = unit_ns * (1 + below(&random, 6)) / 2,
        .beta = below(&random, 2) ? 0 : 1,
        .batch = 1 + below(&random, 8),
        .window = 1 + below(&random, 4),
        .feed_ops = &cleave__stream_script_feed,
        .feed = &s->script,
        .keep_matches = true,
        .delay = {.kind = CLEAVE_LOGNORMAL,
                  .low_ns = 50 * US + below(&random, MS / 2),
                  .shape = 0.8},
        .service = {.match_object_ns = 2 * US, .store_query_ns = 2 * US, .message_ns = 5 * US}};
    if (!options->faulty && below(&random, 12) == 0) {
        s->streaming.routing = (enum cleave__streaming_routing)below(&random, 3);
        /* By words an object goes to several: what is stored again with other words while it is
         * under way may be reported twice. */
        if (s->odd.sharp)
            s->streaming.routing = CLEAVE__ROUTING_AGRID;
        if (s->streaming.routing != CLEAVE__ROUTING_AGRID)
            s->streaming.balance = CLEAVE__BALANCE_STATIC;
    }
    draw_odd_world(s, unit_ns);
    /* Without a draw, so that worlds stay what they were. */
    s->streaming.centralized = cleave__mix64(seed) % 3 == 0;
    draw_cells(s, &random, 2 + below(&random, SCENARIO_EVALUATORS - 1));
    s->streaming.sinks = cleave__mix64(seed + 1) % 3 ? 1 : s->streaming.evaluators;
    /* Now and then a message is very late, and what is asked again comes behind it. */
    if (options->faulty ? s->odd.late || (s->odd.sharp && below(&s->odd.sharply, 2))
                        : below(&random, 3) == 0) {
        s->streaming.delay.kind = CLEAVE_PARETO;
        s->streaming.delay.shape = 1.1;
    }
    draw_script(s, &random, options->items);
    if (options->faulty) {
        draw_faults(s, &random, seed, options->items * (uint64_t)MS / 4);
        draw_more_faults(s, options->items * (uint64_t)MS / 4);
        draw_crashes(s, seed, options->items * (uint64_t)MS / 4);
    }
    if (!options->faulty && !options->threaded && below(&random, 2))
        draw_slowness(s, &random, options->items * (uint64_t)MS / 4);
}

void scenario_free(struct scenario *s)
{
    cleave__stream_script_free(&s->script);
}

void scenario_run(struct scenario *s, struct cleave__streamed *streamed,
                  struct cleave__stream_script_check *check, char *wrong)
{
    struct cleave_error error;
    *streamed = (struct cleave__streamed){0};
    *check = (struct cleave__stream_script_check){0};
    wrong[0] = 0;
    enum cleave_status status = cleave__stream_serve(&s->streaming, streamed, &error);
    if (!status)
        status =
            cleave__stream_script_check(&s->script, streamed, &cleave__matcher_scan, check, &error);
    if (status)
        snprintf(wrong, 200, "%.199s", error.message);
    else if (check->missing || check->unexpected)
        snprintf(wrong, 200, "%s", check->wrong);
    else if (streamed->duplicates)
        snprintf(wrong, 200, "%llu reported twice", (unsigned long long)streamed->duplicates);
}
