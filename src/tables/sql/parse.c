/* See parse.h. The worker thread sleeps between calls; it is the only one that enters libpg_query,
 * whose memory contexts belong to a thread and go with it. */
#include "tables/sql/parse.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include "tables/sql/analyze.h"

/* Deep enough for CLEAVE_NESTING_MAX + CLEAVE_PARSE_CHAIN_MAX levels many times over; only touched
 * pages cost memory. */
enum { STACK_BYTES = 64 << 20 };

struct cleave_parser {
    pthread_t thread;
    pthread_mutex_t turn; /* held by the caller whose work runs */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t change;
    void (*work)(void *context);
    void *context;
    bool quit;
};

static void *serve(void *argument)
{
    struct cleave_parser *parser = argument;
    pthread_mutex_lock(&parser->lock);
    for (;;) {
        while (!parser->work && !parser->quit)
            pthread_cond_wait(&parser->change, &parser->lock);
        if (parser->quit)
            break;
        pthread_mutex_unlock(&parser->lock);
        parser->work(parser->context);
        pthread_mutex_lock(&parser->lock);
        parser->work = NULL;
        pthread_cond_broadcast(&parser->change);
    }
    pthread_mutex_unlock(&parser->lock);
    return NULL;
}

static int start_thread(struct cleave_parser *parser)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    failed = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (!failed) {
        /* The host program's signal handlers run on its own threads. */
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        failed = pthread_create(&parser->thread, &attributes, serve, parser);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return failed;
}

enum cleave_status cleave__parser_new(struct cleave_parser **out, struct cleave_error *error)
{
    struct cleave_parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the SQL parser");
    pthread_mutex_init(&parser->turn, NULL);
    pthread_mutex_init(&parser->lock, NULL);
    pthread_cond_init(&parser->change, NULL);
    int failed = start_thread(parser);
    if (failed) {
        pthread_cond_destroy(&parser->change);
        pthread_mutex_destroy(&parser->lock);
        pthread_mutex_destroy(&parser->turn);
        free(parser);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "cannot start the SQL parser's thread: %s",
                                strerror(failed));
    }
    *out = parser;
    return CLEAVE_OK;
}

void cleave__parser_free(struct cleave_parser *parser)
{
    if (!parser)
        return;
    pthread_mutex_lock(&parser->lock);
    parser->quit = true;
    pthread_cond_broadcast(&parser->change);
    pthread_mutex_unlock(&parser->lock);
    pthread_join(parser->thread, NULL);
    pthread_cond_destroy(&parser->change);
    pthread_mutex_destroy(&parser->lock);
    pthread_mutex_destroy(&parser->turn);
    free(parser);
}

void cleave__parser_run(struct cleave_parser *parser, void (*work)(void *context), void *context)
{
    pthread_mutex_lock(&parser->turn);
    pthread_mutex_lock(&parser->lock);
    parser->context = context;
    parser->work = work;
    pthread_cond_broadcast(&parser->change);
    while (parser->work)
        pthread_cond_wait(&parser->change, &parser->lock);
    pthread_mutex_unlock(&parser->lock);
    pthread_mutex_unlock(&parser->turn);
}

struct request {
    const char *text; /* NUL-terminated */
    struct cleave_arena *arena;
    PgQuery__ParseResult *tree;
    char *json;
    enum cleave_status status;
    struct cleave_error *error;
};

static void *allocate(void *arena, size_t size)
{
    return cleave__arena_alloc(arena, size);
}

static void release(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

static enum cleave_status refuse(const PgQueryError *fault, struct cleave_error *error)
{
    const char *message = fault->message ? fault->message : "cannot be parsed";
    if (strncmp(message, "out of memory", 13) == 0)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "SQL parser: %s", message);
    if (strncmp(message, "memory exhausted", 16) == 0) /* its stack of open rules */
        return cleave_error_set(error, CLEAVE_LIMIT, "SQL parser: %s", message);
    if (fault->cursorpos > 0)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s (character %d)", message,
                                fault->cursorpos);
    return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s", message);
}

static void parse_protobuf(void *context)
{
    struct request *request = context;
    PgQueryProtobufParseResult result = pg_query_parse_protobuf(request->text);
    if (result.error) {
        request->status = refuse(result.error, request->error);
    } else {
        ProtobufCAllocator allocator = {allocate, release, request->arena};
        request->tree = pg_query__parse_result__unpack(&allocator, result.parse_tree.len,
                                                       (const uint8_t *)result.parse_tree.data);
        request->status = request->tree ? CLEAVE_OK
                                        : cleave_error_set(request->error, CLEAVE_NO_MEMORY,
                                                           "no memory for a parse tree");
    }
    pg_query_free_protobuf_parse_result(result);
}

static void parse_json(void *context)
{
    struct request *request = context;
    PgQueryParseResult result = pg_query_parse(request->text);
    if (result.error) {
        request->status = refuse(result.error, request->error);
    } else {
        request->json = result.parse_tree; /* malloc'd */
        result.parse_tree = NULL;
        request->status = request->json ? CLEAVE_OK
                                        : cleave_error_set(request->error, CLEAVE_NO_MEMORY,
                                                           "no memory for a parse tree");
    }
    pg_query_free_parse_result(result);
}

/* On the calling thread when `parser` is NULL. */
static enum cleave_status run_guarded(struct cleave_parser *parser, const char *text, size_t length,
                                      void (*work)(void *context), struct request *request)
{
    struct cleave_error *error = request->error;
    if (length > CLEAVE_PARSE_LENGTH_MAX)
        return cleave_error_set(error, CLEAVE_LIMIT, "SQL text of %zu bytes; at most %d are parsed",
                                length, CLEAVE_PARSE_LENGTH_MAX);
    const char *nul = length ? memchr(text, 0, length) : NULL;
    if (nul)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "SQL text holds a NUL at byte %zu",
                                (size_t)(nul - text));
    enum cleave_status status = cleave__nesting_check(text, length, error);
    if (status)
        return status;
    char *copy = malloc(length + 1);
    if (!copy)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %zu bytes of SQL", length);
    if (length)
        memcpy(copy, text, length);
    copy[length] = 0;
    request->text = copy;
    if (parser)
        cleave__parser_run(parser, work, request);
    else
        work(request);
    free(copy);
    return request->status;
}

enum cleave_status cleave__parse_protobuf(struct cleave_parser *parser, const char *text,
                                          size_t length, struct cleave_arena *arena,
                                          struct PgQuery__ParseResult **out,
                                          struct cleave_error *error)
{
    struct request request = {.arena = arena, .error = error};
    enum cleave_status status = run_guarded(parser, text, length, parse_protobuf, &request);
    if (!status)
        *out = request.tree;
    return status;
}

enum cleave_status cleave__parse_protobuf_here(const char *text, size_t length,
                                               struct cleave_arena *arena,
                                               struct PgQuery__ParseResult **out,
                                               struct cleave_error *error)
{
    return cleave__parse_protobuf(NULL, text, length, arena, out, error);
}

enum cleave_status cleave__parse_json(struct cleave_parser *parser, const char *text, size_t length,
                                      char **out, struct cleave_error *error)
{
    struct request request = {.error = error};
    enum cleave_status status = run_guarded(parser, text, length, parse_json, &request);
    if (!status)
        *out = request.json;
    return status;
}
