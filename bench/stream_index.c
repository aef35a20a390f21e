/* How fast standing queries are matched: the index beside Tornado's grid, on the workload of the
 * published comparisons (64 hot spots, Zipf(1) vocabulary of 100,000, 8 words an object, rectangles
 * of side 100 in a space of 10,000 x 10,000 at an object's place with 3 of its words, CONTAINS).
 *
 * usage: bench/stream_index [--queries N,N,...] [--objects N] [--engine index|cells|scan] [--mix P]
 *        [--bare] [--runs N] [--check N]
 * --mix P: P per cent of the queries are OVERLAPS; --bare: no words, pure geofences; --check N:
 * matches of every N-th object are compared with brute force. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "stream/index/matcher.h"
#include "stream/source/generate.h"

enum { BATCH = 4096, CHUNK = 1000 };

static void *need(void *memory)
{
    if (!memory) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct workload {
    uint32_t object_count;
    struct cleave__object *objects;
    struct cleave__stream_options options;
};

static const struct cleave__matcher_ops *const engines[] = {
    &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan};

static double match_all(const struct cleave__matcher_ops *ops, void *self,
                        const struct workload *work, struct cleave__matches *out, double *looked)
{
    static uint32_t candidates[BATCH];
    double start = now_s(), sum = 0;
    out->items.count = 0;
    for (uint32_t i = 0; i < work->object_count; i += BATCH) {
        uint32_t left = work->object_count - i, count = left < BATCH ? left : BATCH;
        size_t from = out->items.count;
        if (ops->match(self, work->objects + i, count, out, candidates, NULL))
            exit(1);
        for (size_t k = from; k < out->items.count; k++)
            out->items.data[k].object += i;
        for (uint32_t k = 0; k < count; k++)
            sum += candidates[k];
    }
    *looked = sum;
    return now_s() - start;
}

/* Every `step`-th object against every query by the definition; how many objects differ. */
static uint32_t check(const struct cleave__matcher_ops *ops, void *self,
                      const struct workload *work, const struct cleave__matches *out, uint32_t step)
{
    uint32_t slots = ops->slots(self), wrong = 0;
    struct cleave__query *queries = need(malloc(slots * sizeof *queries));
    for (uint32_t i = 0; i < slots; i++)
        ops->query(self, i, &queries[i]);
    size_t at = 0;
    for (uint32_t i = 0; i < work->object_count; i += step) {
        uint64_t due = 0, found = 0, due_sum = 0, found_sum = 0;
        for (uint32_t q = 0; q < slots; q++) {
            if (cleave__query_has(&work->options.space, &queries[q], &work->objects[i]))
                due++, due_sum += cleave__mix64(q);
        }
        while (at < out->items.count && out->items.data[at].object < i)
            at++;
        for (; at < out->items.count && out->items.data[at].object == i; at++)
            found++, found_sum += cleave__mix64(out->items.data[at].slot);
        wrong += due != found || due_sum != found_sum;
    }
    free(queries);
    return wrong;
}

static void run(const struct cleave__matcher_ops *ops, const struct workload *work,
                uint32_t query_count, unsigned runs, uint32_t check_step)
{
    struct cleave__matcher_options options = {&work->options.space};
    struct cleave__matches out = {0};
    struct cleave__stream_generator *generator;
    struct cleave_arena arena = {0};
    uint32_t slot;
    void *self;
    double adding = 0, slowest = 0;
    if (ops->create(&options, &self, NULL))
        exit(1);
    if (ops->learn)
        ops->learn(self, work->objects, work->object_count < 20000 ? work->object_count : 20000);
    if (cleave__stream_generator_new(&work->options, &generator, NULL))
        exit(1);
    struct cleave__query *queries = need(malloc(CHUNK * sizeof *queries));
    for (uint32_t i = 0; i < query_count; i += CHUNK) {
        uint32_t count = query_count - i < CHUNK ? query_count - i : CHUNK;
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        for (uint32_t k = 0; k < count; k++) {
            cleave__stream_next_query(generator, 0, &queries[k]);
            uint32_t *terms = need(cleave__arena_array(&arena, 64, sizeof *terms));
            if (queries[k].term_count)
                memcpy(terms, queries[k].terms, queries[k].term_count * sizeof *terms);
            queries[k].terms = terms;
        }
        double start = now_s();
        for (uint32_t k = 0; k < count; k++) {
            if (ops->add(self, &queries[k], &slot, NULL))
                exit(1);
        }
        double took = now_s() - start;
        cleave__arena_rewind(&arena, mark);
        adding += took;
        slowest = took > slowest ? took : slowest;
    }
    double best = 1e9, looked = 0;
    for (unsigned r = 0; r < runs; r++) {
        double took = match_all(ops, self, work, &out, &looked);
        best = took < best ? took : best;
    }
    printf("%-6s %9u %11.0f %9.0f %9.3f %9.2f %11.0f %8.1f %9zu", ops->name, query_count,
           work->object_count / best, best / work->object_count * 1e9,
           looked / work->object_count, (double)ops->bytes(self) / query_count,
           query_count / adding, slowest * 1e3, out.items.count);
    if (check_step) {
        uint32_t wrong = check(ops, self, work, &out, check_step);
        printf(" %s", wrong ? "WRONG" : "ok");
        if (wrong)
            printf(" (%u objects)", wrong);
    }
    putchar('\n');
    fflush(stdout);
    free(queries);
    cleave__arena_free(&arena);
    cleave__stream_generator_free(generator);
    CLEAVE_VECTOR_FREE(&out.items);
    ops->destroy(self);
}

int main(int argc, char **argv)
{
    const char *sizes = "100000,1000000", *engine = "index";
    struct workload work = {.object_count = 100000, .options = cleave__stream_defaults};
    unsigned runs = 3;
    uint32_t check_step = 0;
    static const struct option options[] = {{"queries", 1, 0, 'q'}, {"objects", 1, 0, 'o'},
                                            {"engine", 1, 0, 'e'},  {"mix", 1, 0, 'm'},
                                            {"bare", 0, 0, 'b'},    {"runs", 1, 0, 'r'},
                                            {"check", 1, 0, 'c'},   {0, 0, 0, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'q':
            sizes = optarg;
            break;
        case 'o':
            work.object_count = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'e':
            engine = optarg;
            break;
        case 'm':
            work.options.contains = 1 - strtod(optarg, NULL) / 100;
            break;
        case 'b':
            work.options.keywords = 0;
            break;
        case 'r':
            runs = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'c':
            check_step = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    struct cleave__stream_generator *generator;
    struct cleave_arena arena = {0};
    work.objects = need(calloc(work.object_count, sizeof *work.objects));
    if (cleave__stream_generator_new(&work.options, &generator, NULL) ||
        cleave__stream_next_objects(generator, work.object_count, &arena, work.objects, NULL))
        return 1;
    printf("%-6s %9s %11s %9s %9s %9s %11s %8s %9s\n", "engine", "queries", "objects/s", "ns/obj",
           "looked", "B/query", "adds/s", "ms/1000", "matches");
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        if (!strstr(engine, engines[e]->name))
            continue;
        for (const char *at = sizes; *at;) {
            char *end;
            run(engines[e], &work, (uint32_t)strtoul(at, &end, 10), runs, check_step);
            at = *end ? end + 1 : end;
        }
    }
    free(work.objects);
    cleave__arena_free(&arena);
    cleave__stream_generator_free(generator);
    return 0;
}
