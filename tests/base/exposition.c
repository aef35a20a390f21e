#include "base/exposition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

enum { NAME = 200, SERIES = 4000, FAMILIES = 4000 };

struct state {
    const char *at, *end;
    const char *why;
    char family[NAME], type[NAME];
    bool has_help;
    char *seen[SERIES]; /* series, as text */
    size_t seen_count;
    char *families[FAMILIES];
    size_t family_count;
    /* Of the histogram series at hand. */
    char bucket_labels[2000];
    double last_bound, last_count;
    bool in_buckets, had_sum;
};

static bool wrong(struct state *s, const char *why)
{
    s->why = why;
    return false;
}

static bool take(struct state *s, char c)
{
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_name(struct state *s, char *name, bool colon)
{
    size_t n = 0;
    while (s->at < s->end && n + 1 < NAME) {
        char c = *s->at;
        bool first =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
        if (!first && !(n && c >= '0' && c <= '9'))
            break;
        name[n++] = c;
        s->at++;
    }
    name[n] = 0;
    return n > 0;
}

/* The rest of the line, escaped text. */
static bool take_help(struct state *s)
{
    for (; s->at < s->end; s->at++) {
        if (*s->at == '\\' && (s->at + 1 == s->end || !strchr("n\\", *++s->at)))
            return wrong(s, "a bad escape in help");
    }
    return true;
}

static bool comment(struct state *s)
{
    char word[NAME], name[NAME];
    if (!take(s, ' ') || !take_name(s, word, false) || !take(s, ' ') || !take_name(s, name, true))
        return wrong(s, "a comment that is neither HELP nor TYPE");
    if (!strcmp(word, "HELP")) {
        for (size_t i = 0; i < s->family_count; i++) {
            if (!strcmp(s->families[i], name))
                return wrong(s, "a family twice");
        }
        if (s->family_count == FAMILIES)
            return wrong(s, "too many families for this test");
        s->families[s->family_count++] = strdup(name);
        strcpy(s->family, name);
        s->type[0] = 0;
        s->has_help = true;
        s->in_buckets = false;
        return take(s, ' ') ? take_help(s) : wrong(s, "no help");
    }
    if (strcmp(word, "TYPE") || strcmp(name, s->family) || !s->has_help || s->type[0])
        return wrong(s, "TYPE without its HELP before it, or twice");
    if (!take(s, ' ') || !take_name(s, s->type, false) || s->at != s->end)
        return wrong(s, "a bad type");
    return !strcmp(s->type, "counter") || !strcmp(s->type, "gauge") || !strcmp(s->type, "histogram")
               ? true
               : wrong(s, "an unknown type");
}

/* {a="x",b="y"}: without `le`, which goes to `*bound`, into `labels`. */
static bool take_labels(struct state *s, char *labels, double *bound)
{
    char names[20][NAME];
    size_t count = 0;
    if (!take(s, '{'))
        return true;
    do {
        const char *start = s->at;
        if (count == 20 || !take_name(s, names[count], false) || !take(s, '=') || !take(s, '"'))
            return wrong(s, "a bad label");
        for (size_t i = 0; i < count; i++) {
            if (!strcmp(names[i], names[count]))
                return wrong(s, "a label twice");
        }
        const char *value = s->at;
        while (s->at < s->end && *s->at != '"') {
            if (*s->at++ == '\\' && (s->at == s->end || !strchr("n\\\"", *s->at++)))
                return wrong(s, "a bad escape in a label");
        }
        if (!take(s, '"'))
            return wrong(s, "a label's value has no end");
        if (!strcmp(names[count], "le"))
            *bound = !strncmp(value, "+Inf\"", 5) ? (double)INFINITY : strtod(value, NULL);
        else
            strncat(labels, start, (size_t)(s->at - start));
        count++;
    } while (take(s, ','));
    return take(s, '}') ? true : wrong(s, "labels have no end");
}

static bool take_value(struct state *s, double *value)
{
    char text[60], *end;
    size_t length = (size_t)(s->end - s->at);
    if (!take(s, ' ') || length >= sizeof text || length < 2)
        return wrong(s, "no value");
    memcpy(text, s->at, length - 1);
    text[length - 1] = 0;
    *value = strtod(text, &end);
    if (*end || strchr(text, ' ') || strchr(text, 'x'))
        return wrong(s, "a value that is no number");
    return true;
}

static bool histogram(struct state *s, const char *end, const char *labels, double bound,
                      double value)
{
    if (!strcmp(end, "_bucket")) {
        if (isnan(bound))
            return wrong(s, "a bucket without le");
        if (!s->in_buckets) {
            s->in_buckets = true;
            s->last_bound = -(double)INFINITY;
            s->last_count = 0;
            strcpy(s->bucket_labels, labels);
        }
        if (strcmp(s->bucket_labels, labels) || bound <= s->last_bound || value < s->last_count)
            return wrong(s, "buckets that do not rise, or of two series mixed");
        s->last_bound = bound;
        s->last_count = value;
        s->had_sum = false;
        return true;
    }
    if (!s->in_buckets || strcmp(s->bucket_labels, labels) || s->last_bound < (double)INFINITY)
        return wrong(s, "a sum or count without buckets up to +Inf");
    if (!strcmp(end, "_sum")) {
        s->had_sum = true;
        return true;
    }
    s->in_buckets = false;
    return s->had_sum && value == s->last_count ? true
                                                : wrong(s, "the count is not the +Inf bucket");
}

static bool sample(struct state *s)
{
    char name[NAME], labels[2000] = "";
    double bound = (double)NAN, value;
    const char *start = s->at;
    if (!take_name(s, name, true) || !s->type[0])
        return wrong(s, "a sample before its TYPE, or without a name");
    size_t length = strlen(s->family);
    const char *end = name + length;
    if (strncmp(name, s->family, length))
        return wrong(s, "a sample outside its family");
    if (!take_labels(s, labels, &bound))
        return false;
    size_t series = (size_t)(s->at - start);
    if (!take_value(s, &value))
        return false;
    for (size_t i = 0; i < s->seen_count; i++) {
        if (strlen(s->seen[i]) == series && !memcmp(s->seen[i], start, series))
            return wrong(s, "a series twice");
    }
    if (s->seen_count == SERIES)
        return wrong(s, "too many series for this test");
    s->seen[s->seen_count++] = strndup(start, series);
    if (!strcmp(s->type, "histogram"))
        return !strcmp(end, "_bucket") || !strcmp(end, "_sum") || !strcmp(end, "_count")
                   ? histogram(s, end, labels, bound, value)
                   : wrong(s, "a histogram's sample of another name");
    if (*end || !isnan(bound))
        return wrong(s, "a sample outside its family");
    return strcmp(s->type, "counter") || value >= 0 ? true : wrong(s, "a counter below 0");
}

bool exposition_check(const char *text, size_t length, size_t *line, const char **why)
{
    struct state *s = calloc(1, sizeof *s);
    bool good = true;
    *line = 0;
    for (const char *at = text, *end = text + length; at < end && good;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        ++*line;
        if (!stop) {
            good = wrong(s, "the last line has no end");
            break;
        }
        s->at = at;
        s->end = stop;
        for (const char *c = at; c < stop && good;) {
            utf8proc_int32_t point;
            utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)c, stop - c, &point);
            good = n > 0 ? true : wrong(s, "not UTF-8");
            c += n > 0 ? n : 0;
        }
        if (good)
            good = take(s, '#') ? comment(s) : sample(s);
        at = stop + 1;
    }
    if (good && s->in_buckets)
        good = wrong(s, "a histogram without its count");
    *why = s->why;
    for (size_t i = 0; i < s->seen_count; i++)
        free(s->seen[i]);
    for (size_t i = 0; i < s->family_count; i++)
        free(s->families[i]);
    free(s);
    return good;
}

double exposition_value(const char *text, const char *series)
{
    size_t length = strlen(series);
    for (const char *at = text; (at = strstr(at, series)); at++) {
        if ((at == text || at[-1] == '\n') && at[length] == ' ')
            return strtod(at + length + 1, NULL);
    }
    return (double)NAN;
}
