#include "runtime/frame.h"

#include <xxhash.h>

#include "base/bytes.h"

enum {
    MAGIC = 0x7663,
    VERSION = 1,
    AT_KIND = 4,
    AT_LENGTH = 8,
    AT_SENDER = 12,
    AT_RECEIVER = 16,
    AT_CHECKSUM = 20,
    AT_CORRELATION = 24,
    AT_SEQUENCE = 32
};

/* Of a header whose checksum is taken as zero, and of the body that follows it. */
static uint32_t checksum_of(const uint8_t *bytes, size_t size)
{
    uint8_t header[CLEAVE_FRAME_HEADER_BYTES];
    memcpy(header, bytes, sizeof header);
    cleave__store32(header + AT_CHECKSUM, 0);
    uint64_t seed = XXH3_64bits(header, sizeof header);
    return (uint32_t)XXH3_64bits_withSeed(bytes + sizeof header, size - sizeof header, seed);
}

void cleave__frame_encode(const struct cleave_frame *frame, bool checked, uint8_t *to)
{
    cleave__store16(to, MAGIC);
    to[2] = VERSION;
    to[3] =
        (uint8_t)((frame->flags & ~CLEAVE_FRAME_CHECKED) | (checked ? CLEAVE_FRAME_CHECKED : 0));
    cleave__store32(to + AT_KIND, frame->kind);
    cleave__store32(to + AT_LENGTH, frame->length);
    cleave__store32(to + AT_SENDER, frame->sender);
    cleave__store32(to + AT_RECEIVER, frame->receiver);
    cleave__store32(to + AT_CHECKSUM, 0);
    cleave__store64(to + AT_CORRELATION, frame->correlation);
    cleave__store64(to + AT_SEQUENCE, frame->sequence);
    if (frame->length)
        memcpy(to + CLEAVE_FRAME_HEADER_BYTES, frame->body, frame->length);
    if (checked)
        cleave__store32(to + AT_CHECKSUM, checksum_of(to, cleave__frame_bytes(frame)));
}

enum cleave_status cleave__frame_decode(const uint8_t *bytes, size_t size, bool checked,
                                        struct cleave_frame *out, struct cleave_error *error)
{
    if (size < CLEAVE_FRAME_HEADER_BYTES)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message of %zu bytes is shorter than its header", size);
    if (cleave__load16(bytes) != MAGIC || bytes[2] != VERSION)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message begins with %04x, version %u: not of cleave, or of "
                                "another version",
                                cleave__load16(bytes), bytes[2]);
    struct cleave_frame frame = {.kind = cleave__load32(bytes + AT_KIND),
                                 .length = cleave__load32(bytes + AT_LENGTH),
                                 .sender = cleave__load32(bytes + AT_SENDER),
                                 .receiver = cleave__load32(bytes + AT_RECEIVER),
                                 .flags = bytes[3],
                                 .correlation = cleave__load64(bytes + AT_CORRELATION),
                                 .sequence = cleave__load64(bytes + AT_SEQUENCE),
                                 .body = bytes + CLEAVE_FRAME_HEADER_BYTES};
    if (frame.length > CLEAVE_FRAME_BODY_MOST || cleave__frame_bytes(&frame) != size)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message of %zu bytes says that its body has %u", size,
                                frame.length);
    if (frame.flags & ~CLEAVE_FRAME_FLAGS ||
        (frame.flags & CLEAVE_FRAME_REQUEST && frame.flags & CLEAVE_FRAME_REPLY) ||
        (frame.flags & (CLEAVE_FRAME_REQUEST | CLEAVE_FRAME_REPLY) && frame.correlation == 0))
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message has flags %02x and correlation %llu", frame.flags,
                                (unsigned long long)frame.correlation);
    if (checked && !(frame.flags & CLEAVE_FRAME_CHECKED))
        return cleave_error_set(error, CLEAVE_CORRUPT, "a message comes without a checksum");
    uint32_t said = cleave__load32(bytes + AT_CHECKSUM);
    if (frame.flags & CLEAVE_FRAME_CHECKED ? said != checksum_of(bytes, size) : said != 0)
        return cleave_error_set(error, CLEAVE_CORRUPT, "a message from %u to %u fails its checksum",
                                frame.sender, frame.receiver);
    *out = frame;
    return CLEAVE_OK;
}
