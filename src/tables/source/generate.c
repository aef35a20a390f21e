/* Benchmarks as traces: the registry, options, and what every generator does alike.
 *
 * A generator is a benchmark's table of operations plus its state. The stream stops for good when
 * memory runs out inside a transaction, since the state then is half-way. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tables/source/generate_common.h"

static const struct cleave_generate_ops *const registry[] = {
    &cleave__generate_tpcc,
    &cleave__generate_tatp,
    &cleave__generate_epinions,
};
enum { REGISTRY_COUNT = sizeof registry / sizeof registry[0] };

const struct cleave_benchmark *cleave__benchmark_at(uint32_t index)
{
    return index < REGISTRY_COUNT ? &registry[index]->benchmark : NULL;
}

/* Names joined by ", ", for messages. */
static void join(char *out, size_t size, const char *name)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
}

static enum cleave_status check_options(const struct cleave_benchmark *benchmark,
                                        const struct cleave_benchmark_option *options,
                                        uint32_t count, struct cleave_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = options[i].name;
        if (!name || !options[i].value)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s: an option needs the form name=value", benchmark->name);
        bool known = false;
        char names[400] = "";
        for (uint32_t j = 0; benchmark->options[j][0]; j++) {
            known = known || strcmp(benchmark->options[j][0], name) == 0;
            join(names, sizeof names, benchmark->options[j][0]);
        }
        if (!known)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s has no option \"%.60s\"; it has: %s", benchmark->name, name,
                                    names);
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(options[j].name, name) == 0)
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s: option %s is given twice",
                                        benchmark->name, name);
        }
    }
    return CLEAVE_OK;
}

static const char *option_value(const struct cleave_benchmark_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->count; i++) {
        if (strcmp(options->options[i].name, name) == 0)
            return options->options[i].value;
    }
    return NULL;
}

/* Digits only, up to 10 of them. */
static bool read_number(const char *text, const char **end, uint64_t *out)
{
    uint64_t value = 0;
    const char *c = text;
    while (*c >= '0' && *c <= '9' && c - text < 10)
        value = value * 10 + (uint64_t)(*c++ - '0');
    *end = c;
    *out = value;
    return c != text && !(*c >= '0' && *c <= '9');
}

enum cleave_status cleave__generator_option_integer(const struct cleave_benchmark_options *options,
                                                    const char *name, uint32_t low, uint32_t high,
                                                    uint32_t *value, struct cleave_error *error)
{
    const char *text = option_value(options, name);
    if (!text)
        return CLEAVE_OK;
    const char *end;
    uint64_t number;
    if (!read_number(text, &end, &number) || *end || number < low || number > high)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s: option %s=%.60s: give a whole number from %u to %u",
                                options->benchmark, name, text, low, high);
    *value = (uint32_t)number;
    return CLEAVE_OK;
}

enum cleave_status cleave__generator_option_choice(const struct cleave_benchmark_options *options,
                                                   const char *name, const char *const *choices,
                                                   uint32_t *value, struct cleave_error *error)
{
    const char *text = option_value(options, name);
    if (!text)
        return CLEAVE_OK;
    char names[200] = "";
    for (uint32_t i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return CLEAVE_OK;
        }
        join(names, sizeof names, choices[i]);
    }
    return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "%s: option %s=%.60s: give one of: %s",
                            options->benchmark, name, text, names);
}

enum cleave_status cleave__generator_option_weights(const struct cleave_benchmark_options *options,
                                                    const char *name, uint32_t kinds,
                                                    uint32_t *weights, struct cleave_error *error)
{
    const char *text = option_value(options, name);
    if (!text)
        return CLEAVE_OK;
    uint32_t read[16] = {0};
    uint64_t sum = 0;
    const char *c = text;
    uint32_t count = 0;
    while (count < kinds) {
        uint64_t number;
        if (!read_number(c, &c, &number) || number > 10000)
            break;
        sum += number;
        read[count++] = (uint32_t)number;
        if (*c != '/')
            break;
        c++;
    }
    if (count != kinds || *c || c[-1] == '/' || sum == 0 || sum > 10000)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "%s: option %s=%.60s: give %u whole weights separated by '/', "
                                "their sum from 1 to 10000",
                                options->benchmark, name, text, kinds);
    memcpy(weights, read, kinds * sizeof read[0]);
    return CLEAVE_OK;
}

enum cleave_status cleave__generator_new(const char *benchmark,
                                         const struct cleave_benchmark_option *options,
                                         uint32_t option_count, uint64_t seed,
                                         struct cleave_generator **out, struct cleave_error *error)
{
    const struct cleave_generate_ops *ops = NULL;
    char names[200] = "";
    for (uint32_t i = 0; i < REGISTRY_COUNT; i++) {
        if (benchmark && strcmp(registry[i]->benchmark.name, benchmark) == 0)
            ops = registry[i];
        join(names, sizeof names, registry[i]->benchmark.name);
    }
    if (!ops)
        return cleave_error_set(error, CLEAVE_NOT_FOUND, "no benchmark \"%.60s\"; there are: %s",
                                benchmark ? benchmark : "", names);
    enum cleave_status status = check_options(&ops->benchmark, options, option_count, error);
    if (status != CLEAVE_OK)
        return status;
    struct cleave_generator *generator = calloc(1, sizeof *generator);
    if (!generator)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", benchmark);
    generator->ops = ops;
    generator->seed = seed;
    cleave__random_seed(&generator->random, seed);
    struct cleave_benchmark_options given = {benchmark, options, option_count};
    status = ops->create(generator, &given, error);
    if (status == CLEAVE_OK)
        status = cleave__schema_parse_ddl(ops->ddl, strlen(ops->ddl), benchmark, &generator->schema,
                                          error);
    if (status == CLEAVE_OK && !ops->sizes(generator))
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory", benchmark);
    if (status != CLEAVE_OK) {
        cleave__generator_free(generator);
        return status;
    }
    *out = generator;
    return CLEAVE_OK;
}

const struct cleave_schema *cleave__generator_schema(const struct cleave_generator *generator)
{
    return generator->schema;
}

const char *cleave__generator_ddl(const struct cleave_generator *generator)
{
    return generator->ops->ddl;
}

enum cleave_status cleave__generator_next(struct cleave_generator *generator,
                                          struct cleave_trace_transaction *out, const char **kind,
                                          struct cleave_error *error)
{
    const char *name = NULL;
    cleave__draft_reset(&generator->script);
    if (!generator->failed)
        name = generator->ops->next(generator);
    if (!name || !cleave__draft_finish(&generator->script)) {
        generator->failed = true;
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory",
                                generator->ops->benchmark.name);
    }
    *out = (struct cleave_trace_transaction){
        .session = generator->session,
        .statements = generator->script.statements.data,
        .statement_count = (uint32_t)generator->script.statements.count,
    };
    if (kind)
        *kind = name;
    return CLEAVE_OK;
}

enum cleave_status cleave__generator_rows(
    const struct cleave_generator *generator,
    enum cleave_status (*each)(void *context, const struct cleave_generated_row *row,
                               struct cleave_error *error),
    void *context, struct cleave_error *error)
{
    struct cleave_row_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "%s: out of memory",
                                generator->ops->benchmark.name);
    writer->schema = generator->schema;
    writer->each = each;
    writer->context = context;
    writer->error = error;
    writer->row.values = writer->values;
    enum cleave_status status = generator->ops->rows(generator, writer);
    free(writer);
    return status;
}

void cleave__generator_free(struct cleave_generator *generator)
{
    if (!generator)
        return;
    if (generator->state)
        generator->ops->destroy(generator->state);
    cleave__schema_free(generator->schema);
    cleave__draft_free(&generator->script);
    free(generator);
}

/* ---- sizes ---- */

static struct cleave_table *table_named(struct cleave_schema *schema, const char *name)
{
    uint32_t index = cleave__schema_table(schema, name, strlen(name));
    return index == CLEAVE_ABSENT ? NULL : &schema->tables[index];
}

void cleave__size_table(struct cleave_schema *schema, const char *name, double rows,
                        double row_bytes)
{
    struct cleave_table *table = table_named(schema, name);
    if (!table)
        return;
    table->rows = rows;
    table->row_bytes = row_bytes;
    table->size_origin = CLEAVE_SIZE_GIVEN;
}

static struct cleave_column *column_named(struct cleave_schema *schema, const char *name,
                                          const char *column)
{
    struct cleave_table *table = table_named(schema, name);
    uint32_t index = table ? cleave__schema_column(table, column, strlen(column)) : CLEAVE_ABSENT;
    return index == CLEAVE_ABSENT ? NULL : &table->columns[index];
}

bool cleave__size_column(struct cleave_schema *schema, const char *name, const char *column,
                         int64_t low, int64_t high)
{
    struct cleave_column *found = column_named(schema, name, column);
    if (!found || high < low)
        return true;
    struct cleave_value *bounds = cleave__arena_array(&schema->arena, 2, sizeof *bounds);
    if (!bounds)
        return false;
    bounds[0] = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = low};
    bounds[1] = (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = high};
    found->stats = (struct cleave_column_stats){
        .known = true,
        .distinct = (double)(high - low + 1),
        .width = 4,
        .bound_count = high > low ? 2 : 0,
        .bounds = bounds,
    };
    return true;
}

bool cleave__size_digits(struct cleave_schema *schema, const char *name, const char *column,
                         uint32_t count, int digits)
{
    enum { BOUNDS = 101 }; /* as many as PostgreSQL keeps by default */
    struct cleave_column *found = column_named(schema, name, column);
    uint32_t bounds_wanted = count < BOUNDS ? count : BOUNDS;
    if (!found || bounds_wanted < 2)
        return true;
    struct cleave_value *bounds =
        cleave__arena_array(&schema->arena, bounds_wanted, sizeof *bounds);
    if (!bounds)
        return false;
    for (uint32_t i = 0; i < bounds_wanted; i++) {
        char text[32];
        uint32_t number = 1 + (uint32_t)((uint64_t)(count - 1) * i / (bounds_wanted - 1));
        int length = snprintf(text, sizeof text, "%0*u", digits, number);
        const char *copy = cleave__arena_copy(&schema->arena, text, (size_t)length);
        if (!copy)
            return false;
        bounds[i] =
            (struct cleave_value){.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = copy};
    }
    found->stats = (struct cleave_column_stats){
        .known = true,
        .distinct = count,
        .width = digits + 1,
        .bound_count = bounds_wanted,
        .bounds = bounds,
    };
    return true;
}
