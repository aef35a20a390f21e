#include "graph/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void files_make(char *path)
{
    int descriptor = mkstemp(path);
    if (descriptor < 0 || close(descriptor))
        abort();
}

void files_put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(text, 1, strlen(text), f) != strlen(text) || fclose(f))
        abort();
}
