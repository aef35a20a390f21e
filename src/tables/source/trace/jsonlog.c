/* jsonlog (PostgreSQL 15 and later): one flat object a line. Read in one pass; only the keys that
 * matter are unescaped. A line that is not such an object is a bad entry. */
#include <string.h>

#include "tables/source/trace/reader.h"

struct record {
    struct cleave_span user, database, pid, session, vxid, severity, message, detail, query;
};

static const struct {
    const char *key;
    size_t at;
} fields[] = {
    {"user", offsetof(struct record, user)},
    {"dbname", offsetof(struct record, database)},
    {"pid", offsetof(struct record, pid)},
    {"session_id", offsetof(struct record, session)},
    {"vxid", offsetof(struct record, vxid)},
    {"error_severity", offsetof(struct record, severity)},
    {"message", offsetof(struct record, message)},
    {"detail", offsetof(struct record, detail)},
    {"statement", offsetof(struct record, query)},
};

struct scanner {
    const char *at, *end;
    char *to; /* unescaped text goes here */
};

static void blanks(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static bool take(struct scanner *s, char c)
{
    blanks(s);
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static int hex4(const char *s)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int c = s[i], digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, unsigned long c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* The escape behind a backslash; every escape is at least as long as what it stands for. */
static bool escape(struct scanner *s)
{
    if (s->at >= s->end)
        return false;
    char c = *s->at++;
    switch (c) {
    case 'n':
        *s->to++ = '\n';
        return true;
    case 't':
        *s->to++ = '\t';
        return true;
    case 'r':
        *s->to++ = '\r';
        return true;
    case 'b':
        *s->to++ = '\b';
        return true;
    case 'f':
        *s->to++ = '\f';
        return true;
    case '"':
    case '\\':
    case '/':
        *s->to++ = c;
        return true;
    case 'u':
        break;
    default:
        return false;
    }
    if (s->end - s->at < 4)
        return false;
    long code = hex4(s->at);
    if (code < 0)
        return false;
    s->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && s->end - s->at >= 6 && s->at[0] == '\\' &&
        s->at[1] == 'u') {
        long low = hex4(s->at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            s->at += 6;
        }
    }
    s->to = put_utf8(s->to, (unsigned long)code);
    return true;
}

static bool string(struct scanner *s, struct cleave_span *out)
{
    if (!take(s, '"'))
        return false;
    const char *start = s->at;
    const char *p = start;
    while (p < s->end && *p != '"' && *p != '\\')
        p++;
    if (p < s->end && *p == '"') { /* nothing to unescape: borrowed */
        *out = (struct cleave_span){start, (size_t)(p - start)};
        s->at = p + 1;
        return true;
    }
    out->text = s->to;
    while (s->at < s->end) {
        char c = *s->at++;
        if (c == '"') {
            out->length = (size_t)(s->to - out->text);
            return true;
        }
        if (c != '\\')
            *s->to++ = c;
        else if (!escape(s))
            return false;
    }
    return false;
}

/* A number, true, false or null. */
static bool bare(struct scanner *s, struct cleave_span *out)
{
    const char *start = s->at;
    while (s->at < s->end && !strchr(",} \t\"{[", *s->at))
        s->at++;
    *out = (struct cleave_span){start, (size_t)(s->at - start)};
    return out->length > 0;
}

static bool parse(struct scanner *s, struct record *out)
{
    if (!take(s, '{'))
        return false;
    do {
        struct cleave_span key, value;
        if (!string(s, &key) || !take(s, ':'))
            return false;
        blanks(s);
        bool quoted = s->at < s->end && *s->at == '"';
        if (!(quoted ? string(s, &value) : bare(s, &value)))
            return false;
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (strlen(fields[i].key) == key.length &&
                memcmp(fields[i].key, key.text, key.length) == 0) {
                memcpy((char *)out + fields[i].at, &value, sizeof value);
                break;
            }
        }
    } while (take(s, ','));
    return take(s, '}');
}

static bool names_key(const char *line, size_t length, const char *key)
{
    size_t size = strlen(key);
    for (size_t i = 0; i + size <= length; i++) {
        if (line[i] == '"' && memcmp(line + i, key, size) == 0)
            return true;
    }
    return false;
}

bool cleave__jsonlog_looks(const char *line, size_t length)
{
    return length > 2 && line[0] == '{' && names_key(line, length, "\"error_severity\"") &&
           names_key(line, length, "\"timestamp\"");
}

bool cleave__jsonlog_line(struct cleave_trace *t, const struct cleave_trace_line *line)
{
    if (line->length == 0) {
        t->counters.lines_passed++;
        return true;
    }
    t->counters.lines_entry++;
    if (!CLEAVE_RESERVE(&t->scratch, line->length + 1))
        return false;
    struct record r = {0};
    struct scanner s = {line->text, line->text + line->length, t->scratch.data};
    size_t word = 0;
    enum cleave_severity severity = CLEAVE_SEVERITY_NONE;
    if (!line->cut && parse(&s, &r) && r.severity.length)
        severity = cleave__severity_of(r.severity.text, r.severity.length, &word);
    if (severity == CLEAVE_SEVERITY_NONE || severity >= CLEAVE_SEVERITY_DETAIL ||
        word != r.severity.length) {
        cleave__trace_bad(t, line->text, line->length);
        return true;
    }
    struct cleave_trace_entry entry = {
        .severity = severity,
        .session = r.session.length ? r.session : r.pid,
        .user = r.user,
        .database = r.database,
        .message = r.message,
        .detail = r.detail,
        .query = r.query,
        .whole = true,
        .in_block = cleave__vxid_in_block(r.vxid),
        .file = line->file,
    };
    entry.label = entry.session;
    return cleave__sessions_entry(t->sessions, &entry);
}
