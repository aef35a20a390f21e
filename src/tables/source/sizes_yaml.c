/* Row counts a person wrote down:
 *
 *     tables:
 *       item: 100000
 *       orders: {rows: 30000, row_bytes: 24}
 *
 * Read event by event with libyaml, so that every message has its line. Applied only if all of it
 * makes sense. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/input.h"
#include "tables/source/sizes.h"

enum { YAML_MAX = 64 << 20 };

static const double rows_most = 1e15, bytes_most = 1e9;

struct given {
    uint32_t table;
    double rows, row_bytes; /* negative: not given */
};

struct reader {
    struct cleave_schema *schema;
    const char *name;
    struct cleave_error *error;
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    CLEAVE_VECTOR(struct given) given;
    size_t *seen; /* by table: line where it was given, or 0 */
};

static size_t line_of(const struct reader *reader)
{
    return reader->event.start_mark.line + 1;
}

static enum cleave_status expected(const struct reader *reader, const char *what)
{
    return cleave_error_set(reader->error, CLEAVE_BAD_INPUT, "%s:%zu: expected %s", reader->name,
                            line_of(reader), what);
}

static enum cleave_status next(struct reader *reader)
{
    if (reader->has_event)
        yaml_event_delete(&reader->event);
    reader->has_event = false;
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        const char *problem = reader->parser.problem ? reader->parser.problem : "not YAML";
        if (reader->parser.error == YAML_MEMORY_ERROR)
            return cleave_error_set(reader->error, CLEAVE_NO_MEMORY, "%s: out of memory",
                                    reader->name);
        return cleave_error_set(reader->error, CLEAVE_BAD_INPUT, "%s:%zu: %s", reader->name,
                                reader->parser.problem_mark.line + 1, problem);
    }
    reader->has_event = true;
    return CLEAVE_OK;
}

static const char *scalar(const struct reader *reader, size_t *length)
{
    if (reader->event.type != YAML_SCALAR_EVENT)
        return NULL;
    *length = reader->event.data.scalar.length;
    return (const char *)reader->event.data.scalar.value;
}

static enum cleave_status read_number(struct reader *reader, const char *what, double most,
                                      double *out)
{
    size_t length;
    double value;
    const char *text = scalar(reader, &length);
    if (!text)
        return expected(reader, "a number");
    if (!cleave__sizes_number(text, length, &value) || value < 0 || value > most)
        return cleave_error_set(reader->error, CLEAVE_BAD_INPUT,
                                "%s:%zu: %s cannot be \"%.40s\"; give a number from 0 to %g",
                                reader->name, line_of(reader), what, text, most);
    *out = value;
    return CLEAVE_OK;
}

static enum cleave_status read_details(struct reader *reader, struct given *given)
{
    enum cleave_status status;
    while (!(status = next(reader)) && reader->event.type != YAML_MAPPING_END_EVENT) {
        size_t length;
        const char *key = scalar(reader, &length);
        bool rows = key && strcmp(key, "rows") == 0;
        if (!rows && (!key || strcmp(key, "row_bytes") != 0))
            return expected(reader, "\"rows\" or \"row_bytes\"");
        if ((rows ? given->rows : given->row_bytes) >= 0)
            return cleave_error_set(reader->error, CLEAVE_BAD_INPUT, "%s:%zu: \"%s\" given twice",
                                    reader->name, line_of(reader), key);
        if ((status = next(reader)) ||
            (status =
                 read_number(reader, rows ? "rows" : "row_bytes", rows ? rows_most : bytes_most,
                             rows ? &given->rows : &given->row_bytes)))
            return status;
    }
    return status;
}

/* The event at hand is a table's name. */
static enum cleave_status read_table(struct reader *reader)
{
    size_t length, line = line_of(reader);
    const char *name = scalar(reader, &length);
    if (!name)
        return expected(reader, "a table's name");
    uint32_t table = cleave__schema_table(reader->schema, name, length);
    if (table == CLEAVE_ABSENT)
        return cleave_error_set(reader->error, CLEAVE_NOT_FOUND,
                                "%s:%zu: the schema has no table \"%.100s\"", reader->name, line,
                                name);
    const struct cleave_table *it = &reader->schema->tables[table];
    const char *dot = strrchr(name, '.'), *own_dot = strrchr(it->name, '.');
    if (strcmp(dot ? dot + 1 : name, own_dot ? own_dot + 1 : it->name) != 0)
        return cleave_error_set(reader->error, CLEAVE_BAD_INPUT,
                                "%s:%zu: \"%.100s\" is a partition; give the rows of \"%s\"",
                                reader->name, line, name, it->name);
    if (it->view)
        return cleave_error_set(reader->error, CLEAVE_BAD_INPUT,
                                "%s:%zu: \"%.100s\" is a view and has no rows of its own",
                                reader->name, line, name);
    if (reader->seen[table])
        return cleave_error_set(reader->error, CLEAVE_BAD_INPUT,
                                "%s:%zu: \"%.100s\" is given twice (first on line %zu)",
                                reader->name, line, name, reader->seen[table]);
    reader->seen[table] = line;
    struct given given = {table, -1, -1};
    enum cleave_status status = next(reader);
    if (!status && reader->event.type == YAML_MAPPING_START_EVENT)
        status = read_details(reader, &given);
    else if (!status)
        status = read_number(reader, "rows", rows_most, &given.rows);
    if (status)
        return status;
    if (!CLEAVE_PUSH(&reader->given, given))
        return cleave_error_set(reader->error, CLEAVE_NO_MEMORY, "%s: out of memory", reader->name);
    return CLEAVE_OK;
}

static enum cleave_status read_document(struct reader *reader)
{
    enum cleave_status status;
    size_t length;
    bool tables_seen = false;
    if ((status = next(reader)) || (status = next(reader)))
        return status;
    if (reader->event.type != YAML_DOCUMENT_START_EVENT)
        return expected(reader, "\"tables:\"; the file is empty");
    if ((status = next(reader)))
        return status;
    if (reader->event.type != YAML_MAPPING_START_EVENT)
        return expected(reader, "\"tables:\" and below it a line a table, \"name: rows\"");
    while (!(status = next(reader)) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const char *key = scalar(reader, &length);
        if (!key || strcmp(key, "tables") != 0 || tables_seen)
            return expected(reader, "\"tables:\", once, and nothing else at this level");
        tables_seen = true;
        if ((status = next(reader)))
            return status;
        if (reader->event.type != YAML_MAPPING_START_EVENT)
            return expected(reader, "a line a table, \"name: rows\"");
        while (!(status = next(reader)) && reader->event.type != YAML_MAPPING_END_EVENT) {
            if ((status = read_table(reader)))
                return status;
        }
        if (status)
            return status;
    }
    if (status)
        return status;
    /* The rest must be the document's end and the stream's. */
    if ((status = next(reader)) || (status = next(reader)))
        return status;
    return reader->event.type == YAML_STREAM_END_EVENT ? CLEAVE_OK
                                                       : expected(reader, "one document only");
}

enum cleave_status cleave__sizes_parse_yaml(struct cleave_schema *schema, const char *text,
                                            size_t length, const char *name,
                                            struct cleave_error *error)
{
    struct reader reader = {.schema = schema, .name = name, .error = error};
    enum cleave_status status;
    reader.seen = calloc(schema->table_count + (size_t)1, sizeof *reader.seen);
    if (!reader.seen || !yaml_parser_initialize(&reader.parser)) {
        free(reader.seen);
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", name);
    }
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    status = read_document(&reader);
    for (size_t i = 0; !status && i < reader.given.count; i++) {
        const struct given *given = &reader.given.data[i];
        struct cleave_table *table = &schema->tables[given->table];
        if (given->rows >= 0) {
            table->rows = given->rows;
            table->size_origin = CLEAVE_SIZE_GIVEN;
        }
        if (given->row_bytes >= 0)
            table->row_bytes = given->row_bytes;
    }
    if (reader.has_event)
        yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    CLEAVE_VECTOR_FREE(&reader.given);
    free(reader.seen);
    return status;
}

enum cleave_status cleave__sizes_read_yaml(struct cleave_schema *schema, const char *path,
                                           struct cleave_error *error)
{
    char *text;
    size_t length;
    enum cleave_status status = cleave__input_slurp(path, YAML_MAX, &text, &length, error);
    if (status)
        return status;
    status = cleave__sizes_parse_yaml(schema, text, length,
                                      strcmp(path, "-") == 0 ? "standard input" : path, error);
    free(text);
    return status;
}
