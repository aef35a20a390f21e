/* The wire format: a header of 40 bytes, then the body. All numbers are little-endian.
 *
 *     0  u16  magic 0x7663 ("cv")        16  u32  receiver
 *     2  u8   version 1                  20  u32  checksum of header and body, or 0
 *     3  u8   flags                      24  u64  correlation: which request, or 0
 *     4  u32  kind                       32  u64  sequence number in its channel, from 1
 *     8  u32  length of the body
 *    12  u32  sender
 *
 * The checksum is the low half of XXH3 over everything with the checksum's own field zero; its
 * flag says whether it is there: within one process it may be left out. Hostile bytes give an
 * error, never more. Bodies are written and read with the cursors of base/bytes.h. */
#ifndef CLEAVE_RUNTIME_FRAME_H
#define CLEAVE_RUNTIME_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

enum { CLEAVE_FRAME_HEADER_BYTES = 40, CLEAVE_FRAME_BODY_MOST = 1 << 24 };

enum cleave_frame_flags {
    CLEAVE_FRAME_REQUEST = 1,
    CLEAVE_FRAME_REPLY = 2,
    CLEAVE_FRAME_CHECKED = 4, /* the checksum is there */
    CLEAVE_FRAME_TIMER = 8,   /* an actor's own timer: `correlation` names it, `sequence` is 0 */
    CLEAVE_FRAME_FLAGS = 15
};

struct cleave_frame {
    uint32_t kind, sender, receiver, length;
    uint8_t flags;
    uint64_t correlation, sequence;
    const uint8_t *body; /* [length]; into the bytes it was decoded from */
};

/* Bytes of the frame as a whole. */
static inline size_t cleave__frame_bytes(const struct cleave_frame *frame)
{
    return CLEAVE_FRAME_HEADER_BYTES + (size_t)frame->length;
}
/* Writes cleave__frame_bytes of them to `to`, with a checksum if `checked`. */
void cleave__frame_encode(const struct cleave_frame *frame, bool checked, uint8_t *to);
/* Reads a frame that must fill `size` bytes. CLEAVE_CORRUPT says what is wrong; a frame without a
 * checksum is refused if `checked`. `out` borrows `bytes`. */
enum cleave_status cleave__frame_decode(const uint8_t *bytes, size_t size, bool checked,
                                        struct cleave_frame *out, struct cleave_error *error);

#endif
