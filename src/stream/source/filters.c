/* Filters as people write them: a name, a comparison, a number; several with ; or , or & between.
 */
#include <math.h>
#include <string.h>

#include "stream/source/queries.h"
#include "stream/source/values.h"

static enum cleave_status unread(const char *text, size_t length, struct cleave_error *error)
{
    return cleave_error_set(error, CLEAVE_BAD_INPUT,
                            "no filter: '%.*s' (write mag>=4.5, mag<6 or mag=4..5)",
                            (int)(length < 60 ? length : 60), text);
}

static bool range_of(const char *text, size_t length, double *low, double *high)
{
    const char *dots = memmem(text, length, "..", 2);
    if (!dots) {
        bool read = cleave__text_real(text, length, low);
        *high = *low;
        return read;
    }
    return cleave__text_real(text, (size_t)(dots - text), low) &&
           cleave__text_real(dots + 2, length - (size_t)(dots + 2 - text), high) && *low <= *high;
}

static enum cleave_status read_one(const char *text, size_t length, struct cleave_intern *fields,
                                   struct cleave__filter *out, struct cleave_error *error)
{
    size_t name = 0, at;
    while (name < length && !strchr("<>=", text[name]))
        name++;
    at = name;
    while (at < length && at < name + 2 && strchr("<>=", text[at]))
        at++;
    size_t start = 0, end = name;
    while (start < end && text[start] == ' ')
        start++;
    while (end > start && text[end - 1] == ' ')
        end--;
    char first = name < length ? text[name] : 0, second = at == name + 2 ? text[name + 1] : 0;
    double low, high;
    if (start == end || !first || (second && second != '=') ||
        !range_of(text + at, length - at, &low, &high) || (first != '=' && low != high))
        return unread(text, length, error);
    if (first == '>') {
        high = INFINITY;
        low = second ? low : nextafter(low, INFINITY);
    } else if (first == '<') {
        low = -INFINITY;
        high = second ? high : nextafter(high, -INFINITY);
    }
    uint32_t field = cleave__intern_find(fields, text + start, end - start);
    if (field == CLEAVE_INTERN_NONE && fields->count >= CLEAVE__FIELDS_MOST)
        return cleave_error_set(error, CLEAVE_LIMIT, "filters name more than %d columns",
                                CLEAVE__FIELDS_MOST);
    field = cleave__intern_add(fields, text + start, end - start);
    if (field == CLEAVE_INTERN_NONE)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for queries");
    *out = (struct cleave__filter){field, low, high};
    return CLEAVE_OK;
}

enum cleave_status cleave__filter_read(const char *text, size_t length,
                                       struct cleave_intern *fields, struct cleave__filter *filters,
                                       uint32_t *count, struct cleave_error *error)
{
    enum cleave_status status = CLEAVE_OK;
    for (size_t at = 0; at < length && !status;) {
        size_t end = at, blank = at;
        while (end < length && text[end] != ';' && text[end] != ',' && text[end] != '&')
            end++;
        while (blank < end && text[blank] == ' ')
            blank++;
        if (blank < end && *count == CLEAVE__FILTERS_MOST)
            return cleave_error_set(error, CLEAVE_LIMIT, "more than %d filters",
                                    CLEAVE__FILTERS_MOST);
        if (blank < end) {
            status = read_one(text + at, end - at, fields, &filters[*count], error);
            *count += !status;
        }
        at = end + 1;
    }
    return status;
}
