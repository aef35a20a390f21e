/* A temporary file of the test, and a graph from text. */
#ifndef CLEAVE_TESTS_GRAPH_FILES_H
#define CLEAVE_TESTS_GRAPH_FILES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/source/read.h"

/* Makes the file (its name in `path`, "...XXXXXX") hold the text; ends the process on failure. */
void files_make(char *path);
void files_put(const char *path, const char *text);

#endif
