/* The mover's work on SQLite, step by step in one thread, with every allocation of it failing in
 * turn: an error and no leak, and rows that are all there. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../oracle/world.h"
#include "support/failalloc.h"
#include "tables/replay/shift.h"
#include "world.h"

#define DDL                                                                                        \
    "CREATE TABLE t (id int NOT NULL PRIMARY KEY, k int, v varchar(20));"                          \
    "CREATE TABLE u (k varchar(9), w int);"                                                        \
    "CREATE TABLE ru (k int, w int)"

enum { SHARDS = 3 };

struct setting {
    struct replay_world stores;
    struct cleave_lookup *lookups[2];
    char kept[SHARDS][320]; /* files as they were */
};

/* No allocation in here may fail. */
static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    char tail[330];
    for (int i = 0; i < 2; i++) {
        snprintf(tail, sizeof tail, "%s%s", to, i ? "-shm" : "-wal");
        unlink(tail);
    }
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n;
    assert_true(in >= 0 && out >= 0);
    while ((n = read(in, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

static enum cleave_status move_all(struct cleave__shift_seat *seat, struct cleave_error *error)
{
    void *self;
    enum cleave_status status = cleave__shift_prepare(seat, error);
    if (status)
        return status;
    status = cleave__shift_ops.create(seat, &self, error);
    if (status)
        return status;
    struct cleave__shift *shift = self;
    status = cleave__shift_list(shift, CLEAVE_MIX_NONE, error);
    while (!status && cleave__shift_choose(shift)) {
        struct cleave__shift_note note = {.table = 0, .condition = "id < 4"};
        cleave__shardset_fill(&note.shards, cleave__lookup_shards(shift->from));
        status = cleave__shift_make_tasks(shift, error);
        for (size_t t = 0; t < shift->tasks.count && !status; t++)
            status = cleave__shift_copy(shift, &shift->tasks.data[t], error);
        if (!status && !CLEAVE_PUSH(&shift->notes, note))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a note");
        if (!status)
            status = cleave__shift_catch_up(shift, error);
        if (!status)
            status = cleave__shift_switch(shift, error);
        for (uint32_t p = 0; p < shift->pieces && !status; p++) {
            if (shift->set[p / 64] >> p % 64 & 1)
                cleave__mix_move(seat->mix, p);
        }
        if (!status)
            status = cleave__shift_empty(shift, error);
        shift->moving.count = 0;
        cleave__intern_free(&shift->seen);
        shift->seen = (struct cleave_intern){0};
    }
    cleave__shift_ops.destroy(self);
    return status ? status : cleave__shift_clean(seat, error);
}

static bool attempt(void *context)
{
    struct setting *setting = context;
    struct cleave_error error = {0};
    struct cleave__replay_world world = {
        .urls = setting->stores.urls, .coordinator = "replay", .clients = 1};
    struct cleave__shift_seat seat = {.world = &world,
                                      .coordinator = "replay_shift",
                                      .plan = "0123456789abcdef",
                                      .command = "go on",
                                      .batch_rows = 5,
                                      .move_rows = 12};
    for (uint32_t s = 0; s < SHARDS; s++)
        copy_file(setting->kept[s], setting->stores.urls[s]);
    enum cleave_status status =
        cleave__mix_new(setting->lookups[0], setting->lookups[1], 3, &seat.mix, &error);
    if (status)
        return status == CLEAVE_NO_MEMORY;
    world.lookup = cleave__mix_lookup(seat.mix);
    status = move_all(&seat, &error);
    bool whole = cleave__mix_done(seat.mix);
    cleave__mix_free(seat.mix);
    if (status && status != CLEAVE_NO_MEMORY)
        fprintf(stderr, "  %s\n", error.message);
    return status ? status == CLEAVE_NO_MEMORY : whole;
}

static void allocations_fail(void **state)
{
    (void)state;
    struct setting setting;
    struct world worlds[2];
    struct cleave_error error = {0};
    world_sqlite(&setting.stores, SHARDS);
    for (uint32_t i = 0; i < 2; i++) {
        world_open(&worlds[i], DDL, 2 + i);
        if (i)
            worlds[i].layout.tables[world_table(&worlds[i], "t")].key_column = 1;
        assert_int_equal(cleave__lookup_build(&worlds[i].layout, &setting.lookups[i], &error), 0);
    }
    for (uint32_t s = 0; s < SHARDS; s++) {
        world_run(setting.stores.urls[s], DDL);
        for (uint32_t r = 0; r < 12; r++) {
            char text[200];
            snprintf(text, sizeof text,
                     "INSERT INTO t SELECT %u, %u, 'v' WHERE %u = %u; INSERT INTO ru SELECT %u, 0 "
                     "WHERE %u < 2",
                     r, r % 5, r % 2, s, r, s);
            world_run(setting.stores.urls[s], text);
        }
        snprintf(setting.kept[s], sizeof setting.kept[s], "%s.kept", setting.stores.urls[s]);
        copy_file(setting.stores.urls[s], setting.kept[s]);
    }
    bool good = failalloc_run("mover", attempt, &setting, 3);
    unsigned long rows = 0;
    assert_true(attempt(&setting));
    for (uint32_t s = 0; s < SHARDS; s++) {
        char text[40];
        world_ask(setting.stores.urls[s], "SELECT count(*) FROM t", text, sizeof text);
        rows += strtoul(text, NULL, 10);
        unlink(setting.kept[s]);
    }
    assert_int_equal(rows, 12);
    world_remove(&setting.stores);
    for (int i = 0; i < 2; i++) {
        cleave__lookup_release(setting.lookups[i]);
        world_close(&worlds[i]);
    }
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
