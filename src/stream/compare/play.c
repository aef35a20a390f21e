#include "stream/compare/play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream/serve/sink.h"
#include "stream/shape/partition.h"

enum { BATCH = 256, SCAN_PAIRS_MOST = 300000000, CELLS_OBJECTS_MOST = 20000, REPORT_EVERY = 65536 };

/* ---- made-up feeds ---- */

struct made_feed {
    struct cleave__stream_generator *generator;
    uint64_t objects_left, queries_left;
    bool waited;
};

static enum cleave_status next(void *feed, struct cleave_arena *arena,
                               struct cleave__feed_item *out, struct cleave_error *error)
{
    struct made_feed *f = feed;
    (void)arena, (void)error;
    if (f->queries_left) {
        f->queries_left--;
        out->kind = CLEAVE__FEED_STORE;
        cleave__stream_next_query(f->generator, 0, &out->query);
    } else if (!f->waited) {
        f->waited = true;
        out->kind = CLEAVE__FEED_WAIT;
    } else if (f->objects_left) {
        f->objects_left--;
        out->kind = CLEAVE__FEED_OBJECT;
        cleave__stream_next_object(f->generator, &out->object);
    } else {
        out->kind = CLEAVE__FEED_END;
    }
    return CLEAVE_OK;
}

static const struct cleave__feed_ops made_feed_ops = {.next = next};

/* ---- first partitions ---- */

static void count(struct cleave__costs *costs, const struct cleave__streaming *streaming,
                  const struct cleave__object *object, const struct cleave__query *query)
{
    const struct cleave__grid *grid = &streaming->grid;
    if (object) {
        cleave__costs_object(costs, cleave__grid_column(grid, object->x),
                             cleave__grid_row(grid, object->y));
        return;
    }
    struct cleave__box boxes[CLEAVE__REGION_BOXES_MOST];
    uint32_t n = cleave__region_boxes(streaming->space, &query->region, boxes);
    for (uint32_t i = 0; i < n; i++)
        cleave__costs_query(
            costs, cleave__grid_cells(grid, boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1));
}

static enum cleave_status sample_made(const struct cleave__stream_play *play,
                                      const struct cleave__streaming *streaming,
                                      struct cleave__costs *costs, struct cleave_error *error)
{
    const struct cleave__stream_options *made = play->planned ? play->planned : play->made;
    struct cleave__stream_generator *generator;
    enum cleave_status status = cleave__stream_generator_new(made, &generator, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < play->sample; i++) {
        struct cleave__object object;
        struct cleave__query query;
        if (i < play->objects) {
            cleave__stream_next_object(generator, &object);
            count(costs, streaming, &object, NULL);
        }
        if (i < play->queries) {
            cleave__stream_next_query(generator, 0, &query);
            count(costs, streaming, NULL, &query);
        }
    }
    cleave__stream_generator_free(generator);
    return CLEAVE_OK;
}

/* Every so-manieth, over the whole script. */
static void sample_script(const struct cleave__stream_play *play,
                          const struct cleave__streaming *streaming, struct cleave__costs *costs)
{
    const struct cleave__stream_script *script = play->script;
    size_t step = script->objects.count / (play->sample + 1) + 1;
    for (size_t i = 0; i < script->objects.count; i += step)
        count(costs, streaming, &script->objects.data[i].object, NULL);
    step = script->queries.count / (play->sample + 1) + 1;
    for (size_t i = 0; i < script->queries.count; i += step)
        count(costs, streaming, NULL, &script->queries.data[i].query);
}

enum cleave_status cleave__stream_play_partition(const struct cleave__stream_play *play,
                                                 const struct cleave__streaming *streaming,
                                                 struct cleave__cells *cells,
                                                 struct cleave_error *error)
{
    uint32_t side = play->grid_side;
    if (play->first == CLEAVE__FIRST_UNIFORM) {
        cleave__partition_uniform(side, side, streaming->evaluators, play->spare, cells);
        return CLEAVE_OK;
    }
    struct cleave__costs *costs;
    enum cleave_status status = cleave__costs_new(side, side, &costs, error);
    if (status)
        return status;
    if (play->script)
        sample_script(play, streaming, costs);
    else
        status = sample_made(play, streaming, costs, error);
    if (!status) {
        cleave__costs_sum(costs);
        status = cleave__partition_kd(costs, streaming->evaluators, play->spare, cells, error);
    }
    cleave__costs_free(costs);
    return status;
}

/* ---- the unsharded answer ---- */

static const struct cleave__matcher_ops *reference(uint64_t objects, uint64_t queries)
{
    if (objects == 0 || queries <= SCAN_PAIRS_MOST / objects)
        return &cleave__matcher_scan;
    return objects <= CELLS_OBJECTS_MOST ? &cleave__matcher_cells : &cleave__matcher_index;
}

struct answer {
    uint64_t matches, digest;
    bool track;
    struct cleave__tracking tracking;
    struct cleave__map sequences;
    const uint64_t *end_of; /* by slot */
    CLEAVE_VECTOR(uint64_t) ids;
};

static enum cleave_status interrupted(const struct cleave_progress *progress, const char *stage,
                                      uint64_t done, uint64_t total, struct cleave_error *error)
{
    if (progress && progress->report)
        progress->report(progress->context, stage, done, total);
    return progress && progress->stop && *progress->stop
               ? cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped")
               : CLEAVE_OK;
}

/* Matches [count] are those of one object. */
static enum cleave_status follow(struct answer *answer, const struct cleave__object *object,
                                 const struct cleave__match *matches, uint32_t count,
                                 const uint64_t *id_of, struct cleave_error *error)
{
    uint64_t *sequence = cleave__map_put(&answer->sequences, object->id);
    if (!sequence || !CLEAVE_RESERVE(&answer->ids, 2 * (size_t)count))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the check");
    for (uint32_t i = 0; i < count; i++) {
        answer->ids.data[i] = id_of[matches[i].slot];
        answer->ids.data[count + i] = answer->end_of[matches[i].slot];
    }
    struct cleave__track_message message = {.thing = object->id,
                                            .sequence = ++*sequence,
                                            .time_ms = object->time_ms,
                                            .queries = answer->ids.data,
                                            .count = count};
    return cleave__tracking_message(&answer->tracking, &message, answer->ids.data + count, error);
}

static enum cleave_status match_all(const struct cleave__stream_play *play,
                                    const struct cleave__matcher_ops *ops, void *matcher,
                                    struct cleave__stream_generator *generator,
                                    const uint64_t *id_of, struct answer *out,
                                    struct cleave_error *error)
{
    struct cleave__object batch[BATCH];
    struct cleave__matches matches = {0};
    struct cleave_arena arena = {0};
    struct cleave_arena_mark mark = cleave__arena_mark(&arena);
    enum cleave_status status = CLEAVE_OK;
    for (uint64_t done = 0; done < play->objects && !status;) {
        uint32_t n = play->objects - done < BATCH ? (uint32_t)(play->objects - done) : BATCH;
        cleave__arena_rewind(&arena, mark);
        status = cleave__stream_next_objects(generator, n, &arena, batch, error);
        matches.items.count = 0;
        if (!status)
            status = ops->match(matcher, batch, n, &matches, NULL, error);
        for (size_t i = 0; i < matches.items.count && !status; i++)
            out->digest += cleave__match_digest(batch[matches.items.data[i].object].number,
                                                id_of[matches.items.data[i].slot]);
        out->matches += matches.items.count;
        for (uint32_t i = 0, at = 0; i < n && out->track && !status; i++) {
            uint32_t from = at;
            while (at < matches.items.count && matches.items.data[at].object == i)
                at++;
            if (batch[i].id)
                status = follow(out, &batch[i], matches.items.data + from, at - from, id_of, error);
        }
        done += n;
        if (!status && done % REPORT_EVERY < BATCH)
            status = interrupted(play->streaming.progress, "checking", done, play->objects, error);
    }
    CLEAVE_VECTOR_FREE(&matches.items);
    cleave__arena_free(&arena);
    return status;
}

static enum cleave_status check_made(const struct cleave__stream_play *play,
                                     const struct cleave__space *space,
                                     struct cleave__stream_played *out, struct cleave_error *error)
{
    const struct cleave__matcher_ops *ops = reference(play->objects, play->queries);
    struct cleave__stream_generator *generator = NULL;
    struct answer answer = {0};
    void *matcher = NULL;
    uint64_t *id_of = malloc((play->queries + 1) * sizeof *id_of);
    uint64_t *end_of = malloc((play->queries + 1) * sizeof *end_of);
    answer.track = play->streaming.track;
    answer.end_of = end_of;
    enum cleave_status status =
        id_of && end_of ? cleave__stream_generator_new(play->made, &generator, error)
                        : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the check");
    if (!status)
        status = ops->create(&(struct cleave__matcher_options){space}, &matcher, error);
    for (uint64_t i = 0; i < play->queries && !status; i++) {
        struct cleave__query query;
        uint32_t slot;
        cleave__stream_next_query(generator, 0, &query);
        status = ops->add(matcher, &query, &slot, error);
        if (!status) { /* slots are dense: nothing is removed */
            id_of[slot] = query.id;
            end_of[slot] = query.end_ms;
        }
    }
    if (!status && answer.track)
        status = cleave__tracking_begin(&answer.tracking, 0, error);
    if (!status)
        status = match_all(play, ops, matcher, generator, id_of, &answer, error);
    if (matcher)
        ops->destroy(matcher);
    cleave__stream_generator_free(generator);
    free(id_of);
    free(end_of);
    cleave__tracking_free(&answer.tracking);
    cleave__map_free(&answer.sequences);
    CLEAVE_VECTOR_FREE(&answer.ids);
    if (status)
        return status;
    const struct cleave__streamed *run = &out->run;
    out->against = ops->name;
    out->missing = answer.matches > run->matches ? answer.matches - run->matches : 0;
    out->unexpected = run->matches > answer.matches ? run->matches - answer.matches : 0;
    out->verified = answer.matches == run->matches && answer.digest == run->digest;
    bool followed = answer.tracking.entered == run->entered && answer.tracking.left == run->left &&
                    answer.tracking.digest == run->event_digest;
    if (!out->verified)
        snprintf(out->wrong, sizeof out->wrong,
                 "%" PRIu64 " matches, of an unsharded matcher %" PRIu64 "%s", run->matches,
                 answer.matches, answer.matches == run->matches ? ", other ones" : "");
    if (out->verified && answer.track && !followed) {
        out->verified = false;
        snprintf(out->wrong, sizeof out->wrong,
                 "%" PRIu64 " entered and %" PRIu64 " left; without shards %" PRIu64
                 " and %" PRIu64,
                 run->entered, run->left, answer.tracking.entered, answer.tracking.left);
    }
    return CLEAVE_OK;
}

static enum cleave_status check_script(const struct cleave__stream_play *play,
                                       struct cleave__stream_played *out,
                                       struct cleave_error *error)
{
    const struct cleave__stream_script *script = play->script;
    const struct cleave__matcher_ops *ops = reference(script->objects.count, script->queries.count);
    struct cleave__stream_script_check check;
    enum cleave_status status = cleave__stream_script_check(script, &out->run, ops, &check, error);
    if (status)
        return status;
    out->against = ops->name;
    out->missing = check.missing;
    out->unexpected = check.unexpected;
    out->verified = !check.missing && !check.unexpected && !out->run.duplicates;
    snprintf(out->wrong, sizeof out->wrong, "%s",
             check.missing || check.unexpected ? check.wrong : "matches were reported twice");
    return CLEAVE_OK;
}

enum cleave_status cleave__stream_play(const struct cleave__stream_play *play,
                                       struct cleave__stream_played *out,
                                       struct cleave_error *error)
{
    struct cleave__streaming streaming = play->streaming;
    struct cleave__space space = play->script ? *play->script->space : play->made->space;
    struct cleave__stream_played played = {0};
    struct made_feed feed = {.objects_left = play->objects, .queries_left = play->queries};
    struct cleave__cells *cells = calloc(streaming.evaluators, sizeof *cells);
    const struct cleave__box *b = &space.bounds;
    streaming.space = &space;
    streaming.grid =
        cleave__grid_make(b->x0, b->y0, b->x1, b->y1, play->grid_side, play->grid_side);
    streaming.partitions = cells;
    enum cleave_status status =
        cells ? cleave__stream_play_partition(play, &streaming, cells, error)
              : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for partitions");
    if (!status && play->script) {
        play->script->at = 0;
        streaming.feed_ops = &cleave__stream_script_feed;
        streaming.feed = play->script;
        streaming.keep_matches = true;
    } else if (!status) {
        streaming.feed_ops = &made_feed_ops;
        streaming.feed = &feed;
        status = cleave__stream_generator_new(play->made, &feed.generator, error);
    }
    if (!status)
        status = cleave__stream_serve(&streaming, &played.run, error);
    if (!status && !play->unchecked)
        status = play->script ? check_script(play, &played, error)
                              : check_made(play, &space, &played, error);
    cleave__stream_generator_free(feed.generator);
    free(cells);
    if (status)
        cleave__streamed_free(&played.run);
    else
        *out = played;
    return status;
}

void cleave__stream_played_free(struct cleave__stream_played *played)
{
    cleave__streamed_free(&played->run);
}
