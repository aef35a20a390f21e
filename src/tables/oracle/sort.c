/* SQL type names -> sorts. Types that are not in a list here are the user's own. */
#include "tables/oracle/sort.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const strings[] = {
    "text", "varchar", "character varying", "name", "national character varying", "nchar varying"};

static const char *const opaque[] = {
    "citext",   "json",    "jsonb",     "interval",  "bytea",     "money",     "inet",
    "cidr",     "macaddr", "macaddr8",  "bit",       "varbit",    "xml",       "tsvector",
    "tsquery",  "point",   "line",      "lseg",      "box",       "path",      "polygon",
    "circle",   "hstore",  "ltree",     "geometry",  "geography", "int4range", "int8range",
    "numrange", "tsrange", "tstzrange", "daterange", "timetz",    "record",    "vector",
    "pg_lsn",   "tid",     "xid",       "xid8",      "cid",       "regclass",  "regtype",
    "regproc",  "regrole", "cube",      "seg",       "isbn"};

/* The name is `word`, perhaps with something in brackets or further words after it. */
static bool is_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    if (!strncasecmp(name, "pg_catalog.", 11))
        name += 11;
    return !strncasecmp(name, word, length) && !isalnum((unsigned char)name[length]) &&
           name[length] != '_';
}

int64_t cleave__oracle_modifier(const char *name, unsigned n)
{
    const char *at = strchr(name, '(');
    while (at && n-- > 0)
        at = strchr(at + 1, ',');
    if (!at)
        return -1;
    char *end;
    long value = strtol(at + 1, &end, 10);
    return end == at + 1 || value < 0 || value > 1 << 30 ? -1 : value;
}

enum oracle_sort cleave__oracle_sort(enum cleave_type type, const char *name)
{
    if (!name)
        name = type == CLEAVE_TYPE_TEXT ? "text" : "";
    if (strchr(name, '[') || is_word(name, "array"))
        return ORACLE_SORT_OPAQUE;
    switch (type) {
    case CLEAVE_TYPE_INTEGER:
        return ORACLE_SORT_INTEGER;
    case CLEAVE_TYPE_NUMBER: {
        int64_t bits = cleave__oracle_modifier(name, 0);
        if (is_word(name, "real") || is_word(name, "float4") ||
            (is_word(name, "float") && bits >= 1 && bits <= 24))
            return ORACLE_SORT_REAL;
        if (is_word(name, "double") || is_word(name, "float") || is_word(name, "float8"))
            return ORACLE_SORT_DOUBLE;
        return ORACLE_SORT_NUMERIC;
    }
    case CLEAVE_TYPE_BOOLEAN:
        return ORACLE_SORT_BOOLEAN;
    case CLEAVE_TYPE_DATE:
        return ORACLE_SORT_DATE;
    case CLEAVE_TYPE_TIMESTAMP:
        return is_word(name, "timestamptz") || strcasestr(name, "with time zone")
                   ? ORACLE_SORT_TIMESTAMPTZ
                   : ORACLE_SORT_TIMESTAMP;
    case CLEAVE_TYPE_TIME:
        return is_word(name, "timetz") || strcasestr(name, "with time zone") ? ORACLE_SORT_OPAQUE
                                                                             : ORACLE_SORT_TIME;
    case CLEAVE_TYPE_UUID:
        return ORACLE_SORT_UUID;
    case CLEAVE_TYPE_CHAR:
        return ORACLE_SORT_CHAR;
    case CLEAVE_TYPE_TEXT:
        break;
    }
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        if (is_word(name, strings[i]))
            return ORACLE_SORT_STRING;
    }
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++) {
        if (is_word(name, opaque[i]))
            return ORACLE_SORT_OPAQUE;
    }
    return ORACLE_SORT_LABEL;
}

enum cleave_type cleave__oracle_sort_type(enum oracle_sort sort)
{
    static const enum cleave_type types[] = {
        [ORACLE_SORT_ANY] = CLEAVE_TYPE_TEXT,
        [ORACLE_SORT_OPAQUE] = CLEAVE_TYPE_TEXT,
        [ORACLE_SORT_LABEL] = CLEAVE_TYPE_TEXT,
        [ORACLE_SORT_INTEGER] = CLEAVE_TYPE_INTEGER,
        [ORACLE_SORT_NUMERIC] = CLEAVE_TYPE_NUMBER,
        [ORACLE_SORT_DOUBLE] = CLEAVE_TYPE_NUMBER,
        [ORACLE_SORT_REAL] = CLEAVE_TYPE_NUMBER,
        [ORACLE_SORT_BOOLEAN] = CLEAVE_TYPE_BOOLEAN,
        [ORACLE_SORT_DATE] = CLEAVE_TYPE_DATE,
        [ORACLE_SORT_TIMESTAMP] = CLEAVE_TYPE_TIMESTAMP,
        [ORACLE_SORT_TIMESTAMPTZ] = CLEAVE_TYPE_TIMESTAMP,
        [ORACLE_SORT_TIME] = CLEAVE_TYPE_TIME,
        [ORACLE_SORT_UUID] = CLEAVE_TYPE_UUID,
        [ORACLE_SORT_CHAR] = CLEAVE_TYPE_CHAR,
        [ORACLE_SORT_STRING] = CLEAVE_TYPE_TEXT,
    };
    return types[sort];
}

bool cleave__oracle_sort_is_number(enum oracle_sort sort)
{
    return sort == ORACLE_SORT_INTEGER || sort == ORACLE_SORT_NUMERIC ||
           sort == ORACLE_SORT_DOUBLE || sort == ORACLE_SORT_REAL;
}

bool cleave__oracle_sort_is_integer(enum oracle_sort sort)
{
    return sort == ORACLE_SORT_INTEGER || sort == ORACLE_SORT_BOOLEAN || sort == ORACLE_SORT_DATE ||
           sort == ORACLE_SORT_TIMESTAMP || sort == ORACLE_SORT_TIMESTAMPTZ ||
           sort == ORACLE_SORT_TIME;
}

int cleave__oracle_floor(const struct cleave_value *number, int64_t *out)
{
    bool negative = number->length && number->text[0] == '-';
    int64_t whole = 0;
    for (uint32_t i = negative; i < number->length && number->text[i] != '.'; i++) {
        if (!isdigit((unsigned char)number->text[i]) || __builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, number->text[i] - '0', &whole))
            return negative ? -1 : 1;
    }
    bool fraction = memchr(number->text, '.', number->length) != NULL;
    *out = negative ? -whole - fraction : whole;
    return 0;
}
