/* A record as a line. */
#ifndef CLEAVE_BASE_LOG_LINE_H
#define CLEAVE_BASE_LOG_LINE_H

#include "base/log.h"

struct cleave__log_line {
    char text[CLEAVE_LOG_LINE_MOST];
    size_t length;
};

/* `repeated` more of it were held back, if not 0. */
void cleave__log_format(struct cleave__log_line *line, enum cleave_log_format format,
                        uint64_t now_ms, enum cleave_log_level level, const char *event,
                        const struct cleave_log_field *fields, uint32_t count, uint64_t repeated);

#endif
