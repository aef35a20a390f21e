/* How fast standing queries are matched, on one core: the index, and beside it Tornado's grid, on
 * the workload of the published comparisons (64 hot spots, a Zipf(1) vocabulary of 100,000, 8 words
 * an object; a query is a rectangle of side 100 in a space of 10,000 x 10,000 where an object might
 * be, with 3 of its words, CONTAINS); half of the queries OVERLAPS; and pure geofences, without
 * words.
 *
 * usage: bench/stream_index                     the table of docs/stream-index.md, with its bounds
 *        bench/stream_index --queries N,N,...   only these, of --engine index|cells|scan,
 *                           --mix P (per cent OVERLAPS), --circles P, --bare (no words)
 *        --objects N, --runs N (the best counts), --check N (every N-th object against brute force,
 *        0: none), --csv
 * Time is that of the thread. */
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

struct workload {
    uint32_t object_count;
    struct cleave__object *objects;
    struct cleave__stream_options options;
};

static const struct cleave__matcher_ops *const engines[] = {
    &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan};

/* What is measured, and what was asked for. */
struct result {
    double objects_per_s, adds_per_s, bytes_a_query, looked, longest_add_ms;
    size_t matches;
    uint32_t wrong, checked;
};

static double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double match_all(const struct cleave__matcher_ops *ops, void *self,
                        const struct workload *work, struct cleave__matches *out, double *looked)
{
    static uint32_t candidates[BATCH];
    double start = clock_s(CLOCK_THREAD_CPUTIME_ID), sum = 0;
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
    *looked = sum / work->object_count;
    return clock_s(CLOCK_THREAD_CPUTIME_ID) - start;
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

/* Registers, and measures that. */
static void register_all(const struct cleave__matcher_ops *ops, void *self,
                         const struct workload *work, uint32_t count, struct result *result)
{
    struct cleave__stream_generator *generator;
    struct cleave_arena arena = {0};
    struct cleave__query *queries = need(malloc(CHUNK * sizeof *queries));
    double adding = 0, longest = 0;
    if (cleave__stream_generator_new(&work->options, &generator, NULL))
        exit(1);
    for (uint32_t i = 0; i < count; i += CHUNK) {
        uint32_t some = count - i < CHUNK ? count - i : CHUNK, slot;
        struct cleave_arena_mark mark = cleave__arena_mark(&arena);
        for (uint32_t k = 0; k < some; k++) {
            cleave__stream_next_query(generator, 0, &queries[k]);
            uint32_t *terms =
                need(cleave__arena_array(&arena, queries[k].term_count + 1, sizeof *terms));
            if (queries[k].term_count)
                memcpy(terms, queries[k].terms, queries[k].term_count * sizeof *terms);
            queries[k].terms = terms;
            queries[k].subscriber = i + k;
        }
        double start = clock_s(CLOCK_THREAD_CPUTIME_ID);
        for (uint32_t k = 0; k < some; k++) {
            if (ops->add(self, &queries[k], &slot, NULL))
                exit(1);
        }
        double took = clock_s(CLOCK_THREAD_CPUTIME_ID) - start;
        adding += took;
        longest = took > longest ? took : longest;
        cleave__arena_rewind(&arena, mark);
    }
    result->adds_per_s = count / adding;
    result->longest_add_ms = longest * 1e3;
    cleave__arena_free(&arena);
    cleave__stream_generator_free(generator);
    free(queries);
}

static struct result measure(const struct cleave__matcher_ops *ops, const struct workload *work,
                             uint32_t query_count, unsigned runs, uint32_t check_step)
{
    struct cleave__matcher_options options = {&work->options.space};
    struct cleave__matches out = {0};
    struct result result = {0};
    void *self;
    if (ops->create(&options, &self, NULL))
        exit(1);
    if (ops->learn)
        ops->learn(self, work->objects, work->object_count < 20000 ? work->object_count : 20000);
    register_all(ops, self, work, query_count, &result);
    double best = 1e9;
    for (unsigned r = 0; r < runs; r++) {
        double took = match_all(ops, self, work, &out, &result.looked);
        best = took < best ? took : best;
    }
    result.objects_per_s = work->object_count / best;
    result.bytes_a_query = (double)ops->bytes(self) / query_count;
    result.matches = out.items.count;
    if (check_step) {
        result.wrong = check(ops, self, work, &out, check_step);
        result.checked = (work->object_count + check_step - 1) / check_step;
    }
    CLEAVE_VECTOR_FREE(&out.items);
    ops->destroy(self);
    return result;
}

static void print_head(void)
{
    printf("%-9s %-6s %9s %11s %11s %8s %9s %10s %8s %9s %s\n", "workload", "engine", "queries",
           "objects/s", "bound", "B/query", "adds/s", "ms/1k adds", "looked", "matches", "wrong");
}

static uint32_t run(const char *name, const struct cleave__matcher_ops *ops,
                    const struct workload *work, uint32_t queries, unsigned runs,
                    uint32_t check_step, double bound, double *objects_per_s)
{
    struct result r = measure(ops, work, queries, runs, check_step);
    char bound_text[16] = "";
    if (bound > 0)
        snprintf(bound_text, sizeof bound_text, "%.0f", bound);
    printf("%-9s %-6s %9u %11.0f %11s %8.1f %9.0f %10.1f %8.2f %9zu %u of %u\n", name, ops->name,
           queries, r.objects_per_s, bound_text, r.bytes_a_query, r.adds_per_s, r.longest_add_ms,
           r.looked, r.matches, r.wrong, r.checked);
    fflush(stdout);
    if (objects_per_s)
        *objects_per_s = r.objects_per_s;
    return r.wrong;
}

/* The whole table. Tornado's grid gets fewer objects: it is slow. */
static uint32_t report(const struct workload *work, unsigned runs)
{
    static const struct {
        const char *name;
        uint32_t queries;
        double bound, contains;
        bool bare, peer;
    } rows[] = {
        {"keywords", 100000, 10e6, 1, false, true},  {"keywords", 1000000, 3.5e6, 1, false, true},
        {"keywords", 5000000, 1e6, 1, false, false}, {"mixed", 100000, 0, 0.5, false, true},
        {"mixed", 1000000, 0, 0.5, false, true},     {"geofences", 100000, 0, 1, true, true},
        {"geofences", 1000000, 0, 1, true, true},
    };
    uint32_t wrong = 0;
    print_head();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct workload mine = *work;
        double ours, theirs;
        mine.options.contains = rows[i].contains;
        if (rows[i].bare)
            mine.options.keywords = 0;
        wrong += run(rows[i].name, &cleave__matcher_index, &mine, rows[i].queries, runs,
                     work->object_count / (rows[i].queries > 1000000 ? 10 : 40) + 1, rows[i].bound,
                     &ours);
        if (!rows[i].peer)
            continue;
        mine.object_count = work->object_count / (rows[i].queries > 100000 ? 50 : 10) + 1;
        wrong += run(rows[i].name, &cleave__matcher_cells, &mine, rows[i].queries, 1,
                     mine.object_count / 10 + 1, 0, &theirs);
        printf("%-9s index / cells: %.0f\n", rows[i].name, ours / theirs);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *sizes = NULL, *engine = "index";
    struct workload work = {.object_count = 100000, .options = cleave__stream_defaults};
    unsigned runs = 7;
    uint32_t check_step = 0, wrong = 0;
    static const struct option options[] = {
        {"queries", 1, 0, 'q'}, {"objects", 1, 0, 'o'}, {"engine", 1, 0, 'e'},
        {"mix", 1, 0, 'm'},     {"bare", 0, 0, 'b'},    {"circles", 1, 0, 'i'},
        {"runs", 1, 0, 'r'},    {"check", 1, 0, 'c'},   {0, 0, 0, 0}};
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
        case 'i':
            work.options.circles = strtod(optarg, NULL) / 100;
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
    if (!sizes) {
        wrong = report(&work, runs);
    } else {
        print_head();
        for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
            char *end;
            for (const char *at = sizes; *at && strstr(engine, engines[e]->name);
                 at = *end ? end + 1 : end)
                wrong += run("asked for", engines[e], &work, (uint32_t)strtoul(at, &end, 10), runs,
                             check_step, 0, NULL);
        }
    }
    cleave__stream_generator_free(generator);
    cleave__arena_free(&arena);
    free(work.objects);
    return wrong != 0;
}
