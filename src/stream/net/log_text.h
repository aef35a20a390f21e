/* Messages of a world's stream of matches, as bodies of requests to its log. */
#ifndef CLEAVE_STREAM_NET_LOG_TEXT_H
#define CLEAVE_STREAM_NET_LOG_TEXT_H

#include "base/bytes.h"

/* Into `writer`, emptied first: the message id, the subject's last part; JSON follows. */
void cleave__log_begin(struct cleave_writer *writer, const char *id, const char *subject);
void cleave__log_text(struct cleave_writer *writer, const char *text);
/* Past 2^63 as a string of digits. */
void cleave__log_number(struct cleave_writer *writer, uint64_t number);
/* `"name":[...]` of numbers that are `step` bytes apart. */
void cleave__log_numbers(struct cleave_writer *writer, const char *name, const uint8_t *numbers,
                         uint32_t count, uint32_t step);

#endif
