/* cleave stream generate: made-up objects or queries, as CSV or NDJSON that `match` reads. */
#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "cli/stream.h"

enum { KEY_WHAT = 0x5000, KEY_COUNT, REPORT_EVERY = 1 << 15 };

struct arguments {
    struct cleave_options common;
    struct cleave_stream_space space;
    struct cleave_stream_made made;
    bool queries;
    uint64_t count;
    const char *output;
};

static const struct argp_option options[] = {
    {"what", KEY_WHAT, "objects|queries", 0, "What to write (objects)", 1},
    {"count", KEY_COUNT, "N", 0, "How many (1000)", 1},
    {"output", 'o', "FILE", 0, "Where to (standard output)", 1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    static const char *const what[] = {"objects", "queries", NULL};
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->space;
        state->child_inputs[1] = &a->made;
        state->child_inputs[2] = &a->common;
        return 0;
    case KEY_WHAT:
        a->queries = cleave__option_choice(state, "--what", value, what) == 1;
        return 0;
    case KEY_COUNT:
        a->count = (uint64_t)cleave__option_integer(state, "--count", value, 0, INT64_C(1) << 53);
        return 0;
    case 'o':
        a->output = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The shortest of two ways that reads back as the same number. */
static void put_real(FILE *out, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        snprintf(text, sizeof text, "%.17g", x);
    fputs(text, out);
}

/* A piece before each value of a row: a comma, or the name in JSON. */
struct row {
    FILE *out;
    bool json, any;
};

static void name(struct row *row, const char *text)
{
    if (row->json)
        fprintf(row->out, "%s\"%s\":", row->any ? "," : "{", text);
    else if (row->any)
        putc(',', row->out);
    row->any = true;
}

static void end(struct row *row)
{
    fputs(row->json ? "}\n" : "\n", row->out);
    row->any = false;
}

static void put_number(struct row *row, const char *text, double x)
{
    name(row, text);
    put_real(row->out, x);
}

static void put_whole(struct row *row, const char *text, uint64_t x)
{
    name(row, text);
    fprintf(row->out, "%" PRIu64, x);
}

static void put_terms(struct row *row, const uint32_t *terms, uint32_t count)
{
    name(row, "keywords");
    fputs(row->json ? "[" : "", row->out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(row->out, row->json ? "%s\"w%" PRIu32 "\"" : "%sw%" PRIu32,
                i == 0      ? ""
                : row->json ? ","
                            : ";",
                terms[i]);
    fputs(row->json ? "]" : "", row->out);
}

static void put_word(struct row *row, const char *text, const char *word)
{
    name(row, text);
    fprintf(row->out, row->json ? "\"%s\"" : "%s", word);
}

static void put_object(struct row *row, const struct cleave__object *object)
{
    if (object->id)
        put_whole(row, "id", object->id);
    put_whole(row, "time_ms", object->time_ms);
    put_number(row, "x", object->x);
    put_number(row, "y", object->y);
    put_terms(row, object->terms, object->term_count);
    for (uint32_t i = 0; i < object->measure_count; i++) {
        char text[16];
        snprintf(text, sizeof text, "m%" PRIu32, object->measures[i].field);
        put_number(row, text, object->measures[i].value);
    }
    end(row);
}

static void put_events(struct row *row, uint32_t events)
{
    static const char *const words[] = {"match", "enter", "exit", "expire"};
    char text[40] = "";
    for (uint32_t i = 0; i < 4; i++) {
        if (events >> i & 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ";" : "",
                     words[i]);
    }
    put_word(row, "events", text);
}

/* CSV has all columns in every row: those of the other kind of region are empty. */
static void put_query(struct row *row, const struct cleave__query *query)
{
    static const char *const sides[] = {"x0", "y0", "x1", "y1"}, *const circle[] = {"x", "y",
                                                                                    "radius"};
    const struct cleave__region *r = &query->region;
    const double box[] = {r->x0, r->y0, r->x1, r->y1}, round[] = {r->x0, r->y0, r->radius};
    bool is_circle = r->kind == CLEAVE__CIRCLE;
    put_whole(row, "id", query->id);
    for (int i = 0; i < 4; i++) {
        if (!is_circle)
            put_number(row, sides[i], box[i]);
        else if (!row->json)
            name(row, sides[i]);
    }
    for (int i = 0; i < 3; i++) {
        if (is_circle)
            put_number(row, circle[i], round[i]);
        else if (!row->json)
            name(row, circle[i]);
    }
    put_word(row, "match", query->predicate == CLEAVE__CONTAINS ? "contains" : "overlaps");
    if (query->term_count || !row->json)
        put_terms(row, query->terms, query->term_count);
    put_events(row, query->events);
    if (query->end_ms != CLEAVE__NEVER)
        put_whole(row, "end_ms", query->end_ms);
    else if (!row->json)
        name(row, "end_ms");
    name(row, "filter");
    fputs(row->json ? "\"" : "", row->out);
    for (uint32_t i = 0; i < query->filter_count; i++) {
        fprintf(row->out, "%sm%" PRIu32 "=", i ? ";" : "", query->filters[i].field);
        put_real(row->out, query->filters[i].low);
        fputs("..", row->out);
        put_real(row->out, query->filters[i].high);
    }
    fputs(row->json ? "\"" : "", row->out);
    end(row);
}

static void put_header(const struct arguments *a, FILE *out)
{
    if (a->queries) {
        fputs("id,x0,y0,x1,y1,x,y,radius,match,keywords,events,end_ms,filter\n", out);
        return;
    }
    fprintf(out, "%stime_ms,x,y,keywords", a->made.options.things ? "id," : "");
    for (uint32_t i = 0; i < a->made.options.measures; i++)
        fprintf(out, ",m%" PRIu32, i);
    putc('\n', out);
}

static enum cleave_status write_all(const struct arguments *a,
                                    struct cleave__stream_generator *generator,
                                    const struct cleave_progress *progress, FILE *out,
                                    struct cleave_error *error)
{
    struct row row = {out, a->common.json, false};
    if (!row.json)
        put_header(a, out);
    for (uint64_t i = 0; i < a->count; i++) {
        if (a->queries) {
            struct cleave__query query;
            cleave__stream_next_query(generator, 0, &query);
            put_query(&row, &query);
        } else {
            struct cleave__object object;
            cleave__stream_next_object(generator, &object);
            put_object(&row, &object);
        }
        if (i % REPORT_EVERY)
            continue;
        if (progress->report && a->output)
            progress->report(progress->context, "writing", i, a->count);
        if (*progress->stop)
            return cleave_error_set(error, CLEAVE_INTERRUPTED, "stopped");
        if (ferror(out))
            break; /* the commit says why */
    }
    return CLEAVE_OK;
}

int cleave__command_stream_generate(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cleave__stream_space_argp, 0, NULL, 0},
                                                 {&cleave__stream_made_argp, 0, NULL, 0},
                                                 {&cleave__options_argp, 0, "Common:", 9},
                                                 {0}};
    static const struct argp argp = {options,
                                     parse,
                                     "",
                                     "Writes made-up objects or queries as CSV, or with --json an "
                                     "object a line; the same for the "
                                     "same options and seed.",
                                     children,
                                     NULL,
                                     NULL};
    struct arguments a = {.common = CLEAVE_OPTIONS_DEFAULT, .count = 1000};
    a.made = (struct cleave_stream_made){&a.space, cleave__stream_defaults};
    cleave__stream_space_default(&a.space, CLEAVE__PLANE);
    cleave__options_parse(&argp, argc, argv, &a);
    cleave__stream_made_settle(&a.made, a.common.seed);
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave__stream_generator *generator = NULL;
    struct cleave__output output = {0};
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = cleave__stream_generator_new(&a.made.options, &generator, &error);
    if (!status)
        status = cleave__output_open(&output, a.output ? a.output : "-", &error);
    if (!status)
        status = write_all(&a, generator, &terminal.progress, output.file, &error);
    cleave__terminal_clear(&terminal);
    if (!status)
        status = cleave__output_commit(&output, &error);
    cleave__output_abandon(&output);
    cleave__stream_generator_free(generator);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
