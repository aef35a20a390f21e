/* Any bytes as a statement (or as a view's query, by the first byte) against a fixed schema and
 * layout: the recount must end in a verdict, and the verdict that stops early must agree with the
 * whole set of shards. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables/oracle/oracle.h"
#include "tables/oracle/touch.h"

static const char ddl[] =
    "CREATE TABLE a (x int PRIMARY KEY, y int, z int, t text, f boolean, n numeric, d date);"
    "CREATE TABLE b (x int NOT NULL, y int NOT NULL, z int, u text, PRIMARY KEY (x, y));"
    "CREATE TABLE c (x int REFERENCES a (x), id int PRIMARY KEY, w text);"
    "CREATE TABLE r (id int PRIMARY KEY, v text);"
    "CREATE VIEW va AS SELECT x, y AS why FROM a WHERE z = 1;"
    "CREATE VIEW vb AS SELECT * FROM va JOIN b USING (x);";

static void lay_out(struct cleave_layout *layout, const struct cleave_schema *schema)
{
    static struct cleave_value entries[2] = {{.kind = CLEAVE_INTEGER, .integer = 3},
                                             {.kind = CLEAVE_INTEGER, .integer = 8}};
    static uint32_t entry_shards[2] = {4, 1};
    static struct cleave_key_map maps[2];
    static struct cleave_exception exceptions[2];
    static struct cleave_table_layout tables[16];
    maps[0] = (struct cleave_key_map){2, entries, entry_shards, CLEAVE_MAP_HASH, 0, NULL};
    maps[1] = (struct cleave_key_map){2, entries, entry_shards, CLEAVE_MAP_NEAREST, 0, NULL};
    for (int i = 0; i < 2; i++) {
        struct cleave_value at = {.kind = CLEAVE_INTEGER, .integer = i};
        exceptions[i] = (struct cleave_exception){
            .range_count = 2, .column = {0, 1}, .range = {{at, at, 0}, {at, at, 0}}, .shard = 2};
    }
    assert(schema->table_count <= 16);
    memset(tables, 0, sizeof tables);
    for (uint32_t t = 0; t < schema->table_count; t++)
        tables[t].map = t % 2;
    tables[0].derived_count = 1;
    tables[0].derived[0] = (struct cleave_derived_key){3, "u", "", 9};
    tables[1].exception_count = 2;
    tables[1].exceptions = exceptions;
    tables[3].replicated = true;
    *layout = (struct cleave_layout){
        .schema = schema, .shards = 5, .tables = tables, .map_count = 2, .maps = maps};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cleave_schema *schema;
    static struct cleave_oracle *oracle;
    static struct cleave_layout layout;
    if (!schema) {
        assert(cleave__schema_parse_ddl(ddl, strlen(ddl), "ddl", &schema, NULL) == CLEAVE_OK);
        assert(cleave__oracle_new(schema, &oracle, NULL) == CLEAVE_OK);
        lay_out(&layout, schema);
    }
    if (size == 0 || size > 1 << 16)
        return 0;
    char *text = malloc(size);
    assert(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;

    struct cleave_oracle *asked = oracle;
    const char *view = NULL;
    struct cleave_table *va = &schema->tables[cleave__schema_table(schema, "va", 2)];
    struct cleave_trace_statement statement = {.text = text, .length = size - 1};
    const struct cleave_parameter parameters[3] = {
        {"5", 1, false, false}, {NULL, 0, true, false}, {"{1,2}", 5, false, true}};
    statement.parameters = parameters;
    statement.parameter_count = 3;
    if (data[0] == 'v' && memchr(text, 0, size - 1) == NULL) {
        view = va->view;
        va->view = text;
        assert(cleave__oracle_new(schema, &asked, NULL) == CLEAVE_OK);
        statement =
            (struct cleave_trace_statement){.text = "SELECT * FROM vb WHERE x = 3", .length = 28};
    }
    struct cleave_trace_transaction transaction = {.statements = &statement, .statement_count = 1};
    const struct cleave_layout *layouts[1] = {&layout};
    struct cleave_shardset shards;
    struct cleave_oracle_count count = {0};
    bool touches, writes;
    unsigned char verdict;
    assert(cleave__oracle_touch(asked, &transaction, layouts, 1, UINT32_MAX, &shards, &touches,
                                &writes, NULL) == CLEAVE_OK);
    assert(cleave__oracle_count(asked, &transaction, layouts, 1, &count, &verdict, NULL) ==
           CLEAVE_OK);
    assert(verdict == (!touches ? 2 : cleave__shardset_count(&shards) > 1));
    if (view) {
        va->view = view;
        cleave__oracle_free(asked);
    }
    free(text);
    return 0;
}
