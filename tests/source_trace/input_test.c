/* Input: every packing, whole, cut short, joined and with noise behind it. */
#include <bzlib.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/input.h"
#include "trace_text.h"

enum { TEXT = 700000, ROOM = 1 << 20 };

static char text[TEXT];
static unsigned char packed[2 * ROOM];

static void make_text(void)
{
    for (size_t i = 0; i < TEXT; i++)
        text[i] = i % 61 == 60 ? '\n' : (char)('a' + (i * i >> 7) % 26);
}

enum { PLAIN, GZIP, BZIP2, XZ, ZSTD, PACKINGS };

static size_t pack(int packing, unsigned char *to)
{
    switch (packing) {
    case GZIP: {
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (unsigned char *)text;
        z.avail_in = TEXT;
        z.next_out = to;
        z.avail_out = ROOM;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        size_t size = z.total_out;
        deflateEnd(&z);
        return size;
    }
    case BZIP2: {
        unsigned size = ROOM;
        assert_int_equal(BZ2_bzBuffToBuffCompress((char *)to, &size, text, TEXT, 1, 0, 0), BZ_OK);
        return size;
    }
    case XZ: {
        size_t size = 0;
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (uint8_t *)text, TEXT,
                                                 to, &size, ROOM),
                         LZMA_OK);
        return size;
    }
    case ZSTD: {
        ZSTD_CCtx *context = ZSTD_createCCtx();
        assert_non_null(context);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        size_t size = ZSTD_compress2(context, to, ROOM, text, TEXT);
        assert_false(ZSTD_isError(size));
        ZSTD_freeCCtx(context);
        return size;
    }
    default:
        memcpy(to, text, TEXT);
        return TEXT;
    }
}

/* Reads the file whole; its status, and whether what came is `copies` times the text. */
static enum cleave_status read_whole(const unsigned char *bytes, size_t size, size_t copies)
{
    char *name = trace_text_file(bytes, size), *got = NULL;
    size_t length = 0;
    struct cleave_error error = {0};
    enum cleave_status status = cleave__input_slurp(name, 1 << 24, &got, &length, &error);
    if (status == CLEAVE_OK) {
        assert_int_equal(length, copies * TEXT);
        for (size_t i = 0; i < copies; i++)
            assert_memory_equal(got + i * TEXT, text, TEXT);
        free(got);
    } else {
        assert_non_null(strstr(error.message, name));
    }
    unlink(name);
    free(name);
    return status;
}

static void packings(void **state)
{
    (void)state;
    for (int packing = 0; packing < PACKINGS; packing++) {
        size_t size = pack(packing, packed);
        assert_int_equal(read_whole(packed, size, 1), CLEAVE_OK);
        memcpy(packed + size, packed, size);
        assert_int_equal(read_whole(packed, 2 * size, 2), CLEAVE_OK);
        if (packing == PLAIN)
            continue;
        memset(packed + size, 0, 512); /* padding, as tar and tapes leave it */
        assert_int_equal(read_whole(packed, size + 512, 1), CLEAVE_OK);
        memset(packed + size, 'x', 512);
        assert_int_equal(read_whole(packed, size + 512, 1), CLEAVE_CORRUPT);
        for (size_t cut = 7; cut < size; cut += size / 13 + 1)
            assert_int_equal(read_whole(packed, cut, 1), CLEAVE_CORRUPT);
        assert_int_equal(read_whole(packed, size - 1, 1), CLEAVE_CORRUPT);
        packed[size / 2] ^= 0x10;
        assert_int_equal(read_whole(packed, size, 1), CLEAVE_CORRUPT);
    }
}

static void lines(void **state)
{
    (void)state;
    static const char bytes[] = "one\r\n\ntoo long\nthree\r\nlonger than that\nend";
    char *name = trace_text_file(bytes, sizeof bytes - 1);
    struct cleave_input *input = NULL;
    const char *line = NULL;
    size_t length = 0;
    assert_int_equal(cleave__input_open(name, &input, NULL), CLEAVE_OK);
    static const struct {
        enum cleave_status status;
        const char *line;
    } expected[] = {
        {CLEAVE_OK, "one"},   {CLEAVE_OK, ""},         {CLEAVE_LIMIT, "too l"},
        {CLEAVE_OK, "three"}, {CLEAVE_LIMIT, "longe"}, {CLEAVE_OK, "end"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(cleave__input_line(input, 5, &line, &length, NULL), expected[i].status);
        assert_int_equal(length, strlen(expected[i].line));
        assert_memory_equal(line, expected[i].line, length);
        assert_int_equal(cleave__input_line_number(input), i + 1);
    }
    assert_int_equal(cleave__input_line(input, 5, &line, &length, NULL), CLEAVE_END);
    assert_int_equal(cleave__input_bytes(input), sizeof bytes - 1);
    assert_int_equal(cleave__input_packed_bytes(input), sizeof bytes - 1);
    cleave__input_close(input);
    unlink(name);
    free(name);
}

static void limits(void **state)
{
    (void)state;
    char *name = trace_text_file("12345", 5), *got = NULL;
    size_t length = 0;
    assert_int_equal(cleave__input_slurp(name, 5, &got, &length, NULL), CLEAVE_OK);
    assert_string_equal(got, "12345");
    free(got);
    assert_int_equal(cleave__input_slurp(name, 4, &got, &length, NULL), CLEAVE_LIMIT);
    unlink(name);
    free(name);
}

int main(void)
{
    make_text();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packings),
        cmocka_unit_test(lines),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
