/* Typed constants: type names, reading, order, hash, print. See value.h. */
#include "tables/sql/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/random.h"
#include "tables/sql/datetime.h"
#include "tables/sql/number.h"

/* The name in one form: lower case, no typmod "(...)", single blanks, no "pg_catalog.". */
static void normalize(const char *name, char *buffer, size_t size)
{
    size_t n = 0;
    int depth = 0;
    for (; *name && n + 1 < size; name++) {
        char c = *name;
        if (c == '(')
            depth++;
        if (depth == 0) {
            if (c >= 'A' && c <= 'Z')
                c = (char)(c - 'A' + 'a');
            bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
            if (!blank)
                buffer[n++] = c;
            else if (n && buffer[n - 1] != ' ')
                buffer[n++] = ' ';
        }
        if (c == ')' && depth > 0)
            depth--;
    }
    while (n && buffer[n - 1] == ' ')
        n--;
    buffer[n] = 0;
    static const char catalog[] = "pg_catalog.";
    if (strncmp(buffer, catalog, sizeof catalog - 1) == 0)
        memmove(buffer, buffer + sizeof catalog - 1, n - (sizeof catalog - 1) + 1);
}

enum cleave_type cleave__type_of_name(const char *name)
{
    static const struct {
        const char *name;
        enum cleave_type type;
    } names[] = {
        {"smallint", CLEAVE_TYPE_INTEGER},
        {"int2", CLEAVE_TYPE_INTEGER},
        {"integer", CLEAVE_TYPE_INTEGER},
        {"int", CLEAVE_TYPE_INTEGER},
        {"int4", CLEAVE_TYPE_INTEGER},
        {"bigint", CLEAVE_TYPE_INTEGER},
        {"int8", CLEAVE_TYPE_INTEGER},
        {"oid", CLEAVE_TYPE_INTEGER},
        {"serial", CLEAVE_TYPE_INTEGER},
        {"serial2", CLEAVE_TYPE_INTEGER},
        {"serial4", CLEAVE_TYPE_INTEGER},
        {"serial8", CLEAVE_TYPE_INTEGER},
        {"smallserial", CLEAVE_TYPE_INTEGER},
        {"bigserial", CLEAVE_TYPE_INTEGER},
        {"numeric", CLEAVE_TYPE_NUMBER},
        {"decimal", CLEAVE_TYPE_NUMBER},
        {"dec", CLEAVE_TYPE_NUMBER},
        {"real", CLEAVE_TYPE_NUMBER},
        {"float", CLEAVE_TYPE_NUMBER},
        {"float4", CLEAVE_TYPE_NUMBER},
        {"float8", CLEAVE_TYPE_NUMBER},
        {"double precision", CLEAVE_TYPE_NUMBER},
        {"boolean", CLEAVE_TYPE_BOOLEAN},
        {"bool", CLEAVE_TYPE_BOOLEAN},
        {"date", CLEAVE_TYPE_DATE},
        {"timestamp", CLEAVE_TYPE_TIMESTAMP},
        {"timestamp without time zone", CLEAVE_TYPE_TIMESTAMP},
        {"timestamp with time zone", CLEAVE_TYPE_TIMESTAMP},
        {"timestamptz", CLEAVE_TYPE_TIMESTAMP},
        {"time", CLEAVE_TYPE_TIME},
        {"time without time zone", CLEAVE_TYPE_TIME},
        {"time with time zone", CLEAVE_TYPE_TIME},
        {"timetz", CLEAVE_TYPE_TIME},
        {"uuid", CLEAVE_TYPE_UUID},
        {"char", CLEAVE_TYPE_CHAR},
        {"character", CLEAVE_TYPE_CHAR},
        {"bpchar", CLEAVE_TYPE_CHAR},
        {"nchar", CLEAVE_TYPE_CHAR},
        {"national char", CLEAVE_TYPE_CHAR},
        {"national character", CLEAVE_TYPE_CHAR},
    };
    char plain[64];
    normalize(name, plain, sizeof plain);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(plain, names[i].name) == 0)
            return names[i].type;
    }
    return CLEAVE_TYPE_TEXT;
}

const char *cleave__type_name(enum cleave_type type)
{
    static const char *const names[] = {
        [CLEAVE_TYPE_TEXT] = "text",     [CLEAVE_TYPE_INTEGER] = "integer",
        [CLEAVE_TYPE_NUMBER] = "number", [CLEAVE_TYPE_BOOLEAN] = "boolean",
        [CLEAVE_TYPE_DATE] = "date",     [CLEAVE_TYPE_TIMESTAMP] = "timestamp",
        [CLEAVE_TYPE_TIME] = "time",     [CLEAVE_TYPE_UUID] = "uuid",
        [CLEAVE_TYPE_CHAR] = "char",
    };
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "text";
}

static struct cleave_value integer_value(int64_t integer)
{
    return (struct cleave_value){.kind = CLEAVE_INTEGER, .integer = integer};
}

static struct cleave_value text_value(const char *text, size_t length)
{
    return (struct cleave_value){.kind = CLEAVE_TEXT, .length = (uint32_t)length, .text = text};
}

/* Any prefix that tells the word apart, as boolin takes it: "t", "tr", ..., "on", "of". */
static bool parse_boolean(const char *text, size_t length, int64_t *out)
{
    static const struct {
        const char *word;
        uint8_t least, value;
    } words[] = {{"true", 1, 1}, {"false", 1, 0}, {"yes", 1, 1}, {"no", 1, 0},
                 {"on", 2, 1},   {"off", 2, 0},   {"1", 1, 1},   {"0", 1, 0}};
    while (length && (*text == ' ' || (*text >= '\t' && *text <= '\r')))
        text++, length--;
    while (length &&
           (text[length - 1] == ' ' || (text[length - 1] >= '\t' && text[length - 1] <= '\r')))
        length--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (length >= words[i].least && length <= strlen(words[i].word) &&
            strncasecmp(text, words[i].word, length) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

/* 32 hex digits of either case, a hyphen allowed after every fourth, braces allowed around. */
static bool parse_uuid(const char *text, size_t length, char out[36])
{
    if (length >= 2 && text[0] == '{' && text[length - 1] == '}')
        text++, length -= 2;
    size_t digits = 0, n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '-') {
            if (digits == 0 || digits % 4 != 0 || digits == 32 || text[i - 1] == '-')
                return false;
            continue;
        }
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || digits == 32)
            return false;
        if (digits == 8 || digits == 12 || digits == 16 || digits == 20)
            out[n++] = '-';
        out[n++] = c;
        digits++;
    }
    return digits == 32;
}

enum cleave_status cleave__value_parse(enum cleave_type type, const char *text, size_t length,
                                       struct cleave_arena *arena, struct cleave_value *out)
{
    int64_t integer;
    bool parsed;
    if (length > UINT32_MAX)
        return CLEAVE_BAD_INPUT;
    switch (type) {
    case CLEAVE_TYPE_INTEGER:
        parsed = cleave__integer_parse(text, length, &integer);
        break;
    case CLEAVE_TYPE_BOOLEAN:
        parsed = parse_boolean(text, length, &integer);
        break;
    case CLEAVE_TYPE_DATE:
        parsed = cleave__date_parse(text, length, &integer);
        break;
    case CLEAVE_TYPE_TIMESTAMP:
        parsed = cleave__timestamp_parse(text, length, &integer, NULL);
        break;
    case CLEAVE_TYPE_TIME:
        parsed = cleave__time_parse(text, length, &integer);
        break;
    case CLEAVE_TYPE_NUMBER:
        return cleave__number_parse(text, length, arena, out);
    case CLEAVE_TYPE_UUID: {
        char canonical[36];
        if (!parse_uuid(text, length, canonical))
            return CLEAVE_BAD_INPUT;
        if (length == sizeof canonical && memcmp(text, canonical, length) == 0) {
            *out = text_value(text, length);
            return CLEAVE_OK;
        }
        char *copy = cleave__arena_copy(arena, canonical, sizeof canonical);
        if (!copy)
            return CLEAVE_NO_MEMORY;
        *out = text_value(copy, sizeof canonical);
        return CLEAVE_OK;
    }
    case CLEAVE_TYPE_CHAR:
        while (length && text[length - 1] == ' ')
            length--;
        *out = text_value(text, length);
        return CLEAVE_OK;
    case CLEAVE_TYPE_TEXT:
    default:
        *out = text_value(text, length);
        return CLEAVE_OK;
    }
    if (!parsed)
        return CLEAVE_BAD_INPUT;
    *out = integer_value(integer);
    return CLEAVE_OK;
}

/* Kinds in their order: NULL, then numbers of either kind, then text. */
static int rank(const struct cleave_value *value)
{
    return value->kind == CLEAVE_NULL ? 0 : value->kind == CLEAVE_TEXT ? 2 : 1;
}

static const char *number_text(const struct cleave_value *value, char buffer[24], uint32_t *length)
{
    if (value->kind == CLEAVE_NUMBER) {
        *length = value->length;
        return value->text;
    }
    *length = (uint32_t)snprintf(buffer, 24, "%" PRId64, value->integer);
    return buffer;
}

int cleave__value_compare(const struct cleave_value *a, const struct cleave_value *b)
{
    if (a->kind == CLEAVE_INTEGER && b->kind == CLEAVE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    int a_rank = rank(a), b_rank = rank(b);
    if (a_rank != b_rank)
        return a_rank < b_rank ? -1 : 1;
    if (a_rank == 0)
        return 0;
    if (a_rank == 1) {
        char a_buffer[24], b_buffer[24];
        uint32_t a_length, b_length;
        const char *a_text = number_text(a, a_buffer, &a_length);
        const char *b_text = number_text(b, b_buffer, &b_length);
        return cleave__number_compare(a_text, a_length, b_text, b_length);
    }
    uint32_t common = a->length < b->length ? a->length : b->length;
    int order = common ? memcmp(a->text, b->text, common) : 0;
    if (order)
        return order < 0 ? -1 : 1;
    return (a->length > b->length) - (a->length < b->length);
}

uint64_t cleave__value_hash(const struct cleave_value *value)
{
    int64_t integer = value->integer;
    switch (value->kind) {
    case CLEAVE_NULL:
        return 0x9ae16a3b2f90404fu;
    case CLEAVE_NUMBER:
        if (!cleave__number_to_integer(value->text, value->length, &integer))
            return XXH3_64bits(value->text, value->length);
        /* fall through */
    case CLEAVE_INTEGER:
        return cleave__mix64((uint64_t)integer + 0x9e3779b97f4a7c15u);
    case CLEAVE_TEXT:
    default:
        return XXH3_64bits(value->length ? value->text : "", value->length);
    }
}

uint32_t cleave__value_shard(const struct cleave_value *value, uint32_t shards)
{
    int64_t integer = value->integer;
    bool whole = value->kind == CLEAVE_INTEGER ||
                 (value->kind == CLEAVE_NUMBER &&
                  cleave__number_to_integer(value->text, value->length, &integer));
    uint64_t spread =
        whole ? (uint64_t)integer * 0x9e3779b97f4a7c15u : cleave__mix64(cleave__value_hash(value));
    return (uint32_t)(((unsigned __int128)spread * shards) >> 64);
}

/* snprintf's rule for a growing text. */
struct printer {
    char *buffer;
    size_t size, length;
};

static void put(struct printer *p, char c)
{
    if (p->length + 1 < p->size)
        p->buffer[p->length] = c;
    p->length++;
}

static void put_all(struct printer *p, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(p, text[i]);
}

static void put_quoted(struct printer *p, const char *text, size_t length)
{
    put(p, '\'');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            put(p, '\'');
        put(p, text[i]);
    }
    put(p, '\'');
}

int cleave__value_print(const struct cleave_value *value, enum cleave_type type, char *buffer,
                        size_t size)
{
    struct printer p = {buffer, size, 0};
    char text[64];
    switch (value->kind) {
    case CLEAVE_NULL:
        put_all(&p, "NULL", 4);
        break;
    case CLEAVE_NUMBER:
        put_all(&p, value->text, value->length);
        break;
    case CLEAVE_TEXT:
        put_quoted(&p, value->text, value->length);
        break;
    case CLEAVE_INTEGER:
    default:
        if (type == CLEAVE_TYPE_DATE)
            cleave__date_print(value->integer, text);
        else if (type == CLEAVE_TYPE_TIMESTAMP)
            cleave__timestamp_print(value->integer, text);
        else if (type == CLEAVE_TYPE_TIME)
            cleave__time_print(value->integer, text);
        else if (type == CLEAVE_TYPE_BOOLEAN && (value->integer == 0 || value->integer == 1))
            strcpy(text, value->integer ? "true" : "false");
        else
            sprintf(text, "%" PRId64, value->integer);
        if (type == CLEAVE_TYPE_DATE || type == CLEAVE_TYPE_TIMESTAMP || type == CLEAVE_TYPE_TIME)
            put_quoted(&p, text, strlen(text));
        else
            put_all(&p, text, strlen(text));
    }
    if (size)
        buffer[p.length < size ? p.length : size - 1] = 0;
    return p.length > INT32_MAX ? INT32_MAX : (int)p.length;
}
