/* Arena, vector and interned strings against simple models, and with memory running out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/vector.h"
#include "support/failalloc.h"
#include "support/property.h"

enum { PIECES = 200 };

struct piece {
    unsigned char *bytes;
    size_t size;
    unsigned char fill;
};

/* The ends of every piece; with `wholly`, each byte. */
static bool intact(const struct piece *pieces, size_t count, bool wholly)
{
    for (size_t i = 0; i < count; i++) {
        size_t step = wholly || pieces[i].size < 2 ? 1 : pieces[i].size - 1;
        for (size_t b = 0; b < pieces[i].size; b += step) {
            if (pieces[i].bytes[b] != pieces[i].fill)
                return false;
        }
    }
    return true;
}

/* Whatever is allocated, marked and rewound: live pieces keep their bytes and do not overlap. */
static bool arena_keeps_pieces(struct property_source *source, void *context)
{
    (void)context;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4000, 5000, 70000};
    struct cleave_arena arena = {0};
    struct piece pieces[PIECES];
    struct {
        struct cleave_arena_mark mark;
        size_t count;
    } marks[PIECES];
    size_t count = 0, marked = 0;
    bool right = true;
    size_t steps = (size_t)property_draw(source, PIECES);
    for (size_t i = 0; i < steps && right; i++) {
        uint64_t what = property_draw(source, 10);
        if (source->verbose)
            fprintf(stderr, "step %llu, %zu pieces, %zu marks\n", (unsigned long long)what, count,
                    marked);
        if (what < 7) {
            struct piece *piece = &pieces[count++];
            piece->size = sizes[property_draw(source, sizeof sizes / sizeof *sizes)];
            piece->bytes = cleave__arena_alloc(&arena, piece->size);
            piece->fill = (unsigned char)i;
            right = piece->bytes && (uintptr_t)piece->bytes % 16 == 0;
            if (right && piece->size)
                memset(piece->bytes, piece->fill, piece->size);
        } else if (what < 8) {
            marks[marked].mark = cleave__arena_mark(&arena);
            marks[marked++].count = count;
        } else if (marked) {
            marked = (size_t)property_draw(source, marked); /* perhaps several marks back */
            cleave__arena_rewind(&arena, marks[marked].mark);
            count = marks[marked].count;
        }
        right = right && intact(pieces, count, false);
    }
    right = right && intact(pieces, count, true);
    cleave__arena_free(&arena);
    return right && arena.block == NULL && arena.reserved == 0;
}

static void arena_property(void **state)
{
    (void)state;
    assert_true(property_run("arena_keeps_pieces", arena_keeps_pieces, NULL, 300));
}

static void arena_refuses_absurd_sizes(void **state)
{
    (void)state;
    struct cleave_arena arena = {0};
    assert_null(cleave__arena_alloc(&arena, SIZE_MAX));
    assert_null(cleave__arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(cleave__arena_array(&arena, SIZE_MAX / 8, 16));
    assert_null(cleave__arena_array(&arena, (size_t)1 << 33, (size_t)1 << 33));
    assert_non_null(cleave__arena_array(&arena, 0, 16));
    assert_non_null(cleave__arena_array(&arena, 16, 0));
    assert_string_equal(cleave__arena_copy(&arena, "a\0b", 1), "a");
    assert_string_equal(cleave__arena_copy(&arena, NULL, 0), "");
    const unsigned char *zeroes = cleave__arena_zalloc(&arena, 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(zeroes[i], 0);
    cleave__arena_free(&arena);
}

static void arena_does_not_grow_in_a_loop(void **state)
{
    (void)state;
    struct cleave_arena arena = {0};
    struct cleave_arena_mark start = cleave__arena_mark(&arena);
    size_t most = 0;
    for (int i = 0; i < 1000; i++) {
        for (int j = 0; j < 50; j++)
            assert_non_null(cleave__arena_alloc(&arena, 1000));
        if (i == 10)
            most = arena.reserved;
        if (i > 10)
            assert_true(arena.reserved <= most);
        cleave__arena_rewind(&arena, start);
    }
    cleave__arena_free(&arena);
}

static void vector_grows_and_refuses(void **state)
{
    (void)state;
    CLEAVE_VECTOR(uint32_t) numbers = {0};
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(CLEAVE_PUSH(&numbers, i * 3));
    assert_true(CLEAVE_PUSH(&numbers, numbers.data[9999]));
    assert_int_equal(numbers.count, 10001);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(numbers.data[i], i * 3);
    size_t capacity = numbers.capacity;
    assert_false(CLEAVE_RESERVE(&numbers, SIZE_MAX / 2));
    assert_false(CLEAVE_RESERVE(&numbers, SIZE_MAX));
    assert_int_equal(numbers.capacity, capacity);
    assert_int_equal(numbers.data[10000], 9999 * 3);
    CLEAVE_VECTOR_FREE(&numbers);
    assert_null(numbers.data);
}

/* Ids are dense, in order of first appearance, and equal exactly for equal bytes. */
static bool intern_agrees(struct property_source *source, void *context)
{
    (void)context;
    enum { WORDS = 300 };
    struct cleave_intern table = {0};
    char words[WORDS][4];
    size_t lengths[WORDS];
    uint32_t known = 0;
    bool right = true;
    size_t steps = (size_t)property_draw(source, WORDS);
    for (size_t i = 0; i < steps && right; i++) {
        char word[4];
        size_t length = (size_t)property_draw(source, 4);
        for (size_t b = 0; b < length; b++)
            word[b] = (char)property_draw(source, 4); /* NULs too */
        uint32_t expected = CLEAVE_INTERN_NONE;
        for (uint32_t id = 0; id < known; id++) {
            if (lengths[id] == length && memcmp(words[id], word, length) == 0)
                expected = id;
        }
        right = cleave__intern_find(&table, word, length) == expected;
        if (expected == CLEAVE_INTERN_NONE) {
            expected = known;
            memcpy(words[known], word, length);
            lengths[known++] = length;
        }
        right = right && cleave__intern_add(&table, word, length) == expected;
    }
    right = right && table.count == known;
    for (uint32_t id = 0; id < known && right; id++)
        right = table.entries[id].length == lengths[id] &&
                memcmp(table.entries[id].bytes, words[id], lengths[id]) == 0 &&
                table.entries[id].bytes[lengths[id]] == 0;
    cleave__intern_free(&table);
    return right;
}

static void intern_property(void **state)
{
    (void)state;
    assert_true(property_run("intern_agrees", intern_agrees, NULL, 500));
}

static bool use_all(void *context)
{
    (void)context;
    struct cleave_intern table = {0};
    CLEAVE_VECTOR(uint32_t) ids = {0};
    bool right = true;
    uint32_t added = 0;
    for (uint32_t i = 0; i < 200; i++) {
        char word[20];
        int length = snprintf(word, sizeof word, "word %u", i);
        uint32_t id = cleave__intern_add(&table, word, (size_t)length);
        if (id == CLEAVE_INTERN_NONE)
            continue; /* refused: the table stays as it was, and may be asked again */
        right = right && id == added++ && cleave__intern_find(&table, word, (size_t)length) == id;
        size_t count = ids.count;
        if (!CLEAVE_PUSH(&ids, id))
            right = right && ids.count == count;
    }
    right = right && table.count == added;
    cleave__intern_free(&table);
    CLEAVE_VECTOR_FREE(&ids);
    return right;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_true(failalloc_run("base", use_all, NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_property),
        cmocka_unit_test(arena_refuses_absurd_sizes),
        cmocka_unit_test(arena_does_not_grow_in_a_loop),
        cmocka_unit_test(vector_grows_and_refuses),
        cmocka_unit_test(intern_property),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
