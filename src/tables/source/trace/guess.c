/* Guessing log_line_prefix: prefixes in wide use, and ones read off the sample's own lines, are
 * tried on the sample; the one that fits most lines wins, earlier ones at a tie. When even that
 * leaves out lines in which a severity is plain to see, the free form is taken instead: it finds
 * the session by its looks (hex.hex, [pid], user@database) and fits anything. */
#include <stdlib.h>
#include <string.h>

#include "tables/source/trace/prefix.h"

enum { SAMPLE_LINES = 2000, READ_OFF = 24 };

static const char *const usual[] = {
    "%m [%p] ",
    "%m [%p] %q%u@%d ",
    "%t [%p] ",
    "%t [%p]: ",
    "%t:%r:%u@%d:[%p]:",
    "%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d ",
    "%t [%p]: user=%u,db=%d ",
    "%t [%p]: [%l] user=%u,db=%d,app=%a,client=%h ",
    "%m [%p] user=%u,db=%d,app=%a,client=%h ",
    "%m [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%m [%p]: [%l-1] db=%d,user=%u,app=%a,client=%h ",
    "%m [%p] %u@%d ",
    "%m %u@%d [%p] ",
    "%t-%c-",
    "%m-%c-",
    "%m [%p]: [%l-1] db=%d,user=%u ",
    "%m %c ",
    "%c %m ",
    "user=%u,db=%d,app=%a,client=%h ",
    "user=%u,db=%d ",
    "",
    "%q%u@%d ",
};

/* A header of known form being written down as a prefix. */
struct writer {
    char text[CLEAVE_PREFIX_TEXT_MAX];
    size_t count;
    bool pid, number, full;
};

static void put(struct writer *w, const char *bytes, size_t count)
{
    if (w->count + count >= sizeof w->text) {
        w->full = true;
        return;
    }
    memcpy(w->text + w->count, bytes, count);
    w->count += count;
    w->text[w->count] = 0;
}

static bool hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t digits(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] >= '0' && s[i] <= '9')
        i++;
    return i;
}

static size_t session_id(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && hex(s[i]))
        i++;
    if (i < 7 || i > 8 || i >= n || s[i] != '.') /* seconds since 1970, in hex */
        return 0;
    size_t dot = i++;
    while (i < n && hex(s[i]))
        i++;
    return i > dot + 1 ? i : 0;
}

/* host(port), or [local]. */
static size_t remote(const char *s, size_t n)
{
    if (n >= 7 && memcmp(s, "[local]", 7) == 0)
        return 7;
    size_t i = 0;
    while (i < n && (hex(s[i]) || s[i] == '.' || s[i] == ':'))
        i++;
    if (i < 3 || i >= n || s[i] != '(')
        return 0;
    size_t port = digits(s + i + 1, n - i - 1);
    i += 1 + port;
    return port && i < n && s[i] == ')' ? i + 1 : 0;
}

static size_t until_separator(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && !strchr(" ,;|:[]()@=", s[i]))
        i++;
    return i;
}

static bool behind(const char *s, size_t at, const char *word)
{
    size_t length = strlen(word);
    return at >= length && memcmp(s + at - length, word, length) == 0;
}

/* Writes the header (all before the severity) as a prefix. */
static void read_off(const char *s, size_t n, struct writer *w)
{
    size_t at = 0;
    while (at < n && !w->full) {
        const char *rest = s + at;
        size_t left = n - at, size = 0;
        bool fresh = at == 0 || strchr(" ,;|:[](=<{", s[at - 1]);
        if (fresh && (size = cleave__prefix_timestamp(rest, left)) > 0) {
            put(w, rest[19] == '.' ? "%m" : "%t", 2);
        } else if (at && s[at - 1] == '=' &&
                   (behind(s, at, "user=") || behind(s, at, "db=") || behind(s, at, "database=") ||
                    behind(s, at, "app=") || behind(s, at, "client=") || behind(s, at, "host="))) {
            char kind[2] = {'%', behind(s, at, "user=")                               ? 'u'
                                 : behind(s, at, "app=")                              ? 'a'
                                 : behind(s, at, "db=") || behind(s, at, "database=") ? 'd'
                                                                                      : 'h'};
            size = remote(rest, left);
            if (size)
                kind[1] = 'r';
            else
                while (at + size < n && !strchr(" ,;|)", s[at + size]))
                    size++;
            if (kind[1] == 'a') { /* an application's name may hold blanks */
                const char *comma = memchr(rest, ',', left);
                if (comma)
                    size = (size_t)(comma - rest);
            }
            put(w, kind, 2);
            if (size == 0) { /* an empty value: go on behind the separator */
                put(w, rest, 1);
                size = 1;
            }
        } else if (fresh && (size = session_id(rest, left)) > 0) {
            put(w, "%c", 2);
        } else if (fresh && digits(rest, left) >= 10 && left > (size = digits(rest, left)) + 3 &&
                   rest[size] == '.' && digits(rest + size + 1, left - size - 1) == 3) {
            size += 4;
            put(w, "%n", 2);
        } else if (fresh && (size = remote(rest, left)) > 0) {
            put(w, "%r", 2);
        } else if (fresh && (size = digits(rest, left)) > 0) {
            size_t more =
                size < left && rest[size] == '/' ? digits(rest + size + 1, left - size - 1) : 0;
            bool bracketed = at && s[at - 1] == '[' && size < left && rest[size] == ']';
            if (more) {
                size += 1 + more;
                put(w, "%v", 2);
            } else if (!w->pid && (bracketed || (at && s[at - 1] == '='))) {
                w->pid = true;
                put(w, "%p", 2);
            } else if (!w->number) {
                w->number = true;
                put(w, "%l", 2);
            } else {
                put(w, "%x", 2);
            }
        } else if (fresh && (size = until_separator(rest, left)) > 0 && size < left &&
                   rest[size] == '@') {
            size++;
            while (size < left && !strchr(" ,;|:[]()", rest[size]))
                size++;
            put(w, "%u@%d", 5);
        } else {
            size = 1;
            put(w, *rest == '%' ? "%%" : rest, *rest == '%' ? 2 : 1);
        }
        at += size;
    }
    /* Something must tell sessions apart: a lone number then is the process. */
    char *lone = w->pid || strstr(w->text, "%c") ? NULL : strstr(w->text, "%l");
    if (lone)
        lone[1] = 'p';
}

struct sample {
    struct cleave_span lines[SAMPLE_LINES];
    size_t count;
};

static size_t fit(const struct sample *sample, const struct cleave_prefix *prefix)
{
    struct cleave_prefix_match match;
    size_t fitting = 0;
    for (size_t i = 0; i < sample->count; i++)
        fitting +=
            cleave__prefix_match(prefix, sample->lines[i].text, sample->lines[i].length, &match);
    return fitting;
}

static void consider(const struct sample *sample, const char *text, struct cleave_prefix *best,
                     size_t *most)
{
    struct cleave_prefix prefix;
    if (cleave__prefix_compile(text, &prefix, NULL))
        return;
    prefix.narrow = true;
    size_t fitting = fit(sample, &prefix);
    if (fitting > *most) {
        *most = fitting;
        *best = prefix;
    }
}

/* Tries the prefixes that the sample's own lines suggest, each with and without a %q where a
 * shorter header of the sample ends. */
static void consider_read_off(const struct sample *sample, struct cleave_prefix *best, size_t *most)
{
    struct cleave_prefix free_form = {.free_form = true};
    char seen[READ_OFF][CLEAVE_PREFIX_TEXT_MAX];
    size_t count = 0;
    for (size_t i = 0; i < sample->count && count < READ_OFF; i++) {
        struct cleave_prefix_match match;
        const char *line = sample->lines[i].text;
        if (!cleave__prefix_match(&free_form, line, sample->lines[i].length, &match))
            continue;
        size_t head = match.message;
        while (head > 0 && line[head - 1] == ' ')
            head--;
        head -= head > 0; /* the colon */
        while (head > 0 && ((line[head - 1] >= 'A' && line[head - 1] <= 'Z') ||
                            (line[head - 1] >= '1' && line[head - 1] <= '5' && head > 1 &&
                             line[head - 2] == 'G')))
            head--;
        struct writer w = {0};
        read_off(line, head, &w);
        if (w.full)
            continue;
        size_t k = 0;
        while (k < count && strcmp(seen[k], w.text) != 0)
            k++;
        if (k < count)
            continue;
        memcpy(seen[count++], w.text, sizeof w.text);
        consider(sample, w.text, best, most);
    }
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            size_t length = strlen(seen[a]);
            char joined[CLEAVE_PREFIX_TEXT_MAX + 2];
            if (a == b || strncmp(seen[a], seen[b], length) != 0)
                continue;
            memcpy(joined, seen[b], length);
            memcpy(joined + length, "%q", 2);
            memcpy(joined + length + 2, seen[b] + length, strlen(seen[b]) - length + 1);
            consider(sample, joined, best, most);
        }
    }
}

bool cleave__prefix_guess(const struct cleave_trace_lines *lines, struct cleave_prefix *out,
                          size_t *fitting)
{
    struct sample *sample = calloc(1, sizeof *sample);
    if (!sample)
        return false;
    size_t wrapped = 0, all = 0;
    struct cleave_syslog header;
    for (size_t i = 0; i < lines->kept.count && i < SAMPLE_LINES; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(lines, i);
        all += line.length > 0;
        wrapped += cleave__syslog_header(line.text, line.length, &header);
    }
    bool syslog = wrapped * 2 > all;
    for (size_t i = 0; i < lines->kept.count && sample->count < SAMPLE_LINES; i++) {
        struct cleave_trace_line line = cleave__trace_lines_ahead(lines, i);
        if (syslog) {
            if (!cleave__syslog_header(line.text, line.length, &header) || header.chunk > 1)
                continue;
            line.text += header.rest;
            line.length -= header.rest;
        }
        if (line.length && line.text[0] != '\t' && line.text[0] != '#')
            sample->lines[sample->count++] = (struct cleave_span){line.text, line.length};
    }
    struct cleave_prefix best = {0}, free_form = {.free_form = true};
    size_t most = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        consider(sample, usual[i], &best, &most);
    if (most < sample->count)
        consider_read_off(sample, &best, &most);
    size_t plain = most < sample->count ? fit(sample, &free_form) : most;
    free(sample);
    if (most == 0 && plain == 0)
        return false;
    *out = most + plain / 50 >= plain && most ? best : free_form;
    *fitting = most + plain / 50 >= plain && most ? most : plain;
    out->syslog = syslog;
    return true;
}
