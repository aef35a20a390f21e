/* Options that the `cleave stream` subcommands share. */
#include <stdlib.h>
#include <string.h>

#include "cli/stream.h"

enum {
    KEY_SPACE = 0x4000,
    KEY_HOT_SPOTS,
    KEY_SPREAD,
    KEY_BACKGROUND,
    KEY_MOVE,
    KEY_SCALE,
    KEY_VOCABULARY,
    KEY_ZIPF,
    KEY_WORDS,
    KEY_KEYWORDS_COUNT,
    KEY_BAND,
    KEY_CONTAINS,
    KEY_RANGE,
    KEY_CIRCLES,
    KEY_THINGS,
    KEY_STEP,
    KEY_MEASURES,
    KEY_FILTERS,
    KEY_RATE,
    KEY_START,
    KEY_LIFETIME,
    KEY_EVENTS,
    KEY_OBJECTS = 0x4100,
    KEY_QUERIES,
    KEY_FORMAT,
    KEY_QUERIES_FORMAT,
    KEY_HEADER,
    KEY_LAYER,
    KEY_QUERY_ID,
    KEY_X,
    KEY_Y,
    KEY_ID,
    KEY_TIME,
    KEY_TEXT,
    KEY_KEYWORDS,
    KEY_SKIP_BAD
};

const struct cleave__matcher_ops *const cleave__stream_matchers[] = {
    &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan, NULL};

const struct cleave__matcher_ops *cleave__stream_matcher(struct argp_state *state, const char *name)
{
    const char *words[8] = {0};
    for (uint32_t i = 0; cleave__stream_matchers[i]; i++)
        words[i] = cleave__stream_matchers[i]->name;
    return cleave__stream_matchers[cleave__option_choice(state, "--matcher", name, words)];
}

void cleave__stream_space_default(struct cleave_stream_space *space, enum cleave__space_kind kind)
{
    *space = (struct cleave_stream_space){
        .space = kind == CLEAVE__GLOBE ? cleave__globe : cleave__stream_defaults.space};
}

static const struct argp_option space_options[] = {
    {"space", KEY_SPACE, "SPACE", 0,
     "globe: longitudes and latitudes; plane, or plane:X0,Y0,X1,Y1 with the bounds of grids", 1},
    {0}};

static error_t parse_space(int key, char *value, struct argp_state *state)
{
    struct cleave_stream_space *space = state->input;
    if (key != KEY_SPACE)
        return ARGP_ERR_UNKNOWN;
    bool plane = !strncmp(value, "plane", 5);
    if (strcmp(value, "globe") && !(plane && (!value[5] || value[5] == ':')))
        argp_error(state, "--space takes globe, plane or plane:X0,Y0,X1,Y1, not '%s'", value);
    cleave__stream_space_default(space, plane ? CLEAVE__PLANE : CLEAVE__GLOBE);
    space->told = true;
    if (!plane || !value[5])
        return 0;
    struct cleave__box *b = &space->space.bounds;
    double *sides[] = {&b->x0, &b->y0, &b->x1, &b->y1};
    char *rest = value + 6;
    for (int i = 0; i < 4; i++) {
        const char *item = cleave__option_item(state, "--space", &rest);
        if (!item)
            argp_error(state, "--space plane: takes four numbers");
        *sides[i] = cleave__option_real(state, "--space", item, -1e300, 1e300);
    }
    if (rest || !(b->x0 < b->x1 && b->y0 < b->y1))
        argp_error(state, "--space plane:X0,Y0,X1,Y1 wants four numbers, X0 below X1, Y0 below Y1");
    space->bounded = true;
    return 0;
}

const struct argp cleave__stream_space_argp = {space_options, parse_space, NULL, NULL,
                                               NULL,          NULL,        NULL};

static const struct argp_option made_options[] = {
    {NULL, 0, NULL, 0, "A made-up stream:", 3},
    {"hot-spots", KEY_HOT_SPOTS, "N", 0, "Places where objects crowd (64; 0: everywhere alike)", 3},
    {"spread", KEY_SPREAD, "X", 0, "Of a hot spot, as a share of the space's sides (0.02)", 3},
    {"background", KEY_BACKGROUND, "X", 0, "Share of objects that are anywhere (0.1)", 3},
    {"move", KEY_MOVE, "X", 0,
     "How far hot spots go in a million objects, as a share of the sides (0)", 3},
    {"scale", KEY_SCALE, "X", 0, "Multiplies all coordinates (1)", 3},
    {"vocabulary", KEY_VOCABULARY, "N", 0, "Different words (100000)", 3},
    {"zipf", KEY_ZIPF, "X", 0, "Exponent of how unevenly words are used (1)", 3},
    {"words", KEY_WORDS, "N", 0, "Words of an object (8)", 3},
    {"query-words", KEY_KEYWORDS_COUNT, "N", 0, "Keywords of a query (3)", 3},
    {"band", KEY_BAND, "X", 0,
     "Keywords from the least frequent words (0) to the most frequent (1), not from an object", 3},
    {"contains", KEY_CONTAINS, "X", 0, "Share of queries that want all their keywords (1)", 3},
    {"range", KEY_RANGE, "X", 0, "Side of a query, as a share of the space's (0.01)", 3},
    {"circles", KEY_CIRCLES, "X", 0, "Share of queries with a circle (0)", 3},
    {"things", KEY_THINGS, "N", 0, "Things with ids that send the objects, in small steps", 3},
    {"step", KEY_STEP, "X", 0, "Longest step of a thing, as a share of the sides (0.001)", 3},
    {"measures", KEY_MEASURES, "N", 0, "Numbers that an object has, from 0 to 100 (0)", 3},
    {"filters", KEY_FILTERS, "N", 0, "Of a query, on so many measures (0)", 3},
    {"rate", KEY_RATE, "X", 0, "Objects a second of the stream's clock (1000)", 3},
    {"start-ms", KEY_START, "N", 0, "The clock's beginning (0)", 3},
    {"lifetime-ms", KEY_LIFETIME, "N", 0, "Mean lifetime of a query (0: for ever)", 3},
    {"events", KEY_EVENTS, "LIST", 0, "That queries want: match, enter, exit, expire (match)", 3},
    {0}};

static uint32_t parse_events(struct argp_state *state, char *value)
{
    static const char *const words[] = {"match", "enter", "exit", "expire", NULL};
    uint32_t events = 0;
    for (char *rest = value, *item; (item = cleave__option_item(state, "--events", &rest));)
        events |= 1u << cleave__option_choice(state, "--events", item, words);
    return events;
}

static error_t parse_made(int key, char *value, struct argp_state *state)
{
    struct cleave_stream_made *made = state->input;
    struct cleave__stream_options *o = made ? &made->options : NULL;
    static const struct {
        int key;
        const char *name;
        size_t at;
        double low, high;
    } reals[] = {
        {KEY_SPREAD, "--spread", offsetof(struct cleave__stream_options, spread), 0, 1},
        {KEY_BACKGROUND, "--background", offsetof(struct cleave__stream_options, background), 0, 1},
        {KEY_MOVE, "--move", offsetof(struct cleave__stream_options, move), 0, 1},
        {KEY_SCALE, "--scale", offsetof(struct cleave__stream_options, scale), 1e-6, 1},
        {KEY_ZIPF, "--zipf", offsetof(struct cleave__stream_options, zipf), 0, 10},
        {KEY_BAND, "--band", offsetof(struct cleave__stream_options, band), 0, 1},
        {KEY_CONTAINS, "--contains", offsetof(struct cleave__stream_options, contains), 0, 1},
        {KEY_RANGE, "--range", offsetof(struct cleave__stream_options, range), 0, 1},
        {KEY_CIRCLES, "--circles", offsetof(struct cleave__stream_options, circles), 0, 1},
        {KEY_STEP, "--step", offsetof(struct cleave__stream_options, step), 0, 1},
        {KEY_RATE, "--rate", offsetof(struct cleave__stream_options, objects_per_s), 0.001, 1e9},
    };
    static const struct {
        int key;
        const char *name;
        size_t at;
        int64_t high;
    } wholes[] = {
        {KEY_HOT_SPOTS, "--hot-spots", offsetof(struct cleave__stream_options, hot_spots), 1 << 20},
        {KEY_VOCABULARY, "--vocabulary", offsetof(struct cleave__stream_options, vocabulary),
         CLEAVE__STREAM_VOCABULARY_MOST},
        {KEY_WORDS, "--words", offsetof(struct cleave__stream_options, words),
         CLEAVE__STREAM_WORDS_MOST},
        {KEY_KEYWORDS_COUNT, "--query-words", offsetof(struct cleave__stream_options, keywords),
         CLEAVE__STREAM_WORDS_MOST},
        {KEY_THINGS, "--things", offsetof(struct cleave__stream_options, things),
         CLEAVE__STREAM_THINGS_MOST},
        {KEY_MEASURES, "--measures", offsetof(struct cleave__stream_options, measures),
         CLEAVE__FIELDS_MOST},
        {KEY_FILTERS, "--filters", offsetof(struct cleave__stream_options, filters),
         CLEAVE__FILTERS_MOST},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        if (reals[i].key == key) {
            double x =
                cleave__option_real(state, reals[i].name, value, reals[i].low, reals[i].high);
            memcpy((char *)o + reals[i].at, &x, sizeof x);
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        if (wholes[i].key == key) {
            uint32_t n =
                (uint32_t)cleave__option_integer(state, wholes[i].name, value, 0, wholes[i].high);
            memcpy((char *)o + wholes[i].at, &n, sizeof n);
            return 0;
        }
    }
    switch (key) {
    case KEY_START:
        o->start_ms =
            (uint64_t)cleave__option_integer(state, "--start-ms", value, 0, INT64_C(1) << 53);
        return 0;
    case KEY_LIFETIME:
        o->lifetime_ms =
            (uint64_t)cleave__option_integer(state, "--lifetime-ms", value, 0, INT64_C(1) << 53);
        return 0;
    case KEY_EVENTS:
        o->events = parse_events(state, value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cleave__stream_made_argp = {made_options, parse_made, NULL, NULL,
                                              NULL,         NULL,       NULL};

void cleave__stream_generate_read(struct argp_state *state, char *value, uint64_t *objects,
                                  uint64_t *queries)
{
    char *rest = value;
    const char *item = cleave__option_item(state, "--generate", &rest);
    *objects = (uint64_t)cleave__option_integer(state, "--generate", item, 0, 10000000000);
    item = cleave__option_item(state, "--generate", &rest);
    if (item)
        *queries = (uint64_t)cleave__option_integer(state, "--generate", item, 0, 100000000);
    if (rest)
        argp_error(state, "--generate takes how many objects and how many queries, not '%s' too",
                   rest);
}

void cleave__stream_made_settle(struct cleave_stream_made *made, uint64_t seed)
{
    made->options.seed = seed;
    made->options.space = made->space->space;
}

static const struct argp_option files_options[] = {
    {NULL, 0, NULL, 0, "Files (packed or not; csv, tsv, ndjson, geojson, topojson):", 2},
    {"queries", KEY_QUERIES, "FILE", 0, "Standing queries", 2},
    {"objects", KEY_OBJECTS, "FILE", 0, "Objects (standard input)", 2},
    {"format", KEY_FORMAT, "FORMAT", 0, "Of the objects, where it cannot be guessed", 2},
    {"queries-format", KEY_QUERIES_FORMAT, "FORMAT", 0, "Of the queries", 2},
    {"header", KEY_HEADER, "yes|no", 0, "Whether the first line of objects names the columns", 2},
    {"layer", KEY_LAYER, "NAME", 0, "Of a TopoJSON file of queries (its first)", 2},
    {"query-id", KEY_QUERY_ID, "COLUMN", 0, "What a query is called (id)", 2},
    {"x", KEY_X, "COLUMN", 0, "Longitude of an object (lon, lng, longitude, long, x)", 2},
    {"y", KEY_Y, "COLUMN", 0, "Its latitude (lat, latitude, y)", 2},
    {"id", KEY_ID, "COLUMN", 0, "The thing that sends it (id)", 2},
    {"time", KEY_TIME, "COLUMN", 0,
     "ISO 8601, or s or ms since 1970 (time, time_ms, timestamp, ...)", 2},
    {"text", KEY_TEXT, "COLUMNS", 0, "Text that is cut into words (text, title, name, place)", 2},
    {"keywords", KEY_KEYWORDS, "COLUMNS", 0,
     "Words as they are, with , ; | between (keywords, tags)", 2},
    {"skip-bad", KEY_SKIP_BAD, NULL, 0, "Count rows that make no sense instead of ending", 2},
    {0}};

static error_t parse_files(int key, char *value, struct argp_state *state)
{
    struct cleave_stream_files *f = state->input;
    static const char *const yes_no[] = {"yes", "no", NULL};
    switch (key) {
    case KEY_QUERIES:
        f->queries = value;
        return 0;
    case KEY_OBJECTS:
        f->objects = value;
        return 0;
    case KEY_FORMAT:
        f->objects_format = (enum cleave__format)cleave__option_choice(state, "--format", value,
                                                                       cleave__format_names);
        return 0;
    case KEY_QUERIES_FORMAT:
        f->queries_format = (enum cleave__format)cleave__option_choice(state, "--queries-format",
                                                                       value, cleave__format_names);
        return 0;
    case KEY_HEADER:
        f->header =
            (enum cleave__header)(1 + cleave__option_choice(state, "--header", value, yes_no));
        return 0;
    case KEY_LAYER:
        f->layer = value;
        return 0;
    case KEY_QUERY_ID:
        f->query_id = value;
        return 0;
    case KEY_X:
        f->columns.x = value;
        return 0;
    case KEY_Y:
        f->columns.y = value;
        return 0;
    case KEY_ID:
        f->columns.id = value;
        return 0;
    case KEY_TIME:
        f->columns.time = value;
        return 0;
    case KEY_TEXT:
        f->columns.text = value;
        return 0;
    case KEY_KEYWORDS:
        f->columns.keywords = value;
        return 0;
    case KEY_SKIP_BAD:
        f->skip_bad = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cleave__stream_files_argp = {files_options, parse_files, NULL, NULL,
                                               NULL,          NULL,        NULL};
