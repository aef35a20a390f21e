/* Tables and plots of `cleave stream compare`. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/stream_compare.h"
#include "report/json.h"

static const struct cleave_report_column figures[CLEAVE__COMPARE_FIGURES] = {
#define X(name, k, t, d, s)                                                                        \
    [CLEAVE__COMPARE_##                                                                            \
        name] = {.key = k, .title = t, .type = CLEAVE_REPORT_REAL, .decimals = d, .scale = s},
    CLEAVE_COMPARE_LIST(X)
#undef X
};

void cleave__stream_compared_init(struct cleave_stream_compared *c,
                                  const struct cleave__compare_part *part)
{
    uint32_t at = 0;
    *c = (struct cleave_stream_compared){.part = part, .verified = true};
    c->columns[at++] = (struct cleave_report_column){.key = part->x_key,
                                                     .title = part->x_key,
                                                     .type = part->x_whole ? CLEAVE_REPORT_INTEGER
                                                                           : CLEAVE_REPORT_REAL,
                                                     .decimals = 4};
    c->columns[at++] = (struct cleave_report_column){.key = "way", .title = "way"};
    for (uint32_t f = 0; f < CLEAVE__COMPARE_FIGURES; f++) {
        if (!(part->figures >> f & 1))
            continue;
        c->figures[c->figure_count++] = (enum cleave__compare_figure)f;
        c->columns[at++] = figures[f];
    }
    c->columns[at++] = (struct cleave_report_column){
        .key = "verified", .title = "verified", .type = CLEAVE_REPORT_BOOLEAN};
    cleave__report_init(&c->report, c->columns, at);
}

void cleave__stream_compared_free(struct cleave_stream_compared *c)
{
    cleave__report_free(&c->report);
    cleave__plot_free(&c->plot);
}

bool cleave__stream_compared_row(void *compared, const struct cleave__compare_row *row)
{
    struct cleave_stream_compared *c = compared;
    if (!cleave__report_row(&c->report) || !cleave__report_text(&c->report, 1, row->way) ||
        !cleave__plot_add(&c->plot, row->way, row->x, row->value[c->part->y]))
        return false;
    if (c->part->x_whole)
        cleave__report_integer(&c->report, 0, (int64_t)row->x);
    else
        cleave__report_real(&c->report, 0, row->x);
    for (uint32_t i = 0; i < c->figure_count; i++)
        cleave__report_real(&c->report, 2 + i, row->value[c->figures[i]]);
    cleave__report_boolean(&c->report, 2 + c->figure_count, row->verified);
    if (!row->verified && c->verified) {
        c->verified = false;
        snprintf(c->wrong, sizeof c->wrong, "%s at %s %g: %s", row->way, c->part->x_key, row->x,
                 row->wrong);
    }
    return true;
}

/* ---- costs ---- */

struct cost {
    const char *key, *words;
    uint64_t ns;
};

enum { COSTS = 9 };

static void list_costs(const struct cleave__stream_costs *c, struct cost out[COSTS])
{
    const struct cost all[COSTS] = {
        {"route_object", "a router's, for an object", c->service.route_object_ns},
        {"route_query", "and for a query", c->service.route_query_ns},
        {"keyword", "and for another router's keyword", c->service.keyword_ns},
        {"match_object", "an evaluator's, for an object", c->service.match_object_ns},
        {"match_candidate", "and for a query looked at", c->service.match_candidate_ns},
        {"store_query", "and for storing one", c->service.store_query_ns},
        {"message", "of a message", c->service.message_ns},
        {"scan_candidate", "for a query looked at, where all are", c->scan_candidate_ns},
        {"cells_candidate", "for one in the list of a cell", c->cells_candidate_ns}};
    memcpy(out, all, sizeof all);
}

static json_t *costs_json(const struct cleave__stream_costs *costs)
{
    struct cost cost[COSTS];
    json_t *object = json_object();
    list_costs(costs, cost);
    for (int i = 0; i < COSTS; i++)
        json_object_set_new(object, cost[i].key, json_integer((json_int_t)cost[i].ns));
    return object;
}

enum cleave_status cleave__stream_costs_print(const struct cleave_stream_compare_arguments *a,
                                              struct cleave_error *error)
{
    static const struct cleave_report_column columns[] = {
        {.key = "cost", .title = "cost"},
        {.key = "of", .title = "of"},
        {.key = "ns", .title = "ns", .type = CLEAVE_REPORT_INTEGER}};
    struct cost cost[COSTS];
    struct cleave_report report;
    enum cleave_status status = CLEAVE_OK;
    if (a->common.json) {
        json_t *root = json_object();
        json_object_set_new(root, "experiment", json_string("calibrate"));
        json_object_set_new(root, "costs_ns", costs_json(&a->costs));
        return cleave__json_write(root, stdout, error);
    }
    list_costs(&a->costs, cost);
    cleave__report_init(&report, columns, 3);
    for (int i = 0; i < COSTS && !status; i++) {
        if (!cleave__report_row(&report) || !cleave__report_text(&report, 0, cost[i].key) ||
            !cleave__report_text(&report, 1, cost[i].words))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the table");
        else
            cleave__report_integer(&report, 2, (int64_t)cost[i].ns);
    }
    if (!status)
        status = a->common.csv ? cleave__report_print_csv(&report, stdout, error)
                               : cleave__report_print(&report, stdout, 0, error);
    cleave__report_free(&report);
    return status;
}

/* ---- tables ---- */

static enum cleave_status print_json(const struct cleave_stream_compare_arguments *a,
                                     const struct cleave_stream_compared *compared,
                                     struct cleave_error *error)
{
    json_t *root = json_object(), *parts = json_array();
    bool verified = true;
    for (uint32_t p = 0; p < a->part_count; p++) {
        const struct cleave_stream_compared *c = &compared[p];
        json_t *part = json_object();
        json_object_set_new(part, "part", json_string(c->part->name));
        json_object_set_new(part, "figure", json_string(c->part->figure));
        json_object_set_new(part, "x", json_string(c->part->x_key));
        json_object_set_new(part, "y", json_string(figures[c->part->y].key));
        json_object_set_new(part, "timed", json_boolean(c->part->timed));
        json_object_set_new(part, "rows", cleave__report_json(&c->report));
        json_object_set_new(part, "verified", json_boolean(c->verified));
        if (!c->verified)
            json_object_set_new(part, "wrong", cleave__json_text(c->wrong, strlen(c->wrong)));
        json_array_append_new(parts, part);
        verified = verified && c->verified;
    }
    json_object_set_new(root, "experiment", json_string(a->experiment));
    json_object_set_new(root, "objects", json_integer((json_int_t)a->play.objects));
    json_object_set_new(root, "queries", json_integer((json_int_t)a->play.queries));
    json_object_set_new(root, "seed", cleave__json_unsigned(a->common.seed));
    json_object_set_new(
        root, "transport",
        json_string(a->play.play.streaming.transport == &cleave__sim ? "sim" : "threads"));
    json_object_set_new(root, "costs_ns", costs_json(&a->costs));
    json_object_set_new(root, "parts", parts);
    json_object_set_new(root, "checked", json_boolean(!a->play.play.unchecked));
    json_object_set_new(root, "verified", json_boolean(verified));
    return cleave__json_write(root, stdout, error);
}

static enum cleave_status print_text(const struct cleave_stream_compare_arguments *a,
                                     const struct cleave_stream_compared *compared,
                                     struct cleave_error *error)
{
    struct winsize size;
    struct cost cost[COSTS];
    uint32_t width =
        isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    enum cleave_status status = CLEAVE_OK;
    uint32_t rows = 0;
    bool verified = true;
    for (uint32_t p = 0; p < a->part_count && !status; p++) {
        const struct cleave__compare_part *part = compared[p].part;
        printf("%s%s: %s (Figure %s)\n\n", p ? "\n" : "", part->name, part->summary, part->figure);
        status = cleave__report_print(&compared[p].report, stdout, width, error);
        rows += cleave__report_rows(&compared[p].report);
        verified = verified && compared[p].verified;
    }
    if (status)
        return status;
    list_costs(&a->costs, cost);
    if (a->play.play.streaming.transport == &cleave__sim) {
        printf("\nsim is told of ns:");
        for (int i = 0; i < COSTS; i++)
            printf("%s %s %" PRIu64, i ? "," : "", cost[i].key, cost[i].ns);
        printf("%s\n", a->calibrate ? " (measured)" : "");
    }
    if (verified && !a->play.play.unchecked)
        printf("verified: the answers of all %" PRIu32 " runs\n", rows);
    return CLEAVE_OK;
}

enum cleave_status cleave__stream_compared_print(const struct cleave_stream_compare_arguments *a,
                                                 const struct cleave_stream_compared *compared,
                                                 struct cleave_error *error)
{
    if (a->common.json)
        return print_json(a, compared, error);
    if (a->common.csv)
        return cleave__report_print_csv(&compared->report, stdout, error);
    return print_text(a, compared, error);
}

/* ---- plots ---- */

enum cleave_status cleave__stream_compared_draw(const struct cleave_stream_compare_arguments *a,
                                                struct cleave_stream_compared *c,
                                                struct cleave_error *error)
{
    struct cleave__output file;
    struct cleave_error why;
    char path[4096], y_title[60];
    int stem = (int)strlen(a->plot) - 4;
    if (snprintf(path, sizeof path, "%.*s%s%s.svg", stem, a->plot, a->part_count > 1 ? "-" : "",
                 a->part_count > 1 ? c->part->name : "") >= (int)sizeof path)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "--plot: the name is too long");
    c->plot.title = c->part->summary;
    c->plot.x_title = c->part->x_title;
    snprintf(y_title, sizeof y_title, "%s", figures[c->part->y].key);
    for (char *at = y_title; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    c->plot.y_title = y_title;
    enum cleave_status status = cleave__output_open(&file, path, error);
    if (status)
        return status;
    status = cleave__plot_write(&c->plot, file.file, &why);
    if (!status)
        return cleave__output_commit(&file, error);
    cleave__output_abandon(&file);
    return cleave_error_set(error, status, "%.200s: %.300s", path, why.message);
}
