/* The splitter: pieces lie within the text, in order, and feeding by line ends where feeding the
 * whole does. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables/sql/split.h"

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *at = text, *end = text + size, *last = text;
    struct cleave_piece piece;
    if (!size)
        return 0;
    while (cleave__split_next(&at, end, &piece)) {
        require(piece.text >= last && piece.text + piece.length <= at && at <= end);
        require(!piece.name || (piece.name >= piece.text &&
                                piece.name + piece.name_length <= piece.text + piece.length));
        require(piece.rest >= piece.text &&
                piece.rest + piece.rest_length == piece.text + piece.length);
        last = at;
    }
    struct cleave_splitter whole = {0}, parts = {0};
    size_t used = 0, done = 0, stop = 0;
    int ended = cleave__split_feed(&whole, text, size, &stop), parts_ended = 0;
    while (done < size && !parts_ended) {
        const char *newline = memchr(text + done, '\n', size - done);
        size_t line = newline ? (size_t)(newline - text) + 1 - done : size - done;
        parts_ended = cleave__split_feed(&parts, text + done, line, &used);
        done += used;
    }
    require(ended == parts_ended && done == stop && whole.mode == parts.mode);
    return 0;
}
