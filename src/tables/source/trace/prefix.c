/* Matching a compiled log_line_prefix: escapes of a fixed form take what fits their form, the free
 * ones (%u %d %a %h %r %i %b) take up to the literal text behind them, shortest first, with
 * backtracking (bounded: a budget of steps a line). */
#include "tables/source/trace/prefix.h"

#include <string.h>

/* What precedes the message is no longer than this; and no line is worth more steps than that. */
enum { HEAD_MAX = 2048, STEPS_MAX = 4096 };

enum cleave_status cleave__prefix_compile(const char *text, struct cleave_prefix *out,
                                          struct cleave_error *error)
{
    struct cleave_prefix p = {0};
    size_t length = strlen(text);
    if (length >= CLEAVE_PREFIX_TEXT_MAX)
        return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                "log line prefix: longer than %d characters",
                                CLEAVE_PREFIX_TEXT_MAX - 1);
    memcpy(p.text, text, length + 1);
    for (size_t i = 0; i < length;) {
        if (p.count == CLEAVE_PREFIX_OPS_MAX)
            return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                    "log line prefix: more than %d parts", CLEAVE_PREFIX_OPS_MAX);
        size_t start = i;
        if (text[i] == '%') {
            i++;
            while (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))
                i++;
            bool padded = i > start + 1;
            char kind = text[i];
            if (kind == 0 || !strchr("audrhibpPtmnseclvxQq%", kind))
                return cleave_error_set(error, CLEAVE_BAD_ARGUMENT,
                                        "log line prefix '%s': unknown escape '%.*s' (known are "
                                        "%%a %%u %%d %%r %%h %%i %%b %%p %%P %%t %%m %%n %%s %%e "
                                        "%%c %%l %%v %%x %%Q %%q %%%%)",
                                        text, (int)(i - start + (kind != 0)), text + start);
            i++;
            if (kind == '%') {
                p.ops[p.count].at = (uint16_t)(i - 1);
                p.ops[p.count].size = 1;
            } else {
                p.ops[p.count].kind = kind;
                p.ops[p.count].padded = padded;
            }
        } else {
            while (i < length && text[i] != '%')
                i++;
            p.ops[p.count].at = (uint16_t)start;
            p.ops[p.count].size = (uint16_t)(i - start);
        }
        p.count++;
    }
    *out = p;
    return CLEAVE_OK;
}

struct matcher {
    const struct cleave_prefix *prefix;
    const char *line;
    size_t length;
    struct cleave_prefix_match *out;
    unsigned budget;
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool hex(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f');
}

static size_t digits(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && digit(s[i]))
        i++;
    return i;
}

/* "2026-11-30 02:21:31.845 UTC", with the fraction or without; 0 when it is none. */
size_t cleave__prefix_timestamp(const char *s, size_t n)
{
    static const char form[] = "0000-00-00 00:00:00";
    size_t i = 0;
    if (n < sizeof form - 1)
        return 0;
    for (; i < sizeof form - 1; i++) {
        if (form[i] == '0' ? !digit(s[i]) : s[i] != form[i] && !(i == 10 && s[i] == 'T'))
            return 0;
    }
    if (i < n && (s[i] == '.' || s[i] == ','))
        i += 1 + digits(s + i + 1, n - i - 1);
    /* The zone: an abbreviation or an offset. */
    size_t zone = i + (i < n && s[i] == ' '), end = zone;
    if (end < n && (s[end] == '+' || s[end] == '-')) {
        end++;
        while (end < n && (digit(s[end]) || (s[end] == ':' && end + 1 < n && digit(s[end + 1]))))
            end++;
        return end > zone + 1 ? end : i;
    }
    while (end < n && ((s[end] >= 'A' && s[end] <= 'Z') || (s[end] >= 'a' && s[end] <= 'z') ||
                       s[end] == '/' || s[end] == '_'))
        end++;
    return end > zone ? end : i;
}

/* Length of what a fixed-form escape takes at s; SIZE_MAX when it does not fit. */
static size_t fixed(char kind, const char *s, size_t n)
{
    size_t i = 0;
    switch (kind) {
    case 't':
    case 'm':
        i = cleave__prefix_timestamp(s, n);
        return i && (s[19] == '.' || s[19] == ',') == (kind == 'm') ? i : SIZE_MAX;
    case 's':
        return cleave__prefix_timestamp(s, n); /* empty in background processes of old servers */
    case 'n':
        i = digits(s, n);
        if (i && i < n && s[i] == '.')
            i += 1 + digits(s + i + 1, n - i - 1);
        return i ? i : SIZE_MAX;
    case 'p':
    case 'l':
        i = digits(s, n);
        return i ? i : SIZE_MAX;
    case 'P':
    case 'x':
        return digits(s, n);
    case 'Q':
        return (n && s[0] == '-') + digits(s + (n && s[0] == '-'), n - (n && s[0] == '-'));
    case 'e':
        while (i < n && i < 5 && (digit(s[i]) || (s[i] >= 'A' && s[i] <= 'Z')))
            i++;
        return i == 5 ? 5 : SIZE_MAX;
    case 'c':
        while (i < n && hex(s[i]))
            i++;
        if (i == 0 || i >= n || s[i] != '.')
            return SIZE_MAX;
        for (i++; i < n && hex(s[i]); i++) {
        }
        return i;
    case 'v':
        i = digits(s, n);
        if (i && i < n && s[i] == '/')
            return i + 1 + digits(s + i + 1, n - i - 1);
        return i ? SIZE_MAX : 0;
    default:
        return SIZE_MAX;
    }
}

static void note(struct cleave_prefix_match *out, char kind, const char *s, size_t n)
{
    struct cleave_span span = {s, n};
    switch (kind) {
    case 'c':
        out->session_id = span;
        break;
    case 'p':
        out->pid = span;
        break;
    case 'u':
        out->user = span;
        break;
    case 'd':
        out->database = span;
        break;
    case 'r':
    case 'h':
        out->remote = span;
        break;
    case 's':
        out->started = span;
        break;
    case 'v':
        out->vxid = span;
        break;
    default:
        break;
    }
}

/* SEVERITY ":" blanks, then the message. */
static bool severity(struct matcher *m, size_t at)
{
    size_t word = 0;
    enum cleave_severity found = cleave__severity_of(m->line + at, m->length - at, &word);
    at += word;
    if (found == CLEAVE_SEVERITY_NONE || at >= m->length || m->line[at] != ':')
        return false;
    at++;
    for (int blanks = 0; blanks < 2 && at < m->length && m->line[at] == ' '; blanks++)
        at++;
    m->out->severity = found;
    m->out->message = at;
    return true;
}

static bool match(struct matcher *m, uint32_t op, size_t at)
{
    const struct cleave_prefix *p = m->prefix;
    for (; op < p->count; op++) {
        char kind = p->ops[op].kind;
        if (m->budget-- == 0)
            return false;
        if (kind == 0) {
            size_t size = p->ops[op].size;
            if (m->length - at < size || memcmp(m->line + at, p->text + p->ops[op].at, size) != 0)
                return false;
            at += size;
            continue;
        }
        if (kind == 'q') {
            struct cleave_prefix_match before = *m->out;
            if (match(m, op + 1, at))
                return true;
            *m->out = before;
            return severity(m, at);
        }
        if (p->ops[op].padded) {
            while (at < m->length && m->line[at] == ' ')
                at++;
        }
        if (!strchr("audrhib", kind)) {
            size_t size = fixed(kind, m->line + at, m->length - at);
            if (size == SIZE_MAX)
                return false;
            note(m->out, kind, m->line + at, size);
            at += size;
            if (p->ops[op].padded) {
                while (at < m->length && m->line[at] == ' ')
                    at++;
            }
            continue;
        }
        /* Free: up to the literal behind it (or the severity), shortest first. */
        const char *stop = NULL;
        size_t stop_size = 0;
        if (op + 1 < p->count && p->ops[op + 1].kind == 0) {
            stop = p->text + p->ops[op + 1].at;
            stop_size = p->ops[op + 1].size;
        }
        for (size_t end = at; end <= m->length && m->budget; end++) {
            if (stop) {
                const char *found = memmem(m->line + end, m->length - end, stop, stop_size);
                if (!found)
                    return false;
                end = (size_t)(found - m->line);
            }
            size_t size = end - at;
            while (p->ops[op].padded && size && m->line[at + size - 1] == ' ')
                size--;
            if (p->narrow && kind != 'a' && kind != 'i' && kind != 'b' &&
                memchr(m->line + at, ' ', size))
                return false;
            struct cleave_prefix_match before = *m->out;
            note(m->out, kind, m->line + at, size);
            if (match(m, op + 1, end))
                return true;
            *m->out = before;
        }
        return false;
    }
    return severity(m, at);
}

/* The first severity word that has ":  " behind it and a blank or a punctuation mark before it. */
static bool find_severity(struct matcher *m, size_t *head)
{
    size_t limit = m->length < 512 ? m->length : 512;
    for (size_t at = 0; at < limit; at++) {
        const char *colon = memmem(m->line + at, limit - at, ":  ", 3);
        if (!colon)
            return false;
        size_t end = (size_t)(colon - m->line), start = end;
        while (start > 0 && ((m->line[start - 1] >= 'A' && m->line[start - 1] <= 'Z') ||
                             (start == end && digit(m->line[start - 1]))))
            start--;
        if (start < end && severity(m, start) && m->out->message >= end) {
            *head = start;
            return true;
        }
        at = end;
    }
    return false;
}

/* Looks for what tells sessions apart in a header of unknown form. */
static bool match_free_form(struct matcher *m)
{
    size_t head = 0;
    if (!find_severity(m, &head))
        return false;
    struct cleave_prefix_match *out = m->out;
    const char *s = m->line;
    size_t at = cleave__prefix_timestamp(s, head);
    if (at == 0)
        at = fixed('n', s, head) == SIZE_MAX ? 0 : fixed('n', s, head);
    struct cleave_span number = {0};
    while (at < head) {
        bool word_start = at == 0 || !(hex(s[at - 1]) || s[at - 1] == '.' || s[at - 1] == '-');
        size_t size = word_start ? fixed('c', s + at, head - at) : SIZE_MAX;
        if (size != SIZE_MAX && size >= 8 && !out->session_id.length &&
            (at + size == head || (s[at + size] != '.' && s[at + size] != ':'))) {
            const char *dot = memchr(s + at, '.', size);
            if (dot && dot - (s + at) >= 7 && dot - (s + at) <= 8 && dot + 1 < s + at + size)
                out->session_id = (struct cleave_span){s + at, size};
        }
        size = word_start ? digits(s + at, head - at) : 0;
        if (size) {
            char before = at ? s[at - 1] : ' ', after = at + size < head ? s[at + size] : ' ';
            bool bracketed = (before == '[' && after == ']') || before == '=';
            bool lone = (before == ' ' || before == ':' || before == ',' || before == '|') &&
                        (after == ' ' || after == ':' || after == ',' || after == '|');
            if (bracketed && !out->pid.length)
                out->pid = (struct cleave_span){s + at, size};
            else if (lone && !number.length)
                number = (struct cleave_span){s + at, size};
            at += size;
        } else if (s[at] == '@' && !out->user.length) {
            size_t from = at, to = at + 1;
            while (from > 0 && !strchr(" :[]|,;()=", s[from - 1]))
                from--;
            while (to < head && !strchr(" :[]|,;()", s[to]))
                to++;
            out->user = (struct cleave_span){s + from, at - from};
            out->database = (struct cleave_span){s + at + 1, to - at - 1};
            at++;
        } else if (s[at] == '=' && at >= 2 && strchr("rbe", s[at - 1])) {
            size_t to = at + 1;
            while (to < head && !strchr(" ,;|]", s[to]))
                to++;
            struct cleave_span value = {s + at + 1, to - at - 1};
            if (s[at - 1] == 'r' && at >= 4 && memcmp(s + at - 4, "user", 4) == 0)
                out->user = value;
            else if ((s[at - 1] == 'b' && memcmp(s + at - 2, "db", 2) == 0) ||
                     (at >= 8 && memcmp(s + at - 8, "database", 8) == 0))
                out->database = value;
            at++;
        } else {
            at++;
        }
    }
    if (!out->pid.length && !out->session_id.length)
        out->pid = number;
    return true;
}

bool cleave__prefix_match(const struct cleave_prefix *prefix, const char *line, size_t length,
                          struct cleave_prefix_match *out)
{
    struct cleave_prefix_match result = {0};
    size_t head = length < HEAD_MAX ? length : HEAD_MAX;
    struct matcher m = {prefix, line, head, &result, STEPS_MAX};
    if (length == 0 || !(prefix->free_form ? match_free_form(&m) : match(&m, 0, 0)))
        return false;
    *out = result;
    return true;
}
