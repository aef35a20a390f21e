/* Common options, and option values read strictly: a trailing letter or an overflow is an error. */
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "runtime/distribution.h"

enum { KEY_JSON = 0x1000, KEY_CSV, KEY_SEED };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON document", 0},
    {"csv", KEY_CSV, NULL, 0, "Print the table as CSV", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of everything random (1); the same seed gives the same answer",
     0},
    {"quiet", 'q', NULL, 0, "No progress and no remarks", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_options *common = state->input;
    switch (key) {
    case KEY_JSON:
        common->json = true;
        break;
    case KEY_CSV:
        common->csv = true;
        break;
    case KEY_SEED:
        common->seed = cleave__option_unsigned(state, "--seed", value);
        break;
    case 'q':
        common->quiet = true;
        break;
    case ARGP_KEY_END:
        if (common->json && common->csv)
            argp_error(state, "--json and --csv exclude each other");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cleave__options_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

void cleave__options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = CLEAVE_EXIT_USAGE;
    error_t failed = argp_parse(argp, argc, argv, 0, NULL, input);
    if (failed) {
        fprintf(stderr, "cleave: %s\n", strerror(failed));
        exit(CLEAVE_EXIT_USAGE);
    }
}

int64_t cleave__option_integer(struct argp_state *state, const char *option, const char *value,
                               int64_t low, int64_t high)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < low || number > high)
        argp_error(state, "%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%s'",
                   option, low, high, value);
    return number;
}

uint64_t cleave__option_unsigned(struct argp_state *state, const char *option, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *end || errno || strchr(value, '-'))
        argp_error(state, "%s takes a whole number from 0 to %" PRIu64 ", not '%s'", option,
                   UINT64_MAX, value);
    return number;
}

double cleave__option_real(struct argp_state *state, const char *option, const char *value,
                           double low, double high)
{
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end || errno || !isfinite(number) || number < low || number > high)
        argp_error(state, "%s takes a number from %g to %g, not '%s'", option, low, high, value);
    return number;
}

uint64_t cleave__option_time(struct argp_state *state, const char *option, const char *value)
{
    struct cleave_error error;
    uint64_t ns = 0;
    if (cleave__duration_parse(value, &ns, &error))
        argp_error(state, "%s: %s", option, error.message);
    return ns;
}

char *cleave__option_item(struct argp_state *state, const char *option, char **rest)
{
    char *item = *rest;
    if (!item)
        return NULL;
    char *comma = strchr(item, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma)
        *comma = 0;
    if (!*item)
        argp_error(state, "%s: a value is missing", option);
    return item;
}

void cleave__option_apart(struct argp_state *state, const char *option, const char *value,
                          const char *other, const char *other_value)
{
    if (value && other_value && !strcmp(value, other_value))
        argp_error(state, "%s and %s both want %s", option, other,
                   strcmp(value, "-") ? value : "standard output");
}

uint32_t cleave__option_choice(struct argp_state *state, const char *option, const char *value,
                               const char *const *words)
{
    char list[400] = "";
    size_t used = 0;
    for (uint32_t i = 0; words[i]; i++) {
        if (strcmp(words[i], value) == 0)
            return i;
        int length = snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
        if (length > 0 && used + (size_t)length < sizeof list)
            used += (size_t)length;
    }
    argp_error(state, "%s takes one of %s, not '%s'", option, list, value);
    return 0;
}
