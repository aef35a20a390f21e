/* A workload's hypergraph against brute force: on small integer domains every row is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scheme/database.h"
#include "support/failalloc.h"
#include "support/property.h"
#include "tables/shape/tally.h"
#include "tables/shape/tally_name.h"

/* Values 0 .. DOMAIN - 1 are named; -1 and DOMAIN stand for all that no box names. */
enum { DOMAIN = 4, COLUMNS = 3, TABLES = 2, BOXES = 8, TRANSACTIONS = 8, TOUCHES = 4, RANGES = 2 };
enum { VALUES = DOMAIN + 2, ROWS = VALUES * VALUES * VALUES };

struct built {
    struct cleave_schema schema;
    struct cleave_table tables[TABLES];
    struct cleave_column columns[TABLES][COLUMNS];
    struct cleave_workload workload;
    struct cleave_term terms[BOXES][COLUMNS];
    struct cleave_range ranges[BOXES][COLUMNS][RANGES];
    struct cleave_grain grain[TABLES];
    bool left_out[TABLES], replicated[TABLES], drop_read_only;
    uint64_t most_pins;
};

static int compare_ranges(const void *left, const void *right)
{
    const struct cleave_range *a = left, *b = right;
    return (a->low.integer > b->low.integer) - (a->low.integer < b->low.integer);
}

static uint32_t draw_ranges(struct property_source *source, struct cleave_range *out)
{
    bool point = property_draw(source, 3) != 2;
    uint32_t count = 1 + (uint32_t)property_draw(source, RANGES);
    for (uint32_t r = 0; r < count; r++) {
        int64_t low = property_between(source, 0, DOMAIN - 1);
        int64_t high = point ? low : property_between(source, low, DOMAIN - 1);
        out[r] = (struct cleave_range){.low = {.kind = CLEAVE_INTEGER, .integer = low},
                                       .high = {.kind = CLEAVE_INTEGER, .integer = high}};
        if (!point && property_draw(source, 3) == 1)
            out[r].flags = CLEAVE_HIGH_UNBOUNDED;
    }
    qsort(out, count, sizeof *out, compare_ranges);
    if (count == 2 && (out[0].low.integer == out[1].low.integer ||
                       out[0].high.integer >= out[1].low.integer || out[0].flags))
        count = 1; /* ranges are disjoint */
    return count;
}

static bool draw(struct property_source *source, struct built *b)
{
    static const char *const names[] = {"a", "b", "c"};
    memset(b, 0, sizeof *b);
    for (uint32_t t = 0; t < TABLES; t++) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            b->columns[t][c] =
                (struct cleave_column){.name = names[c], .type = CLEAVE_TYPE_INTEGER};
        b->tables[t] = (struct cleave_table){
            .name = t ? "u" : "t", .column_count = COLUMNS, .columns = b->columns[t], .rows = 50};
        b->grain[t].count = (uint32_t)property_draw(source, COLUMNS + 1);
        for (uint32_t i = 0; i < b->grain[t].count; i++)
            b->grain[t].columns[i] = (i + t) % COLUMNS;
        b->left_out[t] = property_draw(source, 8) == 1;
        b->replicated[t] = property_draw(source, 8) == 1;
    }
    b->drop_read_only = property_draw(source, 4) == 1;
    b->most_pins = property_draw(source, 4) == 1 ? 1 + property_draw(source, 40) : 0;
    b->schema.tables = b->tables;
    b->schema.table_count = TABLES;
    cleave__workload_init(&b->workload, &b->schema);
    uint32_t boxes = 1 + (uint32_t)property_draw(source, BOXES);
    bool ok = CLEAVE_PUSH(&b->workload.offsets, 0);
    for (uint32_t i = 0; ok && i < boxes; i++) {
        uint32_t terms = 0;
        for (uint32_t c = 0; c < COLUMNS; c++) {
            if (property_draw(source, 4) == 0)
                continue;
            uint32_t ranges = draw_ranges(source, b->ranges[i][c]);
            b->terms[i][terms++] = (struct cleave_term){c, ranges, b->ranges[i][c]};
        }
        struct cleave_workload_box box = {.table = (uint32_t)property_draw(source, TABLES),
                                          .insert = property_draw(source, 5) == 1,
                                          .box = {terms, b->terms[i]}};
        ok = CLEAVE_PUSH(&b->workload.boxes, box);
    }
    uint32_t transactions = 1 + (uint32_t)property_draw(source, TRANSACTIONS);
    for (uint32_t t = 0; ok && t < transactions; t++) {
        uint32_t touches = 1 + (uint32_t)property_draw(source, TOUCHES);
        for (uint32_t i = 0; ok && i < touches; i++) {
            struct cleave_workload_access access = {.box = (uint32_t)property_draw(source, boxes),
                                                    .write = property_draw(source, 3) == 1};
            ok = CLEAVE_PUSH(&b->workload.accesses, access);
        }
        ok = ok && CLEAVE_PUSH(&b->workload.offsets, b->workload.accesses.count) &&
             CLEAVE_PUSH(&b->workload.writes, false);
        b->workload.transactions++;
    }
    return ok;
}

static void undraw(struct built *b)
{
    cleave__workload_free(&b->workload);
}

/* ---- what is true ---- */

static int64_t value_of(uint32_t row, uint32_t column)
{
    for (uint32_t c = 0; c < column; c++)
        row /= VALUES;
    return (int64_t)(row % VALUES) - 1;
}

static bool in_range(const struct cleave_range *range, int64_t value)
{
    return ((range->flags & CLEAVE_LOW_UNBOUNDED) || range->low.integer <= value) &&
           ((range->flags & CLEAVE_HIGH_UNBOUNDED) || value <= range->high.integer);
}

static bool in_term(const struct cleave_term *term, int64_t value)
{
    for (uint32_t r = 0; r < term->range_count; r++) {
        if (in_range(&term->ranges[r], value))
            return true;
    }
    return false;
}

/* Does the box, seen through the grain, cover the row? */
static bool covers(const struct cleave_grain *grain, const struct cleave_workload_box *box,
                   uint32_t row)
{
    bool prefix_said = true, covered = true;
    for (uint32_t i = 0; i < grain->count; i++) {
        const struct cleave_term *term = cleave__box_term(&box->box, grain->columns[i]);
        if (box->insert && !term)
            return false; /* does not say where it belongs */
        if (i + 1 < grain->count && !(term && cleave__term_is_points(term)))
            prefix_said = false;
    }
    for (uint32_t i = 0; i < grain->count; i++) {
        const struct cleave_term *term = cleave__box_term(&box->box, grain->columns[i]);
        bool says = term && (grain->count <= 2 || i + 1 == grain->count || prefix_said);
        covered &= !says || in_term(term, value_of(row, grain->columns[i]));
    }
    return covered;
}

static bool cell_holds(const struct cleave_grain *grain, const struct cleave_intern_entry *cell,
                       uint32_t row)
{
    struct cleave_value values[CLEAVE_GRAIN_MAX];
    uint32_t count;
    cleave__cell_decode(cell->bytes, cell->length, values, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].integer != value_of(row, grain->columns[i]))
            return false;
    }
    return true;
}

static bool in_prefix(const struct cleave_tally_table *it, const struct cleave_range *first,
                      uint32_t row)
{
    if (!(first->flags & CLEAVE_HIGH_UNBOUNDED))
        return cell_holds(&it->grain, &it->prefixes.entries[first->high.integer], row);
    for (uint32_t p = 0; p < it->prefixes.count; p++) {
        if (cell_holds(&it->grain, &it->prefixes.entries[p], row))
            return false;
    }
    return true;
}

static bool vertex_holds(const struct cleave_tally *tally, uint32_t v, uint32_t row)
{
    struct cleave_tally_vertex vertex = tally->vertices.data[v];
    const struct cleave_tally_table *it = &tally->tables[vertex.table];
    if (vertex.item == CLEAVE_ABSENT)
        return true;
    if (!it->wide)
        return cell_holds(&it->grain, &tally->cells.entries[vertex.item], row);
    const struct cleave_group *group = &it->groups.list.data[vertex.item];
    bool first = it->grain.count > 2 ? in_prefix(it, &group->first, row)
                                     : in_range(&group->first, value_of(row, it->grain.columns[0]));
    bool second = group->second_count == 0;
    for (uint32_t p = 0; p < group->second_count; p++)
        second |= in_range(&it->groups.pieces.data[group->second_start + p],
                           value_of(row, it->grain.columns[it->grain.count - 1]));
    return first && second;
}

/* Which vertices a transaction touches and writes, by looking at every row. A coarser vertex is
 * touched when any row of it is. */
static void look(const struct built *b, const struct cleave_tally *tally, uint32_t transaction,
                 bool *touched, bool *written)
{
    const struct cleave_workload *w = &b->workload;
    memset(touched, 0, tally->vertices.count * sizeof *touched);
    memset(written, 0, tally->vertices.count * sizeof *written);
    for (uint64_t a = w->offsets.data[transaction]; a < w->offsets.data[transaction + 1]; a++) {
        const struct cleave_workload_box *box = &w->boxes.data[w->accesses.data[a].box];
        struct cleave_grain grain = tally->tables[box->table].grain;
        for (uint32_t row = 0; row < ROWS; row++) {
            if (!covers(&grain, box, row))
                continue;
            for (uint32_t v = 0; v < tally->vertices.count; v++) {
                if (tally->vertices.data[v].table != box->table || !vertex_holds(tally, v, row))
                    continue;
                touched[v] = true;
                written[v] |= w->accesses.data[a].write;
            }
        }
    }
}

static bool placed(const struct built *b, const struct cleave_tally *tally, uint32_t t)
{
    return !b->left_out[t] && !b->replicated[t] && !tally->tables[t].dropped;
}

/* A touched row of a placed table lies in one vertex; rows of one vertex are touched alike. */
static bool rows_are_apart(const struct built *b, const struct cleave_tally *tally)
{
    const struct cleave_workload *w = &b->workload;
    for (uint32_t t = 0; t < TABLES; t++) {
        struct cleave_grain grain = tally->tables[t].grain;
        for (uint32_t row = 0; row < ROWS; row++) {
            uint32_t holders = 0;
            bool touched = false;
            for (uint32_t v = 0; v < tally->vertices.count; v++)
                holders += tally->vertices.data[v].table == t && vertex_holds(tally, v, row);
            for (uint64_t a = 0; a < w->accesses.count; a++) {
                const struct cleave_workload_box *box = &w->boxes.data[w->accesses.data[a].box];
                touched |= box->table == t && covers(&grain, box, row);
            }
            if (holders > 1 || (touched && placed(b, tally, t) && holders != 1))
                return false;
        }
    }
    return true;
}

static bool nets_are_right(const struct built *b, const struct cleave_tally *tally)
{
    size_t n = tally->vertices.count;
    bool *touched = calloc(n + 1, 1), *written = calloc(n + 1, 1);
    uint64_t *access = calloc(n + 1, sizeof *access), *writes = calloc(n + 1, sizeof *writes);
    uint64_t *times = calloc(tally->nets.count + 1, sizeof *times);
    bool ok = touched && written && access && writes && times;
    for (uint32_t i = 0; ok && i < b->workload.transactions; i++) {
        look(b, tally, i, touched, written);
        uint32_t pins = 0, found = 0;
        for (uint32_t v = 0; v < n; v++) {
            pins += touched[v];
            access[v] += touched[v];
            writes[v] += written[v];
        }
        for (uint32_t e = 0; e < tally->nets.count; e++) {
            uint64_t start = tally->nets.offsets.data[e], end = tally->nets.offsets.data[e + 1];
            bool same = end - start == pins;
            for (uint64_t p = start; same && p < end; p++)
                same = touched[tally->nets.items.data[p]];
            times[e] += same;
            found += same;
        }
        ok = found == (pins > 0);
    }
    for (uint32_t e = 0; ok && e < tally->nets.count; e++)
        ok = times[e] == tally->nets.times.data[e];
    for (uint32_t v = 0; ok && v < n; v++)
        ok = access[v] == tally->access[v] && writes[v] == tally->writes[v] && access[v] > 0 &&
             tally->rows[v] > 0;
    free(touched);
    free(written);
    free(access);
    free(writes);
    free(times);
    return ok;
}

static bool names_differ(const struct cleave_tally *tally)
{
    struct cleave_intern names = {0};
    struct cleave_name name = {0};
    bool ok = true;
    for (uint32_t v = 0; ok && v < tally->vertices.count; v++)
        ok = cleave__tally_name(tally, v, &name) &&
             cleave__intern_add(&names, name.text.data, name.text.count) == v;
    cleave__intern_free(&names);
    CLEAVE_VECTOR_FREE(&name.text);
    return ok;
}

static enum cleave_status tally_up(const struct built *b, struct cleave_profile *profile,
                                   struct cleave_tally *tally)
{
    struct cleave_error error;
    enum cleave_status status = cleave__profile_build(&b->workload, profile, &error);
    if (!status)
        status = cleave__tally_init(tally, &b->schema, profile, &error);
    if (status)
        return status;
    tally->drop_read_only = b->drop_read_only;
    tally->most_pins = b->most_pins;
    for (uint32_t t = 0; t < TABLES; t++) {
        tally->tables[t].grain = b->grain[t];
        tally->tables[t].left_out = b->left_out[t];
        tally->tables[t].replicated = b->replicated[t];
    }
    status = cleave__tally_add(tally, &b->workload, &error);
    return status ? status : cleave__tally_finish(tally, &error);
}

static void print(const struct built *b, const struct cleave_tally *tally)
{
    for (uint32_t t = 0; t < TABLES; t++)
        printf("table %u: grain %u, left out %d, replicated %d, cells %u, wide %u, columns %u\n", t,
               b->grain[t].count, b->left_out[t], b->replicated[t], tally->tables[t].cells,
               tally->tables[t].wide, tally->tables[t].columns);
    for (uint32_t i = 0; i < b->workload.boxes.count; i++) {
        const struct cleave_workload_box *box = &b->workload.boxes.data[i];
        printf("box %u: table %u%s", i, box->table, box->insert ? " insert" : "");
        for (uint32_t t = 0; t < box->box.term_count; t++) {
            printf(" %c", 'a' + (int)box->box.terms[t].column);
            for (uint32_t r = 0; r < box->box.terms[t].range_count; r++)
                printf("[%lld,%lld%s]", (long long)box->box.terms[t].ranges[r].low.integer,
                       (long long)box->box.terms[t].ranges[r].high.integer,
                       box->box.terms[t].ranges[r].flags ? "+" : "");
        }
        printf("\n");
    }
    for (uint32_t i = 0; i < b->workload.transactions; i++) {
        printf("transaction:");
        for (uint64_t a = b->workload.offsets.data[i]; a < b->workload.offsets.data[i + 1]; a++)
            printf(" %u%s", b->workload.accesses.data[a].box,
                   b->workload.accesses.data[a].write ? "w" : "");
        printf("\n");
    }
    struct cleave_name name = {0};
    for (uint32_t v = 0; v < tally->vertices.count; v++) {
        if (cleave__tally_name(tally, v, &name))
            printf("%u: %s, access %llu\n", v, name.text.data,
                   (unsigned long long)tally->access[v]);
    }
    CLEAVE_VECTOR_FREE(&name.text);
}

static bool agrees(struct property_source *source, void *context)
{
    uint32_t *coarser = context;
    static struct built b;
    struct cleave_profile profile = {0};
    struct cleave_tally tally = {0};
    bool ok = draw(source, &b) && tally_up(&b, &profile, &tally) == CLEAVE_OK &&
              nets_are_right(&b, &tally) && rows_are_apart(&b, &tally) && names_differ(&tally);
    for (uint32_t t = 0; ok && t < TABLES; t++)
        *coarser += tally.tables[t].coarser;
    if (!ok && source->verbose && tally.tables)
        print(&b, &tally);
    if (tally.tables)
        cleave__tally_free(&tally);
    cleave__profile_free(&profile);
    undraw(&b);
    return ok;
}

static void brute_force(void **state)
{
    (void)state;
    uint32_t coarser = 0;
    assert_true(property_run("tally", agrees, &coarser, 3000));
    assert_true(coarser > 20); /* the limit on pins was met, too */
}

/* ---- from statements ---- */

static const char ddl[] =
    "CREATE TABLE p (id int PRIMARY KEY, name text);"
    "CREATE TABLE q (p_id int REFERENCES p, at int, note text, PRIMARY KEY (p_id, at))";

static void grain_and_names(void **state)
{
    (void)state;
    const char *script[] = {
        "SELECT * FROM p WHERE id = 1; SELECT * FROM q WHERE p_id = 1 AND at = 5",
        "SELECT * FROM p WHERE id = 1; SELECT * FROM q WHERE p_id = 1 AND at = 5",
        "UPDATE q SET note = 'x' WHERE p_id = 1 AND at BETWEEN 4 AND 9",
        "UPDATE p SET name = 'y' WHERE id = 2",
        "INSERT INTO q (note) VALUES ('no key')",
    };
    struct cleave_case *kase = database_open(ddl, script, 5, 0);
    struct cleave_tally tally;
    struct cleave_error error;
    assert_int_equal(cleave__tally_init(&tally, kase->schema, &kase->profile, &error), 0);
    for (uint32_t t = 0; t < 2; t++)
        cleave__grain_choose(kase->schema, &kase->profile, t, 2, &tally.tables[t].grain);
    assert_int_equal(tally.tables[0].grain.count, 1);
    assert_int_equal(tally.tables[1].grain.count, 2);
    assert_int_equal(tally.tables[1].grain.columns[0], 0); /* p_id ties the tables together */
    assert_int_equal(cleave__tally_add(&tally, &kase->train, &error), 0);
    assert_int_equal(cleave__tally_finish(&tally, &error), 0);
    assert_int_equal(tally.keyless, 1);
    static const char *const names[] = {"p\tid = 1", "p\tid = 2", "q\tp_id = 1 AND at = 5",
                                        "q\tp_id = 1 AND (at = 4 OR at >= 6 AND at <= 9)"};
    assert_int_equal(tally.vertices.count, 4);
    struct cleave_name name = {0};
    bool seen[4] = {false};
    for (uint32_t v = 0; v < 4; v++) {
        assert_true(cleave__tally_name(&tally, v, &name));
        for (uint32_t i = 0; i < 4; i++)
            seen[i] |= strcmp(name.text.data, names[i]) == 0;
        printf("%s\n", name.text.data);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    CLEAVE_VECTOR_FREE(&name.text);
    assert_int_equal(tally.nets.count, 3);
    assert_int_equal(tally.nets.times.data[0], 2);
    cleave__tally_free(&tally);
    cleave__case_free(kase);
}

static void control_characters(void **state)
{
    (void)state;
    const char *script[] = {"UPDATE p SET id = 1 WHERE name = E'a\\tb\\n''c'"};
    struct cleave_case *kase = database_open(ddl, script, 1, 0);
    struct cleave_tally tally;
    struct cleave_error error;
    assert_int_equal(cleave__tally_init(&tally, kase->schema, &kase->profile, &error), 0);
    tally.tables[0].grain = (struct cleave_grain){1, {1}};
    assert_int_equal(cleave__tally_add(&tally, &kase->train, &error), 0);
    assert_int_equal(cleave__tally_finish(&tally, &error), 0);
    struct cleave_name name = {0};
    bool found = false;
    for (uint32_t v = 0; v < tally.vertices.count; v++) {
        assert_true(cleave__tally_name(&tally, v, &name));
        found |= strcmp(name.text.data, "p\tname = 'a\\x09b\\x0a''c'") == 0;
    }
    assert_true(found);
    CLEAVE_VECTOR_FREE(&name.text);
    cleave__tally_free(&tally);
    cleave__case_free(kase);
}

/* ---- failing allocations ---- */

static bool attempt(void *context)
{
    struct cleave_profile profile = {0};
    struct cleave_tally tally = {0};
    struct cleave_name name = {0};
    enum cleave_status status = tally_up(context, &profile, &tally);
    if (!status && tally.vertices.count)
        (void)cleave__tally_name(&tally, 0, &name);
    CLEAVE_VECTOR_FREE(&name.text);
    if (tally.tables)
        cleave__tally_free(&tally);
    cleave__profile_free(&profile);
    return !status || status == CLEAVE_NO_MEMORY;
}

static bool any_case(struct property_source *source, void *context)
{
    (void)context;
    static struct built b;
    bool ok = draw(source, &b) && failalloc_run("tally", attempt, &b, 1);
    undraw(&b);
    return ok;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(property_run("tally, allocations", any_case, NULL, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brute_force),
        cmocka_unit_test(grain_and_names),
        cmocka_unit_test(control_characters),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
