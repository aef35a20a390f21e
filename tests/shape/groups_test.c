/* Tuple groups against brute force: on small integer domains every row is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/property.h"
#include "tables/shape/groups.h"

enum { DOMAIN = 7, BOXES = 6, RANGES = 2 };

struct built {
    struct cleave_schema schema;
    struct cleave_table table;
    struct cleave_column columns[2];
    struct cleave_workload workload;
    struct cleave_term terms[BOXES][2];
    struct cleave_range ranges[BOXES][2][RANGES];
};

static struct cleave_range draw_range(struct property_source *source)
{
    int64_t low = property_between(source, 0, DOMAIN - 1);
    int64_t high = property_between(source, low, DOMAIN - 1);
    struct cleave_range range = {.flags = 0};
    range.low.kind = range.high.kind = CLEAVE_INTEGER;
    range.low.integer = low;
    range.high.integer = property_draw(source, 2) ? low : high;
    if (property_draw(source, 6) == 1)
        range.flags |= CLEAVE_LOW_UNBOUNDED;
    if (property_draw(source, 6) == 1)
        range.flags |= CLEAVE_HIGH_UNBOUNDED;
    return range;
}

/* A workload of one table with two integer columns and a few boxes, one transaction each. */
static bool draw_workload(struct property_source *source, struct built *b)
{
    memset(b, 0, sizeof *b);
    b->columns[0] = (struct cleave_column){.name = "a", .type = CLEAVE_TYPE_INTEGER};
    b->columns[1] = (struct cleave_column){.name = "b", .type = CLEAVE_TYPE_INTEGER};
    b->table =
        (struct cleave_table){.name = "t", .column_count = 2, .columns = b->columns, .rows = 100};
    b->schema.tables = &b->table;
    b->schema.table_count = 1;
    cleave__workload_init(&b->workload, &b->schema);
    uint32_t count = 1 + (uint32_t)property_draw(source, BOXES);
    bool ok = CLEAVE_PUSH(&b->workload.offsets, 0);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t terms = 0;
        for (uint32_t c = 0; c < 2; c++) {
            uint32_t ranges = (uint32_t)property_draw(source, RANGES + 1);
            if (ranges == 0)
                continue;
            for (uint32_t r = 0; r < ranges; r++)
                b->ranges[i][c][r] = draw_range(source);
            b->terms[i][terms++] = (struct cleave_term){c, ranges, b->ranges[i][c]};
        }
        struct cleave_workload_box box = {.box = {terms, b->terms[i]}};
        ok = CLEAVE_PUSH(&b->workload.boxes, box) &&
             CLEAVE_PUSH(&b->workload.accesses, (struct cleave_workload_access){.box = i}) &&
             CLEAVE_PUSH(&b->workload.offsets, i + 1) && CLEAVE_PUSH(&b->workload.writes, false);
        b->workload.transactions++;
    }
    return ok;
}

static bool holds(const struct cleave_box *box, const int64_t *row)
{
    for (uint32_t t = 0; t < box->term_count; t++) {
        bool any = false;
        for (uint32_t r = 0; r < box->terms[t].range_count; r++) {
            struct cleave_value value = {.kind = CLEAVE_INTEGER,
                                         .integer = row[box->terms[t].column]};
            any |= cleave__range_contains(&box->terms[t].ranges[r], &value);
        }
        if (!any)
            return false;
    }
    return true;
}

static uint32_t group_of(const struct cleave_groups *groups, const int64_t *row, uint32_t *matches)
{
    uint32_t found = CLEAVE_ABSENT;
    *matches = 0;
    for (uint32_t g = 0; g < groups->list.count; g++) {
        const struct cleave_group *group = &groups->list.data[g];
        struct cleave_value a = {.kind = CLEAVE_INTEGER, .integer = row[0]};
        struct cleave_value b = {.kind = CLEAVE_INTEGER, .integer = row[1]};
        bool in = group->second_count == 0;
        for (uint32_t p = 0; p < group->second_count; p++)
            in |= cleave__range_contains(&groups->pieces.data[group->second_start + p], &b);
        if (!in || !cleave__range_contains(&group->first, &a))
            continue;
        found = g;
        ++*matches;
    }
    return found;
}

static bool box_has_group(const struct cleave_groups *groups, uint32_t box, uint32_t group)
{
    for (uint64_t i = groups->box_offset[box]; i < groups->box_offset[box + 1]; i++) {
        if (groups->box_group[i] == group)
            return true;
    }
    return false;
}

static bool check_rows(const struct built *b, const struct cleave_groups *groups)
{
    for (int64_t x = -1; x <= DOMAIN; x++) {
        for (int64_t y = -1; y <= DOMAIN; y++) {
            int64_t row[2] = {x, y};
            uint32_t matches, group = group_of(groups, row, &matches);
            bool touched = false;
            for (uint32_t i = 0; i < b->workload.boxes.count; i++) {
                bool in = holds(&b->workload.boxes.data[i].box, row);
                touched |= in;
                /* A group's rows are touched by the same boxes, exactly those linked to it. */
                if (group != CLEAVE_ABSENT && in != box_has_group(groups, i, group))
                    return false;
            }
            if (matches != (touched ? 1u : 0u))
                return false;
        }
    }
    return true;
}

static bool groups_partition_rows(struct property_source *source, void *context)
{
    (void)context;
    struct built b;
    struct cleave_profile profile;
    struct cleave_groups groups = {0};
    struct cleave_attributes attributes = {0, 1};
    bool ok = draw_workload(source, &b) && !cleave__profile_build(&b.workload, &profile, NULL);
    if (ok) {
        ok = !cleave__groups_build(&b.workload, &profile, true, &attributes, NULL, 0, 10000,
                                   &groups, NULL) &&
             check_rows(&b, &groups);
        cleave__groups_free(&groups);
        cleave__profile_free(&profile);
    }
    cleave__workload_free(&b.workload);
    return ok;
}

/* With a phantom over everything, untouched rows get groups too, and nothing else changes. */
static bool phantoms_cover(struct property_source *source, void *context)
{
    (void)context;
    struct built b;
    struct cleave_profile profile;
    struct cleave_groups groups = {0};
    struct cleave_attributes attributes = {0, 1};
    struct cleave_phantom phantom = {0, {0, NULL}};
    bool ok = draw_workload(source, &b) && !cleave__profile_build(&b.workload, &profile, NULL);
    if (ok) {
        ok = !cleave__groups_build(&b.workload, &profile, true, &attributes, &phantom, 1, 10000,
                                   &groups, NULL);
        for (int64_t x = -1; ok && x <= DOMAIN; x++) {
            for (int64_t y = -1; ok && y <= DOMAIN; y++) {
                int64_t row[2] = {x, y};
                uint32_t matches, group = group_of(&groups, row, &matches);
                ok = matches == 1;
                for (uint32_t i = 0; ok && i < b.workload.boxes.count; i++)
                    ok = holds(&b.workload.boxes.data[i].box, row) ==
                         box_has_group(&groups, i, group);
            }
        }
        cleave__groups_free(&groups);
        cleave__profile_free(&profile);
    }
    cleave__workload_free(&b.workload);
    return ok;
}

static void test_partition(void **state)
{
    (void)state;
    assert_true(
        property_run("groups partition the touched rows", groups_partition_rows, NULL, 3000));
}

static void test_phantoms(void **state)
{
    (void)state;
    assert_true(property_run("phantoms cover what nobody touches", phantoms_cover, NULL, 1500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_partition),
                                       cmocka_unit_test(test_phantoms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
