/* Any bytes as a message from the server: an envelope with its frames, once as it is and once with
 * a checksum made right, and what is told to a link; and as changes of what an actor saved. The
 * first byte chooses. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nats/saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_envelope(struct cleave__link *link, const uint8_t *data, size_t size)
{
    struct cleave__envelope envelope;
    struct cleave_error error = {.message = ""};
    if (cleave__envelope_read(data, size, &envelope, &error)) {
        assert(error.message[0]);
        return;
    }
    uint64_t lost = 0;
    struct cleave_reader reader = {envelope.content, envelope.content + envelope.length, false};
    const uint8_t *frame;
    size_t length;
    bool heard = cleave__link_hear(link, &envelope, 7);
    while (cleave__envelope_next(&reader, &frame, &length)) {
        struct cleave_frame got;
        if (!cleave__frame_decode(frame, length, false, &got, &error) && heard)
            cleave__link_take(link, got.sequence, &lost);
    }
    if (envelope.sort == CLEAVE__ENVELOPE_PROBE)
        cleave__link_skip(link, cleave__load64(envelope.content), &lost);
    assert(cleave__link_check(link) || link->told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size);
    assert(copy);
    memcpy(copy, data, size);
    if (data[0] % 3 == 2) {
        struct cleave_writer saved = {0};
        (void)cleave__saved_apply(&saved, copy + 1, size - 1);
        assert(saved.count <= size);
        free(saved.data);
    } else {
        struct cleave__link link = {.life = 3, .charged = 10};
        size_t length = size - 1;
        if (data[0] % 3 == 1 && length >= CLEAVE__ENVELOPE_BYTES)
            cleave__envelope_renumber(copy + 1, length, cleave__load64(copy + 1 + 48));
        for (int twice = 0; twice < 2; twice++)
            as_envelope(&link, copy + 1, length);
    }
    free(copy);
    return 0;
}
