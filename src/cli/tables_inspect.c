/* cleave tables inspect: what was read, what the workload shows, and what would be placed. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tables.h"
#include "report/json.h"
#include "report/report.h"
#include "tables/scheme/hgp/hgp.h"

enum { KEY_GROUPS = 0x3000, NAMES = 400 };

struct arguments {
    struct cleave_tables_arguments tables;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *a = state->input;
    (void)value;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &a->tables;
    state->child_inputs[1] = &a->tables;
    state->child_inputs[2] = &a->tables.common;
    return 0;
}

static const struct cleave_report_column columns[] = {
    {.key = "table", .title = "table"},
    {.key = "rows", .title = "rows", .type = CLEAVE_REPORT_REAL},
    {.key = "row_bytes", .title = "row", .unit = "B", .type = CLEAVE_REPORT_REAL},
    {.key = "size_from", .title = "size from"},
    {.key = "reads", .title = "reading", .unit = "txns", .type = CLEAVE_REPORT_INTEGER},
    {.key = "writes", .title = "writing", .unit = "txns", .type = CLEAVE_REPORT_INTEGER},
    {.key = "groups", .title = "groups", .type = CLEAVE_REPORT_INTEGER},
    {.key = "attributes", .title = "most accessed attributes"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void append(char *text, size_t size, const char *separator, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? separator : "", word);
}

static bool fill(struct cleave_report *report, const struct cleave_case *kase,
                 const struct cleave_groups *groups, uint32_t t)
{
    static const char *const origins[] = {"trace", "file", "catalog"};
    const struct cleave_table *table = &kase->schema->tables[t];
    const struct cleave_table_profile *profile = &kase->profile.tables[t];
    uint32_t ranked[4];
    char names[NAMES] = "";
    uint32_t count = cleave__profile_rank(&kase->profile, t, ranked, 4);
    for (uint32_t i = 0; i < count; i++)
        append(names, sizeof names, ", ", table->columns[ranked[i]].name);
    uint32_t c = 0;
    if (!cleave__report_row(report) || !cleave__report_text(report, c++, table->name))
        return false;
    cleave__report_real(report, c++, table->rows);
    if (table->row_bytes > 0)
        cleave__report_real(report, c, table->row_bytes);
    c++;
    if (!cleave__report_text(report, c++, origins[table->size_origin]))
        return false;
    cleave__report_integer(report, c++, (int64_t)profile->reads);
    cleave__report_integer(report, c++, (int64_t)profile->writes);
    cleave__report_integer(report, c++, groups->table_start[t + 1] - groups->table_start[t]);
    return cleave__report_text(report, c, names);
}

/* "w_id = d_w_id = c_w_id" for each class of more than one accessed column. */
static bool class_line(const struct cleave_case *kase, uint32_t root, char *line, size_t size)
{
    const struct cleave_profile *profile = &kase->profile;
    uint32_t members = 0;
    *line = 0;
    for (uint32_t t = 0; t < kase->schema->table_count; t++) {
        for (uint32_t c = profile->base[t]; c < profile->base[t + 1]; c++) {
            if (profile->class_of[c] != root || profile->columns[c].accesses == 0)
                continue;
            char name[200];
            snprintf(name, sizeof name, "%s.%s", kase->schema->tables[t].name,
                     kase->schema->tables[t].columns[c - profile->base[t]].name);
            append(line, size, " = ", name);
            members++;
        }
    }
    return members > 1;
}

static void print_classes(const struct cleave_case *kase, FILE *out)
{
    const struct cleave_profile *profile = &kase->profile;
    bool any = false;
    for (uint32_t c = 0; c < profile->base[kase->schema->table_count]; c++) {
        char line[1000];
        if (profile->class_of[c] != c || !class_line(kase, c, line, sizeof line))
            continue;
        fprintf(out, "%s  %s\n", any ? "" : "\ncolumns that carry the same values:\n", line);
        any = true;
    }
    for (uint32_t d = 0; d < profile->derivation_count; d++) {
        const struct cleave_derivation *derivation = &profile->derivations[d];
        const struct cleave_table *table = &kase->schema->tables[derivation->table];
        fprintf(out, "%s.%s spells %s's number (%" PRIu64 " transactions show both, all agree)\n",
                table->name, table->columns[derivation->column].name,
                table->columns[derivation->key_column].name, derivation->support);
    }
}

static json_t *classes_json(const struct cleave_case *kase)
{
    json_t *list = json_array();
    for (uint32_t c = 0; c < kase->profile.base[kase->schema->table_count]; c++) {
        char line[1000];
        if (kase->profile.class_of[c] == c && class_line(kase, c, line, sizeof line))
            json_array_append_new(list, json_string(line));
    }
    return list;
}

static enum cleave_status find_groups(const struct arguments *a, const struct cleave_case *kase,
                                      struct cleave_groups *groups, struct cleave_error *error)
{
    uint32_t tables = kase->schema->table_count;
    struct cleave_attributes *attributes = malloc(((size_t)tables + 1) * sizeof *attributes);
    if (!attributes)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the tuple groups");
    for (uint32_t t = 0; t < tables; t++) {
        uint32_t ranked[2] = {CLEAVE_ABSENT, CLEAVE_ABSENT};
        cleave__profile_rank(&kase->profile, t, ranked, a->tables.steer.attributes > 1 ? 2 : 1);
        attributes[t] = (struct cleave_attributes){ranked[0], ranked[1]};
    }
    enum cleave_status status =
        cleave__groups_build(&kase->train, &kase->profile, a->tables.steer.derived_keys, attributes,
                             NULL, 0, 4u << 20, groups, error);
    free(attributes);
    return status;
}

int cleave__command_tables_inspect(int argc, char **argv)
{
    struct argp_child children[] = {{cleave__tables_source_argp(), 0, NULL, 0},
                                    {&cleave__tables_steer_argp, 0, NULL, 0},
                                    {&cleave__options_argp, 0, "Common:", 9},
                                    {0}};
    const struct argp argp = {NULL,
                              parse,
                              "[FILE...]",
                              "Shows what was read of a schema and a workload, what was left out, "
                              "and which columns matter.",
                              children,
                              NULL,
                              NULL};
    static struct arguments a;
    a = (struct arguments){.tables.common = CLEAVE_OPTIONS_DEFAULT};
    cleave__tables_defaults(&a.tables);
    a.tables.source.held_out_fraction = 0;
    a.tables.source.held_out = 0;
    cleave__options_parse(&argp, argc, argv, &a);
    a.tables.verify = 0;
    struct cleave_error error;
    struct cleave_terminal terminal;
    struct cleave_case *kase;
    struct cleave_groups groups = {0};
    if (cleave__tables_load(&a.tables, &terminal, &kase, &error))
        return cleave__command_fail(&error);
    struct cleave_report report;
    cleave__report_init(&report, columns, COLUMNS);
    enum cleave_status status = find_groups(&a, kase, &groups, &error);
    for (uint32_t t = 0; !status && t < kase->schema->table_count; t++) {
        if (!kase->schema->tables[t].view && !fill(&report, kase, &groups, t))
            status = cleave_error_set(&error, CLEAVE_NO_MEMORY, "no memory for the table");
    }
    if (!status && a.tables.common.json) {
        json_t *root = json_object();
        json_object_set_new(root, "transactions", json_integer(kase->train.transactions));
        json_object_set_new(root, "trace", cleave__tables_describe_json(kase));
        json_object_set_new(root, "tables", cleave__report_json(&report));
        json_object_set_new(root, "classes", classes_json(kase));
        json_t *notes = json_array();
        for (uint32_t i = 0; i < kase->note_count; i++)
            json_array_append_new(notes, cleave__json_text(kase->notes[i], strlen(kase->notes[i])));
        json_object_set_new(root, "not_understood", notes);
        status = cleave__json_write(root, stdout, &error);
    } else if (!status && a.tables.common.csv) {
        status = cleave__report_print_csv(&report, stdout, &error);
    } else if (!status) {
        cleave__tables_describe(kase, stdout);
        for (uint32_t i = 0; i < kase->note_count; i++)
            printf("%s  %s\n",
                   i ? "" : "not understood, for example (at this line, or just before):\n",
                   kase->notes[i]);
        printf("\n");
        status = cleave__report_print(&report, stdout, 0, &error);
        print_classes(kase, stdout);
    }
    cleave__report_free(&report);
    cleave__groups_free(&groups);
    cleave__case_free(kase);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}
