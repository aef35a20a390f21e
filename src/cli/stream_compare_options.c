/* The options of `cleave stream compare`. An experiment's name comes first, for it chooses the
 * workload that options then change. */
#include <string.h>

#include "cli/stream_compare.h"

enum { KEY_PART = 0x7000, KEY_SWEEP, KEY_PLOT, KEY_CALIBRATE, KEY_SCAN, KEY_CELLS };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What to compare:", 2},
    {"part", KEY_PART, "LIST", 0, "Parts of the experiment, by name (all)", 2},
    {"sweep", KEY_SWEEP, "LIST", 0, "Values of what one part varies, such as 1,2,4 or 1..15", 2},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw it; several parts into FILE-PART.svg", 2},
    {"calibrate", KEY_CALIBRATE, NULL, 0,
     "Measure here what sim is told of times, instead of the usual ones", 5},
    {"scan-candidate", KEY_SCAN, "TIME", 0, "An evaluator's for a query when it tries all (6ns)",
     5},
    {"cells-candidate", KEY_CELLS, "TIME", 0, "and with lists in cells (65ns)", 5},
    {0}};

static const char *const experiments[] = {"routing", "summary",   "index", "scale",
                                          "balance", "calibrate", NULL};

static void add_parts(struct argp_state *state, struct cleave_stream_compare_arguments *a,
                      char *list)
{
    a->part_count = 0;
    for (char *rest = list, *item; (item = cleave__option_item(state, "--part", &rest));) {
        const struct cleave__compare_part *found = NULL;
        for (uint32_t i = 0; cleave__compare_parts[i] && !found; i++) {
            const struct cleave__compare_part *part = cleave__compare_parts[i];
            if (a->experiment && !strcmp(part->experiment, a->experiment) &&
                !strcmp(part->name, item))
                found = part;
        }
        if (!found)
            argp_error(state, "--part: '%s' is no part of %s; see --help", item,
                       a->experiment ? a->experiment : "this");
        for (uint32_t i = 0; i < a->part_count; i++) {
            if (a->parts[i] == found)
                argp_error(state, "--part: '%s' twice", item);
        }
        a->parts[a->part_count++] = found;
    }
}

static void settle(struct argp_state *state, struct cleave_stream_compare_arguments *a)
{
    bool calibration = a->experiment && !strcmp(a->experiment, "calibrate");
    if (!a->experiment)
        argp_error(state, "name an experiment first: routing, summary, index, scale, balance or "
                          "calibrate");
    a->calibrate |= calibration;
    if (calibration && (a->sweep || a->plot))
        argp_error(state, "calibrate has no --sweep and no --plot");
    if (!calibration && !a->part_count) {
        for (uint32_t i = 0; cleave__compare_parts[i]; i++) {
            if (!strcmp(cleave__compare_parts[i]->experiment, a->experiment))
                a->parts[a->part_count++] = cleave__compare_parts[i];
        }
    }
    if (a->common.csv && a->part_count > 1)
        argp_error(state, "--csv: a table has one part; name it with --part");
    if (a->sweep && a->part_count != 1)
        argp_error(state, "--sweep: is for one part; name it with --part");
    if (a->plot && (strlen(a->plot) < 5 || strcmp(a->plot + strlen(a->plot) - 4, ".svg")))
        argp_error(state, "--plot takes a name that ends in .svg");
    if (a->sweep) {
        const struct cleave__compare_part *part = a->parts[0];
        a->x = (struct cleave_sweep){.name = "sweep",
                                     .type = part->x_whole ? CLEAVE_SWEEP_WHOLE : CLEAVE_SWEEP_REAL,
                                     .low = part->x_low,
                                     .high = part->x_high};
        cleave__sweep_parse(state, &a->x, a->sweep);
    }
    if (a->play.fault_count || a->play.router_faults || a->play.balancer_crashes)
        argp_error(state, "--faults: are not compared; see cleave stream run");
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct cleave_stream_compare_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->space;
        state->child_inputs[1] = &a->made;
        state->child_inputs[2] = &a->play;
        state->child_inputs[3] = &a->common;
        return 0;
    case KEY_PART:
        add_parts(state, a, value);
        return 0;
    case KEY_SWEEP:
        a->sweep = value;
        return 0;
    case KEY_PLOT:
        a->plot = value;
        return 0;
    case KEY_CALIBRATE:
        a->calibrate = true;
        return 0;
    case KEY_SCAN:
        a->costs.scan_candidate_ns = cleave__option_time(state, "--scan-candidate", value);
        return 0;
    case KEY_CELLS:
        a->costs.cells_candidate_ns = cleave__option_time(state, "--cells-candidate", value);
        return 0;
    case ARGP_KEY_ARG:
        if (!a->experiment)
            argp_error(state,
                       "'%s' is no experiment; the first word is routing, summary, index, "
                       "scale, balance or calibrate",
                       value);
        else
            argp_error(state, "'%s': one experiment at a time", value);
        return 0;
    case ARGP_KEY_END:
        settle(state, a);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cleave__stream_space_argp, 0, NULL, 1},
                                             {&cleave__stream_made_argp, 0, NULL, 3},
                                             {&cleave__stream_play_argp, 0, NULL, 4},
                                             {&cleave__options_argp, 0, "Common:", 9},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    "routing|summary|index|scale|balance|calibrate",
    "The experiments of the paper on Tornado, each in parts, one for a figure. Every run is held "
    "against an unsharded matcher.\n\n"
    "  routing    ways, band, points, ranges, routers\n"
    "  summary    queries\n"
    "  index      range, words\n"
    "  scale      together, evaluators\n"
    "  balance    scale, bytes\n"
    "  calibrate  what the parts of the work cost on this machine\n\n"
    "  cleave stream compare routing --part routers --sweep 1..15 --plot routers.svg\n"
    "  cleave stream compare balance --generate 1000000,100000 --json",
    children,
    NULL,
    NULL};

/* What the experiment is about, so that it shows: skewed, and with work enough. */
static void usual(struct cleave_stream_compare_arguments *a)
{
    struct cleave__streaming *s = &a->play.play.streaming;
    const char *name = a->experiment ? a->experiment : "";
    a->made.options.hot_spots = 8;
    a->made.options.spread = 0.03;
    a->play.objects = 400000;
    a->play.queries = 20000;
    s->evaluators = 16;
    s->routers = 10;
    s->window = 32;
    if (!strcmp(name, "summary")) {
        a->play.objects = 1000;
        s->batch = 1;
        s->routers = 4;
        s->window = 1000;
        s->delay.low_ns = 20000; /* so that work bounds it, not waiting */
    } else if (!strcmp(name, "scale")) {
        a->play.queries = 50000;
        a->made.options.hot_spots = 64;
        a->made.options.spread = 0.02;
        s->routers = 40;
        s->window = 8;
    } else if (!strcmp(name, "balance")) {
        a->play.objects = 3000000;
        a->play.play.grid_side = 32;
        a->made.options.hot_spots = 64;
        a->made.options.spread = 0.02;
        s->window = 8;
        s->balance_every_ns = 1000000;
    }
}

void cleave__stream_compare_parse(int argc, char **argv, struct cleave_stream_compare_arguments *a)
{
    *a = (struct cleave_stream_compare_arguments){.common = CLEAVE_OPTIONS_DEFAULT};
    a->made = (struct cleave_stream_made){.space = &a->space, .options = cleave__stream_defaults};
    a->costs.scan_candidate_ns = 6;
    a->costs.cells_candidate_ns = 65;
    cleave__stream_space_default(&a->space, CLEAVE__PLANE);
    cleave__stream_play_default(&a->play);
    for (uint32_t i = 0; argc > 1 && experiments[i]; i++) {
        if (!strcmp(argv[1], experiments[i]))
            a->experiment = experiments[i];
    }
    usual(a);
    if (a->experiment) { /* argp need not see it */
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    cleave__options_parse(&argp, argc, argv, a);
}
