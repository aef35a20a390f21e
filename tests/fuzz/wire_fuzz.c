/* Any bytes as a frame from the network, as an actor's mail, and as the text of a distribution. A
 * frame that is read is written back as the same bytes; an actor handed a stream of frames either
 * takes them or the run ends with an error; a distribution that is read can be drawn from. The
 * first byte chooses. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_frame(const uint8_t *data, size_t size, bool checked)
{
    struct cleave_frame frame;
    struct cleave_error error = {.message = ""};
    if (cleave__frame_decode(data, size, checked, &frame, &error)) {
        assert(error.message[0]);
        return;
    }
    uint8_t *again = malloc(size);
    assert(again && cleave__frame_bytes(&frame) == size);
    cleave__frame_encode(&frame, frame.flags & CLEAVE_FRAME_CHECKED, again);
    assert(memcmp(again, data, size) == 0);
    free(again);
}

/* ---- an actor's mail ---- */

static enum cleave_status create(const void *argument, void **self, struct cleave_error *error)
{
    static int nothing;
    (void)argument, (void)error;
    *self = &nothing;
    return CLEAVE_OK;
}

static void destroy(void *self)
{
    (void)self;
}

/* Reads the body with every cursor, answers, asks back. */
static void receive(void *self, struct cleave_context *context,
                    const struct cleave_message *message)
{
    (void)self;
    struct cleave_reader reader = {message->body, message->body + message->length, false};
    uint64_t sum = 0;
    while (!reader.failed && cleave__left(&reader)) {
        sum += cleave__get_varint(&reader) + cleave__get32(&reader) + cleave__get64(&reader);
        uint32_t count = cleave__get_count(&reader, 100);
        const uint8_t *bytes = cleave__get_bytes(&reader, count);
        for (uint32_t i = 0; bytes && i < count; i++)
            sum += bytes[i];
    }
    if (message->sort == CLEAVE_REQUEST)
        cleave__context_answer(context, message->promise, 1, &sum, sizeof sum);
    else if (message->sender)
        cleave__context_request(context, message->sender, 1, NULL, 0, sum % 2, sum);
}

static void as_mail(const uint8_t *data, size_t size)
{
    static const struct cleave_actor_ops ops = {"fuzzed", create, destroy, receive, NULL};
    struct cleave_runtime_options options = {.transport = &cleave__sim};
    struct cleave_runtime *runtime;
    struct cleave_error error = {.message = ""};
    uint32_t actor;
    assert(!cleave__runtime_new(&options, &runtime, &error));
    assert(!cleave__runtime_spawn(runtime, &ops, NULL, NULL, &actor, &error));
    assert(!cleave__runtime_spawn(runtime, &ops, NULL, NULL, &actor, &error));
    struct cleave_context context = {
        .runtime = runtime, .actor = runtime->actors.data[1], .clock_read = true};
    /* Frames one after the other, each after its length in a byte. */
    while (size && !atomic_load(&runtime->failed)) {
        size_t length = data[0] < size - 1 ? data[0] : size - 1;
        cleave__actor_take(&context, data + 1, length, 0);
        data += 1 + length;
        size -= 1 + length;
    }
    enum cleave_status status = cleave__runtime_run(runtime, 0, NULL, &error);
    assert(!status || error.message[0]);
    assert(cleave__runtime_check(runtime));
    cleave__runtime_free(runtime);
    free(context.writer.data);
}

static void as_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = 0;
    struct cleave_distribution distribution;
    struct cleave_error error = {.message = ""};
    /* Files of the machine are none of the fuzzer's business. */
    if (strncmp(text, "empirical:", 10) != 0) {
        if (cleave__distribution_parse(text, &distribution, &error)) {
            assert(error.message[0]);
        } else {
            struct cleave_random random;
            cleave__random_seed(&random, size);
            for (int i = 0; i < 20; i++)
                assert(cleave__distribution_draw(&distribution, &random) <=
                       CLEAVE_DISTRIBUTION_MOST_NS);
            cleave__distribution_free(&distribution);
        }
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
    case 1:
        as_frame(data + 1, size - 1, data[0] % 4);
        break;
    case 2:
        as_mail(data + 1, size - 1);
        break;
    default:
        as_text(data + 1, size - 1);
    }
    return 0;
}
