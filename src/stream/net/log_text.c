#include "stream/net/log_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void cleave__log_text(struct cleave_writer *writer, const char *text)
{
    cleave__put_bytes(writer, text, strlen(text));
}

void cleave__log_number(struct cleave_writer *writer, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, number >> 63 ? "\"%" PRIu64 "\"" : "%" PRIu64, number);
    cleave__log_text(writer, text);
}

void cleave__log_numbers(struct cleave_writer *writer, const char *name, const uint8_t *numbers,
                         uint32_t count, uint32_t step)
{
    cleave__log_text(writer, "\"");
    cleave__log_text(writer, name);
    cleave__log_text(writer, "\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            cleave__log_text(writer, ",");
        cleave__log_number(writer, cleave__load64(numbers + (size_t)i * step));
    }
    cleave__log_text(writer, "]");
}

void cleave__log_begin(struct cleave_writer *writer, const char *id, const char *subject)
{
    writer->count = 0;
    cleave__put8(writer, (uint8_t)strlen(id));
    cleave__log_text(writer, id);
    cleave__put8(writer, (uint8_t)strlen(subject));
    cleave__log_text(writer, subject);
}
