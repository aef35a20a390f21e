/* Constraints files, through libcyaml: one schema below serves reading and writing. */
#include "tables/refine/constraints.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/output.h"

enum { FILE_MAX = 16 << 20 };

/* ---- the file's shape ---- */

struct file_rows {
    char *table, *column, *value;
};

struct file_rule {
    enum cleave_rule_kind kind;
    char *table, *column, *value;
    struct file_rows *with;
    uint32_t *shard;
};

struct file_table {
    char *table;
    enum cleave_replicate *replicate;
    char *key;
};

struct file_node {
    uint32_t shard;
    double *storage_bytes, *accesses, *network, *share;
};

struct file_weights {
    double size, access;
};

struct file {
    double *epsilon;
    bool *strict, *replication, *derived_keys, *exceptions, *rank_by_ratio;
    uint32_t *attributes, *iterations, *split_top;
    double *alpha, *coordination;
    struct file_weights *weights;
    struct file_node *nodes;
    uint64_t nodes_count;
    struct file_table *tables;
    uint64_t tables_count;
    struct file_rule *rules;
    uint64_t rules_count;
};

static const cyaml_strval_t kinds[] = {{"pin", CLEAVE_PIN},
                                       {"together", CLEAVE_TOGETHER},
                                       {"apart", CLEAVE_APART},
                                       {"split", CLEAVE_SPLIT},
                                       {"merge", CLEAVE_MERGE}};
static const cyaml_strval_t modes[] = {{"auto", CLEAVE_REPLICATE_AUTO},
                                       {"always", CLEAVE_REPLICATE_ALWAYS},
                                       {"never", CLEAVE_REPLICATE_NEVER}};

/* libcyaml's own truth values take any word that is not "false" or the like for true. */
static const cyaml_strval_t truths[] = {{"true", 1}, {"false", 0}, {"True", 1}, {"False", 0},
                                        {"TRUE", 1}, {"FALSE", 0}, {"yes", 1},  {"no", 0},
                                        {"on", 1},   {"off", 0}};

#define TRUTH(name)                                                                                \
    CYAML_FIELD_ENUM_PTR(#name, MAY | CYAML_FLAG_STRICT, struct file, name, truths,                \
                         CYAML_ARRAY_LEN(truths))
#define TEXT(flags, type, name) CYAML_FIELD_STRING_PTR(#name, flags, type, name, 0, CYAML_UNLIMITED)
enum { NEED = CYAML_FLAG_POINTER, MAY = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };

static const cyaml_schema_field_t rows_fields[] = {
    TEXT(NEED, struct file_rows, table), TEXT(MAY, struct file_rows, column),
    TEXT(MAY, struct file_rows, value), CYAML_FIELD_END};
static const cyaml_schema_field_t rule_fields[] = {
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_STRICT, struct file_rule, kind, kinds,
                     CYAML_ARRAY_LEN(kinds)),
    TEXT(NEED, struct file_rule, table),
    TEXT(MAY, struct file_rule, column),
    TEXT(MAY, struct file_rule, value),
    CYAML_FIELD_MAPPING_PTR("with", MAY, struct file_rule, with, rows_fields),
    CYAML_FIELD_UINT_PTR("shard", MAY, struct file_rule, shard),
    CYAML_FIELD_END};
static const cyaml_schema_value_t rule_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct file_rule, rule_fields)};
static const cyaml_schema_field_t table_fields[] = {
    TEXT(NEED, struct file_table, table),
    CYAML_FIELD_ENUM_PTR("replicate", MAY | CYAML_FLAG_STRICT, struct file_table, replicate, modes,
                         CYAML_ARRAY_LEN(modes)),
    TEXT(MAY, struct file_table, key), CYAML_FIELD_END};
static const cyaml_schema_value_t table_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct file_table, table_fields)};
static const cyaml_schema_field_t node_fields[] = {
    CYAML_FIELD_UINT("shard", CYAML_FLAG_DEFAULT, struct file_node, shard),
    CYAML_FIELD_FLOAT_PTR("storage_bytes", MAY, struct file_node, storage_bytes),
    CYAML_FIELD_FLOAT_PTR("accesses", MAY, struct file_node, accesses),
    CYAML_FIELD_FLOAT_PTR("network", MAY, struct file_node, network),
    CYAML_FIELD_FLOAT_PTR("share", MAY, struct file_node, share),
    CYAML_FIELD_END};
static const cyaml_schema_value_t node_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct file_node, node_fields)};
static const cyaml_schema_field_t weights_fields[] = {
    CYAML_FIELD_FLOAT("size", CYAML_FLAG_DEFAULT, struct file_weights, size),
    CYAML_FIELD_FLOAT("access", CYAML_FLAG_DEFAULT, struct file_weights, access), CYAML_FIELD_END};
static const cyaml_schema_field_t file_fields[] = {
    CYAML_FIELD_FLOAT_PTR("epsilon", MAY, struct file, epsilon),
    TRUTH(strict),
    TRUTH(replication),
    TRUTH(derived_keys),
    TRUTH(exceptions),
    TRUTH(rank_by_ratio),
    CYAML_FIELD_UINT_PTR("attributes", MAY, struct file, attributes),
    CYAML_FIELD_UINT_PTR("iterations", MAY, struct file, iterations),
    CYAML_FIELD_UINT_PTR("split_top", MAY, struct file, split_top),
    CYAML_FIELD_FLOAT_PTR("alpha", MAY, struct file, alpha),
    CYAML_FIELD_FLOAT_PTR("coordination", MAY, struct file, coordination),
    CYAML_FIELD_MAPPING_PTR("weights", MAY, struct file, weights, weights_fields),
    CYAML_FIELD_SEQUENCE("nodes", MAY, struct file, nodes, &node_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("tables", MAY, struct file, tables, &table_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("rules", MAY, struct file, rules, &rule_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t file_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file, file_fields)};

/* Keeps the first complaint, and the backtrace's position that follows it. */
struct complaint {
    char text[400];
    size_t length;
};

static void complain(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    struct complaint *complaint = context;
    if (level < CYAML_LOG_ERROR)
        return;
    size_t room = sizeof complaint->text - complaint->length;
    int length = vsnprintf(complaint->text + complaint->length, room, format, arguments);
    if (length > 0)
        complaint->length += (size_t)length < room ? (size_t)length : room - 1;
    while (complaint->length && complaint->text[complaint->length - 1] == '\n')
        complaint->text[complaint->length - 1] = ' ', complaint->length--;
    if (complaint->length + 2 < sizeof complaint->text)
        complaint->text[complaint->length++] = ' ';
    complaint->text[complaint->length] = 0;
}

/* The library's "Load: Unexpected key: x Load: Backtrace: in mapping (line: 1, ...)" without its
 * own words. */
static const char *plain(struct complaint *complaint)
{
    static const char *const words[] = {"Load: ", "Backtrace: "};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        char *at;
        while ((at = strstr(complaint->text, words[w])))
            memmove(at, at + strlen(words[w]), strlen(at + strlen(words[w])) + 1);
    }
    return complaint->text;
}

static cyaml_config_t config_for(struct complaint *complaint)
{
    return (cyaml_config_t){.log_fn = complain,
                            .log_ctx = complaint,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_ERROR,
                            .flags = CYAML_CFG_NO_ALIAS};
}

/* ---- reading ---- */

static const char *copy(struct cleave_arena *arena, const char *text, bool *ok)
{
    if (!text)
        return NULL;
    char *held = cleave__arena_copy(arena, text, strlen(text));
    *ok &= held != NULL;
    return held;
}

static bool take_lists(const struct file *file, struct cleave_arena *arena,
                       struct cleave_steer *steer)
{
    bool ok = true;
    uint32_t most = 0;
    for (uint64_t n = 0; n < file->nodes_count; n++)
        most = file->nodes[n].shard >= most ? file->nodes[n].shard + 1 : most;
    if (file->nodes_count) {
        steer->nodes = cleave__arena_zalloc(arena, most * sizeof *steer->nodes);
        if (!steer->nodes)
            return false;
        steer->node_count = most;
    }
    for (uint64_t n = 0; n < file->nodes_count; n++) {
        const struct file_node *from = &file->nodes[n];
        struct cleave_node *to = &steer->nodes[from->shard];
        to->storage_bytes = from->storage_bytes ? *from->storage_bytes : 0;
        to->accesses = from->accesses ? *from->accesses : 0;
        to->network = from->network ? *from->network : 0;
        to->share = from->share ? *from->share : 0;
    }
    if (file->tables_count) {
        steer->tables = cleave__arena_zalloc(arena, file->tables_count * sizeof *steer->tables);
        if (!steer->tables)
            return false;
        steer->table_count = (uint32_t)file->tables_count;
    }
    for (uint64_t t = 0; t < file->tables_count; t++) {
        const struct file_table *from = &file->tables[t];
        steer->tables[t].table = copy(arena, from->table, &ok);
        steer->tables[t].key = copy(arena, from->key, &ok);
        steer->tables[t].replicate = from->replicate ? *from->replicate : CLEAVE_REPLICATE_AUTO;
    }
    if (file->rules_count) {
        steer->rules = cleave__arena_zalloc(arena, file->rules_count * sizeof *steer->rules);
        if (!steer->rules)
            return false;
        steer->rule_count = (uint32_t)file->rules_count;
    }
    for (uint64_t r = 0; r < file->rules_count; r++) {
        const struct file_rule *from = &file->rules[r];
        struct cleave_rule *to = &steer->rules[r];
        to->kind = from->kind;
        to->a.table = copy(arena, from->table, &ok);
        to->a.column = copy(arena, from->column, &ok);
        to->a.value = copy(arena, from->value, &ok);
        to->shard = from->shard ? *from->shard : UINT32_MAX;
        if (!from->with)
            continue;
        to->b.table = copy(arena, from->with->table, &ok);
        to->b.column = copy(arena, from->with->column, &ok);
        to->b.value = copy(arena, from->with->value, &ok);
    }
    return ok;
}

static void take_numbers(const struct file *file, struct cleave_steer *steer)
{
#define TAKE(name)                                                                                 \
    if (file->name)                                                                                \
        steer->name = *file->name;
    TAKE(epsilon)
    TAKE(strict)
    TAKE(replication)
    TAKE(derived_keys)
    TAKE(exceptions)
    TAKE(rank_by_ratio)
    TAKE(attributes)
    TAKE(iterations)
    TAKE(split_top)
    TAKE(coordination)
    TAKE(alpha)
#undef TAKE
    if (file->alpha)
        steer->beta = 1 - steer->alpha;
    if (file->weights) {
        steer->size_weight = file->weights->size;
        steer->access_weight = file->weights->access;
    }
}

enum cleave_status cleave__constraints_read(const char *path, const struct cleave_schema *schema,
                                            uint32_t shards, struct cleave_arena *arena,
                                            struct cleave_steer *steer, struct cleave_error *error)
{
    char *text;
    size_t length;
    enum cleave_status status = cleave__input_slurp(path, FILE_MAX, &text, &length, error);
    if (status)
        return status;
    struct complaint complaint = {.length = 0};
    cyaml_config_t config = config_for(&complaint);
    struct file *file = NULL;
    cyaml_err_t failed = cyaml_load_data((const uint8_t *)text, length, &config, &file_value,
                                         (cyaml_data_t **)&file, NULL);
    free(text);
    if (failed)
        return cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: %s%s", path,
                                complaint.length ? plain(&complaint) : "",
                                complaint.length ? "" : cyaml_strerror(failed));
    struct cleave_steer fresh = *steer;
    bool sane = true;
    for (uint64_t n = 0; file && n < file->nodes_count; n++)
        sane &= file->nodes[n].shard < shards;
    if (!sane) {
        status = cleave_error_set(error, CLEAVE_BAD_INPUT,
                                  "%s: nodes: a shard number is not below %u, the number of shards",
                                  path, shards);
    } else if (file) {
        take_numbers(file, &fresh);
        if (!take_lists(file, arena, &fresh))
            status = cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for the constraints");
    }
    if (file)
        cyaml_free(&config, &file_value, file, 0);
    struct cleave_error detail;
    if (!status && cleave__steer_check(&fresh, schema, shards, &detail))
        status = cleave_error_set(error, CLEAVE_BAD_INPUT, "%s: %s", path, detail.message);
    if (!status)
        *steer = fresh;
    return status;
}

/* ---- checking ---- */

static enum cleave_status check_rows(const struct cleave_selector *rows,
                                     const struct cleave_schema *schema, struct cleave_error *error)
{
    if (!rows->table)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "a rule of this kind needs two groups");
    uint32_t t = cleave__schema_table(schema, rows->table, strlen(rows->table));
    if (t == CLEAVE_ABSENT || schema->tables[t].view)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "the schema has no table '%s'",
                                rows->table);
    if (!rows->column)
        return CLEAVE_OK;
    uint32_t c = cleave__schema_column(&schema->tables[t], rows->column, strlen(rows->column));
    if (c == CLEAVE_ABSENT)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s has no column '%s'",
                                rows->table, rows->column);
    struct cleave_arena arena = {0};
    struct cleave_value value;
    enum cleave_status status =
        rows->value ? cleave__value_parse(schema->tables[t].columns[c].type, rows->value,
                                          strlen(rows->value), &arena, &value)
                    : CLEAVE_BAD_ARGUMENT;
    cleave__arena_free(&arena);
    if (status)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "'%s' is no value of %s.%s (%s)",
                                rows->value ? rows->value : "", rows->table, rows->column,
                                schema->tables[t].columns[c].type_name);
    return CLEAVE_OK;
}

static bool bad_number(double value, double low, double high)
{
    return !(value >= low && value <= high);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_rows(const struct cleave_selector *a, const struct cleave_selector *b)
{
    return same_text(a->table, b->table) && same_text(a->column, b->column) &&
           same_text(a->value, b->value);
}

/* The shard that the last pin of these rows names; UINT32_MAX: none. */
static uint32_t pinned_to(const struct cleave_steer *steer, const struct cleave_selector *rows)
{
    uint32_t shard = UINT32_MAX;
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        if (steer->rules[r].kind == CLEAVE_PIN && same_rows(&steer->rules[r].a, rows))
            shard = steer->rules[r].shard;
    }
    return shard;
}

/* A pair kept together and apart, or against its pins. */
static enum cleave_status check_contradictions(const struct cleave_steer *steer,
                                               struct cleave_error *error)
{
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_rule *rule = &steer->rules[r];
        if (rule->kind != CLEAVE_TOGETHER && rule->kind != CLEAVE_APART)
            continue;
        bool together = rule->kind == CLEAVE_TOGETHER;
        uint32_t a = pinned_to(steer, &rule->a), b = pinned_to(steer, &rule->b);
        bool against = a != UINT32_MAX && b != UINT32_MAX && (a == b) != together;
        for (uint32_t o = 0; o < steer->rule_count && !against; o++) {
            const struct cleave_rule *other = &steer->rules[o];
            bool opposite = other->kind == (together ? CLEAVE_APART : CLEAVE_TOGETHER);
            against =
                opposite && ((same_rows(&rule->a, &other->a) && same_rows(&rule->b, &other->b)) ||
                             (same_rows(&rule->a, &other->b) && same_rows(&rule->b, &other->a)));
        }
        if (against || (!together && same_rows(&rule->a, &rule->b)))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "%s %s.%s=%s %s.%s=%s contradicts another decision (a pin, "
                                    "together or apart)",
                                    together ? "together" : "apart", rule->a.table, rule->a.column,
                                    rule->a.value, rule->b.table, rule->b.column, rule->b.value);
    }
    return CLEAVE_OK;
}

enum cleave_status cleave__steer_check(const struct cleave_steer *steer,
                                       const struct cleave_schema *schema, uint32_t shards,
                                       struct cleave_error *error)
{
    if (bad_number(steer->epsilon, 0, 1e6))
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "epsilon must be 0 or more");
    if (bad_number(steer->alpha, 0, 1) || bad_number(steer->size_weight, 0, 1e18) ||
        bad_number(steer->access_weight, 0, 1e18) || bad_number(steer->coordination, 1, 1e6))
        return cleave_error_set(
            error, CLEAVE_BAD_ARGUMENT,
            "weights must be 0 or more, alpha within 0..1, coordination 1 or more");
    if (steer->attributes < 1 || steer->attributes > 8)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "attributes must be 1 to 8");
    for (uint32_t n = 0; n < steer->node_count; n++) {
        const struct cleave_node *node = &steer->nodes[n];
        if (bad_number(node->storage_bytes, 0, 1e300) || bad_number(node->accesses, 0, 1e300) ||
            bad_number(node->network, 0, 1e300) || bad_number(node->share, 0, 1e18))
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "node %u: limits and shares must be 0 or more", n);
    }
    for (uint32_t t = 0; t < steer->table_count; t++) {
        struct cleave_selector rows = {steer->tables[t].table, NULL, NULL};
        enum cleave_status status = check_rows(&rows, schema, error);
        if (status)
            return status;
        const char *key = steer->tables[t].key;
        uint32_t table = cleave__schema_table(schema, rows.table, strlen(rows.table));
        if (key && cleave__schema_column(&schema->tables[table], key, strlen(key)) == CLEAVE_ABSENT)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT, "table %s has no column '%s'",
                                    rows.table, key);
    }
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        const struct cleave_rule *rule = &steer->rules[r];
        enum cleave_status status = check_rows(&rule->a, schema, error);
        if (!status && (rule->kind == CLEAVE_TOGETHER || rule->kind == CLEAVE_APART))
            status = check_rows(&rule->b, schema, error);
        if (status)
            return status;
        if (rule->kind == CLEAVE_PIN && rule->shard >= shards)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "pin of %s: shards are numbered 0 to %u", rule->a.table,
                                    shards - 1);
        if (rule->kind != CLEAVE_PIN && !rule->a.column)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "rule about %s: column and value are needed", rule->a.table);
    }
    return check_contradictions(steer, error);
}

/* ---- writing ---- */

static void give_numbers(const struct cleave_steer *steer, struct file *file,
                         struct file_weights *weights, struct cleave_steer *held)
{
    *held = *steer;
    *weights = (struct file_weights){steer->size_weight, steer->access_weight};
    file->weights = weights;
#define GIVE(name) file->name = &held->name;
    GIVE(epsilon)
    GIVE(strict)
    GIVE(replication)
    GIVE(derived_keys)
    GIVE(exceptions)
    GIVE(rank_by_ratio)
    GIVE(attributes)
    GIVE(iterations)
    GIVE(split_top)
    GIVE(coordination)
    GIVE(alpha)
#undef GIVE
}

static bool give_lists(const struct cleave_steer *steer, struct file *file,
                       struct cleave_arena *arena)
{
    file->nodes = cleave__arena_zalloc(arena, (steer->node_count + 1) * sizeof *file->nodes);
    file->tables = cleave__arena_zalloc(arena, (steer->table_count + 1) * sizeof *file->tables);
    file->rules = cleave__arena_zalloc(arena, (steer->rule_count + 1) * sizeof *file->rules);
    if (!file->nodes || !file->tables || !file->rules)
        return false;
    file->nodes_count = steer->node_count;
    file->tables_count = steer->table_count;
    file->rules_count = steer->rule_count;
    for (uint32_t n = 0; n < steer->node_count; n++) {
        struct cleave_node *node = &steer->nodes[n];
        file->nodes[n] = (struct file_node){n, &node->storage_bytes, &node->accesses,
                                            &node->network, &node->share};
    }
    for (uint32_t t = 0; t < steer->table_count; t++) {
        struct cleave_table_steer *table = &steer->tables[t];
        file->tables[t] =
            (struct file_table){(char *)table->table, &table->replicate, (char *)table->key};
    }
    for (uint32_t r = 0; r < steer->rule_count; r++) {
        struct cleave_rule *rule = &steer->rules[r];
        struct file_rule *to = &file->rules[r];
        *to = (struct file_rule){.kind = rule->kind,
                                 .table = (char *)rule->a.table,
                                 .column = (char *)rule->a.column,
                                 .value = (char *)rule->a.value};
        if (rule->kind == CLEAVE_PIN)
            to->shard = &rule->shard;
        if (!rule->b.table)
            continue;
        to->with = cleave__arena_zalloc(arena, sizeof *to->with);
        if (!to->with)
            return false;
        *to->with = (struct file_rows){(char *)rule->b.table, (char *)rule->b.column,
                                       (char *)rule->b.value};
    }
    return true;
}

/* True when a line of the file is about one of its real numbers. */
static bool names_number(const char *line, size_t length)
{
    static const char *const keys[] = {"epsilon",       "alpha",    "coordination",
                                       "size",          "access",   "share",
                                       "storage_bytes", "accesses", "network"};
    while (length && (*line == ' ' || *line == '-'))
        line++, length--;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (length == strlen(keys[k]) && memcmp(line, keys[k], length) == 0)
            return true;
    }
    return false;
}

/* Writes the YAML text with its real numbers as people write them: 0.1 for 1.0000000000000001e-01.
 */
static void write_text(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *line = text + at, *end = memchr(line, '\n', length - at);
        size_t size = end ? (size_t)(end - line) : length - at;
        const char *colon = memchr(line, ':', size);
        char number[64], shortest[64], *stop = number;
        size_t tail = colon ? size - (size_t)(colon - line) : 0;
        double value = 0;
        if (tail > 2 && tail < sizeof number && names_number(line, (size_t)(colon - line))) {
            memcpy(number, colon + 2, tail - 2);
            number[tail - 2] = 0;
            value = strtod(number, &stop);
        }
        if (stop != number && *stop == 0) {
            for (int digits = 1; digits <= 17; digits++) {
                snprintf(shortest, sizeof shortest, "%.*g", digits, value);
                if (strtod(shortest, NULL) == value)
                    break;
            }
            fprintf(out, "%.*s: %s\n", (int)(colon - line), line, shortest);
        } else {
            fwrite(line, 1, size, out);
            fputc('\n', out);
        }
        at += size + 1;
    }
}

enum cleave_status cleave__constraints_write(const char *path, const struct cleave_steer *steer,
                                             struct cleave_error *error)
{
    struct cleave_arena arena = {0};
    struct file file = {0};
    struct file_weights weights;
    struct cleave_steer held;
    struct complaint complaint = {.length = 0};
    cyaml_config_t config = config_for(&complaint);
    char *text = NULL;
    size_t length = 0;
    enum cleave_status status = CLEAVE_OK;
    give_numbers(steer, &file, &weights, &held);
    if (!give_lists(steer, &file, &arena) ||
        cyaml_save_data(&text, &length, &config, &file_value, &file, 0) != CYAML_OK)
        status = cleave_error_set(error, CLEAVE_NO_MEMORY, "cannot write constraints: %s",
                                  complaint.length ? complaint.text : "no memory");
    struct cleave__output output;
    if (!status)
        status = cleave__output_open(&output, path, error);
    if (!status) {
        write_text(output.file, text, length);
        status = cleave__output_commit(&output, error);
    }
    if (text)
        config.mem_fn(config.mem_ctx, text, 0);
    cleave__arena_free(&arena);
    return status;
}
