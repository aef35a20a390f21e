/* One reading loop over five packings, chosen by the first bytes of the file, never by its name.
 *
 * Invariants: packed[packed_at, packed_end) is what the decoder has not consumed; text[at, end) is
 * what the caller has not seen. `text` grows only while one line does not fit, to at most the
 * caller's limit and one step more. A line that passes the limit leaves `skipping` set: its rest
 * is thrown away at the start of the next call. Concatenated members (cat a.gz b.gz) are one
 * stream; zero bytes after the last member are padding, other bytes are damage. */
#include "base/input.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_SIZE = 1 << 16, TEXT_SIZE = 1 << 18 };
/* Bounds the decoders' own memory: xz -9 asks for 65 MiB, zstd --long=27 for 128 MiB. */
#define DECODER_MEMORY_MAX (UINT64_C(256) << 20)

enum packing { PLAIN, GZIP, BZIP2, XZ, ZSTD };
static const char *const packing_names[] = {"plain", "gzip", "bzip2", "xz", "zstd"};

struct cleave_input {
    char *path;
    int descriptor;
    bool owned; /* the descriptor is ours to close */
    enum packing packing;
    bool file_ended;   /* read() gave 0 */
    bool stream_ended; /* nothing more will be decoded */
    bool member_open;  /* a member has begun and not ended */
    bool skipping;
    uint64_t packed_bytes, unpacked_bytes, line_number;
    unsigned char *packed;
    size_t packed_at, packed_end;
    char *text;
    size_t at, end, capacity;
    union {
        z_stream zlib;
        bz_stream bzip2;
        lzma_stream xz;
        ZSTD_DStream *zstd;
    } decoder;
    bool decoder_live;
};

static enum cleave_status refill(struct cleave_input *input, struct cleave_error *error)
{
    if (input->packed_at > 0 && input->packed_at == input->packed_end)
        input->packed_at = input->packed_end = 0;
    if (input->packed_end == PACKED_SIZE || input->file_ended)
        return CLEAVE_OK;
    for (;;) {
        ssize_t got = read(input->descriptor, input->packed + input->packed_end,
                           PACKED_SIZE - input->packed_end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cleave_error_set(error, CLEAVE_IO, "%s: cannot read: %s", input->path,
                                    strerror(errno));
        if (got == 0)
            input->file_ended = true;
        input->packed_end += (size_t)got;
        input->packed_bytes += (uint64_t)got;
        return CLEAVE_OK;
    }
}

static enum packing packing_of(const unsigned char *bytes, size_t count)
{
    if (count >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8)
        return GZIP;
    if (count >= 4 && memcmp(bytes, "BZh", 3) == 0 && bytes[3] >= '1' && bytes[3] <= '9')
        return BZIP2;
    if (count >= 6 && memcmp(bytes, "\xfd\x37zXZ\0", 6) == 0)
        return XZ;
    if (count >= 4 && memcmp(bytes + 1, "\xb5\x2f\xfd", 3) == 0 && bytes[0] == 0x28)
        return ZSTD;
    if (count >= 4 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0 && (bytes[0] & 0xf0) == 0x50)
        return ZSTD; /* a skippable frame first */
    return PLAIN;
}

/* Begins the first or a following member. */
static bool decoder_start(struct cleave_input *input)
{
    switch (input->packing) {
    case PLAIN:
        break;
    case GZIP:
        if (input->decoder_live)
            return inflateReset(&input->decoder.zlib) == Z_OK;
        memset(&input->decoder.zlib, 0, sizeof input->decoder.zlib);
        if (inflateInit2(&input->decoder.zlib, 15 + 16) != Z_OK)
            return false;
        break;
    case BZIP2:
        if (input->decoder_live) {
            BZ2_bzDecompressEnd(&input->decoder.bzip2);
            input->decoder_live = false;
        }
        memset(&input->decoder.bzip2, 0, sizeof input->decoder.bzip2);
        if (BZ2_bzDecompressInit(&input->decoder.bzip2, 0, 0) != BZ_OK)
            return false;
        break;
    case XZ:
        if (input->decoder_live)
            return true;
        input->decoder.xz = (lzma_stream)LZMA_STREAM_INIT;
        if (lzma_stream_decoder(&input->decoder.xz, DECODER_MEMORY_MAX, LZMA_CONCATENATED) !=
            LZMA_OK)
            return false;
        break;
    case ZSTD:
        if (input->decoder_live)
            return true;
        input->decoder.zstd = ZSTD_createDStream();
        if (!input->decoder.zstd)
            return false;
        break;
    }
    input->decoder_live = true;
    return true;
}

static void decoder_stop(struct cleave_input *input)
{
    if (!input->decoder_live)
        return;
    input->decoder_live = false;
    switch (input->packing) {
    case PLAIN:
        break;
    case GZIP:
        inflateEnd(&input->decoder.zlib);
        break;
    case BZIP2:
        BZ2_bzDecompressEnd(&input->decoder.bzip2);
        break;
    case XZ:
        lzma_end(&input->decoder.xz);
        break;
    case ZSTD:
        ZSTD_freeDStream(input->decoder.zstd);
        break;
    }
}

static enum cleave_status damaged(const struct cleave_input *input, const char *why,
                                  struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_CORRUPT, "%s: damaged %s data: %s", input->path,
                            packing_names[input->packing], why);
}

static enum cleave_status out_of_memory(const struct cleave_input *input,
                                        struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory while reading",
                            input->path);
}

/* One decoder step: consumes packed bytes, fills `out`; sets member_open. */
static enum cleave_status decode_step(struct cleave_input *input, char *out, size_t size,
                                      size_t *got, struct cleave_error *error)
{
    unsigned char *in = input->packed + input->packed_at;
    size_t in_size = input->packed_end - input->packed_at;
    unsigned piece = size > 1 << 30 ? 1 << 30 : (unsigned)size;
    *got = 0;
    switch (input->packing) {
    case PLAIN: {
        size_t count = in_size < size ? in_size : size;
        memcpy(out, in, count);
        input->packed_at += count;
        *got = count;
        return CLEAVE_OK;
    }
    case GZIP: {
        z_stream *z = &input->decoder.zlib;
        z->next_in = in;
        z->avail_in = (unsigned)in_size;
        z->next_out = (unsigned char *)out;
        z->avail_out = piece;
        int code = inflate(z, Z_NO_FLUSH);
        input->packed_at += in_size - z->avail_in;
        *got = piece - z->avail_out;
        if (code == Z_STREAM_END)
            input->member_open = false;
        else if (code == Z_MEM_ERROR)
            return out_of_memory(input, error);
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return damaged(input, z->msg ? z->msg : "bad stream", error);
        return CLEAVE_OK;
    }
    case BZIP2: {
        bz_stream *b = &input->decoder.bzip2;
        b->next_in = (char *)in;
        b->avail_in = (unsigned)in_size;
        b->next_out = out;
        b->avail_out = piece;
        int code = BZ2_bzDecompress(b);
        input->packed_at += in_size - b->avail_in;
        *got = piece - b->avail_out;
        if (code == BZ_STREAM_END)
            input->member_open = false;
        else if (code == BZ_MEM_ERROR)
            return out_of_memory(input, error);
        else if (code != BZ_OK)
            return damaged(input, "bad block or checksum", error);
        return CLEAVE_OK;
    }
    case XZ: {
        lzma_stream *x = &input->decoder.xz;
        x->next_in = in;
        x->avail_in = in_size;
        x->next_out = (unsigned char *)out;
        x->avail_out = size;
        lzma_ret code = lzma_code(x, input->file_ended ? LZMA_FINISH : LZMA_RUN);
        input->packed_at += in_size - x->avail_in;
        *got = size - x->avail_out;
        if (code == LZMA_STREAM_END) {
            input->member_open = false;
            input->stream_ended = true;
        } else if (code == LZMA_MEM_ERROR) {
            return out_of_memory(input, error);
        } else if (code == LZMA_MEMLIMIT_ERROR) {
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "%s: unpacking needs more than %d MiB; repack it with a "
                                    "smaller dictionary",
                                    input->path, (int)(DECODER_MEMORY_MAX >> 20));
        } else if (code != LZMA_OK && code != LZMA_BUF_ERROR) {
            return damaged(input, "bad block or checksum", error);
        }
        return CLEAVE_OK;
    }
    case ZSTD: {
        ZSTD_inBuffer from = {in, in_size, 0};
        ZSTD_outBuffer to = {out, size, 0};
        size_t code = ZSTD_decompressStream(input->decoder.zstd, &to, &from);
        input->packed_at += from.pos;
        *got = to.pos;
        if (ZSTD_isError(code))
            return damaged(input, ZSTD_getErrorName(code), error);
        input->member_open = code != 0;
        return CLEAVE_OK;
    }
    }
    return CLEAVE_OK;
}

/* What follows a finished member: padding, another member, or damage. */
static enum cleave_status next_member(struct cleave_input *input, struct cleave_error *error)
{
    while (input->packed_at < input->packed_end && input->packed[input->packed_at] == 0)
        input->packed_at++;
    if (input->packed_at == input->packed_end)
        return CLEAVE_OK;
    input->member_open = true;
    if (!decoder_start(input))
        return out_of_memory(input, error);
    return CLEAVE_OK;
}

enum cleave_status cleave__input_read(struct cleave_input *input, void *buffer, size_t size,
                                      size_t *got, struct cleave_error *error)
{
    while (!input->stream_ended && size) {
        enum cleave_status status = CLEAVE_OK;
        if (input->packed_at == input->packed_end)
            status = refill(input, error);
        if (!status && !input->member_open && input->packing != XZ)
            status = next_member(input, error);
        size_t count = 0;
        bool waiting = !input->member_open && input->packed_at == input->packed_end;
        if (!status && !waiting)
            status = decode_step(input, buffer, size, &count, error);
        if (status)
            return status;
        if (count) {
            input->unpacked_bytes += count;
            *got = count;
            return CLEAVE_OK;
        }
        if (input->file_ended && input->packed_at == input->packed_end && !input->stream_ended) {
            if (input->member_open && input->packing != PLAIN)
                return damaged(input, "it ends too early (a truncated file?)", error);
            input->stream_ended = true;
        }
    }
    *got = 0;
    return CLEAVE_OK;
}

enum cleave_status cleave__input_open(const char *path, struct cleave_input **out,
                                      struct cleave_error *error)
{
    if (!*path)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "the name of a file to read is empty");
    struct cleave_input *input = calloc(1, sizeof *input);
    if (!input)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", path);
    bool standard = strcmp(path, "-") == 0;
    input->descriptor = -1;
    input->path = strdup(standard ? "standard input" : path);
    input->packed = malloc(PACKED_SIZE);
    input->text = malloc(TEXT_SIZE);
    input->capacity = TEXT_SIZE;
    enum cleave_status status = CLEAVE_OK;
    struct stat about;
    if (!input->path || !input->packed || !input->text) {
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", path);
    } else {
        input->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        input->owned = !standard && input->descriptor >= 0;
        if (input->descriptor < 0)
            status = cleave_error_set(error, errno == ENOENT ? CLEAVE_NOT_FOUND : CLEAVE_IO,
                                      "%s: cannot open: %s", path, strerror(errno));
        else if (fstat(input->descriptor, &about) == 0 && S_ISDIR(about.st_mode))
            status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                      "%s: is a directory; name the files in it", path);
    }
    /* Enough bytes to tell the packing: a pipe may give them one at a time. */
    while (!status && input->packed_end < 6 && !input->file_ended)
        status = refill(input, error);
    if (!status) {
        input->packing = packing_of(input->packed, input->packed_end);
        input->member_open = true;
        if (!decoder_start(input))
            status = out_of_memory(input, error);
    }
    if (status) {
        cleave__input_close(input);
        return status;
    }
    *out = input;
    return CLEAVE_OK;
}

/* Throws away the rest of a line that was too long. */
static enum cleave_status skip_line(struct cleave_input *input, struct cleave_error *error)
{
    while (input->skipping) {
        char *newline = memchr(input->text + input->at, '\n', input->end - input->at);
        if (newline) {
            input->at = (size_t)(newline - input->text) + 1;
            input->skipping = false;
            break;
        }
        size_t got = 0;
        enum cleave_status status =
            cleave__input_read(input, input->text, input->capacity, &got, error);
        if (status)
            return status;
        input->at = 0;
        input->end = got;
        if (!got)
            input->skipping = false;
    }
    return CLEAVE_OK;
}

/* Room for more text behind `end`: moves the tail to the front, or grows. */
static bool make_room(struct cleave_input *input)
{
    if (input->at > 0) {
        memmove(input->text, input->text + input->at, input->end - input->at);
        input->end -= input->at;
        input->at = 0;
    }
    if (input->end < input->capacity / 2)
        return true;
    if (input->capacity > SIZE_MAX / 4)
        return false;
    char *grown = realloc(input->text, input->capacity * 2);
    if (!grown)
        return false;
    input->text = grown;
    input->capacity *= 2;
    return true;
}

enum cleave_status cleave__input_line(struct cleave_input *input, size_t limit, const char **line,
                                      size_t *length, struct cleave_error *error)
{
    enum cleave_status status = skip_line(input, error);
    if (status)
        return status;
    size_t scanned = 0; /* bytes from `at` known to hold no newline */
    for (;;) {
        char *start = input->text + input->at;
        size_t held = input->end - input->at;
        char *newline = memchr(start + scanned, '\n', held - scanned);
        size_t bytes = newline ? (size_t)(newline - start) : held;
        size_t body = newline && bytes && start[bytes - 1] == '\r' ? bytes - 1 : bytes;
        if (body > limit && (newline || body > limit + 1)) {
            input->at += newline ? bytes + 1 : bytes;
            input->skipping = !newline;
            input->line_number++;
            *line = start;
            *length = limit;
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "%s:%llu: a line longer than %zu bytes; it is passed over",
                                    input->path, (unsigned long long)input->line_number, limit);
        }
        if (newline) {
            input->at += bytes + 1;
            input->line_number++;
            *line = start;
            *length = body;
            return CLEAVE_OK;
        }
        scanned = held;
        size_t got = 0;
        if (!make_room(input))
            return out_of_memory(input, error);
        status = cleave__input_read(input, input->text + input->end, input->capacity - input->end,
                                    &got, error);
        if (status)
            return status;
        input->end += got;
        if (got)
            continue;
        start = input->text + input->at;
        if (held == 0)
            return cleave_error_set(error, CLEAVE_END, "%s: end of input", input->path);
        input->at = input->end;
        input->line_number++;
        *line = start;
        *length = held > limit ? limit : held;
        if (held > limit)
            return cleave_error_set(error, CLEAVE_LIMIT,
                                    "%s:%llu: a line longer than %zu bytes; it is passed over",
                                    input->path, (unsigned long long)input->line_number, limit);
        return CLEAVE_OK;
    }
}

enum cleave_status cleave__input_slurp(const char *path, size_t limit, char **out, size_t *length,
                                       struct cleave_error *error)
{
    struct cleave_input *input = NULL;
    enum cleave_status status = cleave__input_open(path, &input, error);
    if (status)
        return status;
    size_t used = 0, capacity = TEXT_SIZE;
    char *bytes = malloc(capacity + 1);
    if (!bytes)
        status = out_of_memory(input, error);
    while (!status) {
        if (used == capacity) {
            char *grown = capacity > SIZE_MAX / 4 ? NULL : realloc(bytes, capacity * 2 + 1);
            if (!grown) {
                status = out_of_memory(input, error);
                break;
            }
            bytes = grown;
            capacity *= 2;
        }
        size_t got = 0;
        status = cleave__input_read(input, bytes + used, capacity - used, &got, error);
        if (status || !got)
            break;
        used += got;
        if (used > limit)
            status = cleave_error_set(error, CLEAVE_LIMIT, "%s: larger than %zu bytes", input->path,
                                      limit);
    }
    cleave__input_close(input);
    if (status) {
        free(bytes);
        return status;
    }
    bytes[used] = 0;
    *out = bytes;
    *length = used;
    return CLEAVE_OK;
}

uint64_t cleave__input_line_number(const struct cleave_input *input)
{
    return input->line_number;
}

uint64_t cleave__input_packed_bytes(const struct cleave_input *input)
{
    return input->packed_bytes;
}

uint64_t cleave__input_bytes(const struct cleave_input *input)
{
    return input->unpacked_bytes - (input->end - input->at);
}

int cleave__input_waits(const struct cleave_input *input)
{
    bool at_hand = input->stream_ended || input->file_ended || input->packed_at < input->packed_end;
    return at_hand ? -1 : input->descriptor;
}

void cleave__input_close(struct cleave_input *input)
{
    if (!input)
        return;
    decoder_stop(input);
    if (input->owned)
        close(input->descriptor);
    free(input->path);
    free(input->packed);
    free(input->text);
    free(input);
}
