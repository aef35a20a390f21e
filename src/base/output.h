/* A file written whole or not at all: bytes go to a temporary neighbour, which takes the name only
 * when all of them are on disk; a file that was there keeps its mode, a symbolic link stays one.
 * "-" is standard output, written straight, as are devices and pipes. */
#ifndef CLEAVE_BASE_OUTPUT_H
#define CLEAVE_BASE_OUTPUT_H

#include <stdio.h>

#include "cleave/status.h"

struct cleave__output {
    FILE *file;
    char *path, *temporary; /* NULL for standard output */
};

enum cleave_status cleave__output_open(struct cleave__output *output, const char *path,
                                       struct cleave_error *error);
/* Flushes, syncs file and folder, renames; on failure nothing is left behind. Ends `output` either
 * way. */
enum cleave_status cleave__output_commit(struct cleave__output *output, struct cleave_error *error);
/* Drops what was written. Harmless after a commit. */
void cleave__output_abandon(struct cleave__output *output);

#endif
