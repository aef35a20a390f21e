/* What actors of a stream keep past a crash: written and read again it is the same; cut short or
 * changed it is an error, or something else that is in order; without memory it is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/serve/balancer.h"
#include "stream/serve/evaluator.h"
#include "stream/serve/feeder.h"
#include "stream/serve/router.h"
#include "support/failalloc.h"

enum { EVALUATORS = 3, ROUTERS = 2, QUERIES = 20 };

static struct {
    struct cleave__space space;
    struct cleave__cells cells[EVALUATORS];
    struct cleave__streaming streaming;
    struct cleave__stream_world world;
    struct cleave__stream_seat seat;
} w;

static int setup(void **state)
{
    (void)state;
    w.space = (struct cleave__space){CLEAVE__PLANE, {0, 0, 80, 80}};
    w.cells[0] = (struct cleave__cells){0, 0, 3, 7};
    w.cells[1] = (struct cleave__cells){4, 0, 7, 7};
    w.cells[2] = CLEAVE__NO_CELLS;
    w.streaming = (struct cleave__streaming){.transport = &cleave__sim,
                                             .space = &w.space,
                                             .grid = cleave__grid_make(0, 0, 80, 80, 8, 8),
                                             .evaluators = EVALUATORS,
                                             .routers = ROUTERS,
                                             .partitions = w.cells,
                                             .matcher = &cleave__matcher_index,
                                             .balance = CLEAVE__BALANCE_FORCED,
                                             .retry_ns = 1000};
    w.world = (struct cleave__stream_world){
        .streaming = &w.streaming, .durable = true, .batch = 4, .window = 4};
    w.seat = (struct cleave__stream_seat){&w.world, 0};
    return 0;
}

static void *make(const struct cleave_actor_ops *ops)
{
    void *self = NULL;
    struct cleave_error error;
    assert_int_equal(ops->create(&w.seat, &self, &error), CLEAVE_OK);
    return self;
}

static struct cleave__record record(uint64_t id, uint64_t version, uint32_t *terms)
{
    struct cleave__record r = {.op = CLEAVE__STORE, .version = version, .cover = CLEAVE__ANY_TERM};
    r.query = (struct cleave__query){.id = id,
                                     .end_ms = CLEAVE__NEVER,
                                     .predicate = id % 2 ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS,
                                     .events = CLEAVE__EVENT_MATCH,
                                     .terms = terms,
                                     .term_count = (uint32_t)(id % 4)};
    r.query.region =
        (struct cleave__region){CLEAVE__RECTANGLE, (double)id, 5, (double)id + 9, 30, 0};
    for (uint32_t i = 0; i < r.query.term_count; i++)
        terms[i] = i * 3 + (uint32_t)id % 5;
    if (r.query.term_count)
        r.cover =
            r.query.predicate == CLEAVE__CONTAINS ? terms[r.query.term_count - 1] : CLEAVE__NO_TERM;
    assert_int_equal(cleave__region_prepare(&w.space, &r.query.region, NULL), CLEAVE_OK);
    return r;
}

/* With something of all that is kept: a journal too. */
static void write_evaluator(struct cleave_writer *out)
{
    struct cleave__evaluator *e = make(&cleave__evaluator_ops);
    uint32_t terms[4];
    for (uint64_t id = 1; id <= QUERIES; id++) {
        struct cleave__record r = record(id, id, terms);
        assert_true(cleave__evaluator_store(e, &r));
        r.op = CLEAVE__REMOVE;
        r.version = 100 + id;
        if (id % 5 == 0)
            assert_true(cleave__evaluator_gone(e, r.query.id, r.version));
    }
    e->epoch = 7;
    e->shed_epoch = 6;
    e->doubt_epoch = 7;
    e->settled = 3;
    assert_true(CLEAVE_PUSH(&e->shedding, 77));
    e->end.in_number = 4;
    assert_true(CLEAVE_PUSH(&e->end.incoming, 12));
    e->end.phase = CLEAVE__MOVE_FORWARDING;
    e->end.number = 5;
    e->end.target = cleave__evaluator_actor(2);
    for (uint64_t piece = 0; piece < 3; piece++)
        assert_true(CLEAVE_PUSH(&e->end.pieces, piece * 8));
    e->end.sent = 3;
    assert_true(CLEAVE_PUSH(&e->end.routers, cleave__router_actor(&w.world, 1)));
    cleave__evaluator_write(e, out);
    struct cleave__record more = record(QUERIES + 1, QUERIES + 1, terms);
    cleave__record_write(&more, out);
    more = record(1, 200, terms);
    more.op = CLEAVE__REMOVE;
    cleave__record_write(&more, out);
    struct cleave_writer piece = {0};
    cleave__put64(&piece, 9); /* life, cost, settled, removed */
    cleave__put64(&piece, 1);
    cleave__put64(&piece, 3);
    cleave__put64(&piece, 2);
    cleave__put64(&piece, 1000);
    cleave__put64(&piece, 90);
    cleave__put64(&piece, 2); /* stored here: gone now */
    cleave__put64(&piece, 90);
    more = record(QUERIES + 2, QUERIES + 2, terms);
    cleave__record_write(&more, &piece);
    cleave__put8(out, 3);
    cleave__put64(out, 13);
    cleave__put64(out, piece.count);
    cleave__put_bytes(out, piece.data, piece.count);
    assert_false(out->failed || piece.failed);
    free(piece.data);
    cleave__evaluator_ops.destroy(e);
}

static void write_router(struct cleave_writer *out)
{
    struct cleave__router *r = make(&cleave__router_ops);
    r->life = 3;
    r->open = r->mapped = true;
    r->opened = 9;
    r->open_to = 2;
    r->epoch[1] = 8;
    r->move.number = 9;
    r->move.source = cleave__evaluator_actor(0);
    r->move.waits = true;
    cleave__router_write(r, out);
    cleave__router_ops.destroy(r);
}

static void write_balancer(struct cleave_writer *out)
{
    struct cleave__balancer *b = make(&cleave__balancer_ops);
    b->stage = CLEAVE__BALANCER_MOVING;
    b->decision = (struct cleave__balance_decision){
        .kind = CLEAVE__BALANCE_SPLIT, .step_count = 1, .steps = {{0, 2, {0, 0, 0, 7}}}};
    b->mover.state = CLEAVE__MOVER_MAPPING;
    b->mover.number = 4;
    b->mover.source = cleave__evaluator_actor(0);
    b->mover.target = cleave__evaluator_actor(2);
    for (uint32_t i = 0; i < ROUTERS; i++) {
        assert_true(CLEAVE_PUSH(&b->mover.routers, cleave__router_actor(&w.world, i)));
        assert_true(CLEAVE_PUSH(&b->mover.has_map, false));
    }
    for (uint64_t piece = 0; piece < 8; piece++)
        assert_true(CLEAVE_PUSH(&b->mover.pieces, piece * 8));
    struct cleave__rebalance done = {.kind = CLEAVE__BALANCE_CORNER, .to = 1, .done = true};
    assert_true(CLEAVE_PUSH(&b->rebalances, done));
    cleave__balancer_write(b, out);
    cleave__balancer_ops.destroy(b);
}

static void write_feeder(struct cleave_writer *out)
{
    struct cleave__feeder *f = make(&cleave__feeder_ops);
    f->version = 12;
    f->last_ms = 99;
    cleave__feeder_write(f, out);
    cleave__feeder_ops.destroy(f);
}

/* Reads, and if it makes sense writes it again. */
static enum cleave_status read_evaluator(const uint8_t *bytes, size_t length,
                                         struct cleave_writer *again)
{
    struct cleave_error error;
    const char *why = NULL;
    void *self = NULL;
    enum cleave_status status = cleave__evaluator_ops.create(&w.seat, &self, &error);
    if (status)
        return status;
    struct cleave__evaluator *e = self;
    status = cleave__evaluator_load(e, bytes, length, &error);
    if (!status && !cleave__evaluator_check(e, &why))
        fail_msg("%s", why);
    if (!status)
        cleave__evaluator_write(e, again);
    cleave__evaluator_ops.destroy(e);
    return status;
}

static enum cleave_status read_router(const uint8_t *bytes, size_t length,
                                      struct cleave_writer *again)
{
    struct cleave_error error;
    void *self = NULL;
    enum cleave_status status = cleave__router_ops.create(&w.seat, &self, &error);
    if (status)
        return status;
    struct cleave__router *r = self;
    status = cleave__router_load(r, bytes, length, &error);
    if (!status)
        cleave__router_write(r, again);
    cleave__router_ops.destroy(r);
    return status;
}

static enum cleave_status read_balancer(const uint8_t *bytes, size_t length,
                                        struct cleave_writer *again)
{
    struct cleave_error error;
    void *self = NULL;
    enum cleave_status status = cleave__balancer_ops.create(&w.seat, &self, &error);
    if (status)
        return status;
    struct cleave__balancer *b = self;
    status = cleave__balancer_load(b, bytes, length, &error);
    if (!status && !cleave__mover_check(&b->mover))
        fail_msg("a mover out of order");
    if (!status)
        cleave__balancer_write(b, again);
    cleave__balancer_ops.destroy(b);
    return status;
}

static enum cleave_status read_feeder(const uint8_t *bytes, size_t length,
                                      struct cleave_writer *again)
{
    struct cleave_error error;
    void *self = NULL;
    enum cleave_status status = cleave__feeder_ops.create(&w.seat, &self, &error);
    if (status)
        return status;
    struct cleave__feeder *f = self;
    status = cleave__feeder_load(f, bytes, length, &error);
    if (!status)
        cleave__feeder_write(f, again);
    cleave__feeder_ops.destroy(f);
    return status;
}

static const struct kept {
    void (*write)(struct cleave_writer *out);
    enum cleave_status (*read)(const uint8_t *bytes, size_t length, struct cleave_writer *again);
} kinds[] = {{write_evaluator, read_evaluator},
             {write_router, read_router},
             {write_balancer, read_balancer},
             {write_feeder, read_feeder}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void read_again(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct cleave_writer bytes = {0}, first = {0}, second = {0};
        kinds[k].write(&bytes);
        assert_int_equal(kinds[k].read(bytes.data, bytes.count, &first), CLEAVE_OK);
        if (k) /* an evaluator's has a journal */
            assert_true(first.count == bytes.count && !memcmp(first.data, bytes.data, bytes.count));
        assert_int_equal(kinds[k].read(first.data, first.count, &second), CLEAVE_OK);
        assert_int_equal(first.count, second.count);
        free(bytes.data);
        free(first.data);
        free(second.data);
    }
}

/* What is in the journal counts as what is in the snapshot does. */
static void journal(void **state)
{
    struct cleave_writer bytes = {0};
    struct cleave_error error;
    (void)state;
    write_evaluator(&bytes);
    struct cleave__evaluator *e = make(&cleave__evaluator_ops);
    assert_int_equal(cleave__evaluator_load(e, bytes.data, bytes.count, &error), CLEAVE_OK);
    assert_null(cleave__map_find(&e->slot_of, 1));  /* removed by an entry */
    assert_null(cleave__map_find(&e->slot_of, 10)); /* and before */
    assert_null(cleave__map_find(&e->slot_of, 2));  /* as the source of a move told */
    assert_non_null(cleave__map_find(&e->slot_of, 3));
    assert_non_null(cleave__map_find(&e->slot_of, QUERIES + 1));
    assert_non_null(cleave__map_find(&e->slot_of, QUERIES + 2)); /* came with a piece */
    assert_true(cleave__move_incoming(&e->end, 12) && cleave__move_incoming(&e->end, 13));
    assert_int_equal(*cleave__map_find(&e->removed, 1000), 90);
    assert_int_equal(e->epoch, 7);
    assert_int_equal(e->shed_epoch, 6);
    cleave__evaluator_ops.destroy(e);
    free(bytes.data);
}

static void changed(void **state)
{
    uint64_t refused = 0, taken = 0;
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct cleave_writer bytes = {0};
        kinds[k].write(&bytes);
        for (size_t at = 0; at <= bytes.count; at++) {
            for (int bit = -1; bit < 8 && at < bytes.count; bit++) {
                struct cleave_writer again = {0};
                if (bit >= 0)
                    bytes.data[at] ^= (uint8_t)(1 << bit);
                /* Of its exact size, so that reading past it is seen. */
                size_t length = bit < 0 ? at : bytes.count;
                uint8_t *copy = malloc(length ? length : 1);
                assert_non_null(copy);
                memcpy(copy, bytes.data, length);
                enum cleave_status status = kinds[k].read(copy, length, &again);
                assert_true(status == CLEAVE_OK || status == CLEAVE_CORRUPT);
                *(status ? &refused : &taken) += 1;
                if (bit >= 0)
                    bytes.data[at] ^= (uint8_t)(1 << bit);
                free(again.data);
                free(copy);
            }
        }
        free(bytes.data);
    }
    assert_true(refused > 1000 && taken > 100);
}

static bool read_once(void *context)
{
    struct cleave_writer *bytes = context, again = {0};
    for (int k = 0; k < KINDS; k++) {
        enum cleave_status status = kinds[k].read(bytes[k].data, bytes[k].count, &again);
        if (status && status != CLEAVE_NO_MEMORY)
            print_message("kind %d: %d\n", k, status);
        if (status) {
            free(again.data);
            return status == CLEAVE_NO_MEMORY;
        }
    }
    free(again.data);
    return true;
}

static void without_memory(void **state)
{
    struct cleave_writer bytes[KINDS] = {0};
    (void)state;
    for (int k = 0; k < KINDS; k++)
        kinds[k].write(&bytes[k]);
    assert_true(failalloc_run("read", read_once, bytes, 1));
    for (int k = 0; k < KINDS; k++)
        free(bytes[k].data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_again), cmocka_unit_test(journal),
                                       cmocka_unit_test(changed), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
