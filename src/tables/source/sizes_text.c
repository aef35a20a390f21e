/* Numbers and array literals as statistics spell them. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "tables/source/sizes.h"

bool cleave__sizes_number(const char *text, size_t length, double *out)
{
    char copy[64];
    bool digit = false;
    if (length == 0 || length >= sizeof copy)
        return false;
    for (size_t i = 0; i < length; i++) {
        digit |= text[i] >= '0' && text[i] <= '9';
        if (!strchr("0123456789+-.eE", text[i]) || !text[i])
            return false;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    /* strtod reads the decimal sign of the caller's locale. */
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return false;
    char *end;
    double value = strtod_l(copy, &end, c_locale);
    freelocale(c_locale);
    if (!digit || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static const char *quoted(const char *at, const char *end, struct cleave_arena *arena,
                          struct cleave_text *out)
{
    char *copy = cleave__arena_alloc(arena, (size_t)(end - at));
    size_t length = 0;
    if (!copy)
        return NULL;
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && ++at == end)
            return NULL;
        copy[length++] = *at;
    }
    if (at == end)
        return NULL;
    *out = (struct cleave_text){copy, length};
    return at + 1;
}

bool cleave__sizes_array(const char *text, size_t length, struct cleave_arena *arena,
                         struct cleave_text **out, size_t *count)
{
    const char *at = text, *end = text + length;
    CLEAVE_VECTOR(struct cleave_text) items = {0};
    struct cleave_text *copy = NULL;
    if (length < 2 || *at++ != '{' || end[-1] != '}')
        return false;
    for (end--; at < end;) {
        struct cleave_text item = {0};
        if (*at == '"') {
            at = quoted(at, end, arena, &item);
            if (!at)
                goto done;
        } else {
            const char *start = at;
            for (; at < end && *at != ','; at++) {
                if (*at == '{' || *at == '}' || *at == '"')
                    goto done;
            }
            item = (struct cleave_text){start, (size_t)(at - start)};
            if (item.length == 4 && strncasecmp(start, "null", 4) == 0)
                item = (struct cleave_text){0};
            else if (item.length == 0)
                goto done;
        }
        if (!CLEAVE_PUSH(&items, item))
            goto done;
        if (at < end && (*at++ != ',' || at == end))
            goto done;
    }
    copy = cleave__arena_array(arena, items.count, sizeof *copy);
    if (copy && items.count)
        memcpy(copy, items.data, items.count * sizeof *copy);
    if (copy) {
        *out = copy;
        *count = items.count;
    }
done:
    CLEAVE_VECTOR_FREE(&items);
    return copy != NULL;
}
