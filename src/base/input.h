/* Reading a file or standard input, unpacked by content: plain, gz, bz2, xz, zst.
 *
 * Memory is one buffer of fixed size plus the decoder's own. Several concatenated members are read
 * as one stream. Not thread safe. */
#ifndef CLEAVE_BASE_INPUT_H
#define CLEAVE_BASE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/status.h"

struct cleave_input;

/* `path` "-" is standard input. Errors name the path. */
enum cleave_status cleave__input_open(const char *path, struct cleave_input **out,
                                      struct cleave_error *error);
/* The next line, without its "\n" or "\r\n"; bytes may include NULs. The pointer is valid until the
 * next call. CLEAVE_END at the end; CLEAVE_LIMIT for a line past `limit` bytes: the rest of that
 * line is skipped, and `*line` holds its first bytes. */
enum cleave_status cleave__input_line(struct cleave_input *input, size_t limit, const char **line,
                                      size_t *length, struct cleave_error *error);
/* Raw bytes: up to `size`; `*got` 0 at the end. Do not mix with _line. */
enum cleave_status cleave__input_read(struct cleave_input *input, void *buffer, size_t size,
                                      size_t *got, struct cleave_error *error);
/* The whole stream, malloc'd and NUL-terminated, at most `limit` bytes (else CLEAVE_LIMIT). */
enum cleave_status cleave__input_slurp(const char *path, size_t limit, char **out, size_t *length,
                                       struct cleave_error *error);
uint64_t cleave__input_line_number(const struct cleave_input *input); /* of the last line, from 1 */
uint64_t cleave__input_packed_bytes(const struct cleave_input *input); /* consumed from the file */
uint64_t cleave__input_bytes(const struct cleave_input *input); /* unpacked, given out or skipped */
/* The descriptor that the next _read will wait for, so that a caller can poll it first; -1 when
 * there are bytes at hand, or the end. */
int cleave__input_waits(const struct cleave_input *input);
void cleave__input_close(struct cleave_input *input);

#endif
