/* Property tests over recorded choices.
 *
 * A case is nothing but the sequence of numbers it drew. Shrinking edits that sequence and runs the
 * property again, so any generator shrinks without code of its own (the idea is Hypothesis's).
 * Invariants: a candidate replaces the best only if it fails too and is smaller in short-lex order
 * (fewer draws, then smaller numbers from the left), so shrinking ends; it also ends after
 * SHRINK_RUNS runs or SHRINK_SECONDS. When a case crashes instead of returning, its seed and number
 * are printed on the way out. Runs of properties do not nest. */
#include "support/property.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

enum { SHRINK_RUNS = 20000, SHRINK_SECONDS = 20, DRAWS_MAX = 1 << 22, RESTLESS_PASSES = 1000 };

struct choices {
    uint64_t *data;
    size_t count, capacity;
};

struct property_state {
    struct choices drawn;         /* what this run took */
    const struct choices *replay; /* NULL: draw at random */
    struct cleave_random random;
};

struct shrinker {
    property_check check;
    void *context;
    struct choices best, candidate;
    struct property_state state;
    unsigned runs;
    time_t deadline;
};

static void push(struct choices *choices, uint64_t value)
{
    if (choices->count == choices->capacity) {
        size_t capacity = choices->capacity ? choices->capacity * 2 : 64;
        uint64_t *data = realloc(choices->data, capacity * sizeof *data);
        if (!data) {
            fputs("property: out of memory\n", stderr);
            abort();
        }
        choices->data = data;
        choices->capacity = capacity;
    }
    choices->data[choices->count++] = value;
}

static void copy(struct choices *to, const struct choices *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        push(to, from->data[i]);
}

uint64_t property_draw(struct property_source *source, uint64_t bound)
{
    struct property_state *state = source->state;
    size_t at = state->drawn.count;
    uint64_t value = 0;
    if (bound == 0 || at >= DRAWS_MAX) {
        fprintf(stderr, "property: %s\n", bound ? "too many draws" : "draw with bound 0");
        abort();
    }
    if (!state->replay)
        value = cleave__random_below(&state->random, bound);
    else if (at < state->replay->count)
        value = state->replay->data[at] < bound ? state->replay->data[at] : bound - 1;
    push(&state->drawn, value);
    return value;
}

int64_t property_between(struct property_source *source, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low;
    if (span == UINT64_MAX) /* all of int64_t: two halves */
        return (int64_t)(property_draw(source, UINT64_C(1) << 32) << 32 |
                         property_draw(source, UINT64_C(1) << 32));
    /* Simplest is the number nearest to zero: up from it first, then down. */
    uint64_t draw = property_draw(source, span + 1);
    if (low >= 0)
        return (int64_t)((uint64_t)low + draw);
    if (high <= 0)
        return (int64_t)((uint64_t)high - draw);
    return draw <= (uint64_t)high ? (int64_t)draw : (int64_t)((uint64_t)high - draw);
}

static bool run(struct property_state *state, const struct choices *replay, property_check check,
                void *context, bool verbose)
{
    state->drawn.count = 0;
    state->replay = replay;
    struct property_source source = {.verbose = verbose, .state = state};
    return check(&source, context);
}

static bool smaller(const struct choices *a, const struct choices *b)
{
    if (a->count != b->count)
        return a->count < b->count;
    for (size_t i = 0; i < a->count; i++) {
        if (a->data[i] != b->data[i])
            return a->data[i] < b->data[i];
    }
    return false;
}

static bool spent(const struct shrinker *s)
{
    return s->runs >= SHRINK_RUNS || time(NULL) > s->deadline;
}

/* Runs the candidate; keeps what it drew if it fails and is smaller. */
static bool attempt(struct shrinker *s)
{
    if (spent(s))
        return false;
    s->runs++;
    if (run(&s->state, &s->candidate, s->check, s->context, false))
        return false;
    if (!smaller(&s->state.drawn, &s->best))
        return false;
    copy(&s->best, &s->state.drawn);
    return true;
}

/* best without [from, from + length), with best[lowered] one less when lowered < from. */
static bool attempt_delete(struct shrinker *s, size_t from, size_t length, size_t lowered)
{
    s->candidate.count = 0;
    for (size_t i = 0; i < s->best.count; i++) {
        if (i >= from && i < from + length)
            continue;
        push(&s->candidate, s->best.data[i] - (i == lowered));
    }
    return attempt(s);
}

static bool attempt_value(struct shrinker *s, size_t at, uint64_t value)
{
    copy(&s->candidate, &s->best);
    s->candidate.data[at] = value;
    return attempt(s);
}

static bool delete_spans(struct shrinker *s)
{
    bool changed = false;
    for (size_t length = s->best.count; length >= 1; length /= 2) {
        for (size_t from = s->best.count; from-- > 0 && !spent(s);) {
            while (from + length <= s->best.count && attempt_delete(s, from, length, SIZE_MAX))
                changed = true;
        }
    }
    return changed;
}

/* A count drawn first and items after it: one less, and one item (1..6 draws) gone. */
static bool delete_items(struct shrinker *s)
{
    bool changed = false;
    for (size_t lowered = 0; lowered < s->best.count && !spent(s); lowered++) {
        for (size_t length = 1; length <= 6; length++) {
            for (size_t from = s->best.count; from-- > lowered + 1 && !spent(s);) {
                if (lowered >= s->best.count || s->best.data[lowered] == 0)
                    break;
                if (from + length <= s->best.count && attempt_delete(s, from, length, lowered))
                    changed = true;
            }
        }
    }
    return changed;
}

static bool zero_spans(struct shrinker *s)
{
    bool changed = false;
    for (size_t length = 8; length >= 2; length /= 2) {
        for (size_t from = 0; from + length <= s->best.count && !spent(s); from++) {
            bool nonzero = false;
            for (size_t i = from; i < from + length; i++)
                nonzero |= s->best.data[i] != 0;
            if (!nonzero)
                continue;
            copy(&s->candidate, &s->best);
            memset(s->candidate.data + from, 0, length * sizeof *s->candidate.data);
            changed |= attempt(s);
        }
    }
    return changed;
}

/* The least value of one draw that still fails, supposing failure is monotone in it. */
static bool lower_values(struct shrinker *s)
{
    bool changed = false;
    for (size_t at = 0; at < s->best.count && !spent(s); at++) {
        if (s->best.data[at] == 0)
            continue;
        if (attempt_value(s, at, 0)) {
            changed = true;
            continue;
        }
        uint64_t good = 0; /* passes, or is no smaller */
        while (at < s->best.count && s->best.data[at] > good + 1) {
            uint64_t middle = good + (s->best.data[at] - good) / 2;
            if (attempt_value(s, at, middle))
                changed = true;
            else
                good = middle;
            if (spent(s))
                break;
        }
        while (at < s->best.count && s->best.data[at] > 0 &&
               attempt_value(s, at, s->best.data[at] - 1))
            changed = true;
    }
    return changed;
}

/* Sorts neighbours and evens out pairs whose sum matters: one down, a later one up. */
static bool trade_values(struct shrinker *s)
{
    bool changed = false;
    for (size_t a = 0; a < s->best.count && !spent(s); a++) {
        for (size_t b = a + 1; b < s->best.count && b <= a + 4 && !spent(s); b++) {
            uint64_t x = s->best.data[a], y = s->best.data[b];
            if (x > y) {
                copy(&s->candidate, &s->best);
                s->candidate.data[a] = y;
                s->candidate.data[b] = x;
                changed |= attempt(s);
            }
            for (uint64_t step = a < s->best.count ? s->best.data[a] : 0; step > 0; step /= 2) {
                if (b >= s->best.count || step > s->best.data[a])
                    break;
                copy(&s->candidate, &s->best);
                s->candidate.data[a] -= step;
                s->candidate.data[b] += step;
                changed |= attempt(s);
            }
        }
    }
    return changed;
}

static void shrink(struct shrinker *s)
{
    for (unsigned pass = 0; pass < RESTLESS_PASSES && !spent(s); pass++) {
        bool changed = delete_spans(s);
        changed |= zero_spans(s);
        changed |= lower_values(s);
        changed |= delete_items(s);
        changed |= trade_values(s);
        if (!changed)
            break;
    }
}

/* For a case that crashes: who it was. Only set while property_run runs. */
static struct {
    const char *name;
    uint64_t seed;
    unsigned number;
} current;

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void tell_crash(void)
{
    if (!current.name)
        return;
    char line[300];
    int length = snprintf(line, sizeof line,
                          "\nproperty %s crashed: CLEAVE_PROPERTY_SEED=%" PRIu64
                          " CLEAVE_PROPERTY_CASE=%u\n",
                          current.name, current.seed, current.number);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

static void on_crash(int signal_number)
{
    tell_crash();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static uint64_t environment_number(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return fallback;
    char *end;
    uint64_t number = strtoull(text, &end, 0);
    if (*end) {
        fprintf(stderr, "property: %s is not a number: %s\n", name, text);
        abort();
    }
    return number;
}

static uint64_t seed_of_name(const char *name)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (; *name; name++)
        hash = cleave__mix64(hash ^ (unsigned char)*name);
    return hash >> 16; /* shorter to copy by hand */
}

static void tell_failure(struct shrinker *s, const char *name, uint64_t seed, unsigned number)
{
    size_t drawn = s->best.count;
    shrink(s);
    fprintf(stderr,
            "property %s failed: CLEAVE_PROPERTY_SEED=%" PRIu64 " CLEAVE_PROPERTY_CASE=%u\n"
            "shrunk from %zu draws to %zu in %u runs:",
            name, seed, number, drawn, s->best.count, s->runs);
    for (size_t i = 0; i < s->best.count && i < 40; i++)
        fprintf(stderr, " %" PRIu64, s->best.data[i]);
    fputs(s->best.count > 40 ? " ...\n" : "\n", stderr);
    if (run(&s->state, &s->best, s->check, s->context, true))
        fputs("the smallest case passes when run again: the property is not a function of its "
              "draws\n",
              stderr);
}

bool property_run(const char *name, property_check check, void *context, unsigned cases)
{
    uint64_t seed = environment_number("CLEAVE_PROPERTY_SEED", seed_of_name(name));
    uint64_t only = environment_number("CLEAVE_PROPERTY_CASE", UINT64_MAX);
    uint64_t total = cases * environment_number("CLEAVE_PROPERTY_SCALE", 1);
    struct shrinker s = {.check = check, .context = context};
    bool held = true;

    current.name = name;
    current.seed = seed;
    void (*old_abort)(int) = signal(SIGABRT, on_crash);
    void (*old_segv)(int) = SIG_ERR;
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell_crash);
    else
        old_segv = signal(SIGSEGV, on_crash);

    for (uint64_t i = 0; i < total && held; i++) {
        if (only != UINT64_MAX && i != only)
            continue;
        current.number = (unsigned)i;
        cleave__random_seed(&s.state.random, cleave__mix64(seed ^ cleave__mix64(i)));
        if (run(&s.state, NULL, check, context, false))
            continue;
        held = false;
        copy(&s.best, &s.state.drawn);
        s.deadline = time(NULL) + SHRINK_SECONDS;
        tell_failure(&s, name, seed, (unsigned)i);
    }

    current.name = NULL;
    signal(SIGABRT, old_abort);
    if (old_segv != SIG_ERR)
        signal(SIGSEGV, old_segv);
    free(s.best.data);
    free(s.candidate.data);
    free(s.state.drawn.data);
    return held;
}
