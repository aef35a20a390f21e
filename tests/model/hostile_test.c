/* A thousand damaged files of every kind: each is read to what passes its check, or refused with
 * one line that names the file and, but for what concerns all of it, a line of it. No array is ever
 * far larger than its file. Sanitizers tell the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleave/partition.h"
#include "model/hostile_text.h"

enum { FILES = 1000 };

static struct text *text;
static int descriptor; /* of a file in memory */
static char path[64];

/* The linker sends allocations here: the largest since it was reset. */
static size_t largest;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static size_t note(size_t size)
{
    largest = size > largest ? size : largest;
    return size;
}

void *__wrap_malloc(size_t size)
{
    return __real_malloc(note(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return __real_calloc(count, note(count * size) / count);
}

void *__wrap_realloc(void *old, size_t size)
{
    return __real_realloc(old, note(size));
}

/* One line that names the file, and a line in it, but for what concerns the whole file. */
static void check_error(enum cleave_status status, const char *message)
{
    size_t name = strlen(path);
    bool whole = strstr(message, "has neighbour") || strstr(message, "zip") ||
                 status == CLEAVE_CORRUPT || status == CLEAVE_IO;
    if ((status != CLEAVE_BAD_INPUT && status != CLEAVE_LIMIT && !whole) ||
        strncmp(message, path, name) || message[name] != ':' || strchr(message, '\n') ||
        (!whole && (message[name + 1] < '1' || message[name + 1] > '9')))
        fail_msg("status %d: %s", status, message);
}

static void use(const struct cleave_hypergraph *h)
{
    if (h->vertices > 40 || h->net_offset[h->nets] > 200)
        return;
    uint32_t block[40];
    struct cleave_error error = {0};
    struct cleave_partition_options o = {
        .blocks = 3, .epsilon = 0.5, .preset = CLEAVE_FAST, .starts = 1};
    enum cleave_status status = cleave_partition(h, &o, block, NULL, &error);
    if (status && status != CLEAVE_UNSATISFIABLE)
        fail_msg("partition: status %d: %s", status, error.message);
}

typedef enum cleave_status reader(const char *path, struct cleave_hypergraph **out,
                                  struct cleave_error *error);

static enum cleave_status read_hypergraph(reader *read, struct cleave_error *error)
{
    struct cleave_hypergraph *h = NULL;
    struct cleave_error broken = {0};
    enum cleave_status status = read(path, &h, error);
    assert_true(!status == !!h);
    if (h && cleave_hypergraph_check(h, &broken))
        fail_msg("read, but %s", broken.message);
    if (h)
        use(h);
    cleave_hypergraph_free(h);
    return status;
}

static enum cleave_status read_hgr(struct cleave_error *error)
{
    return read_hypergraph(cleave_hypergraph_read_hgr, error);
}

static enum cleave_status read_graph(struct cleave_error *error)
{
    return read_hypergraph(cleave_hypergraph_read_graph, error);
}

static enum cleave_status read_patoh(struct cleave_error *error)
{
    return read_hypergraph(cleave_hypergraph_read_patoh, error);
}

static enum cleave_status read_fix(struct cleave_error *error)
{
    int32_t *fixed = NULL;
    enum cleave_status status = cleave_fix_read(path, VERTICES_MAX, 4, &fixed, error);
    for (uint32_t v = 0; !status && v < VERTICES_MAX; v++)
        assert_in_range(fixed[v] + 1, 0, 4);
    free(fixed);
    return status;
}

static enum cleave_status read_together(struct cleave_error *error)
{
    uint32_t *group = NULL;
    enum cleave_status status = cleave_together_read(path, VERTICES_MAX, &group, error);
    assert_true(!status == !!group);
    free(group);
    return status;
}

static enum cleave_status read_apart(struct cleave_error *error)
{
    uint32_t(*pair)[2] = NULL, count = 0;
    enum cleave_status status = cleave_apart_read(path, VERTICES_MAX, &pair, &count, error);
    for (uint32_t i = 0; i < count; i++)
        assert_true(pair[i][0] < VERTICES_MAX && pair[i][1] < VERTICES_MAX &&
                    pair[i][0] != pair[i][1]);
    free(pair);
    return status;
}

static int open_text(void **state)
{
    (void)state;
    text = calloc(1, sizeof *text);
    if (!text)
        return 1;
    descriptor = memfd_create("hostile", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return descriptor < 0;
}

static int close_text(void **state)
{
    (void)state;
    free(text);
    return close(descriptor);
}

static void run(void (*make)(struct text *), enum cleave_status (*read)(struct cleave_error *error))
{
    struct text *t = text;
    uint32_t good = 0;
    for (uint32_t i = 0; i < FILES; i++) {
        cleave__random_seed(&t->random, i);
        t->length = 0;
        make(t);
        for (uint32_t wounds = i ? 1 + below(t, 3) : 0; wounds > 0; wounds--)
            damage(t);
        assert_int_equal(ftruncate(descriptor, 0), 0);
        assert_int_equal(pwrite(descriptor, t->bytes, t->length, 0), t->length);
        struct cleave_error error = {0};
        largest = 0;
        enum cleave_status status = read(&error);
        if (largest > (1 << 24) + 1024 * t->length)
            fail_msg("file %u: %zu bytes at once for %zu", i, largest, t->length);
        if (status)
            check_error(status, error.message);
        good += !status;
        if (i == 0)
            assert_int_equal(good, 1); /* undamaged */
    }
    assert_in_range(good, FILES / 20, FILES * 3 / 4);
}

#define HOSTILE(kind)                                                                              \
    static void hostile_##kind(void **state)                                                       \
    {                                                                                              \
        (void)state;                                                                               \
        run(make_##kind, read_##kind);                                                             \
    }
HOSTILE(hgr)
HOSTILE(graph)
HOSTILE(patoh)
HOSTILE(fix)
HOSTILE(together)
HOSTILE(apart)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_hgr),      cmocka_unit_test(hostile_graph),
        cmocka_unit_test(hostile_patoh),    cmocka_unit_test(hostile_fix),
        cmocka_unit_test(hostile_together), cmocka_unit_test(hostile_apart),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
