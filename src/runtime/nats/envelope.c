#include "runtime/nats/envelope.h"

#include <xxhash.h>

enum { MAGIC = 0x6e63, VERSION = 1, AT_CHECKSUM = 4, AT_REST = 8 };

static uint32_t checksum_of(const uint8_t *bytes, size_t size)
{
    return (uint32_t)XXH3_64bits_withSeed(bytes + AT_REST, size - AT_REST, cleave__load32(bytes));
}

void cleave__envelope_write(const struct cleave__envelope *envelope, uint8_t *bytes, size_t size)
{
    cleave__store16(bytes, MAGIC);
    bytes[2] = VERSION;
    bytes[3] = (uint8_t)envelope->sort;
    cleave__store32(bytes + 8, envelope->sender);
    cleave__store32(bytes + 12, envelope->receiver);
    cleave__store64(bytes + 16, envelope->life);
    cleave__store64(bytes + 24, envelope->receiver_life);
    cleave__store64(bytes + 32, envelope->charged);
    cleave__store64(bytes + 40, envelope->credit);
    cleave__store64(bytes + 48, envelope->number);
    cleave__store32(bytes + 56, envelope->flags);
    cleave__store32(bytes + 60, envelope->offset);
    cleave__store32(bytes + AT_CHECKSUM, checksum_of(bytes, size));
}

void cleave__envelope_renumber(uint8_t *bytes, size_t size, uint64_t number)
{
    cleave__store64(bytes + 48, number);
    cleave__store32(bytes + AT_CHECKSUM, checksum_of(bytes, size));
}

enum cleave_status cleave__envelope_read(const uint8_t *bytes, size_t size,
                                         struct cleave__envelope *out, struct cleave_error *error)
{
    if (size < CLEAVE__ENVELOPE_BYTES)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message of %zu bytes is shorter than its envelope", size);
    if (cleave__load16(bytes) != MAGIC || bytes[2] != VERSION)
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message begins with %04x, version %u: not of cleave, or of "
                                "another version",
                                cleave__load16(bytes), bytes[2]);
    if (cleave__load32(bytes + AT_CHECKSUM) != checksum_of(bytes, size))
        return cleave_error_set(error, CLEAVE_CORRUPT, "a message fails its checksum");
    struct cleave__envelope envelope = {.sort = (enum cleave__envelope_sort)bytes[3],
                                        .sender = cleave__load32(bytes + 8),
                                        .receiver = cleave__load32(bytes + 12),
                                        .life = cleave__load64(bytes + 16),
                                        .receiver_life = cleave__load64(bytes + 24),
                                        .charged = cleave__load64(bytes + 32),
                                        .credit = cleave__load64(bytes + 40),
                                        .number = cleave__load64(bytes + 48),
                                        .flags = cleave__load32(bytes + 56),
                                        .offset = cleave__load32(bytes + 60),
                                        .content = bytes + CLEAVE__ENVELOPE_BYTES,
                                        .length = size - CLEAVE__ENVELOPE_BYTES};
    bool bare = envelope.sort == CLEAVE__ENVELOPE_CREDIT ||
                envelope.sort == CLEAVE__ENVELOPE_MARK || envelope.sort == CLEAVE__ENVELOPE_BEGUN;
    if (bytes[3] == 0 || bytes[3] >= CLEAVE__ENVELOPE_SORTS ||
        envelope.flags & ~(uint32_t)CLEAVE__ENVELOPE_FLAGS || envelope.life == 0 ||
        (bare && envelope.length) ||
        (envelope.sort == CLEAVE__ENVELOPE_PROBE && envelope.length != 8) ||
        (envelope.sort != CLEAVE__ENVELOPE_PIECE && envelope.offset))
        return cleave_error_set(error, CLEAVE_CORRUPT,
                                "a message of sort %u has flags %02x, offset %u and %zu bytes",
                                bytes[3], envelope.flags, envelope.offset, envelope.length);
    *out = envelope;
    return CLEAVE_OK;
}

bool cleave__envelope_next(struct cleave_reader *reader, const uint8_t **frame, size_t *size)
{
    if (!cleave__left(reader))
        return false;
    uint32_t length = cleave__get32(reader);
    const uint8_t *bytes = cleave__get_bytes(reader, length);
    if (!bytes)
        return false;
    *frame = bytes;
    *size = length;
    return true;
}
