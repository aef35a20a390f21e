/* See family.h. */
#include "tables/sql/family.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Does `name` start with the word (an optional "pg_catalog." aside)? */
static bool starts(const char *name, const char *word)
{
    static const char catalog[] = "pg_catalog.";
    if (strncasecmp(name, catalog, sizeof catalog - 1) == 0)
        name += sizeof catalog - 1;
    size_t length = strlen(word);
    return strncasecmp(name, word, length) == 0 && !isalnum((unsigned char)name[length]) &&
           name[length] != '_';
}

static bool starts_any(const char *name, const char *const *words)
{
    for (; *words; words++) {
        if (starts(name, *words))
            return true;
    }
    return false;
}

/* Types with several texts for one value, or several values for one text. */
static const char *const opaque_types[] = {
    "citext",   "json",    "jsonb",     "interval",  "bytea",     "money",     "inet",
    "cidr",     "macaddr", "macaddr8",  "bit",       "varbit",    "xml",       "tsvector",
    "tsquery",  "point",   "line",      "lseg",      "box",       "path",      "polygon",
    "circle",   "hstore",  "ltree",     "geometry",  "geography", "int4range", "int8range",
    "numrange", "tsrange", "tstzrange", "daterange", "timetz",    "record",    "vector",
    "pg_lsn",   "tid",     "xid",       "xid8",      "cid",       "regclass",  "regtype",
    "regproc",  "regrole", "cube",      "seg",       "isbn",      NULL};
static const char *const string_types[] = {
    "text",          "varchar", "character varying", "name", "national character varying",
    "nchar varying", NULL};

/* The numbers between the first parentheses; -1 where there is none. */
static void modifiers(const char *name, int32_t *first, int32_t *second)
{
    *first = *second = -1;
    const char *p = strchr(name, '(');
    if (!p)
        return;
    char *end;
    long value = strtol(p + 1, &end, 10);
    if (end == p + 1 || value < 0 || value > 1 << 30)
        return;
    *first = (int32_t)value;
    while (*end == ' ')
        end++;
    if (*end != ',')
        return;
    value = strtol(end + 1, NULL, 10);
    if (value >= -1000 && value <= 1 << 30)
        *second = (int32_t)value;
}

struct cleave_domain_type cleave__domain_type(enum cleave_type type, const char *name)
{
    struct cleave_domain_type result = {CLEAVE_FAMILY_STRING, name, -1};
    int32_t first = -1, second = -1;
    if (name)
        modifiers(name, &first, &second);
    if (name && (strchr(name, '[') || starts(name, "array"))) {
        result.family = CLEAVE_FAMILY_OPAQUE;
        return result;
    }
    switch (type) {
    case CLEAVE_TYPE_INTEGER:
        result.family = CLEAVE_FAMILY_INTEGER;
        break;
    case CLEAVE_TYPE_NUMBER:
        result.family = CLEAVE_FAMILY_NUMERIC;
        if (name && (starts(name, "real") || starts(name, "float4") ||
                     (starts(name, "float") && first >= 1 && first <= 24)))
            result.family = CLEAVE_FAMILY_FLOAT4;
        else if (name &&
                 (starts(name, "double") || starts(name, "float") || starts(name, "float8")))
            result.family = CLEAVE_FAMILY_FLOAT8;
        else if (first >= 0)
            result.modifier = second >= 0 ? second : 0;
        break;
    case CLEAVE_TYPE_BOOLEAN:
        result.family = CLEAVE_FAMILY_BOOLEAN;
        break;
    case CLEAVE_TYPE_DATE:
        result.family = CLEAVE_FAMILY_DATE;
        break;
    case CLEAVE_TYPE_TIMESTAMP:
        result.family = CLEAVE_FAMILY_TIMESTAMP;
        if (name && (starts(name, "timestamptz") || strcasestr(name, "with time zone")))
            result.family = CLEAVE_FAMILY_TIMESTAMPTZ;
        result.modifier = first;
        break;
    case CLEAVE_TYPE_TIME:
        result.family = CLEAVE_FAMILY_TIME;
        if (name && (starts(name, "timetz") || strcasestr(name, "with time zone")))
            result.family = CLEAVE_FAMILY_OPAQUE;
        result.modifier = first;
        break;
    case CLEAVE_TYPE_UUID:
        result.family = CLEAVE_FAMILY_UUID;
        break;
    case CLEAVE_TYPE_CHAR:
        result.family = CLEAVE_FAMILY_CHAR;
        result.modifier = first >= 0 ? first : name && starts(name, "bpchar") ? -1 : 1;
        if (!name)
            result.modifier = -1;
        break;
    case CLEAVE_TYPE_TEXT:
    default:
        if (!name || starts_any(name, string_types))
            result.modifier = first;
        else if (starts_any(name, opaque_types))
            result.family = CLEAVE_FAMILY_OPAQUE;
        else
            result.family = CLEAVE_FAMILY_OTHER;
        break;
    }
    return result;
}

enum cleave_type cleave__family_type(enum cleave_family family)
{
    switch (family) {
    case CLEAVE_FAMILY_INTEGER:
        return CLEAVE_TYPE_INTEGER;
    case CLEAVE_FAMILY_NUMERIC:
    case CLEAVE_FAMILY_FLOAT8:
    case CLEAVE_FAMILY_FLOAT4:
        return CLEAVE_TYPE_NUMBER;
    case CLEAVE_FAMILY_BOOLEAN:
        return CLEAVE_TYPE_BOOLEAN;
    case CLEAVE_FAMILY_DATE:
        return CLEAVE_TYPE_DATE;
    case CLEAVE_FAMILY_TIMESTAMP:
    case CLEAVE_FAMILY_TIMESTAMPTZ:
        return CLEAVE_TYPE_TIMESTAMP;
    case CLEAVE_FAMILY_TIME:
        return CLEAVE_TYPE_TIME;
    case CLEAVE_FAMILY_UUID:
        return CLEAVE_TYPE_UUID;
    case CLEAVE_FAMILY_CHAR:
        return CLEAVE_TYPE_CHAR;
    default:
        return CLEAVE_TYPE_TEXT;
    }
}
