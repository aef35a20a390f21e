/* Two-hop queries on shards at work on threads, beside a plain loop over adjacency lists, one
 * thread, on the same graph; and what lies between, step by step:
 *
 *   plain loop     lists in one array, a mark a user; everyone within two hops is counted
 *   answers kept   the same, and every answer is written to memory
 *   executor       src/graph/route: by shard, batched, but no messages
 *   threads N      shards, coordinators and clients as actors on N threads (src/graph/serve)
 *
 * usage: graph_serve [USERS [QUERIES]]      100000 users, 200000 queries; best of three */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "graph/route/executor.h"
#include "graph/serve/serve.h"
#include "graph/source/generate.h"

enum { SHARDS = 4, TRIES = 3 };

static double now_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

/* Users within two hops of all sources; `answers` [vertices], or NULL. */
static uint64_t plain(const struct cleave__graph *g, const uint32_t *source, uint32_t queries,
                      uint32_t *mark, uint32_t *answers)
{
    uint64_t found = 0;
    for (uint32_t q = 0; q < queries; q++) {
        uint32_t s = source[q], count = 0;
        mark[s] = q + 1;
        for (uint64_t i = g->offset[s]; i < g->offset[s + 1]; i++) {
            uint32_t v = g->target[i];
            if (mark[v] != q + 1) {
                mark[v] = q + 1;
                if (answers)
                    answers[count] = v;
                count++;
            }
            for (uint64_t j = g->offset[v]; j < g->offset[v + 1]; j++) {
                uint32_t w = g->target[j];
                if (mark[w] == q + 1)
                    continue;
                mark[w] = q + 1;
                if (answers)
                    answers[count] = w;
                count++;
            }
        }
        found += count;
    }
    return found;
}

static void tell(const char *name, double seconds, uint32_t queries, double plain_s)
{
    printf("%-22s %10.0f queries/s   %7.0f ns a query   %6.1f x the plain loop\n", name,
           queries / seconds, seconds / queries * 1e9, seconds / plain_s);
}

static double time_plain(const struct cleave__graph *g, const uint32_t *source, uint32_t queries,
                         bool keep, uint64_t *found)
{
    double best = 1e9;
    for (int t = 0; t < TRIES; t++) {
        uint32_t *mark = calloc(g->vertices, sizeof *mark), *answers = NULL;
        if (keep)
            answers = malloc(g->vertices * sizeof *answers);
        if (!mark || (keep && !answers))
            die("no memory");
        double from = now_s();
        *found = plain(g, source, queries, mark, answers);
        double took = now_s() - from;
        best = took < best ? took : best;
        free(mark);
        free(answers);
    }
    return best;
}

static double time_executor(const struct cleave__graph *g, const uint32_t *owner,
                            const uint32_t *source, uint32_t queries, uint64_t found)
{
    struct cleave__sharded *sharded;
    struct cleave__execution *execution;
    struct cleave_error error;
    double best = 1e9;
    if (cleave__sharded_new(g, SHARDS, owner, &sharded, &error) ||
        cleave__execution_new(g, sharded, &execution, &error))
        die(error.message);
    for (int t = 0; t < TRIES; t++) {
        uint64_t answers = 0;
        double from = now_s();
        for (uint32_t q = 0; q < queries; q++) {
            struct cleave__query query = {.source = source[q], .hops = 2};
            cleave__execute(execution, cleave__executor_find("batched"), &query);
            answers += execution->answer_count;
        }
        double took = now_s() - from;
        best = took < best ? took : best;
        if (answers != found)
            die("the executor answers otherwise");
    }
    cleave__execution_free(execution);
    cleave__sharded_free(sharded);
    return best;
}

int main(int argc, char **argv)
{
    uint32_t users = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
    uint32_t queries = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 200000;
    static struct cleave__generate_options options; /* large */
    struct cleave__graph *g;
    struct cleave_error error;
    uint64_t found = 0, kept = 0;
    options.users = users;
    options.communities = 10;
    options.degree = 8;
    options.local = 7;
    options.seed = 42;
    if (cleave__graph_generate(cleave__graph_generator_find("communities"), &options, &g, &error))
        die(error.message);
    uint32_t *owner = malloc(users * sizeof *owner), *source = malloc(queries * sizeof *source);
    struct cleave_random random;
    if (!owner || !source)
        die("no memory");
    cleave__random_seed(&random, 1);
    for (uint32_t v = 0; v < users; v++)
        owner[v] = v % SHARDS;
    for (uint32_t q = 0; q < queries; q++)
        source[q] = (uint32_t)cleave__random_below(&random, users);
    double plain_s = time_plain(g, source, queries, false, &found);
    double kept_s = time_plain(g, source, queries, true, &kept);
    printf("%u users, %u edges each, %u queries of two hops, %.1f answers each, %d shards\n", users,
           options.degree, queries, (double)found / queries, SHARDS);
    tell("plain loop", plain_s, queries, plain_s);
    tell("answers kept", kept_s, queries, plain_s);
    tell("executor", time_executor(g, owner, source, queries, found), queries, plain_s);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct cleave__served best = {0};
        for (int t = 0; t < TRIES; t++) {
            struct cleave__served served;
            struct cleave__serving serving = {.transport = &cleave__threads,
                                              .threads = threads,
                                              .seed = 1,
                                              .shards = SHARDS,
                                              .coordinators = 2,
                                              .clients = 4,
                                              .outstanding = 32,
                                              .owner = owner,
                                              .executor = CLEAVE__SERVE_BATCHED,
                                              .query = {.hops = 2},
                                              .source = source,
                                              .sources = queries};
            if (cleave__graph_serve(g, &serving, &served, &error))
                die(error.message);
            if (!served.verified || served.answers != found)
                die("a wrong answer");
            if (served.queries_per_s > best.queries_per_s)
                best = served;
        }
        char name[40];
        snprintf(name, sizeof name, "threads %u", threads);
        tell(name, best.elapsed_s, queries, plain_s);
        printf("  %.2f messages a query, %.0f bytes\n", (double)best.messages / queries,
               (double)best.bytes / queries);
    }
    cleave__graph_free(g);
    free(owner);
    free(source);
    return 0;
}
