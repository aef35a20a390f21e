#include "world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tables/sql/split.h"

static void must(enum cleave_status status, const struct cleave_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        abort();
    }
}

void world_sqlite(struct replay_world *world, uint32_t shards)
{
    *world = (struct replay_world){.shards = shards};
    /* In memory where that can be: nothing here is to outlive the machine. */
    snprintf(world->folder, sizeof world->folder, "%s/cleave-replay-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(world->folder))
        abort();
    for (uint32_t s = 0; s <= shards; s++) {
        char name[16];
        snprintf(name, sizeof name, "/%u.db", s);
        strcat(strcpy(world->texts[s], world->folder), name);
        if (s < shards)
            world->urls[s] = world->texts[s];
    }
    world->reference = world->texts[shards];
}

bool world_postgres(struct replay_world *world, uint32_t shards)
{
    struct cleave_error error;
    *world = (struct replay_world){.shards = shards};
    snprintf(world->folder, sizeof world->folder, "/tmp/cleave-replay-XXXXXX");
    if (!mkdtemp(world->folder))
        abort();
    struct cleave_cluster_options options = {.folder = world->folder, .postgres = shards + 1};
    enum cleave_status status = cleave__cluster_up(&options, &world->cluster, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        rmdir(world->folder);
        if (status != CLEAVE_NOT_FOUND)
            abort();
        return false;
    }
    for (uint32_t s = 0; s < shards; s++)
        world->urls[s] = cleave__cluster_server(world->cluster, s)->url;
    world->reference = cleave__cluster_server(world->cluster, shards)->url;
    return true;
}

static void remove_files(const struct replay_world *world)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    for (uint32_t s = 0; s <= world->shards; s++) {
        for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
            char path[400];
            snprintf(path, sizeof path, "%s%s", world->texts[s], tails[t]);
            unlink(path);
        }
    }
}

void world_empty(struct replay_world *world)
{
    if (!world->cluster) {
        remove_files(world);
        return;
    }
    for (uint32_t s = 0; s <= world->shards; s++)
        world_run(s < world->shards ? world->urls[s] : world->reference,
                  "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

void world_remove(struct replay_world *world)
{
    struct cleave_error error;
    if (world->cluster) {
        must(cleave__cluster_down(world->cluster, &error), &error);
        cleave__cluster_free(world->cluster);
        return;
    }
    remove_files(world);
    rmdir(world->folder);
}

void world_run(const char *url, const char *text)
{
    enum { MOST = 4096 };
    static struct cleave_store_statement statements[MOST];
    static struct cleave_store_answer answers[MOST];
    struct cleave_arena arena = {0};
    struct cleave__port port;
    struct cleave_error error;
    struct cleave_piece piece;
    uint32_t count = 0;
    for (const char *at = text, *end = text + strlen(text); cleave__split_next(&at, end, &piece);) {
        assert(count < MOST);
        statements[count++] = (struct cleave_store_statement){
            cleave__arena_copy(&arena, piece.text, piece.length), NULL, 0};
    }
    const struct cleave_store_batch batch = {statements, count, CLEAVE_BATCH_COMMIT, NULL};
    cleave__port_init(&port, url);
    must(cleave__port_batch(&port, &batch, &arena, answers, &error), &error);
    cleave__port_close(&port);
    cleave__arena_free(&arena);
}

void world_ask(const char *url, const char *query, char *out, size_t size)
{
    struct cleave_arena arena = {0};
    struct cleave__port port;
    struct cleave_error error;
    struct cleave_store_answer answer;
    const struct cleave_store_statement statement = {query, NULL, 0};
    const struct cleave_store_batch batch = {&statement, 1, CLEAVE_BATCH_COMMIT, NULL};
    cleave__port_init(&port, url);
    must(cleave__port_batch(&port, &batch, &arena, &answer, &error), &error);
    assert(answer.rows == 1 && answer.columns == 1);
    snprintf(out, size, "%s", answer.values[0] ? answer.values[0] : "NULL");
    cleave__port_close(&port);
    cleave__arena_free(&arena);
}

static enum cleave_status next(void *context, struct cleave_trace_transaction *out,
                               struct cleave_error *error)
{
    struct world_list *list = context;
    (void)error;
    if (list->next == list->count)
        return CLEAVE_END;
    snprintf(list->copy, sizeof list->copy, "%s", list->texts[list->next++]);
    uint32_t count = 0;
    struct cleave_piece piece;
    for (const char *at = list->copy, *end = list->copy + strlen(list->copy);
         cleave__split_next(&at, end, &piece);) {
        list->copy[piece.text - list->copy + (ptrdiff_t)piece.length] = 0;
        list->statements[count++] =
            (struct cleave_trace_statement){.text = piece.text, .length = piece.length};
    }
    *out = (struct cleave_trace_transaction){
        .session = "1", .statements = list->statements, .statement_count = count};
    return CLEAVE_OK;
}

struct cleave_replay_source world_source(struct world_list *list)
{
    return (struct cleave_replay_source){next, list};
}

static enum cleave_status generated(void *context, struct cleave_trace_transaction *out,
                                    struct cleave_error *error)
{
    return cleave__generator_next(context, out, NULL, error);
}

struct cleave_replay_source world_generated(struct cleave_generator *generator)
{
    return (struct cleave_replay_source){generated, generator};
}
