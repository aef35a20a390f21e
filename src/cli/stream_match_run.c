/* The work of `cleave stream match`.
 *
 * Objects go through in batches while there are more at hand; before waiting for input the batch
 * is matched and its lines are out. The stream's clock is the latest time of an object: a query
 * whose end it has reached is over, for late objects too, so that the answer does not depend on
 * how input comes in pieces. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/stream_match.h"

static int by_end(const void *a, const void *b)
{
    const struct cleave_ending *x = a, *y = b;
    if (x->end_ms != y->end_ms)
        return x->end_ms < y->end_ms ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum cleave_status add_query(struct cleave_match_run *run, const struct cleave__query *query,
                                    struct cleave_error *error)
{
    struct cleave_ending ending = {query->end_ms, query->id, 0, 0};
    enum cleave_status status =
        run->arguments->matcher->add(run->matcher, query, &ending.slot, error);
    if (!status && run->checker)
        status = cleave__matcher_scan.add(run->checker, query, &ending.check_slot, error);
    if (!status && query->end_ms != CLEAVE__NEVER && !CLEAVE_PUSH(&run->endings, ending))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    run->events |= query->events;
    return status;
}

/* Where grids lie on a plane that nobody told the bounds of: where queries are. */
static void settle_space(struct cleave_match_run *run)
{
    const struct cleave__box *e = &run->loaded.extent;
    run->space = run->arguments->space.space;
    if (run->space.kind == CLEAVE__PLANE && !run->arguments->space.bounded && e->x0 < e->x1 &&
        e->y0 < e->y1)
        run->space.bounds = *e;
}

static enum cleave_status add_queries(struct cleave_match_run *run, struct cleave_error *error)
{
    settle_space(run);
    struct cleave__matcher_options about = {.space = &run->space};
    enum cleave_status status = run->arguments->matcher->create(&about, &run->matcher, error);
    if (!status && run->arguments->check)
        status = cleave__matcher_scan.create(&about, &run->checker, error);
    struct cleave_reader reader = {run->loaded.bytes.data,
                                   run->loaded.bytes.data + run->loaded.bytes.count, false};
    struct cleave_arena arena = {0};
    for (uint64_t i = 0; i < run->loaded.count && !status; i++) {
        struct cleave__query query;
        bool no_memory;
        if (!cleave__query_read(&reader, &arena, &query, &no_memory))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
        if (!status)
            status = add_query(run, &query, error);
        cleave__arena_rewind(&arena, (struct cleave_arena_mark){0});
        if (i % 65536 == 0 && run->progress->report)
            run->progress->report(run->progress->context, "queries", i, run->loaded.count);
        if (i % 65536 == 0 && *run->progress->stop)
            status = cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
    }
    cleave__arena_free(&arena);
    free(run->loaded.bytes.data);
    run->loaded.bytes = (struct cleave_writer){0};
    if (run->endings.count)
        qsort(run->endings.data, run->endings.count, sizeof *run->endings.data, by_end);
    return status;
}

/* The tracker knows the queries that want to hear who enters or leaves, or that they end. */
static enum cleave_status start_tracker(struct cleave_match_run *run, struct cleave_error *error)
{
    const uint32_t wanted = CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT;
    const struct cleave__matcher_ops *ops = run->arguments->matcher;
    if (!(run->events & wanted))
        return CLEAVE_OK;
    struct cleave__track_options about = {.ttl_ms = run->arguments->ttl_ms,
                                          .held_most = 1,
                                          .things_most = run->arguments->things_most};
    enum cleave_status status = cleave__tracker_new(&about, &run->tracker, error);
    for (uint32_t slot = 0; slot < ops->slots(run->matcher) && !status; slot++) {
        struct cleave__query query;
        if (ops->query(run->matcher, slot, &query) && (query.events & wanted))
            status = cleave__tracker_add(run->tracker, query.id, error);
    }
    return status;
}

static enum cleave_status open_objects(struct cleave_match_run *run, struct cleave_error *error)
{
    const struct cleave_match_arguments *a = run->arguments;
    struct cleave__objects_options about = {.rows = {.path = a->files.objects,
                                                     .format = a->files.objects_format,
                                                     .header = a->files.header,
                                                     .stop = run->progress},
                                            .columns = a->files.columns,
                                            .space = &run->space,
                                            .terms = &run->loaded.terms,
                                            .fields = &run->loaded.fields};
    enum cleave_status status = cleave__objects_open(&about, &run->objects, error);
    if (!status)
        status = cleave__row_fields_bind(&run->fields, cleave__objects_rows(run->objects), error);
    return status;
}

/* What would be strange without a word. */
static void remark(const struct cleave_match_run *run)
{
    if (run->arguments->common.quiet)
        return;
    if (run->loaded.count == 0)
        fputs("cleave: no queries: nothing will match\n", stderr);
    if (run->loaded.terms.words.count && !cleave__objects_have_words(run->objects))
        fputs("cleave: queries have keywords, and no column gives objects words; see --text and "
              "--keywords\n",
              stderr);
    if (run->tracker && !cleave__objects_have_ids(run->objects))
        fputs("cleave: queries want enter or exit, and objects have no ids: name the column with "
              "--id\n",
              stderr);
    bool silence = run->tracker && run->arguments->ttl_ms;
    if ((run->endings.count || silence) && !cleave__objects_have_times(run->objects) &&
        !run->arguments->arrival)
        fprintf(stderr,
                "cleave: %s, and objects have no times: name the column with --time, or "
                "--arrival-time\n",
                run->endings.count ? "queries end" : "things may be silent");
}

/* A match; by object and query when settled. */
struct pair {
    uint32_t object, slot;
    uint64_t query;
    uint32_t events;
};

static int by_object(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->query > y->query) - (x->query < y->query);
}

/* Those of queries that are over are left out. */
static enum cleave_status match_with(struct cleave_match_run *run,
                                     const struct cleave__matcher_ops *ops, void *matcher,
                                     struct cleave__matches *found, struct pair **out,
                                     size_t *count, struct cleave_error *error)
{
    found->items.count = 0;
    enum cleave_status status = ops->match(matcher, run->batch, run->count, found, NULL, error);
    if (status)
        return status;
    struct pair *pairs = cleave__arena_array(&run->arena, found->items.count, sizeof *pairs);
    if (!pairs)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
    size_t kept = 0;
    for (size_t i = 0; i < found->items.count; i++) {
        struct cleave__match match = found->items.data[i];
        struct cleave__query query;
        bool there = ops->query(matcher, match.slot, &query);
        if (there && query.end_ms > run->rows[match.object].clock_ms)
            pairs[kept++] = (struct pair){match.object, match.slot, query.id, query.events};
    }
    if (kept > 1)
        qsort(pairs, kept, sizeof *pairs, by_object);
    *out = pairs;
    *count = kept;
    return CLEAVE_OK;
}

static enum cleave_status compare(struct cleave_match_run *run, const struct pair *pairs,
                                  size_t count, struct cleave_error *error)
{
    struct pair *wanted;
    size_t wanted_count;
    enum cleave_status status = match_with(run, &cleave__matcher_scan, run->checker, &run->wanted,
                                           &wanted, &wanted_count, error);
    if (status)
        return status;
    run->checked += run->count;
    for (size_t i = 0; i < count || i < wanted_count; i++) {
        const struct pair *a = i < count ? &pairs[i] : NULL,
                          *b = i < wanted_count ? &wanted[i] : NULL;
        if (a && b && a->object == b->object && a->query == b->query)
            continue;
        bool missing = b && (!a || by_object(b, a) < 0);
        const struct pair *one = missing ? b : a;
        size_t length;
        const char *id = cleave__queries_id(run->loaded.reader, one->query, &length);
        return cleave_error_set(
            error, CLEAVE_CORRUPT,
            "%s: the object of line %" PRIu64 " and query '%.80s': %s does %smatch "
            "them, brute force does%s; please report this",
            cleave__rows_path(cleave__objects_rows(run->objects)), run->rows[one->object].line, id,
            run->arguments->matcher->name, missing ? "not " : "", missing ? "" : " not");
    }
    return CLEAVE_OK;
}

/* Of the tracker, in their order; those that the query asked for are printed. */
static enum cleave_status print_tracked(struct cleave_match_run *run,
                                        const struct cleave_match_row *row,
                                        struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (size_t i = 0; i < run->tracked.items.count && !status; i++) {
        const struct cleave__track_event *e = &run->tracked.items.data[i];
        uint32_t wants = run->loaded.wants[e->query - 1];
        if (!(wants & e->kind))
            continue;
        if (e->kind == CLEAVE__EVENT_ENTER)
            run->entered++;
        else
            run->left++;
        status = cleave__match_print(run, e->kind, e->query, e->sequence ? row : NULL, e->name,
                                     e->name_length, error);
    }
    cleave__track_events_clear(&run->tracked);
    return status;
}

/* Things that have been silent for too long when the clock shows this time. */
static enum cleave_status pass_time(struct cleave_match_run *run, uint64_t clock_ms,
                                    struct cleave_error *error)
{
    enum cleave_status status = cleave__tracker_tick(run->tracker, clock_ms, &run->tracked, error);
    return status ? status : print_tracked(run, NULL, error);
}

/* Queries that are over when the clock shows the time of this row. A thing whose silence was too
 * long before a query's end has left it, though the clock shows both at once. */
static enum cleave_status expire(struct cleave_match_run *run, uint64_t clock_ms, size_t *at,
                                 struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (; *at < run->endings.count && run->endings.data[*at].end_ms <= clock_ms && !status;
         ++*at) {
        const struct cleave_ending *e = &run->endings.data[*at];
        if (run->tracker && e->end_ms)
            status = pass_time(run, e->end_ms - 1, error);
        if (run->tracker && !status) { /* who was inside is not told: the query is gone */
            status = cleave__tracker_end(run->tracker, e->id, e->end_ms, &run->tracked, error);
            cleave__track_events_clear(&run->tracked);
        }
        if (!status && (run->loaded.wants[e->id - 1] & CLEAVE__EVENT_EXPIRE)) {
            run->expired++;
            status = cleave__match_print(run, CLEAVE__EVENT_EXPIRE, e->id, NULL, NULL, 0, error);
        }
    }
    return status;
}

static enum cleave_status track(struct cleave_match_run *run, uint32_t i, const struct pair *pairs,
                                size_t count, struct cleave_error *error)
{
    const uint32_t wanted = CLEAVE__EVENT_ENTER | CLEAVE__EVENT_EXIT;
    const struct cleave_match_row *row = &run->rows[i];
    enum cleave_status status = pass_time(run, row->clock_ms, error);
    if (status || run->batch[i].id == 0)
        return status;
    run->inside.count = 0;
    for (size_t k = 0; k < count; k++) {
        if ((pairs[k].events & wanted) && !CLEAVE_PUSH(&run->inside, pairs[k].query))
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for matches");
    }
    struct cleave__track_message message = {.thing = run->batch[i].id,
                                            .sequence = run->batch[i].number,
                                            .time_ms = row->clock_ms,
                                            .queries = run->inside.data,
                                            .count = (uint32_t)run->inside.count,
                                            .name = row->id,
                                            .name_length = row->id_length};
    status = cleave__tracker_message(run->tracker, &message, &run->tracked, error);
    return status ? status : print_tracked(run, row, error);
}

static void remove_ended(struct cleave_match_run *run, size_t until)
{
    for (; run->ended < until; run->ended++) {
        const struct cleave_ending *e = &run->endings.data[run->ended];
        run->arguments->matcher->remove(run->matcher, e->slot);
        if (run->checker)
            cleave__matcher_scan.remove(run->checker, e->check_slot);
    }
}

/* Matches and prints the batch. */
static enum cleave_status flush(struct cleave_match_run *run, struct cleave_error *error)
{
    struct pair *pairs;
    size_t count, at = 0, ended = run->ended;
    enum cleave_status status =
        match_with(run, run->arguments->matcher, run->matcher, &run->found, &pairs, &count, error);
    if (!status && run->checker)
        status = compare(run, pairs, count, error);
    for (uint32_t i = 0; i < run->count && !status; i++) {
        size_t first = at;
        while (at < count && pairs[at].object == i)
            at++;
        status = expire(run, run->rows[i].clock_ms, &ended, error);
        run->accepted++;
        run->matched += at > first;
        run->matches += at - first;
        for (size_t k = first; k < at && !status; k++) {
            if (pairs[k].events & CLEAVE__EVENT_MATCH)
                status = cleave__match_print(run, CLEAVE__EVENT_MATCH, pairs[k].query,
                                             &run->rows[i], NULL, 0, error);
        }
        if (!status && run->tracker)
            status = track(run, i, pairs + first, at - first, error);
    }
    remove_ended(run, ended);
    run->count = 0;
    run->batch_bytes = 0;
    cleave__arena_rewind(&run->arena, (struct cleave_arena_mark){0});
    return status;
}

/* Puts the next object into the batch. CLEAVE_END. */
static enum cleave_status take(struct cleave_match_run *run, struct cleave_error *error)
{
    const struct cleave_match_arguments *a = run->arguments;
    struct cleave__object *object = &run->batch[run->count];
    struct cleave_match_row *row = &run->rows[run->count];
    enum cleave_status status = cleave__objects_next(run->objects, &run->arena, object, error);
    if ((status == CLEAVE_BAD_INPUT || status == CLEAVE_LIMIT) && a->files.skip_bad)
        return CLEAVE_OK;
    if (status)
        return status;
    if (a->arrival)
        object->time_ms = cleave__wall_ms();
    if (object->time_ms > run->clock_ms)
        run->clock_ms = object->time_ms;
    row->clock_ms = run->clock_ms;
    if (!cleave__match_row(run, row))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for objects");
    run->count++;
    return CLEAVE_OK;
}

static enum cleave_status pump(struct cleave_match_run *run, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK, later = CLEAVE_OK;
    struct cleave_error kept = {0};
    uint64_t told = 0;
    while (!later && !run->closed) {
        if (!cleave__rows_ready(cleave__objects_rows(run->objects))) {
            status = flush(run, error);
            if (!status && fflush(stdout))
                cleave__match_closed(run);
            if (status || run->closed)
                return status;
        }
        /* What came before a fault is answered first. */
        later = take(run, &kept);
        if (later || run->count == CLEAVE_BATCH || run->batch_bytes > CLEAVE_BATCH_BYTES) {
            status = flush(run, error);
            if (status)
                return status;
        }
        if (run->accepted - told >= 65536) {
            told = run->accepted;
            if (run->progress->report)
                run->progress->report(run->progress->context, "objects", run->accepted, 0);
        }
        if (*run->progress->stop)
            later = cleave_error_set(&kept, CLEAVE_INTERRUPTED, "stopped");
    }
    if (!run->closed && fflush(stdout))
        cleave__match_closed(run);
    if (later && later != CLEAVE_END) {
        *error = kept;
        return later;
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__match_run(struct cleave_match_run *run, struct cleave_terminal *terminal,
                                     struct cleave_error *error)
{
    const struct cleave_match_arguments *a = run->arguments;
    enum cleave_status status = cleave__row_fields_name(&run->fields, a->fields, error);
    if (!status)
        status =
            cleave__stream_load(&a->files, &a->space.space, run->progress, &run->loaded, error);
    if (!status)
        status = add_queries(run, error);
    if (!status)
        status = start_tracker(run, error);
    cleave__terminal_clear(terminal);
    if (!status)
        status = open_objects(run, error);
    if (status)
        return status;
    remark(run);
    status = pump(run, error);
    cleave__terminal_clear(terminal);
    if (!a->common.quiet)
        cleave__match_summary(run);
    return status;
}

void cleave__match_free(struct cleave_match_run *run)
{
    if (run->matcher)
        run->arguments->matcher->destroy(run->matcher);
    if (run->checker)
        cleave__matcher_scan.destroy(run->checker);
    cleave__objects_close(run->objects);
    cleave__tracker_free(run->tracker);
    cleave__track_events_free(&run->tracked);
    cleave__stream_loaded_free(&run->loaded);
    CLEAVE_VECTOR_FREE(&run->endings);
    CLEAVE_VECTOR_FREE(&run->found.items);
    CLEAVE_VECTOR_FREE(&run->wanted.items);
    CLEAVE_VECTOR_FREE(&run->inside);
    cleave__arena_free(&run->arena);
    free(run->line.data);
    free(run);
}
