/* Arguments, times and the answer's file of every peer program. */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void peer_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

double peer_cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

void *peer_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        peer_fail("no memory for %zu items of %zu bytes", count, size);
    return memory;
}

void peer_start(struct peer_job *job, int argc, char **argv)
{
    if (argc != 7)
        peer_fail("usage: %s F.hgr K EPSILON SEED cut|km1 OUT", argv[0]);
    *job = (struct peer_job){.blocks = atoi(argv[2]),
                             .epsilon = atof(argv[3]),
                             .seed = atoi(argv[4]),
                             .connectivity = strcmp(argv[5], "cut") != 0,
                             .out = argv[6]};
    struct cleave_error error;
    if (job->blocks < 1)
        peer_fail("%s: K is %s", argv[0], argv[2]);
    if (cleave_hypergraph_read_hgr(argv[1], &job->hypergraph, &error))
        peer_fail("%s", error.message);
}

void peer_finish(struct peer_job *job, const int *block)
{
    FILE *file = fopen(job->out, "w");
    if (!file)
        peer_fail("%s: cannot be written", job->out);
    for (uint32_t v = 0; v < job->hypergraph->vertices; v++)
        fprintf(file, "%d\n", block[v]);
    if (fclose(file))
        peer_fail("%s: cannot be written", job->out);
    cleave_hypergraph_free(job->hypergraph);
    printf("startup %.6f\ncall %.6f\n", job->startup, job->call);
}
