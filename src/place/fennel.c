/* Fennel (Tsourakakis et al. 2014): in one pass, each vertex goes where it has most neighbours,
 * less a price of size that rises (stream.h). O(pins * pins of a net + vertices * k). */
#include "place/stream.h"

enum cleave_status cleave__place_fennel(const struct cleave__request *request, uint32_t *block,
                                        struct cleave_error *error)
{
    struct cleave__stream stream;
    enum cleave_status status = cleave__stream_init(&stream, request, block, error);
    if (status)
        return status;
    status = cleave__stream_pass(&stream, cleave__stream_fennel,
                                 cleave__stream_fennel_price(&stream), error);
    cleave__stream_free(&stream);
    return status;
}
