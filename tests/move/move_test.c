/* The transfer protocol on the simplest of holders: pieces are counters, routers count them up. In
 * the end each piece is at one holder, the one that the maps say, and no count is lost or doubled;
 * whoever crashes, and whenever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "move/move.h"
#include "runtime/runtime.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { PIECES = 12, MOVED = 8, ROUTERS = 2, COUNTS = 6, SOURCE = 1, TARGET = 2, FIRST_ROUTER = 3 };
enum { MS = 1000000, KIND_COUNT = 1, KIND_COUNTED, KIND_FORWARD };

struct world {
    uint64_t retry_ns;
    uint32_t tries_most;
    bool saves;
};

struct holder {
    const struct world *world;
    bool has[PIECES];
    uint64_t count[PIECES];
    struct cleave__move_end end;
    uint64_t forwarded;
};

struct router {
    const struct world *world;
    uint32_t at[PIECES]; /* actor */
    uint64_t count[PIECES];
    struct cleave__move_router router;
};

struct manager {
    const struct world *world;
    struct cleave__mover mover;
    uint32_t over, moved;
};

/* ---- holders ---- */

static void piece_write(void *self, uint64_t piece, struct cleave_writer *writer)
{
    cleave__put64(writer, ((struct holder *)self)->count[piece]);
}

static bool piece_take(void *self, uint64_t piece, struct cleave_reader *reader)
{
    struct holder *h = self;
    uint64_t count = cleave__get64(reader);
    h->count[piece] = h->has[piece] && h->count[piece] > count ? h->count[piece] : count;
    h->has[piece] = true;
    return true;
}

static void pieces_drop(void *self, const uint64_t *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct holder *)self)->has[pieces[i]] = false;
}

static void pieces_keep(void *self, const uint64_t *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(((struct holder *)self)->has[pieces[i]]);
}

static bool piece_busy(void *self, uint64_t piece)
{
    (void)self, (void)piece;
    return false;
}

static void holder_save(void *self, struct cleave_context *context)
{
    struct holder *h = self;
    struct cleave_writer writer = {0};
    if (!h->world->saves)
        return;
    cleave__put_bytes(&writer, h->has, sizeof h->has);
    cleave__put_bytes(&writer, h->count, sizeof h->count);
    cleave__move_end_write(&h->end, &writer);
    if (writer.failed)
        cleave__move_no_memory(context);
    else
        cleave__context_save(context, writer.data, writer.count);
    free(writer.data);
}

static const struct cleave__move_ops move_ops = {.write = piece_write,
                                                 .take = piece_take,
                                                 .drop = pieces_drop,
                                                 .keep = pieces_keep,
                                                 .busy = piece_busy,
                                                 .save = holder_save};

static enum cleave_status holder_create(const void *world, void **self, struct cleave_error *error)
{
    struct holder *h = calloc(1, sizeof *h);
    if (!h)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory");
    h->world = world;
    h->end.ops = &move_ops;
    h->end.holder = h;
    h->end.retry_ns = h->world->retry_ns;
    *self = h;
    return CLEAVE_OK;
}

static void holder_destroy(void *self)
{
    cleave__move_end_free(&((struct holder *)self)->end);
    free(self);
}

static void holder_start(void *self, struct cleave_context *context, const uint8_t *saved,
                         size_t length)
{
    struct holder *h = self;
    struct cleave_reader reader = {saved, saved + length, false};
    if (!saved) {
        for (uint32_t p = 0; p < PIECES; p++)
            h->has[p] = cleave__context_self(context) == SOURCE;
        return;
    }
    memcpy(h->has, cleave__get_bytes(&reader, sizeof h->has), sizeof h->has);
    memcpy(h->count, cleave__get_bytes(&reader, sizeof h->count), sizeof h->count);
    if (!cleave__move_end_read(&h->end, &reader))
        cleave__move_no_memory(context);
    cleave__move_end_resume(&h->end, context);
}

static void holder_receive(void *self, struct cleave_context *context,
                           const struct cleave_message *message)
{
    struct holder *h = self;
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    struct cleave_promise promise = message->promise;
    if (!cleave__move_end_check(&h->end))
        cleave__context_fail(context, CLEAVE_CORRUPT, "the end of the move is broken");
    if (cleave__move_message(message)) {
        cleave__move_end_receive(&h->end, context, message);
        return;
    }
    if (message->kind == KIND_FORWARD) {
        promise.requester = cleave__get32(&reader);
        promise.correlation = cleave__get64(&reader);
    }
    uint64_t piece = cleave__get64(&reader), number = cleave__get64(&reader);
    if (cleave__move_where(&h->end, piece) == CLEAVE__MOVE_AWAY) {
        struct cleave_writer *writer = cleave__context_writer(context);
        cleave__put32(writer, promise.requester);
        cleave__put64(writer, promise.correlation);
        cleave__put64(writer, piece);
        cleave__put64(writer, number);
        h->forwarded++;
        cleave__context_send(context, h->end.target, KIND_FORWARD, writer->data, writer->count);
        return;
    }
    if (!h->has[piece] || number > h->count[piece] + 1) {
        cleave__context_fail(context, CLEAVE_CORRUPT, "count %d of piece %d, which is %s at %d",
                             (int)number, (int)piece, h->has[piece] ? "here" : "not here",
                             (int)h->count[piece]);
        return;
    }
    if (number == h->count[piece] + 1) {
        h->count[piece] = number;
        cleave__move_changed(&h->end, context, piece);
        holder_save(h, context);
    }
    cleave__context_answer(context, promise, KIND_COUNTED, NULL, 0);
}

static const struct cleave_actor_ops holder_ops = {"holder", holder_create, holder_destroy,
                                                   holder_receive, holder_start};

/* ---- routers: router r counts pieces r, r + ROUTERS, ... ---- */

static void router_map(void *self, uint32_t target, const uint8_t *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct router *)self)->at[cleave__load64(pieces + i * 8)] = target;
}

static void router_save(void *self, struct cleave_context *context)
{
    (void)self, (void)context; /* none crashes */
}

static const struct cleave__move_router_ops router_ops = {router_map, router_save};

static enum cleave_status router_create(const void *world, void **self, struct cleave_error *error)
{
    struct router *r = calloc(1, sizeof *r);
    if (!r)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory");
    r->world = world;
    r->router = (struct cleave__move_router){
        .ops = &router_ops, .holder = r, .retry_ns = r->world->retry_ns};
    for (uint32_t p = 0; p < PIECES; p++)
        r->at[p] = SOURCE;
    *self = r;
    return CLEAVE_OK;
}

static void count_up(struct router *r, struct cleave_context *context, uint64_t piece)
{
    struct cleave_writer *writer = cleave__context_writer(context);
    cleave__put64(writer, piece);
    cleave__put64(writer, r->count[piece] + 1);
    cleave__context_request(context, r->at[piece], KIND_COUNT, writer->data, writer->count,
                            r->world->retry_ns, piece);
}

static void router_start(void *self, struct cleave_context *context, const uint8_t *saved,
                         size_t length)
{
    (void)saved, (void)length;
    for (uint64_t p = cleave__context_self(context) - FIRST_ROUTER; p < PIECES; p += ROUTERS)
        count_up(self, context, p);
}

static void router_receive(void *self, struct cleave_context *context,
                           const struct cleave_message *message)
{
    struct router *r = self;
    if (cleave__move_message(message)) {
        cleave__move_router_receive(&r->router, context, message);
        return;
    }
    r->count[message->tag] += message->sort == CLEAVE_REPLY;
    if (r->count[message->tag] < COUNTS)
        count_up(r, context, message->tag);
}

static const struct cleave_actor_ops router_actor = {"router", router_create, free, router_receive,
                                                     router_start};

/* ---- the manager: one move, after a while ---- */

static void over(void *self, struct cleave_context *context, bool moved)
{
    (void)context;
    ((struct manager *)self)->over++;
    ((struct manager *)self)->moved += moved;
}

static enum cleave_status manager_create(const void *world, void **self, struct cleave_error *error)
{
    struct manager *m = calloc(1, sizeof *m);
    if (!m)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory");
    m->world = world;
    m->mover = (struct cleave__mover){.done = over,
                                      .holder = m,
                                      .retry_ns = m->world->retry_ns,
                                      .tries_most = m->world->tries_most};
    *self = m;
    return CLEAVE_OK;
}

static void manager_destroy(void *self)
{
    cleave__mover_free(&((struct manager *)self)->mover);
    free(self);
}

static void manager_start(void *self, struct cleave_context *context, const uint8_t *saved,
                          size_t length)
{
    (void)self, (void)saved, (void)length;
    cleave__context_timer(context, 3 * MS, 0);
}

static void manager_receive(void *self, struct cleave_context *context,
                            const struct cleave_message *message)
{
    struct manager *m = self;
    uint32_t routers[ROUTERS];
    uint64_t pieces[MOVED];
    if (message->sort != CLEAVE_TIMER) {
        cleave__mover_receive(&m->mover, context, message);
        return;
    }
    for (uint32_t i = 0; i < ROUTERS; i++)
        routers[i] = FIRST_ROUTER + i;
    for (uint64_t p = 0; p < MOVED; p++)
        pieces[p] = p;
    cleave__mover_begin(&m->mover, context, SOURCE, TARGET, routers, ROUTERS, pieces, MOVED);
}

static const struct cleave_actor_ops manager_ops = {"manager", manager_create, manager_destroy,
                                                    manager_receive, manager_start};

/* ---- runs ---- */

struct outcome {
    bool moved;
    uint64_t forwarded, ended_ns;
};

static enum cleave_status run(const struct world *world,
                              const struct cleave_transport_ops *transport,
                              const struct cleave_fault *faults, size_t fault_count, uint64_t seed,
                              struct outcome *out, struct cleave_error *error)
{
    struct cleave_runtime *runtime = NULL;
    struct cleave_runtime_options options = {
        .transport = transport,
        .seed = seed,
        .threads = 2,
        .sim = {.remote = {.kind = CLEAVE_LOGNORMAL, .low_ns = MS, .shape = 0.5},
                .faults = faults,
                .fault_count = fault_count}};
    const struct cleave_actor_ops *const ops[] = {&holder_ops, &holder_ops, &router_actor,
                                                  &router_actor, &manager_ops};
    uint32_t actor = 0;
    enum cleave_status status = cleave__runtime_new(&options, &runtime, error);
    for (uint32_t i = 0; i < 5 && !status; i++)
        status = cleave__runtime_spawn(runtime, ops[i], world,
                                       &(struct cleave_spawn_options){.node = i}, &actor, error);
    if (!status)
        status = cleave__runtime_run(runtime, 0, NULL, error);
    if (!status) {
        const struct holder *source = cleave__runtime_state(runtime, SOURCE);
        const struct holder *target = cleave__runtime_state(runtime, TARGET);
        const struct manager *manager = cleave__runtime_state(runtime, actor);
        *out = (struct outcome){manager->moved == 1, source->forwarded,
                                cleave__runtime_now_ns(runtime)};
        bool right = manager->over == 1 && source->end.phase == CLEAVE__MOVE_NONE &&
                     target->end.incoming.count == 0;
        for (uint32_t p = 0; p < PIECES && right; p++) {
            bool there = out->moved && p < MOVED;
            const struct holder *here = there ? target : source;
            const struct router *r = cleave__runtime_state(runtime, FIRST_ROUTER + (p % ROUTERS));
            right = source->has[p] != target->has[p] && here->has[p] && here->count[p] == COUNTS &&
                    r->at[p] == (there ? TARGET : SOURCE);
        }
        if (!right)
            status = cleave_error_set(error, CLEAVE_CORRUPT, "pieces are not where they belong");
    }
    cleave__runtime_free(runtime);
    return status;
}

static void moves(void **state)
{
    struct world world = {0};
    struct cleave_error error;
    uint64_t forwarded = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct outcome outcome = {0};
        if (run(&world, &cleave__sim, NULL, 0, seed, &outcome, &error))
            fail_msg("seed %d: %s", (int)seed, error.message);
        assert_true(outcome.moved);
        forwarded += outcome.forwarded;
    }
    assert_true(forwarded > 100);
}

static void moves_on_threads(void **state)
{
    struct world world = {0};
    struct cleave_error error;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct outcome outcome = {0};
        if (run(&world, &cleave__threads, NULL, 0, seed, &outcome, &error))
            fail_msg("%s", error.message);
        assert_true(outcome.moved);
    }
}

/* Source and target crash at every quarter of a millisecond, for short and for long. */
static void crashes(void **state)
{
    static const uint64_t lengths_ns[] = {MS / 2, 40 * MS, 400 * MS};
    struct cleave_error error;
    uint32_t moved = 0, given_up = 0;
    (void)state;
    for (uint32_t actor = SOURCE; actor <= TARGET; actor++) {
        for (uint32_t i = 0; i < 3; i++) {
            for (uint64_t at_ns = 0; at_ns < 40 * MS; at_ns += MS / 4) {
                struct world world = {.retry_ns = 15 * MS, .tries_most = 3, .saves = true};
                struct cleave_fault crash = {.kind = CLEAVE_FAULT_CRASH,
                                             .at_ns = at_ns,
                                             .for_ns = lengths_ns[i],
                                             .actor = actor};
                struct outcome outcome = {0};
                if (run(&world, &cleave__sim, &crash, 1, 7 + at_ns, &outcome, &error))
                    fail_msg("%s crashes at %d us for %d us: %s",
                             actor == SOURCE ? "source" : "target", (int)(at_ns / 1000),
                             (int)(lengths_ns[i] / 1000), error.message);
                moved += outcome.moved;
                given_up += !outcome.moved;
            }
        }
    }
    assert_true(moved > 500 && given_up > 10);
}

static bool any_faults(struct property_source *source, void *context)
{
    struct world world = {.retry_ns = 15 * MS, .tries_most = 4, .saves = true};
    struct cleave_fault faults[4];
    struct outcome outcome = {0};
    struct cleave_error error;
    uint64_t seed = property_draw(source, 1u << 30);
    size_t count = 1 + property_draw(source, 4);
    (void)context;
    /* Routers and manager keep nothing: only holders crash; all may be cut off. */
    cleave__faults_draw(seed, (1u << CLEAVE_FAULT_KINDS) - 1, 60 * MS, 5, faults, count);
    for (size_t i = 0; i < count; i++) {
        if (faults[i].kind == CLEAVE_FAULT_CRASH)
            faults[i].actor = SOURCE + (uint32_t)(i % 2);
    }
    if (!run(&world, &cleave__sim, faults, count, seed, &outcome, &error))
        return true;
    if (source->verbose)
        printf("seed %llu, %d faults: %s\n", (unsigned long long)seed, (int)count, error.message);
    return false;
}

static void faults(void **state)
{
    (void)state;
    assert_true(property_run("moves with faults", any_faults, NULL, 1500));
}

static bool attempt(void *context)
{
    struct world world = {.retry_ns = 15 * MS, .tries_most = 4, .saves = true};
    struct cleave_fault crash = {
        .kind = CLEAVE_FAULT_CRASH, .at_ns = 9 * MS, .for_ns = MS, .actor = SOURCE};
    struct outcome outcome = {0};
    struct cleave_error error;
    (void)context;
    enum cleave_status status = run(&world, &cleave__sim, &crash, 1, 1, &outcome, &error);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_true(failalloc_run("move", attempt, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves), cmocka_unit_test(moves_on_threads),
                                       cmocka_unit_test(crashes), cmocka_unit_test(faults),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
