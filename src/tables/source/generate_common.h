/* What the benchmark generators share: options, scripts of statements, contents by hashing.
 *
 * A database is never held: every cell is a function of (seed, key), so that a transaction can
 * know "the customer in the middle of those named BARBARBAR" without storing customers. Only
 * integer arithmetic decides anything, so that one seed gives the same bytes on every machine. */
#ifndef CLEAVE_TABLES_SOURCE_GENERATE_COMMON_H
#define CLEAVE_TABLES_SOURCE_GENERATE_COMMON_H

#include "base/random.h"
#include "base/vector.h"
#include "tables/source/generate.h"

/* ---- statements of one transaction ---- */

/* `failed` is set when memory runs out and stays set until the next reset. */
struct cleave_draft {
    CLEAVE_VECTOR(char) text; /* statements one after the other, each with its NUL */
    CLEAVE_VECTOR(size_t) starts;
    CLEAVE_VECTOR(struct cleave_trace_statement) statements;
    bool failed;
};

void cleave__draft_reset(struct cleave_draft *script);
void cleave__draft_free(struct cleave_draft *script);
/* One whole statement. */
void cleave__draft_say(struct cleave_draft *script, const char *format, ...) CLEAVE_PRINTF(2, 3);
/* A statement in pieces: open, add as often as needed, close. */
void cleave__draft_open(struct cleave_draft *script);
void cleave__draft_add(struct cleave_draft *script, const char *format, ...) CLEAVE_PRINTF(2, 3);
void cleave__draft_close(struct cleave_draft *script);
/* Points `statements` at the text; call once, after the last statement. False: out of memory. */
bool cleave__draft_finish(struct cleave_draft *script);

/* ---- contents by hashing ---- */

/* A stable number for a cell: `tag` tells columns apart, a, b, c, d are its key. */
uint64_t cleave__content(uint64_t seed, uint32_t tag, uint64_t a, uint64_t b, uint64_t c,
                         uint64_t d);
/* A hash scaled to [0, bound); bound < 2^32. */
uint32_t cleave__content_below(uint64_t hash, uint32_t bound);
/* low..high letters of a-z and a NUL; `out` has room for high + 1. */
void cleave__content_letters(uint64_t hash, uint32_t low, uint32_t high, char *out);
/* `length` digits and a NUL. */
void cleave__content_digits(uint64_t hash, uint32_t length, char *out);
/* Readable filler: short words, low..high bytes and a NUL. */
void cleave__content_words(uint64_t hash, uint32_t low, uint32_t high, char *out);
/* 2026-01-01 plus so many milliseconds (may be negative), as PostgreSQL prints a timestamp:
 * "2026-01-01 00:00:01.5". */
enum { CLEAVE_STAMP_BYTES = 40 };
void cleave__content_stamp(int64_t milliseconds, char out[CLEAVE_STAMP_BYTES]);

/* A bijection of [0, count), a function of its key: a Feistel network with cycle walking. */
struct cleave_permutation {
    uint64_t key;
    uint32_t count, half_bits;
};
struct cleave_permutation cleave__permutation(uint64_t key, uint32_t count); /* count >= 1 */
uint32_t cleave__permutation_at(const struct cleave_permutation *permutation, uint32_t index);
uint32_t cleave__permutation_find(const struct cleave_permutation *permutation, uint32_t value);

/* ---- draws ---- */

/* Cards of kinds 0..n-1, weight[i] of each, shuffled anew after the last: over any whole number of
 * decks the mix is exact. */
struct cleave_deck {
    uint32_t *cards;
    uint32_t count, next;
};
bool cleave__deck_init(struct cleave_deck *deck, const uint32_t *weights, uint32_t kinds);
uint32_t cleave__deck_draw(struct cleave_deck *deck, struct cleave_random *random);
void cleave__deck_free(struct cleave_deck *deck);

/* What has changed since the initial database: key -> number. Starts as all zeroes. */
struct cleave_change_map {
    struct cleave_change *slots;
    size_t count, mask;
};
/* NULL when the key was never set. */
const uint32_t *cleave__change_find(const struct cleave_change_map *map, uint64_t key);
bool cleave__change_set(struct cleave_change_map *map, uint64_t key, uint32_t value);
void cleave__change_free(struct cleave_change_map *map);

/* ---- rows ---- */

enum { CLEAVE_ROW_COLUMNS = 40, CLEAVE_ROW_BYTES = 4096 };

struct cleave_row_writer {
    struct cleave_generated_row row;
    const struct cleave_schema *schema;
    enum cleave_status (*each)(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error);
    void *context;
    struct cleave_error *error;
    size_t used;
    const char *values[CLEAVE_ROW_COLUMNS];
    char text[CLEAVE_ROW_BYTES];
};

void cleave__row_table(struct cleave_row_writer *writer, const char *name);
void cleave__row_add(struct cleave_row_writer *writer, const char *format, ...) CLEAVE_PRINTF(2, 3);
void cleave__row_null(struct cleave_row_writer *writer);
enum cleave_status cleave__row_send(struct cleave_row_writer *writer);

/* ---- a benchmark ---- */

struct cleave_generator {
    const struct cleave_generate_ops *ops;
    struct cleave_schema *schema;
    struct cleave_random random;
    struct cleave_draft script;
    uint64_t seed;
    char session[40];
    bool failed; /* memory ran out half way through a transaction: the stream cannot go on */
    void *state;
};

struct cleave_benchmark_options {
    const char *benchmark;
    const struct cleave_benchmark_option *options;
    uint32_t count;
};

struct cleave_generate_ops {
    struct cleave_benchmark benchmark;
    const char *ddl;
    /* Sets generator->state; on error leaves nothing behind. */
    enum cleave_status (*create)(struct cleave_generator *generator,
                                 const struct cleave_benchmark_options *options,
                                 struct cleave_error *error);
    /* Fills rows, widths and statistics of generator->schema. False: out of memory. */
    bool (*sizes)(struct cleave_generator *generator);
    /* Writes one transaction to generator->script and generator->session; yields its kind, or NULL
     * when memory is out. */
    const char *(*next)(struct cleave_generator *generator);
    enum cleave_status (*rows)(const struct cleave_generator *generator,
                               struct cleave_row_writer *writer);
    void (*destroy)(void *state);
};

extern const struct cleave_generate_ops cleave__generate_tpcc;
extern const struct cleave_generate_ops cleave__generate_tatp;
extern const struct cleave_generate_ops cleave__generate_epinions;

/* Option readers: the value stays untouched when the option is not given. */
enum cleave_status cleave__generator_option_integer(const struct cleave_benchmark_options *options,
                                                    const char *name, uint32_t low, uint32_t high,
                                                    uint32_t *value, struct cleave_error *error);
/* `choices` is NULL-terminated; *value becomes the index. */
enum cleave_status cleave__generator_option_choice(const struct cleave_benchmark_options *options,
                                                   const char *name, const char *const *choices,
                                                   uint32_t *value, struct cleave_error *error);
/* "45/43/4/4/4": `kinds` weights, not all 0, whose sum is at most 10,000. */
enum cleave_status cleave__generator_option_weights(const struct cleave_benchmark_options *options,
                                                    const char *name, uint32_t kinds,
                                                    uint32_t *weights, struct cleave_error *error);

/* Sizes and statistics of one table, by name. */
void cleave__size_table(struct cleave_schema *schema, const char *table, double rows,
                        double row_bytes);
/* An integer column spread evenly over low..high; false when memory is out. */
bool cleave__size_column(struct cleave_schema *schema, const char *table, const char *column,
                         int64_t low, int64_t high);
/* A text column that holds the numbers 1..count, each once, in `digits` digits with zeroes ahead.
 */
bool cleave__size_digits(struct cleave_schema *schema, const char *table, const char *column,
                         uint32_t count, int digits);

#endif
