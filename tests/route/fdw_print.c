/* A layout with every rule, for fdw_test.sh: its foreign partitions as DDL, the shards' own DDL, or
 * rows with the shard where the lookup table puts them ("-" when PostgreSQL's hash decides).
 *
 *   fdw_print ddl HOST PORT | fdw_print shard | fdw_print rows | fdw_print file PATH   */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/route/export.h"
#include "tables/route/lookup.h"

static struct cleave_value integer(int64_t x)
{
    struct cleave_value value = {.kind = CLEAVE_INTEGER};
    value.integer = x;
    return value;
}

static struct cleave_value text(const char *bytes)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = bytes};
    value.length = (uint32_t)strlen(bytes);
    return value;
}

static struct cleave_value number(const char *bytes)
{
    struct cleave_value value = text(bytes);
    value.kind = CLEAVE_NUMBER;
    return value;
}

struct case_table {
    const char *name, *quoted, *type_name;
    enum cleave_type type;
    bool not_null;
    struct cleave_value rows[10];
    uint32_t row_count;
    bool own_hash; /* values without an entry go elsewhere in PostgreSQL */
};

int main(int argc, char **argv)
{
    const int64_t day = 86400000000;
    struct cleave_value null = {.kind = CLEAVE_NULL};
    struct case_table cases[] = {
        {"hashed",
         "hashed",
         "integer",
         CLEAVE_TYPE_INTEGER,
         true,
         {integer(1), integer(2), integer(3), integer(-7), integer(8), integer(100),
          integer(2147483647), integer(-2147483648LL)},
         8,
         false},
        {"turns",
         "turns",
         "bigint",
         CLEAVE_TYPE_INTEGER,
         false,
         {integer(-4), integer(-1), integer(0), integer(5), integer(1LL << 40), null},
         6,
         false},
        {"sales.Days",
         "sales.\"Days\"",
         "date",
         CLEAVE_TYPE_DATE,
         true,
         {integer(-day), integer(0), integer(day), integer(2 * day), integer(40 * day)},
         5,
         false},
        {"steps \"q\"",
         "\"steps \"\"q\"\"\"",
         "text",
         CLEAVE_TYPE_TEXT,
         false,
         {text(""), text("it's"), text("it's\nb"), text("m"), text("zz"), null},
         6,
         false},
        {"plain_turns",
         "plain_turns",
         "smallint",
         CLEAVE_TYPE_INTEGER,
         true,
         {integer(-5), integer(-3), integer(1), integer(30000)},
         4,
         false},
        {"stamped",
         "stamped",
         "timestamp without time zone",
         CLEAVE_TYPE_TIMESTAMP,
         false,
         {integer(0), integer(-1), integer(day + 1), integer(20000 * day), null},
         5,
         false},
        {"shorts",
         "shorts",
         "smallint",
         CLEAVE_TYPE_INTEGER,
         false,
         {integer(7), integer(-7), integer(32767), integer(-32768), null},
         5,
         false},
        {"names",
         "names",
         "character varying(20)",
         CLEAVE_TYPE_TEXT,
         false,
         {text("a"), text("it's"), null, text("other"), text("zz")},
         5,
         true},
        {"codes",
         "codes",
         "character(6)",
         CLEAVE_TYPE_CHAR,
         true,
         {text("a"), text("it's"), text("m"), text("zz"), text("A")},
         5,
         false},
        {"amounts",
         "amounts",
         "numeric(12,2)",
         CLEAVE_TYPE_NUMBER,
         true,
         {number("-5.25"), number("1.5"), number("2.99"), integer(3), integer(1000), number("7.5")},
         6,
         false},
        {"item", "item", "integer", CLEAVE_TYPE_INTEGER, true, {integer(1)}, 1, false},
    };
    enum { TABLES = sizeof cases / sizeof *cases };
    struct cleave_column columns[TABLES][2];
    struct cleave_table tables[TABLES];
    struct cleave_table_layout placed[TABLES];
    uint32_t zero = 0;
    memset(columns, 0, sizeof columns);
    memset(tables, 0, sizeof tables);
    memset(placed, 0, sizeof placed);
    for (uint32_t t = 0; t < TABLES; t++) {
        columns[t][0].name = "select"; /* a word that must be quoted */
        columns[t][0].type_name = cases[t].type_name;
        columns[t][0].type = cases[t].type;
        columns[t][0].not_null = cases[t].not_null;
        columns[t][1] =
            (struct cleave_column){.name = "note", .type_name = "character varying(40)"};
        tables[t].name = cases[t].name;
        tables[t].column_count = 2;
        tables[t].columns = columns[t];
        if (cases[t].not_null)
            tables[t].primary = (struct cleave_key){1, &zero};
        placed[t].map = t + 1 < TABLES ? t : 0;
    }
    placed[TABLES - 1].replicated = true;
    struct cleave_schema schema = {.tables = tables, .table_count = TABLES};
    struct cleave_value numbers[] = {integer(1), integer(2), integer(3), integer(8)};
    uint32_t number_shards[] = {0, 1, 1, 2};
    struct cleave_value some[] = {null, integer(5)};
    uint32_t some_shards[] = {2, 0};
    struct cleave_value special = integer(2 * day), bounds[] = {integer(0), integer(day)};
    uint32_t special_shard = 0;
    struct cleave_value words[] = {null, text("a"), text("it's"), text("it's\nb"), text("x")};
    uint32_t word_shards[] = {1, 0, 2, 2, 1};
    struct cleave_value seven[] = {null, integer(7)};
    struct cleave_value odd = number("7.5"), amounts[] = {number("1.5"), integer(3)};
    uint32_t odd_shard = 0;
    struct cleave_key_map maps[] = {
        {4, numbers, number_shards, CLEAVE_MAP_HASH, 0, NULL},
        {2, some, some_shards, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
        {1, &special, &special_shard, CLEAVE_MAP_RANGE, 2, bounds},
        {5, words, word_shards, CLEAVE_MAP_NEAREST, 0, NULL},
        {0, NULL, NULL, CLEAVE_MAP_ROUND_ROBIN, 0, NULL},
        {0, NULL, NULL, CLEAVE_MAP_HASH, 0, NULL},
        {2, seven, some_shards, CLEAVE_MAP_HASH, 0, NULL},
        {5, words, word_shards, CLEAVE_MAP_HASH, 0, NULL},
        {4, words + 1, word_shards + 1, CLEAVE_MAP_NEAREST, 0, NULL},
        {1, &odd, &odd_shard, CLEAVE_MAP_RANGE, 2, amounts},
    };
    enum { MAPS = sizeof maps / sizeof *maps };
    struct cleave_layout layout = {&schema, 3, placed, MAPS, maps, NULL};
    struct cleave_lookup *lookup;
    struct cleave_error error;
    if (argc < 2 || cleave__lookup_build(&layout, &lookup, &error) != CLEAVE_OK)
        return 2;
    if (strcmp(argv[1], "ddl") == 0 && argc == 4) {
        struct cleave_export_options options = {
            .host = argv[2], .port = argv[3], .database = "shard_{}"};
        char *sql;
        size_t length;
        if (cleave__lookup_export(lookup, CLEAVE_EXPORT_FDW, &options, &sql, &length, &error) !=
            CLEAVE_OK)
            return 2;
        fputs(sql, stdout);
        free(sql);
    }
    if (strcmp(argv[1], "file") == 0 && argc == 3 &&
        cleave__lookup_write(lookup, argv[2], &error) != CLEAVE_OK)
        return 2;
    for (uint32_t t = 0; t < TABLES; t++) {
        if (strcmp(argv[1], "shard") == 0)
            printf("CREATE TABLE IF NOT EXISTS %s (\"select\" %s%s, note varchar(40));\n",
                   cases[t].quoted, cases[t].type_name, cases[t].not_null ? " PRIMARY KEY" : "");
        for (uint32_t r = 0; strcmp(argv[1], "rows") == 0 && r < cases[t].row_count; r++) {
            char value[80], shard[16];
            uint32_t at = cleave__lookup_row(lookup, t, &cases[t].rows[r], 1);
            bool hashed = cases[t].own_hash && r >= 3;
            if (cases[t].rows[r].kind == CLEAVE_TEXT &&
                memchr(cases[t].rows[r].text, '\n', cases[t].rows[r].length))
                snprintf(value, sizeof value, "E'it''s\\nb'");
            else
                cleave__value_print(&cases[t].rows[r], cases[t].type, value, sizeof value);
            snprintf(shard, sizeof shard, hashed ? "-" : "%u", at);
            if (at != CLEAVE_SHARDS_MAX)
                printf("%s\t%s\t%s\n", cases[t].quoted, value, shard);
        }
    }
    cleave__lookup_release(lookup);
    return 0;
}
