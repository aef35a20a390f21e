/* See words.h. */
#include "tables/route/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct cleave_words *words, size_t more)
{
    if (!words->grows)
        return true;
    if (words->failed)
        return false;
    size_t need = words->length + more + 1;
    if (need <= words->size)
        return true;
    size_t size = words->size ? words->size : 256;
    while (size < need)
        size *= 2;
    char *data = realloc(words->data, size);
    if (!data) {
        words->failed = true;
        return false;
    }
    words->data = data;
    words->size = size;
    return true;
}

static void blank_controls(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
    }
}

void cleave__words_bytes(struct cleave_words *words, const char *bytes, size_t length)
{
    if (!make_room(words, length))
        return;
    if (words->length < words->size) {
        size_t room = words->size - words->length - 1;
        size_t fits = length < room ? length : room;
        memcpy(words->data + words->length, bytes, fits);
        words->data[words->length + fits] = 0;
    }
    words->length += length;
}

void cleave__words_add(struct cleave_words *words, const char *format, ...)
{
    char small[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof small) {
        cleave__words_bytes(words, small, (size_t)length);
    } else if (length >= 0) {
        char *large = malloc((size_t)length + 1);
        if (large) {
            vsnprintf(large, (size_t)length + 1, format, again);
            cleave__words_bytes(words, large, (size_t)length);
            free(large);
        } else {
            words->failed = true;
        }
    }
    va_end(again);
}

void cleave__words_plain(struct cleave_words *words, const char *text)
{
    char piece[128];
    for (size_t left = strlen(text); left;) {
        size_t length = left < sizeof piece ? left : sizeof piece;
        memcpy(piece, text, length);
        blank_controls(piece, length);
        cleave__words_bytes(words, piece, length);
        text += length;
        left -= length;
    }
}

void cleave__words_value(struct cleave_words *words, const struct cleave_value *value,
                         enum cleave_type type, size_t most)
{
    struct cleave_value shown = *value;
    bool cut = most && value->kind == CLEAVE_TEXT && value->length > most;
    if (cut)
        shown.length = (uint32_t)most;
    char small[256];
    int length = cleave__value_print(&shown, type, small, sizeof small);
    if (length < 0)
        return;
    if ((size_t)length < sizeof small) {
        if (words->one_line)
            blank_controls(small, (size_t)length);
        cleave__words_bytes(words, small, (size_t)length);
    } else {
        char *large = malloc((size_t)length + 1);
        if (large) {
            cleave__value_print(&shown, type, large, (size_t)length + 1);
            if (words->one_line)
                blank_controls(large, (size_t)length);
            cleave__words_bytes(words, large, (size_t)length);
            free(large);
        } else {
            words->failed = true;
        }
    }
    if (cut)
        cleave__words_bytes(words, "...", 3);
}

void cleave__words_literal(struct cleave_words *words, const char *text, size_t length)
{
    struct cleave_value value = {.kind = CLEAVE_TEXT, .text = text};
    value.length = (uint32_t)length;
    cleave__words_value(words, &value, CLEAVE_TYPE_TEXT, 0);
}

void cleave__words_range(struct cleave_words *words, const struct cleave_range *range,
                         enum cleave_type type)
{
    bool low_any = range->flags & CLEAVE_LOW_UNBOUNDED,
         high_any = range->flags & CLEAVE_HIGH_UNBOUNDED;
    bool low_open = range->flags & CLEAVE_LOW_OPEN, high_open = range->flags & CLEAVE_HIGH_OPEN;
    if (low_any && high_any) {
        cleave__words_add(words, "is not null");
    } else if (cleave__range_is_point(range)) {
        cleave__words_add(words, range->low.kind == CLEAVE_NULL ? "is " : "= ");
        cleave__words_value(words, &range->low, type, 40);
    } else if (!low_any && !high_any && !low_open && !high_open) {
        cleave__words_add(words, "between ");
        cleave__words_value(words, &range->low, type, 40);
        cleave__words_add(words, " and ");
        cleave__words_value(words, &range->high, type, 40);
    } else {
        if (!low_any) {
            cleave__words_add(words, low_open ? "> " : ">= ");
            cleave__words_value(words, &range->low, type, 40);
        }
        if (!high_any) {
            cleave__words_add(words, "%s%s", low_any ? "" : " and ", high_open ? "< " : "<= ");
            cleave__words_value(words, &range->high, type, 40);
        }
    }
}

/* Lower-case words that need no quotes; reserved ones are quoted to be safe: any name that is not
 * plain, and every name of letters only that a parser could take for a keyword, costs only quotes.
 */
static void add_part(struct cleave_words *words, const char *name, size_t length)
{
    static const char *const reserved[] = {
        "all",          "analyse",    "analyze",    "and",           "any",         "array",
        "as",           "asc",        "asymmetric", "authorization", "binary",      "both",
        "case",         "cast",       "check",      "collate",       "collation",   "column",
        "concurrently", "constraint", "create",     "cross",         "default",     "deferrable",
        "desc",         "distinct",   "do",         "else",          "end",         "except",
        "false",        "fetch",      "for",        "foreign",       "freeze",      "from",
        "full",         "grant",      "group",      "having",        "ilike",       "in",
        "initially",    "inner",      "intersect",  "into",          "is",          "isnull",
        "join",         "lateral",    "leading",    "left",          "like",        "limit",
        "localtime",    "natural",    "not",        "notnull",       "null",        "offset",
        "on",           "only",       "or",         "order",         "outer",       "overlaps",
        "placing",      "primary",    "references", "returning",     "right",       "select",
        "similar",      "some",       "symmetric",  "table",         "tablesample", "then",
        "to",           "trailing",   "true",       "union",         "unique",      "user",
        "using",        "variadic",   "verbose",    "when",          "where",       "window",
        "with",
    };
    bool plain = length > 0 && (name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z'));
    for (size_t i = 0; plain && i < length; i++) {
        char c = name[i];
        plain = c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }
    for (size_t i = 0; plain && i < sizeof reserved / sizeof *reserved; i++)
        plain = strlen(reserved[i]) != length || memcmp(reserved[i], name, length) != 0;
    if (plain) {
        cleave__words_bytes(words, name, length);
        return;
    }
    cleave__words_bytes(words, "\"", 1);
    for (size_t i = 0; i < length; i++)
        cleave__words_bytes(words, name[i] == '"' ? "\"\"" : &name[i], name[i] == '"' ? 2 : 1);
    cleave__words_bytes(words, "\"", 1);
}

void cleave__words_name(struct cleave_words *words, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot) {
        add_part(words, name, (size_t)(dot - name));
        cleave__words_bytes(words, ".", 1);
        name = dot + 1;
    }
    add_part(words, name, strlen(name));
}

void cleave__words_name_part(struct cleave_words *words, const char *name)
{
    add_part(words, name, strlen(name));
}

/* Whether DDL can repeat it as it is: words, modifiers, and names in quotes that are closed, which
 * is how PostgreSQL's format_type() spells "Pay Grade"[]. */
static bool is_spelled(const char *type)
{
    bool quoted = false, plain = *type != 0;
    for (const char *c = type; plain && *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        else
            plain = quoted || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || strchr(" _.,()[]", *c);
    }
    return plain && !quoted;
}

void cleave__words_type(struct cleave_words *w, const char *type)
{
    static const char *const serials[][2] = {
        {"smallserial", "smallint"}, {"serial2", "smallint"}, {"serial", "integer"},
        {"serial4", "integer"},      {"bigserial", "bigint"}, {"serial8", "bigint"},
    };
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++) {
        if (strcmp(type, serials[i][0]) == 0)
            type = serials[i][1];
    }
    if (is_spelled(type))
        cleave__words_add(w, "%s", type);
    else
        cleave__words_name(w, type);
}
