/* Names, writes, and an old placement carried over by name. */
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/input.h"
#include "base/output.h"
#include "base/vector.h"
#include "cli/tables_hypergraph.h"
#include "model/numbers.h"
#include "place/carry.h"
#include "tables/shape/tally_name.h"

enum { NAME_MAX_BYTES = 1 << 26, BLOCK_MAX = 1 << 20 };

enum cleave_status cleave__hypergraph_write_names(const struct cleave_tally *tally,
                                                  const char *path, struct cleave_error *error)
{
    struct cleave__output output;
    struct cleave_name name = {0};
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    for (uint32_t v = 0; !status && v < tally->vertices.count; v++) {
        if (cleave__tally_name(tally, v, &name)) {
            name.text.data[name.text.count] = '\n';
            fwrite(name.text.data, 1, name.text.count + 1, output.file);
        } else {
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a name");
        }
    }
    CLEAVE_VECTOR_FREE(&name.text);
    if (!status)
        return cleave__output_commit(&output, error);
    cleave__output_abandon(&output);
    return status;
}

enum cleave_status cleave__hypergraph_write_writes(const struct cleave_tally *tally,
                                                   const bool *copied, const char *path,
                                                   struct cleave_error *error)
{
    struct cleave__output output;
    enum cleave_status status = cleave__output_open(&output, path, error);
    if (status)
        return status;
    for (uint32_t v = 0; v < tally->vertices.count; v++) {
        if (copied && !copied[tally->vertices.data[v].table])
            fputs("-1\n", output.file);
        else
            fprintf(output.file, "%" PRIu64 "\n", tally->writes[v]);
    }
    return cleave__output_commit(&output, error);
}

/* ---- carrying over ---- */

/* Old names by a 64-bit hash: two of some millions share one with odds of a millionth, and then the
 * file is refused as if it repeated a name. */
struct old {
    uint64_t *hashes;
    uint32_t *blocks; /* CLEAVE_NO_BLOCK: an empty slot */
    uint64_t mask;
    uint64_t count;
    uint32_t most; /* highest block + 1 */
};

static void old_free(struct old *old)
{
    free(old->hashes);
    free(old->blocks);
}

static uint64_t old_slot(const struct old *old, uint64_t hash)
{
    uint64_t at = hash & old->mask;
    while (old->blocks[at] != CLEAVE_NO_BLOCK && old->hashes[at] != hash)
        at = (at + 1) & old->mask;
    return at;
}

static bool old_grow(struct old *old)
{
    struct old grown = *old;
    uint64_t size = old->hashes ? (old->mask + 1) * 2 : 1024;
    grown.mask = size - 1;
    grown.hashes = malloc(size * sizeof *grown.hashes);
    grown.blocks = malloc(size * sizeof *grown.blocks);
    if (!grown.hashes || !grown.blocks) {
        old_free(&grown);
        return false;
    }
    for (uint64_t i = 0; i < size; i++)
        grown.blocks[i] = CLEAVE_NO_BLOCK;
    for (uint64_t i = 0; old->hashes && i <= old->mask; i++) {
        if (old->blocks[i] == CLEAVE_NO_BLOCK)
            continue;
        uint64_t at = old_slot(&grown, old->hashes[i]);
        grown.hashes[at] = old->hashes[i];
        grown.blocks[at] = old->blocks[i];
    }
    old_free(old);
    *old = grown;
    return true;
}

static enum cleave_status old_line(struct old *old, struct cleave_input *names,
                                   struct cleave__numbers *blocks, const char *path,
                                   struct cleave_error *error)
{
    const char *line;
    size_t length;
    int64_t block = 0;
    enum cleave_status status = cleave__input_line(names, NAME_MAX_BYTES, &line, &length, error);
    if (status == CLEAVE_END) {
        status = cleave__numbers_line(blocks, error);
        return status ? status
                      : cleave__numbers_fail(blocks, error, "more blocks than names in %s", path);
    }
    if (status)
        return status;
    status = cleave__numbers_line(blocks, error);
    if (status == CLEAVE_END)
        return cleave__numbers_fail(blocks, error, "fewer blocks than names in %s", path);
    if (!status)
        status = cleave__numbers_next(blocks, "block", 0, BLOCK_MAX, &block, error);
    if (!status && !cleave__numbers_done(blocks))
        status = cleave__numbers_fail(blocks, error, "more than one number on the line");
    if (status)
        return status;
    if ((!old->hashes || old->count + 1 > (old->mask + 1) / 2) && !old_grow(old))
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the names of %s", path);
    uint64_t hash = XXH3_64bits(line, length), at = old_slot(old, hash);
    if (old->blocks[at] != CLEAVE_NO_BLOCK)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s:%" PRIu64 ": repeats an earlier name",
                                path, cleave__input_line_number(names));
    old->hashes[at] = hash;
    old->blocks[at] = (uint32_t)block;
    old->count++;
    if (old->most <= (uint32_t)block)
        old->most = (uint32_t)block + 1;
    return CLEAVE_OK;
}

static enum cleave_status read_old(const char *names, const char *blocks, struct old *old,
                                   struct cleave_error *error)
{
    struct cleave_input *input;
    struct cleave__numbers numbers;
    enum cleave_status status = cleave__input_open(names, &input, error);
    if (status)
        return status;
    status = cleave__numbers_open(&numbers, blocks, error);
    if (!status) {
        while (!(status = old_line(old, input, &numbers, names, error)))
            ;
        cleave__numbers_close(&numbers);
    }
    cleave__input_close(input);
    if (status == CLEAVE_END)
        status = old->count ? CLEAVE_OK
                            : cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: no names", names);
    return status;
}

static enum cleave_status match(const struct cleave_tally *tally, const struct cleave_hypergraph *h,
                                const struct old *old, uint32_t *block, struct cleave_carried *out,
                                struct cleave_error *error)
{
    struct cleave_name name = {0};
    *out = (struct cleave_carried){.blocks = old->most};
    for (uint32_t v = 0; v < h->vertices; v++) {
        if (!cleave__tally_name(tally, v, &name)) {
            CLEAVE_VECTOR_FREE(&name.text);
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a name");
        }
        int64_t weight = h->vertex_weight[(size_t)v * h->weights];
        block[v] = old->blocks[old_slot(old, XXH3_64bits(name.text.data, name.text.count))];
        if (block[v] == CLEAVE_NO_BLOCK) {
            out->fresh++;
            out->fresh_weight += weight;
        } else {
            out->kept++;
            out->kept_weight += weight;
        }
    }
    out->gone = old->count - out->kept;
    CLEAVE_VECTOR_FREE(&name.text);
    return CLEAVE_OK;
}

enum cleave_status cleave__hypergraph_write_start(const struct cleave_tally *tally,
                                                  const struct cleave_hypergraph *h,
                                                  const char *names, const char *blocks,
                                                  const char *path, struct cleave_carried *out,
                                                  struct cleave_error *error)
{
    struct old old = {0};
    struct cleave__output output;
    uint32_t *block = malloc(((size_t)h->vertices + 1) * sizeof *block);
    enum cleave_status status =
        block ? CLEAVE_OK : cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the start");
    if (!status)
        status = read_old(names, blocks, &old, error);
    if (!status)
        status = match(tally, h, &old, block, out, error);
    if (!status)
        status = cleave__carry_complete(h, old.most, block, error);
    if (!status)
        status = cleave__output_open(&output, path, error);
    if (!status) {
        for (uint32_t v = 0; v < h->vertices; v++)
            fprintf(output.file, "%" PRIu32 "\n", block[v]);
        status = cleave__output_commit(&output, error);
    }
    old_free(&old);
    free(block);
    return status;
}
