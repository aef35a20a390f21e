/* Any bytes as the description of a stream's world on NATS: one that is read is written, and read
 * again as the same text. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stream/net/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cleave__net_world world, again;
    struct cleave_error error = {.message = ""};
    char *text, *second;
    if (cleave__net_world_read((const char *)data, size, &world, &error)) {
        assert(error.message[0]);
        return 0;
    }
    assert(!cleave__net_world_write(&world, &text, &error));
    assert(!cleave__net_world_read(text, strlen(text), &again, &error));
    assert(!cleave__net_world_write(&again, &second, &error));
    assert(!strcmp(text, second));
    free(text);
    free(second);
    cleave__net_world_free(&world);
    cleave__net_world_free(&again);
    return 0;
}
