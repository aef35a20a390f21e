/* Linear deterministic greedy (Stanton and Kliot 2012): in one pass, each vertex goes where most of
 * its neighbours are, less the more that block is full. O(pins * pins of a net + vertices * k). */
#include "place/stream.h"

enum cleave_status cleave__place_ldg(const struct cleave__request *request, uint32_t *block,
                                     struct cleave_error *error)
{
    struct cleave__stream stream;
    enum cleave_status status = cleave__stream_init(&stream, request, block, error);
    if (status)
        return status;
    status = cleave__stream_pass(&stream, cleave__stream_ldg, 0, error);
    cleave__stream_free(&stream);
    return status;
}
