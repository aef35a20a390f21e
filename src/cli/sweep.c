/* Lists and ranges; see the header. */
#include "cli/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void push(struct argp_state *state, struct cleave_sweep *s, union cleave_sweep_value value)
{
    if (s->count == CLEAVE_SWEEP_MAX)
        argp_error(state, "--%s: more than %d values", s->name, CLEAVE_SWEEP_MAX);
    s->value[s->count++] = value;
}

static void refuse(struct argp_state *state, const struct cleave_sweep *s, const char *item)
{
    if (s->type == CLEAVE_SWEEP_WHOLE)
        argp_error(
            state,
            "--%s takes whole numbers from %.0f to %.0f, such as 4 or 2,4,8 or 0..8, not '%s'",
            s->name, s->low, s->high, item);
    argp_error(state, "--%s takes numbers from %g to %g with commas between, not '%s'", s->name,
               s->low, s->high, item);
}

/* A whole number at `*at`, which is moved past it; false when there is none. */
static bool take_whole(const struct cleave_sweep *s, const char **at, uint64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return !errno && (double)*out >= s->low && (double)*out <= s->high;
}

static void parse_whole(struct argp_state *state, struct cleave_sweep *s, const char *item)
{
    uint64_t low, high, step = 1;
    const char *at = item;
    bool ok = take_whole(s, &at, &low);
    high = low;
    if (ok && !strncmp(at, "..", 2)) {
        at += 2;
        ok = take_whole(s, &at, &high) && high >= low;
        if (ok && !strncmp(at, "..", 2)) {
            char *end;
            at += 2;
            step = *at >= '1' && *at <= '9' ? strtoull(at, &end, 10) : 0;
            ok = step > 0;
            at = ok ? end : at;
        }
    }
    if (!ok || *at) {
        refuse(state, s, item);
        return;
    }
    for (uint64_t value = low;; value += step) {
        push(state, s, (union cleave_sweep_value){.whole = value});
        if (high - value < step)
            break;
    }
}

void cleave__sweep_parse(struct argp_state *state, struct cleave_sweep *s, char *text)
{
    s->count = 0;
    for (char *item = text, *comma; item; item = comma ? comma + 1 : NULL) {
        comma = strchr(item, ',');
        if (comma)
            *comma = 0;
        if (!*item) {
            argp_error(state, "--%s: a value is missing", s->name);
            return;
        }
        if (s->type == CLEAVE_SWEEP_WORD) {
            push(state, s, (union cleave_sweep_value){.word = item});
        } else if (s->type == CLEAVE_SWEEP_WHOLE) {
            parse_whole(state, s, item);
        } else {
            char *end;
            errno = 0;
            double number = strtod(item, &end);
            if (end == item || *end || errno || !isfinite(number) || number < s->low ||
                number > s->high)
                refuse(state, s, item);
            push(state, s, (union cleave_sweep_value){.real = number});
        }
    }
}

bool cleave__sweep_next(struct cleave_sweep *sweeps, uint32_t count, uint32_t *changed)
{
    for (uint32_t i = count; i-- > 0;) {
        *changed = i;
        if (++sweeps[i].at < sweeps[i].count)
            return true;
        sweeps[i].at = 0;
    }
    return false;
}
