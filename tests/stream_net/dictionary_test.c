/* Words of a world behind a server: whatever their lengths and bytes, two publishers number them
 * alike, and who comes later reads them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/nats/bucket.h"
#include "stream/net/dictionary.h"
#include "support/nats_server.h"

enum { CHUNK_BYTES = 32 << 10, LENGTHS = 48, WORD_BYTES = 64 };

static struct nats_server server;

/* Words of one length, some with bytes that JSON escapes. */
struct words {
    size_t length;
    bool odd;
    uint64_t seen;
    char text[WORD_BYTES];
};

static const char *word_of(void *context, uint64_t number, size_t *length)
{
    static const char odd[] = {'\0', '"', '\\', '\n', '\x01', 'a'};
    struct words *w = context;
    for (size_t i = 0; i < w->length; i++) {
        w->text[i] = w->odd ? odd[number % sizeof odd] : (char)('a' + number % 26);
        number /= w->odd ? sizeof odd : 26;
    }
    *length = w->length;
    return w->text;
}

static enum cleave_status each(void *context, const char *word, size_t length,
                               struct cleave_error *error)
{
    struct words *w = context;
    size_t wanted;
    const char *text = word_of(w, w->seen++, &wanted);
    return length == wanted && !memcmp(text, word, length)
               ? CLEAVE_OK
               : cleave_error_set(error, CLEAVE_CORRUPT, "word %llu is another",
                                  (unsigned long long)w->seen - 1);
}

/* Chunks fill up to every length around the full one. */
static void every_length(void **state)
{
    (void)state;
    struct cleave_nats_options world = nats_server_world(&server);
    struct cleave__bucket *bucket = NULL;
    struct cleave_error error = {.message = ""};
    assert_int_equal(cleave__bucket_open(&world, "world", true, &bucket, &error), CLEAVE_OK);
    for (size_t i = 0; i < 2 * LENGTHS; i++) {
        char kind[20];
        struct words w = {.length = 1 + i / 2, .odd = i % 2};
        size_t full = i % 4 < 2 ? CHUNK_BYTES : 1536; /* of a server that takes 4 KiB */
        uint64_t count = full / (w.length + 3) + 20, half = count - 30;
        snprintf(kind, sizeof kind, "kind%zu", i);
        struct cleave__dictionary one = {.bucket = bucket, .kind = kind, .full = full}, two = one,
                                  late = one;
        assert_int_equal(cleave__dictionary_add(&one, half, word_of, &w, &error), CLEAVE_OK);
        assert_int_equal(cleave__dictionary_add(&two, 1, word_of, &w, &error), CLEAVE_CONFLICT);
        assert_int_equal(cleave__dictionary_read(&two, each, &w, &error), CLEAVE_OK);
        assert_int_equal(w.seen, half);
        assert_int_equal(cleave__dictionary_add(&two, count, word_of, &w, &error), CLEAVE_OK);
        w.seen = 0;
        if (cleave__dictionary_read(&late, each, &w, &error))
            fail_msg("length %zu: %s", w.length, error.message);
        assert_int_equal(w.seen, count);
        cleave__dictionary_free(&one);
        cleave__dictionary_free(&two);
        cleave__dictionary_free(&late);
    }
    cleave__bucket_close(bucket);
}

static int set_up(void **state)
{
    (void)state;
    return nats_server_start(&server) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    nats_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length)};
    if (!nats_server_installed())
        return 77;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
