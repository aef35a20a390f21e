/* How fast standing queries are matched: the index beside Tornado's grid, on the workload of the
 * published comparisons (64 hot spots, Zipf(1) vocabulary of 100,000, 8 words an object, rectangles
 * of side 100 in a space of 10,000 x 10,000 at an object's place with 3 of its words, CONTAINS).
 *
 * usage: bench/stream_index [--queries N,N,...] [--objects N] [--engine index|cells|scan] [--mix P]
 *        [--bare] [--runs N] [--check N]
 * --mix P: P per cent of the queries are OVERLAPS; --bare: no words, pure geofences; --check N:
 * matches of every N-th object are compared with brute force. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "stream/index/matcher.h"

enum { WORDS = 100000, SPOTS = 64, OBJECT_WORDS = 8, QUERY_WORDS = 3, BATCH = 4096 };

static const double space_side = 10000, range_side = 100, spread = 300;
static const struct cleave__space plane = {CLEAVE__PLANE, {0, 0, 10000, 10000}};

static double *zipf; /* of each word: the sum of shares up to it */
static double spots[SPOTS][2];

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
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_world(struct cleave_random *random)
{
    double sum = 0;
    zipf = need(malloc(WORDS * sizeof *zipf));
    for (uint32_t i = 0; i < WORDS; i++)
        zipf[i] = sum += 1.0 / (i + 1);
    for (uint32_t i = 0; i < WORDS; i++)
        zipf[i] /= sum;
    for (int i = 0; i < SPOTS; i++) {
        spots[i][0] = cleave__random_real(random) * space_side;
        spots[i][1] = cleave__random_real(random) * space_side;
    }
}

static uint32_t draw_word(struct cleave_random *random)
{
    double at = cleave__random_real(random);
    uint32_t low = 0, high = WORDS - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (zipf[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double near(struct cleave_random *random, double middle)
{
    double u = 1 - cleave__random_real(random), v = cleave__random_real(random);
    double at = middle + spread * sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
    return at < 0 ? 0 : at > space_side ? space_side : at;
}

static void draw_object(struct cleave_random *random, struct cleave__object *object,
                        uint32_t *words)
{
    uint32_t spot = (uint32_t)cleave__random_below(random, SPOTS), count = 0;
    object->x = near(random, spots[spot][0]);
    object->y = near(random, spots[spot][1]);
    while (count < OBJECT_WORDS) {
        uint32_t word = draw_word(random), i = 0;
        while (i < count && words[i] != word)
            i++;
        if (i == count)
            words[count++] = word;
    }
    object->terms = words;
    object->term_count = OBJECT_WORDS;
}

static void draw_query(struct cleave_random *random, struct cleave__query *query, uint32_t *words,
                       unsigned mix, bool bare)
{
    struct cleave__object object;
    draw_object(random, &object, words); /* words in the order drawn */
    double half = range_side / 2;
    query->region = (struct cleave__region){.kind = CLEAVE__RECTANGLE,
                                            .x0 = object.x - half,
                                            .y0 = object.y - half,
                                            .x1 = object.x + half,
                                            .y1 = object.y + half};
    query->predicate =
        cleave__random_below(random, 100) < mix ? CLEAVE__OVERLAPS : CLEAVE__CONTAINS;
    qsort(words, QUERY_WORDS, sizeof *words, by_number);
    query->terms = words;
    query->term_count = bare ? 0 : QUERY_WORDS;
    query->end_ms = CLEAVE__NEVER;
    query->events = CLEAVE__EVENT_MATCH;
}

struct workload {
    uint32_t object_count;
    struct cleave__object *objects;
    uint32_t *words;
    unsigned mix;
    bool bare;
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
            if (cleave__query_has(&plane, &queries[q], &work->objects[i]))
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
    struct cleave__matcher_options options = {&plane};
    struct cleave__matches out = {0};
    struct cleave_random random;
    void *self;
    uint32_t words[OBJECT_WORDS], slot;
    double adding = 0, slowest = 0;
    cleave__random_seed(&random, 7);
    if (ops->create(&options, &self, NULL))
        exit(1);
    if (ops->learn)
        ops->learn(self, work->objects, work->object_count < 20000 ? work->object_count : 20000);
    enum { CHUNK = 1000 };
    struct cleave__query *queries = need(malloc(CHUNK * sizeof *queries));
    uint32_t(*query_words)[OBJECT_WORDS] = need(malloc(CHUNK * sizeof *query_words));
    for (uint32_t i = 0; i < query_count; i += CHUNK) {
        uint32_t count = query_count - i < CHUNK ? query_count - i : CHUNK;
        for (uint32_t k = 0; k < count; k++) {
            queries[k] = (struct cleave__query){.id = i + k + 1, .subscriber = i + k};
            draw_query(&random, &queries[k], query_words[k], work->mix, work->bare);
        }
        double start = now_s();
        for (uint32_t k = 0; k < count; k++) {
            if (ops->add(self, &queries[k], &slot, NULL))
                exit(1);
        }
        double took = now_s() - start;
        adding += took;
        slowest = took > slowest ? took : slowest;
    }
    (void)words;
    double best = 1e9, looked = 0;
    for (unsigned r = 0; r < runs; r++) {
        double took = match_all(ops, self, work, &out, &looked);
        best = took < best ? took : best;
    }
    printf("%-6s %9u %11.0f %9.0f %9.3f %9.2f %11.0f %8.1f %9zu", ops->name, query_count,
           work->object_count / best, best / work->object_count * 1e9, looked / work->object_count,
           (double)ops->bytes(self) / query_count, query_count / adding, slowest * 1e3,
           out.items.count);
    if (check_step) {
        uint32_t wrong = check(ops, self, work, &out, check_step);
        printf(" %s", wrong ? "WRONG" : "ok");
        if (wrong)
            printf(" (%u objects)", wrong);
    }
    putchar('\n');
    fflush(stdout);
    free(queries);
    free(query_words);
    CLEAVE_VECTOR_FREE(&out.items);
    ops->destroy(self);
}

int main(int argc, char **argv)
{
    const char *sizes = "100000,1000000", *engine = "index";
    struct workload work = {.object_count = 100000};
    unsigned runs = 3;
    uint32_t check_step = 0;
    static const struct option options[] = {
        {"queries", 1, 0, 'q'}, {"objects", 1, 0, 'o'}, {"engine", 1, 0, 'e'}, {"mix", 1, 0, 'm'},
        {"bare", 0, 0, 'b'},    {"runs", 1, 0, 'r'},    {"check", 1, 0, 'c'},  {0, 0, 0, 0}};
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
            work.mix = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            work.bare = true;
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
    struct cleave_random random;
    cleave__random_seed(&random, 1);
    make_world(&random);
    work.objects = need(calloc(work.object_count, sizeof *work.objects));
    work.words = need(malloc((size_t)work.object_count * OBJECT_WORDS * sizeof *work.words));
    for (uint32_t i = 0; i < work.object_count; i++) {
        uint32_t *words = work.words + (size_t)i * OBJECT_WORDS;
        draw_object(&random, &work.objects[i], words);
        qsort(words, OBJECT_WORDS, sizeof *words, by_number);
        work.objects[i].number = i + 1;
    }
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
    free(work.words);
    free(zipf);
    return 0;
}
