/* Generated databases and transactions as text files: COPY blocks, INSERT statements, plain SQL,
 * sizes. Output is what psql reads; nothing else is assumed of the stream. */
#include <string.h>

#include "tables/source/generate_common.h"

enum { INSERT_ROWS = 100 };

struct emitter {
    const struct cleave_schema *schema;
    enum cleave_rows_format format;
    FILE *stream;
    uint32_t table; /* of the open COPY block or INSERT, CLEAVE_ABSENT: none */
    uint32_t rows;  /* in the open INSERT */
};

static enum cleave_status refused(FILE *stream, struct cleave_error *error)
{
    if (!ferror(stream))
        return CLEAVE_OK;
    return cleave_error_set(error, CLEAVE_IO,
                            "the output could not be written; is the disk full or the pipe gone?");
}

static void close_block(struct emitter *emitter)
{
    if (emitter->table != CLEAVE_ABSENT)
        fputs(emitter->format == CLEAVE_ROWS_COPY ? "\\.\n\n" : ";\n\n", emitter->stream);
    emitter->table = CLEAVE_ABSENT;
    emitter->rows = 0;
}

static void columns_of(const struct cleave_table *table, FILE *stream)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        fprintf(stream, "%s%s", i ? ", " : "", table->columns[i].name);
}

static void copy_value(const char *value, FILE *stream)
{
    if (!value) {
        fputs("\\N", stream);
        return;
    }
    for (const char *c = value; *c; c++) {
        const char *special = strchr("\\\\\tt\nn\rr", *c);
        if (special && (special - "\\\\\tt\nn\rr") % 2 == 0)
            fprintf(stream, "\\%c", special[1]);
        else
            fputc(*c, stream);
    }
}

static void insert_value(const char *value, enum cleave_type type, FILE *stream)
{
    if (!value) {
        fputs("NULL", stream);
    } else if (type == CLEAVE_TYPE_INTEGER || type == CLEAVE_TYPE_NUMBER) {
        fputs(value, stream);
    } else {
        fputc('\'', stream);
        for (const char *c = value; *c; c++)
            fprintf(stream, *c == '\'' ? "''" : "%c", *c);
        fputc('\'', stream);
    }
}

static enum cleave_status emit_row(void *context, const struct cleave_generated_row *row,
                                   struct cleave_error *error)
{
    struct emitter *emitter = context;
    const struct cleave_table *table = &emitter->schema->tables[row->table];
    bool copy = emitter->format == CLEAVE_ROWS_COPY;
    if (row->table != emitter->table || (!copy && emitter->rows == INSERT_ROWS)) {
        close_block(emitter);
        fprintf(emitter->stream, "%s %s (", copy ? "COPY" : "INSERT INTO", row->name);
        columns_of(table, emitter->stream);
        fputs(copy ? ") FROM stdin;\n" : ") VALUES", emitter->stream);
        emitter->table = row->table;
    }
    if (!copy)
        fputs(emitter->rows ? ",\n(" : "\n(", emitter->stream);
    for (uint32_t i = 0; i < row->count; i++) {
        if (i)
            fputs(copy ? "\t" : ", ", emitter->stream);
        if (copy)
            copy_value(row->values[i], emitter->stream);
        else
            insert_value(row->values[i], table->columns[i].type, emitter->stream);
    }
    fputs(copy ? "\n" : ")", emitter->stream);
    emitter->rows++;
    return refused(emitter->stream, error);
}

enum cleave_status cleave__generator_write_rows(const struct cleave_generator *generator,
                                                enum cleave_rows_format format, FILE *stream,
                                                struct cleave_error *error)
{
    struct emitter emitter = {generator->schema, format, stream, CLEAVE_ABSENT, 0};
    enum cleave_status status = cleave__generator_rows(generator, emit_row, &emitter, error);
    if (status != CLEAVE_OK)
        return status;
    close_block(&emitter);
    fflush(stream);
    return refused(stream, error);
}

enum cleave_status
cleave__generator_write_transaction(const struct cleave_trace_transaction *transaction,
                                    FILE *stream, struct cleave_error *error)
{
    fputs("BEGIN;\n", stream);
    for (uint32_t i = 0; i < transaction->statement_count; i++)
        fprintf(stream, "%s;\n", transaction->statements[i].text);
    fputs("COMMIT;\n", stream);
    return refused(stream, error);
}

enum cleave_status cleave__generator_write_sizes(const struct cleave_generator *generator,
                                                 FILE *stream, struct cleave_error *error)
{
    fputs("tables:\n", stream);
    for (uint32_t i = 0; i < generator->schema->table_count; i++) {
        const struct cleave_table *table = &generator->schema->tables[i];
        fprintf(stream, "  %s: {rows: %llu, row_bytes: %llu}\n", table->name,
                (unsigned long long)table->rows, (unsigned long long)table->row_bytes);
    }
    fflush(stream);
    return refused(stream, error);
}
