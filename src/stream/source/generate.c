/* Objects and queries made up; see the header. Words are drawn by Walker's alias method (Vose
 * 1991): one random number and one look into a table each. */
#include "stream/source/generate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "runtime/portable.h"

enum { TRIES = 64 };

const struct cleave__stream_options cleave__stream_defaults = {
    .seed = 1,
    .space = {CLEAVE__PLANE, {0, 0, 10000, 10000}},
    .hot_spots = 64,
    .spread = 0.02,
    .background = 0.1,
    .scale = 1,
    .vocabulary = 100000,
    .zipf = 1,
    .words = 8,
    .keywords = 3,
    .band = -1,
    .contains = 1,
    .range = 0.01,
    .step = 0.001,
    .objects_per_s = 1000,
    .events = CLEAVE__EVENT_MATCH,
};

/* Chosen with probability `keep` / 2^32, else its alias. */
struct alias {
    uint32_t keep, other;
};

/* In shares of the space's sides, [0, 1). */
struct spot {
    double x, y, dx, dy; /* per object */
};
struct place {
    double x, y;
};

struct one { /* of the two streams */
    struct cleave_random random;
    uint64_t count;
    uint32_t terms[CLEAVE__STREAM_WORDS_MOST];
    struct cleave__measure measures[CLEAVE__FIELDS_MOST];
};

struct cleave__stream_generator {
    struct cleave__stream_options options;
    struct alias *alias; /* [vocabulary] */
    struct spot *spots;  /* [hot_spots] */
    struct place *things;
    struct one objects, queries;
    struct cleave__filter filters[CLEAVE__FILTERS_MOST];
};

static bool chance(struct cleave_random *random, double share)
{
    return cleave__random_real(random) < share;
}

/* Uniform in [0, bound), off by 2^-32 of it at most: one multiplication. */
static uint32_t below(uint64_t draw, uint32_t bound)
{
    return (uint32_t)((draw >> 32) * bound >> 32);
}

static bool fill_alias(struct alias *alias, uint32_t n, double exponent)
{
    double *weight = malloc(n * sizeof *weight), sum = 0;
    uint32_t *stack = malloc(n * sizeof *stack), low = 0, high = n;
    if (weight && stack) {
        for (uint32_t i = n; i-- > 0;) { /* small ones first: less is lost */
            weight[i] = cleave__portable_exp(-exponent * cleave__portable_log(i + 1.0));
            sum += weight[i];
        }
        for (uint32_t i = 0; i < n; i++) {
            weight[i] = weight[i] / sum * n;
            if (weight[i] < 1)
                stack[low++] = i;
            else
                stack[--high] = i;
        }
        while (low > 0 && high < n) {
            uint32_t poor = stack[--low], rich = stack[high];
            alias[poor] = (struct alias){(uint32_t)(weight[poor] * 0x1p32), rich};
            weight[rich] -= 1 - weight[poor];
            if (weight[rich] < 1) {
                high++;
                stack[low++] = rich;
            }
        }
        while (low > 0 || high < n) { /* what rounding has left: 1 */
            uint32_t whole = low > 0 ? stack[--low] : stack[high++];
            alias[whole] = (struct alias){UINT32_MAX, whole};
        }
    }
    bool done = weight && stack;
    free(weight);
    free(stack);
    return done;
}

static enum cleave_status refuse(struct cleave_error *error, const char *what)
{
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "generator: %s", what);
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1;
}

static enum cleave_status examine(const struct cleave__stream_options *o,
                                  struct cleave_error *error)
{
    const struct cleave__box *b = &o->space.bounds;
    if (!(isfinite(b->x0) && isfinite(b->x1) && isfinite(b->y0) && isfinite(b->y1)) ||
        !(b->x0 < b->x1 && b->y0 < b->y1) ||
        (o->space.kind == CLEAVE__GLOBE &&
         (b->x0 < -180 || b->x1 > 180 || b->y0 < -90 || b->y1 > 90)))
        return refuse(error,
                      "the space's bounds must be finite and rising, on the globe within it");
    if (!is_share(o->background) || !is_share(o->contains) || !is_share(o->circles))
        return refuse(error, "a share is from 0 to 1 (background, contains, circles)");
    if (!is_share(o->spread) || !is_share(o->range) || !is_share(o->step) || !is_share(o->move))
        return refuse(error, "spread, range, step and move are from 0 to 1 of the space's sides");
    if (!(o->scale > 0 && o->scale <= 1))
        return refuse(error, "the scale factor is above 0, at most 1");
    if (o->words > CLEAVE__STREAM_WORDS_MOST || o->keywords > CLEAVE__STREAM_WORDS_MOST)
        return refuse(error, "at most 64 words");
    if (o->vocabulary > CLEAVE__STREAM_VOCABULARY_MOST || o->vocabulary < o->words ||
        o->vocabulary < o->keywords || o->vocabulary == 0)
        return refuse(error, "a vocabulary has as many words as an object, and at most 2^24");
    if (!(o->zipf >= 0 && o->zipf <= 10))
        return refuse(error, "the Zipf exponent is from 0 to 10");
    if (!(o->band <= 1) || (o->band < 0 && o->keywords > o->words))
        return refuse(error,
                      "a query has at most as many keywords as an object has words, or a band "
                      "of frequency (0 to 1) gives them");
    if (o->things > CLEAVE__STREAM_THINGS_MOST)
        return refuse(error, "at most 2^28 things");
    if (o->measures > CLEAVE__FIELDS_MOST || o->filters > o->measures ||
        o->filters > CLEAVE__FILTERS_MOST)
        return refuse(error, "at most 64 measures; filters are of measures, at most 16");
    if (!(o->objects_per_s >= 0.001 && o->objects_per_s <= 1e9))
        return refuse(error, "objects come at 0.001 to 10^9 a second");
    if (o->start_ms > UINT64_C(1) << 53 || o->lifetime_ms > UINT64_C(1) << 53)
        return refuse(error, "times are below 2^53 ms");
    if (o->events > 15)
        return refuse(error, "unknown events");
    return CLEAVE_OK;
}

/* Hot spots, and which way they go: a draw within the unit circle, made long enough. */
static void draw_spots(struct cleave__stream_generator *g)
{
    struct cleave_random random;
    cleave__random_seed(&random, cleave__mix64(g->options.seed ^ 0x73706f7473));
    for (uint32_t i = 0; i < g->options.hot_spots; i++) {
        double dx, dy, s;
        struct spot *spot = &g->spots[i];
        spot->x = cleave__random_real(&random);
        spot->y = cleave__random_real(&random);
        do {
            dx = 2 * cleave__random_real(&random) - 1;
            dy = 2 * cleave__random_real(&random) - 1;
            s = dx * dx + dy * dy;
        } while (s > 1 || s < 0.01);
        double length = sqrt(s) / (g->options.move / 1e6);
        spot->dx = g->options.move > 0 ? dx / length : 0;
        spot->dy = g->options.move > 0 ? dy / length : 0;
    }
}

/* Back and forth between 0 and 1. */
static double fold(double x)
{
    x -= 2 * floor(x / 2);
    x = x > 1 ? 2 - x : x;
    return x < 1 ? x : 0x1.fffffffffffffp-1;
}

/* Sum of three uniform draws: near normal, of deviation 1, and never past 3. */
static double bell(struct cleave_random *random)
{
    uint64_t draw = cleave__random_next(random);
    double sum = (double)(draw & 0x1fffff) + (double)(draw >> 21 & 0x1fffff) +
                 (double)(draw >> 42 & 0x1fffff);
    return sum * 0x1p-20 - 3 + 0x1.8p-20;
}

static struct place draw_place(struct cleave__stream_generator *g, struct cleave_random *random,
                               uint64_t now)
{
    const struct cleave__stream_options *o = &g->options;
    if (o->hot_spots == 0 || chance(random, o->background)) {
        double x = cleave__random_real(random);
        return (struct place){x, cleave__random_real(random)};
    }
    const struct spot *spot = &g->spots[below(cleave__random_next(random), o->hot_spots)];
    double x = spot->x + spot->dx * (double)now + o->spread * bell(random);
    double y = spot->y + spot->dy * (double)now + o->spread * bell(random);
    return (struct place){fold(x), fold(y)};
}

static bool has(const uint32_t *terms, uint32_t count, uint32_t term)
{
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i] == term)
            return true;
    }
    return false;
}

/* Different words. One that is there already is drawn again, and after some tries is the next that
 * is not there: so that a vocabulary scarcely larger than an object ends too. */
static void draw_words(const struct cleave__stream_generator *g, struct cleave_random *random,
                       uint32_t *terms, uint32_t count)
{
    uint32_t n = g->options.vocabulary;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t term, tries = 0;
        do {
            uint64_t draw = cleave__random_next(random);
            uint32_t at = below(draw, n);
            term = (uint32_t)draw < g->alias[at].keep ? at : g->alias[at].other;
        } while (has(terms, i, term) && ++tries < TRIES);
        while (has(terms, i, term))
            term = term + 1 < n ? term + 1 : 0;
        terms[i] = term;
    }
}

static void sort(uint32_t *terms, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t term = terms[i], at = i;
        for (; at > 0 && terms[at - 1] > term; at--)
            terms[at] = terms[at - 1];
        terms[at] = term;
    }
}

/* The first `count` of a shuffle. */
static void choose(struct cleave_random *random, uint32_t *items, uint32_t all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = i + below(cleave__random_next(random), all - i), held = items[i];
        items[i] = items[j];
        items[j] = held;
    }
}

/* A band is a hundredth of the vocabulary, more if a query needs more. */
static void draw_band(const struct cleave__stream_generator *g, struct cleave_random *random,
                      uint32_t *terms, uint32_t count)
{
    uint32_t n = g->options.vocabulary, width = n / 100;
    if (width < 2 * count)
        width = 2 * count < n ? 2 * count : n;
    uint32_t first = (uint32_t)((1 - g->options.band) * (n - width));
    for (uint32_t i = 0; i < count; i++) {
        do {
            terms[i] = first + below(cleave__random_next(random), width);
        } while (has(terms, i, terms[i]));
    }
}

static uint64_t time_of(const struct cleave__stream_options *o, uint64_t number)
{
    double ms = (double)number * 1000 / o->objects_per_s;
    return o->start_ms + (ms < 0x1p62 ? (uint64_t)ms : UINT64_C(1) << 62);
}

static double scaled(const struct cleave__stream_options *o, double share, bool is_x)
{
    const struct cleave__box *b = &o->space.bounds;
    double low = is_x ? b->x0 : b->y0, high = is_x ? b->x1 : b->y1;
    double at = low + share * o->scale * (high - low);
    return at < high ? at : high;
}

static void draw_measures(struct cleave__stream_generator *g, struct one *one)
{
    for (uint32_t i = 0; i < g->options.measures; i++)
        one->measures[i] = (struct cleave__measure){i, 100 * cleave__random_real(&one->random)};
}

void cleave__stream_next_object(struct cleave__stream_generator *g, struct cleave__object *out)
{
    const struct cleave__stream_options *o = &g->options;
    struct one *one = &g->objects;
    struct cleave__object object = {.number = ++one->count};
    struct place at;
    if (o->things) {
        uint32_t thing = below(cleave__random_next(&one->random), o->things);
        struct place *place = &g->things[thing];
        place->x = fold(place->x + o->step * (2 * cleave__random_real(&one->random) - 1));
        place->y = fold(place->y + o->step * (2 * cleave__random_real(&one->random) - 1));
        at = *place;
        object.id = thing + UINT64_C(1);
        struct cleave_random words; /* a thing's own, always the same */
        cleave__random_seed(&words, cleave__mix64(o->seed) + object.id);
        draw_words(g, &words, one->terms, o->words);
    } else {
        at = draw_place(g, &one->random, one->count);
        draw_words(g, &one->random, one->terms, o->words);
    }
    sort(one->terms, o->words);
    draw_measures(g, one);
    object.time_ms = time_of(o, one->count);
    object.x = scaled(o, at.x, true);
    object.y = scaled(o, at.y, false);
    cleave__space_point(&o->space, &object.x, &object.y);
    object.terms = one->terms;
    object.term_count = o->words;
    object.measures = one->measures;
    object.measure_count = o->measures;
    *out = object;
}

/* Around a place; what would lie outside is cut off, and on the globe goes on behind the
 * antimeridian. */
static struct cleave__region region_at(const struct cleave__stream_options *o, struct place at,
                                       bool circle)
{
    const struct cleave__box *b = &o->space.bounds;
    bool round = o->space.kind == CLEAVE__GLOBE && b->x0 == -180 && b->x1 == 180 && o->scale == 1;
    double half = o->range / 2;
    struct cleave__region region = {0};
    if (circle) {
        double side = o->scale * o->range * (b->y1 - b->y0);
        region.kind = CLEAVE__CIRCLE;
        region.x0 = scaled(o, at.x, true);
        region.y0 = scaled(o, at.y, false);
        region.radius = side / 2 * (o->space.kind == CLEAVE__GLOBE ? 111195.0 : 1);
    } else {
        region.x0 = scaled(o, round || at.x > half ? at.x - half : 0, true);
        region.x1 = b->x0 + (at.x + half) * o->scale * (b->x1 - b->x0);
        if (!round && region.x1 > scaled(o, 1, true))
            region.x1 = scaled(o, 1, true);
        region.y0 = scaled(o, at.y > half ? at.y - half : 0, false);
        region.y1 = scaled(o, at.y + half < 1 ? at.y + half : 1, false);
    }
    enum cleave_status status = cleave__region_prepare(&o->space, &region, NULL);
    assert(!status);
    (void)status;
    return region;
}

void cleave__stream_next_query(struct cleave__stream_generator *g, uint64_t now,
                               struct cleave__query *out)
{
    const struct cleave__stream_options *o = &g->options;
    struct one *one = &g->queries;
    struct cleave__query query = {.id = ++one->count, .end_ms = CLEAVE__NEVER, .events = o->events};
    struct place at = draw_place(g, &one->random, now);
    if (o->band >= 0) {
        draw_band(g, &one->random, one->terms, o->keywords);
    } else {
        draw_words(g, &one->random, one->terms, o->words);
        choose(&one->random, one->terms, o->words, o->keywords);
    }
    sort(one->terms, o->keywords);
    query.predicate = chance(&one->random, o->contains) ? CLEAVE__CONTAINS : CLEAVE__OVERLAPS;
    query.region = region_at(o, at, chance(&one->random, o->circles));
    uint32_t fields[CLEAVE__FIELDS_MOST];
    for (uint32_t i = 0; i < o->measures; i++)
        fields[i] = i;
    choose(&one->random, fields, o->measures, o->filters);
    for (uint32_t i = 0; i < o->filters; i++) {
        double low = 50 * cleave__random_real(&one->random);
        g->filters[i] = (struct cleave__filter){fields[i], low, low + 50};
    }
    if (o->lifetime_ms) {
        double share = 0.5 + cleave__random_real(&one->random);
        query.end_ms = time_of(o, now) + 1 + (uint64_t)((double)o->lifetime_ms * share);
    }
    query.terms = one->terms;
    query.term_count = o->keywords;
    query.filters = g->filters;
    query.filter_count = o->filters;
    *out = query;
}

enum cleave_status cleave__stream_next_objects(struct cleave__stream_generator *g, uint32_t count,
                                               struct cleave_arena *arena,
                                               struct cleave__object *out,
                                               struct cleave_error *error)
{
    size_t words = g->options.words, measures = g->options.measures;
    uint32_t *terms = cleave__arena_array(arena, (size_t)count * words, sizeof *terms);
    struct cleave__measure *values =
        cleave__arena_array(arena, (size_t)count * measures, sizeof *values);
    if (!terms || !values)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for %u objects", count);
    for (uint32_t i = 0; i < count; i++) {
        cleave__stream_next_object(g, &out[i]);
        for (size_t w = 0; w < words; w++)
            terms[i * words + w] = out[i].terms[w];
        for (size_t m = 0; m < measures; m++)
            values[i * measures + m] = out[i].measures[m];
        out[i].terms = terms + i * words;
        out[i].measures = values + i * measures;
    }
    return CLEAVE_OK;
}

static bool build(struct cleave__stream_generator *g)
{
    const struct cleave__stream_options *o = &g->options;
    g->alias = malloc(o->vocabulary * sizeof *g->alias);
    g->spots = calloc((size_t)o->hot_spots + 1, sizeof *g->spots);
    g->things = malloc(((size_t)o->things + 1) * sizeof *g->things);
    if (!g->alias || !g->spots || !g->things || !fill_alias(g->alias, o->vocabulary, o->zipf))
        return false;
    draw_spots(g);
    cleave__random_seed(&g->objects.random, cleave__mix64(o->seed ^ 0x6f626a65637473));
    cleave__random_seed(&g->queries.random, cleave__mix64(o->seed ^ 0x71756572696573));
    for (uint32_t i = 0; i < o->things; i++)
        g->things[i] = draw_place(g, &g->objects.random, 0);
    return true;
}

enum cleave_status cleave__stream_generator_new(const struct cleave__stream_options *options,
                                                struct cleave__stream_generator **out,
                                                struct cleave_error *error)
{
    enum cleave_status status = examine(options, error);
    if (status)
        return status;
    struct cleave__stream_generator *g = calloc(1, sizeof *g);
    if (g)
        g->options = *options;
    if (!g || !build(g)) {
        cleave__stream_generator_free(g);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the generator");
    }
    *out = g;
    return CLEAVE_OK;
}

void cleave__stream_generator_free(struct cleave__stream_generator *g)
{
    if (!g)
        return;
    free(g->alias);
    free(g->spots);
    free(g->things);
    free(g);
}

bool cleave__stream_generator_check(const struct cleave__stream_generator *g)
{
    double kept = 0; /* all of the table's probability is somewhere */
    for (uint32_t i = 0; i < g->options.vocabulary; i++) {
        if (g->alias[i].other >= g->options.vocabulary)
            return false;
        kept += (double)g->alias[i].keep;
    }
    for (uint32_t i = 0; i < g->options.things; i++) {
        if (!(g->things[i].x >= 0 && g->things[i].x < 1 && g->things[i].y >= 0 &&
              g->things[i].y < 1))
            return false;
    }
    return kept > 0;
}
