/* Every row of the source to the shards that the lookup table names, and to the reference.
 *
 * A value is sent as the source prints it, but for SQLite: truth values become 0 and 1, the blanks
 * at the end of char(n) go, and a decimal number that SQLite would round (it keeps 15 digits) is
 * refused, so that sums of money stay equal. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tables/load/inside.h"

enum { EXACT_DIGITS = 15, REPORT_ROWS = 10000 };

struct sender {
    struct cleave__load *load;
    struct cleave__load_table *table;
    struct cleave_arena arena;   /* of one row */
    struct cleave_value *values; /* [lookup's columns] */
    const char **lite;           /* [columns] as SQLite takes them */
    const char **row;            /* [columns] the filled ones of a generated row */
    uint64_t total;
    bool any_sqlite;
};

static enum cleave_status end_table(struct sender *s, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; i < s->load->target_count; i++) {
        struct cleave__load_target *target = &s->load->targets[i];
        if (target->filling && !status)
            status = target->ops->fill_end(target->session, error);
        target->filling = false;
    }
    s->table = NULL;
    return status;
}

static enum cleave_status begin_table(struct sender *s, struct cleave__load_table *table,
                                      struct cleave_error *error)
{
    struct cleave__load *load = s->load;
    const struct cleave_table *known = &load->lookup->schema.tables[table->lookup_table];
    const char **names = cleave__arena_array(&load->arena, table->filled_count, sizeof *names);
    s->values = cleave__arena_zalloc(&load->arena, (known->column_count + 1) * sizeof *s->values);
    s->lite = cleave__arena_array(&load->arena, table->filled_count, sizeof *s->lite);
    s->row = cleave__arena_array(&load->arena, table->filled_count, sizeof *s->row);
    if (!names || !s->values || !s->lite || !s->row)
        return cleave__load_no_memory(error);
    for (uint32_t c = 0; c < table->filled_count; c++)
        names[c] = table->columns[table->filled[c]].name;
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t i = 0; !status && i < load->target_count; i++) {
        struct cleave__load_target *target = &load->targets[i];
        status = target->ops->fill_begin(target->session, table->source->name, names,
                                         table->filled_count, error);
        target->filling = !status;
        s->any_sqlite = s->any_sqlite || target->sqlite;
    }
    s->table = table;
    return status;
}

/* Digits from the first to the last that is not zero; 0 for what is no plain number. */
static uint32_t digits_of(const char *text)
{
    uint32_t count = 0, zeros = 0;
    if (*text == '-' || *text == '+')
        text++;
    for (; *text; text++) {
        if (*text == '.')
            continue;
        if (!isdigit((unsigned char)*text))
            return 0;
        if (*text == '0') {
            zeros += count > 0;
        } else {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

static enum cleave_status for_sqlite(struct sender *s, const char *const *values,
                                     struct cleave_error *error)
{
    for (uint32_t c = 0; c < s->table->filled_count; c++) {
        const struct cleave__load_column *column = &s->table->columns[s->table->filled[c]];
        const char *value = values[c];
        s->lite[c] = value;
        if (!value)
            continue;
        if (column->type == CLEAVE_TYPE_BOOLEAN && (*value == 't' || *value == 'f')) {
            s->lite[c] = *value == 't' ? "1" : "0";
        } else if (column->type == CLEAVE_TYPE_CHAR) {
            size_t length = strlen(value);
            while (length && value[length - 1] == ' ')
                length--;
            s->lite[c] = cleave__arena_copy(&s->arena, value, length);
            if (!s->lite[c])
                return cleave__load_no_memory(error);
        } else if (column->exact && digits_of(value) > EXACT_DIGITS) {
            return cleave_error_set(error, CLEAVE_UNSUPPORTED,
                                    "%.100s.%.100s: SQLite would round %.60s to %d digits; load it "
                                    "onto PostgreSQL",
                                    s->table->source->name, column->name, value, EXACT_DIGITS);
        }
    }
    return CLEAVE_OK;
}

static enum cleave_status route(struct sender *s, const char *const *values,
                                struct cleave_shardset *shards, struct cleave_error *error)
{
    const struct cleave__load_table *table = s->table;
    const struct cleave_table *known = &s->load->lookup->schema.tables[table->lookup_table];
    for (uint32_t k = 0; k < table->key_count; k++) {
        uint32_t at = table->keys[k], column = table->columns[table->filled[at]].lookup_column;
        s->values[column] = (struct cleave_value){.kind = CLEAVE_NULL};
        if (!values[at])
            continue;
        enum cleave_status status =
            cleave__value_parse(known->columns[column].type, values[at], strlen(values[at]),
                                &s->arena, &s->values[column]);
        if (status == CLEAVE_NO_MEMORY)
            return cleave__load_no_memory(error);
        if (status)
            return cleave_error_set(error, CLEAVE_BAD_INPUT,
                                    "%.100s.%.100s: \"%.60s\" is not of type %.60s, so the row has "
                                    "no shard",
                                    table->source->name, known->columns[column].name, values[at],
                                    known->columns[column].type_name);
    }
    cleave__lookup_row_shards(s->load->lookup, table->lookup_table, s->values, known->column_count,
                              shards);
    return CLEAVE_OK;
}

static enum cleave_status send_row(struct sender *s, const char *const *values,
                                   struct cleave_error *error)
{
    struct cleave__load *load = s->load;
    struct cleave_shardset shards = {{0}};
    enum cleave_status status = route(s, values, &shards, error);
    if (!status && s->any_sqlite)
        status = for_sqlite(s, values, error);
    for (uint32_t i = 0; !status && i < load->target_count; i++) {
        struct cleave__load_target *target = &load->targets[i];
        if (!target->reference && !cleave__shardset_has(&shards, i))
            continue;
        status = target->ops->fill_row(target->session, target->sqlite ? s->lite : values,
                                       s->table->filled_count, error);
        if (!target->reference)
            s->table->shard_rows[i]++;
    }
    cleave__arena_rewind(&s->arena, (struct cleave_arena_mark){0});
    s->table->rows++;
    if (!status && ++s->total % REPORT_ROWS == 0)
        status = cleave__load_stopped(load, "loading rows", s->total, error);
    return status;
}

static enum cleave_status scanned(void *context, uint32_t columns, const char *const *values,
                                  struct cleave_error *error)
{
    (void)columns;
    return send_row(context, values, error);
}

static enum cleave_status scan_table(struct sender *s, struct cleave__load_table *table,
                                     struct cleave_error *error)
{
    struct cleave_words words = {.grows = true};
    cleave__words_add(&words, "SELECT ");
    for (uint32_t c = 0; c < table->filled_count; c++) {
        cleave__words_add(&words, c ? ", " : "");
        cleave__words_name_part(&words, table->columns[table->filled[c]].name);
    }
    cleave__words_add(&words, " FROM ");
    if (s->load->ops == &cleave__sqlite) {
        cleave__words_name_part(&words, table->source->name);
    } else { /* names without a schema are in public, whatever the search path is */
        cleave__words_add(&words, strchr(table->source->name, '.') ? "" : "public.");
        cleave__words_name(&words, table->source->name);
    }
    enum cleave_status status =
        words.failed ? cleave__load_no_memory(error) : begin_table(s, table, error);
    if (!status)
        status = cleave__load_query(s->load, words.data, scanned, s, error);
    if (!status)
        status = end_table(s, error);
    free(words.data);
    return status;
}

static enum cleave_status generated(void *context, const struct cleave_generated_row *row,
                                    struct cleave_error *error)
{
    struct sender *s = context;
    struct cleave__load_table *table = s->table;
    enum cleave_status status = CLEAVE_OK;
    const struct cleave_table *source = &s->load->schema->tables[row->table];
    if (!table || table->source != source) {
        if (table)
            status = end_table(s, error);
        for (uint32_t t = 0; t < s->load->table_count; t++) {
            if (s->load->tables[t].source == source)
                table = &s->load->tables[t];
        }
        if (!status)
            status = begin_table(s, table, error);
    }
    for (uint32_t c = 0; !status && c < table->filled_count; c++)
        s->row[c] = row->values[table->filled[c]];
    return status ? status : send_row(s, s->row, error);
}

enum cleave_status cleave__load_rows(struct cleave__load *load, struct cleave_error *error)
{
    struct sender s = {.load = load};
    enum cleave_status status = CLEAVE_OK;
    if (load->options->only_schema)
        return CLEAVE_OK;
    if (load->options->generator) {
        status = cleave__generator_rows(load->options->generator, generated, &s, error);
        if (!status && s.table)
            status = end_table(&s, error);
    }
    for (uint32_t t = 0; !status && !load->options->generator && t < load->table_count; t++)
        status = scan_table(&s, &load->tables[t], error);
    cleave__arena_free(&s.arena);
    return status;
}
