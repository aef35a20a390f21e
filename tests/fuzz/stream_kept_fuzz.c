/* Any bytes as what an evaluator, a router, the balancer or the feeder kept past a crash: it is an
 * error, or in order, and is written and read again. The first byte chooses. */
#include <assert.h>
#include <stdlib.h>

#include "stream/serve/balancer.h"
#include "stream/serve/evaluator.h"
#include "stream/serve/feeder.h"
#include "stream/serve/router.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVALUATORS = 3, ROUTERS = 2 };

static bool try_evaluator(const struct cleave__stream_seat *seat, const uint8_t *data, size_t size,
                          struct cleave_writer *again)
{
    void *self;
    struct cleave_error error = {.message = ""};
    const char *why = NULL;
    assert(!cleave__evaluator_ops.create(seat, &self, &error));
    struct cleave__evaluator *e = self;
    enum cleave_status status = cleave__evaluator_load(e, data, size, &error);
    assert(status == CLEAVE_OK || (status == CLEAVE_CORRUPT && error.message[0]));
    assert(status || cleave__evaluator_check(e, &why));
    if (!status)
        cleave__evaluator_write(e, again);
    cleave__evaluator_ops.destroy(e);
    return status == CLEAVE_OK;
}

static bool try_router(const struct cleave__stream_seat *seat, const uint8_t *data, size_t size,
                       struct cleave_writer *again)
{
    void *self;
    struct cleave_error error = {.message = ""};
    assert(!cleave__router_ops.create(seat, &self, &error));
    struct cleave__router *r = self;
    enum cleave_status status = cleave__router_load(r, data, size, &error);
    assert(status == CLEAVE_OK || (status == CLEAVE_CORRUPT && error.message[0]));
    if (!status) {
        assert(cleave__agrid_check(r->agrid));
        cleave__router_write(r, again);
    }
    cleave__router_ops.destroy(r);
    return status == CLEAVE_OK;
}

static bool try_balancer(const struct cleave__stream_seat *seat, const uint8_t *data, size_t size,
                         struct cleave_writer *again)
{
    void *self;
    struct cleave_error error = {.message = ""};
    assert(!cleave__balancer_ops.create(seat, &self, &error));
    struct cleave__balancer *b = self;
    enum cleave_status status = cleave__balancer_load(b, data, size, &error);
    assert(status == CLEAVE_OK || (status == CLEAVE_CORRUPT && error.message[0]));
    if (!status) {
        assert(cleave__mover_check(&b->mover));
        cleave__balancer_write(b, again);
    }
    cleave__balancer_ops.destroy(b);
    return status == CLEAVE_OK;
}

static bool try_feeder(const struct cleave__stream_seat *seat, const uint8_t *data, size_t size,
                       struct cleave_writer *again)
{
    void *self;
    struct cleave_error error = {.message = ""};
    assert(!cleave__feeder_ops.create(seat, &self, &error));
    struct cleave__feeder *f = self;
    enum cleave_status status = cleave__feeder_load(f, data, size, &error);
    assert(status == CLEAVE_OK || (status == CLEAVE_CORRUPT && error.message[0]));
    if (!status)
        cleave__feeder_write(f, again);
    cleave__feeder_ops.destroy(f);
    return status == CLEAVE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const tries[])(const struct cleave__stream_seat *, const uint8_t *, size_t,
                                 struct cleave_writer *) = {try_evaluator, try_router, try_balancer,
                                                            try_feeder};
    const struct cleave__space space = {CLEAVE__PLANE, {0, 0, 80, 80}};
    const struct cleave__cells cells[EVALUATORS] = {{0, 0, 3, 7}, {4, 0, 7, 7}, {1, 1, 0, 0}};
    const struct cleave__streaming streaming = {.transport = &cleave__sim,
                                                .space = &space,
                                                .grid = cleave__grid_make(0, 0, 80, 80, 8, 8),
                                                .evaluators = EVALUATORS,
                                                .routers = ROUTERS,
                                                .partitions = cells,
                                                .matcher = &cleave__matcher_index,
                                                .retry_ns = 1000};
    const struct cleave__stream_world world = {
        .streaming = &streaming, .durable = true, .batch = 4, .window = 4};
    const struct cleave__stream_seat seat = {&world, 0};
    struct cleave_writer first = {0}, second = {0};
    if (!size)
        return 0;
    if (tries[data[0] % 4](&seat, data + 1, size - 1, &first)) {
        bool again = tries[data[0] % 4](&seat, first.data, first.count, &second);
        assert(again && first.count == second.count);
    }
    free(first.data);
    free(second.data);
    return 0;
}
