/* Options that every command shares, and checked reading of option values.
 *
 *     struct arguments { struct cleave_options common; ... };
 *     static error_t parse(int key, char *value, struct argp_state *state) {
 *         struct arguments *a = state->input;
 *         switch (key) {
 *         case ARGP_KEY_INIT: state->child_inputs[0] = &a->common; return 0;
 *         case 'k': a->shards = (uint32_t)cleave__option_integer(state, "--shards", value, 1,
 * 1024);
 *     ...
 *     static const struct argp_child children[] = {{&cleave__options_argp, 0, "Common:", 9}, {0}};
 *     static const struct argp argp = {options, parse, "FILE...", "What it does.", children, 0, 0};
 *     struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT};
 *     cleave__options_parse(&argp, argc, argv, &a);  -- does not return when usage is wrong
 */
#ifndef CLEAVE_CLI_OPTIONS_H
#define CLEAVE_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct cleave_options {
    bool json;  /* one JSON document on standard output instead of a table */
    bool csv;   /* likewise CSV; never both */
    bool quiet; /* no progress, no remarks on standard error */
    uint64_t seed;
};
#define CLEAVE_OPTIONS_DEFAULT                                                                     \
    {                                                                                              \
        .seed = 1                                                                                  \
    }

/* --json, --csv, --seed N, --quiet. Its input is a struct cleave_options. */
extern const struct argp cleave__options_argp;

/* argp_parse with exit status 2 on wrong usage. Fills `input`, or ends the process (after --help
 * too). */
void cleave__options_parse(const struct argp *argp, int argc, char **argv, void *input);

/* The value as a number within [low, high]; else one line that says so, and the process ends. */
int64_t cleave__option_integer(struct argp_state *state, const char *option, const char *value,
                               int64_t low, int64_t high);
uint64_t cleave__option_unsigned(struct argp_state *state, const char *option, const char *value);
double cleave__option_real(struct argp_state *state, const char *option, const char *value,
                           double low, double high);
/* "20ms", in ns; else a line that says what a time is. */
uint64_t cleave__option_time(struct argp_state *state, const char *option, const char *value);
/* Takes the next item from a list with commas between, in place: `*rest` is the list at first, NULL
 * at its end. NULL when there is none left; an empty item is refused in a line. */
char *cleave__option_item(struct argp_state *state, const char *option, char **rest);
/* Two files that are to be written must not be the same, standard output ("-") least of all; else a
 * line that says so. Either may be NULL. */
void cleave__option_apart(struct argp_state *state, const char *option, const char *value,
                          const char *other, const char *other_value);
/* Index of the value in a NULL-terminated list of words; else a line that lists them. */
uint32_t cleave__option_choice(struct argp_state *state, const char *option, const char *value,
                               const char *const *words);

#endif
