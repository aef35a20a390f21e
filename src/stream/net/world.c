#include "stream/net/world.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/tiling.h"

enum { VERSION = 2 };

static const struct cleave__matcher_ops *const matchers[] = {
    &cleave__matcher_index, &cleave__matcher_cells, &cleave__matcher_scan};
static const char *const summaries[] = {"forward", "broadcast", "none"};
static const char *const balances[] = {"static", "adaptive", "forced"};
static const char *const spaces[] = {"plane", "globe"};

void cleave__net_world_free(struct cleave__net_world *world)
{
    free(world->partitions);
    *world = (struct cleave__net_world){0};
}

/* ---- writing ---- */

static json_t *cells_json(const struct cleave__cells *cells, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *item =
            cleave__cells_empty(cells[i])
                ? json_null()
                : json_pack("[I, I, I, I]", (json_int_t)cells[i].x0, (json_int_t)cells[i].y0,
                            (json_int_t)cells[i].x1, (json_int_t)cells[i].y1);
        if (!item || json_array_append_new(list, item)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static enum cleave_status dump(json_t *root, char **out, struct cleave_error *error)
{
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a world");
    *out = text;
    return CLEAVE_OK;
}

enum cleave_status cleave__net_map_write(const struct cleave__cells *cells, uint32_t count,
                                         char **out, struct cleave_error *error)
{
    return dump(cells_json(cells, count), out, error);
}

enum cleave_status cleave__net_world_write(const struct cleave__net_world *w, char **out,
                                           struct cleave_error *error)
{
    const struct cleave__box *b = &w->space.bounds;
    json_t *partitions = cells_json(w->partitions, w->evaluators);
    json_t *root =
        partitions
            ? json_pack("{s:i, s:s, s:[f, f, f, f], s:[I, I], s:I, s:I, s:I, "
                        "s:s, s:s, s:s, s:I, s:f, "
                        "s:I, s:I, s:I, s:I, s:b, s:I, s:o}",
                        "version", VERSION, "space", spaces[w->space.kind], "bounds", b->x0, b->y0,
                        b->x1, b->y1, "grid", (json_int_t)w->grid.columns, (json_int_t)w->grid.rows,
                        "evaluators", (json_int_t)w->evaluators, "routers", (json_int_t)w->routers,
                        "publishers", (json_int_t)w->publishers, "matcher", w->matcher->name,
                        "summary", summaries[w->summary], "balance", balances[w->balance],
                        "balance_every_ns", (json_int_t)w->balance_every_ns, "beta", w->beta,
                        "batch", (json_int_t)w->batch, "window", (json_int_t)w->window, "retry_ns",
                        (json_int_t)w->retry_ns, "replicas", (json_int_t)w->replicas, "track",
                        w->track, "word_bytes", (json_int_t)w->word_bytes, "partitions", partitions)
            : NULL;
    return dump(root, out, error);
}

/* ---- reading ---- */

struct reading {
    const json_t *root;
    struct cleave_error *error;
    enum cleave_status failed; /* the first fault */
};

static void refuse(struct reading *r, const char *key, const char *what)
{
    if (!r->failed)
        r->failed = cleave_error_set(r->error, CLEAVE_BAD_INPUT, "the world's description: %s: %s",
                                     key, what);
}

static uint64_t get_integer(struct reading *r, const char *key, uint64_t low, uint64_t high)
{
    const json_t *item = json_object_get(r->root, key);
    json_int_t value = json_integer_value(item);
    if (!json_is_integer(item) || value < 0 || (uint64_t)value < low || (uint64_t)value > high) {
        refuse(r, key, "a whole number out of range, or none");
        return low;
    }
    return (uint64_t)value;
}

static double get_real(struct reading *r, const json_t *item, const char *key)
{
    double value = json_number_value(item);
    if (!json_is_number(item) || !isfinite(value))
        refuse(r, key, "not a number");
    return value;
}

static uint32_t get_choice(struct reading *r, const char *key, const char *const *names,
                           uint32_t count)
{
    const char *text = json_string_value(json_object_get(r->root, key));
    for (uint32_t i = 0; i < count && text; i++) {
        if (!strcmp(text, names[i]))
            return i;
    }
    refuse(r, key, "none of the known names");
    return 0;
}

static uint32_t at(struct reading *r, const json_t *list, size_t index, const char *key)
{
    const json_t *item = json_array_get(list, index);
    json_int_t value = json_integer_value(item);
    if (!json_is_integer(item) || value < 0 || value > CLEAVE__GRID_SIDE_MOST)
        refuse(r, key, "not whole numbers from 0 to 4096");
    return r->failed ? 0 : (uint32_t)value;
}

static void get_partitions(struct reading *r, struct cleave__net_world *w)
{
    const json_t *list = json_object_get(r->root, "partitions");
    if (json_array_size(list) != w->evaluators) {
        refuse(r, "partitions", "not one for each evaluator");
        return;
    }
    w->partitions = calloc(w->evaluators, sizeof *w->partitions);
    if (!w->partitions) {
        r->failed = cleave_error_set(r->error, CLEAVE_NO_MEMORY, "no memory for a world");
        return;
    }
    for (uint32_t i = 0; i < w->evaluators; i++) {
        const json_t *item = json_array_get(list, i);
        if (json_is_null(item)) {
            w->partitions[i] = CLEAVE__NO_CELLS;
            continue;
        }
        if (json_array_size(item) != 4) {
            refuse(r, "partitions", "neither null nor four numbers");
            return;
        }
        w->partitions[i] =
            (struct cleave__cells){at(r, item, 0, "partitions"), at(r, item, 1, "partitions"),
                                   at(r, item, 2, "partitions"), at(r, item, 3, "partitions")};
    }
    if (!r->failed &&
        !cleave__cells_tile(w->grid.columns, w->grid.rows, w->partitions, w->evaluators))
        refuse(r, "partitions", "they do not cover each cell of the grid once");
}

static void read_space(struct reading *r, struct cleave__net_world *w)
{
    const json_t *bounds = json_object_get(r->root, "bounds"),
                 *grid = json_object_get(r->root, "grid");
    double b[4];
    if (json_array_size(bounds) != 4 || json_array_size(grid) != 2) {
        refuse(r, "bounds, grid", "not four numbers and two");
        return;
    }
    for (size_t i = 0; i < 4; i++)
        b[i] = get_real(r, json_array_get(bounds, i), "bounds");
    uint32_t columns = at(r, grid, 0, "grid"), rows = at(r, grid, 1, "grid");
    w->space.kind = (enum cleave__space_kind)get_choice(r, "space", spaces, 2);
    w->space.bounds = (struct cleave__box){b[0], b[1], b[2], b[3]};
    if (r->failed)
        return;
    if (!(b[0] < b[2] && b[1] < b[3]) || !columns || !rows)
        refuse(r, "bounds, grid", "empty");
    else
        w->grid = cleave__grid_make(b[0], b[1], b[2], b[3], columns, rows);
}

enum cleave_status cleave__net_world_read(const char *text, size_t length,
                                          struct cleave__net_world *out, struct cleave_error *error)
{
    const uint64_t hour_ns = UINT64_C(3600000000000);
    const char *const names[] = {matchers[0]->name, matchers[1]->name, matchers[2]->name};
    json_error_t where;
    json_t *root = json_loadb(text, length, 0, &where);
    struct reading r = {root, error, CLEAVE_OK};
    struct cleave__net_world w = {0};
    if (!root)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "the world's description is no JSON: %s",
                                where.text);
    if (get_integer(&r, "version", 0, UINT32_MAX) != VERSION)
        refuse(&r, "version", "of another version of cleave: all processes must have the same");
    read_space(&r, &w);
    w.evaluators = (uint32_t)get_integer(&r, "evaluators", 1, 4096);
    w.routers = (uint32_t)get_integer(&r, "routers", 1, 1000);
    w.publishers = (uint32_t)get_integer(&r, "publishers", 1, CLEAVE__PUBLISHERS_MOST);
    w.matcher = matchers[get_choice(&r, "matcher", names, 3)];
    w.summary = (enum cleave__streaming_summary)get_choice(&r, "summary", summaries, 3);
    w.balance = (enum cleave__streaming_balance)get_choice(&r, "balance", balances, 3);
    w.balance_every_ns = get_integer(&r, "balance_every_ns", 1, hour_ns);
    w.beta = get_real(&r, json_object_get(root, "beta"), "beta");
    w.batch = (uint32_t)get_integer(&r, "batch", 1, 4096);
    w.window = (uint32_t)get_integer(&r, "window", 1, 1000);
    w.retry_ns = get_integer(&r, "retry_ns", 1000000, hour_ns);
    w.replicas = (uint32_t)get_integer(&r, "replicas", 1, 5);
    w.word_bytes = (uint32_t)get_integer(&r, "word_bytes", 256, 1 << 20);
    w.track = json_is_true(json_object_get(root, "track"));
    if (!json_is_boolean(json_object_get(root, "track")))
        refuse(&r, "track", "neither true nor false");
    if (!r.failed && !(w.beta >= 0))
        refuse(&r, "beta", "negative");
    if (!r.failed)
        get_partitions(&r, &w);
    json_decref(root);
    if (r.failed) {
        cleave__net_world_free(&w);
        return r.failed;
    }
    *out = w;
    return CLEAVE_OK;
}

void cleave__net_world_streaming(const struct cleave__net_world *w, struct cleave__streaming *out)
{
    out->space = &w->space;
    out->grid = w->grid;
    out->evaluators = w->evaluators;
    out->routers = w->routers;
    out->partitions = w->partitions;
    out->matcher = w->matcher;
    out->summary = w->summary;
    out->balance = w->balance;
    out->balance_every_ns = w->balance_every_ns;
    out->beta = w->beta;
    out->batch = w->batch;
    out->window = w->window;
    out->retry_ns = w->retry_ns;
    out->track = w->track;
}
