/* Costs of the parts of the work, by doing them; see the header. */
#include "stream/compare/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "stream/balance/aggregates.h"
#include "stream/route/agrid.h"
#include "stream/route/summary.h"

enum { PASSES = 3, BATCH = 16, OBJECTS_MOST = 100000, QUERIES_MOST = 100000, PAIRS = 20000000 };

static enum cleave_status no_memory(struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory to calibrate");
}

/* The workload as bytes, as it travels, and where it goes. */
struct bench {
    const struct cleave__stream_play *play;
    struct cleave__streaming streaming;
    struct cleave__cells *cells; /* [evaluators] */
    struct cleave_writer objects, queries, to;
    uint64_t object_count, query_count;
    struct cleave__agrid *agrid;
    struct cleave__summary *summary;
    struct cleave__aggregates *sums;
    uint32_t *found; /* [evaluators] */
    struct cleave_arena arena;
};

static void bench_free(struct bench *b)
{
    free(b->cells);
    free(b->objects.data);
    free(b->queries.data);
    free(b->to.data);
    free(b->found);
    cleave__agrid_free(b->agrid);
    cleave__summary_free(b->summary);
    cleave__aggregates_free(b->sums);
    cleave__arena_free(&b->arena);
}

/* Writes so many objects and queries of these options. */
static enum cleave_status write_workload(struct bench *b, const struct cleave__stream_options *made,
                                         struct cleave_error *error)
{
    struct cleave__stream_generator *generator;
    enum cleave_status status = cleave__stream_generator_new(made, &generator, error);
    if (status)
        return status;
    b->objects.count = b->queries.count = 0;
    for (uint64_t i = 0; i < b->object_count; i++) {
        struct cleave__object object;
        cleave__stream_next_object(generator, &object);
        cleave__object_write(&object, &b->objects);
    }
    for (uint64_t i = 0; i < b->query_count; i++) {
        struct cleave__query query;
        cleave__stream_next_query(generator, 0, &query);
        cleave__query_write(&query, &b->queries);
    }
    cleave__stream_generator_free(generator);
    return b->objects.failed || b->queries.failed ? no_memory(error) : CLEAVE_OK;
}

static enum cleave_status bench_make(const struct cleave__stream_play *play, struct bench *b,
                                     struct cleave_error *error)
{
    const struct cleave__box *box = &play->made->space.bounds;
    uint32_t side = play->grid_side, evaluators = play->streaming.evaluators;
    struct cleave__stream_play plan = *play;
    *b = (struct bench){.play = play,
                        .streaming = play->streaming,
                        .object_count = play->objects < OBJECTS_MOST ? play->objects : OBJECTS_MOST,
                        .query_count = play->queries < QUERIES_MOST ? play->queries : QUERIES_MOST,
                        .cells = malloc(evaluators * sizeof *b->cells),
                        .found = malloc(evaluators * sizeof *b->found)};
    if (!b->cells || !b->found)
        return no_memory(error);
    if (!b->object_count || !b->query_count)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "to calibrate, there must be objects and queries");
    plan.spare = 0;
    b->streaming.space = &play->made->space;
    b->streaming.grid = cleave__grid_make(box->x0, box->y0, box->x1, box->y1, side, side);
    enum cleave_status status =
        cleave__stream_play_partition(&plan, &b->streaming, b->cells, error);
    if (!status)
        status = cleave__agrid_new(&b->streaming.grid, b->cells, evaluators, &b->agrid, error);
    if (!status)
        status = cleave__aggregates_new(side, side, &b->sums, error);
    return status ? status : write_workload(b, play->made, error);
}

/* A query to all evaluators that it meets, and its keywords into the summary. */
static bool route_query(struct bench *b, const struct cleave__query *query,
                        struct cleave_error *error)
{
    struct cleave__cells ranges[CLEAVE__REGION_BOXES_MOST];
    uint32_t terms[CLEAVE__STREAM_WORDS_MOST + 1], cover;
    uint32_t count =
        cleave__region_ranges(b->streaming.space, &b->streaming.grid, &query->region, ranges);
    count = cleave__agrid_ranges(b->agrid, ranges, count, b->found);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t wants =
            cleave__summary_wants(b->summary, b->found[i], query, NULL, 0, terms, &cover);
        for (uint32_t t = 0; t < wants; t++) {
            if (cleave__summary_add(b->summary, b->found[i], terms[t], 0, true, error))
                return false;
        }
        cleave__query_write(query, &b->to);
    }
    return true;
}

/* Every keyword of every query, as one router is told of them by others. */
static enum cleave_status time_keywords(struct bench *b, struct cleave__stream_costs *costs,
                                        struct cleave_error *error)
{
    double best = INFINITY;
    for (int pass = 0; pass < PASSES; pass++) {
        struct cleave_reader queries = {b->queries.data, b->queries.data + b->queries.count, false};
        struct cleave_arena_mark mark = cleave__arena_mark(&b->arena);
        uint64_t added = 0;
        double took = 0;
        cleave__summary_free(b->summary);
        b->summary = NULL;
        enum cleave_status status =
            cleave__summary_new(b->streaming.evaluators, &b->summary, error);
        for (uint64_t i = 0; i < b->query_count && !status; i++) {
            struct cleave__query query;
            bool short_of_memory;
            cleave__arena_rewind(&b->arena, mark);
            if (!cleave__query_read(&queries, &b->arena, &query, &short_of_memory))
                return no_memory(error);
            uint64_t begin = cleave__clock_ns();
            for (uint32_t t = 0; t < query.term_count && !status; t++)
                status = cleave__summary_add(b->summary, (uint32_t)(i % b->streaming.evaluators),
                                             query.terms[t], 0, true, error);
            took += (double)(cleave__clock_ns() - begin);
            added += query.term_count;
        }
        if (status)
            return status;
        took /= added ? (double)added : 1;
        best = took < best ? took : best;
    }
    costs->service.keyword_ns = (uint64_t)ceil(best);
    return CLEAVE_OK;
}

static enum cleave_status time_routing(struct bench *b, struct cleave__stream_costs *costs,
                                       struct cleave_error *error)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&b->arena);
    double best_object = INFINITY, best_query = INFINITY;
    bool short_of_memory;
    for (int pass = 0; pass < PASSES; pass++) {
        struct cleave_reader queries = {b->queries.data, b->queries.data + b->queries.count, false};
        struct cleave_reader objects = {b->objects.data, b->objects.data + b->objects.count, false};
        struct cleave__query query;
        struct cleave__object object;
        uint64_t passed = 0;
        cleave__summary_free(b->summary);
        b->summary = NULL;
        enum cleave_status status =
            cleave__summary_new(b->streaming.evaluators, &b->summary, error);
        if (status)
            return status;
        uint64_t begin = cleave__clock_ns();
        for (uint64_t i = 0; i < b->query_count; i++) {
            b->to.count = i % 256 ? b->to.count : 0;
            cleave__arena_rewind(&b->arena, mark);
            if (!cleave__query_read(&queries, &b->arena, &query, &short_of_memory) ||
                !route_query(b, &query, error))
                return no_memory(error);
        }
        double took = (double)(cleave__clock_ns() - begin) / (double)b->query_count;
        best_query = took < best_query ? took : best_query;
        begin = cleave__clock_ns();
        for (uint64_t i = 0; i < b->object_count; i++) {
            const uint8_t *from = objects.at;
            b->to.count = i % 256 ? b->to.count : 0;
            cleave__arena_rewind(&b->arena, mark);
            if (!cleave__object_read(&objects, &b->arena, &object, &short_of_memory))
                return no_memory(error);
            uint32_t evaluator = cleave__agrid_point(b->agrid, object.x, object.y);
            if (!cleave__summary_any(b->summary, evaluator, object.terms, object.term_count))
                continue;
            passed++;
            cleave__put_bytes(&b->to, from, (size_t)(objects.at - from));
        }
        took = (double)(cleave__clock_ns() - begin) / (double)b->object_count;
        best_object = took < best_object && passed <= b->object_count ? took : best_object;
        if (b->to.failed)
            return no_memory(error);
    }
    costs->service.route_object_ns = (uint64_t)ceil(best_object);
    costs->service.route_query_ns = (uint64_t)ceil(best_query);
    return CLEAVE_OK;
}

struct matched {
    double object_ns, store_ns, candidates;
};

static enum cleave_status store_all(struct bench *b, const struct cleave__matcher_ops *ops,
                                    void *matcher, struct cleave__map *slots, double *ns,
                                    struct cleave_error *error)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&b->arena);
    struct cleave_reader queries = {b->queries.data, b->queries.data + b->queries.count, false};
    uint64_t begin = cleave__clock_ns();
    for (uint64_t i = 0; i < b->query_count; i++) {
        struct cleave__query query;
        struct cleave__cells ranges[CLEAVE__REGION_BOXES_MOST];
        bool short_of_memory;
        uint32_t slot;
        cleave__arena_rewind(&b->arena, mark);
        if (!cleave__query_read(&queries, &b->arena, &query, &short_of_memory))
            return no_memory(error);
        uint64_t *place = cleave__map_put(slots, query.id);
        enum cleave_status status =
            place ? ops->add(matcher, &query, &slot, error) : CLEAVE_NO_MEMORY;
        if (status)
            return no_memory(error);
        *place = slot;
        uint32_t count =
            cleave__region_ranges(b->streaming.space, &b->streaming.grid, &query.region, ranges);
        cleave__aggregates_add_query(b->sums, cleave__ranges_hull(ranges, count));
    }
    *ns = (double)(cleave__clock_ns() - begin) / (double)b->query_count;
    return CLEAVE_OK;
}

/* Reading and matching, in batches as they come to an evaluator. */
static enum cleave_status match_all(struct bench *b, const struct cleave__matcher_ops *ops,
                                    void *matcher, uint64_t count, struct matched *out,
                                    struct cleave_error *error)
{
    struct cleave_arena_mark mark = cleave__arena_mark(&b->arena);
    struct cleave_reader objects = {b->objects.data, b->objects.data + b->objects.count, false};
    struct cleave__matches matches = {0};
    struct cleave__object batch[BATCH];
    uint32_t looked[BATCH];
    uint64_t candidates = 0;
    enum cleave_status status = CLEAVE_OK;
    uint64_t begin = cleave__clock_ns();
    for (uint64_t done = 0; done < count && !status;) {
        uint32_t n = count - done < BATCH ? (uint32_t)(count - done) : BATCH;
        bool short_of_memory;
        cleave__arena_rewind(&b->arena, mark);
        for (uint32_t i = 0; i < n && !status; i++) {
            if (!cleave__object_read(&objects, &b->arena, &batch[i], &short_of_memory))
                status = no_memory(error);
        }
        matches.items.count = 0;
        if (!status)
            status = ops->match(matcher, batch, n, &matches, looked, error);
        for (uint32_t i = 0; i < n && !status; i++) {
            candidates += looked[i];
            cleave__aggregates_object(b->sums, cleave__grid_column(&b->streaming.grid, batch[i].x),
                                      cleave__grid_row(&b->streaming.grid, batch[i].y), looked[i]);
        }
        done += n;
    }
    double took = (double)(cleave__clock_ns() - begin) / (double)count;
    CLEAVE_VECTOR_FREE(&matches.items);
    out->candidates = (double)candidates / (double)count;
    out->object_ns = took < out->object_ns ? took : out->object_ns;
    return status;
}

static enum cleave_status time_matcher(struct bench *b, const struct cleave__matcher_ops *ops,
                                       uint64_t objects, struct matched *out,
                                       struct cleave_error *error)
{
    *out = (struct matched){INFINITY, INFINITY, 0};
    objects = objects < b->object_count ? objects : b->object_count;
    enum cleave_status status = CLEAVE_OK;
    for (int pass = 0; pass < PASSES && !status; pass++) {
        void *matcher = NULL;
        struct cleave__map slots = {0};
        double store_ns = INFINITY;
        cleave__aggregates_clear(b->sums);
        status =
            ops->create(&(struct cleave__matcher_options){b->streaming.space}, &matcher, error);
        if (!status)
            status = store_all(b, ops, matcher, &slots, &store_ns, error);
        if (!status)
            status = match_all(b, ops, matcher, objects, out, error);
        out->store_ns = store_ns < out->store_ns ? store_ns : out->store_ns;
        cleave__map_free(&slots);
        if (matcher)
            ops->destroy(matcher);
    }
    return status;
}

/* ---- messages ---- */

enum { MESSAGES = 200000, UNDER_WAY = 64, BODY = 2048 };

struct peer {
    uint64_t sent, answered;
    bool asks;
};

static const uint8_t body_of_message[BODY];

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return no_memory(error);
    peer->asks = argument != NULL;
    *self = peer;
    return CLEAVE_OK;
}

static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    struct peer *peer = self;
    if (!peer->asks) {
        cleave__context_answer(context, message->promise, 2, NULL, 0);
        return;
    }
    peer->answered += message->sort == CLEAVE_REPLY;
    while (peer->sent < MESSAGES && peer->sent - peer->answered < UNDER_WAY) {
        peer->sent++;
        cleave__context_request(context, 1, 1, body_of_message, BODY, 0, 0);
    }
}

/* Half of a request and its answer. */
static enum cleave_status time_messages(double *ns, struct cleave_error *error)
{
    static const struct cleave_actor_ops ops = {"peer", create, free, receive, NULL};
    for (int pass = 0; pass < PASSES; pass++) {
        struct cleave_runtime *runtime;
        uint32_t actor;
        enum cleave_status status = cleave__runtime_new(
            &(struct cleave_runtime_options){.transport = &cleave__threads, .threads = 1}, &runtime,
            error);
        if (status)
            return status;
        status = cleave__runtime_spawn(runtime, &ops, NULL, NULL, &actor, error);
        if (!status)
            status = cleave__runtime_spawn(runtime, &ops, "asks", NULL, &actor, error);
        if (!status)
            status = cleave__runtime_post(runtime, actor, 1, NULL, 0, error);
        uint64_t begin = cleave__clock_ns();
        if (!status)
            status = cleave__runtime_run(runtime, 0, NULL, error);
        double took = (double)(cleave__clock_ns() - begin) / (2.0 * MESSAGES);
        cleave__runtime_free(runtime);
        if (status)
            return status;
        *ns = took < *ns ? took : *ns;
    }
    return CLEAVE_OK;
}

static enum cleave_status time_matching(struct bench *b, struct cleave__stream_costs *costs,
                                        struct cleave_error *error)
{
    struct matched usual, wide, scan, cells;
    struct cleave__stream_options made = *b->play->made;
    uint64_t few = PAIRS / b->query_count + 1;
    enum cleave_status status = time_matcher(b, &cleave__matcher_index, UINT64_MAX, &usual, error);
    if (!status)
        status = time_matcher(b, &cleave__matcher_scan, few, &scan, error);
    if (status)
        return status;
    /* Ranges of more than the area: more candidates, all else the same. */
    made.range = made.range * 8 < 1 ? made.range * 8 : 1;
    made.contains = 0;
    status = write_workload(b, &made, error);
    if (!status)
        status = time_matcher(b, &cleave__matcher_index, few * 16, &wide, error);
    if (!status)
        status = time_matcher(b, &cleave__matcher_cells, few * 16, &cells, error);
    if (status)
        return status;
    double more = wide.candidates - usual.candidates;
    double candidate = more > 0 ? (wide.object_ns - usual.object_ns) / more : 1;
    candidate = candidate > 1 ? candidate : 1;
    double object = usual.object_ns - usual.candidates * candidate;
    costs->service.match_candidate_ns = (uint64_t)ceil(candidate);
    costs->service.match_object_ns = (uint64_t)ceil(object > 1 ? object : 1);
    costs->service.store_query_ns = (uint64_t)ceil(usual.store_ns);
    costs->scan_candidate_ns = (uint64_t)ceil(scan.object_ns / (double)b->query_count);
    costs->cells_candidate_ns =
        cells.candidates > 0 ? (uint64_t)ceil(cells.object_ns / cells.candidates) : 1;
    return CLEAVE_OK;
}

enum cleave_status cleave__stream_calibrate(const struct cleave__stream_play *play,
                                            struct cleave__stream_costs *out,
                                            struct cleave_error *error)
{
    struct cleave__stream_costs costs = {0};
    struct bench b = {0};
    double message_ns = INFINITY;
    enum cleave_status status = bench_make(play, &b, error);
    if (!status)
        status = time_routing(&b, &costs, error);
    if (!status)
        status = time_keywords(&b, &costs, error);
    if (!status)
        status = time_matching(&b, &costs, error);
    if (!status)
        status = time_messages(&message_ns, error);
    bench_free(&b);
    if (status)
        return status;
    costs.service.message_ns = (uint64_t)ceil(message_ns);
    *out = costs;
    return CLEAVE_OK;
}
