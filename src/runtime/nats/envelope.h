/* What goes through the server: an envelope of 64 bytes, then frames, or a piece of one. All
 * numbers are little-endian.
 *
 *     0  u16  magic 0x6e63 ("cn")        24  u64  life of the receiver's process, 0: not known
 *     2  u8   version 1                  32  u64  charged: messages of this channel that cost
 *     3  u8   sort                                credit, so far
 *     4  u32  checksum of what follows   40  u64  credit for the channel the other way, so far
 *     8  u32  sender                     48  u64  number among those that come back, or 0
 *    12  u32  receiver                   56  u32  flags
 *    16  u64  life of the sender's       60  u32  of a piece: where it begins in its frame
 *             process
 *
 * Frames follow one after the other, each after its length in 32 bits. The checksum is the low half
 * of XXH3 with the four bytes before it as seed. A life is when a process began, in nanoseconds
 * since 1970: of two processes that are the same actor the later one counts. Hostile bytes give an
 * error, never more. */
#ifndef CLEAVE_RUNTIME_NATS_ENVELOPE_H
#define CLEAVE_RUNTIME_NATS_ENVELOPE_H

#include "base/bytes.h"
#include "cleave/status.h"

enum cleave__envelope_sort {
    CLEAVE__ENVELOPE_FRAMES = 1,
    CLEAVE__ENVELOPE_PIECE,  /* of a frame too large for one message */
    CLEAVE__ENVELOPE_CREDIT, /* nothing but what the envelope says */
    CLEAVE__ENVELOPE_PROBE,  /* to be answered with credit; content: u64, last number sent */
    CLEAVE__ENVELOPE_MARK,   /* to oneself: what was sent before it has come, or is lost */
    CLEAVE__ENVELOPE_BEGUN,  /* to oneself: an older process that is this actor ends */
    CLEAVE__ENVELOPE_SORTS
};

enum {
    CLEAVE__ENVELOPE_BYTES = 64,
    CLEAVE__ENVELOPE_STARVED = 1, /* the sender has no credit left */
    CLEAVE__ENVELOPE_GROUP = 2,   /* to whoever of a group; no order, no credit */
    CLEAVE__ENVELOPE_FLAGS = 3
};

struct cleave__envelope {
    enum cleave__envelope_sort sort;
    uint32_t sender, receiver, flags, offset;
    uint64_t life, receiver_life, charged, credit, number;
    const uint8_t *content; /* [length]; into the bytes it was read from */
    size_t length;
};

/* Writes the first CLEAVE__ENVELOPE_BYTES of `bytes`; the content, up to `size`, is there. */
void cleave__envelope_write(const struct cleave__envelope *envelope, uint8_t *bytes, size_t size);
/* Gives one that is written another number. */
void cleave__envelope_renumber(uint8_t *bytes, size_t size, uint64_t number);
/* CLEAVE_CORRUPT says what is wrong. `out` borrows `bytes`. */
enum cleave_status cleave__envelope_read(const uint8_t *bytes, size_t size,
                                         struct cleave__envelope *out, struct cleave_error *error);
/* The next frame of the content; false at its end, or (`reader` has failed) when it is cut off. */
bool cleave__envelope_next(struct cleave_reader *reader, const uint8_t **frame, size_t *size);

#endif
