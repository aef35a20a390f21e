/* Lookup tables on disk: no altered or cut file opens; writes are whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "support/failalloc.h"
#include "tables/route/image.h"
#include "tables/route/lookup.h"

static char directory[] = "lookup_file_XXXXXX";

static struct cleave_value integer(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

static struct cleave_value text(const char *bytes)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = bytes};
    value.length = (uint32_t)strlen(bytes);
    return value;
}

/* A small layout that uses everything: every rule, integers and texts, points and spans, derived
 * keys, keys and foreign keys, a view, an alias. */
static enum cleave_status build_all(struct cleave_lookup **out, struct cleave_error *error)
{
    struct cleave_column columns[] = {
        {.name = "w", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER, .not_null = true},
        {.name = "i", .type_name = "text", .type = CLEAVE_TYPE_TEXT, .has_default = true},
    };
    uint32_t zero = 0, one = 1;
    struct cleave_key unique = {1, &one};
    struct cleave_foreign_key foreign = {1, &zero, 0, &zero};
    struct cleave_table tables[6] = {
        {.name = "a", .unique_count = 1, .uniques = &unique},
        {.name = "b", .foreign_count = 1, .foreigns = &foreign},
        {.name = "c"},
        {.name = "d"},
        {.name = "v", .view = "select w from a"},
        {.name = "r"},
    };
    for (uint32_t t = 0; t < 6; t++) {
        tables[t].column_count = 2;
        tables[t].columns = columns;
        tables[t].primary = (struct cleave_key){1, &zero};
    }
    struct cleave_schema schema = {.tables = tables, .table_count = 6};
    uint32_t alias_table = 1;
    bool alias_public = true;
    schema.alias_tables = &alias_table;
    schema.alias_public = &alias_public;
    if (cleave__intern_add(&schema.aliases, "b_part", 6) == CLEAVE_INTERN_NONE) {
        cleave__intern_free(&schema.aliases);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "out of memory");
    }
    struct cleave_value numbers[] = {integer(-9), integer(4), integer(5), integer(700)};
    struct cleave_value texts[] = {text(""), text("k"), text("kk"), text("z")};
    uint32_t shards[] = {2, 0, 1, 2};
    struct cleave_key_map maps[] = {
        {4, numbers, shards, CLEAVE_MAP_HASH, 0, NULL},
        {4, texts, shards, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
        {4, numbers, shards, CLEAVE_MAP_NEAREST, 0, NULL},
        {4, texts, shards, CLEAVE_MAP_RANGE, 2, &texts[1]},
    };
    struct cleave_exception exceptions[] = {
        {2, {1, 0}, {{text("q"), text("q"), 0}, {integer(8), integer(8), 0}}, 1},
        {2, {0, 1}, {{integer(9), integer(12), 0}, {text("q"), text("s"), CLEAVE_HIGH_OPEN}}, 2},
        {1, {0}, {{integer(40), integer(0), CLEAVE_HIGH_UNBOUNDED}}, 0},
        {1, {0}, {{integer(30), integer(30), 0}}, 1},
        {1, {0}, {{integer(31), integer(31), 0}}, 2},
    };
    struct cleave_table_layout placed[6] = {{0}};
    for (uint32_t t = 0; t < 4; t++) {
        placed[t].map = t;
        placed[t].key_column = t == 1 || t == 3;
    }
    placed[1].twice = true;
    placed[1].second_column = 0;
    placed[1].second_map = 2;
    placed[5].replicated = true;
    placed[0].exception_count = 5;
    placed[0].exceptions = exceptions;
    placed[0].derived_count = 1;
    placed[0].derived[0] = (struct cleave_derived_key){1, "p", "", 12};
    struct cleave_layout layout = {&schema, 3, placed, 4, maps, NULL};
    enum cleave_status status = cleave__lookup_build(&layout, out, error);
    cleave__intern_free(&schema.aliases);
    return status;
}

static struct cleave_lookup *must_build(void)
{
    struct cleave_lookup *lookup = NULL;
    struct cleave_error error = {0};
    if (build_all(&lookup, &error) != CLEAVE_OK)
        fail_msg("%s", error.message);
    return lookup;
}

static void path_of(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", directory, name);
}

static void put_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static uint32_t entries_in_directory(void)
{
    uint32_t n = 0;
    DIR *handle = opendir(directory);
    assert_non_null(handle);
    for (struct dirent *entry; (entry = readdir(handle));)
        n += entry->d_name[0] != '.';
    closedir(handle);
    return n;
}

static enum cleave_status open_bytes(const uint8_t *bytes, size_t size, struct cleave_error *error)
{
    struct cleave_lookup *lookup = NULL;
    uint8_t *copy = malloc(size ? size : 1); /* exact size, so that a read past the end shows */
    assert_non_null(copy);
    if (size)
        memcpy(copy, bytes, size);
    enum cleave_status status = cleave__image_open(copy, size, "test", &lookup, error);
    if (status != CLEAVE_OK)
        free(copy);
    cleave__lookup_release(lookup);
    return status;
}

static void test_every_bit(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    struct cleave_error error;
    assert_int_equal(open_bytes(lookup->bytes, lookup->size, &error), CLEAVE_OK);
    for (size_t bit = 0; bit < lookup->size * 8; bit++) {
        lookup->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        error.message[0] = 0;
        if (open_bytes(lookup->bytes, lookup->size, &error) != CLEAVE_CORRUPT)
            fail_msg("bit %zu of byte %zu is not missed", bit % 8, bit / 8);
        assert_true(error.message[0] && !strchr(error.message, '\n'));
        lookup->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cleave__lookup_release(lookup);
}

static void test_every_length(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    struct cleave_lookup *opened = NULL;
    char path[64];
    path_of(path, sizeof path, "cut");
    for (size_t size = 0; size < lookup->size; size++) {
        struct cleave_error error = {0};
        assert_int_equal(open_bytes(lookup->bytes, size, &error), CLEAVE_CORRUPT);
        if (size % 7 == 0 || size + 20 > lookup->size) {
            put_file(path, lookup->bytes, size);
            assert_int_equal(cleave__lookup_open(path, &opened, &error), CLEAVE_CORRUPT);
            assert_non_null(strstr(error.message, path));
        }
    }
    uint8_t *longer = malloc(lookup->size + 1);
    assert_non_null(longer);
    memcpy(longer, lookup->bytes, lookup->size);
    longer[lookup->size] = 0;
    put_file(path, longer, lookup->size + 1);
    assert_int_equal(cleave__lookup_open(path, &opened, NULL), CLEAVE_CORRUPT);
    free(longer);
    unlink(path);
    cleave__lookup_release(lookup);
}

/* Bytes that are wrong under right checksums: whatever they say, opening either refuses or gives a
 * lookup table that answers within its shards. */
static void test_wrong_under_right_checksums(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    uint32_t opened_count = 0;
    for (size_t at = CLEAVE_IMAGE_HEADER; at < lookup->size; at++) {
        static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x04};
        for (size_t m = 0; m < sizeof masks; m++) {
            uint8_t *copy = malloc(lookup->size);
            assert_non_null(copy);
            memcpy(copy, lookup->bytes, lookup->size);
            copy[at] ^= masks[m];
            uint64_t offset = CLEAVE_IMAGE_HEADER;
            for (uint32_t i = 0; i < CLEAVE_IMAGE_SECTIONS; i++) {
                uint64_t length = cleave__load64(copy + 32 + i * 24 + 8);
                cleave__store64(copy + 32 + i * 24 + 16,
                                XXH3_64bits(copy + offset, (size_t)length));
                offset += length;
            }
            cleave__store64(copy + CLEAVE_IMAGE_HEADER - 8,
                            XXH3_64bits(copy, CLEAVE_IMAGE_HEADER - 8));
            struct cleave_lookup *opened = NULL;
            if (cleave__image_open(copy, lookup->size, "test", &opened, NULL) != CLEAVE_OK) {
                free(copy);
                continue;
            }
            opened_count++;
            for (uint32_t t = 0; t < opened->schema.table_count; t++) {
                for (int64_t x = -10; x < 50; x++) {
                    struct cleave_value row[] = {integer(x), text(x % 2 ? "q" : "kk")};
                    uint32_t shard = cleave__lookup_row(opened, t, row, 2);
                    assert_true(shard < opened->shards || shard == CLEAVE_SHARDS_MAX);
                    if (shard == CLEAVE_SHARDS_MAX)
                        continue;
                    struct cleave_box any = {0};
                    struct cleave_shardset set = {{0}};
                    cleave__lookup_box(opened, t, &any, false, x % 2, &set);
                    assert_true(cleave__shardset_count(&set) <= opened->shards);
                }
            }
            cleave__lookup_release(opened);
        }
    }
    assert_true(opened_count > 0);
    cleave__lookup_release(lookup);
}

static void test_newer_version(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build();
    struct cleave_error error;
    cleave__store32(lookup->bytes + 8, CLEAVE_IMAGE_VERSION + 1);
    cleave__store64(lookup->bytes + CLEAVE_IMAGE_HEADER - 8,
                    XXH3_64bits(lookup->bytes, CLEAVE_IMAGE_HEADER - 8));
    assert_int_equal(open_bytes(lookup->bytes, lookup->size, &error), CLEAVE_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 3"));
    cleave__lookup_release(lookup);
}

static void test_not_files(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build(), *opened = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__lookup_open("/nonexistent/x", &opened, &error), CLEAVE_IO);
    assert_int_equal(cleave__lookup_open(directory, &opened, &error), CLEAVE_IO);
    assert_int_equal(cleave__lookup_open("/dev/zero", &opened, &error), CLEAVE_IO);
    assert_int_equal(cleave__lookup_write(lookup, "/nonexistent/x", &error), CLEAVE_IO);
    assert_int_equal(cleave__lookup_write(lookup, directory, &error), CLEAVE_IO);
    assert_null(opened);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(cleave__lookup_write(lookup, "/dev/full", &error), CLEAVE_IO);
        assert_non_null(strstr(error.message, strerror(ENOSPC)));
        struct stat info;
        assert_int_equal(stat("/dev/full", &info), 0);
        assert_true(S_ISCHR(info.st_mode));
    }
    cleave__lookup_release(lookup);
}

/* A disk that is full in the middle: the old file stays as it was, and nothing is left behind. */
static void test_whole_or_not(void **state)
{
    (void)state;
    struct cleave_lookup *lookup = must_build(), *opened = NULL;
    struct cleave_error error;
    char path[64], link[64];
    path_of(path, sizeof path, "table");
    path_of(link, sizeof link, "link");
    assert_int_equal(cleave__lookup_write(lookup, path, &error), CLEAVE_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("table", link), 0);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < lookup->size; size += 97) {
        small = old;
        small.rlim_cur = size;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum cleave_status status = cleave__lookup_write(lookup, size % 2 ? path : link, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, CLEAVE_IO);
        assert_int_equal(entries_in_directory(), 2);
        assert_int_equal(cleave__lookup_open(path, &opened, &error), CLEAVE_OK);
        cleave__lookup_release(opened);
        opened = NULL;
    }
    struct stat info;
    assert_int_equal(cleave__lookup_write(lookup, link, &error), CLEAVE_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(info.st_size, lookup->size);
    assert_int_equal(entries_in_directory(), 2);
    unlink(link);
    unlink(path);
    cleave__lookup_release(lookup);
}

static void test_layouts_refused(void **state)
{
    (void)state;
    struct cleave_column column = {
        .name = "w", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER};
    struct cleave_table table = {.name = "a", .column_count = 1, .columns = &column};
    struct cleave_schema schema = {.tables = &table, .table_count = 1};
    struct cleave_value entries[] = {integer(5), integer(4)};
    uint32_t shards[] = {0, 1};
    struct cleave_key_map map = {2, entries, shards, CLEAVE_MAP_HASH, 0, NULL};
    struct cleave_table_layout placed = {0};
    struct cleave_layout layout = {&schema, 2, &placed, 1, &map, NULL};
    struct cleave_lookup *lookup = NULL;
    struct cleave_error error;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "not rising"));
    map.entry_count = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_OK);
    cleave__lookup_release(lookup);
    shards[0] = 2;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    shards[0] = 0;
    placed.key_column = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    placed.key_column = 0;
    placed.map = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    placed.map = 0;
    struct cleave_exception twice[] = {{1, {0}, {{integer(1), integer(1), 0}}, 0},
                                       {1, {0}, {{integer(1), integer(1), 0}}, 1}};
    placed.exceptions = twice;
    placed.exception_count = 2;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    placed.exception_count = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_OK);
    cleave__lookup_release(lookup);
    placed.twice = true;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "table a: a table with two keys has no exceptions"));
    placed.exception_count = 0;
    placed.second_column = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "no second key column 1"));
    placed.second_column = 0;
    placed.second_map = 1;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "no second key map 1"));
    placed.second_map = 0;
    placed.twice = false;
    layout.shards = 1025;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    layout.shards = 0;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
    layout.shards = 3;
    map.otherwise = CLEAVE_MAP_RANGE;
    map.bounds = entries;
    map.bound_count = 2;
    assert_int_equal(cleave__lookup_build(&layout, &lookup, &error), CLEAVE_BAD_ARGUMENT);
}

/* Ranges that name NULL as an end: NULL is a point of its own, whatever they say. */
static void test_null_ends(void **state)
{
    (void)state;
    struct cleave_column column = {
        .name = "w", .type_name = "integer", .type = CLEAVE_TYPE_INTEGER};
    struct cleave_table table = {.name = "a", .column_count = 1, .columns = &column};
    struct cleave_schema schema = {.tables = &table, .table_count = 1};
    struct cleave_value null = {.kind = CLEAVE_NULL};
    struct cleave_exception exceptions[] = {
        {1, {0}, {{null, integer(7), CLEAVE_LOW_OPEN}}, 1},
        {1, {0}, {{null, null, 0}}, 2},
        {1, {0}, {{integer(8), null, CLEAVE_LOW_OPEN | CLEAVE_HIGH_UNBOUNDED}}, 3},
        {1, {0}, {{integer(3), null, CLEAVE_LOW_UNBOUNDED | CLEAVE_HIGH_OPEN}}, 0}};
    struct cleave_key_map map = {0, NULL, NULL, CLEAVE_MAP_NEAREST, 0, NULL};
    struct cleave_table_layout placed = {.exception_count = 4, .exceptions = exceptions};
    struct cleave_layout layout = {&schema, 4, &placed, 1, &map, NULL};
    for (int round = 0; round < 2; round++) {
        struct cleave_lookup *lookup = NULL;
        struct cleave_error error = {0};
        if (cleave__lookup_build(&layout, &lookup, &error) != CLEAVE_OK)
            fail_msg("%s", error.message);
        struct cleave_value rows[] = {integer(-5), integer(7), null, integer(8), integer(9)};
        static const uint32_t want[2][5] = {{1, 1, 2, 0, 3}, {1, 1, 2, 1, 1}};
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(cleave__lookup_row(lookup, 0, &rows[i], 1), want[round][i]);
        cleave__lookup_release(lookup);
        exceptions[0].range[0].flags |= CLEAVE_HIGH_UNBOUNDED; /* everything but NULL */
        placed.exception_count = 2;
    }
}

static bool attempt(void *context)
{
    const char *path = context;
    struct cleave_lookup *lookup = NULL, *opened = NULL;
    struct cleave_error error = {0};
    enum cleave_status status = build_all(&lookup, &error);
    if (status == CLEAVE_OK)
        status = cleave__lookup_write(lookup, path, &error);
    if (status == CLEAVE_OK)
        status = cleave__lookup_open(path, &opened, &error);
    cleave__lookup_release(lookup);
    cleave__lookup_release(opened);
    return status == CLEAVE_OK ||
           ((status == CLEAVE_NO_MEMORY || status == CLEAVE_IO) && error.message[0]);
}

static void test_no_memory(void **state)
{
    (void)state;
    char path[64];
    path_of(path, sizeof path, "memory");
    assert_true(failalloc_run("lookup build, write, open", attempt, path, 1));
    unlink(path);
    assert_int_equal(entries_in_directory(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_wrong_under_right_checksums),
        cmocka_unit_test(test_newer_version),
        cmocka_unit_test(test_not_files),
        cmocka_unit_test(test_whole_or_not),
        cmocka_unit_test(test_layouts_refused),
        cmocka_unit_test(test_null_ends),
        cmocka_unit_test(test_no_memory),
    };
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
