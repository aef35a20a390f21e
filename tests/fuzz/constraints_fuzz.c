/* Any bytes as a constraints file; what is accepted makes sense, and reads back when written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tables/refine/constraints.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char ddl[] = "CREATE TABLE house (w int PRIMARY KEY, name text);"
                          "CREATE TABLE stock (w int, i int, at timestamp, PRIMARY KEY (w, i));";

static enum cleave_status read_file(int file, const struct cleave_schema *schema,
                                    struct cleave_arena *arena, struct cleave_steer *steer)
{
    char path[40];
    struct cleave_error error;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return cleave__constraints_read(path, schema, 3, arena, steer, &error);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static struct cleave_schema *schema;
    if (!schema && cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, NULL))
        abort();
    int file = memfd_create("constraints", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    struct cleave_arena arena = {0};
    struct cleave_steer steer = CLEAVE_STEER_DEFAULTS;
    if (read_file(file, schema, &arena, &steer) == CLEAVE_OK) {
        struct cleave_error error;
        if (cleave__steer_check(&steer, schema, 3, &error))
            abort();
    }
    close(file);
    cleave__arena_free(&arena);
    return 0;
}
